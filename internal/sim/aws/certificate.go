package aws

import (
	"regexp"
	"slices"
	"time"
)

// certificate is an ACM certificate in us-east-1, the region CloudFront takes
// certificates from.
type certificate struct {
	seq       uint64
	owner     *account
	arn       string
	names     []string
	status    string // ISSUED and the other states of ACM
	kind      string // AMAZON_ISSUED, IMPORTED, PRIVATE
	issuer    string // Amazon if empty
	key       string // the algorithm, RSA_2048 and others
	managedBy string // CLOUDFRONT for managed ones
	failure   string // FailureReason of ACM
	created   time.Time
	issued    time.Time
	revoked   time.Time
	notBefore time.Time
	notAfter  time.Time

	// The rest is there for managed ones only.
	tenantID string // who asked for it
	host     string // where the token is looked for
	tokens   []token
	proven   time.Time // since when each name has been validated
	renewal  string    // RenewalStatus of ACM
	tried    time.Time // when the latest renewal began
}

// token is where the proof for one domain has to be found.
type token struct {
	domain, from, to string
	served           bool // the customer's own host answers with it
}

const (
	certPending  = "PENDING_VALIDATION"
	certIssued   = "ISSUED"
	certInactive = "INACTIVE"
	certExpired  = "EXPIRED"
	certTimedOut = "VALIDATION_TIMED_OUT"
	certRevoked  = "REVOKED"
	certFailed   = "FAILED"

	// The states of a renewal.
	renewalAuto       = "PENDING_AUTO_RENEWAL"
	renewalValidation = "PENDING_VALIDATION"
	renewalSuccess    = "SUCCESS"
	renewalFailed     = "FAILED"

	amazonIssued        = "AMAZON_ISSUED"
	managedByCloudFront = "CLOUDFRONT"
	rsa2048             = "RSA_2048"

	hostCloudFront = "cloudfront"
	hostSelfHosted = "self-hosted"
)

var certificateStates = []string{certPending, certIssued, certInactive, certExpired, certTimedOut, certRevoked, certFailed}

var acmArn = regexp.MustCompile(`^arn:aws[a-z-]*:acm:([a-z0-9-]+):([0-9]{12}):certificate/[a-zA-Z0-9-]+$`)

// lenientNames are the names of a certificate that was not seeded.
var lenientNames = []string{"*.example.com", "example.com"}

// certificateBook holds the certificates of an account, in order of creation.
type certificateBook struct {
	nextSeq uint64
	order   []*certificate
	byARN   map[string]*certificate
}

func newCertificateBook() *certificateBook {
	return &certificateBook{byARN: map[string]*certificate{}}
}

// put adds a certificate; one with the same ARN is replaced in its place.
func (b *certificateBook) put(cert *certificate) {
	if old := b.byARN[cert.arn]; old != nil {
		cert.seq = old.seq
		b.order[b.after(old.seq-1)] = cert
	} else {
		b.nextSeq++
		cert.seq = b.nextSeq
		b.order = append(b.order, cert)
	}
	b.byARN[cert.arn] = cert
}

func (b *certificateBook) remove(cert *certificate) {
	delete(b.byARN, cert.arn)
	i := b.after(cert.seq - 1)
	b.order = slices.Delete(b.order, i, i+1)
}

// after returns the position of the first certificate created after seq.
func (b *certificateBook) after(seq uint64) int {
	i, _ := slices.BinarySearchFunc(b.order, seq, func(cert *certificate, after uint64) int {
		if cert.seq <= after {
			return -1
		}
		return 1
	})
	return i
}

// knownCertificate finds a certificate of an account.
func (s *Sim) knownCertificate(a *account, arn string) (*certificate, bool) {
	if cert, ok := a.certificates.byARN[arn]; ok {
		return cert, true
	}
	if s.options.LenientCertificates && acmArn.MatchString(arn) && acmRegion(arn) == "us-east-1" {
		return &certificate{owner: a, arn: arn, names: lenientNames, status: certIssued, kind: amazonIssued, key: rsa2048}, true
	}
	return nil, false
}

func acmRegion(arn string) string {
	if m := acmArn.FindStringSubmatch(arn); m != nil {
		return m[1]
	}
	return ""
}

// issuedCertificate returns a certificate CloudFront can serve with.
func (s *Sim) issuedCertificate(a *account, arn string) (*certificate, error) {
	switch {
	case !acmArn.MatchString(arn):
		return nil, invalidArgument("The certificate ARN is not valid: %q.", arn)
	case acmRegion(arn) != "us-east-1":
		return nil, invalidArgument("The certificate must be in the US East (N. Virginia) Region (us-east-1): %s.", arn)
	}
	cert, ok := s.knownCertificate(a, arn)
	switch {
	case !ok:
		return nil, invalidArgument("The certificate does not exist: %s.", arn)
	case cert.status == certExpired:
		return nil, invalidArgument("The certificate has expired: %s.", arn)
	case cert.status != certIssued:
		return nil, invalidArgument("The certificate is %s, not ISSUED: %s.", cert.status, arn)
	}
	return cert, nil
}

// usersOf lists the distributions a certificate is in use by, as ACM shows it: those it is attached to, and those whose
// tenants it is attached to. A pending one is in use by the distribution of the tenant that asked for it, so that it
// can't be deleted during the request. The tenants' own ARNs are not listed: what ACM shows for them is not documented,
// and a fleet may share one.
func (a *account) usersOf(cert *certificate) []string {
	using := map[string]bool{}
	for id, tenants := range a.attached[cert.arn] {
		using[id] = tenants > 0
	}
	if t := cert.requester(); t != nil && cert.status == certPending {
		using[t.current().distributionID] = true
	}
	users := []string{}
	for _, r := range a.distributions.order {
		if r.deleted.IsZero() && (using[r.id] || r.current().certArn == cert.arn) {
			users = append(users, r.arn)
		}
	}
	return users
}

// attach counts a tenant of a distribution in or out of a certificate's users.
func (a *account) attach(arn, distributionID string, tenants int) {
	if arn == "" {
		return
	}
	if a.attached[arn] == nil {
		a.attached[arn] = map[string]int{}
	}
	a.attached[arn][distributionID] += tenants
	if a.attached[arn][distributionID] == 0 {
		delete(a.attached[arn], distributionID)
	}
}
