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

// sentRequest is the request that was last sent. Where the process ended before it was stored, or
// somebody else sent it, the certificate tells that there was one.
func (in Input) sentRequest(managed *cert.Managed) *SentRequest {
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
func (in Input) certificate() (managed *cert.Managed, known bool) {
	switch {
	case !in.mine():
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
	case managed.State != cert.Issued:
		return underway
	case sent != nil && in.uncovered(*managed):
		return lost
	}
	return issued
}

// lagging reports whether what was read may be from before the last request: it was read right
// after it, and shows nothing new.
func (in Input) lagging(managed *cert.Managed) bool {
	old := managed == nil || managed.ARN == in.Attempts.CertificateBefore
	seen := in.Attempts.CertificateSeen
	return old && !seen.IsZero() && seen.Sub(in.Memory.Requested.At) < certificateSoon
}

// uncovered reports whether the tenant has a domain that is not served and that the certificate
// was not requested for. Not every answer of AWS tells.
func (in Input) uncovered(managed cert.Managed) bool {
	covered := managed.Domains()
	return len(covered) > 0 && slices.ContainsFunc(in.unservedOf(in.World.Tenant.Domains), func(d string) bool {
		return slices.Contains(in.Desired.Domains, d) && !slices.Contains(covered, d)
	})
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
		return seen.IsZero() || !paused && in.retryDue(ReasonCertificateFailed)
	}
	// What this process has not seen is believed while nothing speaks against it.
	t := in.World.Tenant
	return seen.IsZero() && (in.Memory.ETag != t.ETag || in.attachable() || len(in.unservedOf(t.Domains)) > 0)
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
		return !in.inheriting()
	case failed, lost:
		// An edit may have mended it; one request is sent for each, and then it takes its time.
		edited := !in.applied() && in.Attempts.AcceptedFor != in.Generation && !in.failing(ReasonCertificateFailed)
		return edited || in.retryDue(ReasonCertificateFailed) || in.retryDue(ReasonDomainValidationPending) || in.domainComes()
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
	return in.mine() && slices.Contains(in.World.Tenant.Domains, domain)
}

// serves reports whether CloudFront answers for the domain.
func (in Input) serves(domain string) bool {
	return in.mine() && in.World.Tenant.DomainStates[domain] == DomainActive
}

func (in Input) unservedOf(domains []string) []string {
	return slices.DeleteFunc(slices.Clone(domains), in.serves)
}

func certificateUsable(in Input) (Decision, bool) {
	if in.request() == nil || !in.World.present() {
		return pass()
	}
	c := in.certificateCondition()
	switch {
	case c.Status:
		return pass()
	case c.Reason == ReasonCertificateFailed && in.waiting():
		// The last request was refused.
		return do(in.patience())
	case c.Reason == ReasonCertificateFailed && !in.requestWanted():
		return Decision{Step: Rest{}, Problem: &Problem{Reason: c.Reason, Message: c.Message, Of: CertificateReady, Stuck: true}}, true
	}
	return rest(Problem{Reason: c.Reason, Message: c.Message, Of: CertificateReady}, in.certificateWait())
}

// certificateWait is how long it is until the certificate is read again; zero when that takes
// more than time.
func (in Input) certificateWait() time.Duration {
	if in.stage() != underway {
		return 0
	}
	pause := in.certificatePause()
	if seen := in.Attempts.CertificateSeen; !seen.IsZero() {
		return max(seen.Add(pause).Sub(in.Now), time.Second)
	}
	return pause
}

// certificateReport is the condition of a managed certificate; nil when none is asked for.
func (in Input) certificateReport() *Condition {
	if in.Desired.Request != nil {
		c := in.certificateCondition()
		return &c
	}
	before, had := in.Memory.Conditions[CertificateReady]
	if !had || before.Reason == ReasonNotConfigured && before.Generation != in.Generation {
		return nil
	}
	return &Condition{Type: CertificateReady, Reason: ReasonNotConfigured, Message: "No managed certificate is asked for any more."}
}

func (in Input) certificateCondition() Condition {
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
	switch named := in.Desired.Customizations.CertificateARN; {
	case named != "" && named == attached:
		return yes("The certificate that spec.customizations.certificate.arn names is attached.")
	case named != "":
		return no(ReasonAttaching, "The certificate that spec.customizations.certificate.arn names is not attached to the distribution tenant yet.")
	}
	managed, _ := in.certificate()
	switch in.stage() {
	case unasked:
		if in.inheriting() {
			return no(ReasonPendingValidation, "The adopted distribution tenant has no managed certificate. One is requested with the next change of the spec.")
		}
	case needless:
		return yes("Certificates that were there before cover every domain; AWS had nothing to request.")
	case lost:
		return no(ReasonCertificateFailed, in.lostText())
	case failed:
		return no(ReasonCertificateFailed, failedText(*managed))
	case issued:
		if managed.ARN != attached {
			return no(ReasonAttaching, fmt.Sprintf("The managed certificate %s is issued and not attached to the distribution tenant yet.", managed.ARN))
		}
		return yes("The managed certificate is issued and attached.")
	case unseen, underway:
	}
	return no(ReasonPendingValidation, in.validationText(managed))
}

func (in Input) lostText() string {
	return fmt.Sprintf("AWS has no certificate request for %s, although one was sent: the operator's identity may lack acm:RequestCertificate, or the account's quota of certificates may be used up. It is sent again with growing delay.",
		joinSome(in.unservedOf(in.World.Tenant.Domains)))
}

