package distributiontenant

import (
	"slices"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/claim"
)

// Stakes are the domains that the object wants, in the order of its spec, and those that it has without wanting them.
func (in Input) Stakes() []claim.Domain {
	var out []claim.Domain
	// An object that is not granted or not proven gets nothing new, and must not keep a domain from objects that may
	// have it.
	if !in.Deleting && !in.Frozen() {
		proven := in.ProvenDomains()
		for _, d := range in.Desired.Domains {
			// Nor is a tenant adopted whose domains another namespace has.
			if slices.Contains(proven, d) || in.World.present() && slices.Contains(in.World.Tenant.Domains, d) {
				out = append(out, claim.Domain{Name: d, Wanted: true})
			} else {
				out = append(out, claim.Domain{Name: d, Stake: claim.Unproven})
			}
		}
	}
	for _, e := range in.Memory.Ledger {
		out = append(out, claim.Domain{Name: dns.Domain(e.Name), Stake: claim.Recorded})
	}
	for d, state := range in.states() {
		stake := claim.InAWS
		if state == DomainActive {
			stake = claim.Serves
		}
		out = append(out, claim.Domain{Name: d, Stake: stake})
	}
	return out
}

// claimed stores claims for all domains of a tenant that is deleted.
func claimed(in judged) (Decision, bool) { return in.claimFirst(in.World.Tenant.Domains) }

// claimFirst stores claims for domains before they leave AWS.
func (in Input) claimFirst(domains []string) (Decision, bool) {
	switch {
	case !in.Policy.Holds || len(domains) == 0:
		return pass()
	case in.World.Unstored != "":
		return stuck(claim.ReasonClaimNotStored, claim.NotStored(in.World.Unheld, in.World.Unstored))
	case !in.World.UnheldKnown:
		return do(Look{At: LookClaims, Domains: domains})
	case len(in.World.Unheld) > 0:
		return do(Claim{Domains: in.World.Unheld})
	}
	return pass()
}

// dropped are the domains that an update takes from the tenant.
func dropped(u Update) []string {
	return slices.DeleteFunc(slices.Clone(u.Seen.Domains), func(d string) bool { return slices.Contains(u.Tenant.Domains, d) })
}
