package v1alpha1_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

// validationCase shows one limit from both sides. Both objects are the least valid one with these fields of
// spec set; a field that is null is taken away.
type validationCase struct {
	name     string // metadata.name of both, where it matters
	stored   string // spec fields of the object before, YAML; empty where both are created
	accepted string // spec fields, YAML
	refused  string // spec fields, YAML
	// says are pieces of the refusal: the field, the value, and what to do.
	says []string
}

// testedKind is a kind whose limits are shown.
type testedKind struct {
	// least is the spec of the least valid object, YAML.
	least string
	cases map[string]validationCase
}

var testedKinds = map[string]testedKind{
	"DistributionTenant": {
		least: `{distributionId: E2EXAMPLE1, domains: [{domain: shop.example.com}]}`,
		cases: merged(tenantCases, sharedCases),
	},
	"TenantSource": {
		least: `{provider: dynamodb, distributionId: E2EXAMPLE1, dynamodb: {tableName: customers}}`,
		cases: merged(sourceCases(), inTemplate(sharedCases)),
	},
	"Distribution":    {least: leastDistribution, cases: distributionCases()},
	"ConnectionGroup": {least: leastGroup, cases: groupCases()},
}

const (
	certificate = "arn:aws:acm:us-east-1:111122223333:certificate/00000000-0000-4000-8000-000000000001"
	webACL      = "arn:aws:wafv2:us-east-1:111122223333:global/webacl/shop/0f0e0d0c-0000-4000-8000-000000000002"
	role        = "arn:aws:iam::111122223333:role/edge"
)

