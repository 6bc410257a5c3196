package distribution_test

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distribution"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
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
var difference = []resource.Difference{{Field: "comment", Desired: "shop", Observed: "lead"}}

// ofDistributions are the words of a distribution, ofGroups those of a connection group.
func ofDistributions() distribution.Words {
	return distribution.Words{
		Noun: "distribution", Object: "alpha", Field: "distributionId",
		Command: "distribution", GetFlag: "--id", Filter: "DistributionId",
	}
}

func ofGroups() distribution.Words {
	return distribution.Words{
		Noun: "connection group", Object: "alpha", Field: "name",
		Command: "connection-group", GetFlag: "--identifier", Filter: "ConnectionGroupId",
	}
}

// spec is what the object of these tests asks for.
func spec() distribution.Desired {
	return distribution.Desired{Words: ofDistributions(), Enabled: true, Numbered: true, Tags: map[string]string{"team": "web"}}
}

// quiet is a world in which nothing is left to do: the resource is there, ours, equal to the spec, and deployed. It was
// looked at in this pass, its tags in an earlier one.
func quiet() distribution.Input {
	return distribution.Input{
		Object: resource.Object{Now: now, Me: me, Generation: 2, HasFinalizer: true, CreateMark: now.Add(-time.Hour)}, Desired: spec(),
		Policy: distribution.Policy{Policy: resource.Policy{Drift: resource.DriftEnforce, Adoption: resource.AdoptNever}, Timeout: 30 * time.Minute},
		Memory: distribution.Memory{Memory: resource.Memory{
			ID: resourceID, Account: account, AppliedGeneration: 2, AppliedTagKeys: []string{"team"},
			Conditions: map[chain.ConditionType]chain.Condition{
				chain.Ready:  {Type: chain.Ready, Status: true, Reason: resource.ReasonDeployed, Generation: 2},
				chain.Synced: {Type: chain.Synced, Status: true, Reason: resource.ReasonInSync, Generation: 2},
			},
		}},
		World: distribution.World{
			Fresh: true,
			Resource: &distribution.Observed{
				ID: resourceID, ARN: arn, ETag: "V1", Status: distribution.Deployed, Enabled: true, Modified: now.Add(-time.Hour),
			},
			World: resource.World{
				Knowledge: resource.Whole, Tags: ownership.Merge(spec().Tags, me), TagsKnown: true, TagsRead: now.Add(-time.Minute),
			},
		},
	}
}

// unborn is a new object: no create of its resource was tried yet.
func unborn() distribution.Input {
	in := quiet()
	in.Generation, in.HasFinalizer, in.Memory, in.CreateMark = 1, false, distribution.Memory{}, time.Time{}
	unknown(&in)
	return in
}

// dying is the quiet world a minute after the object was deleted. That made another generation, and all was read in
// this pass.
func dying() distribution.Input {
	in := quiet()
	in.Generation, in.DeletedAt, in.World.TagsFresh, in.World.TagsRead = 3, now.Add(-time.Minute), true, now
	in.World.Dependents = &distribution.Dependents{}
	return in
}

// with returns a changed input.
func with(in distribution.Input, changes ...func(*distribution.Input)) distribution.Input {
	in.Memory.Conditions = maps.Clone(in.Memory.Conditions)
	for _, change := range changes {
		change(&in)
	}
	return in
}

// change changes the resource, if there is one, and no other input's.
func change(in *distribution.Input, how func(*distribution.Observed)) {
	if in.World.Resource == nil {
		return
	}
	r := *in.World.Resource
	how(&r)
	in.World.Resource = &r
}

// The changes that several tables share.

func edited(in *distribution.Input) { in.Generation++ }

func drifted(in *distribution.Input) {
	if in.World.Resource != nil {
		in.World.Differences = difference
	}
}

func disabled(in *distribution.Input) {
	change(in, func(r *distribution.Observed) { r.Enabled = false })
}

func inProgress(in *distribution.Input) {
	change(in, func(r *distribution.Observed) { r.Status, r.Modified = "InProgress", now.Add(-time.Minute) })
}

func isDefault(in *distribution.Input) {
	change(in, func(r *distribution.Observed) { r.Default = true })
}

// unknown forgets what was seen in this pass.
func unknown(in *distribution.Input) { in.World = distribution.World{} }

func absent(in *distribution.Input) {
	unknown(in)
	in.World.Knowledge, in.World.Fresh, in.World.Account = resource.Absent, true, account
}

func tagged(tags map[string]string) func(*distribution.Input) {
	return func(in *distribution.Input) {
		if in.World.Resource != nil {
			in.World.Tags, in.World.TagsKnown, in.World.TagsRead = tags, true, now
		}
	}
}

