package edge

import (
	"fmt"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
)

// refusedWith reports whether this pass's write was refused with that kind.
func (in Input) refusedWith(kind fault.Kind) bool {
	return in.World.Refused != nil && in.World.Refused.Kind == kind
}

// blocked reports whether this pass's write was refused for a reason that still stands.
// That a name was taken is explained as soon as the tenant of that name is seen.
func (in Input) blocked() bool {
	return in.World.Refused != nil && (!in.World.present() || in.World.Refused.Kind != fault.Exists)
}

// refusal turns the refusal of this pass's write into the problem to show.
func (in Input) refusal() (Decision, bool) {
	f := in.World.Refused
	switch f.Kind {
	case fault.Exists:
		return stuck(ReasonCreating, fmt.Sprintf(
			"AWS says that a distribution tenant named %q exists, but does not show it yet. Looking again.", in.Desired.Name))
	case fault.DomainTaken:
		if !in.World.HolderKnown {
			return do(Look{At: LookHolder})
		}
		return stuck(ReasonDomainConflict, in.holderText())
	case fault.DomainUnverified:
		// A certificate that failed for want of proof is not asked for without it either.
		if c := in.certificateCondition(); c.Reason == ReasonCertificateFailed && !in.domainComes() {
			return Decision{Step: Rest{}, Problem: &Problem{Reason: c.Reason, Message: c.Message, Of: CertificateReady, Stuck: true}}, true
		}
		return stuck(ReasonDomainValidationPending, f.Error())
	default:
		return stuck(ReasonOf(f.Kind), f.Error())
	}
}

func (in Input) holderText() string {
	h := in.World.Holder
	switch {
	case h == nil:
		return fmt.Sprintf("A domain of %s is attached to a CloudFront resource that this account does not show as a distribution tenant. Remove it there, or move it with UpdateDomainAssociation. AWS: %s",
			JoinSome(in.Desired.Domains), in.World.Refused.Message)
	case h.Owner != ownership.Owner{}:
		return fmt.Sprintf("Domain %s is held by the distribution tenant %q (%s) of %s. Remove it there first.", h.Domain, h.Name, h.ID, h.Owner)
	default:
		return fmt.Sprintf("Domain %s is held by the distribution tenant %q (%s), which no operator owns. Remove it there first, or set spec.tenantName to its name and spec.adoptionPolicy to IfUnowned to take the tenant over.",
			h.Domain, h.Name, h.ID)
	}
}

// ReasonOf is the reason that a failure of that kind has in a condition.
func ReasonOf(kind fault.Kind) Reason {
	switch kind {
	case fault.Denied:
		return ReasonAccessDenied
	case fault.Quota:
		return ReasonQuotaExceeded
	case fault.Invalid:
		return ReasonValidationFailed
	case fault.DomainUnverified:
		return ReasonDomainValidationPending
	case fault.DomainTaken:
		return ReasonDomainConflict
	case fault.None, fault.Throttled, fault.Transient, fault.Conflict, fault.Exists, fault.NotFound,
		fault.NotDisabled, fault.InUse:
		return ReasonAWSError
	}
	return ReasonAWSError
}

// IsRefusal reports whether a failed write says something about the world, so that it is
// decided upon at once, instead of being merely tried again.
func IsRefusal(kind fault.Kind) bool {
	switch kind {
	case fault.Exists, fault.DomainTaken, fault.DomainUnverified, fault.Denied, fault.Quota,
		fault.Invalid, fault.NotDisabled, fault.InUse:
		return true
	case fault.None, fault.Throttled, fault.Transient, fault.Conflict, fault.NotFound:
		return false
	}
	return false
}