func failedText(m cert.Managed) string {
	cause := map[cert.State]string{
		cert.TimedOut: "the domains were not proven within 72 hours",
		cert.Failed:   refusedText(m.Cause),
		cert.Revoked:  "it was revoked",
		cert.Expired:  "it has expired; a renewal needs every domain to lead to CloudFront",
		cert.Inactive: "it is no longer active",
	}[m.State]
	return fmt.Sprintf("The managed certificate %s is %s: %s. A new one is requested with growing delay, or at once after a change of the spec.", m.ARN, m.State, cause)
}

// refusedText says why ACM could not issue a certificate, in its own word.
func refusedText(cause string) string {
	switch cause {
	case "":
		return "ACM could not issue it; acm:DescribeCertificate tells why"
	case "CAA_ERROR":
		return "ACM could not issue it (CAA_ERROR): a CAA record of a domain does not allow Amazon to; add one for amazon.com, or remove it"
	}
	return "ACM could not issue it (" + cause + ")"
}

// validationText says what a pending certificate waits for.
func (in Input) validationText(managed *cert.Managed) string {
	text, host := fmt.Sprintf("every domain has to lead to %s.", in.endpointText()), ""
	if r := in.request(); r != nil {
		host = r.ValidationTokenHost
	}
	if managed != nil {
		host = orElse(managed.Host, host)
	}
	if host == SelfHosted {
		text = redirects(managed)
	}
	if in.requestChanged() {
		text += " The changed request is sent when this one has ended; AWS works on one at a time."
	}
	return "The managed certificate waits for validation: " + text
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
	return text + " (also in status.validationTokens)."
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
	return in.Deleting && known && !c.Unreadable && (c.Deleted || c.Missing && !in.justRequested() || !c.Missing && !c.CloudFrontManaged)
}

// justRequested reports whether ACM may not show yet what CloudFront has requested there.
func (in Input) justRequested() bool {
	sent := in.Memory.Requested
	return sent != nil && in.Now.Sub(sent.At) < GracePeriod
}

// certificatesLearned makes sure that the managed certificate of a tenant that is about to
// be deleted stands in status: afterwards nobody could tell that it was this tenant's.
func certificatesLearned(in Input) (Decision, bool) {
	if in.Desired.Request == nil && in.Memory.Requested == nil || in.keepsCertificates() || !in.World.present() {
		return pass()
	}
	// What was only assumed after a request has no ARN.
	managed, _ := in.certificate()
	seen := !in.Attempts.CertificateSeen.IsZero() && !in.CertificateMoved() && managed != nil && managed.ARN != ""
	if !in.World.ManagedKnown && !seen {
		return do(Look{At: LookManaged})
	}
	if !in.certificatesStored() {
		return do(Rest{Store: true})
	}
	return pass()
}

// certificatesStored reports whether status has all certificates that were seen.
func (in Input) certificatesStored() bool {
	return slices.Equal(in.seenCertificates(), in.Memory.Certificates)
}

func (in Input) keepsCertificates() bool { return in.Policy.Retain || in.Policy.KeepCertificates }

// certificateAppears is the pause before ACM is asked again for a certificate that it should have.
const certificateAppears = 10 * time.Second

// certificatesGone deletes the managed certificates of a tenant that is gone: they would
// count against the account's quota for ever.
func certificatesGone(in Input) (Decision, bool) {
	if in.keepsCertificates() {
		return pass()
	}
	if in.World.Deleted && len(in.seenCertificates()) > 0 {
		// The pass has had its one write: what was read now would be read again in the next.
		return do(Rest{Store: true})
	}
	if in.World.Knowledge != Absent {
		return pass()
	}
	inUse := ""
	for _, arn := range in.seenCertificates() {
		c, known := in.World.Certificates[arn]
		switch {
		case arn == in.Desired.Customizations.CertificateARN:
			continue
		case known && c.InUse:
			// It keeps none of the others.
			inUse = orElse(inUse, arn)
			continue
		case known && c.Missing:
			return rest(Problem{Reason: ReasonDeleting, Message: fmt.Sprintf(
				"The distribution tenant is gone. Waiting until ACM shows its managed certificate %s, which was requested a moment ago, to delete it.", arn)}, certificateAppears)
		case in.refusedWith(fault.InUse):
			return certificateInUse(arn)
		case in.refusedWith(fault.Denied):
			return certificateLeft(arn, "acm:DeleteCertificate")
		case in.World.Refused != nil:
			return in.refusal()
		case known && c.Unreadable:
			return certificateLeft(arn, "acm:DescribeCertificate")
		case !known:
			return do(Look{At: LookCertificates, ARNs: []string{arn}})
		}
		return do(DeleteCertificate{ARN: arn})
	}
	if inUse != "" {
		return certificateInUse(inUse)
	}
	return pass()
}

func certificateInUse(arn string) (Decision, bool) {
	return stuck(ReasonDeleting, fmt.Sprintf(
		"The distribution tenant is gone. Waiting until ACM no longer counts the managed certificate %s as in use, to delete it. If something else uses it, set spec.managedCertificateRequest.deleteOnTenantDeletion to false.", arn))
}

func certificateLeft(arn, action string) (Decision, bool) {
	return stuck(ReasonAccessDenied, fmt.Sprintf(
		"The distribution tenant is gone. Its managed certificate %s is left, for %s is not allowed to the operator. Allow it, or set spec.managedCertificateRequest.deleteOnTenantDeletion to false.", arn, action))
}