func taggedFor(owner ownership.Owner) func(*distribution.Input) { return tagged(owner.Tags()) }

func untold(in *distribution.Input) {
	in.World.Tags, in.World.TagsKnown, in.World.TagsFresh, in.World.TagsRead = nil, false, false, time.Time{}
}

func oldTags(in *distribution.Input) {
	in.World.TagsFresh, in.World.TagsRead = false, now.Add(-resource.ProofAge-time.Second)
}

func staleTags(in *distribution.Input) { in.World.TagsFresh = false }

func freshTags(in *distribution.Input) {
	in.World.TagsFresh = in.World.TagsKnown
}

func ownerAlive(in *distribution.Input) { in.World.OwnerAlive = true }

func paused(in *distribution.Input) { in.Paused = true }

func nudged(in *distribution.Input) { in.Nudged = true }

func retain(in *distribution.Input) { in.Policy.Retain = true }

func adopting(in *distribution.Input) { in.Desired.Adopts = resourceID }

// inherited is an adopted resource that is left as it was.
func inherited(in *distribution.Input) {
	in.AdoptedGeneration, in.AdoptedID = in.Generation, resourceID
}

func adoption(p resource.AdoptionPolicy) func(*distribution.Input) {
	return func(in *distribution.Input) { in.Policy.Adoption = p }
}

func drift(p resource.DriftPolicy) func(*distribution.Input) {
	return func(in *distribution.Input) { in.Policy.Drift = p }
}

func refusal(kind fault.Kind) *fault.Error {
	return &fault.Error{Kind: kind, Operation: "UpdateDistribution", Code: "SomeCode", Message: "said AWS"}
}

func refused(kind fault.Kind) func(*distribution.Input) {
	return func(in *distribution.Input) { in.World.Refused = refusal(kind) }
}

func unreadable(in *distribution.Input) { in.World.Unreadable = refusal(fault.Denied) }

func failing(reason chain.Reason, since, last time.Time) func(*distribution.Input) {
	return func(in *distribution.Input) {
		in.Memory.Failure = &resource.Failure{Reason: reason, Generation: in.Generation, Since: since}
		in.Attempts.Last = last
	}
}

func marked(ago time.Duration) func(*distribution.Input) {
	return func(in *distribution.Input) { in.CreateMark = now.Add(-ago) }
}

// accepted is a generation whose configuration AWS has taken.
func accepted(in *distribution.Input) {
	in.Attempts.AcceptedFor, in.Attempts.Accepted = in.Generation, resource.WroteConfig
}

// worn is a generation whose corrections did not stay.
func worn(in *distribution.Input) {
	in.Attempts.AcceptedFor, in.Attempts.Accepted = in.Generation, resource.WroteConfig|resource.WroteTags
	in.Attempts.Corrections, in.Attempts.LastCorrection = resource.MaxCorrections, now.Add(-time.Minute)
}

func usedBy(count int, more bool, ours ...string) func(*distribution.Input) {
	return func(in *distribution.Input) {
		if in.World.Resource != nil {
			in.World.Dependents = &distribution.Dependents{Count: count, More: more}
			for _, o := range ours {
				namespace, name, _ := strings.Cut(o, "/")
				in.World.Dependents.Ours = append(in.World.Dependents.Ours, ownership.Owner{Namespace: namespace, Name: name})
			}
		}
	}
}

// unasked does not know of tenants yet.
func unasked(in *distribution.Input) { in.World.Dependents = nil }

func at(step distribution.DeletionStep) func(*distribution.Input) {
	return func(in *distribution.Input) {
		in.Memory.Deletion = &distribution.Progress{Step: step, Since: now.Add(-30 * time.Second)}
	}
}

func sentDelete(ago time.Duration) func(*distribution.Input) {
	return func(in *distribution.Input) { in.Attempts.DeletedAt = now.Add(-ago) }
}

func deletedFor(d time.Duration) func(*distribution.Input) {
	return func(in *distribution.Input) { in.DeletedAt = now.Add(-d) }
}

func merged(a, b map[string]string) map[string]string {
	all := map[string]string{}
	maps.Copy(all, a)
	maps.Copy(all, b)
	return all
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// answered means that this process announced and sent the create, and got its answer.
func answered(ago time.Duration) func(*distribution.Input) {
	return func(in *distribution.Input) {
		in.Attempts.Announce(time.Time{}, now.Add(-ago))
		in.Attempts.CreateEnded(nil, now.Add(-ago), nil)
	}
}
