package v1alpha1_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/limits"
)

var testedKinds = map[string]limits.Kind{
	"DistributionTenant": {
		Least: `{distributionId: E2EXAMPLE1, domains: [{domain: shop.example.com}]}`,
		Cases: limits.Merged(tenantCases, sharedCases, limits.Texts(
			limits.TextBound{Field: "distributionRef.namespace", Set: limits.In("{distributionId: null, distributionRef: {name: main, namespace: %s}}").Text, Longest: 63, Shortest: "o"},
			limits.TextBound{Field: "connectionGroupRef.namespace", Set: limits.In("connectionGroupRef: {name: static, namespace: %s}").Text, Longest: 63, Shortest: "o"},
		)),
	},
	"TenantSource": {
		Least: `{provider: dynamodb, distributionId: E2EXAMPLE1, dynamodb: {tableName: customers}}`,
		Cases: limits.Merged(sourceCases(), inTemplate(sharedCases)),
	},
	"DomainClaim":     {Least: `{domain: shop.example.com, namespace: shop}`, Cases: claimCases()},
	"Distribution":    {Least: leastDistribution, Cases: distributionCases()},
	"ConnectionGroup": {Least: leastGroup, Cases: groupCases()},
	"EdgeGrant":       {Least: leastGrant, Cases: grantCases()},
	"Invalidation":    {Least: leastInvalidation, Cases: invalidationCases()},
}

const (
	certificate = "arn:aws:acm:us-east-1:111122223333:certificate/00000000-0000-4000-8000-000000000001"
	webACL      = "arn:aws:wafv2:us-east-1:111122223333:global/webacl/shop/0f0e0d0c-0000-4000-8000-000000000002"
	role        = "arn:aws:iam::111122223333:role/edge"
	keyStore    = "arn:aws:cloudfront::111122223333:key-value-store/s"
)