// tenantCases are those of a whole tenant: what is required of it, its names, and the rules that compare two fields.
var tenantCases = map[string]validationCase{
	"a distribution is required, by its ID or by the name of its object": {
		accepted: `distributionId: E2EXAMPLE1`,
		refused:  `distributionId: null`,
		says:     []string{"spec.distributionId", "needs a multi-tenant distribution", "in distributionRef", "in distributionId"},
	},
	"a distribution is named once": {
		accepted: `{distributionId: null, distributionRef: {name: shop}}`,
		refused:  `distributionRef: {name: shop}`,
		says:     []string{"spec.distributionRef", `by distributionId "E2EXAMPLE1" and by distributionRef "shop"`, "remove one of the two"},
	},
	"a distribution named by its ID can be named by its object instead": {
		stored:   `distributionId: E2EXAMPLE1`,
		accepted: `{distributionId: null, distributionRef: {name: shop}}`,
		refused:  `distributionRef: {name: shop}`,
		says:     []string{"spec.distributionRef", "named twice"},
	},
	"a distribution named by its object can be named by its ID instead": {
		stored:   `{distributionId: null, distributionRef: {name: shop}}`,
		accepted: `distributionId: E2EXAMPLE2`,
		refused:  `distributionId: null`,
		says:     []string{"spec.distributionId", "needs a multi-tenant distribution"},
	},
	"a connection group is named at most once": {
		accepted: `connectionGroupRef: {name: static}`,
		refused:  `{connectionGroupId: cg_1, connectionGroupRef: {name: static}}`,
		says:     []string{"spec.connectionGroupRef", `by connectionGroupId "cg_1" and by connectionGroupRef "static"`, "remove one of the two"},
	},
	"a connection group named by its object can be named by its ID instead": {
		stored:   `connectionGroupRef: {name: static}`,
		accepted: `connectionGroupId: cg_1`,
		refused:  `{connectionGroupId: cg_1, connectionGroupRef: {name: static}}`,
		says:     []string{"spec.connectionGroupRef", "named twice"},
	},
	"a reference to a distribution has a name": {
		accepted: `{distributionId: null, distributionRef: {name: shop}}`,
		refused:  `{distributionId: null, distributionRef: {}}`,
		says:     []string{"spec.distributionRef.name", "Required"},
	},
	"a reference to a distribution has a name that is not empty": {
		accepted: `{distributionId: null, distributionRef: {name: s}}`,
		refused:  `{distributionId: null, distributionRef: {name: ""}}`,
		says:     []string{"spec.distributionRef.name", "at least 1"},
	},
	"a reference to a distribution has a name of at most 253 characters": {
		accepted: "{distributionId: null, distributionRef: {name: " + strings.Repeat("s", 253) + "}}",
		refused:  "{distributionId: null, distributionRef: {name: " + strings.Repeat("s", 254) + "}}",
		says:     []string{"spec.distributionRef.name", "Too long", "253"},
	},
	"a reference to a distribution names an object and not an ID": {
		accepted: `{distributionId: null, distributionRef: {name: shop.v2-b}}`,
		refused:  `{distributionId: null, distributionRef: {name: E2EXAMPLE1}}`,
		says:     []string{"spec.distributionRef.name", `"E2EXAMPLE1" is no name that an object can have`, "metadata.name"},
	},
	"a reference to a connection group has a name": {
		accepted: `connectionGroupRef: {name: static}`,
		refused:  `connectionGroupRef: {}`,
		says:     []string{"spec.connectionGroupRef.name", "Required"},
	},
	"a reference to a connection group has a name that is not empty": {
		accepted: `connectionGroupRef: {name: s}`,
		refused:  `connectionGroupRef: {name: ""}`,
		says:     []string{"spec.connectionGroupRef.name", "at least 1"},
	},
	"a reference to a connection group has a name of at most 253 characters": {
		accepted: "connectionGroupRef: {name: " + strings.Repeat("s", 253) + "}",
		refused:  "connectionGroupRef: {name: " + strings.Repeat("s", 254) + "}",
		says:     []string{"spec.connectionGroupRef.name", "Too long", "253"},
	},
	"a reference to a connection group names an object and not an ID": {
		accepted: `connectionGroupRef: {name: static-1}`,
		refused:  `connectionGroupRef: {name: cg_1}`,
		says:     []string{"spec.connectionGroupRef.name", `"cg_1" is no name that an object can have`, "metadata.name"},
	},
	"a reference can't leave its namespace": {
		accepted: `connectionGroupRef: {name: static}`,
		refused:  `connectionGroupRef: {name: other/static}`,
		says:     []string{"spec.connectionGroupRef.name", `"other/static" is no name that an object can have`, "of this namespace"},
	},
	"domains are required": {
		accepted: `domains: [{domain: shop.example.com}]`,
		refused:  `domains: null`,
		says:     []string{"spec.domains", "Required"},
	},
	"a tenant has at least one domain": {
		accepted: `domains: [{domain: shop.example.com}]`,
		refused:  `domains: []`,
		says:     []string{"spec.domains", "at least 1"},
	},
	"a tenant has at most 100 domains": {
		accepted: list("domains", 100, "{domain: d%d.example.com}"),
		refused:  list("domains", 101, "{domain: d%d.example.com}"),
		says:     []string{"spec.domains", "Too many: 101", "at most 100"},
	},
	"a domain is named once": {
		accepted: `domains: [{domain: a.example.com}, {domain: b.example.com}]`,
		refused:  `domains: [{domain: a.example.com}, {domain: a.example.com}]`,
		says:     []string{"spec.domains[1]", "Duplicate value", "a.example.com"},
	},
	"an entry of domains has a domain": {
		accepted: `domains: [{domain: shop.example.com}]`,
		refused:  `domains: [{}]`,
		says:     []string{"spec.domains[0].domain", "Required"},
	},
	"a domain is in lower case": {
		accepted: `domains: [{domain: shop.example.com}]`,
		refused:  `domains: [{domain: Shop.example.com}]`,
		says:     []string{"spec.domains[0].domain", `"Shop.example.com" has capital letters`, `write "shop.example.com"`},
	},
	"a domain has no dot at its end": {
		accepted: `domains: [{domain: shop.example.com}]`,
		refused:  `domains: [{domain: shop.example.com.}]`,
		says:     []string{"spec.domains[0].domain", `"shop.example.com." ends with a dot`, "remove it"},
	},
	"a wildcard is the whole leftmost label": {
		accepted: `domains: [{domain: "*.example.com"}]`,
		refused:  `domains: [{domain: "shop*.example.com"}]`,
		says:     []string{"spec.domains[0].domain", `"shop*.example.com" has a wildcard`, "*.example.com"},
	},
	"a wildcard stands in no inner label": {
		accepted: `domains: [{domain: "*.shop.example.com"}]`,
		refused:  `domains: [{domain: "*.*.example.com"}]`,
		says:     []string{"spec.domains[0].domain", "not the whole leftmost label"},
	},
	"a wildcard needs two labels behind it": {
		accepted: `domains: [{domain: "*.example.com"}]`,
		refused:  `domains: [{domain: "*.com"}]`,
		says:     []string{"spec.domains[0].domain", "not a fully qualified domain name"},
	},
	"an internationalized domain is in punycode": {
		accepted: `domains: [{domain: xn--bcher-kva.example.com}]`,
		refused:  `domains: [{domain: bücher.example.com}]`,
		says:     []string{"spec.domains[0].domain", `"bücher.example.com"`, "punycode"},
	},
	"a domain is fully qualified": {
		accepted: `domains: [{domain: example.com}]`,
		refused:  `domains: [{domain: localhost}]`,
		says:     []string{"spec.domains[0].domain", `"localhost" is not a fully qualified domain name`, "like shop.example.com"},
	},
	"a domain is not a URL": {
		accepted: `domains: [{domain: shop.example.com}]`,
		refused:  `domains: [{domain: "https://shop.example.com/"}]`,
		says:     []string{"spec.domains[0].domain", "no scheme, port, path"},
	},
	"a domain is not an IP address": {
		accepted: `domains: [{domain: 192-0-2-1.example.com}]`,
		refused:  `domains: [{domain: 192.0.2.1}]`,
		says:     []string{"spec.domains[0].domain", "IP address"},
	},
	"a domain has no underscore": {
		accepted: `domains: [{domain: my-shop.example.com}]`,
		refused:  `domains: [{domain: my_shop.example.com}]`,
		says:     []string{"spec.domains[0].domain", `"my_shop.example.com"`, "underscore"},
	},
	"a label of a domain has at most 63 characters": {
		accepted: "domains: [{domain: " + strings.Repeat("a", 63) + ".example.com}]",
		refused:  "domains: [{domain: " + strings.Repeat("a", 64) + ".example.com}]",
		says:     []string{"spec.domains[0].domain", "1 to 63"},
	},
	"a label of a domain does not end with a hyphen": {
		accepted: `domains: [{domain: my-shop.example.com}]`,
		refused:  `domains: [{domain: shop-.example.com}]`,
		says:     []string{"spec.domains[0].domain", "inner hyphens"},
	},
	"a domain has at most 253 characters": {
		accepted: "domains: [{domain: " + strings.Repeat("a123456789.", 22) + "example.com}]", // 22*11+11 = 253
		refused:  "domains: [{domain: " + strings.Repeat("a123456789.", 22) + "examples.com}]",
		says:     []string{"spec.domains[0].domain", "Too long", "253"},
	},
	"overriding the web ACL needs one": {
		accepted: `customizations: {webAcl: {action: override, arn: ` + q(webACL) + `}}`,
		refused:  `customizations: {webAcl: {action: override}}`,
		says:     []string{"spec.customizations.webAcl.arn", "set arn, or choose action disable"},
	},
	"disabling the web ACL takes none": {
		accepted: `customizations: {webAcl: {action: disable}}`,
		refused:  `customizations: {webAcl: {action: disable, arn: ` + q(webACL) + `}}`,
		says:     []string{"spec.customizations.webAcl.arn", "remove arn, or choose action override"},
	},
	"the action on the web ACL is required": {
		accepted: `customizations: {webAcl: {action: disable}}`,
		refused:  `customizations: {webAcl: {}}`,
		says:     []string{"spec.customizations.webAcl.action", "Required"},
	},
	"a whitelist needs a country": {
		accepted: `customizations: {geoRestrictions: {restrictionType: whitelist, locations: [DE]}}`,
		refused:  `customizations: {geoRestrictions: {restrictionType: whitelist}}`,
		says:     []string{"spec.customizations.geoRestrictions.locations", "need at least one country"},
	},
	"a blacklist needs a country": {
		accepted: `customizations: {geoRestrictions: {restrictionType: blacklist, locations: [DE]}}`,
		refused:  `customizations: {geoRestrictions: {restrictionType: blacklist, locations: []}}`,
		says:     []string{"spec.customizations.geoRestrictions.locations", "need at least one country"},
	},
	"no restriction takes no country": {
		accepted: `customizations: {geoRestrictions: {restrictionType: none, locations: []}}`,
		refused:  `customizations: {geoRestrictions: {restrictionType: none, locations: [DE]}}`,
		says:     []string{"spec.customizations.geoRestrictions.locations", "remove locations"},
	},
	"the type of a geographic restriction is required": {
		accepted: `customizations: {geoRestrictions: {restrictionType: none}}`,
		refused:  `customizations: {geoRestrictions: {locations: [DE]}}`,
		says:     []string{"spec.customizations.geoRestrictions.restrictionType", "Required"},
	},
	"the host of the validation token is required": {
		accepted: `managedCertificateRequest: {validationTokenHost: self-hosted}`,
		refused:  `managedCertificateRequest: {}`,
		says:     []string{"spec.managedCertificateRequest.validationTokenHost", "Required"},
	},
	"the primary domain is one of the domains": {
		accepted: `{domains: [{domain: a.example.com}, {domain: b.example.com}], managedCertificateRequest: {validationTokenHost: cloudfront, primaryDomainName: b.example.com}}`,
		refused:  `{domains: [{domain: a.example.com}], managedCertificateRequest: {validationTokenHost: cloudfront, primaryDomainName: c.example.com}}`,
		says:     []string{"spec.managedCertificateRequest.primaryDomainName", `"c.example.com" is not one of spec.domains`, "add it there, or leave primaryDomainName out"},
	},
	"a managed certificate covers no wildcard": {
		accepted: `{domains: [{domain: a.example.com}], managedCertificateRequest: {validationTokenHost: cloudfront}}`,
		refused:  `{domains: [{domain: "*.example.com"}], managedCertificateRequest: {validationTokenHost: cloudfront}}`,
		says:     []string{"spec.managedCertificateRequest", "can not prove a wildcard domain", "customizations.certificate.arn"},
	},
	"a DNS provider is named": {
		accepted: `dns: {provider: route53}`,
		refused:  `dns: {}`,
		says:     []string{"spec.dns.provider", "Required"},
	},
	"a zone is named once": {
		accepted: `dns: {provider: route53, zoneName: example.com}`,
		refused:  `dns: {provider: route53, zoneName: example.com, hostedZoneId: Z0123456789ABC}`,
		says:     []string{"spec.dns.zoneName", "hostedZoneId names the zone already", "remove zoneName"},
	},
	"the name in AWS has characters that CloudFront takes": {
		accepted: `tenantName: Shop.Example-1`,
		refused:  `tenantName: shop_example`,
		says:     []string{"spec.tenantName", `"shop_example" is not a name that CloudFront takes`, "use 3 to 128 letters, digits, hyphens and dots"},
	},
	"the name in AWS begins and ends with a letter or digit": {
		accepted: `tenantName: shop.1`,
		refused:  `tenantName: shop.`,
		says:     []string{"spec.tenantName", "a letter or a digit at both ends"},
	},
	"the name in AWS has at least 3 characters": {
		accepted: `tenantName: abc`,
		refused:  `tenantName: ab`,
		says:     []string{"spec.tenantName", "use 3 to 128"},
	},
	"the name in AWS has at most 128 characters": {
		accepted: "tenantName: " + strings.Repeat("n", 128),
		refused:  "tenantName: " + strings.Repeat("n", 129),
		says:     []string{"spec.tenantName", "Too long", "128"},
	},
	"an object name that is too short for AWS needs a tenantName": {
		name:     "ab",
		accepted: `tenantName: ab-shop`,
		refused:  `{}`,
		says:     []string{"spec.tenantName", `metadata.name "ab" is also the name of the tenant in AWS`, "set spec.tenantName"},
	},
	"an object name that is too long for AWS needs a tenantName": {
		name:     strings.Repeat("n", 129),
		accepted: `tenantName: short`,
		refused:  `{}`,
		says:     []string{"spec.tenantName", "3 to 128 characters", "set spec.tenantName"},
	},
	"a misspelled field is refused and not ignored": {
		accepted: `{}`,
		refused:  `domain: shop.example.com`,
		says:     []string{`unknown field "spec.domain"`},
	},
	"a domain is not empty": {
		accepted: `domains: [{domain: a.io}]`,
		refused:  `domains: [{domain: ""}]`,
		says:     []string{"spec.domains[0].domain", "at least 1"},
	},
	"the primary domain is not empty": {
		accepted: `managedCertificateRequest: {validationTokenHost: cloudfront, primaryDomainName: shop.example.com}`,
		refused:  `managedCertificateRequest: {validationTokenHost: cloudfront, primaryDomainName: ""}`,
		says:     []string{"spec.managedCertificateRequest.primaryDomainName", "at least 1"},
	},
	"the primary domain has at most 253 characters": {
		accepted: `managedCertificateRequest: {validationTokenHost: cloudfront, primaryDomainName: shop.example.com}`,
		refused:  "managedCertificateRequest: {validationTokenHost: cloudfront, primaryDomainName: " + strings.Repeat("a", 254) + "}",
		says:     []string{"spec.managedCertificateRequest.primaryDomainName", "Too long", "253"},
	},
	"the name in AWS is not empty": {
		accepted: `tenantName: abc`,
		refused:  `tenantName: ""`,
		says:     []string{"spec.tenantName", "at least 1"},
	},
	"the name in AWS is fixed": {
		stored:   `tenantName: store`,
		accepted: `tenantName: store`,
		refused:  `tenantName: market`,
		says:     []string{"spec.tenantName", `is "store": put that value back`},
	},
}

