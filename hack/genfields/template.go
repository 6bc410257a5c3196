package main

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// templates are the comments of the types that stand in a template for those of the spec. Other types are the same in both.
var templates = map[string]string{
	"DistributionTenantSpec": "TemplateSpec has the fields of a DistributionTenant's spec that many tenants share. Domains and name come only from\n" +
		"the row.",
	"Customizations":              "TemplateCustomizations are the settings of the distribution that every tenant of a source overrides.",
	"WebACLCustomization":         "TemplateWebACL says which AWS WAF web ACL protects the tenants.",
	"GeoRestrictionCustomization": "TemplateGeoRestriction says from which countries the tenants can be reached.",
	"ManagedCertificateRequest":   "TemplateCertificateRequest describes the managed certificates of the tenants.",
	"KeyValues":                   "TemplateKeyValues is what the tenants have in a CloudFront key value store.",
	"DNS":                         "TemplateDNS says where and how the records of the domains are published.",
}

// ofOneTenant are the fields that many tenants can't share.
var ofOneTenant = []string{"domains", "managedCertificateRequest.primaryDomainName", "keyValues.key", "tenantName"}

// otherwise says what a template says in other words than the spec.
var otherwise = map[string]string{
	"distributionId": "distributionId is the ID of the multi-tenant distribution (connection mode tenant-only) that serves this tenant. It\n" +
		"can be changed: CloudFront moves the tenant without interruption.",
	"customizations.webAcl.arn": "arn is the ARN of an AWS WAF (WAFv2) web ACL of global scope, which AWS keeps in us-east-1. It must be\n" +
		"set with override and absent with disable.",
	"customizations.geoRestrictions.restrictionType": "restrictionType is none, whitelist (only the locations are served) or blacklist (all but the locations\n" +
		"are served).",
	"managedCertificateRequest.deleteOnTenantDeletion": "deleteOnTenantDeletion says whether the certificates in status.managedCertificates are deleted in ACM after the\n" +
		"tenant is deleted. Otherwise AWS keeps them, and they count against the certificate quota of the account. Only\n" +
		"certificates that CloudFront manages and that nothing uses any more are deleted.",
	"dns.account": "account is the name of the operator's account at the provider, as the administrator has configured it (dns.accounts of\n" +
		"the chart). Route 53 has none. Default: the only account of the provider.",
	"dns.takeover": "takeover allows the operator to replace existing records of a domain that it did not create, and to adopt equal\n" +
		"ones. These records are then deleted with the domain. A record that another object of this cluster publishes is\n" +
		"never replaced.",
}

// template writes the type that stands in a template for a type, and those for what is below it.
func template(f field) string {
	var (
		members []string
		below   strings.Builder
	)
	for _, m := range f.below {
		if slices.Contains(ofOneTenant, m.path) {
			continue
		}
		if m.typ == "bool" {
			m.typ = "*bool" // where false differs from none
		}
		if block := strings.TrimPrefix(m.typ, "*"); templates[block] != "" {
			below.WriteString(template(field{typ: block, below: m.below}))
			m.typ = "*" + firstWord(templates[block])
		}
		members = append(members, fmt.Sprintf("%s\n%s %s %s", comment(relaxed(m)), m.name, m.typ, m.tag))
	}
	return fmt.Sprintf("\n%s\n//\n// +kubebuilder:validation:MinProperties=0\ntype %s struct {\n%s\n}\n",
		comment(templates[f.typ]), firstWord(templates[f.typ]), strings.Join(members, "\n\n")) + below.String()
}

func comment(text string) string { return "// " + strings.ReplaceAll(text, "\n", "\n// ") }

func firstWord(s string) string {
	word, _, _ := strings.Cut(s, " ")
	return word
}

var (
	// whatElse is what holds without a field. In a template, nothing does.
	whatElse = regexp.MustCompile(`(?s)\s(Default:|If\somitted,).*`)
	standard = regexp.MustCompile(`\n\+kubebuilder:default=.*`)
)

// relaxed is the comment of a field that nothing requires, and that has no default.
func relaxed(f field) string {
	doc, markers, _ := strings.Cut(strings.Join(f.about, "\n"), "\n+")
	doc = cmp.Or(otherwise[f.path], whatElse.ReplaceAllString(doc, ""))
	markers = standard.ReplaceAllString("\n+"+markers, "")
	return doc + strings.Replace(markers, "\n+required", "\n+optional", 1)
}
