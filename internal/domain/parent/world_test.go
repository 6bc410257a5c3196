package parent_test

import (
	"maps"
	"slices"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/edge"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/parent"
)

const (
	account    = "111122223333"
	resourceID = "E1"
	arn        = "arn:aws:cloudfront::" + account + ":distribution/" + resourceID
)

var (
	now    = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	me     = ownership.Owner{Cluster: "c1", Namespace: "shop", Name: "alpha", UID: "u1"}
	former = ownership.Owner{Cluster: "c1", Namespace: "shop", Name: "alpha", UID: "u0"}
	other  = ownership.Owner{Cluster: "c1", Namespace: "shop", Name: "beta", UID: "u2"}
	abroad = ownership.Owner{Cluster: "c2", Namespace: "shop", Name: "beta", UID: "u2"}
)

// difference is what differs in a world that has drifted.
var difference = []edge.Difference{{Field: "comment", Desired: "shop", Observed: "lead"}}

// ofDistributions are the words of a distribution, ofGroups those of a connection group.
func ofDistributions() parent.Words {
	return parent.Words{
		Noun: "distribution", Object: "alpha", Field: "distributionId",
		Command: "distribution", GetFlag: "--id", Filter: "DistributionId",
	}
}

func ofGroups() parent.Words {
	return parent.Words{
		Noun: "connection group", Object: "alpha", Field: "name",
		Command: "connection-group", GetFlag: "--identifier", Filter: "ConnectionGroupId",
	}
}

// spec is what the object of these tests asks for.
func spec() parent.Desired {
	return parent.Desired{Words: ofDistributions(), Enabled: true, Numbered: true, Tags: map[string]string{"team": "web"}}
}

// quiet is a world in which nothing is left to do: the resource is there, ours, equal to the spec, and deployed. It was
// looked at in this pass, its tags in an earlier one.
func quiet() parent.Input {
	return parent.Input{
		Now: now, Me: me, Generation: 2, Held: true, Desired: spec(), CreateMark: now.Add(-time.Hour),
		Policy: parent.Policy{Drift: edge.DriftEnforce, Adoption: edge.AdoptNever, Timeout: 30 * time.Minute},
		Memory: parent.Memory{
			ID: resourceID, Account: account, AppliedGeneration: 2, AppliedTagKeys: []string{"team"},
			Conditions: map[edge.ConditionType]edge.Condition{
				edge.Ready:  {Type: edge.Ready, Status: true, Reason: edge.ReasonDeployed, Generation: 2},
				edge.Synced: {Type: edge.Synced, Status: true, Reason: edge.ReasonInSync, Generation: 2},
			},
		},
		World: parent.World{
			Knowledge: edge.Whole, Fresh: true,
			Resource: &parent.Observed{
				ID: resourceID, ARN: arn, ETag: "V1", Status: parent.Deployed, Enabled: true, Modified: now.Add(-time.Hour),
			},
			Tags: ownership.Merge(spec().Tags, me), TagsKnown: true, TagsRead: now.Add(-time.Minute),
		},
	}
}

// unborn is a new object whose resource nobody has tried to create yet.
func unborn() parent.Input {
	in := quiet()
	in.Generation, in.Held, in.Memory, in.CreateMark = 1, false, parent.Memory{}, time.Time{}
	unknown(&in)
	return in
}

// dying is the quiet world a minute after the object was deleted. That made another generation, and all was read in
// this pass.
func dying() parent.Input {
	in := quiet()
	in.Generation, in.DeletedAt, in.World.TagsFresh, in.World.TagsRead = 3, now.Add(-time.Minute), true, now
	in.World.Dependents = &parent.Dependents{}
	return in
}

// with returns a changed input.
func with(in parent.Input, changes ...func(*parent.Input)) parent.Input {
	in.Memory.Conditions = maps.Clone(in.Memory.Conditions)
	for _, change := range changes {
		change(&in)
	}
	return in
}

// change changes the resource, if there is one, and no other input's.
func change(in *parent.Input, how func(*parent.Observed)) {
	if in.World.Resource == nil {
		return
	}
	r := *in.World.Resource
	how(&r)
	in.World.Resource = &r
}

// The changes that several tables share.

func edited(in *parent.Input) { in.Generation++ }

func drifted(in *parent.Input) {
	if in.World.Resource != nil {
		in.World.Differences = difference
	}
}

func disabled(in *parent.Input) { change(in, func(r *parent.Observed) { r.Enabled = false }) }

func inProgress(in *parent.Input) {
	change(in, func(r *parent.Observed) { r.Status, r.Modified = "InProgress", now.Add(-time.Minute) })
}