// sharedCases are those of fields that a tenant and the template of a TenantSource both have.
var sharedCases = map[string]validationCase{
	"a distribution is named by its ID and not by its ARN or domain name": {
		accepted: `distributionId: E1A2B3C4D5E6F7`,
		refused:  `distributionId: d111111abcdef8.cloudfront`,
		says:     []string{"spec.distributionId", `"d111111abcdef8.cloudfront" is not the ID of a distribution`, "give the ID"},
	},
	"the ID of a distribution is short": {
		accepted: "distributionId: " + strings.Repeat("E", 32),
		refused:  "distributionId: " + strings.Repeat("E", 33),
		says:     []string{"spec.distributionId", "Too long", "32"},
	},
	"enabled is true or false": {
		accepted: `enabled: false`,
		refused:  `enabled: "yes"`,
		says:     []string{"spec.enabled", "boolean"},
	},
	"a connection group is named by its ID": {
		accepted: `connectionGroupId: cg_2whCJoXMYCjHcxaLGrkllvyABC`,
		refused:  `connectionGroupId: my-group`,
		says:     []string{"spec.connectionGroupId", `"my-group" is not the ID of a connection group`, "give the ID"},
	},
	"a parameter has a name that CloudFront takes": {
		accepted: `parameters: [{name: Tenant_name-1, value: x}]`,
		refused:  `parameters: [{name: tenant.name, value: x}]`,
		says:     []string{"spec.parameters[0].name", `"tenant.name" is not a parameter name`, "use letters, digits, hyphens and underscores"},
	},
	"the name of a parameter has at most 128 characters": {
		accepted: "parameters: [{name: " + strings.Repeat("n", 128) + ", value: x}]",
		refused:  "parameters: [{name: " + strings.Repeat("n", 129) + ", value: x}]",
		says:     []string{"spec.parameters[0].name", "Too long", "128"},
	},
	"a parameter has a value": {
		accepted: `parameters: [{name: tier, value: gold}]`,
		refused:  `parameters: [{name: tier}]`,
		says:     []string{"spec.parameters[0].value", "Required"},
	},
	"the value of a parameter is not empty": {
		accepted: `parameters: [{name: tier, value: x}]`,
		refused:  `parameters: [{name: tier, value: ""}]`,
		says:     []string{"spec.parameters[0].value", "at least 1"},
	},
	"the value of a parameter has at most 256 characters": {
		accepted: "parameters: [{name: tier, value: " + strings.Repeat("v", 256) + "}]",
		refused:  "parameters: [{name: tier, value: " + strings.Repeat("v", 257) + "}]",
		says:     []string{"spec.parameters[0].value", "Too long", "256"},
	},
	"a parameter is given once": {
		accepted: `parameters: [{name: tier, value: a}, {name: origin, value: a}]`,
		refused:  `parameters: [{name: tier, value: a}, {name: tier, value: b}]`,
		says:     []string{"spec.parameters[1]", "Duplicate value", "tier"},
	},
	"a tenant has at most 50 parameters": {
		accepted: list("parameters", 50, "{name: p%d, value: x}"),
		refused:  list("parameters", 51, "{name: p%d, value: x}"),
		says:     []string{"spec.parameters", "Too many: 51", "at most 50"},
	},
	"the action on the web ACL is one of two": {
		accepted: `customizations: {webAcl: {action: disable}}`,
		refused:  `customizations: {webAcl: {action: remove}}`,
		says:     []string{"spec.customizations.webAcl.action", `"remove"`, `"override", "disable"`},
	},
	"a web ACL has global scope": {
		accepted: `customizations: {webAcl: {action: override, arn: "arn:aws-cn:wafv2:us-east-1:111122223333:global/webacl/a/b"}}`,
		refused:  `customizations: {webAcl: {action: override, arn: "arn:aws:wafv2:eu-west-1:111122223333:regional/webacl/a/b"}}`,
		says:     []string{"spec.customizations.webAcl.arn", "eu-west-1", "WAFv2 web ACLs of scope CLOUDFRONT only"},
	},
	"a web ACL is not one of WAF Classic": {
		accepted: `customizations: {webAcl: {action: override, arn: ` + q(webACL) + `}}`,
		refused:  `customizations: {webAcl: {action: override, arn: 0f0e0d0c-0000-4000-8000-000000000002}}`,
		says:     []string{"spec.customizations.webAcl.arn", "is not the ARN of a global web ACL"},
	},
	"a certificate is named": {
		accepted: `customizations: {certificate: {arn: ` + q(certificate) + `}}`,
		refused:  `customizations: {certificate: {}}`,
		says:     []string{"spec.customizations.certificate.arn", "Required"},
	},
	"a certificate is in us-east-1": {
		accepted: `customizations: {certificate: {arn: ` + q(certificate) + `}}`,
		refused:  `customizations: {certificate: {arn: ` + q(strings.Replace(certificate, "us-east-1", "eu-central-1", 1)) + `}}`,
		says:     []string{"spec.customizations.certificate.arn", "eu-central-1", "us-east-1, the only region", "request or import the certificate there"},
	},
	"a certificate may be in any partition": {
		accepted: `customizations: {certificate: {arn: ` + q(strings.Replace(certificate, "arn:aws:", "arn:aws-us-gov:", 1)) + `}}`,
		refused:  `customizations: {certificate: {arn: ` + q(strings.Replace(certificate, "arn:aws:", "arn:azure:", 1)) + `}}`,
		says:     []string{"spec.customizations.certificate.arn", "is not the ARN of an ACM certificate"},
	},
	"a certificate is one of ACM and not of IAM": {
		accepted: `customizations: {certificate: {arn: ` + q(certificate) + `}}`,
		refused:  `customizations: {certificate: {arn: "arn:aws:iam::111122223333:server-certificate/shop"}}`,
		says:     []string{"spec.customizations.certificate.arn", "is not the ARN of an ACM certificate"},
	},
	"the type of a geographic restriction is one of three": {
		accepted: `customizations: {geoRestrictions: {restrictionType: none}}`,
		refused:  `customizations: {geoRestrictions: {restrictionType: allowlist, locations: [DE]}}`,
		says:     []string{"spec.customizations.geoRestrictions.restrictionType", `"allowlist"`, `"none", "whitelist", "blacklist"`},
	},
	"a country is in the ISO list": {
		accepted: `customizations: {geoRestrictions: {restrictionType: whitelist, locations: [GB, DE, XK]}}`,
		refused:  `customizations: {geoRestrictions: {restrictionType: whitelist, locations: [UK, DE]}}`,
		says:     []string{"spec.customizations.geoRestrictions.locations[0]", `"UK" is not an ISO 3166-1 alpha-2 country code`, "such as DE, GB or US"},
	},
	"a country is in capital letters": {
		accepted: `customizations: {geoRestrictions: {restrictionType: whitelist, locations: [DE]}}`,
		refused:  `customizations: {geoRestrictions: {restrictionType: whitelist, locations: [de]}}`,
		says:     []string{"spec.customizations.geoRestrictions.locations[0]", `"de" is not an ISO`, "two capital letters"},
	},
	"a country is listed once": {
		accepted: `customizations: {geoRestrictions: {restrictionType: blacklist, locations: [DE, FR]}}`,
		refused:  `customizations: {geoRestrictions: {restrictionType: blacklist, locations: [DE, DE]}}`,
		says:     []string{"spec.customizations.geoRestrictions.locations[1]", "Duplicate value", "DE"},
	},
	"the host of the validation token is one of two": {
		accepted: `managedCertificateRequest: {validationTokenHost: cloudfront}`,
		refused:  `managedCertificateRequest: {validationTokenHost: domain}`,
		says:     []string{"spec.managedCertificateRequest.validationTokenHost", `"domain"`, `"cloudfront", "self-hosted"`},
	},
	"transparency logging is enabled or disabled": {
		accepted: `managedCertificateRequest: {validationTokenHost: cloudfront, certificateTransparencyLoggingPreference: disabled}`,
		refused:  `managedCertificateRequest: {validationTokenHost: cloudfront, certificateTransparencyLoggingPreference: "off"}`,
		says:     []string{"spec.managedCertificateRequest.certificateTransparencyLoggingPreference", `"off"`, `"enabled", "disabled"`},
	},
	"a tag has a key": {
		accepted: `tags: [{key: team, value: edge}]`,
		refused:  `tags: [{value: edge}]`,
		says:     []string{"spec.tags[0].key", "Required"},
	},
	"the key of a tag has characters that AWS takes": {
		accepted: `tags: [{key: "Größe 1_.:/=+-@", value: x}]`,
		refused:  `tags: [{key: "team#1", value: x}]`,
		says:     []string{"spec.tags[0].key", `"team#1" has a character that AWS does not take in a tag key`, "use letters, digits, spaces"},
	},
	"the key of a tag has at most 128 characters": {
		accepted: "tags: [{key: " + strings.Repeat("k", 128) + "}]",
		refused:  "tags: [{key: " + strings.Repeat("k", 129) + "}]",
		says:     []string{"spec.tags[0].key", "Too long", "128"},
	},
	"the value of a tag has characters that AWS takes": {
		accepted: `tags: [{key: team, value: ""}, {key: mail, value: "edge+team@example.com / Zürich"}]`,
		refused:  `tags: [{key: team, value: "a;b"}]`,
		says:     []string{"spec.tags[0].value", `"a;b" has a character that AWS does not take in a tag value`, "use letters, digits, spaces"},
	},
	"the value of a tag has at most 256 characters": {
		accepted: "tags: [{key: team, value: " + strings.Repeat("v", 256) + "}]",
		refused:  "tags: [{key: team, value: " + strings.Repeat("v", 257) + "}]",
		says:     []string{"spec.tags[0].value", "Too long", "256"},
	},
	"the prefix of AWS is not for tags of users": {
		accepted: `tags: [{key: "awsome:team", value: x}]`,
		refused:  `tags: [{key: "AWS:team", value: x}]`,
		says:     []string{"spec.tags[0].key", `"AWS:team" starts with aws:`, "choose another key"},
	},
	"the prefix of the operator is not for tags of users": {
		accepted: `tags: [{key: "example.com/uid", value: x}]`,
		refused:  `tags: [{key: cloudfront-tenant-operator.io/uid, value: x}]`,
		says:     []string{"spec.tags[0].key", "mark what it owns", "choose another key"},
	},
	"a tag is given once": {
		accepted: `tags: [{key: team, value: a}, {key: Team, value: a}]`,
		refused:  `tags: [{key: team, value: a}, {key: team, value: b}]`,
		says:     []string{"spec.tags[1]", "Duplicate value", "team"},
	},
	"a tenant has at most 46 tags, for four are the operator's": {
		accepted: list("tags", 46, "{key: k%d, value: x}"),
		refused:  list("tags", 47, "{key: k%d, value: x}"),
		says:     []string{"spec.tags", "Too many: 47", "at most 46"},
	},
	"a DNS provider is one that the operator knows": {
		accepted: `dns: {provider: route53}`,
		refused:  `dns: {provider: bind}`,
		says:     []string{"spec.dns.provider", `"bind"`, `"route53"`},
	},
	"a hosted zone is named by its bare ID": {
		accepted: `dns: {provider: route53, hostedZoneId: Z0123456789ABC}`,
		refused:  `dns: {provider: route53, hostedZoneId: /hostedzone/Z0123456789ABC}`,
		says:     []string{"spec.dns.hostedZoneId", `"/hostedzone/Z0123456789ABC" is not the ID of a hosted zone`, "without /hostedzone/"},
	},
	"a zone is named as it stands in DNS": {
		accepted: `dns: {provider: route53, zoneName: _x.xn--bcher-kva.example}`,
		refused:  `dns: {provider: route53, zoneName: Example.com.}`,
		says:     []string{"spec.dns.zoneName", `"Example.com." is not the name of a zone`, "lower case", "without a dot at its end"},
	},
	"a record type is one that is known": {
		accepted: `dns: {provider: route53, recordType: Alias}`,
		refused:  `dns: {provider: route53, recordType: A}`,
		says:     []string{"spec.dns.recordType", `"A"`, `"Alias"`, `"CNAME"`},
	},
	"the TTL is at least 60 seconds": {
		accepted: `dns: {provider: route53, ttl: 60}`,
		refused:  `dns: {provider: route53, ttl: 59}`,
		says:     []string{"spec.dns.ttl", "59", "greater than or equal to 60"},
	},
	"the TTL is at most two days": {
		accepted: `dns: {provider: route53, ttl: 172800}`,
		refused:  `dns: {provider: route53, ttl: 172801}`,
		says:     []string{"spec.dns.ttl", "172801", "less than or equal to 172800"},
	},
	"a role for DNS is an IAM role": {
		accepted: `dns: {provider: route53, assumeRoleArn: "arn:aws:iam::111122223333:role/dns/edge"}`,
		refused:  `dns: {provider: route53, assumeRoleArn: "arn:aws:iam::111122223333:user/edge"}`,
		says:     []string{"spec.dns.assumeRoleArn", "user/edge", "is not the ARN of an IAM role"},
	},
	"the drift policy is one of three": {
		accepted: `driftPolicy: suspend`,
		refused:  `driftPolicy: Enforce`,
		says:     []string{"spec.driftPolicy", `"Enforce"`, `"enforce", "report", "suspend"`},
	},
	"the deletion policy is one of two": {
		accepted: `deletionPolicy: Retain`,
		refused:  `deletionPolicy: Orphan`,
		says:     []string{"spec.deletionPolicy", `"Orphan"`, `"Delete", "Retain"`},
	},
	"the adoption policy is one of three": {
		accepted: `adoptionPolicy: IfUnowned`,
		refused:  `adoptionPolicy: Always`,
		says:     []string{"spec.adoptionPolicy", `"Always"`, `"Never", "IfUnowned", "Force"`},
	},
	"the ID of a distribution is not empty": {
		accepted: `distributionId: E`,
		refused:  `distributionId: ""`,
		says:     []string{"spec.distributionId", "at least 1"},
	},
	"the ID of a connection group is not empty": {
		accepted: `connectionGroupId: cg_1`,
		refused:  `connectionGroupId: ""`,
		says:     []string{"spec.connectionGroupId", "at least 1"},
	},
	"the ID of a connection group has at most 64 characters": {
		accepted: "connectionGroupId: cg_" + strings.Repeat("x", 61),
		refused:  "connectionGroupId: cg_" + strings.Repeat("x", 62),
		says:     []string{"spec.connectionGroupId", "Too long", "64"},
	},
	"a parameter has a name": {
		accepted: `parameters: [{name: p, value: x}]`,
		refused:  `parameters: [{value: x}]`,
		says:     []string{"spec.parameters[0].name", "Required"},
	},
	"the name of a parameter is not empty": {
		accepted: `parameters: [{name: p, value: x}]`,
		refused:  `parameters: [{name: "", value: x}]`,
		says:     []string{"spec.parameters[0].name", "at least 1"},
	},
	"the ARN of a web ACL is not empty": {
		accepted: `customizations: {webAcl: {action: override, arn: ` + q(webACL) + `}}`,
		refused:  `customizations: {webAcl: {action: override, arn: ""}}`,
		says:     []string{"spec.customizations.webAcl.arn", "at least 1"},
	},
	"the ARN of a web ACL has at most 2048 characters": {
		accepted: `customizations: {webAcl: {action: override, arn: ` + q(padded(webACL, 2048)) + `}}`,
		refused:  `customizations: {webAcl: {action: override, arn: ` + q(padded(webACL, 2049)) + `}}`,
		says:     []string{"spec.customizations.webAcl.arn", "Too long", "2048"},
	},
	"the ARN of a certificate is not empty": {
		accepted: `customizations: {certificate: {arn: ` + q(certificate) + `}}`,
		refused:  `customizations: {certificate: {arn: ""}}`,
		says:     []string{"spec.customizations.certificate.arn", "at least 1"},
	},
	"the ARN of a certificate has at most 2048 characters": {
		accepted: `customizations: {certificate: {arn: ` + q(certificate) + `}}`,
		refused:  `customizations: {certificate: {arn: ` + q(padded(certificate, 2049)) + `}}`,
		says:     []string{"spec.customizations.certificate.arn", "Too long", "2048"},
	},
	"a geographic restriction names at most 300 countries": {
		accepted: `customizations: {geoRestrictions: {restrictionType: whitelist, locations: [DE, FR]}}`,
		refused:  `customizations: {geoRestrictions: {restrictionType: whitelist, ` + list("locations", 301, "C%d") + `}}`,
		says:     []string{"spec.customizations.geoRestrictions.locations", "Too many: 301", "at most 300"},
	},
	"a country is not empty": {
		accepted: `customizations: {geoRestrictions: {restrictionType: whitelist, locations: [DE]}}`,
		refused:  `customizations: {geoRestrictions: {restrictionType: whitelist, locations: [""]}}`,
		says:     []string{"spec.customizations.geoRestrictions.locations[0]", "at least 2"},
	},
	"a country has two letters": {
		accepted: `customizations: {geoRestrictions: {restrictionType: whitelist, locations: [DE]}}`,
		refused:  `customizations: {geoRestrictions: {restrictionType: whitelist, locations: [DEU]}}`,
		says:     []string{"spec.customizations.geoRestrictions.locations[0]", "Too long", "2"},
	},
	"the key of a tag is not empty": {
		accepted: `tags: [{key: t}]`,
		refused:  `tags: [{key: ""}]`,
		says:     []string{"spec.tags[0].key", "at least 1"},
	},
	"the ID of a hosted zone is not empty": {
		accepted: `dns: {provider: route53, hostedZoneId: Z1}`,
		refused:  `dns: {provider: route53, hostedZoneId: ""}`,
		says:     []string{"spec.dns.hostedZoneId", "at least 1"},
	},
	"the ID of a hosted zone has at most 32 characters": {
		accepted: "dns: {provider: route53, hostedZoneId: " + strings.Repeat("Z", 32) + "}",
		refused:  "dns: {provider: route53, hostedZoneId: " + strings.Repeat("Z", 33) + "}",
		says:     []string{"spec.dns.hostedZoneId", "Too long", "32"},
	},
	"the name of a zone is not empty": {
		accepted: `dns: {provider: route53, zoneName: io}`,
		refused:  `dns: {provider: route53, zoneName: ""}`,
		says:     []string{"spec.dns.zoneName", "at least 1"},
	},
	"the name of a zone has at most 253 characters": {
		accepted: "dns: {provider: route53, zoneName: " + strings.Repeat("a123456789.", 22) + "example.com}",
		refused:  "dns: {provider: route53, zoneName: " + strings.Repeat("a123456789.", 22) + "examples.com}",
		says:     []string{"spec.dns.zoneName", "Too long", "253"},
	},
	"a role for DNS is not empty": {
		accepted: `dns: {provider: route53, assumeRoleArn: ` + q(role) + `}`,
		refused:  `dns: {provider: route53, assumeRoleArn: ""}`,
		says:     []string{"spec.dns.assumeRoleArn", "at least 1"},
	},
	"a role for DNS has at most 640 characters": {
		accepted: `dns: {provider: route53, assumeRoleArn: ` + q(padded(role, 640)) + `}`,
		refused:  `dns: {provider: route53, assumeRoleArn: ` + q(padded(role, 641)) + `}`,
		says:     []string{"spec.dns.assumeRoleArn", "Too long", "640"},
	},
}

