package distributiontenant

import (
	"fmt"
	"slices"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/publication"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// domainsHeld says which changes of domains have to wait, and for what.
func domainsHeld(in judged) (Decision, bool) {
	if !in.World.present() {
		return pass()
	}
	waiting, leaving, unproven := in.publication.Waiting, in.publication.Leaving, in.unproven
	held := func(why string) (Decision, bool) {
		return rest(chain.Problem{Reason: ReasonDomainChangeHeld, Message: fmt.Sprintf("spec.domains: %s %s", prose.List(waiting), why)}, in.certificate.Wait)
	}
	const ended = "when the pending certificate request has ended, because AWS processes one request at a time."
	switch requested := in.publication.Bound; {
	case len(waiting) > 0 && in.certificate.Stage == certificate.Underway:
		return held("can be added " + ended)
	case len(requested) > 0:
		waiting = requested
		return held("can be removed " + ended)
	case len(waiting) > 0 && in.failure.refused:
		return do(in.failure.patience)
	case len(waiting) > 0 && len(leaving) == 0 && in.failure.retrying && publication.Passes(in.publication.Ready.Reason):
		return do(Rest{KeepConditions: true})
	case len(waiting) > 0 && len(leaving) > 0:
		return held(fmt.Sprintf("is added once %s is removed from DNS. Otherwise, the certificate would be requested for both.", prose.List(leaving)))
	case len(waiting) > 0:
		return held("is added once its DNS record points to CloudFront. " + in.publication.Ready.Message)
	case len(leaving) > 0:
		return rest(chain.Problem{Reason: resource.ReasonUpdatePending, Of: chain.Synced, Message: fmt.Sprintf(
			"%s is removed from the distribution tenant after its DNS record is deleted, so that the name never points to CloudFront without a tenant.", prose.List(leaving))}, 0)
	case len(unproven) > 0:
		return in.awaitProof()
	case slices.ContainsFunc(in.unled, in.lacks):
		d, fires := in.awaitLed(ReasonDomainChangeHeld)
		return within(in.certificate.Wait, d), fires
	}
	return pass()
}

// lacks reports whether the tenant does not have the domain.
func (in judged) lacks(domain string) bool { return !slices.Contains(in.World.Tenant.Domains, domain) }

// retriesDomains reports whether domains wait for the next try of what AWS has refused. A deployment must not come between
// them: a refusal that is forgotten for it is met again at once, since the records may still be in DNS.
func (in judged) retriesDomains() bool {
	return in.first && in.failure.retrying && len(in.publication.Waiting) > 0 && in.certificate.Stage != certificate.Underway
}
