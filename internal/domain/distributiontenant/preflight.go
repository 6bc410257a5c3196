package distributiontenant

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/upstream"
)

// CertificateIssued is ACM's state of a certificate that can be used.
const CertificateIssued = "ISSUED"

// preflight asks what AWS would ask of a create or an update, from cached reads, so
// that a mistake is named by field instead of by a refused call.
func preflight(in judged) (Decision, bool) {
	d := in.World.Distribution
	if d == nil {
		return do(Look{At: LookDistribution})
	}
	if d.Unreadable {
		return pass()
	}
	if d.Missing {
		return stuck(resource.ReasonValidationFailed, upstream.Missing(in.distributionText()))
	}
	if !d.MultiTenant {
		return stuck(resource.ReasonValidationFailed, upstream.NotMultiTenant(in.distributionText()))
	}
	if p := checkParameters(in.aim.effective.Parameters, *d); p != nil {
		return Decision{Step: Rest{}, Problem: p}, true
	}
	return checkCoverage(in, *d)
}

// distributionText is the distribution as the spec names it.
func (in Input) distributionText() string {
	for _, r := range in.World.References {
		if r.Field == DistributionRef {
			return fmt.Sprintf("spec.%s %s (%s)", r.Field, r.Name, r.ID)
		}
	}
	return "spec.distributionId " + in.Desired.DistributionID
}

func checkParameters(have map[string]string, d Distribution) *chain.Problem {
	if text := upstream.Lacking(d.ID, have, d.Parameters); text != "" {
		return &chain.Problem{Reason: ReasonMissingParameters, Stuck: true, Message: text}
	}
	if text := upstream.Undeclared(d.ID, have, d.Parameters); text != "" {
		return &chain.Problem{Reason: resource.ReasonValidationFailed, Stuck: true, Message: text}
	}
	return nil
}

// checkCoverage asks for a certificate that covers each domain: the tenant's own or the
// distribution's. With a managed certificate requested AWS judges by the domain's DNS.
func checkCoverage(in judged, d Distribution) (Decision, bool) {
	if in.certificate.Request != nil {
		return pass()
	}
	return in.coverage(in.aim.effective.Customizations.CertificateARN, d, in.Desired.Domains)
}

// coverage asks for a certificate that covers each of the domains: that of the ARN or the distribution's.
func (in judged) coverage(own string, d Distribution, domains []string) (Decision, bool) {
	var arns []string
	for _, arn := range []string{own, d.CertificateARN} {
		if arn != "" && !slices.Contains(arns, arn) {
			arns = append(arns, arn)
		}
	}
	if len(arns) == 0 {
		return stuck(ReasonMissingCertificate, fmt.Sprintf(
			"No certificate covers %s: distribution %s does not have one. Set spec.customizations.certificate.arn, or request one with spec.managedCertificateRequest.",
			prose.List(domains), d.ID))
	}
	var names []string
	unusable := ""
	for _, arn := range arns {
		c, known := in.World.Certificates[arn]
		switch {
		case !known:
			return do(Look{At: LookCertificates, ARNs: arns})
		case c.Unreadable:
			return pass()
		case c.usable():
			names = append(names, c.Names...)
		case arn != d.CertificateARN:
			return stuck(ReasonMissingCertificate, c.flaw("spec.customizations.certificate.arn: the certificate "+arn))
		default:
			// The distribution's is only missed where the tenant's own leaves a domain bare.
			unusable = c.flaw("The certificate " + arn + " of distribution " + d.ID)
		}
	}
	bare := certificate.Uncovered(names, domains)
	switch {
	case len(bare) == 0:
		return pass()
	case unusable != "":
		return stuck(ReasonMissingCertificate, unusable)
	}
	return uncovered(bare, names)
}

// uncovered says that certificates leave domains bare. Of their names it tells those that are the domains' own, or lead to
// them: the others may be another team's customers.
func uncovered(bare, names []string) (Decision, bool) {
	near := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		parent := strings.TrimPrefix(name, "*.")
		return !slices.ContainsFunc(bare, func(d string) bool { return d == parent || strings.HasSuffix(d, "."+parent) })
	})
	text := fmt.Sprintf("spec.domains: no certificate covers %s.", prose.List(bare))
	if len(near) > 0 {
		text += fmt.Sprintf(" The available certificates cover %s. A wildcard covers exactly one label.", prose.List(near))
	} else {
		text += " Set spec.customizations.certificate.arn to one that does, or request one with spec.managedCertificateRequest."
	}
	p := chain.Problem{Reason: ReasonCertificateSANMismatch, Message: text, Stuck: true}
	if len(near) < len(names) {
		p.Detail = fmt.Sprintf("The available certificates cover %s.", prose.List(names))
	}
	return Decision{Step: Rest{}, Problem: &p}, true
}

func (c Certificate) usable() bool { return !c.Missing && c.Status == CertificateIssued }

// flaw says why a certificate that is not usable can't be used.
func (c Certificate) flaw(which string) string {
	if c.Missing {
		return which + " does not exist in this account's ACM in us-east-1. Use one that does."
	}
	return fmt.Sprintf("%s has the status %s. Only an ISSUED certificate can be used.", which, c.Status)
}

// unserved lists the domains that the tenant does not have, and those that it has and
// CloudFront does not answer for.
func unserved(domains []string, t Observed) (missing, inactive []string) {
	for _, d := range domains {
		switch state, has := t.DomainStates[d]; {
		case !has:
			missing = append(missing, d)
		case state != DomainActive:
			inactive = append(inactive, d)
		}
	}
	return missing, inactive
}
