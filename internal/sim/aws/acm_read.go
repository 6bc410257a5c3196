package aws

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxCertificatePage is the largest MaxItems ListCertificates takes.
const maxCertificatePage = 1000

// certificateOf finds the certificate a call names.
func (s *Sim) certificateOf(c *call) (*certificate, error) {
	arn, _ := c.input["CertificateArn"].(string)
	switch {
	case len(arn) < 20 || len(arn) > 2048:
		return nil, acmRefusal("ValidationException", "CertificateArn must have 20 to 2048 characters, got %q.", arn)
	case !acmArn.MatchString(arn):
		return nil, acmRefusal("InvalidArnException", "Invalid ARN: %s", arn)
	}
	if cert, ok := s.knownCertificate(c.acct, arn); ok && s.visible(cert, c.now) {
		s.validate(cert, c.now)
		return cert, nil
	}
	return nil, acmRefusal("ResourceNotFoundException", "Could not find certificate %s in account %s.", arn, c.acct.id)
}

func acmRefusal(code, format string, args ...any) error {
	return refuse(http.StatusBadRequest, code, format, args...)
}

// visible tells whether ACM's own API knows a certificate yet.
func (s *Sim) visible(cert *certificate, now time.Time) bool {
	return cert.tokens == nil || now.Sub(cert.created) >= s.switches.CertificateLag
}

func (s *Sim) describeCertificate(c *call) (reply, error) {
	cert, err := s.certificateOf(c)
	if err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusOK, json: map[string]any{"Certificate": s.describe(cert, c.now)}}, nil
}

// describe renders a certificate.
func (s *Sim) describe(cert *certificate, now time.Time) map[string]any {
	users := cert.owner.usersOf(cert)
	out := cert.common(len(users) > 0)
	out["SubjectAlternativeNames"] = cert.names
	out["InUseBy"] = users
	out["Subject"] = "CN=" + cert.names[0]
	out["Issuer"] = cmp.Or(cert.issuer, "Amazon")
	out["SignatureAlgorithm"] = "SHA256WITHRSA"
	out["Options"] = map[string]any{"CertificateTransparencyLoggingPreference": "ENABLED"}
	if cert.failure != "" {
		out["FailureReason"] = cert.failure
	}
	if cert.status == certRevoked {
		out["RevocationReason"] = "UNSPECIFIED"
	}
	if options := s.validations(cert, now); len(options) > 0 {
		out["DomainValidationOptions"] = options
	}
	if cert.renewal != "" {
		out["RenewalSummary"] = s.renewalSummary(cert, now)
	}
	return out
}

// common is what a description and an entry of a list have in common.
func (cert *certificate) common(inUse bool) map[string]any {
	out := map[string]any{
		"CertificateArn":     cert.arn,
		"DomainName":         cert.names[0],
		"Status":             cert.status,
		"Type":               cert.kind,
		"KeyAlgorithm":       cert.key,
		"RenewalEligibility": "INELIGIBLE",
	}
	if inUse && cert.status == certIssued && cert.kind == amazonIssued {
		out["RenewalEligibility"] = "ELIGIBLE"
	}
	if cert.managedBy != "" {
		out["ManagedBy"] = cert.managedBy
	}
	for name, at := range map[string]time.Time{
		"CreatedAt": cert.created, "IssuedAt": cert.issued, "RevokedAt": cert.revoked,
		"NotBefore": cert.notBefore, "NotAfter": cert.notAfter,
	} {
		if !at.IsZero() {
			out[name] = epoch(at)
		}
	}
	return out
}

