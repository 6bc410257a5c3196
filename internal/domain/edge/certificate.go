package edge

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/cert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
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

// request is the managed certificate that is asked for. One that the spec names takes its
// place: nothing is requested beside it.
func (in Input) request() *CertificateRequest {
	if in.Desired.Customizations.CertificateARN != "" {
		return nil
	}
	return in.Desired.Request
}

// certificate is what is known of the managed certificate, however old.
func (in Input) certificate() (managed *cert.Managed, known bool) {
	switch {
	case in.World.ManagedKnown:
		return in.World.Managed, true
	case !in.Attempts.CertificateSeen.IsZero():
		return in.Attempts.Certificate, true
	}
	// A fresh process believes what the one before it saw.
	return in.Memory.Certificate, in.Memory.Certificate != nil
}

// learnedCertificate is the certificate that a tenant with a request should have: the one
// that was issued, or whichever is attached. Taking that off would end the service of its
// domains.
func (in Input) learnedCertificate() string {
	if managed, _ := in.certificate(); managed != nil && managed.State == cert.Issued {
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
	if in.World.Knowledge != Listed || !in.attachable() || !in.applied() || in.inheriting() ||
		in.Policy.Drift != DriftEnforce || in.Memory.ID != in.World.Tenant.ID {
		return false
	}
	have := in.World.Tenant.Tenant
	want := in.effective()
	have.Parameters, have.Customizations.CertificateARN = want.Parameters, want.Customizations.CertificateARN
	return len(Diff(want, have)) == 0
}

// pendingRequest reports whether AWS is at work on a request: it takes one at a time.
func (in Input) pendingRequest() bool {
	managed, _ := in.certificate()
	return managed != nil && managed.State == cert.Pending
}

// certificateKnown reads the managed certificate where it can have moved.
func certificateKnown(in Input) (Decision, bool) {
	if in.request() == nil || !in.mine() || !in.certificateDue() {
		return pass()
	}
	return do(Look{At: LookManaged})
}

// CertificateMoved reports whether the tenant's ETag has moved since the certificate was
// last read.
func (in Input) CertificateMoved() bool {
	return in.World.present() && in.Attempts.CertificateETag != "" && in.Attempts.CertificateETag != in.World.Tenant.ETag
}

// certificateDue reports whether it is time to read the managed certificate. One that was
// validated stays so until the tenant's ETag moves or ACM says otherwise; a pending one may
// move by itself.
func (in Input) certificateDue() bool {
	if in.World.ManagedKnown {
		return false
	}
	managed, known := in.certificate()
	untouched := in.Attempts.CertificateETag == in.World.Tenant.ETag ||
		in.Attempts.CertificateETag == "" && in.Memory.ETag == in.World.Tenant.ETag
	if untouched && known && !in.World.CertificateUnusable && certificateCondition(in, managed).Status {
		return false
	}
	seen := in.Attempts.CertificateSeen
	return seen.IsZero() || in.CertificateMoved() || in.Now.Sub(seen) >= in.certificatePause()
}

func (in Input) certificatePause() time.Duration {
	if in.World.CertificateMovesETag {
		return certificateLater
	}
	since := in.World.Tenant.Modified
	if sent := in.Memory.Requested; sent != nil {
		since = sent.At
	}
	return min(max(in.Now.Sub(since), certificateSoon), certificateLater)
}

// requestDue is the request that has to be sent with an update now; nil when none has.
func (in Input) requestDue() *CertificateRequest {
	r := in.request()
	managed, known := in.certificate()
	if r == nil || !in.World.present() || !known || in.pendingRequest() {
		return nil
	}
	sent := in.Memory.Requested
	switch {
	case managed == nil && sent != nil && in.allActive():
		// Other certificates cover every domain, and AWS had nothing to request.
		return nil
	case managed == nil && sent == nil && in.inheriting():
		return nil
	case managed == nil && sent == nil, managed != nil && managed.State == cert.Issued && in.outgrown(*managed):
		return in.provable(r)
	case managed == nil, managed.State.IsFailure():
		edited := !in.applied() && in.Attempts.AcceptedFor != in.Generation
		if edited || in.retryDue(ReasonCertificateFailed) {
			return in.provable(r)
		}
	}
	return nil
}

// outgrown reports whether an issued certificate is no longer the one that is asked for:
// the request has changed, or a domain has come that nothing covers.
func (in Input) outgrown(managed cert.Managed) bool {
	if sent := in.Memory.Requested; sent != nil && sent.CertificateRequest != *in.request() {
		return true
	}
	covered := managed.Domains()
	return len(covered) > 0 && slices.ContainsFunc(in.effective().Domains, func(d string) bool {
		return !in.serves(d) && !slices.Contains(covered, d)
	})
}

// provable holds a request back whose domains do not lead to CloudFront yet, where that is
// for us to see to: AWS would refuse it.
func (in Input) provable(r *CertificateRequest) *CertificateRequest {
	if in.provesByDNS() && !in.published(in.unservedOf(in.effective().Domains)) {
		return nil
	}
	return r
}

// serves reports whether CloudFront answers for the domain.
func (in Input) serves(domain string) bool {
	return in.mine() && in.World.Tenant.DomainStates[domain] == DomainActive
}

func (in Input) unservedOf(domains []string) []string {
	return slices.DeleteFunc(slices.Clone(domains), in.serves)
}

func (in Input) allActive() bool { return len(in.unservedOf(in.Desired.Domains)) == 0 }

func certificateUsable(in Input) (Decision, bool) {
	if in.request() == nil || !in.World.present() {
		return pass()
	}
	managed, _ := in.certificate()
	c := certificateCondition(in, managed)
	switch {
	case c.Status:
		return pass()
	case c.Reason == ReasonCertificateFailed:
		return Decision{Step: Rest{}, Problem: &Problem{Reason: c.Reason, Message: c.Message, Of: CertificateReady, Stuck: true}}, true
	}
	return rest(Problem{Reason: c.Reason, Message: c.Message, Of: CertificateReady}, in.certificateWait())
}

// certificateWait is how long it is until the certificate is read again.
func (in Input) certificateWait() time.Duration {
	pause := in.certificatePause()
	if seen := in.Attempts.CertificateSeen; !seen.IsZero() {
		return max(seen.Add(pause).Sub(in.Now), time.Second)
	}
	return pause
}

// certificateReport is the condition of a managed certificate; nil when none is asked for.
func (in Input) certificateReport(r Report) *Condition {
	if in.Desired.Request != nil {
		c := certificateCondition(in, r.Certificate)
		return &c
	}
	before, had := in.Memory.Conditions[CertificateReady]
	if !had || before.Reason == ReasonNotConfigured && before.Generation != in.Generation {
		return nil
	}
	return &Condition{Type: CertificateReady, Reason: ReasonNotConfigured, Message: "No managed certificate is asked for any more."}
}

func certificateCondition(in Input, managed *cert.Managed) Condition {
	no := func(reason Reason, message string) Condition {
		return Condition{Type: CertificateReady, Reason: reason, Message: message}
	}
	yes := func(message string) Condition {
		return Condition{Type: CertificateReady, Status: true, Reason: ReasonValidated, Message: message}
	}
	attached := ""
	if in.World.present() {
		attached = in.World.Tenant.Customizations.CertificateARN
	}
	named := in.Desired.Customizations.CertificateARN
	switch {
	case named != "" && named == attached:
		return yes("The certificate that spec.customizations.certificate.arn names is attached.")
	case named != "":
		return no(ReasonAttaching, "The certificate that spec.customizations.certificate.arn names is not attached to the distribution tenant yet.")
	case managed == nil && in.lostRequest():
		return no(ReasonCertificateFailed, "AWS has no certificate request for this distribution tenant, although one was sent: the operator's identity may lack acm:RequestCertificate, or the account's quota of certificates may be used up. It is sent again with growing delay.")
	case managed == nil && in.World.ManagedKnown && in.Memory.Requested != nil:
		return yes("Certificates that were there before cover every domain; AWS had nothing to request.")
	case managed == nil && in.World.ManagedKnown && in.inheriting():
		return no(ReasonPendingValidation, "The adopted distribution tenant has no managed certificate. One is requested with the next change of the spec.")
	case managed == nil || managed.State == cert.Pending || managed.State == "":
		return no(ReasonPendingValidation, in.validationText(managed))
	case managed.State.IsFailure():
		return no(ReasonCertificateFailed, failedText(*managed))
	case managed.ARN != attached:
		return no(ReasonAttaching, fmt.Sprintf("The managed certificate %s is issued and not attached to the distribution tenant yet.", managed.ARN))
	}
	return yes("The managed certificate is issued and attached.")
}

// lostRequest reports whether AWS knows nothing of a request that it accepted, and
// something would have been left to request. It makes a request after the tenant, with the caller's rights, and
// keeps the tenant when that fails.
func (in Input) lostRequest() bool {
	return in.World.ManagedKnown && in.World.Managed == nil && in.Memory.Requested != nil && in.World.present() && !in.allActive()
}

func failedText(m cert.Managed) string {
	cause := map[cert.State]string{
		cert.TimedOut: "the domains were not proven within 72 hours",
		cert.Failed:   "ACM could not issue it; DescribeCertificate tells why",
		cert.Revoked:  "it was revoked",
		cert.Expired:  "it has expired; a renewal needs every domain to lead to CloudFront",
		cert.Inactive: "it is no longer active",
	}[m.State]
	return fmt.Sprintf("The managed certificate %s is %s: %s. A new one is requested with growing delay, or at once after a change of the spec.", m.ARN, m.State, cause)
}

// validationText says what a pending certificate waits for.
func (in Input) validationText(managed *cert.Managed) string {
	if r := in.request(); r != nil && r.ValidationTokenHost == SelfHosted {
		return "The managed certificate waits for validation: " + redirects(managed)
	}
	return fmt.Sprintf("The managed certificate waits for validation: every domain has to lead to %s.", in.endpointText())
}

// redirects says what the web servers of the domains have to answer.
func redirects(managed *cert.Managed) string {
	if managed == nil || len(managed.Tokens) == 0 {
		return "the web server behind every domain has to answer the challenge, which status.validationTokens will list."
	}
	var parts []string
	for _, t := range managed.Tokens[:min(len(managed.Tokens), 2)] {
		parts = append(parts, fmt.Sprintf("redirect http://%s to https://%s", t.RedirectFrom, t.RedirectTo))
	}
	text := strings.Join(parts, ", and ")
	if more := len(managed.Tokens) - 2; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text + " (status.validationTokens lists all)."
}

// seenCertificates are the managed certificates that were ever seen for this tenant: what
// status has, with the one that was read now as the last.
func (in Input) seenCertificates() []string {
	seen := slices.Clone(in.Memory.Certificates)
	managed, known := in.certificate()
	if known && managed != nil && managed.ARN != "" && in.mine() && managed.ARN != in.Desired.Customizations.CertificateARN {
		seen = append(slices.DeleteFunc(seen, func(arn string) bool { return arn == managed.ARN }), managed.ARN)
	}
	return slices.DeleteFunc(seen, in.disposed)
}

// disposed reports whether a certificate needs no more thought: it is gone, or turned out
// to be nobody's but the user's.
func (in Input) disposed(arn string) bool {
	c, known := in.World.Certificates[arn]
	return in.Deleting && known && !c.Unreadable && (c.Missing || !c.CloudFrontManaged)
}

// certificatesLearned makes sure that the managed certificate of a tenant that is about to
// be deleted stands in status: afterwards nobody could tell that it was this tenant's.
func certificatesLearned(in Input) (Decision, bool) {
	if in.Desired.Request == nil || in.keepsCertificates() || !in.World.present() {
		return pass()
	}
	if !in.World.ManagedKnown && in.Attempts.CertificateSeen.IsZero() || in.CertificateMoved() && !in.World.ManagedKnown {
		return do(Look{At: LookManaged})
	}
	if !slices.Equal(in.seenCertificates(), in.Memory.Certificates) {
		return do(Rest{Store: true})
	}
	return pass()
}

func (in Input) keepsCertificates() bool { return in.Policy.Retain || in.Policy.KeepCertificates }

// certificateInUse is how long it takes ACM to notice that a tenant is gone, at least.
const certificateInUse = 10 * time.Second

// certificatesGone deletes the managed certificates of a tenant that is gone: they would
// count against the account's quota for ever.
func certificatesGone(in Input) (Decision, bool) {
	if in.keepsCertificates() || in.World.Knowledge != Absent {
		return pass()
	}
	for _, arn := range in.seenCertificates() {
		if arn == in.Desired.Customizations.CertificateARN {
			continue
		}
		c, known := in.World.Certificates[arn]
		switch {
		case in.refusedWith(fault.InUse), known && c.InUse:
			return rest(Problem{Reason: ReasonDeleting, Message: fmt.Sprintf(
				"The distribution tenant is gone. Waiting until ACM no longer counts the managed certificate %s as in use, to delete it.", arn)}, certificateInUse)
		case in.World.Refused != nil:
			return in.refusal()
		case known && c.Unreadable:
			return stuck(ReasonAccessDenied, fmt.Sprintf(
				"The distribution tenant is gone. Its managed certificate %s is left, for acm:DescribeCertificate is not allowed to the operator. Allow it, or set spec.managedCertificateRequest.deleteOnTenantDeletion to false.", arn))
		case !known:
			return do(Look{At: LookCertificates, ARNs: []string{arn}})
		}
		return do(DeleteCertificate{ARN: arn})
	}
	return pass()
}
