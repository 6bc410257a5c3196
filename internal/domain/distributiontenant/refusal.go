package distributiontenant

import (
	"fmt"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/verdict"
)

// refusal turns the refusal of this pass's write into the problem to show.
func (in judged) refusal() (Decision, bool) {
	f := in.World.Refused
	switch f.Kind {
	case fault.Exists:
		return stuck(resource.ReasonCreating, fmt.Sprintf(
			"AWS reports that a distribution tenant named %q exists, but does not return it yet. The operator keeps checking.", in.Desired.Name))
	case fault.DomainTaken:
		if f.PointsElsewhere {
			return in.pointsElsewhere()
		}
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
		if in.World.RoutingEndpoint == "" && in.Memory.RoutingEndpoint == "" && !in.answered() && in.KnowsGroup() {
			return do(Look{At: LookRouting})
		}
		if len(in.unled)+len(in.undirected()) > 0 {
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
	if h == nil && len(in.World.Conflicts) > 0 {
		return conflictText(in.World.Conflicts[0])
	}
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

// pointsElsewhere says that a domain is free, and that its DNS has to be changed before AWS takes it.
func (in judged) pointsElsewhere() (Decision, bool) {
	if len(in.unled)+len(in.undirected()) > 0 {
		return in.awaitLed(resource.ReasonDomainValidationPending)
	}
	return stuck(resource.ReasonDomainValidationPending, fmt.Sprintf(
		"The DNS of %s points to another CloudFront distribution, so AWS does not accept the domain here. Point it to %s. To move it without an interruption, see docs/migration/standard-distributions.md. AWS: %s",
		prose.List(in.Desired.Domains), in.endpointText(), in.World.Refused.Message))
}

// conflictText names a resource that no list of tenants shows. The ID of a tenant is none of the readers' business.
func conflictText(c verdict.Conflict) (message, detail string) {
	used := fmt.Sprintf("Domain %s is already used by ", c.Domain)
	if c.Type == verdict.Distribution {
		return used + fmt.Sprintf("the distribution %s of the AWS account %s. Remove it there, or move it with UpdateDomainAssociation: see docs/migration/standard-distributions.md.", c.ID, c.Account), ""
	}
	return used + fmt.Sprintf("a distribution tenant of the AWS account %s. It has to be removed there, or moved with UpdateDomainAssociation.", c.Account),
		used + fmt.Sprintf("the distribution tenant %s of the AWS account %s.", c.ID, c.Account)
}