// tenantCases are those of a whole tenant: what is required of it, its names, and the rules that compare two fields.
var tenantCases = map[string]limits.Case{
	"a key value store is required for a value": {
		Accepted: `keyValues: {value: v, storeArn: ` + limits.Quote(keyStore) + `}`,
		Refused:  `keyValues: {value: v}`,
		Says:     []string{"spec.keyValues.storeArn", "Required"},
	},
	"a key is not empty": {
		Accepted: `keyValues: {value: v, key: k, storeArn: ` + limits.Quote(keyStore) + `}`,
		Refused:  `keyValues: {value: v, key: "", storeArn: ` + limits.Quote(keyStore) + `}`,
		Says:     []string{"spec.keyValues.key", "at least 1"},
	},
	"a key has at most 512 characters": {
		Accepted: `keyValues: {value: v, key: ` + strings.Repeat("k", 512) + `, storeArn: ` + limits.Quote(keyStore) + `}`,
		Refused:  `keyValues: {value: v, key: ` + strings.Repeat("k", 513) + `, storeArn: ` + limits.Quote(keyStore) + `}`,
		Says:     []string{"spec.keyValues.key", "Too long", "512"},
	},
	"a key has at most 512 bytes": {
		Accepted: `keyValues: {value: v, key: ` + strings.Repeat("ü", 256) + `, storeArn: ` + limits.Quote(keyStore) + `}`,
		Refused:  `keyValues: {value: v, key: ` + strings.Repeat("ü", 257) + `, storeArn: ` + limits.Quote(keyStore) + `}`,
		Says:     []string{"spec.keyValues.key", "512 bytes", "shorten it"},
	},
	"a value is required": {
		Accepted: `keyValues: {value: v, storeArn: ` + limits.Quote(keyStore) + `}`,
		Refused:  `keyValues: {storeArn: ` + limits.Quote(keyStore) + `}`,
		Says:     []string{"spec.keyValues.value", "Required"},
	},
	"a value has at most 1024 bytes": {
		Accepted: `keyValues: {value: ` + strings.Repeat("ü", 512) + `, storeArn: ` + limits.Quote(keyStore) + `}`,
		Refused:  `keyValues: {value: ` + strings.Repeat("ü", 513) + `, storeArn: ` + limits.Quote(keyStore) + `}`,
		Says:     []string{"spec.keyValues.value", "1024 bytes", "shorten it"},
	},
	"a distribution is required, by its ID or by the name of its object": {
		Accepted: `distributionId: E2EXAMPLE1`,
		Refused:  `distributionId: null`,
		Says:     []string{"spec.distributionId", "needs a multi-tenant distribution", "set distributionRef", "distributionId to an ID"},
	},
	"a distribution is named once": {
		Accepted: `{distributionId: null, distributionRef: {name: shop}}`,
		Refused:  `distributionRef: {name: shop}`,
		Says:     []string{"spec.distributionRef", `by distributionId "E2EXAMPLE1" and by distributionRef "shop"`, "remove one of the two"},
	},
	"a distribution named by its ID can be named by its object instead": {
		Stored:   `distributionId: E2EXAMPLE1`,
		Accepted: `{distributionId: null, distributionRef: {name: shop}}`,
		Refused:  `distributionRef: {name: shop}`,
		Says:     []string{"spec.distributionRef", "set twice"},
	},
	"a distribution named by its object can be named by its ID instead": {
		Stored:   `{distributionId: null, distributionRef: {name: shop}}`,
		Accepted: `distributionId: E2EXAMPLE2`,
		Refused:  `distributionId: null`,
		Says:     []string{"spec.distributionId", "needs a multi-tenant distribution"},
	},
	"a connection group is named at most once": {
		Accepted: `connectionGroupRef: {name: static}`,
		Refused:  `{connectionGroupId: cg_1, connectionGroupRef: {name: static}}`,
		Says:     []string{"spec.connectionGroupRef", `by connectionGroupId "cg_1" and by connectionGroupRef "static"`, "remove one of the two"},
	},
	"a connection group named by its object can be named by its ID instead": {
		Stored:   `connectionGroupRef: {name: static}`,
		Accepted: `connectionGroupId: cg_1`,
		Refused:  `{connectionGroupId: cg_1, connectionGroupRef: {name: static}}`,
		Says:     []string{"spec.connectionGroupRef", "set twice"},
	},
	"domains are required": {
		Accepted: `domains: [{domain: shop.example.com}]`,
		Refused:  `domains: null`,
		Says:     []string{"spec.domains", "Required"},
	},
	"a tenant has at least one domain": {
		Accepted: `domains: [{domain: shop.example.com}]`,
		Refused:  `domains: []`,
		Says:     []string{"spec.domains", "at least 1"},
	},
	"a tenant has at most 100 domains": {
		Accepted: list("domains", 100, "{domain: d%d.example.com}"),
		Refused:  list("domains", 101, "{domain: d%d.example.com}"),
		Says:     []string{"spec.domains", "Too many: 101", "at most 100"},
	},
	"a domain is named once": {
		Accepted: `domains: [{domain: a.example.com}, {domain: b.example.com}]`,
		Refused:  `domains: [{domain: a.example.com}, {domain: a.example.com}]`,
		Says:     []string{"spec.domains[1]", "Duplicate value", "a.example.com"},
	},
	"an entry of domains has a domain": {
		Accepted: `domains: [{domain: shop.example.com}]`,
		Refused:  `domains: [{}]`,
		Says:     []string{"spec.domains[0].domain", "Required"},
	},
	"a domain is in lower case": {
		Accepted: `domains: [{domain: shop.example.com}]`,
		Refused:  `domains: [{domain: Shop.example.com}]`,
		Says:     []string{"spec.domains[0].domain", `"Shop.example.com" has capital letters`, `write "shop.example.com"`},
	},
	"a domain is no URL": {
		Accepted: `domains: [{domain: shop.example.com}]`,
		Refused:  `domains: [{domain: "https://Shop.example.com/cart"}]`,
		Says:     []string{"spec.domains[0].domain", `"https://Shop.example.com/cart" has capital letters, but CloudFront accepts only lower-case domain names,`, "no scheme, port, path"},
	},
	"a domain is the customer's": {
		Accepted: `domains: [{domain: cloudfront.net.example.com}]`,
		Refused:  `domains: [{domain: d111111abcdef8.cloudfront.net}]`,
		Says:     []string{"spec.domains[0].domain", `"d111111abcdef8.cloudfront.net" is a name of CloudFront itself`, "list the domain of the customer"},
	},
	"a domain has no dot at its end": {
		Accepted: `domains: [{domain: shop.example.com}]`,
		Refused:  `domains: [{domain: shop.example.com.}]`,
		Says:     []string{"spec.domains[0].domain", `"shop.example.com." ends with a dot`, "remove it"},
	},
	"a wildcard is the whole leftmost label": {
		Accepted: `domains: [{domain: "*.example.com"}]`,
		Refused:  `domains: [{domain: "shop*.example.com"}]`,
		Says:     []string{"spec.domains[0].domain", `"shop*.example.com" has a wildcard`, "*.example.com"},
	},
	"a wildcard stands in no inner label": {
		Accepted: `domains: [{domain: "*.shop.example.com"}]`,
		Refused:  `domains: [{domain: "*.*.example.com"}]`,
		Says:     []string{"spec.domains[0].domain", "not the entire leftmost label"},
	},
	"a wildcard needs two labels behind it": {
		Accepted: `domains: [{domain: "*.example.com"}]`,
		Refused:  `domains: [{domain: "*.com"}]`,
		Says:     []string{"spec.domains[0].domain", "not a fully qualified domain name"},
	},
	"an internationalized domain is in punycode": {
		Accepted: `domains: [{domain: xn--bcher-kva.example.com}]`,
		Refused:  `domains: [{domain: bücher.example.com}]`,
		Says:     []string{"spec.domains[0].domain", `"bücher.example.com"`, "punycode"},
	},
	"a domain is fully qualified": {
		Accepted: `domains: [{domain: example.com}]`,
		Refused:  `domains: [{domain: localhost}]`,
		Says:     []string{"spec.domains[0].domain", `"localhost" is not a fully qualified domain name`, "like shop.example.com"},
	},
	"a domain is not a URL": {
		Accepted: `domains: [{domain: shop.example.com}]`,
		Refused:  `domains: [{domain: "https://shop.example.com/"}]`,
		Says:     []string{"spec.domains[0].domain", "no scheme, port, path"},
	},
	"a domain is not an IP address": {
		Accepted: `domains: [{domain: 192-0-2-1.example.com}]`,
		Refused:  `domains: [{domain: 192.0.2.1}]`,
		Says:     []string{"spec.domains[0].domain", "IP address"},
	},
	"a domain has no underscore": {
		Accepted: `domains: [{domain: my-shop.example.com}]`,
		Refused:  `domains: [{domain: my_shop.example.com}]`,
		Says:     []string{"spec.domains[0].domain", `"my_shop.example.com"`, "underscore"},
	},
	"a label of a domain has at most 63 characters": {
		Accepted: "domains: [{domain: " + strings.Repeat("a", 63) + ".example.com}]",
		Refused:  "domains: [{domain: " + strings.Repeat("a", 64) + ".example.com}]",
		Says:     []string{"spec.domains[0].domain", "1 to 63"},
	},
	"a label of a domain does not end with a hyphen": {
		Accepted: `domains: [{domain: my-shop.example.com}]`,
		Refused:  `domains: [{domain: shop-.example.com}]`,
		Says:     []string{"spec.domains[0].domain", "inner hyphens"},
	},
	"a domain has at most 253 characters": {
		Accepted: "domains: [{domain: " + strings.Repeat("a123456789.", 22) + "example.com}]", // 22*11+11 = 253
		Refused:  "domains: [{domain: " + strings.Repeat("a123456789.", 22) + "examples.com}]",
		Says:     []string{"spec.domains[0].domain", "Too long", "253"},
	},
	"overriding the web ACL needs one": {
		Accepted: `customizations: {webAcl: {action: override, arn: ` + limits.Quote(webACL) + `}}`,
		Refused:  `customizations: {webAcl: {action: override}}`,
		Says:     []string{"spec.customizations.webAcl.arn", "set arn, or use action disable"},
	},
	"disabling the web ACL takes none": {
		Accepted: `customizations: {webAcl: {action: disable}}`,
		Refused:  `customizations: {webAcl: {action: disable, arn: ` + limits.Quote(webACL) + `}}`,
		Says:     []string{"spec.customizations.webAcl.arn", "remove arn, or use action override"},
	},
	"the action on the web ACL is required": {
		Accepted: `customizations: {webAcl: {action: disable}}`,
		Refused:  `customizations: {webAcl: {}}`,
		Says:     []string{"spec.customizations.webAcl.action", "Required"},
	},
	"a whitelist needs a country": {
		Accepted: `customizations: {geoRestrictions: {restrictionType: whitelist, locations: [DE]}}`,
		Refused:  `customizations: {geoRestrictions: {restrictionType: whitelist}}`,
		Says:     []string{"spec.customizations.geoRestrictions.locations", "need at least one country"},
	},
	"a blacklist needs a country": {
		Accepted: `customizations: {geoRestrictions: {restrictionType: blacklist, locations: [DE]}}`,
		Refused:  `customizations: {geoRestrictions: {restrictionType: blacklist, locations: []}}`,
		Says:     []string{"spec.customizations.geoRestrictions.locations", "need at least one country"},
	},
	"no restriction takes no country": {
		Accepted: `customizations: {geoRestrictions: {restrictionType: none, locations: []}}`,
		Refused:  `customizations: {geoRestrictions: {restrictionType: none, locations: [DE]}}`,
		Says:     []string{"spec.customizations.geoRestrictions.locations", "remove locations"},
	},
	"the type of a geographic restriction is required": {
		Accepted: `customizations: {geoRestrictions: {restrictionType: none}}`,
		Refused:  `customizations: {geoRestrictions: {locations: [DE]}}`,
		Says:     []string{"spec.customizations.geoRestrictions.restrictionType", "Required"},
	},
	"the host of the validation token is required": {
		Accepted: `managedCertificateRequest: {validationTokenHost: self-hosted}`,
		Refused:  `managedCertificateRequest: {}`,
		Says:     []string{"spec.managedCertificateRequest.validationTokenHost", "Required"},
	},
	"the primary domain is one of the domains": {
		Accepted: `{domains: [{domain: a.example.com}, {domain: b.example.com}], managedCertificateRequest: {validationTokenHost: cloudfront, primaryDomainName: b.example.com}}`,
		Refused:  `{domains: [{domain: a.example.com}], managedCertificateRequest: {validationTokenHost: cloudfront, primaryDomainName: c.example.com}}`,
		Says:     []string{"spec.managedCertificateRequest.primaryDomainName", `"c.example.com" is not one of spec.domains`, "add it there, or remove primaryDomainName"},
	},
	"a managed certificate covers no wildcard": {
		Accepted: `{domains: [{domain: a.example.com}], managedCertificateRequest: {validationTokenHost: cloudfront}}`,
		Refused:  `{domains: [{domain: "*.example.com"}], managedCertificateRequest: {validationTokenHost: cloudfront}}`,
		Says:     []string{"spec.managedCertificateRequest", "not possible for wildcard domains", "customizations.certificate.arn"},
	},
	"a DNS provider is named": {
		Accepted: `dns: {provider: route53}`,
		Refused:  `dns: {}`,
		Says:     []string{"spec.dns.provider", "Required"},
	},
	"a hosted zone is one of Route 53": {
		Accepted: `dns: {provider: cloudflare, zoneName: example.com}`,
		Refused:  `dns: {provider: cloudflare, hostedZoneId: Z0123456789ABC}`,
		Says:     []string{"spec.dns.hostedZoneId", `provider is "cloudflare"`, "use zoneName, or change provider"},
	},
	"a role is one of AWS": {
		Accepted: `dns: {provider: azure}`,
		Refused:  `dns: {provider: azure, assumeRoleArn: "arn:aws:iam::111122223333:role/dns"}`,
		Says:     []string{"spec.dns.assumeRoleArn", `provider is "azure"`, "remove it, or change provider"},
	},
	"Route 53 has no account": {
		Accepted: `dns: {provider: rfc2136, account: main}`,
		Refused:  `dns: {provider: route53, account: main}`,
		Says:     []string{"spec.dns.account", "not possible with provider route53", "remove it"},
	},
	"only Route 53 has alias records": {
		Accepted: `dns: {provider: cloudflare, recordType: CNAME}`,
		Refused:  `dns: {provider: cloudflare, recordType: Alias}`,
		Says:     []string{"spec.dns.recordType", `provider "cloudflare" has no alias records`, "use recordType Auto or CNAME"},
	},
	"a zone is named once": {
		Accepted: `dns: {provider: route53, zoneName: example.com}`,
		Refused:  `dns: {provider: route53, zoneName: example.com, hostedZoneId: Z0123456789ABC}`,
		Says:     []string{"spec.dns.zoneName", "hostedZoneId and zoneName cannot both be set", "remove one of them"},
	},
	"the name in AWS has characters that CloudFront takes": {
		Accepted: `tenantName: Shop.Example-1`,
		Refused:  `tenantName: shop_example`,
		Says:     []string{"spec.tenantName", `"shop_example" is not a valid tenant name`, "use 3 to 128 letters, digits, hyphens and dots"},
	},
	"the name in AWS begins and ends with a letter or digit": {
		Accepted: `tenantName: shop.1`,
		Refused:  `tenantName: shop.`,
		Says:     []string{"spec.tenantName", "a letter or a digit at both ends"},
	},
	"the name in AWS has at least 3 characters": {
		Accepted: `tenantName: abc`,
		Refused:  `tenantName: ab`,
		Says:     []string{"spec.tenantName", "use 3 to 128"},
	},
	"the name in AWS has at most 128 characters": {
		Accepted: "tenantName: " + strings.Repeat("n", 128),
		Refused:  "tenantName: " + strings.Repeat("n", 129),
		Says:     []string{"spec.tenantName", "Too long", "128"},
	},
	"an object name that is too short for AWS needs a tenantName": {
		Name:     "ab",
		Accepted: `tenantName: ab-shop`,
		Refused:  `{}`,
		Says:     []string{"spec.tenantName", `metadata.name "ab" is also the name of the tenant in AWS`, "set spec.tenantName"},
	},
	"an object name that is too long for AWS needs a tenantName": {
		Name:     strings.Repeat("n", 129),
		Accepted: `tenantName: short`,
		Refused:  `{}`,
		Says:     []string{"spec.tenantName", "3 to 128 characters", "set spec.tenantName"},
	},
	"a misspelled field is refused and not ignored": {
		Accepted: `{}`,
		Refused:  `domain: shop.example.com`,
		Says:     []string{`unknown field "spec.domain"`},
	},
	"a domain is not empty": {
		Accepted: `domains: [{domain: a.io}]`,
		Refused:  `domains: [{domain: ""}]`,
		Says:     []string{"spec.domains[0].domain", "at least 1"},
	},
	"the primary domain is not empty": {
		Accepted: `managedCertificateRequest: {validationTokenHost: cloudfront, primaryDomainName: shop.example.com}`,
		Refused:  `managedCertificateRequest: {validationTokenHost: cloudfront, primaryDomainName: ""}`,
		Says:     []string{"spec.managedCertificateRequest.primaryDomainName", "at least 1"},
	},
	"the primary domain has at most 253 characters": {
		Accepted: `managedCertificateRequest: {validationTokenHost: cloudfront, primaryDomainName: shop.example.com}`,
		Refused:  "managedCertificateRequest: {validationTokenHost: cloudfront, primaryDomainName: " + strings.Repeat("a", 254) + "}",
		Says:     []string{"spec.managedCertificateRequest.primaryDomainName", "Too long", "253"},
	},
	"the name in AWS is not empty": {
		Accepted: `tenantName: abc`,
		Refused:  `tenantName: ""`,
		Says:     []string{"spec.tenantName", "at least 1"},
	},
	"the name in AWS is fixed": {
		Stored:   `tenantName: store`,
		Accepted: `tenantName: store`,
		Refused:  `tenantName: market`,
		Says:     []string{"spec.tenantName", `is "store": restore that value`},
	},
}

