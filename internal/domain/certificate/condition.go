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
		if c.Inheriting && !f.Comes {
			return no(ReasonPendingValidation, "The adopted distribution tenant has no managed certificate. The operator requests one with the next change of the spec.")
		}
	case Needless:
		return yes("Existing certificates already cover every domain, so AWS did not request another one.")
	case Lost:
		return no(resource.ReasonCertificateFailed, fmt.Sprintf("AWS has no certificate request for %s, although the operator sent one. The operator's identity may not be allowed acm:RequestCertificate and acm:AddTagsToCertificate, or the account's certificate quota may be used up. The operator sends the request again with increasing delays.",
			prose.List(c.Tenant.Unserved)))
	case Broken:
		return no(resource.ReasonCertificateFailed, f.Managed.failedText())
	case Obtained:
		if f.Managed.ARN != attached {
			return no(ReasonAttaching, fmt.Sprintf("The managed certificate %s is issued but not attached to the distribution tenant yet.", f.Managed.ARN))
		}
		return yes("The managed certificate is issued and attached.")
	case Unseen, Underway:
	}
	return no(ReasonPendingValidation, c.validationText(f))
}

func (m *Managed) failedText() string {
	what := map[State]string{
		TimedOut: "timed out: the domains were not validated within 72 hours",
		Failed:   "failed: " + refusedText(m.Cause),
		Revoked:  "was revoked",
		Expired:  "has expired. For a renewal, every domain must point to CloudFront",
		Inactive: "is no longer active",
	}[m.State]
	return fmt.Sprintf("The managed certificate %s %s. The operator requests a new one with increasing delays, or immediately after a change of the spec.", m.ARN, what)
}

// refusedText says why ACM could not issue a certificate, in its own word.
func refusedText(cause string) string {
	switch cause {
	case "":
		return "ACM could not issue it; allow the operator acm:DescribeCertificate to see why"
	case "CAA_ERROR":
		return "ACM could not issue it (CAA_ERROR): a CAA record of one of the domains does not allow Amazon to issue certificates; add a CAA record for amazon.com, or remove that record"
	}
	return "ACM could not issue it (" + cause + ")"
}

// redirects says what the web servers of the domains have to answer.
func redirects(managed *Managed) string {
	if managed == nil || len(managed.Tokens) == 0 {
		return "the web server of every domain must answer the challenge that status.domains will list."
	}
	var parts []string
	for _, t := range managed.Tokens[:min(len(managed.Tokens), 2)] {
		parts = append(parts, fmt.Sprintf("redirect http://%s to https://%s", t.RedirectFrom, t.RedirectTo))
	}
	text := strings.Join(parts, ", and ")
	if more := len(managed.Tokens) - 2; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text + " (also in status.domains)."
}

// validationText says what a pending certificate waits for.
func (c Case) validationText(f Fact) string {
	text, host := fmt.Sprintf("every domain must point to %s.", c.Endpoint), ""
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
		text += " The changed request is sent when this one has ended, because AWS processes one request at a time."
	}
	switch {
	case c.Deleting && c.Tenant == nil:
		return "The object is being deleted, so no managed certificate is requested."
	case c.Tenant == nil:
		return "The managed certificate is requested when the distribution tenant is created. For its validation, " + text
	case !c.Ours:
		return "The managed certificate is requested once the distribution tenant belongs to this object. For its validation, " + text
	case f.Stage == Unasked:
		return "The managed certificate has not been requested yet. For its validation, " + text
	}
	return "The managed certificate is waiting for validation: " + text
}
