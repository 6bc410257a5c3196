package distributiontenant

import (
	"fmt"
	"strings"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

func certificateUsable(in Input) (Decision, bool) {
	if in.request() == nil || !in.World.present() {
		return pass()
	}
	c := in.certificateCondition()
	switch {
	case c.Status:
		return pass()
	case c.Reason == resource.ReasonCertificateFailed && in.waiting():
		// The last request was refused.
		return do(in.patience())
	case c.Reason == resource.ReasonCertificateFailed && !in.requestWanted():
		return Decision{Step: Rest{}, Problem: &chain.Problem{Reason: c.Reason, Message: c.Message, Of: CertificateReady, Stuck: true}}, true
	}
	return rest(chain.Problem{Reason: c.Reason, Message: c.Message, Of: CertificateReady}, in.certificateWait())
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
func (in Input) certificateReport() *chain.Condition {
	if in.Desired.Request != nil {
		c := in.certificateCondition()
		return &c
	}
	before, had := in.Memory.Conditions[CertificateReady]
	if !had || before.Reason == ReasonNotConfigured && before.Generation != in.Generation {
		return nil
	}
	return &chain.Condition{Type: CertificateReady, Reason: ReasonNotConfigured, Message: "No managed certificate is asked for any more."}
}

func (in Input) certificateCondition() chain.Condition {
	no := func(reason chain.Reason, message string) chain.Condition {
		return chain.Condition{Type: CertificateReady, Reason: reason, Message: message}
	}
	yes := func(message string) chain.Condition {
		return chain.Condition{Type: CertificateReady, Status: true, Reason: ReasonValidated, Message: message}
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
		if in.view().Inheriting() {
			return no(ReasonPendingValidation, "The adopted distribution tenant has no managed certificate. One is requested with the next change of the spec.")
		}
	case needless:
		return yes("Certificates that were there before cover every domain; AWS had nothing to request.")
	case lost:
		return no(resource.ReasonCertificateFailed, in.lostText())
	case failed:
		return no(resource.ReasonCertificateFailed, failedText(*managed))
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
		resource.JoinSome(in.unservedOf(in.World.Tenant.Domains)))
}

func failedText(m certificate.Managed) string {
	cause := map[certificate.State]string{
		certificate.TimedOut: "the domains were not proven within 72 hours",
		certificate.Failed:   refusedText(m.Cause),
		certificate.Revoked:  "it was revoked",
		certificate.Expired:  "it has expired; a renewal needs every domain to lead to CloudFront",
		certificate.Inactive: "it is no longer active",
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
func (in Input) validationText(managed *certificate.Managed) string {
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
func redirects(managed *certificate.Managed) string {
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