// sharedCases are those of fields that a tenant and the template of a TenantSource both have.
var sharedCases = map[string]limits.Case{
	"a reference to a distribution has a name": {
		Accepted: `{distributionId: null, distributionRef: {name: shop}}`,
		Refused:  `{distributionId: null, distributionRef: {}}`,
		Says:     []string{"spec.distributionRef.name", "Required"},
	},
	"a reference to a distribution has a name that is not empty": {
		Accepted: `{distributionId: null, distributionRef: {name: s}}`,
		Refused:  `{distributionId: null, distributionRef: {name: ""}}`,
		Says:     []string{"spec.distributionRef.name", "at least 1"},
	},
	"a reference to a distribution has a name of at most 253 characters": {
		Accepted: "{distributionId: null, distributionRef: {name: " + strings.Repeat("s", 253) + "}}",
		Refused:  "{distributionId: null, distributionRef: {name: " + strings.Repeat("s", 254) + "}}",
		Says:     []string{"spec.distributionRef.name", "Too long", "253"},
	},
	"a reference to a distribution names an object and not an ID": {
		Accepted: `{distributionId: null, distributionRef: {name: shop.v2-b}}`,
		Refused:  `{distributionId: null, distributionRef: {name: E2EXAMPLE1}}`,
		Says:     []string{"spec.distributionRef.name", `"E2EXAMPLE1" is not a valid object name`, "metadata.name"},
	},
	"a reference to a connection group has a name": {
		Accepted: `connectionGroupRef: {name: static}`,
		Refused:  `connectionGroupRef: {}`,
		Says:     []string{"spec.connectionGroupRef.name", "Required"},
	},
	"a reference to a connection group has a name that is not empty": {
		Accepted: `connectionGroupRef: {name: s}`,
		Refused:  `connectionGroupRef: {name: ""}`,
		Says:     []string{"spec.connectionGroupRef.name", "at least 1"},
	},
	"a reference to a connection group has a name of at most 253 characters": {
		Accepted: "connectionGroupRef: {name: " + strings.Repeat("s", 253) + "}",
		Refused:  "connectionGroupRef: {name: " + strings.Repeat("s", 254) + "}",
		Says:     []string{"spec.connectionGroupRef.name", "Too long", "253"},
	},
	"a reference to a connection group names an object and not an ID": {
		Accepted: `connectionGroupRef: {name: static-1}`,
		Refused:  `connectionGroupRef: {name: cg_1}`,
		Says:     []string{"spec.connectionGroupRef.name", `"cg_1" is not a valid object name`, "metadata.name"},
	},
	"a reference names another namespace in a field of its own": {
		Accepted: `connectionGroupRef: {name: static, namespace: other}`,
		Refused:  `connectionGroupRef: {name: other/static}`,
		Says:     []string{"spec.connectionGroupRef.name", `"other/static" is not a valid object name`, "metadata.name"},
	},
	"the namespace of a group is a name": {
		Accepted: `connectionGroupRef: {name: static, namespace: team-2}`,
		Refused:  `connectionGroupRef: {name: static, namespace: Other}`,
		Says:     []string{"spec.connectionGroupRef.namespace", `"Other" is not a valid namespace name`},
	},
	"the namespace of a distribution is a name": {
		Accepted: `{distributionId: null, distributionRef: {name: main, namespace: other}}`,
		Refused:  `{distributionId: null, distributionRef: {name: main, namespace: other/one}}`,
		Says:     []string{"spec.distributionRef.namespace", `"other/one" is not a valid namespace name`},
	},
	"a distribution is named by its ID and not by its ARN or domain name": {
		Accepted: `distributionId: E1A2B3C4D5E6F7`,
		Refused:  `distributionId: d111111abcdef8.cloudfront`,
		Says:     []string{"spec.distributionId", `"d111111abcdef8.cloudfront" is not a distribution ID`, "use the ID"},
	},
	"the ID of a distribution is short": {
		Accepted: "distributionId: " + strings.Repeat("E", 32),
		Refused:  "distributionId: " + strings.Repeat("E", 33),
		Says:     []string{"spec.distributionId", "Too long", "32"},
	},
	"enabled is true or false": {
		Accepted: `enabled: false`,
		Refused:  `enabled: "yes"`,
		Says:     []string{"spec.enabled", "boolean"},
	},
	"a connection group is named by its ID": {
		Accepted: `connectionGroupId: cg_2whCJoXMYCjHcxaLGrkllvyABC`,
		Refused:  `connectionGroupId: my-group`,
		Says:     []string{"spec.connectionGroupId", `"my-group" is not a connection group ID`, "use the ID"},
	},
	"a parameter has a name that CloudFront takes": {
		Accepted: `parameters: [{name: Tenant_name-1, value: x}]`,
		Refused:  `parameters: [{name: tenant.name, value: x}]`,
		Says:     []string{"spec.parameters[0].name", `"tenant.name" is not a parameter name`, "use letters, digits, hyphens and underscores"},
	},
	"the name of a parameter has at most 128 characters": {
		Accepted: "parameters: [{name: " + strings.Repeat("n", 128) + ", value: x}]",
		Refused:  "parameters: [{name: " + strings.Repeat("n", 129) + ", value: x}]",
		Says:     []string{"spec.parameters[0].name", "Too long", "128"},
	},
	"a parameter has a value": {
		Accepted: `parameters: [{name: tier, value: gold}]`,
		Refused:  `parameters: [{name: tier}]`,
		Says:     []string{"spec.parameters[0].value", "Required"},
	},
	"the value of a parameter is not empty": {
		Accepted: `parameters: [{name: tier, value: x}]`,
		Refused:  `parameters: [{name: tier, value: ""}]`,
		Says:     []string{"spec.parameters[0].value", "at least 1"},
	},
	"the value of a parameter has at most 256 characters": {
		Accepted: "parameters: [{name: tier, value: " + strings.Repeat("v", 256) + "}]",
		Refused:  "parameters: [{name: tier, value: " + strings.Repeat("v", 257) + "}]",
		Says:     []string{"spec.parameters[0].value", "Too long", "256"},
	},
	"a parameter is given once": {
		Accepted: `parameters: [{name: tier, value: a}, {name: origin, value: a}]`,
		Refused:  `parameters: [{name: tier, value: a}, {name: tier, value: b}]`,
		Says:     []string{"spec.parameters[1]", "Duplicate value", "tier"},
	},
	"a tenant has at most 50 parameters": {
		Accepted: list("parameters", 50, "{name: p%d, value: x}"),
		Refused:  list("parameters", 51, "{name: p%d, value: x}"),
		Says:     []string{"spec.parameters", "Too many: 51", "at most 50"},
	},
	"the action on the web ACL is one of two": {
		Accepted: `customizations: {webAcl: {action: disable}}`,
		Refused:  `customizations: {webAcl: {action: remove}}`,
		Says:     []string{"spec.customizations.webAcl.action", `"remove"`, `"override", "disable"`},
	},
	"a web ACL has global scope": {
		Accepted: `customizations: {webAcl: {action: override, arn: "arn:aws-cn:wafv2:us-east-1:111122223333:global/webacl/a/b"}}`,
		Refused:  `customizations: {webAcl: {action: override, arn: "arn:aws:wafv2:eu-west-1:111122223333:regional/webacl/a/b"}}`,
		Says:     []string{"spec.customizations.webAcl.arn", "eu-west-1", "only WAFv2 web ACLs with scope CLOUDFRONT"},
	},
	"a web ACL is not one of WAF Classic": {
		Accepted: `customizations: {webAcl: {action: override, arn: ` + limits.Quote(webACL) + `}}`,
		Refused:  `customizations: {webAcl: {action: override, arn: 0f0e0d0c-0000-4000-8000-000000000002}}`,
		Says:     []string{"spec.customizations.webAcl.arn", "is not the ARN of a global web ACL"},
	},
	"a certificate is named": {
		Accepted: `customizations: {certificate: {arn: ` + limits.Quote(certificate) + `}}`,
		Refused:  `customizations: {certificate: {}}`,
		Says:     []string{"spec.customizations.certificate.arn", "Required"},
	},
	"a certificate is in us-east-1": {
		Accepted: `customizations: {certificate: {arn: ` + limits.Quote(certificate) + `}}`,
		Refused:  `customizations: {certificate: {arn: ` + limits.Quote(strings.Replace(certificate, "us-east-1", "eu-central-1", 1)) + `}}`,
		Says:     []string{"spec.customizations.certificate.arn", "eu-central-1", "us-east-1, the only region", "request or import the certificate there"},
	},
	"a certificate may be in any partition": {
		Accepted: `customizations: {certificate: {arn: ` + limits.Quote(strings.Replace(certificate, "arn:aws:", "arn:aws-us-gov:", 1)) + `}}`,
		Refused:  `customizations: {certificate: {arn: ` + limits.Quote(strings.Replace(certificate, "arn:aws:", "arn:azure:", 1)) + `}}`,
		Says:     []string{"spec.customizations.certificate.arn", "is not the ARN of an ACM certificate"},
	},
	"a certificate is one of ACM and not of IAM": {
		Accepted: `customizations: {certificate: {arn: ` + limits.Quote(certificate) + `}}`,
		Refused:  `customizations: {certificate: {arn: "arn:aws:iam::111122223333:server-certificate/shop"}}`,
		Says:     []string{"spec.customizations.certificate.arn", "is not the ARN of an ACM certificate"},
	},
	"the type of a geographic restriction is one of three": {
		Accepted: `customizations: {geoRestrictions: {restrictionType: none}}`,
		Refused:  `customizations: {geoRestrictions: {restrictionType: allowlist, locations: [DE]}}`,
		Says:     []string{"spec.customizations.geoRestrictions.restrictionType", `"allowlist"`, `"none", "whitelist", "blacklist"`},
	},
	"a country is in the ISO list": {
		Accepted: `customizations: {geoRestrictions: {restrictionType: whitelist, locations: [GB, DE, XK]}}`,
		Refused:  `customizations: {geoRestrictions: {restrictionType: whitelist, locations: [UK, DE]}}`,
		Says:     []string{"spec.customizations.geoRestrictions.locations[0]", `"UK" is not an ISO 3166-1 alpha-2 country code`, "such as DE, GB or US"},
	},
	"a country is in capital letters": {
		Accepted: `customizations: {geoRestrictions: {restrictionType: whitelist, locations: [DE]}}`,
		Refused:  `customizations: {geoRestrictions: {restrictionType: whitelist, locations: [de]}}`,
		Says:     []string{"spec.customizations.geoRestrictions.locations[0]", `"de" is not an ISO`, "two capital letters"},
	},
	"a country is listed once": {
		Accepted: `customizations: {geoRestrictions: {restrictionType: blacklist, locations: [DE, FR]}}`,
		Refused:  `customizations: {geoRestrictions: {restrictionType: blacklist, locations: [DE, DE]}}`,
		Says:     []string{"spec.customizations.geoRestrictions.locations[1]", "Duplicate value", "DE"},
	},
	"the host of the validation token is one of two": {
		Accepted: `managedCertificateRequest: {validationTokenHost: cloudfront}`,
		Refused:  `managedCertificateRequest: {validationTokenHost: domain}`,
		Says:     []string{"spec.managedCertificateRequest.validationTokenHost", `"domain"`, `"cloudfront", "self-hosted"`},
	},
	"transparency logging is enabled or disabled": {
		Accepted: `managedCertificateRequest: {validationTokenHost: cloudfront, certificateTransparencyLoggingPreference: disabled}`,
		Refused:  `managedCertificateRequest: {validationTokenHost: cloudfront, certificateTransparencyLoggingPreference: "off"}`,
		Says:     []string{"spec.managedCertificateRequest.certificateTransparencyLoggingPreference", `"off"`, `"enabled", "disabled"`},
	},
	"a tag has a key": {
		Accepted: `tags: [{key: team, value: edge}]`,
		Refused:  `tags: [{value: edge}]`,
		Says:     []string{"spec.tags[0].key", "Required"},
	},
	"the key of a tag has characters that AWS takes": {
		Accepted: `tags: [{key: "Größe 1_.:/=+-@", value: x}]`,
		Refused:  `tags: [{key: "team#1", value: x}]`,
		Says:     []string{"spec.tags[0].key", `"team#1" has a character that AWS does not allow in a tag key`, "use letters, digits, spaces"},
	},
	"the key of a tag has at most 128 characters": {
		Accepted: "tags: [{key: " + strings.Repeat("k", 128) + "}]",
		Refused:  "tags: [{key: " + strings.Repeat("k", 129) + "}]",
		Says:     []string{"spec.tags[0].key", "Too long", "128"},
	},
	"the value of a tag has characters that AWS takes": {
		Accepted: `tags: [{key: team, value: ""}, {key: mail, value: "edge+team@example.com / Zürich"}]`,
		Refused:  `tags: [{key: team, value: "a;b"}]`,
		Says:     []string{"spec.tags[0].value", `"a;b" has a character that AWS does not allow in a tag value`, "use letters, digits, spaces"},
	},
	"the value of a tag has at most 256 characters": {
		Accepted: "tags: [{key: team, value: " + strings.Repeat("v", 256) + "}]",
		Refused:  "tags: [{key: team, value: " + strings.Repeat("v", 257) + "}]",
		Says:     []string{"spec.tags[0].value", "Too long", "256"},
	},
	"the prefix of AWS is not for tags of users": {
		Accepted: `tags: [{key: "awsome:team", value: x}]`,
		Refused:  `tags: [{key: "AWS:team", value: x}]`,
		Says:     []string{"spec.tags[0].key", `"AWS:team" starts with aws:`, "use another key"},
	},
	"the prefix of the operator is not for tags of users": {
		Accepted: `tags: [{key: "example.com/uid", value: x}]`,
		Refused:  `tags: [{key: cloudfront-tenant-operator.io/uid, value: x}]`,
		Says:     []string{"spec.tags[0].key", "owner tags of the operator", "use another key"},
	},
	"a tag is given once": {
		Accepted: `tags: [{key: team, value: a}, {key: Team, value: a}]`,
		Refused:  `tags: [{key: team, value: a}, {key: team, value: b}]`,
		Says:     []string{"spec.tags[1]", "Duplicate value", "team"},
	},
	"a tenant has at most 46 tags, for four are set by the operator": {
		Accepted: list("tags", 46, "{key: k%d, value: x}"),
		Refused:  list("tags", 47, "{key: k%d, value: x}"),
		Says:     []string{"spec.tags", "Too many: 47", "at most 46"},
	},
	"a DNS provider is one that the operator knows": {
		Accepted: `dns: {provider: route53}`,
		Refused:  `dns: {provider: bind}`,
		Says:     []string{"spec.dns.provider", `"bind"`, `"route53"`},
	},
	"a hosted zone is named by its bare ID": {
		Accepted: `dns: {provider: route53, hostedZoneId: Z0123456789ABC}`,
		Refused:  `dns: {provider: route53, hostedZoneId: /hostedzone/Z0123456789ABC}`,
		Says:     []string{"spec.dns.hostedZoneId", `"/hostedzone/Z0123456789ABC" is not a hosted zone ID`, "without the prefix /hostedzone/"},
	},
	"a zone is named as it stands in DNS": {
		Accepted: `dns: {provider: route53, zoneName: _x.xn--bcher-kva.example}`,
		Refused:  `dns: {provider: route53, zoneName: Example.com.}`,
		Says:     []string{"spec.dns.zoneName", `"Example.com." is not a zone name`, "lower case", "without a dot at the end"},
	},
	"a record type is one that is known": {
		Accepted: `dns: {provider: route53, recordType: Alias}`,
		Refused:  `dns: {provider: route53, recordType: A}`,
		Says:     []string{"spec.dns.recordType", `"A"`, `"Alias"`, `"CNAME"`},
	},
	"the TTL is at least 60 seconds": {
		Accepted: `dns: {provider: route53, ttl: 60}`,
		Refused:  `dns: {provider: route53, ttl: 59}`,
		Says:     []string{"spec.dns.ttl", "59", "greater than or equal to 60"},
	},
	"the TTL is at most two days": {
		Accepted: `dns: {provider: route53, ttl: 172800}`,
		Refused:  `dns: {provider: route53, ttl: 172801}`,
		Says:     []string{"spec.dns.ttl", "172801", "less than or equal to 172800"},
	},
	"a role for DNS is an IAM role": {
		Accepted: `dns: {provider: route53, assumeRoleArn: "arn:aws:iam::111122223333:role/dns/edge"}`,
		Refused:  `dns: {provider: route53, assumeRoleArn: "arn:aws:iam::111122223333:user/edge"}`,
		Says:     []string{"spec.dns.assumeRoleArn", "user/edge", "is not the ARN of an IAM role"},
	},
	"the drift policy is one of three": {
		Accepted: `driftPolicy: suspend`,
		Refused:  `driftPolicy: Enforce`,
		Says:     []string{"spec.driftPolicy", `"Enforce"`, `"enforce", "report", "suspend"`},
	},
	"the deletion policy is one of two": {
		Accepted: `deletionPolicy: Retain`,
		Refused:  `deletionPolicy: Orphan`,
		Says:     []string{"spec.deletionPolicy", `"Orphan"`, `"Delete", "Retain"`},
	},
	"the adoption policy is one of three": {
		Accepted: `adoptionPolicy: IfUnowned`,
		Refused:  `adoptionPolicy: Always`,
		Says:     []string{"spec.adoptionPolicy", `"Always"`, `"Never", "IfUnowned", "Force"`},
	},
	"the ID of a distribution is not empty": {
		Accepted: `distributionId: E`,
		Refused:  `distributionId: ""`,
		Says:     []string{"spec.distributionId", "at least 1"},
	},
	"the ID of a connection group is not empty": {
		Accepted: `connectionGroupId: cg_1`,
		Refused:  `connectionGroupId: ""`,
		Says:     []string{"spec.connectionGroupId", "at least 1"},
	},
	"the ID of a connection group has at most 64 characters": {
		Accepted: "connectionGroupId: cg_" + strings.Repeat("x", 61),
		Refused:  "connectionGroupId: cg_" + strings.Repeat("x", 62),
		Says:     []string{"spec.connectionGroupId", "Too long", "64"},
	},
	"a parameter has a name": {
		Accepted: `parameters: [{name: p, value: x}]`,
		Refused:  `parameters: [{value: x}]`,
		Says:     []string{"spec.parameters[0].name", "Required"},
	},
	"the name of a parameter is not empty": {
		Accepted: `parameters: [{name: p, value: x}]`,
		Refused:  `parameters: [{name: "", value: x}]`,
		Says:     []string{"spec.parameters[0].name", "at least 1"},
	},
	"the ARN of a web ACL is not empty": {
		Accepted: `customizations: {webAcl: {action: override, arn: ` + limits.Quote(webACL) + `}}`,
		Refused:  `customizations: {webAcl: {action: override, arn: ""}}`,
		Says:     []string{"spec.customizations.webAcl.arn", "at least 1"},
	},
	"the ARN of a web ACL has at most 2048 characters": {
		Accepted: `customizations: {webAcl: {action: override, arn: ` + limits.Quote(limits.Padded(webACL, 2048)) + `}}`,
		Refused:  `customizations: {webAcl: {action: override, arn: ` + limits.Quote(limits.Padded(webACL, 2049)) + `}}`,
		Says:     []string{"spec.customizations.webAcl.arn", "Too long", "2048"},
	},
	"the ARN of a certificate is not empty": {
		Accepted: `customizations: {certificate: {arn: ` + limits.Quote(certificate) + `}}`,
		Refused:  `customizations: {certificate: {arn: ""}}`,
		Says:     []string{"spec.customizations.certificate.arn", "at least 1"},
	},
	"the ARN of a certificate has at most 2048 characters": {
		Accepted: `customizations: {certificate: {arn: ` + limits.Quote(certificate) + `}}`,
		Refused:  `customizations: {certificate: {arn: ` + limits.Quote(limits.Padded(certificate, 2049)) + `}}`,
		Says:     []string{"spec.customizations.certificate.arn", "Too long", "2048"},
	},
	"a geographic restriction names at most 300 countries": {
		Accepted: `customizations: {geoRestrictions: {restrictionType: whitelist, locations: [DE, FR]}}`,
		Refused:  `customizations: {geoRestrictions: {restrictionType: whitelist, ` + list("locations", 301, "C%d") + `}}`,
		Says:     []string{"spec.customizations.geoRestrictions.locations", "Too many: 301", "at most 300"},
	},
	"a country is not empty": {
		Accepted: `customizations: {geoRestrictions: {restrictionType: whitelist, locations: [DE]}}`,
		Refused:  `customizations: {geoRestrictions: {restrictionType: whitelist, locations: [""]}}`,
		Says:     []string{"spec.customizations.geoRestrictions.locations[0]", "at least 2"},
	},
	"a country has two letters": {
		Accepted: `customizations: {geoRestrictions: {restrictionType: whitelist, locations: [DE]}}`,
		Refused:  `customizations: {geoRestrictions: {restrictionType: whitelist, locations: [DEU]}}`,
		Says:     []string{"spec.customizations.geoRestrictions.locations[0]", "Too long", "2"},
	},
	"the key of a tag is not empty": {
		Accepted: `tags: [{key: t}]`,
		Refused:  `tags: [{key: ""}]`,
		Says:     []string{"spec.tags[0].key", "at least 1"},
	},
	"an account has the name that its configuration allows": {
		Accepted: `dns: {provider: cloudflare, account: eu-1}`,
		Refused:  `dns: {provider: cloudflare, account: EU_1}`,
		Says:     []string{"spec.dns.account", `"EU_1" is not the name of an account`, "inner hyphens"},
	},
	"the name of an account is not empty": {
		Accepted: `dns: {provider: cloudflare, account: a}`,
		Refused:  `dns: {provider: cloudflare, account: ""}`,
		Says:     []string{"spec.dns.account", "at least 1"},
	},
	"the name of an account has at most 63 characters": {
		Accepted: "dns: {provider: cloudflare, account: " + strings.Repeat("a", 63) + "}",
		Refused:  "dns: {provider: cloudflare, account: " + strings.Repeat("a", 64) + "}",
		Says:     []string{"spec.dns.account", "Too long", "63"},
	},
	"the ID of a hosted zone is not empty": {
		Accepted: `dns: {provider: route53, hostedZoneId: Z1}`,
		Refused:  `dns: {provider: route53, hostedZoneId: ""}`,
		Says:     []string{"spec.dns.hostedZoneId", "at least 1"},
	},
	"the ID of a hosted zone has at most 32 characters": {
		Accepted: "dns: {provider: route53, hostedZoneId: " + strings.Repeat("Z", 32) + "}",
		Refused:  "dns: {provider: route53, hostedZoneId: " + strings.Repeat("Z", 33) + "}",
		Says:     []string{"spec.dns.hostedZoneId", "Too long", "32"},
	},
	"the name of a zone is not empty": {
		Accepted: `dns: {provider: route53, zoneName: io}`,
		Refused:  `dns: {provider: route53, zoneName: ""}`,
		Says:     []string{"spec.dns.zoneName", "at least 1"},
	},
	"the name of a zone has at most 253 characters": {
		Accepted: "dns: {provider: route53, zoneName: " + strings.Repeat("a123456789.", 22) + "example.com}",
		Refused:  "dns: {provider: route53, zoneName: " + strings.Repeat("a123456789.", 22) + "examples.com}",
		Says:     []string{"spec.dns.zoneName", "Too long", "253"},
	},
	"a key value store is named by its ARN": {
		Accepted: `keyValues: {value: v, storeArn: ` + limits.Quote(keyStore) + `}`,
		Refused:  `keyValues: {value: v, storeArn: routes}`,
		Says:     []string{"spec.keyValues.storeArn", `"routes" is not the ARN of a key value store`, "key-value-store/<id>"},
	},
	"the ARN of a key value store is not empty": {
		Accepted: `keyValues: {value: v, storeArn: ` + limits.Quote(keyStore) + `}`,
		Refused:  `keyValues: {value: v, storeArn: ""}`,
		Says:     []string{"spec.keyValues.storeArn", "at least 1"},
	},
	"the ARN of a key value store has at most 200 characters": {
		Accepted: `keyValues: {value: v, storeArn: ` + limits.Quote(limits.Padded(keyStore, 200)) + `}`,
		Refused:  `keyValues: {value: v, storeArn: ` + limits.Quote(limits.Padded(keyStore, 201)) + `}`,
		Says:     []string{"spec.keyValues.storeArn", "Too long", "200"},
	},
	"a value is not empty": {
		Accepted: `keyValues: {value: v, storeArn: ` + limits.Quote(keyStore) + `}`,
		Refused:  `keyValues: {value: "", storeArn: ` + limits.Quote(keyStore) + `}`,
		Says:     []string{"spec.keyValues.value", "at least 1"},
	},
	"a value has at most 1024 characters": {
		Accepted: `keyValues: {value: ` + strings.Repeat("v", 1024) + `, storeArn: ` + limits.Quote(keyStore) + `}`,
		Refused:  `keyValues: {value: ` + strings.Repeat("v", 1025) + `, storeArn: ` + limits.Quote(keyStore) + `}`,
		Says:     []string{"spec.keyValues.value", "Too long", "1024"},
	},
	"a role for DNS is not empty": {
		Accepted: `dns: {provider: route53, assumeRoleArn: ` + limits.Quote(role) + `}`,
		Refused:  `dns: {provider: route53, assumeRoleArn: ""}`,
		Says:     []string{"spec.dns.assumeRoleArn", "at least 1"},
	},
	"a role for DNS has at most 640 characters": {
		Accepted: `dns: {provider: route53, assumeRoleArn: ` + limits.Quote(limits.Padded(role, 640)) + `}`,
		Refused:  `dns: {provider: route53, assumeRoleArn: ` + limits.Quote(limits.Padded(role, 641)) + `}`,
		Says:     []string{"spec.dns.assumeRoleArn", "Too long", "640"},
	},
}

