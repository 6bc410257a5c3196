package aws

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// certificate is an ACM certificate in us-east-1, the region CloudFront takes
// certificates from.
type certificate struct {
	arn       string
	names     []string
	status    string // ISSUED and the other states of ACM
	kind      string // AMAZON_ISSUED, IMPORTED, PRIVATE
	managedBy string // CLOUDFRONT for managed ones
	created   time.Time
	notBefore time.Time
	notAfter  time.Time
	tokens    []token // HTTP validation of managed ones
}

// token is where the proof for one domain has to be found.
type token struct {
	domain, from, to string
}

const (
	certIssued  = "ISSUED"
	certPending = "PENDING_VALIDATION"

	hostCloudFront = "cloudfront"
	hostSelfHosted = "self-hosted"
)

var acmArn = regexp.MustCompile(`^arn:aws[a-z-]*:acm:([a-z0-9-]+):([0-9]{12}):certificate/[a-zA-Z0-9-]+$`)

// lenientNames are the names of a certificate nobody seeded.
var lenientNames = []string{"*.example.com", "example.com"}

// knownCertificate finds a certificate of an account.
func (s *Sim) knownCertificate(a *account, arn string) (*certificate, bool) {
	if cert, ok := a.certificates[arn]; ok {
		return cert, true
	}
	if s.options.LenientCertificates && acmArn.MatchString(arn) && acmRegion(arn) == "us-east-1" {
		return &certificate{arn: arn, names: lenientNames, status: certIssued, kind: "AMAZON_ISSUED"}, true
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
func (s *Sim) issuedCertificate(a *account, arn string, now time.Time) (*certificate, error) {
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
	case cert.status != certIssued:
		return nil, invalidArgument("The certificate is %s, not ISSUED: %s.", cert.status, arn)
	case !cert.notAfter.IsZero() && !now.Before(cert.notAfter):
		return nil, invalidArgument("The certificate has expired: %s.", arn)
	}
	return cert, nil
}

// managedInput is a request for a managed certificate. It is an action: no read
// ever shows it.
type managedInput struct {
	host, primary string
}

// managedRequest is what a tenant remembers of the request it made.
type managedRequest struct {
	arn  string
	host string
}

func readManagedRequest(block *node) (*managedInput, error) {
	if block == nil {
		return nil, nil //nolint:nilnil // no request was made
	}
	in := &managedInput{host: block.str("ValidationTokenHost"), primary: block.str("PrimaryDomainName")}
	if in.host != hostCloudFront && in.host != hostSelfHosted {
		return nil, invalidArgument("ValidationTokenHost must be cloudfront or self-hosted, got %q.", in.host)
	}
	if p := block.str("CertificateTransparencyLoggingPreference"); p != "" && p != "enabled" && p != "disabled" {
		return nil, invalidArgument("CertificateTransparencyLoggingPreference must be enabled or disabled, got %q.", p)
	}
	return in, nil
}

// checkManagedRequest refuses requests that cannot be validated over HTTP or
// come while another one of the tenant is pending.
func (s *Sim) checkManagedRequest(c *call, before *tenant, names []string, in *managedInput) error {
	if in == nil {
		return nil
	}
	for _, name := range names {
		if strings.HasPrefix(name, "*.") {
			return invalidArgument("A managed certificate cannot cover the wildcard domain %s.", name)
		}
	}
	if in.primary != "" && !slices.Contains(names, in.primary) {
		return invalidArgument("The primary domain name %s is not one of the domains.", in.primary)
	}
	if before != nil && before.managed != nil {
		if cert := c.acct.certificates[before.managed.arn]; cert != nil && cert.status == certPending {
			return invalidArgument("A certificate request of this distribution tenant is pending already.")
		}
	}
	return nil
}

// startManaged asks ACM for a certificate in the tenant's name. How it goes on
// from pending is not simulated yet; whatever does that changes the status of
// the certificate and gives the tenant a new ETag.
func (s *Sim) startManaged(a *account, id string, t *tenant, in *managedInput, now time.Time) *managedRequest {
	open := slices.ContainsFunc(t.domains, func(d domain) bool { return !d.active })
	if !open && s.switches.CoveredRequestIgnored {
		return t.managed
	}
	names := t.domainNames()
	if in.primary != "" {
		names = append([]string{in.primary}, slices.DeleteFunc(names, func(n string) bool { return n == in.primary })...)
	}
	arn := "arn:aws:acm:us-east-1:" + a.id + ":certificate/" + s.derive.uuid("managed", id, t.etag, stamp(now))
	cert := &certificate{
		arn: arn, names: names, status: certPending, kind: "AMAZON_ISSUED", managedBy: "CLOUDFRONT", created: now,
	}
	for _, name := range names {
		file := "/.well-known/pki-validation/" + s.derive.hex(32, "token", arn, name) + ".txt"
		cert.tokens = append(cert.tokens, token{
			domain: name,
			from:   name + file,
			to:     "validation.us-east-1.acm-validations.aws/" + a.id + file,
		})
	}
	a.certificates[arn] = cert
	return &managedRequest{arn: arn, host: in.host}
}

// getManagedCertificate answers for tenants that asked for a managed
// certificate; others have none.
func (s *Sim) getManagedCertificate(c *call) (reply, error) {
	v, err := s.seeTenant(c, c.vars[0])
	if err != nil {
		return reply{}, err
	}
	if v.value.managed == nil {
		return reply{}, entityNotFound("managed certificate of the distribution tenant", c.vars[0])
	}
	cert := c.acct.certificates[v.value.managed.arn]
	details := el("ValidationTokenDetails")
	for _, t := range cert.tokens {
		details.kids = append(details.kids, el("member", txt("Domain", t.domain), txt("RedirectFrom", t.from), txt("RedirectTo", t.to)))
	}
	body := el("ManagedCertificateDetails",
		txt("CertificateArn", cert.arn),
		txt("CertificateStatus", strings.ReplaceAll(strings.ToLower(cert.status), "_", "-")),
		txt("ValidationTokenHost", v.value.managed.host),
		details)
	return reply{status: http.StatusOK, body: body}, nil
}
