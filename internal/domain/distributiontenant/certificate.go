package distributiontenant

import (
	"slices"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// certificateCase is what is known of the managed certificate.
func (in judged) certificateCase() certificate.Case {
	a, w, v := in.Attempts, in.World, in.resource
	// What is still to be remembered was never due.
	due := func(reason chain.Reason) bool {
		return v.Failing(reason) && (in.Nudged || v.DueIn(resource.Failure.NextTry) <= 0)
	}
	c := certificate.Case{
		Now: in.Now, Asked: in.Desired.Request, Named: in.Desired.Customizations.CertificateARN, Wanted: in.Desired.Domains,
		Inheriting: v.Inheriting(), Nudged: in.Nudged, Deleting: in.Deleting, Ours: v.Mine(), Sent: in.Memory.Requested,
		Fresh: w.ManagedKnown, Read: w.Managed, Last: a.Certificate, Stored: in.Memory.Certificate,
		Seen: a.CertificateSeen, SeenETag: a.CertificateETag, StoredETag: in.Memory.ETag, Before: a.CertificateBefore,
		MovesETag: w.CertificateMovesETag, Unusable: w.CertificateUnusable,
		Edited:     !v.Applied && a.AcceptedFor != in.Generation && !v.Failing(resource.ReasonCertificateFailed),
		FailureDue: due(resource.ReasonCertificateFailed), ProofDue: due(resource.ReasonDomainValidationPending), RefusalDue: due(resource.ReasonInvalidSpec),
		Endpoint: in.endpointText(),
	}
	if t := w.Tenant; t != nil {
		c.Tenant = &certificate.Tenant{
			ETag: t.ETag, Modified: t.Modified, Attached: t.Customizations.CertificateARN, Domains: t.Domains, Unserved: slices.DeleteFunc(slices.Clone(t.Domains), in.serves),
		}
	}
	return c
}

// attachesUnread reports whether an issued certificate can be attached on the strength of
// the list alone: all that it shows is as the spec asks, and what it does not show is
// not touched. Where the list is out of date, its ETag is too.
func (in judged) attachesUnread() bool {
	if in.World.Knowledge != resource.Listed || !in.certificate.Attach || !in.resource.Applied || in.resource.Inheriting() ||
		in.Policy.Drift != resource.DriftEnforce || in.Memory.ID != in.World.Tenant.ID {
		return false
	}
	have := in.World.Tenant.Tenant
	want := in.aim.effective
	have.Parameters, have.Customizations.CertificateARN = want.Parameters, want.Customizations.CertificateARN
	return len(Diff(want, have)) == 0
}

// certificateKnown reads the managed certificate where it can have moved.
func certificateKnown(in judged) (Decision, bool) {
	if !in.certificate.ReadDue {
		return pass()
	}
	return do(Look{At: LookManaged})
}

// CertificateMoved reports whether the tenant's ETag has moved since the certificate was
// last read.
func (in Input) CertificateMoved() bool { return judge(in).certificate.Moved }

// ManagesCertificate reports whether a managed certificate is asked for, or was.
func (in Input) ManagesCertificate() bool {
	return in.Desired.Request != nil || in.Memory.Requested != nil
}

// requestDue is the request that has to be sent with an update now; nil when none has. It is for all domains that the
// tenant has: without the domains that are added, each would need a request of its own, and those that are removed
// would never be proven. AWS refuses one for a domain that does not lead to CloudFront.
func (f *facts) requestDue() *certificate.Request {
	if p := f.publication; !f.certificate.Wanted || len(p.Leaving)+len(f.unled) > 0 || f.first && !p.Proven {
		return nil
	}
	return f.certificate.Next
}

func certificateUsable(in judged) (Decision, bool) {
	if in.certificate.Request == nil || !in.World.present() {
		return pass()
	}
	c := in.certificate.Ready
	switch {
	case c.Status:
		return pass()
	case c.Reason == resource.ReasonCertificateFailed && in.failure.waiting:
		// The last request was refused.
		return do(in.failure.patience)
	case c.Reason == resource.ReasonCertificateFailed && !in.certificate.Wanted:
		return Decision{Step: Rest{}, Problem: &chain.Problem{Reason: c.Reason, Message: c.Message, Of: CertificateReady, Stuck: true}}, true
	}
	return rest(chain.Problem{Reason: c.Reason, Message: c.Message, Of: CertificateReady}, in.certificate.Wait)
}