func TestValidation(t *testing.T) {
	crds := limits.CRDs(t, filepath.Join("..", "..", "..", "config", "crd"), v1alpha1.GroupName)
	for kind := range crds {
		if _, ok := testedKinds[kind]; !ok {
			t.Errorf("the limits of %s are not tested: add it to testedKinds", kind)
		}
	}
	for kind := range testedKinds {
		t.Run(kind, func(t *testing.T) { tested(kind).Show(t, kube, namespaceOf(t, crds[kind]), crds[kind]) })
	}
}

// namespaceOf is a new namespace, or none for a kind that is in none.
func namespaceOf(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition) string {
	t.Helper()
	if crd.Spec.Scope == apiextensionsv1.ClusterScoped {
		return ""
	}
	return newNamespace(t)
}

// tested is a kind of this package.
func tested(kind string) limits.Kind {
	k := testedKinds[kind]
	k.GroupVersionKind = v1alpha1.SchemeGroupVersion.WithKind(kind)
	return k
}

// try asks the API server whether it would take the object.
func try(t *testing.T, kind, namespace, fields string) error {
	t.Helper()
	return tested(kind).Try(t, kube, namespace, limits.Case{}, fields)
}

// newObject is the least valid object of the kind with the given fields of spec set.
func newObject(t *testing.T, kind, namespace, name, fields string) *unstructured.Unstructured {
	t.Helper()
	return tested(kind).Object(t, namespace, name, fields)
}