func TestValidation(t *testing.T) {
	crds := loadCRDs(t)
	for kind := range crds {
		if _, ok := testedKinds[kind]; !ok {
			t.Errorf("the limits of %s are not tested: add it to testedKinds", kind)
		}
	}
	for kind, tested := range testedKinds {
		t.Run(kind, func(t *testing.T) {
			namespace := newNamespace(t)
			var refusals []string
			for name, tc := range tested.cases {
				t.Run(name, func(t *testing.T) {
					if err := try(t, kind, namespace, tc, tc.accepted); err != nil {
						t.Errorf("the object that should be accepted is refused: %v\n%s", err, tc.accepted)
					}
					err := try(t, kind, namespace, tc, tc.refused)
					if err == nil {
						t.Fatalf("the object that should be refused is accepted\n%s", tc.refused)
					}
					if !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) {
						t.Fatalf("refused for another reason than its content: %v", err)
					}
					refusals = append(refusals, err.Error())
					for _, piece := range tc.says {
						if !strings.Contains(err.Error(), piece) {
							t.Errorf("the refusal does not say %q: %v", piece, err)
						}
					}
				})
			}
			for _, limit := range limits(t, crds[kind]) {
				if !slices.ContainsFunc(refusals, limit.refuses.MatchString) {
					t.Errorf("no object in this table is refused for %s", limit.name)
				}
			}
		})
	}
}