func isDefault(in *parent.Input) { change(in, func(r *parent.Observed) { r.Default = true }) }

// unknown forgets what was seen in this pass.
func unknown(in *parent.Input) { in.World = parent.World{} }

func absent(in *parent.Input) {
	unknown(in)
	in.World.Knowledge, in.World.Fresh, in.World.Account = edge.Absent, true, account
}

func tagged(tags map[string]string) func(*parent.Input) {
	return func(in *parent.Input) {
		if in.World.Resource != nil {
			in.World.Tags, in.World.TagsKnown, in.World.TagsRead = tags, true, now
		}
	}
}

func taggedFor(owner ownership.Owner) func(*parent.Input) { return tagged(owner.Tags()) }

func untold(in *parent.Input) {
	in.World.Tags, in.World.TagsKnown, in.World.TagsFresh, in.World.TagsRead = nil, false, false, time.Time{}
}

func oldTags(in *parent.Input) {
	in.World.TagsFresh, in.World.TagsRead = false, now.Add(-edge.ProofAge-time.Second)
}

func staleTags(in *parent.Input) { in.World.TagsFresh = false }

func freshTags(in *parent.Input) {
	in.World.TagsFresh = in.World.TagsKnown
}

func ownerAlive(in *parent.Input) { in.World.OwnerAlive = true }

func paused(in *parent.Input) { in.Paused = true }

func nudged(in *parent.Input) { in.Nudged = true }

func retain(in *parent.Input) { in.Policy.Retain = true }

func adopting(in *parent.Input) { in.Desired.Adopts = resourceID }

// inherited is an adopted resource that is left as it was.
func inherited(in *parent.Input) { in.AdoptedGeneration, in.AdoptedID = in.Generation, resourceID }

func adoption(p edge.AdoptionPolicy) func(*parent.Input) {
	return func(in *parent.Input) { in.Policy.Adoption = p }
}

func drift(p edge.DriftPolicy) func(*parent.Input) {
	return func(in *parent.Input) { in.Policy.Drift = p }
}

func refusal(kind fault.Kind) *fault.Error {
	return &fault.Error{Kind: kind, Operation: "UpdateDistribution", Code: "SomeCode", Message: "said AWS"}
}

func refused(kind fault.Kind) func(*parent.Input) {
	return func(in *parent.Input) { in.World.Refused = refusal(kind) }
}

func unreadable(in *parent.Input) { in.World.Unreadable = refusal(fault.Denied) }

func failing(reason edge.Reason, since, last time.Time) func(*parent.Input) {
	return func(in *parent.Input) {
		in.Memory.Failure = &edge.Failure{Reason: reason, Generation: in.Generation, Since: since}
		in.Attempts.Last = last
	}
}

func marked(ago time.Duration) func(*parent.Input) {
	return func(in *parent.Input) { in.CreateMark = now.Add(-ago) }
}

// accepted is a generation whose configuration AWS has taken.
func accepted(in *parent.Input) {
	in.Attempts.AcceptedFor, in.Attempts.Accepted = in.Generation, edge.WroteTenant
}

// worn is a generation whose corrections did not stay.
func worn(in *parent.Input) {
	in.Attempts.AcceptedFor, in.Attempts.Accepted = in.Generation, edge.WroteTenant|edge.WroteTags
	in.Attempts.Corrections, in.Attempts.LastCorrection = edge.MaxCorrections, now.Add(-time.Minute)
}

func usedBy(count int, more bool, ours ...string) func(*parent.Input) {
	return func(in *parent.Input) {
		if in.World.Resource != nil {
			in.World.Dependents = &parent.Dependents{Count: count, More: more, Ours: ours}
		}
	}
}

// unasked does not know of tenants yet.
func unasked(in *parent.Input) { in.World.Dependents = nil }

func at(step parent.DeletionStep) func(*parent.Input) {
	return func(in *parent.Input) {
		in.Memory.Deletion = &parent.Progress{Step: step, Since: now.Add(-30 * time.Second)}
	}
}

func sentDelete(ago time.Duration) func(*parent.Input) {
	return func(in *parent.Input) { in.Attempts.DeletedAt = now.Add(-ago) }
}

func deletedFor(d time.Duration) func(*parent.Input) {
	return func(in *parent.Input) { in.DeletedAt = now.Add(-d) }
}

func merged(a, b map[string]string) map[string]string {
	all := map[string]string{}
	maps.Copy(all, a)
	maps.Copy(all, b)
	return all
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
