package distributiontenant

import (
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/keyvalue"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/onboarding"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/proof"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// Memory is what status remembers because it can't be observed cheaply or at all.
// Everything else in status is a report.
type Memory struct {
	resource.Memory

	// ETag is the one with which AWS was last known to equal the spec, or to differ
	// from it as reported.
	ETag string
	// Modified is when the tenant was last modified as it was last seen, to the second.
	Modified time.Time
	// Parents are those that AWS was last made equal to.
	Parents Parents
	// Certificate is the managed certificate as it was last reported.
	Certificate *certificate.Managed
	// Certificates are the ARNs of all managed certificates that were ever seen for this tenant.
	Certificates []string
	// Requested is the request for a managed certificate that was last sent. Nil: none that is known.
	Requested *certificate.Sent
	// Served is the certificate that the tenant was last said to serve with. It is Inherited where it was the
	// distribution's.
	Served *Served
	// Ledger has the DNS records that are ours.
	Ledger []dns.Entry
	// Keys has the keys in key value stores that are ours.
	Keys []keyvalue.Entry
	// RoutingEndpoint is where DNS was last said to have to point.
	RoutingEndpoint string
	// DomainStates has the domains that the tenant was last seen to have, with their states.
	DomainStates map[string]string
	// Proofs has the domains that are proven, or have to be.
	Proofs []proof.Entry
	// Domains has what was last told of each domain, and since when.
	Domains map[string]DomainMemory
}

// DomainMemory is what status says of a domain.
type DomainMemory struct {
	onboarding.Domain

	Since time.Time
}

// waitedForReference reports whether the pass before this one rested because a reference led nowhere.
func (m Memory) waitedForReference() bool {
	return m.Conditions[chain.Synced].Reason == ReasonReferenceNotReady
}

// Attempts is what the running process remembers of its own tries for a tenant.
type Attempts struct {
	resource.Tries
	// Led is what the references of the spec led to when they last led somewhere. Empty: never here.
	Led Parents
	// Wrote is when the tenant was last modified according to the answer to the last own write. Zero: status has it.
	Wrote time.Time
	// Doubted is when an update was last sent that may have taken effect unseen: its answer was lost, or another process
	// may have sent it. Zero: the tenant was read long enough after it, or written.
	Doubted time.Time
	// RoutedFor is the generation for which it was last looked up where DNS has to point, and Unrouted since when that was
	// not found. Zero: it was found. RoutingRefused means that AWS refused to tell.
	RoutedFor      int64
	Unrouted       time.Time
	RoutingRefused bool
	// DisableRefused means AWS refused a disable that sent nothing else.
	DisableRefused bool
	// CertificateSeen is when the managed certificate was last read, or asked for, and
	// CertificateETag the ETag that the tenant had then.
	CertificateSeen time.Time
	CertificateETag string
	Certificate     *certificate.Managed
	// CertificateBefore is the ARN of the one that the last request replaces.
	CertificateBefore string
	// InvisibleSince is when public DNS first failed to show records that are in sync.
	InvisibleSince time.Time
	// Proofs is when the records that prove domains were looked for, and what was seen.
	Proofs proof.Asked
	// AskedAWS is when AWS was last asked for domains that DNS does not lead to CloudFront, or when this process began to
	// wait with that. Zero: there are no such domains.
	AskedAWS time.Time
	// AskedFor is the generation for which that was.
	AskedFor int64
	// Verified is when AWS was last asked what it thinks of the DNS of domains that it does not serve, and Words are its
	// answers.
	Verified time.Time
	Words    map[string]string
	// Refusal is how AWS has refused domains for the sake of their DNS when it was last asked, and RefusedFor the generation
	// for which that was.
	Refusal    string
	RefusedFor int64
	// RenewalSeen is when ACM was last asked what keeps the renewal of the certificate up, and Unrenewed are the domains
	// that do.
	RenewalSeen time.Time
	Unrenewed   []string
}

// Routed notes what was found when it was looked up for that generation where DNS has to point, and whether AWS refused to
// tell.
func (a *Attempts) Routed(generation int64, endpoint string, refused bool, now time.Time) {
	switch {
	case endpoint != "":
		a.Unrouted = time.Time{}
	case a.Unrouted.IsZero() || a.RoutedFor != generation:
		a.Unrouted = now
	}
	a.RoutedFor, a.RoutingRefused = generation, refused
}

// DoubtedFor is for how long reads may still be from before an update of which it is not known whether it took effect.
// The tenant may lack a domain by now that they show.
func (a Attempts) DoubtedFor(now time.Time) time.Duration {
	if a.Doubted.IsZero() {
		return 0
	}
	return max(a.Doubted.Add(resource.GracePeriod).Sub(now), 0)
}
