package distributiontenant

import (
	"fmt"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// refusal turns the refusal of this pass's write into the problem to show.
func (in judged) refusal() (Decision, bool) {
	f := in.World.Refused
	switch f.Kind {
	case fault.Exists:
		return stuck(resource.ReasonCreating, fmt.Sprintf(
			"AWS reports that a distribution tenant named %q exists, but does not return it yet. The operator keeps checking.", in.Desired.Name))
	case fault.DomainTaken:
		if !in.World.HolderKnown {
			return do(Look{At: LookHolder})
		}
		message, detail := in.holderText()
		return Decision{Step: Rest{}, Problem: &chain.Problem{Reason: resource.ReasonDomainConflict, Message: message, Detail: detail, Stuck: true}}, true
	case fault.DomainUnverified:
		// A certificate that failed for want of proof is not asked for without it either.
		if c := in.certificate.Ready; c.Reason == resource.ReasonCertificateFailed && !in.certificate.Comes {
			return Decision{Step: Rest{}, Problem: &chain.Problem{Reason: c.Reason, Message: c.Message, Of: CertificateReady, Stuck: true}}, true
		}
		if in.World.RoutingEndpoint == "" && in.Memory.RoutingEndpoint == "" && !in.looked() && in.KnowsGroup() {
			return do(Look{At: LookRouting})
		}
		if len(in.undirected()) > 0 {
			return in.awaitLed(resource.ReasonDomainValidationPending)
		}
		return stuck(resource.ReasonDomainValidationPending, fmt.Sprintf(
			"CloudFront cannot verify %s yet: no certificate covers the domain, or its DNS does not point at %s. AWS: %s",
			prose.List(in.Desired.Domains), in.endpointText(), f.Message))
	default:
		return stuck(resource.ReasonOf(f.Kind), f.Error())
	}
}

// holderText says who has a domain that AWS refuses, and what to do about it. The detail names a holder that is none of
// the readers' business.
func (in judged) holderText() (message, detail string) {
	h := in.World.Holder
	if h == nil {
		return fmt.Sprintf("Another CloudFront resource already uses a domain of this tenant (%s). It is not visible as a distribution tenant in this account. Remove the domain there, or move it with UpdateDomainAssociation. AWS: %s",
			prose.List(in.Desired.Domains), in.World.Refused.Message), ""
	}
	tenant := fmt.Sprintf("the distribution tenant %q (%s)", h.Name, h.ID)
	used := fmt.Sprintf("Domain %s is already used by ", h.Domain)
	if h.Owner == (ownership.Owner{}) {
		return used + "a distribution tenant that no operator owns. Remove it there first. Or adopt that tenant: create an object with its name in spec.tenantName and with spec.adoptionPolicy IfUnowned. Ask the platform team: the operator's log has the name.",
			used + tenant + ", which no operator owns."
	}
	owner := h.Owner.ShownTo(in.resource.Me)
	if owner.Detail == "" {
		return used + tenant + " of " + owner.Text + ". Remove it there first.", ""
	}
	return used + "the distribution tenant of " + owner.Named() + ". It has to be removed there first.", used + tenant + " of " + owner.Detail + "."
}
