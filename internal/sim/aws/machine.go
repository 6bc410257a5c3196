package aws

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	// validationWindow is how long ACM looks for the proof.
	validationWindow = 72 * time.Hour
	// certificateLife is that of public certificates ACM issues since 2026.
	certificateLife = 198 * 24 * time.Hour
	// renewalLead is how long before its end the renewal of a certificate begins, and
	// renewalRetry how long each try takes.
	renewalLead  = 45 * 24 * time.Hour
	renewalRetry = time.Hour

	// costOfProof bounds what pending certificates cost: the more there are, the
	// rarer a call looks at all of them. With ten thousand it is five times a
	// second, which takes some percent of a core; up to exactProofs every call does.
	costOfProof = 20 * time.Microsecond
	exactProofs = 64
)

// progress moves the certificates on to where they are at a moment. It is called with the lock before every read and
// every change of the world; nothing runs in the background.
func (s *Sim) progress(now time.Time) {
	if n := len(s.world.pending); n > 0 && (n <= exactProofs || now.Sub(s.world.proved) >= time.Duration(n)*costOfProof) {
		s.progressPending(now)
	}
	if !s.world.aging.IsZero() && !now.Before(s.world.aging) {
		s.progressIssued(now)
	}
}

// progressAll leaves nothing for later.
func (s *Sim) progressAll(now time.Time) {
	s.progressPending(now)
	s.progress(now)
}

// progressTenant does it for the certificate one tenant waits for.
func (s *Sim) progressTenant(a *account, r *record[tenant], now time.Time) {
	if r == nil || r.current().managed == nil {
		return
	}
	if cert := a.certificates.byARN[r.current().managed.arn]; cert != nil {
		s.validate(cert, now)
	}
}

func (s *Sim) progressPending(now time.Time) {
	s.world.proved = now
	s.world.pending = slices.DeleteFunc(s.world.pending, func(cert *certificate) bool {
		s.validate(cert, now)
		return cert.status != certPending
	})
}

func (s *Sim) progressIssued(now time.Time) {
	s.world.aging = time.Time{}
	for _, a := range s.world.accounts {
		for _, cert := range a.certificates.order {
			s.age(cert, now)
		}
	}
}

// validate looks for the proofs of a pending certificate. It is issued a delay
// after all of them were there, or times out. When time took a leap beyond the
// end of the window, what counts is the world at that end.
func (s *Sim) validate(cert *certificate, now time.Time) {
	if cert.status != certPending || cert.tokens == nil {
		return
	}
	end := cert.created.Add(validationWindow)
	at := now
	if at.After(end) {
		at = end
	}
	if !s.provenAll(cert, at) {
		cert.proven = time.Time{}
	} else if cert.proven.IsZero() {
		cert.proven = at
	}
	issued := cert.proven.Add(s.switches.CertificateIssueDelay)
	switch {
	case !cert.proven.IsZero() && !issued.After(at):
		s.issue(cert, issued)
	case !now.Before(end):
		s.setStatus(cert, certTimedOut, end)
	}
}

func (s *Sim) provenAll(cert *certificate, at time.Time) bool {
	r := cert.requester()
	return r != nil && !slices.ContainsFunc(cert.tokens, func(t token) bool { return !s.proves(cert, r, t, at) })
}

// proves tells whether ACM finds the token of one name: CloudFront answers with
// it for a domain of the tenant once its DNS leads to the routing endpoint of
// the tenant's connection group, and the customer's own host once it was told to.
func (s *Sim) proves(cert *certificate, r *record[tenant], t token, at time.Time) bool {
	if t.served && cert.host == hostSelfHosted {
		return true
	}
	if s.world.domains[t.domain] != (domainHolder{kind: kindTenant, account: cert.owner.id, id: r.id}) {
		return false
	}
	endpoint, ok := s.routingOf(t.domain, at)
	return ok && (endpoint == "" || cert.owner.endpoints[endpoint] == r.current().groupID)
}

// issue starts the life of a certificate.
func (s *Sim) issue(cert *certificate, at time.Time) {
	cert.issued = at
	cert.live(at)
	s.setStatus(cert, certIssued, at)
	s.willAge(cert.notAfter.Add(-renewalLead))
}

