package distributiontenant

import (
	"fmt"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// blocked reports whether this pass's write was refused for a reason that still holds. That a name was taken is
// explained as soon as the tenant of that name is seen.
func (in Input) blocked() bool {
	return in.World.Refused != nil && (!in.World.present() || in.World.Refused.Kind != fault.Exists)
}

// refusal turns the refusal of this pass's write into the problem to show.
func (in Input) refusal() (Decision, bool) {
	f := in.World.Refused
	switch f.Kind {
	case fault.Exists:
		return stuck(resource.ReasonCreating, fmt.Sprintf(
			"AWS reports that a distribution tenant named %q exists, but does not return it yet. The operator keeps checking.", in.Desired.Name))
	case fault.DomainTaken:
		if !in.World.HolderKnown {
			return do(Look{At: LookHolder})
		}
		return stuck(resource.ReasonDomainConflict, in.holderText())
	case fault.DomainUnverified:
		// A certificate that failed for want of proof is not asked for without it either.
		if c := in.facts.certificate.Ready; c.Reason == resource.ReasonCertificateFailed && !in.facts.certificate.Comes {
			return Decision{Step: Rest{}, Problem: &chain.Problem{Reason: c.Reason, Message: c.Message, Of: CertificateReady, Stuck: true}}, true
		}
		return stuck(resource.ReasonDomainValidationPending, f.Error())
	default:
		return stuck(resource.ReasonOf(f.Kind), f.Error())
	}
}

func (in Input) holderText() string {
	h := in.World.Holder
	switch {
	case h == nil:
		return fmt.Sprintf("Another CloudFront resource already uses a domain of this tenant (%s). It is not visible as a distribution tenant in this account. Remove the domain there, or move it with UpdateDomainAssociation. AWS: %s",
			prose.List(in.Desired.Domains), in.World.Refused.Message)
	case h.Owner != ownership.Owner{}:
		return fmt.Sprintf("Domain %s is already used by the distribution tenant %q (%s) of %s. Remove it there first.", h.Domain, h.Name, h.ID, h.Owner)
	default:
		return fmt.Sprintf("Domain %s is already used by the distribution tenant %q (%s), which no operator owns. Remove it there first. Or adopt that tenant: create an object with its name in spec.tenantName and with spec.adoptionPolicy IfUnowned.",
			h.Domain, h.Name, h.ID)
	}
}
