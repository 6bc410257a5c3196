package distributiontenant

import (
	"fmt"
	"slices"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// reachableDomains are the domains that the tenant can be given now: those that it should
// have, without those that have to wait, and with those that are still in DNS. A tenant has one
// at least.
func (in Input) reachableDomains() []string {
	waiting, leaving := in.heldDomains()
	out := slices.DeleteFunc(slices.Clone(in.Desired.Domains), func(d string) bool { return slices.Contains(waiting, d) })
	if out = append(out, leaving...); len(out) == 0 {
		return in.World.Tenant.Domains
	}
	return out
}

// requestedDomains are those that the spec has dropped, and that have to stay as long as AWS is
// at work on a certificate for them: it would never be issued without.
func (in Input) requestedDomains() []string {
	if !in.facts.resource.Mine() || in.Deleting || in.facts.certificate.Request == nil || in.facts.certificate.Stage != certificate.Underway {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(in.World.Tenant.Domains), func(d string) bool { return slices.Contains(in.Desired.Domains, d) })
}

// heldDomains are the domains that can't be added yet, and those that can't be removed yet.
func (in Input) heldDomains() (waiting, leaving []string) {
	have := in.World.Tenant.Domains
	gone := func(d string) bool { return !slices.Contains(in.Desired.Domains, d) }
	if leaving = in.requestedDomains(); len(leaving) == 0 && slices.ContainsFunc(have, gone) {
		ledger := in.nextLedger()
		for _, d := range have {
			if gone(d) && slices.ContainsFunc(ledger, func(e dns.Entry) bool { return ofDomain(e, d) }) {
				leaving = append(leaving, d)
			}
		}
	}
	for _, d := range in.Desired.Domains {
		if !slices.Contains(have, d) && !in.addable(d, leaving) {
			waiting = append(waiting, d)
		}
	}
	return waiting, leaving
}

// addable reports whether AWS would take the domain now, with the certificate request that it
// needs: one for what the tenant has then, and only while none is underway.
func (in Input) addable(domain string, leaving []string) bool {
	switch {
	case in.facts.certificate.Request == nil:
		return true
	case in.facts.certificate.Stage == certificate.Underway || len(leaving) > 0:
		return false
	}
	return !in.provesByDNS() || in.published([]string{domain})
}

func (in Input) holdsDomains() bool {
	if !in.World.present() || in.Deleting {
		return false
	}
	waiting, leaving := in.heldDomains()
	return len(waiting)+len(leaving) > 0
}

// domainsHeld says which changes of domains have to wait, and for what.
func domainsHeld(in Input) (Decision, bool) {
	if !in.World.present() {
		return pass()
	}
	waiting, leaving := in.heldDomains()
	held := func(why string) (Decision, bool) {
		return rest(chain.Problem{Reason: ReasonDomainChangeHeld, Message: fmt.Sprintf("spec.domains: %s %s", resource.JoinSome(waiting), why)}, in.facts.certificate.Wait)
	}
	const ended = "when the pending request for a managed certificate has ended; AWS works on one at a time."
	switch requested := in.requestedDomains(); {
	case len(waiting) > 0 && in.facts.certificate.Stage == certificate.Underway:
		return held("can be added " + ended)
	case len(requested) > 0:
		waiting = requested
		return held("can be removed " + ended)
	case len(waiting) > 0 && in.refused():
		return do(in.patience())
	case len(waiting) > 0 && len(leaving) == 0 && in.retrying() && severity(in.dnsCondition().Reason) <= severity(ReasonDNSRecordCreating):
		return do(Rest{Hold: true})
	case len(waiting) > 0 && len(leaving) > 0:
		return held(fmt.Sprintf("is added once %s is out of DNS: a certificate is requested for both otherwise.", resource.JoinSome(leaving)))
	case len(waiting) > 0:
		return held("is added once its DNS record leads to CloudFront. " + in.dnsCondition().Message)
	case len(leaving) > 0:
		return rest(chain.Problem{Reason: resource.ReasonUpdatePending, Of: chain.Synced, Message: fmt.Sprintf(
			"%s is removed from the distribution tenant once its DNS record is gone: a name that leads to CloudFront must never be without a tenant.", resource.JoinSome(leaving))}, 0)
	}
	return pass()
}
