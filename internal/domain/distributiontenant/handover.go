package distributiontenant

import (
	"fmt"
	"slices"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/claim"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

// takenOver takes the domains that are handed over from the tenants that have them, one after the other. CloudFront does that
// in one step, so that each is always served. It is no correction of drift: the drift policy does not hold it.
func (in judged) takenOver() (Decision, bool) {
	t := in.World.Tenant
	for _, d := range in.aim.effective.Domains {
		if !slices.Contains(in.World.Moves, d) || slices.Contains(t.Domains, d) {
			continue
		}
		if !in.resource.Proven() {
			return do(Look{At: LookTags})
		}
		return do(Move{ID: t.ID, ETag: t.ETag, Domain: d})
	}
	return pass()
}

// createdWithout leaves out of a new tenant the domains that are handed over to it: AWS takes none that another tenant
// has, and moves one only to a tenant that exists.
func (in judged) createdWithout(t Tenant) (Tenant, *Decision) {
	rest := slices.DeleteFunc(slices.Clone(t.Domains), func(d string) bool { return slices.Contains(in.World.Moves, d) })
	if len(rest) > 0 {
		t.Domains = rest
		return t, nil
	}
	d, _ := stuck(claim.ReasonDomainClaimed, fmt.Sprintf(
		"%s can be handed over to a tenant that exists, and a tenant needs a domain to exist. Add another domain to spec.domains, which a certificate covers. It can be removed afterwards.",
		prose.List(in.World.Moves)))
	return t, &d
}
