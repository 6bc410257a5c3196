package aws

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// managedInput is a request for a managed certificate. It is an action: no read
// ever shows it.
type managedInput struct {
	host, primary string
}

// managedRequest is what a tenant remembers of the request it made last. An
// older certificate stays in the account, and the tenant does not show it.
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
		if cert := c.acct.certificates.byARN[before.managed.arn]; cert != nil && cert.status == certPending {
			return invalidArgument("A certificate request of this distribution tenant is pending already.")
		}
	}
	return nil
}

// startManaged asks ACM for a certificate in the tenant's name. The tenant is there already by then: a request that
// fails is lost, and only the caller can make it again.
func (s *Sim) startManaged(a *account, id, name string, t *tenant, in *managedInput, now time.Time) *managedRequest {
	open := slices.ContainsFunc(t.domains, func(d domain) bool { return !d.active })
	if !open && s.switches.CoveredRequestIgnored {
		return t.managed
	}
	names := t.domainNames()
	if in.primary != "" {
		names = append([]string{in.primary}, slices.DeleteFunc(names, func(n string) bool { return n == in.primary })...)
	}
	if s.requestIsLost(a, now, append([]string{id, name}, names...), len(names)) {
		return t.managed
	}
	a.requests[id]++
	arn := "arn:aws:acm:us-east-1:" + a.id + ":certificate/" + s.derive.uuid("managed", id, strconv.Itoa(a.requests[id]))
	return s.storeManaged(a, id, arn, in.host, names, now)
}

// storeManaged puts a pending certificate into the account.
func (s *Sim) storeManaged(a *account, tenantID, arn, host string, names []string, now time.Time) *managedRequest {
	cert := &certificate{
		owner: a, arn: arn, names: names, status: certPending, kind: amazonIssued, key: rsa2048,
		managedBy: managedByCloudFront, created: now, tenantID: tenantID, host: host,
	}
	for _, name := range names {
		file := "/.well-known/pki-validation/" + s.derive.hex(32, "token", arn, name) + ".txt"
		cert.tokens = append(cert.tokens, token{
			domain: name,
			from:   name + file,
			to:     "validation.us-east-1.acm-validations.aws/" + a.id + file,
		})
	}
	a.certificates.put(cert)
	s.world.pending = append(s.world.pending, cert)
	return &managedRequest{arn: arn, host: host}
}

// requestCertificate is the call CloudFront makes to ACM as the caller. It does
// not come over the wire and is in no journal; faults that name it lose it.
var requestCertificate = &operation{name: "RequestCertificate", mutating: true}

// requestIsLost tells whether ACM refuses the request: the caller may not make
// it, the account has too many certificates, the certificate too many names, or
// a fault wants it so.
func (s *Sim) requestIsLost(a *account, now time.Time, mentions []string, names int) bool {
	inner := &call{op: requestCertificate, acct: a, now: now, mentions: mentions}
	fault := s.faults.match(inner, s.derive)
	return s.switches.RequestLost || (fault != nil && fault.fails()) ||
		len(a.certificates.order) >= s.quotas.Certificates || names > s.quotas.NamesPerCertificate
}

// requester is the tenant a managed certificate is for, as long as it exists
// and has made no newer request.
func (cert *certificate) requester() *record[tenant] {
	if cert.tenantID == "" {
		return nil
	}
	r := cert.owner.tenants.find(cert.tenantID)
	if r == nil || r.current().managed == nil || r.current().managed.arn != cert.arn {
		return nil
	}
	return r
}

// locked tells whether a domain can't leave its tenant, which waits for a
// certificate for it.
func (s *Sim) locked(holder domainHolder, name string) bool {
	r := s.source(holder).tenant
	if r == nil || r.current().managed == nil || slices.Contains(r.current().domains, domain{name: name, active: true}) {
		return false
	}
	cert := s.account(holder.account).certificates.byARN[r.current().managed.arn]
	return cert != nil && cert.status == certPending && slices.Contains(cert.names, name)
}

// getManagedCertificate answers for tenants that asked for a managed
// certificate; others have none.
func (s *Sim) getManagedCertificate(c *call) (reply, error) {
	v, err := s.seeTenant(c, c.vars[0])
	if err != nil {
		return reply{}, err
	}
	var cert *certificate
	if v.value.managed != nil {
		cert = c.acct.certificates.byARN[v.value.managed.arn]
	}
	if cert == nil {
		return reply{}, entityNotFound("managed certificate of the distribution tenant", c.vars[0])
	}
	s.validate(cert, c.now)
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
