package certificate

import "time"

// SelfHosted is the token host of a certificate request whose challenge the user's own web
// server answers.
const SelfHosted = "self-hosted"

// Request asks CloudFront to obtain and renew a certificate for a tenant.
// It is an action, not a state: AWS never shows it again.
type Request struct {
	ValidationTokenHost     string
	PrimaryDomainName       string
	TransparencyLoggingPref string
}

// Sent is a request that AWS accepted.
type Sent struct {
	Request

	At time.Time
}

// equals reports whether the request asks for what was sent. Which domain is the primary one
// matters only where one is named.
func (r Request) equals(sent Request) bool {
	if r.PrimaryDomainName == "" {
		r.PrimaryDomainName = sent.PrimaryDomainName
	}
	return r == sent
}
