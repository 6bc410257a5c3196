package distributiontenant

import (
	"slices"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// The pause between two reads of a pending managed certificate grows with the age of the
// request. Where the tenant's ETag moves with the certificate the sweep tells of it, and the
// longer pause is only the net below.
const (
	certificateSoon  = time.Minute
	certificateLater = 5 * time.Minute
)

// SentRequest is a request for a managed certificate that AWS accepted.
type SentRequest struct {
	CertificateRequest
	At time.Time
}

// sentRequest is the request that was last sent. Where the process ended before it was stored, or
// somebody else sent it, the certificate tells that there was one.
func (in Input) sentRequest(managed *certificate.Managed) *SentRequest {
	if in.Memory.Requested != nil || managed == nil || in.request() == nil {
		return in.Memory.Requested
	}
	sent := SentRequest{CertificateRequest: *in.sendable(), At: in.World.Tenant.Modified}
	sent.ValidationTokenHost = orElse(managed.Host, sent.ValidationTokenHost)
	return &sent
}

// request is the managed certificate that is asked for. One that the spec names takes its
// place: nothing is requested beside it.
func (in Input) request() *CertificateRequest {
	if in.Desired.Customizations.CertificateARN != "" {
		return nil
	}
	return in.Desired.Request
}

// certificate is what is known of the managed certificate of our tenant, however old.
func (in Input) certificate() (managed *certificate.Managed, known bool) {
	switch {
	case !in.view().Mine():
		return nil, false
	case in.World.ManagedKnown:
		return in.World.Managed, true
	case !in.Attempts.CertificateSeen.IsZero():
		return in.Attempts.Certificate, true
	}
	// A fresh process believes what the one before it saw.
	return in.Memory.Certificate, in.Memory.Certificate != nil
}

// stage is how far the request for a managed certificate has come.
type stage int

const (
	// unseen means that nobody has looked.
	unseen stage = iota
	// unasked means that no request was sent, as far as is known.
	unasked
	// underway means that AWS is at work on a request. It takes one at a time.
	underway
	// needless means that AWS had nothing to request: other certificates cover every domain.
	needless
	// lost means that AWS knows nothing of a request that it accepted. It makes a request after
	// it has changed the tenant, with the caller's rights, and keeps the tenant when that fails.
	lost
	failed
	issued
)

func (in Input) stage() stage {
	managed, known := in.certificate()
	sent := in.Memory.Requested
	switch {
	case !known:
		return unseen
	case sent != nil && in.lagging(managed):
		return underway
	case managed == nil && sent == nil:
		return unasked
	case managed == nil && len(in.unservedOf(in.World.Tenant.Domains)) == 0:
		return needless
	case managed == nil:
		return lost
	case managed.State.IsFailure():
		return failed
	case managed.State != certificate.Issued:
		return underway
	case sent != nil && in.uncovered(*managed):
		return lost
	}
	return issued
}

// lagging reports whether what was read may be from before the last request: it was read right
// after it, and shows nothing new.
func (in Input) lagging(managed *certificate.Managed) bool {
	old := managed == nil || managed.ARN == in.Attempts.CertificateBefore
	seen := in.Attempts.CertificateSeen
	return old && !seen.IsZero() && seen.Sub(in.Memory.Requested.At) < certificateSoon
}

// uncovered reports whether the tenant has a domain that is not served and that the certificate
// was not requested for. Not every answer of AWS tells.
func (in Input) uncovered(managed certificate.Managed) bool {
	covered := managed.Domains()
	return len(covered) > 0 && slices.ContainsFunc(in.unservedOf(in.World.Tenant.Domains), func(d string) bool {
		return slices.Contains(in.Desired.Domains, d) && !slices.Contains(covered, d)
	})
}

// learnedCertificate is the certificate that a tenant with a request should have: the one
// that was issued, or whichever is attached. Taking that off would end the service of its
// domains.
func (in Input) learnedCertificate() string {
	if managed, _ := in.certificate(); managed != nil && managed.State == certificate.Issued {
		return managed.ARN
	}
	return in.World.Tenant.Customizations.CertificateARN
}

// attachable reports whether a certificate was issued that the tenant does not have yet.
func (in Input) attachable() bool {
	return in.request() != nil && in.World.present() &&
		in.learnedCertificate() != in.World.Tenant.Customizations.CertificateARN
}

// attachesUnread reports whether an issued certificate can be attached on the strength of
// the list alone: all that it shows is as the spec asks, and what it does not show is
// enforced in any case. Where the list is out of date, its ETag is too.
func (in Input) attachesUnread() bool {
	if in.World.Knowledge != resource.Listed || !in.attachable() || !in.applied() || in.view().Inheriting() ||
		in.Policy.Drift != resource.DriftEnforce || in.Memory.ID != in.World.Tenant.ID {
		return false
	}
	have := in.World.Tenant.Tenant
	want := in.effective()
	have.Parameters, have.Customizations.CertificateARN = want.Parameters, want.Customizations.CertificateARN
	return len(Diff(want, have)) == 0
}

// certificateKnown reads the managed certificate where it can have moved.
func certificateKnown(in Input) (Decision, bool) {
	if in.request() == nil || !in.view().Mine() || !in.certificateDue() {
		return pass()
	}
	return do(Look{At: LookManaged})
}

// CertificateMoved reports whether the tenant's ETag has moved since the certificate was
// last read.
func (in Input) CertificateMoved() bool {
	return in.World.present() && in.Attempts.CertificateETag != "" && in.Attempts.CertificateETag != in.World.Tenant.ETag
}

// certificateDue reports whether it is time to read the managed certificate. Only a request
// that is underway moves by itself; all else stays as it is until the tenant's ETag moves, ACM
// says otherwise, or it is time to ask for another certificate.
func (in Input) certificateDue() bool {
	seen, now := in.Attempts.CertificateSeen, in.stage()
	paused := !seen.IsZero() && in.Now.Sub(seen) < in.certificatePause()
	switch {
	case in.World.ManagedKnown:
		return false
	case now == unseen, in.Nudged, in.CertificateMoved():
		return true
	case now == underway, in.World.CertificateUnusable:
		return !paused
	case now == failed, now == lost:
		return seen.IsZero() || !paused && in.retryDue(resource.ReasonCertificateFailed)
	}
	// What this process has not seen is believed while nothing speaks against it.
	t := in.World.Tenant
	moved := in.Memory.ETag != t.ETag && in.Attempts.CertificateETag != t.ETag
	return seen.IsZero() && (moved || in.attachable() || len(in.unservedOf(t.Domains)) > 0)
}

func (in Input) certificatePause() time.Duration {
	if in.World.CertificateMovesETag {
		return certificateLater
	}
	since, seen := in.World.Tenant.Modified, in.Attempts.CertificateSeen
	if sent := in.Memory.Requested; sent != nil {
		since = sent.At
	}
	if seen.IsZero() {
		seen = in.Now
	}
	// The age counts that it was last seen at: the pause must not run away from who waits.
	return min(max(seen.Sub(since), certificateSoon), certificateLater)
}

// requestDue is the request that has to be sent with an update now; nil when none has.
func (in Input) requestDue() *CertificateRequest {
	if !in.requestWanted() || in.requestHeld() {
		return nil
	}
	return in.sendable()
}

// sendable is the request as it is sent: the primary domain is the first one where none is named.
func (in Input) sendable() *CertificateRequest {
	if in.request() == nil {
		return nil
	}
	r := *in.request()
	if r.PrimaryDomainName == "" && len(in.Desired.Domains) > 0 {
		r.PrimaryDomainName = in.Desired.Domains[0]
	}
	return &r
}

// requestWanted reports whether a managed certificate has to be asked for.
func (in Input) requestWanted() bool {
	if in.request() == nil {
		return false
	}
	switch in.stage() {
	case unseen, underway:
		return false
	case unasked:
		return !in.view().Inheriting()
	case failed, lost:
		// An edit may have mended it; one request is sent for each, and then it takes its time.
		edited := !in.applied() && in.Attempts.AcceptedFor != in.Generation && !in.view().Failing(resource.ReasonCertificateFailed)
		return edited || in.retryDue(resource.ReasonCertificateFailed) || in.retryDue(resource.ReasonDomainValidationPending) || in.domainComes()
	case issued, needless:
	}
	managed, _ := in.certificate()
	return in.requestChanged() || in.domainComes() || managed != nil && in.uncovered(*managed)
}

// requestChanged reports whether something else is asked for than was last sent.
func (in Input) requestChanged() bool {
	r, sent := in.request(), in.Memory.Requested
	return r != nil && sent != nil && !r.equals(sent.CertificateRequest)
}

// domainComes reports whether the tenant gets another domain, which may need a certificate.
func (in Input) domainComes() bool {
	return slices.ContainsFunc(in.Desired.Domains, func(d string) bool { return !in.holds(d) })
}

// requestHeld reports whether a request has to wait. It is for all domains that the tenant has:
// those that come must be there, or would need one of their own, and those that go would never
// be proven. AWS refuses one for a domain that does not lead to CloudFront.
func (in Input) requestHeld() bool {
	_, leaving := in.heldDomains()
	return len(leaving) > 0 || in.provesByDNS() && !in.published(in.unservedOf(in.Desired.Domains))
}

// holds reports whether our tenant has the domain.
func (in Input) holds(domain string) bool {
	return in.view().Mine() && slices.Contains(in.World.Tenant.Domains, domain)
}

// serves reports whether CloudFront answers for the domain.
func (in Input) serves(domain string) bool {
	return in.view().Mine() && in.World.Tenant.DomainStates[domain] == DomainActive
}

func (in Input) unservedOf(domains []string) []string {
	return slices.DeleteFunc(slices.Clone(domains), in.serves)
}
