package certificate

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// Ready is the condition of a managed certificate.
const Ready chain.ConditionType = "CertificateReady"

// The reasons of Ready; resource.ReasonCertificateFailed is another one.
const (
	ReasonValidated         chain.Reason = "Validated"
	ReasonPendingValidation chain.Reason = "PendingValidation"
	ReasonAttaching         chain.Reason = "Attaching"
)

func no(reason chain.Reason, message string) chain.Condition {
	return chain.Condition{Type: Ready, Reason: reason, Message: message}
}

func yes(message string) chain.Condition {
	return chain.Condition{Type: Ready, Status: true, Reason: ReasonValidated, Message: message}
}

func (c Case) ready(f Fact) chain.Condition {
	attached := ""
	if c.Tenant != nil {
		attached = c.Tenant.Attached
	}
	switch {
	case c.Named != "" && c.Named == attached:
		return yes("The certificate that spec.customizations.certificate.arn names is attached.")
	case c.Named != "":
		return no(ReasonAttaching, "The certificate that spec.customizations.certificate.arn names is not attached to the distribution tenant yet.")
	}
	switch f.Stage {
	case Unasked:
		if c.Inheriting {
			return no(ReasonPendingValidation, "The adopted distribution tenant has no managed certificate. One is requested with the next change of the spec.")
		}
	case Needless:
		return yes("Certificates that were there before cover every domain; AWS had nothing to request.")
	case Lost:
		return no(resource.ReasonCertificateFailed, fmt.Sprintf("AWS has no certificate request for %s, although one was sent: the operator's identity may lack acm:RequestCertificate, or the account's quota of certificates may be used up. It is sent again with growing delay.",
			prose.List(c.Tenant.Unserved)))
	case Broken:
		return no(resource.ReasonCertificateFailed, f.Managed.failedText())
	case Obtained:
		if f.Managed.ARN != attached {
			return no(ReasonAttaching, fmt.Sprintf("The managed certificate %s is issued and not attached to the distribution tenant yet.", f.Managed.ARN))
		}
		return yes("The managed certificate is issued and attached.")
	case Unseen, Underway:
	}
	return no(ReasonPendingValidation, c.validationText(f))
}

func (m *Managed) failedText() string {
	cause := map[State]string{
		TimedOut: "the domains were not proven within 72 hours",
		Failed:   refusedText(m.Cause),
		Revoked:  "it was revoked",
		Expired:  "it has expired; a renewal needs every domain to lead to CloudFront",
		Inactive: "it is no longer active",
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

// redirects says what the web servers of the domains have to answer.
func redirects(managed *Managed) string {
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

// validationText says what a pending certificate waits for.
func (c Case) validationText(f Fact) string {
	text, host := fmt.Sprintf("every domain has to lead to %s.", c.Endpoint), ""
	if f.Request != nil {
		host = f.Request.ValidationTokenHost
	}
	if f.Managed != nil {
		host = cmp.Or(f.Managed.Host, host)
	}
	if host == SelfHosted {
		text = redirects(f.Managed)
	}
	if c.changed(f) {
		text += " The changed request is sent when this one has ended; AWS works on one at a time."
	}
	return "The managed certificate waits for validation: " + text
}