// try asks the API server whether it would take the object, or the change of the one that is stored before.
func try(t *testing.T, kind, namespace string, tc validationCase, fields string) error {
	t.Helper()
	if tc.stored == "" {
		return kube.Create(t.Context(), newObject(t, kind, namespace, cmp.Or(tc.name, "shop"), fields), client.DryRunAll)
	}
	stored := newObject(t, kind, namespace, "", tc.stored)
	stored.SetGenerateName("shop-")
	if err := kube.Create(t.Context(), stored); err != nil {
		t.Fatalf("storing the object before: %v\n%s", err, tc.stored)
	}
	changed := newObject(t, kind, namespace, stored.GetName(), fields)
	changed.SetResourceVersion(stored.GetResourceVersion())
	return kube.Update(t.Context(), changed, client.DryRunAll)
}

// A value that breaks one rule is refused by that one, or the reader does not know which to follow.
func TestOneMistakeMakesOneMessage(t *testing.T) {
	namespace := newNamespace(t)
	for _, domain := range []string{
		"Shop.example.com", "shop.example.com.", "shop*.example.com", "*.*.example.com", "bücher.example.com", "localhost", "my_shop.example.com", "192.0.2.1",
	} {
		t.Run(domain, func(t *testing.T) {
			err := try(t, "DistributionTenant", namespace, validationCase{}, fmt.Sprintf("domains: [{domain: %q}]", domain))
			if err == nil {
				t.Fatal("accepted")
			}
			if n := strings.Count(err.Error(), "spec.domains[0].domain"); n != 1 {
				t.Errorf("got %d messages, want 1: %v", n, err)
			}
		})
	}
}

