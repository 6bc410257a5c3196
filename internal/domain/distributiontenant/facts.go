package distributiontenant

import (
	"slices"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// facts are what the rules read, found once for each decision.
type facts struct {
	resource    *resource.View
	certificate certificate.Fact
}

// judged is the input with what follows from it, which nothing changes any more.
func (in Input) judged() Input {
	in.facts = &facts{resource: in.view()}
	in.facts.certificate = certificate.Judge(in.certificateCase())
	return in
}

// certificateCase is what is known of the managed certificate.
func (in Input) certificateCase() certificate.Case {
	a, w, v := in.Attempts, in.World, in.facts.resource
	c := certificate.Case{
		Now: in.Now, Asked: in.Desired.Request, Named: in.Desired.Customizations.CertificateARN, Wanted: in.Desired.Domains,
		Inheriting: v.Inheriting(), Nudged: in.Nudged, Ours: v.Mine(), Sent: in.Memory.Requested,
		Fresh: w.ManagedKnown, Read: w.Managed, Last: a.Certificate, Stored: in.Memory.Certificate,
		Seen: a.CertificateSeen, SeenETag: a.CertificateETag, StoredETag: in.Memory.ETag, Before: a.CertificateBefore,
		MovesETag: w.CertificateMovesETag, Unusable: w.CertificateUnusable,
		Edited:     !v.Applied && a.AcceptedFor != in.Generation && !v.Failing(resource.ReasonCertificateFailed),
		FailureDue: in.retryDue(resource.ReasonCertificateFailed), ProofDue: in.retryDue(resource.ReasonDomainValidationPending),
		Endpoint: in.endpointText(),
	}
	if t := w.Tenant; t != nil {
		c.Tenant = &certificate.Tenant{
			ETag: t.ETag, Modified: t.Modified, Attached: t.Customizations.CertificateARN, Domains: t.Domains, Unserved: in.unservedOf(t.Domains),
		}
	}
	return c
}

// holds reports whether our tenant has the domain.
func (in Input) holds(domain string) bool {
	return in.facts.resource.Mine() && slices.Contains(in.World.Tenant.Domains, domain)
}

// serves reports whether CloudFront answers for the domain.
func (in Input) serves(domain string) bool {
	return in.facts.resource.Mine() && in.World.Tenant.DomainStates[domain] == DomainActive
}

func (in Input) unservedOf(domains []string) []string {
	return slices.DeleteFunc(slices.Clone(domains), in.serves)
}