// epoch renders a time as this protocol does, in seconds.
func epoch(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

// validations tell how far the proof of each name is.
func (s *Sim) validations(cert *certificate, now time.Time) []map[string]any {
	var out []map[string]any
	r := cert.requester()
	for _, t := range cert.tokens {
		status := "SUCCESS"
		switch {
		case cert.status == certTimedOut || cert.status == certFailed:
			status = "FAILED"
		case cert.status == certPending && (r == nil || !s.proves(cert, r, t, now)):
			status = certPending
		}
		out = append(out, map[string]any{
			"DomainName":       t.domain,
			"ValidationDomain": t.domain,
			"ValidationMethod": "HTTP",
			"ValidationStatus": status,
			"HttpRedirect":     map[string]string{"RedirectFrom": "http://" + t.from, "RedirectTo": "https://" + t.to},
		})
	}
	return out
}

// renewalSummary tells how far a renewal is, and which names keep it up: those whose DNS does not lead to CloudFront.
func (s *Sim) renewalSummary(cert *certificate, now time.Time) map[string]any {
	options := make([]map[string]any, len(cert.names))
	for i, name := range cert.names {
		status := renewalSuccess
		switch {
		case cert.renewal == renewalAuto:
			status = certPending
		case cert.renewal != renewalSuccess && !s.leads(name, now):
			status = cert.renewal
		}
		options[i] = map[string]any{
			"DomainName": name, "ValidationDomain": name, "ValidationMethod": "HTTP", "ValidationStatus": status,
		}
	}
	out := map[string]any{
		"DomainValidationOptions": options, "RenewalStatus": cert.renewal, "UpdatedAt": epoch(cert.renewalAt()),
	}
	if cert.renewal == renewalFailed {
		out["RenewalStatusReason"] = "OTHER"
	}
	return out
}

// renewalAt is when the renewal got into the state it is in.
func (cert *certificate) renewalAt() time.Time {
	switch cert.renewal {
	case renewalSuccess:
		return cert.notBefore
	case renewalFailed:
		return cert.notAfter
	}
	return cert.tried
}

// certificateFilter is what ListCertificates is asked for.
type certificateFilter struct {
	statuses, keys []string
	managedBy      string
}

func (f certificateFilter) matches(cert *certificate) bool {
	return (len(f.statuses) == 0 || slices.Contains(f.statuses, cert.status)) &&
		slices.Contains(f.keys, cert.key) &&
		(f.managedBy == "" || f.managedBy == cert.managedBy)
}

func (s *Sim) listCertificates(c *call) (reply, error) {
	filter, err := readCertificateFilter(c.input)
	if err != nil {
		return reply{}, err
	}
	size, err := s.certificatePage(c.input["MaxItems"])
	if err != nil {
		return reply{}, err
	}
	token, _ := c.input["NextToken"].(string)
	after, err := openMarker(token)
	if err != nil {
		return reply{}, acmRefusal("InvalidArgsException", "The NextToken is not valid: %q.", token)
	}
	list := []map[string]any{}
	out := map[string]any{}
	book := c.acct.certificates
	var last uint64
	for _, cert := range book.order[book.after(after):] {
		s.validate(cert, c.now)
		if !filter.matches(cert) || !s.visible(cert, c.now) {
			continue
		}
		if len(list) == size {
			out["NextToken"] = sealMarker(last)
			break
		}
		list = append(list, cert.summary())
		last = cert.seq
	}
	out["CertificateSummaryList"] = list
	return reply{status: http.StatusOK, json: out}, nil
}

// maxSummaryNames is how many names an entry of the list shows.
const maxSummaryNames = 100

func (cert *certificate) summary() map[string]any {
	inUse := len(cert.owner.usersOf(cert)) > 0
	out := cert.common(inUse)
	out["InUse"] = inUse
	out["SubjectAlternativeNameSummaries"] = cert.names[:min(len(cert.names), maxSummaryNames)]
	out["HasAdditionalSubjectAlternativeNames"] = len(cert.names) > maxSummaryNames
	return out
}

// readCertificateFilter reads the filter. Without one for the key, only
// certificates with RSA_2048 are listed.
func readCertificateFilter(input map[string]any) (certificateFilter, error) {
	includes, _ := input["Includes"].(map[string]any)
	f := certificateFilter{statuses: textList(input["CertificateStatuses"]), keys: textList(includes["keyTypes"])}
	for _, status := range f.statuses {
		if !slices.Contains(certificateStates, status) {
			return f, acmRefusal("ValidationException", "CertificateStatuses has %q: use %s.", status, strings.Join(certificateStates, ", "))
		}
	}
	if len(f.keys) == 0 {
		f.keys = []string{rsa2048}
	}
	f.managedBy, _ = includes["managedBy"].(string)
	if f.managedBy != "" && f.managedBy != managedByCloudFront {
		return f, acmRefusal("ValidationException", "Includes.managedBy is %q: use %s.", f.managedBy, managedByCloudFront)
	}
	return f, nil
}

func textList(value any) []string {
	items, _ := value.([]any)
	var out []string
	for _, item := range items {
		if text, ok := item.(string); ok {
			out = append(out, text)
		}
	}
	return out
}

func (s *Sim) certificatePage(maxItems any) (int, error) {
	if maxItems == nil {
		return s.options.PageSize, nil
	}
	n, ok := maxItems.(float64)
	if !ok || n < 1 || n > maxCertificatePage || n != float64(int(n)) {
		return 0, acmRefusal("ValidationException", "MaxItems must be a whole number from 1 to %d.", maxCertificatePage)
	}
	return min(int(n), s.options.PageSize), nil
}

// deleteCertificate refuses to delete a certificate in use, no matter who asks.
func (s *Sim) deleteCertificate(c *call) (reply, error) {
	cert, err := s.certificateOf(c)
	if err != nil {
		return reply{}, err
	}
	if users := c.acct.usersOf(cert); len(users) > 0 {
		return reply{}, acmRefusal("ResourceInUseException", "Certificate %s in account %s is in use (%s).",
			cert.arn, c.acct.id, strconv.Itoa(len(users))+": "+strings.Join(users[:min(len(users), 3)], ", "))
	}
	if c.acct.certificates.byARN[cert.arn] == cert {
		c.acct.certificates.remove(cert)
	}
	s.world.pending = slices.DeleteFunc(s.world.pending, func(p *certificate) bool { return p == cert })
	return reply{status: http.StatusOK, json: map[string]any{}}, nil
}
