package resource

import (
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/grant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
)

// DriftPolicy says what happens when others have changed AWS.
type DriftPolicy string

// The drift policies.
const (
	DriftEnforce DriftPolicy = "enforce"
	DriftReport  DriftPolicy = "report"
	DriftSuspend DriftPolicy = "suspend"
)

// AdoptionPolicy says what happens when a tenant of our name is there already.
type AdoptionPolicy string

// The adoption policies.
const (
	AdoptNever     AdoptionPolicy = "Never"
	AdoptIfUnowned AdoptionPolicy = "IfUnowned"
	AdoptForce     AdoptionPolicy = "Force"
)

// Within is the policy as far as the grant of the namespace allows to adopt the resource of that name. A nil grant allows
// everything.
func (p Policy) Within(g *grant.Grant, name string, now time.Time) Policy {
	switch {
	case g == nil:
		return p
	case p.Adoption == AdoptNever, p.Adoption == "":
		p.Granted = !g.Adopts(name, false, now)
		return p
	}
	forced := p.Adoption == AdoptForce
	switch {
	case !g.Adopts(name, false, now):
		p.Adoption = AdoptNever
	case forced && !g.Adopts(name, true, now):
		p.Adoption = AdoptIfUnowned
	case forced:
		p.AdoptFrom = g.Adoption.FromClusters
	}
	p.Granted = true
	return p
}

// Allows reports whether a resource whose tags say that may be taken over. ownerAlive means that they name a live
// object of this cluster: two live objects would take it from each other forever.
func (p AdoptionPolicy) Allows(relation ownership.Relation, ownerAlive bool) bool {
	if relation == ownership.Foreign && ownerAlive {
		return false
	}
	switch p {
	case AdoptForce:
		return true
	case AdoptIfUnowned:
		return relation == ownership.Unowned || relation == ownership.Former
	case AdoptNever:
		return false
	}
	return false
}

// GracePeriod is how long after a create mark an absent tenant is not believed to be
// absent: reads may lag behind the create, and a finalizer dropped in that time would
// leak the tenant.
const GracePeriod = 2 * time.Minute

// ProofAge is how long tags that were read prove who owns the tenant. The list does not show when another owner takes a
// tenant over (a second cluster, during a move), so tags older than this are read again before a write.
const ProofAge = 5 * time.Minute