func (cert *certificate) live(from time.Time) {
	cert.notBefore, cert.notAfter = from, from.Add(certificateLife)
}

// willAge notes when a certificate has to be looked at again.
func (s *Sim) willAge(at time.Time) {
	if s.world.aging.IsZero() || at.Before(s.world.aging) {
		s.world.aging = at
	}
}

// age renews a managed certificate that is attached and whose names lead to
// CloudFront, and ends one whose time is over.
func (s *Sim) age(cert *certificate, now time.Time) {
	if cert.status != certIssued || cert.notAfter.IsZero() {
		return
	}
	for cert.managedBy != "" && !now.Before(cert.notAfter.Add(renewalRetry-renewalLead)) {
		at := cert.notAfter.Add(-renewalLead)
		if cert.tried.After(at) {
			at = cert.tried
		}
		if !at.Before(cert.notAfter) || !s.renewable(cert, now) {
			break
		}
		cert.live(at)
		cert.renewal, cert.tried = renewalSuccess, time.Time{}
	}
	renewal := cert.notAfter.Add(-renewalLead)
	switch {
	case !now.Before(cert.notAfter):
		if cert.managedBy != "" {
			cert.renewal = renewalFailed
		}
		s.setStatus(cert, certExpired, cert.notAfter)
	case cert.managedBy == "":
		s.willAge(cert.notAfter)
	case now.Before(renewal):
		s.willAge(renewal)
	default:
		s.tryRenewal(cert, renewal, now)
	}
}

// tryRenewal begins the renewal of a certificate, or notes that it can't be renewed yet. One that is not in use is not
// renewed.
func (s *Sim) tryRenewal(cert *certificate, begin, now time.Time) {
	next := now.Add(renewalRetry)
	switch first := begin.Add(renewalRetry); {
	case !cert.attached():
		cert.renewal = ""
	case now.Before(first):
		cert.renewal, cert.tried, next = renewalAuto, begin, first
	default:
		cert.renewal, cert.tried = renewalValidation, now
	}
	if !next.Before(cert.notAfter) {
		next = cert.notAfter
	}
	s.willAge(next)
}

func (s *Sim) renewable(cert *certificate, now time.Time) bool {
	return cert.attached() && !slices.ContainsFunc(cert.names, func(name string) bool { return !s.leads(name, now) })
}

// attached tells whether a tenant has the certificate.
func (cert *certificate) attached() bool { return len(cert.owner.attached[cert.arn]) > 0 }

func (s *Sim) leads(name string, now time.Time) bool {
	_, ok := s.routingOf(name, now)
	return ok
}

// setStatus moves a certificate to a state and updates the tenant that asked for it: its ETag changes although no
// client changed it, and where AWS attaches automatically it is attached.
func (s *Sim) setStatus(cert *certificate, status string, at time.Time) {
	cert.status = status
	r := cert.requester()
	if r == nil {
		return
	}
	if last := r.versions[len(r.versions)-1].at; at.Before(last) {
		at = last
	}
	next := *r.current()
	switch {
	case status == certIssued && s.switches.AttachesByItself:
		next.custom.cert = cert.arn
		next.domains = slices.Clone(next.domains)
		for i, d := range next.domains {
			next.domains[i].active = d.active || covers(cert.names, d.name)
		}
		s.replaceTenant(cert.owner, r, &next, at)
	case s.switches.CertificateMovesETag:
		r.rev++
		ready := next.ready
		next.meta = s.changed(r.id, r.rev, at)
		next.ready = ready // nothing is deployed
		r.put(&next, at, s.keep())
	}
}

// ServeToken makes the customers' own hosts answer for domains with the tokens
// of their pending certificates. A later request has other tokens.
func (s *Sim) ServeToken(domains ...string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	s.progress(now)
	for _, name := range domains {
		found := false
		for _, cert := range s.world.pending {
			for i := range cert.tokens {
				if cert.status == certPending && cert.tokens[i].domain == name {
					cert.tokens[i].served, found = true, true
				}
			}
		}
		if !found {
			return fmt.Errorf("serving a token: no pending certificate has the domain %q: request one first", name)
		}
	}
	s.progress(now)
	return nil
}

