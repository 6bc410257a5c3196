package certificate

import "slices"

// State is the state of the certificate that CloudFront manages for a tenant, in CloudFront's own spelling.
type State string

// The states of a managed certificate.
const (
	Pending  State = "pending-validation"
	Issued   State = "issued"
	Inactive State = "inactive"
	Expired  State = "expired"
	TimedOut State = "validation-timed-out"
	Revoked  State = "revoked"
	Failed   State = "failed"
)

// Managed is what CloudFront tells of a tenant's managed certificate.
type Managed struct {
	ARN   string
	State State
	// Host is who answers the challenge, CloudFront or the user's own web server, in
	// CloudFront's own spelling; empty when CloudFront does not tell.
	Host string
	// Tokens has what is to be served for each domain of the certificate, sorted by domain.
	Tokens []Token
	// Cause is ACM's word for why it was not issued, such as CAA_ERROR; empty when that is
	// unknown.
	Cause string
}

// Token is the challenge for one domain: a request for RedirectFrom has to be redirected to
// RedirectTo. Both are without a scheme.
type Token struct {
	Domain       string
	RedirectFrom string
	RedirectTo   string
}

// Domains returns the domains that the certificate was requested for, sorted.
func (m Managed) Domains() []string {
	domains := make([]string, len(m.Tokens))
	for i, t := range m.Tokens {
		domains[i] = t.Domain
	}
	slices.Sort(domains)
	return slices.Compact(domains)
}

// IsFailure reports whether the state is final: waiting does not fix it.
func (s State) IsFailure() bool {
	switch s {
	case Inactive, Expired, TimedOut, Revoked, Failed:
		return true
	case Pending, Issued:
		return false
	}
	return false
}
