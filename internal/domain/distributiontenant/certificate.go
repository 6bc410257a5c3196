package distributiontenant

import (
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// attachesUnread reports whether an issued certificate can be attached on the strength of
// the list alone: all that it shows is as the spec asks, and what it does not show is
// not touched. Where the list is out of date, its ETag is too.
func (in Input) attachesUnread() bool {
	if in.World.Knowledge != resource.Listed || !in.facts.certificate.Attach || !in.facts.resource.Applied || in.facts.resource.Inheriting() ||
		in.Policy.Drift != resource.DriftEnforce || in.Memory.ID != in.World.Tenant.ID {
		return false
	}
	have := in.World.Tenant.Tenant
	want := in.facts.effective
	have.Parameters, have.Customizations.CertificateARN = want.Parameters, want.Customizations.CertificateARN
	return len(Diff(want, have)) == 0
}

// certificateKnown reads the managed certificate where it can have moved.
func certificateKnown(in Input) (Decision, bool) {
	if !in.facts.certificate.ReadDue {
		return pass()
	}
	return do(Look{At: LookManaged})
}

// CertificateMoved reports whether the tenant's ETag has moved since the certificate was
// last read.
func (in Input) CertificateMoved() bool { return in.judged().facts.certificate.Moved }

// ManagesCertificate reports whether a managed certificate is asked for, or was.
func (in Input) ManagesCertificate() bool {
	return in.Desired.Request != nil || in.Memory.Requested != nil
}

// requestDue is the request that has to be sent with an update now; nil when none has. It is for all domains that the
// tenant has: those that come must be there, or would need one of their own, and those that go would never be proven.
// AWS refuses one for a domain that does not lead to CloudFront.
func (f *facts) requestDue() *certificate.Request {
	if p := f.publication; !f.certificate.Wanted || len(p.Leaving) > 0 || f.first && !p.Proven {
		return nil
	}
	return f.certificate.Next
}

func certificateUsable(in Input) (Decision, bool) {
	if in.facts.certificate.Request == nil || !in.World.present() {
		return pass()
	}
	c := in.facts.certificate.Ready
	switch {
	case c.Status:
		return pass()
	case c.Reason == resource.ReasonCertificateFailed && in.facts.waiting:
		// The last request was refused.
		return do(in.facts.patience)
	case c.Reason == resource.ReasonCertificateFailed && !in.facts.certificate.Wanted:
		return Decision{Step: Rest{}, Problem: &chain.Problem{Reason: c.Reason, Message: c.Message, Of: CertificateReady, Stuck: true}}, true
	}
	return rest(chain.Problem{Reason: c.Reason, Message: c.Message, Of: CertificateReady}, in.facts.certificate.Wait)
}
