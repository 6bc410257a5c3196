package distributiontenant

import (
	"slices"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/proof"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/publication"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// facts are what the rules read, found once for each decision.
type facts struct {
	resource    *resource.View
	certificate certificate.Fact
	// first means that DNS comes before the tenant: CloudFront itself proves the domains, and takes none that does not
	// lead to it.
	first       bool
	publication publication.Fact
	// unproven are the domains of the spec that the tenant is not given before they are proven.
	unproven []proof.Entry
	failing
	configuration
	turn
	// certificates are the ARNs of the managed certificates that were ever seen for this tenant. All of them are stored
	// if status has them.
	certificates []string
	stored       bool
	// endpointText names where DNS has to point, or says why that is not known.
	endpointText string
}

// partial reports whether a change of domains, or of the service, has to wait.
func (f *facts) partial() bool {
	return !f.resource.Deleting && (f.waits || len(f.publication.Waiting)+len(f.publication.Leaving)+len(f.unproven) > 0)
}

// judged is the input with what follows from it, which nothing changes any more.
func (in Input) judged() Input {
	unproven := in.unproven()
	in = in.proven()
	in.facts = &facts{unproven: unproven, resource: in.view(), endpointText: in.endpointText()}
	f := in.facts
	f.certificate = certificate.Judge(in.certificateCase())
	publishes := in.Desired.DNS != nil && in.Policy.DeniedRole == "" && !in.Deleting
	r := f.certificate.Request
	f.first = publishes && r != nil && r.ValidationTokenHost != certificate.SelfHosted
	f.failing = in.failing()
	f.configuration = in.aimed()
	f.turn = in.turn()
	f.publication = publication.Judge(in.publicationCase(publishes))
	f.configuration = in.configured()
	f.certificates = in.seenCertificates()
	f.stored = slices.Equal(f.certificates, in.Memory.Certificates)
	return in
}

// Wants are the records that are due now, and those that may stay in DNS after a deletion.
func (in Input) Wants() []dns.Record { return in.judged().facts.publication.Wants }

// Extent says how much Wants has of the records that are wanted: all of them, once it is known where they belong and lead,
// as far as that matters now. Before the tenant was looked for, that is not known, and at the end of an object not either
// which of its records may stay. The ledger stays as it is meanwhile, unless it is abandoned.
func (in Input) Extent() dns.Extent {
	placed := in.judged().facts.publication.Placed
	switch {
	case in.unlooked() && (in.Deleting && !in.Policy.AbandonDNS || !placed):
		return dns.Blind
	case placed:
		return dns.Whole
	}
	return dns.Partial
}

// publicationCase is what is known of the records.
func (in Input) publicationCase(publishes bool) publication.Case {
	w, f := in.World, in.facts
	c := publication.Case{
		Spec: in.Desired.DNS, Domains: in.Desired.Domains, Unproven: domainsOf(f.unproven), Namespace: f.resource.Me.Namespace, Generation: in.Generation,
		Deleting: in.Deleting, Still: in.Still(), Held: f.resource.Held(), InDoubt: in.inDoubt(f.resource), Reclaims: in.Rescued, Inherits: w.Inherits, HasFinalizer: in.HasFinalizer, Abandoned: in.Policy.AbandonDNS,
		Retained: in.retainsTenant(), Drift: in.Policy.Drift, DeniedRole: in.Policy.DeniedRole,
		Unresolved: in.Unresolved(), Blind: w.Unreadable != nil || !in.oriented(),
		Publishes: publishes, First: f.first,
		Stays:    f.waitsWith(dnsField),
		Requests: f.certificate.Request != nil, Underway: f.certificate.Stage == certificate.Underway, Refused: in.facts.refused,
		Zones: w.Zones, ZonesKnown: w.ZonesKnown, Unlisted: w.Unlisted, IPv6: w.IPv6, IPv6Known: w.IPv6Known,
		EndpointText: in.facts.endpointText, EndpointKnown: w.RoutingKnown || w.RoutingEndpoint != "",
		Routed: w.RoutingKnown, Ledger: in.Memory.Ledger, View: w.DNS,
		Tenant: publication.Tenant{
			Present: w.present(), Ours: f.resource.Mine(), Unknown: w.Knowledge == resource.Nothing, Doubted: !in.Attempts.Doubted.IsZero(),
			Remembered: in.Memory.ID != "", Perhaps: in.Memory.ID != "" || !in.CreateMark.IsZero(),
		},
	}
	if c.Endpoint = w.RoutingEndpoint; !c.EndpointKnown && f.resource.Applied {
		c.Endpoint = in.Memory.RoutingEndpoint
	}
	if before, had := in.Memory.Conditions[DNSReady]; had {
		c.Before = &before
	}
	if t := w.Tenant; t != nil {
		c.Tenant.Domains, c.Tenant.Settled = t.Domains, t.Status == Deployed
		for _, d := range append(slices.Clone(in.Desired.Domains), t.Domains...) {
			if in.serves(d) {
				c.Tenant.Served = append(c.Tenant.Served, d)
			}
		}
	}
	return c
}

// certificateCase is what is known of the managed certificate.
func (in Input) certificateCase() certificate.Case {
	a, w, v := in.Attempts, in.World, in.facts.resource
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
		Endpoint: in.facts.endpointText,
	}
	if t := w.Tenant; t != nil {
		c.Tenant = &certificate.Tenant{
			ETag: t.ETag, Modified: t.Modified, Attached: t.Customizations.CertificateARN, Domains: t.Domains, Unserved: slices.DeleteFunc(slices.Clone(t.Domains), in.serves),
		}
	}
	return c
}

// serves reports whether CloudFront answers for the domain.
func (in Input) serves(domain string) bool {
	return in.facts.resource.Mine() && in.World.Tenant.DomainStates[domain] == DomainActive
}