// A value that breaks one rule is refused by that one, or the reader does not know which to follow.
func TestOneMistakeMakesOneMessage(t *testing.T) {
	namespace := newNamespace(t)
	for _, domain := range []string{
		"Shop.example.com", "shop.example.com.", "shop*.example.com", "*.*.example.com", "bücher.example.com", "localhost", "my_shop.example.com", "192.0.2.1",
	} {
		t.Run(domain, func(t *testing.T) {
			err := try(t, "DistributionTenant", namespace, fmt.Sprintf("domains: [{domain: %q}]", domain))
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
		"a default can't be replaced":             {from: "", to: "store", says: `is "shop": restore that value, or delete this object and create a new one`},
		"a name can't be replaced":                {from: "store", to: "market", says: `is "store": restore that value`},
		"a name that isn't the default can't go":  {from: "store", to: "", says: `is "store": restore that value`},
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

// Members that CloudFront can change in place may be changed.
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

// inTemplate makes the same cases of a template.
func inTemplate(cases map[string]limits.Case) map[string]limits.Case {
	nested := map[string]limits.Case{}
	for name, tc := range cases {
		says := slices.Clone(tc.Says)
		says[0] = strings.Replace(says[0], "spec.", "spec.template.spec.", 1)
		nested["template: "+name] = limits.Case{
			Accepted: "template: {spec: " + inBraces(tc.Accepted) + "}",
			Refused:  "template: {spec: " + inBraces(tc.Refused) + "}",
			Says:     says,
		}
	}
	return nested
}

func inBraces(fields string) string {
	if strings.HasPrefix(fields, "{") {
		return fields
	}
	return "{" + fields + "}"
}

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

// Everything in an object goes through the typed form and back without a loss, or the operator
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
		"Invalidation": &v1alpha1.Invalidation{},
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