// CertificateChange moves a certificate to a state that only AWS can bring
// about. Name the certificate by its ARN, or the tenant whose managed
// certificate it is.
type CertificateChange struct {
	Certificate string `json:"certificate,omitempty"`
	Account     string `json:"account,omitempty"` // of the tenant; the default one if empty
	Tenant      string `json:"tenant,omitempty"`  // id, name or ARN
	Status      string `json:"status"`
	// FailureReason is CAA_ERROR if empty, where the status is FAILED.
	FailureReason string `json:"failureReason,omitempty"`
}

// statesBefore says from which states a certificate can get into another.
var statesBefore = map[string][]string{
	certIssued:   {certPending, certInactive},
	certTimedOut: {certPending},
	certFailed:   {certPending},
	certInactive: {certIssued},
	certExpired:  {certIssued, certInactive},
	certRevoked:  {certIssued, certInactive},
}

// failureReasons are those of ACM that public certificates have.
var failureReasons = []string{
	"CAA_ERROR", "DOMAIN_NOT_ALLOWED", "DOMAIN_VALIDATION_DENIED", "ADDITIONAL_VERIFICATION_REQUIRED",
	"INVALID_PUBLIC_DOMAIN", "NO_AVAILABLE_CONTACTS", "OTHER",
}

// ChangeCertificate moves a certificate to another state right now.
func (s *Sim) ChangeCertificate(change CertificateChange) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	s.progress(now)
	cert, err := s.changedCertificate(change)
	if err != nil {
		return fmt.Errorf("changing a certificate: %w", err)
	}
	s.validate(cert, now)
	before, known := statesBefore[change.Status]
	switch {
	case !known:
		return fmt.Errorf("changing a certificate: status %q can't be brought about: use ISSUED, INACTIVE, EXPIRED, REVOKED, FAILED or VALIDATION_TIMED_OUT", change.Status)
	case !slices.Contains(before, cert.status):
		return fmt.Errorf("changing a certificate: status %s does not follow %s: only %s can become it", change.Status, cert.status, strings.Join(before, " and "))
	case change.FailureReason != "" && !slices.Contains(failureReasons, change.FailureReason):
		return fmt.Errorf("changing a certificate: failureReason %q is none of ACM's: use %s", change.FailureReason, strings.Join(failureReasons, ", "))
	case change.FailureReason != "" && change.Status != certFailed:
		return fmt.Errorf("changing a certificate: failureReason %q is given with status %s: only FAILED has one", change.FailureReason, change.Status)
	}
	switch change.Status {
	case certIssued:
		if cert.status == certPending {
			s.issue(cert, now)
			return nil
		}
	case certFailed:
		cert.failure = change.FailureReason
		if cert.failure == "" {
			cert.failure = failureReasons[0]
		}
	case certRevoked:
		cert.revoked = now
	case certExpired:
		cert.notAfter = now
	}
	s.setStatus(cert, change.Status, now)
	return nil
}

func (s *Sim) changedCertificate(change CertificateChange) (*certificate, error) {
	if (change.Certificate == "") == (change.Tenant == "") {
		return nil, fmt.Errorf("certificate is %q and tenant is %q: use one of them", change.Certificate, change.Tenant)
	}
	if change.Certificate != "" {
		for _, a := range s.world.accounts {
			if cert := a.certificates.byARN[change.Certificate]; cert != nil {
				return cert, nil
			}
		}
		return nil, fmt.Errorf("there is no certificate %q: GET /_sim/state lists them", change.Certificate)
	}
	a := s.accountNamed(change.Account)
	r := a.tenants.resolve(change.Tenant)
	if r == nil {
		return nil, fmt.Errorf("there is no tenant %q in the account %s: use its id, name or ARN", change.Tenant, a.id)
	}
	if m := r.current().managed; m != nil && a.certificates.byARN[m.arn] != nil {
		return a.certificates.byARN[m.arn], nil
	}
	return nil, fmt.Errorf("the tenant %q has no managed certificate: request one first", change.Tenant)
}
