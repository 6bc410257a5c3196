package distributiontenant

import (
	"fmt"
	"slices"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/claim"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

// takenOver takes the domains that are handed over from the tenants that have them, one after the other. CloudFront does that
// in one step, so that each is always served. It is no correction of drift: the drift policy does not hold it.
func (in judged) takenOver() (Decision, bool) {
	t := in.World.Tenant
	for _, d := range in.aim.effective.Domains {
		if !in.World.moves(d) || slices.Contains(t.Domains, d) {
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
	rest := slices.DeleteFunc(slices.Clone(t.Domains), in.World.moves)
	if len(rest) > 0 {
		t.Domains = rest
		return t, nil
	}
	d, _ := in.alone()
	return t, &d
}

// alone says that a new tenant has no domain but those that are handed over.
func (in judged) alone() (Decision, bool) {
	return stuck(claim.ReasonDomainClaimed, fmt.Sprintf(
		"%s can be handed over to a tenant that exists, and a tenant needs a domain to exist. Add another domain to spec.domains, which a certificate covers. It can be removed afterwards.",
		prose.List(in.World.Moves)))
}

// moves reports whether the domain is handed over, and what gives it has it as far as is known.
func (w World) moves(domain string) bool {
	if !slices.Contains(w.Moves, domain) {
		return false
	}
	aliases, read := w.Aliases[w.Givers[domain].Distribution]
	return !read || slices.ContainsFunc(aliases, func(a string) bool { return claim.Canonical(a) == claim.Canonical(domain) })
}

// departures are the domains that a standard distribution has, and that are moved from there to the tenant. AWS would refuse
// them in an update.
func (in Input) departures() []string {
	has := in.states()
	return slices.DeleteFunc(slices.Clone(in.Desired.Domains), func(d string) bool {
		_, arrived := has[d]
		return arrived || in.World.Givers[d].Distribution == "" || !in.World.moves(d)
	})
}

// onlyArrived is the input as if the spec did not have the domains that depart, apart from those that are in DNS already:
// their records stay.
func (in Input) onlyArrived(departing []string) Input {
	if len(departing) == 0 {
		return in
	}
	in.Desired.Domains = slices.DeleteFunc(slices.Clone(in.Desired.Domains), func(d string) bool {
		return slices.Contains(departing, d) && !slices.ContainsFunc(in.Memory.Ledger, func(e dns.Entry) bool { return dns.Domain(e.Name) == d })
	})
	if len(in.Desired.Domains) == 0 && in.World.present() {
		in.Desired.Domains = in.World.Tenant.Domains
	}
	return in
}

// accompanied makes sure that a new tenant has a domain which is not moved to it.
func accompanied(in judged) (Decision, bool) {
	if in.World.present() || len(in.Desired.Domains) > 0 || len(in.departing) == 0 {
		return pass()
	}
	if d, fires := in.giverRead(in.departing[0]); fires {
		return d, true
	}
	return in.alone()
}

// giverRead reads the distribution that has the domain, once in a pass.
func (in judged) giverRead(domain string) (Decision, bool) {
	id := in.World.Givers[domain].Distribution
	if _, read := in.World.Aliases[id]; read {
		return pass()
	}
	return do(Look{At: LookGiver, Distribution: id})
}

// departAgain is the pause before it is looked again whether a domain can be moved.
const departAgain = 5 * time.Minute

// takenOff moves the first domain that can be moved from a standard distribution. If there is none, it says what the first
// one waits for.
func takenOff(in judged) (Decision, bool) {
	var held *Decision
	for _, domain := range in.departing {
		if !in.World.present() {
			break
		}
		d, _ := in.takeOff(domain)
		if d.Problem == nil {
			return d, true
		}
		if held == nil {
			held = &d
		}
	}
	if held == nil {
		return pass()
	}
	return *held, true
}

// takeOff moves a domain from a standard distribution to the tenant. CloudFront serves it from then on, with what the tenant
// has at that moment.
func (in judged) takeOff(domain string) (Decision, bool) {
	t, giver := in.World.Tenant, in.World.Givers[domain]
	if d, fires := in.giverRead(domain); fires {
		return d, true
	}
	if giver.Declared != (claim.Key{}) {
		return in.declared(domain, giver)
	}
	if in.World.Distribution == nil {
		return do(Look{At: LookDistribution})
	}
	if why := in.unfit(); why != "" {
		return rest(chain.Problem{Reason: ReasonDomainChangeHeld, Message: fmt.Sprintf(
			"spec.domains: %s is moved from the distribution %s, which still serves it, once %s.", domain, giver.Distribution, why)}, departAgain)
	}
	if d, fires := in.coverage(t.Customizations.CertificateARN, *in.World.Distribution, []string{domain}); fires {
		return d, true
	}
	if !in.resource.Proven() {
		return do(Look{At: LookTags})
	}
	return do(Move{ID: t.ID, ETag: t.ETag, Domain: domain, From: giver.Distribution})
}

// unfit is what has to happen before CloudFront answers for another domain of the tenant, and will continue to. Empty:
// nothing.
func (in judged) unfit() string {
	t, d := in.World.Tenant, in.World.Distribution
	switch {
	case !t.Enabled || !in.Desired.Enabled:
		return "this tenant is enabled"
	case t.Status != Deployed:
		return "this tenant is deployed"
	case t.DistributionID != in.Desired.DistributionID:
		return "this tenant is attached to the distribution " + in.Desired.DistributionID
	case d.Missing || d.Disabled:
		return "the distribution " + t.DistributionID + " of this tenant is enabled"
	case in.certificate.Stage == certificate.Underway || in.certificate.Attach:
		return "the certificate that was requested for this tenant is attached"
	}
	return ""
}

// declared says that an object has the domain as an alias. It would put the alias back, or not be changed any more.
func (in judged) declared(domain string, giver claim.Giver) (Decision, bool) {
	by := giver.Declared
	p := chain.Problem{Reason: claim.ReasonDomainClaimed, Message: fmt.Sprintf(
		"spec.domains: %s is not moved from the distribution %s, because a Distribution object has it in spec.aliases and would put it back. To keep the domain served, set spec.deletionPolicy of that object to Retain, and delete the object: the distribution stays in AWS as it is, and the domain is then moved.",
		domain, giver.Distribution)}
	p.Detail = fmt.Sprintf("%s is an alias of the Distribution %s/%s.", domain, by.Namespace, by.Name)
	if by.Namespace == in.Me.Namespace {
		p.Message += fmt.Sprintf(" It is the Distribution %s.", by.Name)
	}
	return rest(p, departAgain)
}
