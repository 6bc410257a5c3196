package edge_test

import (
	"maps"
	"slices"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/edge"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
)

const (
	distARN  = "arn:aws:acm:us-east-1:111122223333:certificate/of-the-distribution"
	ownARN   = "arn:aws:acm:us-east-1:111122223333:certificate/of-the-tenant"
	tenantID = "dt_1"
)

var (
	now   = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	me    = ownership.Owner{Cluster: "c1", Namespace: "shop", Name: "alpha", UID: "u1"}
	other = ownership.Owner{Cluster: "c1", Namespace: "shop", Name: "beta", UID: "u2"}
)

// spec is what the object of these tests asks for.
func spec() edge.Desired {
	return edge.Desired{
		Tenant: edge.Tenant{
			Name: "alpha", DistributionID: "E1", Enabled: true,
			Domains: []string{"alpha.example.com"}, Parameters: map[string]string{"tier": "gold"},
		},
		Tags: map[string]string{"team": "web"},
	}
}

// quiet is a world in which nothing is left to do: the tenant is there, ours, equal to
// the spec, deployed and serving.
func quiet() edge.Input {
	desired := spec()
	t := desired.Tenant
	t.ConnectionGroupID = "cg_1"
	return edge.Input{
		Now: now, Me: me, Generation: 2, Held: true, Desired: desired,
		Policy: edge.Policy{Drift: edge.DriftEnforce, Adoption: edge.AdoptNever},
		Memory: edge.Memory{
			ID: tenantID, ETag: "E-1", AppliedGeneration: 2, AppliedTagKeys: []string{"team"},
			RoutingEndpoint: "d1.cloudfront.net",
			Conditions: map[edge.ConditionType]edge.Condition{
				edge.Ready:  {Type: edge.Ready, Status: true, Reason: edge.ReasonDeployed, Generation: 2},
				edge.Synced: {Type: edge.Synced, Status: true, Reason: edge.ReasonInSync, Generation: 2},
			},
		},
		World: edge.World{
			Knowledge: edge.Whole, Swept: true,
			Tenant: &edge.Observed{
				Tenant: t, ID: tenantID, ARN: "arn:" + tenantID, ETag: "E-1", Status: edge.Deployed,
				DomainStates: map[string]string{"alpha.example.com": edge.DomainActive},
				Created:      now.Add(-time.Hour), Modified: now.Add(-time.Hour),
			},
			Tags: ownership.Merge(desired.Tags, me), TagsKnown: true, TagsRead: now.Add(-time.Minute),
			Distribution: &edge.Distribution{
				ID: "E1", MultiTenant: true, CertificateARN: distARN,
				Parameters: []edge.ParameterDefinition{{Name: "tier"}, {Name: "origin"}},
			},
			Certificates: map[string]edge.Certificate{
				distARN: {ARN: distARN, Status: "ISSUED", Names: []string{"*.example.com"}},
				ownARN:  {ARN: ownARN, Status: "ISSUED", Names: []string{"alpha.example.com"}},
			},
			RoutingEndpoint: "d1.cloudfront.net", RoutingKnown: true,
		},
	}
}

// unborn is a new object whose tenant nobody has tried to create yet.
func unborn() edge.Input {
	in := quiet()
	in.Generation, in.Held, in.Memory = 1, false, edge.Memory{}
	in.World.Knowledge, in.World.Tenant, in.World.Tags, in.World.TagsKnown = edge.Nothing, nil, nil, false
	return in
}

// dying is the quiet world with a deleted object.
func dying() edge.Input {
	in := quiet()
	in.Deleting, in.World.TagsFresh = true, true
	return in
}

// stale has tags that were read in an earlier pass.
func stale(in *edge.Input) { in.World.TagsFresh = false }

// with returns a changed input.
func with(in edge.Input, changes ...func(*edge.Input)) edge.Input {
	for _, change := range changes {
		change(&in)
	}
	return in
}

// change changes the tenant, if there is one, and no other input's.
func change(in *edge.Input, how func(*edge.Observed)) {
	if in.World.Tenant == nil {
		return
	}
	t := *in.World.Tenant
	how(&t)
	in.World.Tenant = &t
}

// The changes that several tables share.

func edited(in *edge.Input) { in.Generation++ }

func drifted(in *edge.Input) {
	change(in, func(t *edge.Observed) { t.Parameters = map[string]string{"tier": "lead"} })
}

func disabledTenant(in *edge.Input) { change(in, func(t *edge.Observed) { t.Enabled = false }) }

func inProgress(in *edge.Input) {
	change(in, func(t *edge.Observed) { t.Status, t.Modified = edge.InProgress, t.Created.Add(time.Hour) })
}

func newborn(in *edge.Input) {
	change(in, func(t *edge.Observed) { t.Status, t.Modified = edge.InProgress, t.Created })
}

func absent(in *edge.Input) {
	in.World.Knowledge, in.World.Tenant, in.World.Tags, in.World.TagsKnown = edge.Absent, nil, nil, false
}

func unknown(in *edge.Input) {
	absent(in)
	in.World.Knowledge = edge.Nothing
}

func listed(in *edge.Input) { in.World.Knowledge = edge.Listed }

func movedETag(in *edge.Input) { change(in, func(t *edge.Observed) { t.ETag = "E-2" }) }

func requested(in *edge.Input) {
	in.Desired.Request = &edge.CertificateRequest{ValidationTokenHost: "cloudfront", PrimaryDomainName: "alpha.example.com"}
}

func tagged(tags map[string]string) func(*edge.Input) {
	return func(in *edge.Input) { in.World.Tags, in.World.TagsKnown = tags, true }
}

func taggedFor(owner ownership.Owner) func(*edge.Input) { return tagged(owner.Tags()) }

func oldTags(in *edge.Input) { in.World.TagsRead = now.Add(-edge.ProofAge - time.Second) }

func freshTags(in *edge.Input) { in.World.TagsFresh = true }

func ownerAlive(in *edge.Input) { in.World.OwnerAlive = true }

func adoption(p edge.AdoptionPolicy) func(*edge.Input) {
	return func(in *edge.Input) { in.Policy.Adoption = p }
}

func drift(p edge.DriftPolicy) func(*edge.Input) {
	return func(in *edge.Input) { in.Policy.Drift = p }
}

func refused(kind fault.Kind) func(*edge.Input) {
	return func(in *edge.Input) {
		in.World.Refused = &fault.Error{Kind: kind, Operation: "UpdateDistributionTenant", Code: "Code", Message: "said AWS"}
	}
}

func failing(since time.Time, last time.Time) func(*edge.Input) {
	return func(in *edge.Input) {
		in.Memory.Failure = &edge.Failure{Reason: edge.ReasonAWSError, Generation: in.Generation, Since: since}
		in.Attempts.Last = last
	}
}

func marked(ago time.Duration) func(*edge.Input) {
	return func(in *edge.Input) { in.CreateMark = now.Add(-ago) }
}

// target is the tenant that an update of the quiet world sends.
func target(in edge.Input) edge.Tenant {
	t := in.Desired.Tenant
	t.ConnectionGroupID = in.World.Tenant.ConnectionGroupID
	return t
}

func merged(a, b map[string]string) map[string]string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