func TestTheNameInAWSIsFixed(t *testing.T) {
	cases := map[string]struct {
		from, to string // tenantName, empty for none; the object is called "shop"
		says     string // empty when the change is accepted
	}{
		"a default can be spelled out later":      {from: "", to: "shop"},
		"a name that equals the default can go":   {from: "shop", to: ""},
		"a default can't be replaced":             {from: "", to: "store", says: `is "shop": put that value back, or delete this object and create another`},
		"a name can't be replaced":                {from: "store", to: "market", says: `is "store": put that value back`},
		"a name that isn't the default can't go":  {from: "store", to: "", says: `is "store": put that value back`},
		"a name can stay while the rest changes":  {from: "store", to: "store"},
		"the spelling of a name can't be changed": {from: "Store", to: "store", says: `is "Store"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			obj := newObject(t, "DistributionTenant", newNamespace(t), "shop", "{}")
			setTenantName(t, obj, tc.from)
			if err := kube.Create(t.Context(), obj); err != nil {
				t.Fatalf("creating: %v", err)
			}
			setTenantName(t, obj, tc.to)
			err := kube.Update(t.Context(), obj)
			switch {
			case tc.says == "" && err != nil:
				t.Errorf("refused: %v", err)
			case tc.says != "" && err == nil:
				t.Error("accepted")
			case tc.says != "" && (!strings.Contains(err.Error(), tc.says) || !strings.Contains(err.Error(), "spec.tenantName")):
				t.Errorf("the refusal does not name spec.tenantName and say %q: %v", tc.says, err)
			}
		})
	}
}

// What CloudFront can change in place is free to change.
func TestTheRestOfSpecMayChange(t *testing.T) {
	obj := newObject(t, "DistributionTenant", newNamespace(t), "shop", `connectionGroupId: cg_1`)
	if err := kube.Create(t.Context(), obj); err != nil {
		t.Fatalf("creating: %v", err)
	}
	obj.Object["spec"] = map[string]any{
		"distributionId": "E2EXAMPLE2",
		"domains":        []any{map[string]any{"domain": "other.example.com"}},
		"enabled":        false,
	}
	if err := kube.Update(t.Context(), obj); err != nil {
		t.Errorf("changing: %v", err)
	}
}

// newObject is the least valid object of the kind with the given fields of spec set. It is untyped, so that it
// holds exactly what a user could have written.
func newObject(t *testing.T, kind, namespace, name, fields string) *unstructured.Unstructured {
	t.Helper()
	spec, given := readFields(t, testedKinds[kind].least), readFields(t, fields)
	for field, value := range given {
		if value == nil {
			delete(spec, field)
			continue
		}
		spec[field] = value
	}
	obj := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	obj.SetGroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind(kind))
	obj.SetNamespace(namespace)
	obj.SetName(name)
	return obj
}

func readFields(t *testing.T, text string) map[string]any {
	t.Helper()
	fields := map[string]any{}
	if err := yaml.UnmarshalStrict([]byte(text), &fields); err != nil {
		t.Fatalf("reading the fields of the case: %v\n%s", err, text)
	}
	return fields
}

// merged joins tables of cases.
func merged(tables ...map[string]validationCase) map[string]validationCase {
	all := map[string]validationCase{}
	for _, table := range tables {
		maps.Copy(all, table)
	}
	return all
}

// inTemplate makes the same cases of a template.
func inTemplate(cases map[string]validationCase) map[string]validationCase {
	nested := map[string]validationCase{}
	for name, tc := range cases {
		says := slices.Clone(tc.says)
		says[0] = strings.Replace(says[0], "spec.", "spec.template.spec.", 1)
		nested["template: "+name] = validationCase{
			accepted: "template: {spec: {" + tc.accepted + "}}",
			refused:  "template: {spec: {" + tc.refused + "}}",
			says:     says,
		}
	}
	return nested
}

// padded lengthens a text to n characters.
func padded(s string, n int) string { return s + strings.Repeat("0", n-len(s)) }

func setTenantName(t *testing.T, obj *unstructured.Unstructured, name string) {
	t.Helper()
	if name == "" {
		unstructured.RemoveNestedField(obj.Object, "spec", "tenantName")
		return
	}
	if err := unstructured.SetNestedField(obj.Object, name, "spec", "tenantName"); err != nil {
		t.Fatal(err)
	}
}

// list writes n items into a field; each item has its number in it.
func list(field string, n int, item string) string {
	items := make([]string, n)
	for i := range items {
		items[i] = fmt.Sprintf(item, i)
	}
	return field + ": [" + strings.Join(items, ", ") + "]"
}

// q quotes a string for YAML.
func q(s string) string { return fmt.Sprintf("%q", s) }

// limit is one thing that a schema refuses, and how the refusal is known.
type limit struct {
	name    string
	refuses *regexp.Regexp
}

// limits are all that the schema of spec refuses, rules in CEL among them.
func limits(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition) []limit {
	t.Helper()
	var found []limit
	add := func(path, what, refusal string) {
		where := strings.NewReplacer(`\[\]`, `\[[^\]]+\]`, `\{\}`, `[^.:]+`).Replace(regexp.QuoteMeta(path))
		found = append(found, limit{name: path + ": " + what, refuses: regexp.MustCompile(where + refusal)})
	}
	var walk func(path string, schema *apiextensionsv1.JSONSchemaProps)
	walk = func(path string, schema *apiextensionsv1.JSONSchemaProps) {
		for _, rule := range schema.XValidations {
			text := longestText(rule)
			// The path of a rule is where it stands or a field below.
			add(path, text, "[^:]*: .*"+regexp.QuoteMeta(text))
		}
		for _, bound := range bounds(schema) {
			add(path, bound.what, ": "+bound.refusal)
		}
		for _, field := range schema.Required {
			add(path+"."+field, "required", ": Required value")
		}
		for name, property := range schema.Properties {
			walk(path+"."+name, &property)
		}
		if schema.Items != nil {
			if schema.XListType != nil && *schema.XListType != "atomic" {
				add(path+"[]", "listed once", ": Duplicate value")
			}
			walk(path+"[]", schema.Items.Schema)
		}
		if schema.AdditionalProperties != nil {
			walk(path+".{}", schema.AdditionalProperties.Schema)
		}
	}
	root := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
	spec := root.Properties["spec"]
	spec.XValidations = append(spec.XValidations, root.XValidations...)
	walk("spec", &spec)
	if len(found) < 20 {
		t.Fatalf("found %d limits only: the walk over the schema is broken", len(found))
	}
	return found
}

// bound is a limit of one value, and the words in which the API server refuses a value beyond it.
type bound struct{ what, refusal string }

func bounds(schema *apiextensionsv1.JSONSchemaProps) []bound {
	var found []bound
	add := func(is bool, what, refusal string) {
		if is {
			found = append(found, bound{what, refusal})
		}
	}
	above := func(n *int64) bool { return n != nil && *n > 0 }
	add(len(schema.Enum) > 0, "one of a few values", "Unsupported value")
	add(above(schema.MinLength), "a shortest length", "Invalid value: .*at least [0-9]+ chars")
	add(schema.MaxLength != nil, "a longest length", "Too long")
	add(above(schema.MinItems), "a least number of items", "Invalid value: .*at least [0-9]+ items")
	add(schema.MaxItems != nil, "a greatest number of items", "Too many")
	add(schema.MaxProperties != nil, "a greatest number of entries", "Too many")
	add(schema.Minimum != nil, "a least value", "Invalid value: .*greater than or equal to")
	add(schema.Maximum != nil, "a greatest value", "Invalid value: .*less than or equal to")
	return found
}

// loadCRDs reads all CRDs as they are committed, by kind.
func loadCRDs(t *testing.T) map[string]*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "config", "crd", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	crds := map[string]*apiextensionsv1.CustomResourceDefinition{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(text, crd); err != nil {
			t.Fatal(err)
		}
		crds[crd.Spec.Names.Kind] = crd
	}
	if len(crds) == 0 {
		t.Fatal("there are no CRDs")
	}
	return crds
}

var celString = regexp.MustCompile(`'[^']*'`)

// longestText returns the longest piece of text that a rule's message always has.
func longestText(rule apiextensionsv1.ValidationRule) string {
	if rule.MessageExpression == "" {
		return rule.Message
	}
	longest := ""
	for _, text := range celString.FindAllString(rule.MessageExpression, -1) {
		if text = strings.Trim(text, "'"); len(text) > len(longest) {
			longest = text
		}
	}
	return longest
}

// Everything that stands in an object goes through the typed form and back without a loss, or the operator
// would lose it when it writes.
func roundTrip(t *testing.T, obj *unstructured.Unstructured) map[string]any {
	t.Helper()
	text, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	typed := map[string]client.Object{
		"DistributionTenant": &v1alpha1.DistributionTenant{}, "TenantSource": &v1alpha1.TenantSource{},
		"Distribution": &v1alpha1.Distribution{}, "ConnectionGroup": &v1alpha1.ConnectionGroup{},
	}[obj.GetKind()]
	if err := yaml.UnmarshalStrict(text, typed); err != nil {
		t.Fatalf("reading the object into its type: %v", err)
	}
	text, err = json.Marshal(typed)
	if err != nil {
		t.Fatal(err)
	}
	back := map[string]any{}
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	return back
}
