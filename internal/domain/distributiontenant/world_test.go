package distributiontenant_test

import (
	"maps"
	"slices"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
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
func spec() distributiontenant.Desired {
	return distributiontenant.Desired{
		Tenant: distributiontenant.Tenant{
			Name: "alpha", DistributionID: "E1", Enabled: true,
			Domains: []string{"alpha.example.com"}, Parameters: map[string]string{"tier": "gold"},
		},
		Tags: map[string]string{"team": "web"},
	}
}

// quiet is a world in which nothing is left to do: the tenant is there, ours, equal to
// the spec, deployed and serving.
func quiet() distributiontenant.Input {
	desired := spec()
	t := desired.Tenant
	t.ConnectionGroupID = "cg_1"
	return distributiontenant.Input{
		Object: resource.Object{Now: now, Me: me, Generation: 2, HasFinalizer: true}, Desired: desired,
		Policy: distributiontenant.Policy{Policy: resource.Policy{Drift: resource.DriftEnforce, Adoption: resource.AdoptNever}},
		Memory: distributiontenant.Memory{
			Memory: resource.Memory{
				ID: tenantID, AppliedGeneration: 2, AppliedTagKeys: []string{"team"},
				Conditions: map[chain.ConditionType]chain.Condition{
					chain.Ready:  {Type: chain.Ready, Status: true, Reason: resource.ReasonDeployed, Generation: 2},
					chain.Synced: {Type: chain.Synced, Status: true, Reason: resource.ReasonInSync, Generation: 2},
				},
			},
			ETag: "E-1", RoutingEndpoint: "d1.cloudfront.net",
		},
		World: distributiontenant.World{
			World: resource.World{
				Knowledge: resource.Whole, Tags: ownership.Merge(desired.Tags, me), TagsKnown: true, TagsRead: now.Add(-time.Minute),
			},
			Swept: true,
			Tenant: &distributiontenant.Observed{
				Tenant: t, ID: tenantID, ARN: "arn:" + tenantID, ETag: "E-1", Status: distributiontenant.Deployed,
				DomainStates: map[string]string{"alpha.example.com": distributiontenant.DomainActive},
				Created:      now.Add(-time.Hour), Modified: now.Add(-time.Hour),
			},
			Distribution: &distributiontenant.Distribution{
				ID: "E1", MultiTenant: true, CertificateARN: distARN,
				Parameters: []distributiontenant.ParameterDefinition{{Name: "tier"}, {Name: "origin"}},
			},
			Certificates: map[string]distributiontenant.Certificate{
				distARN: {ARN: distARN, Status: "ISSUED", Names: []string{"*.example.com"}},
				ownARN:  {ARN: ownARN, Status: "ISSUED", Names: []string{"alpha.example.com"}},
			},
			RoutingEndpoint: "d1.cloudfront.net", RoutingKnown: true,
		},
	}
}

// unborn is a new object: no create of its tenant was tried yet.
func unborn() distributiontenant.Input {
	in := quiet()
	in.Generation, in.HasFinalizer, in.Memory = 1, false, distributiontenant.Memory{}
	in.World.Knowledge, in.World.Tenant, in.World.Tags, in.World.TagsKnown = resource.Nothing, nil, nil, false
	return in
}

// dying is the quiet world with a deleted object.
func dying() distributiontenant.Input {
	in := quiet()
	in.Deleting, in.World.TagsFresh = true, true
	return in
}

// stale has tags that were read in an earlier pass.
func stale(in *distributiontenant.Input) { in.World.TagsFresh = false }

// with returns a changed input.
func with(in distributiontenant.Input, changes ...func(*distributiontenant.Input)) distributiontenant.Input {
	for _, change := range changes {
		change(&in)
	}
	return in
}

// change changes the tenant, if there is one, and no other input's.
func change(in *distributiontenant.Input, how func(*distributiontenant.Observed)) {
	if in.World.Tenant == nil {
		return
	}
	t := *in.World.Tenant
	how(&t)
	in.World.Tenant = &t
}

// The changes that several tables share.

func edited(in *distributiontenant.Input) { in.Generation++ }

func drifted(in *distributiontenant.Input) {
	change(in, func(t *distributiontenant.Observed) { t.Parameters = map[string]string{"tier": "lead"} })
}

func disabledTenant(in *distributiontenant.Input) {
	change(in, func(t *distributiontenant.Observed) { t.Enabled = false })
}

// disabledDistribution was last seen like that, unread is not known from this pass, and wasDisabled only from status.

func disabledDistribution(in *distributiontenant.Input) {
	in.World.DistributionDisabled, in.World.DistributionSeen = true, true
}

func unread(in *distributiontenant.Input) { in.World.Distribution = nil }

func wasDisabled(in *distributiontenant.Input) {
	in.Memory.Conditions = maps.Clone(in.Memory.Conditions)
	in.Memory.Conditions[chain.Ready] = chain.Condition{Type: chain.Ready, Reason: distributiontenant.ReasonDistributionDisabled, Generation: 2}
}

// disabledObject lets the spec name the distribution by its object.
func disabledObject(disabled bool) func(*distributiontenant.Input) {
	return func(in *distributiontenant.Input) {
		in.Refer([]distributiontenant.Reference{{
			Field: distributiontenant.DistributionRef, Kind: "Distribution", Namespace: "shop", Name: "main", Found: true, ID: "E1", Disabled: disabled,
		}})
		in.Memory.Parents.DistributionID = "E1"
	}
}

// unrouted has not found out where DNS has to point.
func unrouted(in *distributiontenant.Input) {
	in.Memory.RoutingEndpoint, in.World.RoutingEndpoint, in.World.RoutingKnown = "", "", false
}

// unresolved names a distribution that does not exist.
func unresolved(in *distributiontenant.Input) {
	in.Refer([]distributiontenant.Reference{{Field: distributiontenant.DistributionRef, Kind: "Distribution", Namespace: "shop", Name: "main"}})
}

// inGroup lets the spec name the connection group by its object, which exists in AWS if it has an ID.
func inGroup(id string) func(*distributiontenant.Input) {
	return func(in *distributiontenant.Input) {
		in.Refer([]distributiontenant.Reference{{
			Field: distributiontenant.ConnectionGroupRef, Kind: "ConnectionGroup", Namespace: "shop", Name: "static", Found: true, ID: id,
		}})
	}
}

func inProgress(in *distributiontenant.Input) {
	change(in, func(t *distributiontenant.Observed) {
		t.Status, t.Modified = distributiontenant.InProgress, t.Created.Add(time.Hour)
	})
}

func newborn(in *distributiontenant.Input) {
	change(in, func(t *distributiontenant.Observed) { t.Status, t.Modified = distributiontenant.InProgress, t.Created })
}

func absent(in *distributiontenant.Input) {
	in.World.Knowledge, in.World.Tenant, in.World.Tags, in.World.TagsKnown = resource.Absent, nil, nil, false
}

func unknown(in *distributiontenant.Input) {
	absent(in)
	in.World.Knowledge = resource.Nothing
}

func listed(in *distributiontenant.Input) { in.World.Knowledge = resource.Listed }

func movedETag(in *distributiontenant.Input) {
	change(in, func(t *distributiontenant.Observed) { t.ETag = "E-2" })
}

func requested(in *distributiontenant.Input) {
	in.Desired.Request = &certificate.Request{ValidationTokenHost: "cloudfront", PrimaryDomainName: "alpha.example.com"}
}

func tagged(tags map[string]string) func(*distributiontenant.Input) {
	return func(in *distributiontenant.Input) { in.World.Tags, in.World.TagsKnown = tags, true }
}

func taggedFor(owner ownership.Owner) func(*distributiontenant.Input) { return tagged(owner.Tags()) }

func oldTags(in *distributiontenant.Input) {
	in.World.TagsRead = now.Add(-resource.ProofAge - time.Second)
}

func freshTags(in *distributiontenant.Input) { in.World.TagsFresh = true }

func ownerAlive(in *distributiontenant.Input) { in.World.OwnerAlive = true }

func adoption(p resource.AdoptionPolicy) func(*distributiontenant.Input) {
	return func(in *distributiontenant.Input) { in.Policy.Adoption = p }
}

func drift(p resource.DriftPolicy) func(*distributiontenant.Input) {
	return func(in *distributiontenant.Input) { in.Policy.Drift = p }
}

func refused(kind fault.Kind) func(*distributiontenant.Input) {
	return func(in *distributiontenant.Input) {
		in.World.Refused = &fault.Error{Kind: kind, Operation: "UpdateDistributionTenant", Code: "Code", Message: "said AWS"}
	}
}

func failing(since time.Time, last time.Time) func(*distributiontenant.Input) {
	return func(in *distributiontenant.Input) {
		in.Memory.Failure = &resource.Failure{Reason: resource.ReasonAWSError, Generation: in.Generation, Since: since}
		in.Attempts.Last = last
	}
}

func marked(ago time.Duration) func(*distributiontenant.Input) {
	return func(in *distributiontenant.Input) { in.CreateMark = now.Add(-ago) }
}

// target is the tenant that an update of the quiet world sends.
func target(in distributiontenant.Input) distributiontenant.Tenant {
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
