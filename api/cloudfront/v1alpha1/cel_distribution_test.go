package v1alpha1_test

import (
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/limits"
)

const (
	cachePolicy = "658327ea-f89d-4fab-a63d-7e88639e58f6"

	leastOrigin       = `{id: app, domainName: app.example.com, customOriginConfig: {}}`
	leastBehavior     = `{targetOriginId: app, viewerProtocolPolicy: redirect-to-https, cachePolicyId: ` + cachePolicy + `}`
	leastDistribution = `{origins: [` + leastOrigin + `], defaultCacheBehavior: ` + leastBehavior + `}`
	leastGroupOfTwo   = `{id: both, failoverCriteria: {statusCodes: [503]}, members: [{originId: app}, {originId: spare}]}`
	leastParameter    = `{name: tenant, definition: {stringSchema: {required: true}}}`
	allMethods        = `[GET, HEAD, OPTIONS, PUT, PATCH, POST, DELETE]`
	certificateInIAM  = "ASCAEXAMPLE1"
)

// origin are the fields of a distribution with one origin, some of whose fields are set, or taken away.
func origin(fields string) string { return "origins: [" + limits.Overlay(leastOrigin, fields) + "]" }

// s3, vpc and custom are those whose origin is of that kind, with some fields of its block.
func s3(fields string) string {
	return origin("{customOriginConfig: null, s3OriginConfig: {" + fields + "}}")
}

func vpc(fields string) string {
	return origin("{customOriginConfig: null, vpcOriginConfig: " + limits.Overlay("{vpcOriginId: vo_1}", fields) + "}")
}

func custom(fields string) string { return origin("customOriginConfig: {" + fields + "}") }

// pair are the fields of a distribution with two origins and a group of them.
func pair(group string) string {
	return `{origins: [` + leastOrigin + `, {id: spare, domainName: spare.example.com, customOriginConfig: {}}], originGroups: [` + limits.Overlay(leastGroupOfTwo, group) + `]}`
}

func defaultBehavior(fields string) string {
	return "defaultCacheBehavior: " + limits.Overlay(leastBehavior, fields)
}

func behavior(fields string) string {
	return "cacheBehaviors: [" + limits.Overlay(limits.Overlay(leastBehavior, "pathPattern: /x"), fields) + "]"
}

// direct are fields of a standard distribution.
func direct(fields string) string { return limits.Overlay("connectionMode: direct", fields) }

func viewerCertificate(fields string) string {
	return "viewerCertificate: " + limits.Overlay("acmCertificateArn: "+limits.Quote(certificate), fields)
}

func errorResponse(fields string) string {
	return "customErrorResponses: [" + limits.Overlay("errorCode: 404", fields) + "]"
}

func parameter(fields string) string {
	return "tenantConfig: {parameterDefinitions: [" + limits.Overlay(leastParameter, fields) + "]}"
}

func stringSchema(fields string) string {
	return parameter("definition: {stringSchema: " + limits.Overlay("required: false", fields) + "}")
}

func logs(fields string) string {
	return direct("logging: " + limits.Overlay("bucket: logs.s3.amazonaws.com", fields))
}

func geo(fields string) string { return "restrictions: {geoRestriction: {" + fields + "}}" }

// distributionCases are those of a Distribution.
func distributionCases() map[string]limits.Case {
	return limits.Merged(
		modeCases, identityCases, originRules, parameterRules, groupOfOriginsRules, viewerRules, directRules,
		originBounds(), behaviorCases("defaultCacheBehavior", defaultBehavior), behaviorCases("cacheBehaviors[0]", behavior),
		distributionBounds(), resourceCases(),
	)
}

// modeCases show what only one of the two kinds of distributions can have.
var modeCases = map[string]limits.Case{
	"a distribution serves tenants or viewers": {
		Accepted: `connectionMode: tenant-only`,
		Refused:  `connectionMode: multi-tenant`,
		Says:     []string{"spec.connectionMode", `"multi-tenant"`, `"tenant-only", "direct"`},
	},
	"a multi-tenant distribution doesn't become a standard one": {
		Stored:   `connectionMode: tenant-only`,
		Accepted: `{connectionMode: tenant-only, comment: changed}`,
		Refused:  `connectionMode: direct`,
		Says:     []string{"spec.connectionMode", `is "tenant-only": restore that value, or create a new object`},
	},
	"a standard distribution doesn't become a multi-tenant one by leaving the mode out": {
		Stored:   `connectionMode: direct`,
		Accepted: `{connectionMode: direct, comment: changed}`,
		Refused:  `comment: changed`,
		Says:     []string{"spec.connectionMode", `is "direct": restore that value`},
	},
	"a multi-tenant distribution has no aliases": {
		Accepted: `aliases: []`,
		Refused:  `aliases: [shop.example.com]`,
		Says:     []string{"spec.aliases", "a multi-tenant distribution has no aliases", "DistributionTenant", "connectionMode direct"},
	},
	"a multi-tenant distribution has no price class": {
		Accepted: direct(`priceClass: PriceClass_100`),
		Refused:  `priceClass: PriceClass_100`,
		Says:     []string{"spec.priceClass", "does not support price classes for multi-tenant distributions", `remove "PriceClass_100"`, "connectionMode direct"},
	},
	"a multi-tenant distribution leaves IPv6 to the group": {
		Accepted: direct(`ipv6Enabled: false`),
		Refused:  `ipv6Enabled: false`,
		Says:     []string{"spec.ipv6Enabled", "a setting of the connection group", "set it on the ConnectionGroup"},
	},
	"a multi-tenant distribution has no legacy logs": {
		Accepted: logs(`{}`),
		Refused:  `logging: {bucket: logs.s3.amazonaws.com}`,
		Says:     []string{"spec.logging", "does not support legacy standard logging for multi-tenant distributions", "standard logging (v2)"},
	},
	"a multi-tenant distribution has no certificate of IAM": {
		Accepted: direct(`viewerCertificate: {iamCertificateId: ` + certificateInIAM + `}`),
		Refused:  `viewerCertificate: {iamCertificateId: ` + certificateInIAM + `}`,
		Says:     []string{"spec.viewerCertificate.iamCertificateId", `"` + certificateInIAM + `" is an IAM certificate`, "use acmCertificateArn"},
	},
	"a multi-tenant distribution has no addresses of its own": {
		Accepted: direct(viewerCertificate(`{sslSupportMethod: vip, minimumProtocolVersion: TLSv1}`)),
		Refused:  viewerCertificate(`{sslSupportMethod: vip, minimumProtocolVersion: TLSv1}`),
		Says:     []string{"spec.viewerCertificate.sslSupportMethod", `"vip" requires dedicated IP addresses`, "use sni-only"},
	},
	"a multi-tenant distribution has no static addresses": {
		Accepted: viewerCertificate(`sslSupportMethod: sni-only`),
		Refused:  viewerCertificate(`sslSupportMethod: static-ip`),
		Says:     []string{"spec.viewerCertificate.sslSupportMethod", `"static-ip" requires dedicated IP addresses`},
	},
	"a standard distribution has no parameters for tenants": {
		Accepted: parameter(`{}`),
		Refused:  direct(parameter(`{}`)),
		Says:     []string{"spec.tenantConfig", "only multi-tenant distributions have parameters", "connectionMode tenant-only"},
	},
	"a distribution has no list of anycast addresses: its group has": {
		Accepted: `{}`,
		Refused:  `anycastIpListId: aip_1`,
		Says:     []string{`unknown field "spec.anycastIpListId"`},
	},
	"signers are named by key groups": {
		Accepted: defaultBehavior(`trustedKeyGroups: [36c1a1c2-0000-4000-8000-000000000001]`),
		Refused:  defaultBehavior(`trustedSigners: ["111122223333"]`),
		Says:     []string{`unknown field "spec.defaultCacheBehavior.trustedSigners"`},
	},
	"times to live are those of the cache policy": {
		Accepted: defaultBehavior(`{}`),
		Refused:  defaultBehavior(`defaultTTL: 60`),
		Says:     []string{`unknown field "spec.defaultCacheBehavior.defaultTTL"`},
	},
	"a bucket is read with an origin access control and not with an identity": {
		Accepted: origin(`{customOriginConfig: null, s3OriginConfig: {}, originAccessControlId: E1A2B3C4D5E6F7}`),
		Refused:  s3(`originAccessIdentity: origin-access-identity/cloudfront/E1`),
		Says:     []string{`unknown field "spec.origins[0].s3OriginConfig.originAccessIdentity"`},
	},
}

// identityCases are about which distribution an object represents.
var identityCases = map[string]limits.Case{
	"a distribution that is adopted is named by its ID": {
		Accepted: `{distributionId: E1A2B3C4D5E6F7, adoptionPolicy: IfUnowned}`,
		Refused:  `{distributionId: d111111abcdef8.cloudfront, adoptionPolicy: IfUnowned}`,
		Says:     []string{"spec.distributionId", `"d111111abcdef8.cloudfront" is not a distribution ID`, "not the ARN or the domain name"},
	},
	"a new object adopts nothing with Never": {
		Accepted: `{distributionId: E1A2B3C4D5E6F7, adoptionPolicy: Force}`,
		Refused:  `{distributionId: E1A2B3C4D5E6F7, adoptionPolicy: Never}`,
		Says:     []string{"spec.adoptionPolicy", `distributionId "E1A2B3C4D5E6F7" is an existing distribution`, "Never adopts nothing", "IfUnowned", "Force", "remove distributionId"},
	},
	"Never is what adoptionPolicy is by default": {
		Accepted: `adoptionPolicy: Never`,
		Refused:  `distributionId: E1A2B3C4D5E6F7`,
		Says:     []string{"spec.adoptionPolicy", "Never adopts nothing"},
	},
	"once adopted, nothing is left to adopt": {
		Stored:   `{distributionId: E1A2B3C4D5E6F7, adoptionPolicy: IfUnowned}`,
		Accepted: `distributionId: E1A2B3C4D5E6F7`,
		Refused:  `distributionId: ""`,
		Says:     []string{"spec.distributionId", "at least 1"},
	},
	"an object stands for one distribution": {
		Stored:   `{distributionId: E1A2B3C4D5E6F7, adoptionPolicy: IfUnowned}`,
		Accepted: `{distributionId: E1A2B3C4D5E6F7, adoptionPolicy: IfUnowned, comment: changed}`,
		Refused:  `{distributionId: E7F6E5D4C3B2A1, adoptionPolicy: IfUnowned}`,
		Says:     []string{"spec.distributionId", `"E7F6E5D4C3B2A1" differs from the distribution "E1A2B3C4D5E6F7"`, "restore that ID, or create a new object"},
	},
	"a created distribution is not exchanged for another": {
		Stored:   `{}`,
		Accepted: `comment: changed`,
		Refused:  `{distributionId: E1A2B3C4D5E6F7, adoptionPolicy: IfUnowned}`,
		Says:     []string{"spec.distributionId", "distributionId was absent: restore that", "deletionPolicy Retain"},
	},
	"an adopted distribution is not exchanged for a new one": {
		Stored:   `{distributionId: E1A2B3C4D5E6F7, adoptionPolicy: IfUnowned}`,
		Accepted: `{distributionId: E1A2B3C4D5E6F7, adoptionPolicy: Force}`,
		Refused:  `{}`,
		Says:     []string{"spec.distributionId", `distributionId was "E1A2B3C4D5E6F7": restore that`},
	},
	"a caller reference is the operator's": {
		Accepted: `{}`,
		Refused:  `callerReference: mine`,
		Says:     []string{`unknown field "spec.callerReference"`},
	},
	"a distribution is enabled or not": {
		Accepted: `enabled: false`,
		Refused:  `enabled: "no"`,
		Says:     []string{"spec.enabled", "boolean"},
	},
}

var originRules = map[string]limits.Case{
	"a distribution has an origin": {
		Accepted: origin(`{}`),
		Refused:  `origins: []`,
		Says:     []string{"spec.origins", "at least 1"},
	},
	"origins are required": {
		Accepted: origin(`{}`),
		Refused:  `origins: null`,
		Says:     []string{"spec.origins", "Required"},
	},
	"an origin has an id of its own": {
		Accepted: `origins: [` + leastOrigin + `, {id: files, domainName: b.s3.amazonaws.com, s3OriginConfig: {}}]`,
		Refused:  `origins: [` + leastOrigin + `, {id: app, domainName: b.s3.amazonaws.com, s3OriginConfig: {}}]`,
		Says:     []string{"spec.origins[1]", "Duplicate value", "app"},
	},
	"an origin is of some kind": {
		Accepted: s3(``),
		Refused:  origin(`customOriginConfig: null`),
		Says:     []string{"spec.origins[0]", `the origin "app" has none of customOriginConfig`, "set exactly one of them"},
	},
	"an origin is of one kind only": {
		Accepted: vpc(`{}`),
		Refused:  origin(`s3OriginConfig: {}`),
		Says:     []string{"spec.origins[0]", `the origin "app" has more than one of customOriginConfig`, "set exactly one of them"},
	},
	"an origin is named by a DNS name and not by a URL": {
		Accepted: origin(`domainName: bucket_1.s3.eu-central-1.amazonaws.com`),
		Refused:  origin(`domainName: "https://app.example.com/"`),
		Says:     []string{"spec.origins[0].domainName", `"https://app.example.com/" is not the DNS name of an origin`, "no scheme, port or path"},
	},
	"the name of a parameter is closed": {
		Accepted: limits.Overlay(origin(`domainName: "{{tenant}}.example.com"`), parameter(`{}`)),
		Refused:  limits.Overlay(origin(`domainName: "{{tenant}.example.com"`), parameter(`{}`)),
		Says:     []string{"spec.origins[0].domainName", "a parameter is written {{name}}"},
	},
	"an origin path starts with a slash": {
		Accepted: origin(`originPath: /production`),
		Refused:  origin(`originPath: production`),
		Says:     []string{"spec.origins[0].originPath", `"production" is not an origin path`, "must start with a slash"},
	},
	"an origin path doesn't end with a slash": {
		Accepted: origin(`originPath: /production/v1`),
		Refused:  origin(`originPath: /production/`),
		Says:     []string{"spec.origins[0].originPath", `"/production/" is not an origin path`, "not end with one"},
	},
	"an answer is not cut off before its parts": {
		Accepted: origin(`{customOriginConfig: {originReadTimeout: 60}, responseCompletionTimeout: 60}`),
		Refused:  origin(`{customOriginConfig: {originReadTimeout: 60}, responseCompletionTimeout: 59}`),
		Says:     []string{"spec.origins[0].responseCompletionTimeout", `of the origin "app" is less than originReadTimeout`, "raise it, or lower originReadTimeout"},
	},
	"an answer is not cut off before its parts, also by default": {
		Accepted: origin(`responseCompletionTimeout: 30`),
		Refused:  origin(`responseCompletionTimeout: 29`),
		Says:     []string{"spec.origins[0].responseCompletionTimeout", "30 seconds if not set"},
	},
	"an answer of a bucket is not cut off before its parts": {
		Accepted: origin(`{customOriginConfig: null, s3OriginConfig: {originReadTimeout: 20}, responseCompletionTimeout: 20}`),
		Refused:  origin(`{customOriginConfig: null, s3OriginConfig: {originReadTimeout: 20}, responseCompletionTimeout: 19}`),
		Says:     []string{"spec.origins[0].responseCompletionTimeout"},
	},
	"an answer of a private server is not cut off before its parts": {
		Accepted: origin(`{customOriginConfig: null, vpcOriginConfig: {vpcOriginId: vo_1, originReadTimeout: 90}, responseCompletionTimeout: 90}`),
		Refused:  origin(`{customOriginConfig: null, vpcOriginConfig: {vpcOriginId: vo_1, originReadTimeout: 90}, responseCompletionTimeout: 89}`),
		Says:     []string{"spec.origins[0].responseCompletionTimeout"},
	},
	"a header is given once": {
		Accepted: origin(`customHeaders: [{name: X-A, value: a}]`),
		Refused:  origin(`customHeaders: [{name: X-A, value: a}, {name: X-A, value: b}]`),
		Says:     []string{"spec.origins[0].customHeaders[1]", "Duplicate value"},
	},
	"a header has the name of one": {
		Accepted: origin(`customHeaders: [{name: X-Origin_Verify.1, value: a}]`),
		Refused:  origin(`customHeaders: [{name: "X Origin", value: a}]`),
		Says:     []string{"spec.origins[0].customHeaders[0].name", `"X Origin" is not a header name`, "use letters, digits and hyphens"},
	},
	"a header is not one that CloudFront keeps to itself": {
		Accepted: origin(`customHeaders: [{name: Hostname, value: a}, {name: Authorization, value: a}]`),
		Refused:  origin(`customHeaders: [{name: Host, value: a}]`),
		Says:     []string{"spec.origins[0].customHeaders[0].name", `"Host" is a header that CloudFront does not allow a distribution to set`, "origin request policy"},
	},
	"a header is not one of CloudFront's own": {
		Accepted: origin(`customHeaders: [{name: X-Edgeless, value: a}]`),
		Refused:  origin(`customHeaders: [{name: X-EDGE-Location, value: a}]`),
		Says:     []string{"spec.origins[0].customHeaders[0].name", `"X-EDGE-Location" is a header`},
	},
	"a port for HTTP is 80, 443 or a high one": {
		Accepted: custom(`httpPort: 1024`),
		Refused:  custom(`httpPort: 1023`),
		Says:     []string{"spec.origins[0].customOriginConfig.httpPort", "80, 443 and 1024 to 65535: use one of these"},
	},
	"a port for HTTPS is 80, 443 or a high one": {
		Accepted: custom(`httpsPort: 443`),
		Refused:  custom(`httpsPort: 444`),
		Says:     []string{"spec.origins[0].customOriginConfig.httpsPort", "80, 443 and 1024 to 65535"},
	},
	"a version of TLS is listed once": {
		Accepted: custom(`originSslProtocols: [TLSv1.1, TLSv1.2]`),
		Refused:  custom(`originSslProtocols: [TLSv1.2, TLSv1.2]`),
		Says:     []string{"spec.origins[0].customOriginConfig.originSslProtocols[1]", "Duplicate value"},
	},
	"an origin access control is named by its ID": {
		Accepted: origin(`originAccessControlId: E1A2B3C4D5E6F7`),
		Refused:  origin(`originAccessControlId: my control`),
		Says:     []string{"spec.origins[0].originAccessControlId", `"my control" is not the ID of an origin access control`, "use the ID"},
	},
	"a VPC origin is named by its ID": {
		Accepted: vpc(`vpcOriginId: vo_BQwjxxQxjCaBcQLzJUFkDM`),
		Refused:  vpc(`vpcOriginId: "arn:aws:cloudfront::111122223333:vpcorigin/vo_1"`),
		Says:     []string{"spec.origins[0].vpcOriginConfig.vpcOriginId", "is not the ID of a VPC origin", "use the ID"},
	},
	"a client certificate is in us-east-1": {
		Accepted: custom(`originMtlsConfig: {clientCertificateArn: ` + limits.Quote(certificate) + `}`),
		Refused:  custom(`originMtlsConfig: {clientCertificateArn: ` + limits.Quote(strings.Replace(certificate, "us-east-1", "eu-west-1", 1)) + `}`),
		Says:     []string{"spec.origins[0].customOriginConfig.originMtlsConfig.clientCertificateArn", "is not the ARN of an ACM certificate in us-east-1"},
	},
	"the owner of a VPC origin is an account": {
		Accepted: vpc(`ownerAccountId: "111122223333"`),
		Refused:  vpc(`ownerAccountId: "11112222333x"`),
		Says:     []string{"spec.origins[0].vpcOriginConfig.ownerAccountId", `"11112222333x" is not an AWS account ID`, "12 digits"},
	},
	"an account has 12 digits": {
		Accepted: vpc(`ownerAccountId: "111122223333"`),
		Refused:  vpc(`ownerAccountId: "11112222333"`),
		Says:     []string{"spec.origins[0].vpcOriginConfig.ownerAccountId", "at least 12"},
	},
	"a shield is in a region": {
		Accepted: origin(`originShield: {originShieldRegion: ap-southeast-2}`),
		Refused:  origin(`originShield: {originShieldRegion: Frankfurt}`),
		Says:     []string{"spec.origins[0].originShield.originShieldRegion", `"Frankfurt" is not an AWS region like eu-central-1`},
	},
}

// parameterRules are about {{parameters}}, and what declares them.
var parameterRules = map[string]limits.Case{
	"a parameter in a domainName is declared": {
		Accepted: limits.Overlay(origin(`domainName: "{{tenant}}.app.example.com"`), parameter(`{}`)),
		Refused:  limits.Overlay(origin(`domainName: "{{Tenant}}.app.example.com"`), parameter(`{}`)),
		Says:     []string{"spec.origins", `"{{Tenant}}.app.example.com", the domainName of the origin "app", has a parameter that is not declared`, "add it to tenantConfig.parameterDefinitions"},
	},
	"the second parameter in a domainName is declared": {
		Accepted: limits.Overlay(origin(`domainName: "{{tenant}}.{{tenant}}.example.com"`), parameter(`{}`)),
		Refused:  limits.Overlay(origin(`domainName: "{{tenant}}.{{region}}.example.com"`), parameter(`{}`)),
		Says:     []string{"spec.origins", "the domainName of the origin", "not declared"},
	},
	"a parameter is declared by its whole name": {
		Accepted: limits.Overlay(origin(`domainName: "{{tenant}}.example.com"`), parameter(`{}`)),
		Refused:  limits.Overlay(origin(`domainName: "{{tenant2}}.example.com"`), parameter(`{}`)),
		Says:     []string{"spec.origins", `"{{tenant2}}.example.com"`, "not declared"},
	},
	"a parameter needs a declaration at all": {
		Accepted: origin(`domainName: tenant.example.com`),
		Refused:  origin(`domainName: "{{tenant}}.example.com"`),
		Says:     []string{"spec.origins", "not declared"},
	},
	"a parameter in an originPath is declared": {
		Accepted: limits.Overlay(origin(`originPath: "/{{tenant}}/v1"`), parameter(`{}`)),
		Refused:  limits.Overlay(origin(`originPath: "/{{region}}/v1"`), parameter(`{}`)),
		Says:     []string{"spec.origins", `"/{{region}}/v1", the originPath of the origin "app", has a parameter that is not declared`, "correct its name"},
	},
	"an origin of a standard distribution has no parameter in its domainName": {
		Accepted: direct(origin(`domainName: a.example.com`)),
		Refused:  direct(origin(`domainName: "{{tenant}}.example.com"`)),
		Says:     []string{"spec.origins", `the origin "app" has a parameter`, "write the value instead of the parameter, or use connectionMode tenant-only"},
	},
	"an origin of a standard distribution has no parameter in its originPath": {
		Accepted: direct(origin(`originPath: "/{tenant}"`)),
		Refused:  direct(origin(`originPath: "/{{tenant}}"`)),
		Says:     []string{"spec.origins", `the origin "app" has a parameter`},
	},
	"a parameter has a name that CloudFront takes": {
		Accepted: parameter(`name: Tenant_name-1`),
		Refused:  parameter(`name: tenant.name`),
		Says:     []string{"spec.tenantConfig.parameterDefinitions[0].name", `"tenant.name" is not a parameter name`, "use letters, digits, hyphens and underscores"},
	},
	"a parameter is declared once": {
		Accepted: `tenantConfig: {parameterDefinitions: [` + leastParameter + `]}`,
		Refused:  `tenantConfig: {parameterDefinitions: [` + leastParameter + `, ` + leastParameter + `]}`,
		Says:     []string{"spec.tenantConfig.parameterDefinitions[1]", "Duplicate value", "tenant"},
	},
	"a required parameter has no default": {
		Accepted: stringSchema(`{required: false, defaultValue: shared}`),
		Refused:  stringSchema(`{required: true, defaultValue: shared}`),
		Says:     []string{"spec.tenantConfig.parameterDefinitions[0].definition.stringSchema.defaultValue", `"shared" has no effect`, "remove defaultValue, or set required to false"},
	},
}

var groupOfOriginsRules = map[string]limits.Case{
	"a member of a group is an origin": {
		Accepted: pair(`{}`),
		Refused:  pair(`members: [{originId: app}, {originId: other}]`),
		Says:     []string{"spec.originGroups", `"other", a member of the group "both", is not the id of one of origins`, "add it there"},
	},
	"a member is no group": {
		Accepted: pair(`members: [{originId: spare}, {originId: app}]`),
		Refused:  pair(`members: [{originId: app}, {originId: both}]`),
		Says:     []string{"spec.originGroups", `"both", a member of the group "both"`},
	},
	"the members of a group are two origins": {
		Accepted: pair(`{}`),
		Refused:  pair(`members: [{originId: app}, {originId: app}]`),
		Says:     []string{"spec.originGroups[0].members", `"app" is used for both members`, "use two different origins"},
	},
	"a group has two members at least": {
		Accepted: pair(`{}`),
		Refused:  pair(`members: [{originId: app}]`),
		Says:     []string{"spec.originGroups[0].members", "at least 2"},
	},
	"a group has two members at most": {
		Accepted: pair(`{}`),
		Refused:  pair(`members: [{originId: app}, {originId: spare}, {originId: app}]`),
		Says:     []string{"spec.originGroups[0].members", "Too many: 3", "at most 2"},
	},
	"a group and an origin have different ids": {
		Accepted: pair(`id: apps`),
		Refused:  pair(`id: app`),
		Says:     []string{"spec.originGroups", `"app" is the id of both an origin and an origin group`, "rename one of them"},
	},
	"a group has an id of its own": {
		Accepted: pair(`{}`),
		Refused:  limits.Overlay(pair(`{}`), `originGroups: [`+leastGroupOfTwo+`, `+leastGroupOfTwo+`]`),
		Says:     []string{"spec.originGroups[1]", "Duplicate value", "both"},
	},
	"a status is listed once": {
		Accepted: pair(`failoverCriteria: {statusCodes: [500, 503]}`),
		Refused:  pair(`failoverCriteria: {statusCodes: [503, 503]}`),
		Says:     []string{"spec.originGroups[0].failoverCriteria.statusCodes[1]", "Duplicate value"},
	},
	"the default behavior has an origin that exists": {
		Accepted: limits.Overlay(pair(`{}`), defaultBehavior(`targetOriginId: both`)),
		Refused:  limits.Overlay(pair(`{}`), defaultBehavior(`targetOriginId: other`)),
		Says:     []string{"spec.defaultCacheBehavior.targetOriginId", `"other" is neither the id of an origin nor of an origin group`, "add it there, or use one that exists"},
	},
	"a behavior has an origin that exists": {
		Accepted: limits.Overlay(pair(`{}`), behavior(`targetOriginId: both`)),
		Refused:  limits.Overlay(pair(`{}`), behavior(`targetOriginId: other`)),
		Says:     []string{"spec.cacheBehaviors", `"other", the targetOriginId of "/x", is neither the id of an origin nor of an origin group`, "add it there, or use one that exists"},
	},
	"what is written does not fail over": {
		Accepted: limits.Overlay(pair(`{}`), defaultBehavior(`{targetOriginId: both, allowedMethods: [GET, HEAD, OPTIONS]}`)),
		Refused:  limits.Overlay(pair(`{}`), defaultBehavior(`{targetOriginId: both, allowedMethods: `+allMethods+`}`)),
		Says:     []string{"spec.defaultCacheBehavior.allowedMethods", `the origin group "both" can fail over`, "only GET, HEAD and OPTIONS", "set targetOriginId to an origin"},
	},
	"what is written to a path does not fail over": {
		Accepted: limits.Overlay(pair(`{}`), behavior(`{targetOriginId: app, allowedMethods: `+allMethods+`}`)),
		Refused:  limits.Overlay(pair(`{}`), behavior(`{targetOriginId: both, allowedMethods: `+allMethods+`}`)),
		Says:     []string{"spec.cacheBehaviors", `requests for "/x" go to the origin group "both"`, "remove the other methods"},
	},
}

// viewerRules are about what viewers get to see.
var viewerRules = map[string]limits.Case{
	"a default behavior is required": {
		Accepted: defaultBehavior(`{}`),
		Refused:  `defaultCacheBehavior: null`,
		Says:     []string{"spec.defaultCacheBehavior", "Required"},
	},
	"a path pattern is used once": {
		Accepted: `cacheBehaviors: [` + limits.Overlay(leastBehavior, `pathPattern: /a`) + `, ` + limits.Overlay(leastBehavior, `pathPattern: /A`) + `]`,
		Refused:  `cacheBehaviors: [` + limits.Overlay(leastBehavior, `pathPattern: /a`) + `, ` + limits.Overlay(leastBehavior, `pathPattern: /a`) + `]`,
		Says:     []string{"spec.cacheBehaviors", `"/a" is the pathPattern of two behaviors`, "remove one"},
	},
	"a path pattern is that of a path": {
		Accepted: behavior(`pathPattern: "/a_b.c/*?$~@:+&-"`),
		Refused:  behavior(`pathPattern: "/a b"`),
		Says:     []string{"spec.cacheBehaviors[0].pathPattern", `"/a b" is not a path pattern`, "without a query or spaces"},
	},
	"gRPC needs HTTP/2": {
		Accepted: limits.Overlay(`httpVersion: http2and3`, defaultBehavior(`{allowedMethods: `+allMethods+`, grpcConfig: {enabled: true}}`)),
		Refused:  limits.Overlay(`httpVersion: http3`, defaultBehavior(`{allowedMethods: `+allMethods+`, grpcConfig: {enabled: true}}`)),
		Says:     []string{"spec.httpVersion", "gRPC", `but httpVersion is "http3"`, "use http2 or http2and3, or disable gRPC"},
	},
	"gRPC for a path needs HTTP/2": {
		Accepted: limits.Overlay(`httpVersion: http1.1`, behavior(`{allowedMethods: `+allMethods+`, grpcConfig: {enabled: false}}`)),
		Refused:  limits.Overlay(`httpVersion: http1.1`, behavior(`{allowedMethods: `+allMethods+`, grpcConfig: {enabled: true}}`)),
		Says:     []string{"spec.httpVersion", `but httpVersion is "http1.1"`},
	},
	"a page has a status": {
		Accepted: errorResponse(`{responseCode: 200, responsePagePath: /index.html}`),
		Refused:  errorResponse(`responsePagePath: /index.html`),
		Says:     []string{"spec.customErrorResponses[0]", `"/index.html" is set as responsePagePath without responseCode`, "add responseCode, or remove responsePagePath"},
	},
	"a status has a page": {
		Accepted: errorResponse(`errorCachingMinTTL: 0`),
		Refused:  errorResponse(`responseCode: 200`),
		Says:     []string{"spec.customErrorResponses[0]", "responseCode is set without responsePagePath", "add responsePagePath, or remove responseCode"},
	},
	"a page has a path": {
		Accepted: errorResponse(`{responseCode: 404, responsePagePath: /404.html}`),
		Refused:  errorResponse(`{responseCode: 404, responsePagePath: 404.html}`),
		Says:     []string{"spec.customErrorResponses[0].responsePagePath", `"404.html" is not a path`, "must start with a slash"},
	},
	"an error has one response": {
		Accepted: `customErrorResponses: [{errorCode: 403}, {errorCode: 404}]`,
		Refused:  `customErrorResponses: [{errorCode: 404}, {errorCode: 404}]`,
		Says:     []string{"spec.customErrorResponses[1]", "Duplicate value", "404"},
	},
	"a certificate is named": {
		Accepted: viewerCertificate(`{}`),
		Refused:  `viewerCertificate: {minimumProtocolVersion: TLSv1.2_2021}`,
		Says:     []string{"spec.viewerCertificate", "no certificate is set", "set acmCertificateArn"},
	},
	"CloudFront's own certificate can be named": {
		Accepted: `viewerCertificate: {cloudFrontDefaultCertificate: true}`,
		Refused:  `viewerCertificate: {cloudFrontDefaultCertificate: false}`,
		Says:     []string{"spec.viewerCertificate.cloudFrontDefaultCertificate", "can only be true"},
	},
	"CloudFront's own certificate is one of those of which one is named": {
		Accepted: viewerCertificate(`{}`),
		Refused:  viewerCertificate(`cloudFrontDefaultCertificate: true`),
		Says:     []string{"spec.viewerCertificate", "two certificates are set", "exactly one"},
	},
	"CloudFront's own certificate has no security policy": {
		Accepted: viewerCertificate(`minimumProtocolVersion: TLSv1.2_2021`),
		Refused:  `viewerCertificate: {cloudFrontDefaultCertificate: true, minimumProtocolVersion: TLSv1.2_2021}`,
		Says:     []string{"spec.viewerCertificate.minimumProtocolVersion", "always allows TLSv1 and later", `"TLSv1.2_2021" would have no effect`, "or set acmCertificateArn"},
	},
	"CloudFront's own certificate is served in one way": {
		Accepted: viewerCertificate(`sslSupportMethod: sni-only`),
		Refused:  `viewerCertificate: {cloudFrontDefaultCertificate: true, sslSupportMethod: sni-only}`,
		Says:     []string{"spec.viewerCertificate.sslSupportMethod", `"sni-only" has no effect`, "or set acmCertificateArn"},
	},
	"one certificate is named": {
		Accepted: direct(viewerCertificate(`{}`)),
		Refused:  direct(viewerCertificate(`iamCertificateId: ` + certificateInIAM)),
		Says:     []string{"spec.viewerCertificate", "two certificates are set", "exactly one"},
	},
	"a certificate is in us-east-1": {
		Accepted: viewerCertificate(`acmCertificateArn: ` + limits.Quote(strings.Replace(certificate, "arn:aws:", "arn:aws-us-gov:", 1))),
		Refused:  viewerCertificate(`acmCertificateArn: ` + limits.Quote(strings.Replace(certificate, "us-east-1", "eu-central-1", 1))),
		Says:     []string{"spec.viewerCertificate.acmCertificateArn", "eu-central-1", "us-east-1, the only region", "request or import the certificate there"},
	},
	"a certificate of IAM is named by its ID": {
		Accepted: direct(`viewerCertificate: {iamCertificateId: ` + certificateInIAM + `}`),
		Refused:  direct(`viewerCertificate: {iamCertificateId: "arn:aws:iam::111122223333:server-certificate/shop"}`),
		Says:     []string{"spec.viewerCertificate.iamCertificateId", "is not the ID of a server certificate in IAM", "use the ID"},
	},
	"names need TLS": {
		Accepted: viewerCertificate(`minimumProtocolVersion: TLSv1`),
		Refused:  viewerCertificate(`minimumProtocolVersion: SSLv3`),
		Says:     []string{"spec.viewerCertificate.minimumProtocolVersion", `"SSLv3" does not support SNI`, "use TLSv1.2_2021 or later"},
	},
	"names need TLS also in a standard distribution": {
		Accepted: direct(viewerCertificate(`{minimumProtocolVersion: SSLv3, sslSupportMethod: vip}`)),
		Refused:  direct(viewerCertificate(`{minimumProtocolVersion: SSLv3, sslSupportMethod: sni-only}`)),
		Says:     []string{"spec.viewerCertificate.minimumProtocolVersion", `"SSLv3" does not support SNI`},
	},
	"dedicated addresses need an older policy": {
		Accepted: direct(viewerCertificate(`{minimumProtocolVersion: TLSv1, sslSupportMethod: vip}`)),
		Refused:  direct(viewerCertificate(`sslSupportMethod: vip`)),
		Says:     []string{"spec.viewerCertificate.minimumProtocolVersion", `sslSupportMethod "vip"`, "not the default TLSv1.2_2021", "set one of these, or use sni-only"},
	},
	"a web ACL has global scope": {
		Accepted: `webACLId: ` + limits.Quote(webACL),
		Refused:  `webACLId: "arn:aws:wafv2:eu-west-1:111122223333:regional/webacl/a/b"`,
		Says:     []string{"spec.webACLId", "eu-west-1", "is not the ARN of a global web ACL", "with scope CLOUDFRONT"},
	},
	"a web ACL is not one of WAF Classic": {
		Accepted: `webACLId: ` + limits.Quote(webACL),
		Refused:  `webACLId: 0f0e0d0c-0000-4000-8000-000000000002`,
		Says:     []string{"spec.webACLId", "WAF Classic web ACLs are not supported"},
	},
	"tags are in a header": {
		Accepted: `cacheTagConfig: {headerName: x-amz-meta-cache-tag}`,
		Refused:  `cacheTagConfig: {headerName: "cache tag"}`,
		Says:     []string{"spec.cacheTagConfig.headerName", `"cache tag" is not a header name`},
	},
	"certificates of viewers are checked against a trust store": {
		Accepted: `viewerMtlsConfig: {mode: required, trustStoreConfig: {trustStoreId: ts_1}}`,
		Refused:  `viewerMtlsConfig: {mode: optional}`,
		Says:     []string{"spec.viewerMtlsConfig.trustStoreConfig", `with mode "optional" CloudFront checks certificates against a trust store`, "set trustStoreConfig.trustStoreId"},
	},
	"a trust store needs a mode": {
		Accepted: `viewerMtlsConfig: {mode: passthrough}`,
		Refused:  `viewerMtlsConfig: {trustStoreConfig: {trustStoreId: ts_1}}`,
		Says:     []string{"spec.viewerMtlsConfig.mode", "has no effect without a mode", "set mode to required or optional"},
	},
	"a trust store is named by its ID": {
		Accepted: `viewerMtlsConfig: {mode: required, trustStoreConfig: {trustStoreId: ts_1}}`,
		Refused:  `viewerMtlsConfig: {mode: required, trustStoreConfig: {trustStoreId: "arn:aws:cloudfront::111122223333:trust-store/ts_1"}}`,
		Says:     []string{"spec.viewerMtlsConfig.trustStoreConfig.trustStoreId", "is not the ID of a trust store", "use the ID"},
	},
	"a connection function is named by its ID": {
		Accepted: `connectionFunctionAssociation: {id: cf_1}`,
		Refused:  `connectionFunctionAssociation: {id: my function}`,
		Says:     []string{"spec.connectionFunctionAssociation.id", `"my function" is not the ID of a connection function`, "use the ID"},
	},
	"a root object has no slash before it": {
		Accepted: `defaultRootObject: start/index.html`,
		Refused:  `defaultRootObject: /index.html`,
		Says:     []string{"spec.defaultRootObject", `"/index.html" starts with a slash`, `use "index.html"`},
	},
	"a whitelist needs a country": {
		Accepted: geo(`restrictionType: whitelist, locations: [DE]`),
		Refused:  geo(`restrictionType: whitelist`),
		Says:     []string{"spec.restrictions.geoRestriction.locations", "need at least one country", "add one, or use none"},
	},
	"a blacklist needs a country": {
		Accepted: geo(`restrictionType: blacklist, locations: [DE]`),
		Refused:  geo(`restrictionType: blacklist, locations: []`),
		Says:     []string{"spec.restrictions.geoRestriction.locations", "need at least one country"},
	},
	"no restriction takes no country": {
		Accepted: geo(`restrictionType: none, locations: []`),
		Refused:  geo(`restrictionType: none, locations: [DE]`),
		Says:     []string{"spec.restrictions.geoRestriction.locations", "remove locations, or use whitelist or blacklist"},
	},
	"a country is in the ISO list": {
		Accepted: geo(`restrictionType: whitelist, locations: [GB, DE]`),
		Refused:  geo(`restrictionType: whitelist, locations: [UK, DE]`),
		Says:     []string{"spec.restrictions.geoRestriction.locations[0]", `"UK" is not an ISO 3166-1 alpha-2 country code`},
	},
	"a country is not empty": {
		Accepted: geo(`restrictionType: whitelist, locations: [DE]`),
		Refused:  geo(`restrictionType: whitelist, locations: [""]`),
		Says:     []string{"spec.restrictions.geoRestriction.locations[0]", "at least 2"},
	},
	"a country has two letters": {
		Accepted: geo(`restrictionType: whitelist, locations: [DE]`),
		Refused:  geo(`restrictionType: whitelist, locations: [DEU]`),
		Says:     []string{"spec.restrictions.geoRestriction.locations[0]", "Too long", "2"},
	},
	"a country is listed once": {
		Accepted: geo(`restrictionType: whitelist, locations: [DE, FR]`),
		Refused:  geo(`restrictionType: whitelist, locations: [DE, DE]`),
		Says:     []string{"spec.restrictions.geoRestriction.locations[1]", "Duplicate value"},
	},
	"a restriction is one of countries": {
		Accepted: geo(`restrictionType: none`),
		Refused:  `restrictions: {}`,
		Says:     []string{"spec.restrictions.geoRestriction", "Required"},
	},
	"a restriction has a type": {
		Accepted: geo(`restrictionType: none`),
		Refused:  geo(`locations: [DE]`),
		Says:     []string{"spec.restrictions.geoRestriction.restrictionType", "Required"},
	},
}

// directRules are about the domains and logs of a standard distribution.
var directRules = map[string]limits.Case{
	"aliases need another certificate than CloudFront's own": {
		Accepted: direct(limits.Overlay(`aliases: [shop.example.com]`, viewerCertificate(`{}`))),
		Refused:  direct(limits.Overlay(`aliases: [shop.example.com]`, `viewerCertificate: {cloudFrontDefaultCertificate: true}`)),
		Says:     []string{"spec.viewerCertificate", `"shop.example.com" and all other aliases require a certificate`, "set viewerCertificate.acmCertificateArn"},
	},
	"aliases require a certificate": {
		Accepted: direct(limits.Overlay(`aliases: [shop.example.com]`, viewerCertificate(`{}`))),
		Refused:  direct(`aliases: [shop.example.com]`),
		Says:     []string{"spec.viewerCertificate", `"shop.example.com" and all other aliases require a certificate`, "set viewerCertificate.acmCertificateArn"},
	},
	"an alias is a domain in lower case": {
		Accepted: direct(limits.Overlay(`aliases: ["*.shop.example.com", xn--bcher-kva.example]`, viewerCertificate(`{}`))),
		Refused:  direct(limits.Overlay(`aliases: [Shop.example.com]`, viewerCertificate(`{}`))),
		Says:     []string{"spec.aliases", `"Shop.example.com" is not a fully qualified domain name`, "in lower case"},
	},
	"an alias is given once": {
		Accepted: direct(limits.Overlay(`aliases: [a.example.com, b.example.com]`, viewerCertificate(`{}`))),
		Refused:  direct(limits.Overlay(`aliases: [a.example.com, a.example.com]`, viewerCertificate(`{}`))),
		Says:     []string{"spec.aliases[1]", "Duplicate value"},
	},
	"logs are written to a bucket": {
		Accepted: logs(`bucket: logs.s3.cn-north-1.amazonaws.com.cn`),
		Refused:  logs(`bucket: logs`),
		Says:     []string{"spec.logging.bucket", `"logs" is not the domain name of a bucket`, "use <bucket>.s3.amazonaws.com"},
	},
	"logs have cookies or not": {
		Accepted: logs(`includeCookies: true`),
		Refused:  logs(`includeCookies: "some"`),
		Says:     []string{"spec.logging.includeCookies", "boolean"},
	},
}

func originBounds() map[string]limits.Case {
	set, customs, shield := limits.Setter(origin), limits.Setter(custom), limits.Setter(origin).Into("originShield: {originShieldRegion: %s}")
	header := func(format string) limits.Setter {
		return limits.Setter(origin).Into("customHeaders: [" + format + "]")
	}
	return limits.Merged(
		limits.Required("origins[0].", func(fields string) string { return "origins: [" + fields + "]" }, leastOrigin, "id", "domainName"),
		limits.Required("origins[0].customHeaders[0].", header("%s"), `{name: X-A, value: a}`, "name", "value"),
		limits.Required("origins[0].vpcOriginConfig.", limits.Setter(origin).Into("{customOriginConfig: null, vpcOriginConfig: %s}"), `{vpcOriginId: vo_1}`, "vpcOriginId"),
		limits.Required("origins[0].originShield.", limits.Setter(origin).Into("originShield: %s"), `{originShieldRegion: eu-central-1}`, "originShieldRegion"),
		limits.Texts(
			limits.TextBound{Field: "origins[1].id", Set: limits.In("{origins: [" + leastOrigin + ", {domainName: a.example.com, customOriginConfig: {}, id: %s}]}").Text, Longest: 128, Shortest: "a"},
			limits.TextBound{Field: "origins[0].domainName", Set: set.Into("domainName: %s").Text, Longest: 253, Shortest: "a"},
			limits.TextBound{Field: "origins[0].originPath", Set: set.Into("originPath: %s").Text, Longest: 255, Start: "/", Shortest: "/a"},
			limits.TextBound{Field: "origins[0].customHeaders[0].name", Set: header("{value: a, name: %s}").Text, Longest: 256, Shortest: "a"},
			limits.TextBound{Field: "origins[0].customHeaders[0].value", Set: header("{name: X-A, value: %s}").Text, Longest: 1783, Shortest: "a"},
			limits.TextBound{Field: "origins[0].originAccessControlId", Set: set.Into("originAccessControlId: %s").Text, Longest: 64, Shortest: "E"},
			limits.TextBound{Field: "origins[0].vpcOriginConfig.vpcOriginId", Set: limits.Setter(vpc).Into("vpcOriginId: %s").Text, Longest: 64, Shortest: "v"},
			limits.TextBound{Field: "origins[0].vpcOriginConfig.ownerAccountId", Set: limits.Setter(vpc).Into("ownerAccountId: %s").Text, Longest: 12},
			limits.TextBound{Field: "origins[0].customOriginConfig.originMtlsConfig.clientCertificateArn", Set: customs.Into("originMtlsConfig: {clientCertificateArn: %s}").Text, Longest: 256, Start: certificate, Shortest: certificate},
			limits.TextBound{Field: "origins[0].originShield.originShieldRegion", Set: shield.Text, Longest: 32, Start: "eu-", End: "-1", Shortest: "eu-a-1", Valid: "eu-central-1"},
		),
		limits.Numbers(
			limits.Number("origins[0].connectionAttempts", set.Into("connectionAttempts: %s"), 1, 3),
			limits.Number("origins[0].connectionTimeout", set.Into("connectionTimeout: %s"), 1, 10),
			limits.Number("origins[0].responseCompletionTimeout", set.Into("{customOriginConfig: {originReadTimeout: 1}, responseCompletionTimeout: %s}"), 1, 86400),
			limits.Number("origins[0].customOriginConfig.httpPort", customs.Into("httpPort: %s"), 80, 65535),
			limits.Number("origins[0].customOriginConfig.httpsPort", customs.Into("httpsPort: %s"), 80, 65535),
			limits.Number("origins[0].customOriginConfig.originReadTimeout", customs.Into("originReadTimeout: %s"), 1, 180),
			limits.Number("origins[0].customOriginConfig.originKeepaliveTimeout", customs.Into("originKeepaliveTimeout: %s"), 1, 180),
			limits.Number("origins[0].s3OriginConfig.originReadTimeout", limits.Setter(s3).Into("originReadTimeout: %s"), 1, 180),
			limits.Number("origins[0].vpcOriginConfig.originReadTimeout", limits.Setter(vpc).Into("originReadTimeout: %s"), 1, 180),
			limits.Number("origins[0].vpcOriginConfig.originKeepaliveTimeout", limits.Setter(vpc).Into("originKeepaliveTimeout: %s"), 1, 180),
		),
		limits.Choices(
			limits.Choice("origins[0].customOriginConfig.originProtocolPolicy", customs.Into("originProtocolPolicy: %s"), []string{"https-only", "http-only", "match-viewer"}, "any"),
			limits.Choice("origins[0].customOriginConfig.originSslProtocols[0]", customs.Into("originSslProtocols: [%s]"), []string{"SSLv3", "TLSv1", "TLSv1.1", "TLSv1.2"}, "TLSv1.3"),
			limits.Choice("origins[0].customOriginConfig.ipAddressType", customs.Into("ipAddressType: %s"), []string{"ipv4", "ipv6", "dualstack"}, "ipv5"),
		),
		limits.Lists(
			limits.ListBound{Field: "origins", Set: limits.In("origins: %s"), Most: 250, Item: "{id: app%d, domainName: app.example.com, customOriginConfig: {}}"}.WithFirst(leastOrigin),
			limits.ListBound{Field: "origins[0].customHeaders", Set: set.Into("customHeaders: %s"), Most: 50, Item: "{name: X-%d, value: a}"},
			limits.ListBound{Field: "origins[0].customOriginConfig.originSslProtocols", Set: customs.Into("originSslProtocols: %s"), Most: 4, Item: "TLSv1.%d", Least: 1}.Taking("SSLv3", "TLSv1", "TLSv1.1", "TLSv1.2"),
		),
	)
}

// behaviorCases are those of the default behavior and of any other.
func behaviorCases(path string, b limits.Setter) map[string]limits.Case {
	rules := map[string]limits.Case{
		"methods are one of three sets": {
			Accepted: b(`allowedMethods: [OPTIONS, HEAD, GET]`),
			Refused:  b(`allowedMethods: [GET, HEAD, POST]`),
			Says:     []string{".allowedMethods", "[GET, HEAD, POST] is not one of the three sets", "GET, HEAD and OPTIONS; or all seven"},
		},
		"methods are two, three or seven": {
			Accepted: b(`allowedMethods: ` + allMethods),
			Refused:  b(`allowedMethods: [GET, HEAD, OPTIONS, PUT, PATCH, POST]`),
			Says:     []string{".allowedMethods", "[GET, HEAD, OPTIONS, PUT, PATCH, POST] is not one of the three sets"},
		},
		"a method is listed once": {
			Accepted: b(`allowedMethods: [GET, HEAD]`),
			Refused:  b(`allowedMethods: [GET, GET]`),
			Says:     []string{".allowedMethods[1]", "Duplicate value"},
		},
		"methods are two at least": {
			Accepted: b(`allowedMethods: [GET, HEAD]`),
			Refused:  b(`allowedMethods: [GET]`),
			Says:     []string{".allowedMethods", "at least 2"},
		},
		"methods are seven at most": {
			Accepted: b(`allowedMethods: ` + allMethods),
			Refused:  b(`allowedMethods: [GET, HEAD, OPTIONS, PUT, PATCH, POST, DELETE, GET]`),
			Says:     []string{".allowedMethods", "Too many: 8", "at most 7"},
		},
		"cached methods are one of two sets": {
			Accepted: b(`{allowedMethods: [GET, HEAD, OPTIONS], cachedMethods: [GET, HEAD, OPTIONS]}`),
			Refused:  b(`{allowedMethods: ` + allMethods + `, cachedMethods: [GET, HEAD, POST]}`),
			Says:     []string{".cachedMethods", "[GET, HEAD, POST] is not one of the two sets", "GET, HEAD and OPTIONS"},
		},
		"a cached method is allowed": {
			Accepted: b(`{allowedMethods: ` + allMethods + `, cachedMethods: [GET, HEAD, OPTIONS]}`),
			Refused:  b(`{allowedMethods: [GET, HEAD], cachedMethods: [GET, HEAD, OPTIONS]}`),
			Says:     []string{".cachedMethods", `"OPTIONS" is not in allowedMethods`, "add it there, or remove it here"},
		},
		"a cached method is allowed, also by default": {
			Accepted: b(`cachedMethods: [HEAD, GET]`),
			Refused:  b(`cachedMethods: [GET, HEAD, OPTIONS]`),
			Says:     []string{".cachedMethods", `"OPTIONS" is not in allowedMethods`},
		},
		"a cached method is listed once": {
			Accepted: b(`cachedMethods: [GET, HEAD]`),
			Refused:  b(`cachedMethods: [GET, GET]`),
			Says:     []string{".cachedMethods[1]", "Duplicate value"},
		},
		"cached methods are two at least": {
			Accepted: b(`cachedMethods: [GET, HEAD]`),
			Refused:  b(`cachedMethods: [GET]`),
			Says:     []string{".cachedMethods", "at least 2"},
		},
		"cached methods are three at most": {
			Accepted: b(`cachedMethods: [GET, HEAD]`),
			Refused:  b(`cachedMethods: [GET, HEAD, OPTIONS, POST]`),
			Says:     []string{".cachedMethods", "Too many: 4", "at most 3"},
		},
		"gRPC needs POST": {
			Accepted: b(`{allowedMethods: ` + allMethods + `, grpcConfig: {enabled: true}}`),
			Refused:  b(`grpcConfig: {enabled: true}`),
			Says:     []string{".grpcConfig.enabled", "gRPC uses POST", "add all seven methods to allowedMethods, or disable gRPC"},
		},
		"a cache policy is named by its ID": {
			Accepted: b(`cachePolicyId: ` + cachePolicy),
			Refused:  b(`cachePolicyId: CachingOptimized`),
			Says:     []string{".cachePolicyId", `"CachingOptimized" is not the ID of a cache policy`, "not the name"},
		},
		"an origin request policy is named by its ID": {
			Accepted: b(`originRequestPolicyId: ` + cachePolicy),
			Refused:  b(`originRequestPolicyId: All Viewer`),
			Says:     []string{".originRequestPolicyId", `"All Viewer" is not the ID of an origin request policy`, "use the ID"},
		},
		"a response headers policy is named by its ID": {
			Accepted: b(`responseHeadersPolicyId: ` + cachePolicy),
			Refused:  b(`responseHeadersPolicyId: Simple_CORS`),
			Says:     []string{".responseHeadersPolicyId", `"Simple_CORS" is not the ID of a response headers policy`, "use the ID"},
		},
		"field-level encryption is named by its ID": {
			Accepted: b(`fieldLevelEncryptionId: E1A2B3C4D5E6F7`),
			Refused:  b(`fieldLevelEncryptionId: my config`),
			Says:     []string{".fieldLevelEncryptionId", `"my config" is not the ID of a field-level encryption configuration`, "use the ID"},
		},
		"a configuration of real-time logs is named by its ARN": {
			Accepted: b(`realtimeLogConfigArn: ""`),
			Refused:  b(`realtimeLogConfigArn: all`),
			Says:     []string{".realtimeLogConfigArn", `"all" is not the ARN of a real-time log configuration`, "use arn:aws:cloudfront::<account>:realtime-log-config/<name>"},
		},
		"a key group is named by its ID": {
			Accepted: b(`trustedKeyGroups: [` + cachePolicy + `]`),
			Refused:  b(`trustedKeyGroups: [my keys]`),
			Says:     []string{".trustedKeyGroups", `"my keys" is not the ID of a key group`, "use the ID"},
		},
		"a key group is listed once": {
			Accepted: b(`trustedKeyGroups: [a, b]`),
			Refused:  b(`trustedKeyGroups: [a, a]`),
			Says:     []string{".trustedKeyGroups[1]", "Duplicate value"},
		},
		"a function is named by its ARN": {
			Accepted: b(`functionAssociations: [{eventType: viewer-request, functionArn: ` + limits.Quote(function) + `}]`),
			Refused:  b(`functionAssociations: [{eventType: viewer-request, functionArn: rewrite}]`),
			Says:     []string{".functionAssociations[0].functionArn", `"rewrite" is not the ARN of a CloudFront function`, "use arn:aws:cloudfront::<account>:function/<name>"},
		},
		"an event has one function": {
			Accepted: b(`functionAssociations: [{eventType: viewer-request, functionArn: ` + limits.Quote(function) + `}, {eventType: viewer-response, functionArn: ` + limits.Quote(function) + `}]`),
			Refused:  b(`functionAssociations: [{eventType: viewer-request, functionArn: ` + limits.Quote(function) + `}, {eventType: viewer-request, functionArn: ` + limits.Quote(function) + `}]`),
			Says:     []string{".functionAssociations[1]", "Duplicate value", "viewer-request"},
		},
		"a Lambda function is named with its version": {
			Accepted: b(`lambdaFunctionAssociations: [{eventType: origin-request, lambdaFunctionArn: ` + limits.Quote(lambda) + `}]`),
			Refused:  b(`lambdaFunctionAssociations: [{eventType: origin-request, lambdaFunctionArn: ` + limits.Quote(strings.TrimSuffix(lambda, "3")+"$LATEST") + `}]`),
			Says:     []string{".lambdaFunctionAssociations[0].lambdaFunctionArn", `$LATEST" is not the ARN of a numbered version`, "publish a version there"},
		},
		"a Lambda function is in us-east-1": {
			Accepted: b(`lambdaFunctionAssociations: [{eventType: origin-request, lambdaFunctionArn: ` + limits.Quote(lambda) + `}]`),
			Refused:  b(`lambdaFunctionAssociations: [{eventType: origin-request, lambdaFunctionArn: ` + limits.Quote(strings.Replace(lambda, "us-east-1", "eu-west-1", 1)) + `}]`),
			Says:     []string{".lambdaFunctionAssociations[0].lambdaFunctionArn", "eu-west-1", "a function in us-east-1"},
		},
		"an event has one Lambda function": {
			Accepted: b(`lambdaFunctionAssociations: [{eventType: origin-request, lambdaFunctionArn: ` + limits.Quote(lambda) + `}, {eventType: origin-response, lambdaFunctionArn: ` + limits.Quote(lambda) + `}]`),
			Refused:  b(`lambdaFunctionAssociations: [{eventType: origin-request, lambdaFunctionArn: ` + limits.Quote(lambda) + `}, {eventType: origin-request, lambdaFunctionArn: ` + limits.Quote(lambda) + `}]`),
			Says:     []string{".lambdaFunctionAssociations[1]", "Duplicate value", "origin-request"},
		},
		"only a request has a body": {
			Accepted: b(`lambdaFunctionAssociations: [{eventType: viewer-request, lambdaFunctionArn: ` + limits.Quote(lambda) + `, includeBody: true}, {eventType: viewer-response, lambdaFunctionArn: ` + limits.Quote(lambda) + `, includeBody: false}]`),
			Refused:  b(`lambdaFunctionAssociations: [{eventType: origin-response, lambdaFunctionArn: ` + limits.Quote(lambda) + `, includeBody: true}]`),
			Says:     []string{".lambdaFunctionAssociations[0].includeBody", `the event "origin-response" cannot include the request body`, "remove includeBody"},
		},
		"functions of both kinds don't share the events of viewers": {
			Accepted: b(`{functionAssociations: [{eventType: viewer-request, functionArn: ` + limits.Quote(function) + `}], lambdaFunctionAssociations: [{eventType: origin-request, lambdaFunctionArn: ` + limits.Quote(lambda) + `}]}`),
			Refused:  b(`{functionAssociations: [{eventType: viewer-request, functionArn: ` + limits.Quote(function) + `}], lambdaFunctionAssociations: [{eventType: viewer-response, lambdaFunctionArn: ` + limits.Quote(lambda) + `}]}`),
			Says:     []string{".lambdaFunctionAssociations", `a Lambda@Edge function uses "viewer-response"`, "move it to an origin event, or remove functionAssociations"},
		},
	}
	cases := map[string]limits.Case{}
	for name, tc := range rules {
		tc.Says[0] = "spec." + path + tc.Says[0]
		cases[path+": "+name] = tc
	}
	inFunction := b.Into("functionAssociations: [%s]")
	inLambda := b.Into("lambdaFunctionAssociations: [%s]")
	whole := limits.Overlay(leastBehavior, "pathPattern: /x")
	wrap := limits.In("cacheBehaviors: [%s]")
	if path == "defaultCacheBehavior" {
		whole, wrap = leastBehavior, limits.In("defaultCacheBehavior: %s")
	}
	return limits.Merged(cases,
		limits.Required(path+".", wrap, whole, "targetOriginId", "viewerProtocolPolicy", "cachePolicyId"),
		limits.Required(path+".grpcConfig.", b.Into("grpcConfig: %s"), `{enabled: false}`, "enabled"),
		limits.Required(path+".functionAssociations[0].", inFunction, `{eventType: viewer-request, functionArn: `+limits.Quote(function)+`}`, "eventType", "functionArn"),
		limits.Required(path+".lambdaFunctionAssociations[0].", inLambda, `{eventType: origin-request, lambdaFunctionArn: `+limits.Quote(lambda)+`}`, "eventType", "lambdaFunctionArn"),
		limits.Texts(
			limits.TextBound{Field: path + ".targetOriginId", Set: b.Into("targetOriginId: %s").Text, Longest: 128, Shortest: "app", Valid: "app"},
			limits.TextBound{Field: path + ".cachePolicyId", Set: b.Into("cachePolicyId: %s").Text, Longest: 64, Shortest: "1"},
			limits.TextBound{Field: path + ".originRequestPolicyId", Set: b.Into("originRequestPolicyId: %s").Text, Longest: 64, Shortest: "1"},
			limits.TextBound{Field: path + ".responseHeadersPolicyId", Set: b.Into("responseHeadersPolicyId: %s").Text, Longest: 64, Shortest: "1"},
			limits.TextBound{Field: path + ".fieldLevelEncryptionId", Set: b.Into("fieldLevelEncryptionId: %s").Text, Longest: 64, Shortest: "a"},
			limits.TextBound{Field: path + ".realtimeLogConfigArn", Set: b.Into("realtimeLogConfigArn: %s").Text, Longest: 256, Start: realtimeLog},
			limits.TextBound{Field: path + ".trustedKeyGroups[0]", Set: b.Into("trustedKeyGroups: [%s]").Text, Longest: 64, Shortest: "a"},
			limits.TextBound{Field: path + ".functionAssociations[0].functionArn", Set: inFunction.Into("{eventType: viewer-request, functionArn: %s}").Text, Longest: 108, Start: function, Shortest: function, Valid: function},
			limits.TextBound{Field: path + ".lambdaFunctionAssociations[0].lambdaFunctionArn", Set: inLambda.Into("{eventType: origin-request, lambdaFunctionArn: %s}").Text, Longest: 256, Start: lambda, Shortest: lambda},
		),
		limits.Choices(
			limits.Choice(path+".viewerProtocolPolicy", b.Into("viewerProtocolPolicy: %s"), []string{"redirect-to-https", "https-only", "allow-all"}, "http-only"),
			limits.Choice(path+".allowedMethods[0]", b.Into("allowedMethods: [%s, HEAD]"), []string{"GET"}, "TRACE"),
			limits.Choice(path+".cachedMethods[0]", b.Into("cachedMethods: [%s, HEAD]"), []string{"GET"}, "TRACE"),
			limits.Choice(path+".functionAssociations[0].eventType", inFunction.Into("{functionArn: "+limits.Quote(function)+", eventType: %s}"), []string{"viewer-request", "viewer-response"}, "origin-request"),
			limits.Choice(
				path+".lambdaFunctionAssociations[0].eventType", inLambda.Into("{lambdaFunctionArn: "+limits.Quote(lambda)+", eventType: %s}"),
				[]string{"viewer-request", "viewer-response", "origin-request", "origin-response"}, "request",
			),
		),
		limits.Lists(
			limits.ListBound{Field: path + ".trustedKeyGroups", Set: b.Into("trustedKeyGroups: %s"), Most: 50, Item: "k%d"},
			limits.ListBound{Field: path + ".functionAssociations", Set: b.Into("functionAssociations: %s"), Most: 2, Item: "{functionArn: " + limits.Quote(function) + ", eventType: viewer-%d}"}.
				Taking("{functionArn: "+limits.Quote(function)+", eventType: viewer-request}", "{functionArn: "+limits.Quote(function)+", eventType: viewer-response}"),
			limits.ListBound{Field: path + ".lambdaFunctionAssociations", Set: b.Into("lambdaFunctionAssociations: %s"), Most: 4, Item: "{lambdaFunctionArn: " + limits.Quote(lambda) + ", eventType: viewer-%d}"}.
				Taking("{lambdaFunctionArn: "+limits.Quote(lambda)+", eventType: viewer-request}", "{lambdaFunctionArn: "+limits.Quote(lambda)+", eventType: viewer-response}",
					"{lambdaFunctionArn: "+limits.Quote(lambda)+", eventType: origin-request}", "{lambdaFunctionArn: "+limits.Quote(lambda)+", eventType: origin-response}"),
		),
	)
}

const (
	function = "arn:aws:cloudfront::111122223333:function/rewrite"
	lambda   = "arn:aws:lambda:us-east-1:111122223333:function:rewrite:3"

	realtimeLog = "arn:aws:cloudfront::111122223333:realtime-log-config/all"
)

// distributionBounds are those of everything but origins and behaviors.
func distributionBounds() map[string]limits.Case {
	schema := limits.Setter(stringSchema)
	group, failover := limits.Setter(pair), limits.Setter(pair).Into("failoverCriteria: {statusCodes: [%s]}")
	logged, certified := limits.Setter(logs), limits.Setter(viewerCertificate)
	standard := func(format string) limits.Setter { return limits.Setter(direct).Into(format) }
	alias := limits.Setter(direct).Into("{viewerCertificate: {acmCertificateArn: " + limits.Quote(certificate) + "}, aliases: %s}")
	return limits.Merged(
		limits.Required("originGroups[0].", func(g string) string { return limits.Overlay(pair("{}"), "originGroups: ["+g+"]") }, leastGroupOfTwo, "id", "failoverCriteria", "members"),
		limits.Required("originGroups[0].failoverCriteria.", group.Into("failoverCriteria: %s"), `{statusCodes: [503]}`, "statusCodes"),
		limits.Required("originGroups[0].members[0].", group.Into("members: [%s, {originId: spare}]"), `{originId: app}`, "originId"),
		limits.Required("cacheBehaviors[0].", limits.In("cacheBehaviors: [%s]"), limits.Overlay(leastBehavior, "pathPattern: /x"), "pathPattern"),
		limits.Required("customErrorResponses[0].", limits.In("customErrorResponses: [%s]"), `{errorCode: 404}`, "errorCode"),
		limits.Required("tenantConfig.parameterDefinitions[0].", limits.In("tenantConfig: {parameterDefinitions: [%s]}"), leastParameter, "name", "definition"),
		limits.Required("tenantConfig.parameterDefinitions[0].definition.", limits.Setter(parameter).Into("definition: %s"), `{stringSchema: {required: true}}`, "stringSchema"),
		limits.Required("tenantConfig.parameterDefinitions[0].definition.stringSchema.", limits.Setter(parameter).Into("definition: {stringSchema: %s}"), `{required: true}`, "required"),
		limits.Required("viewerMtlsConfig.trustStoreConfig.", limits.In("viewerMtlsConfig: {mode: required, trustStoreConfig: %s}"), `{trustStoreId: ts_1}`, "trustStoreId"),
		limits.Required("logging.", limits.Setter(direct).Into("logging: %s"), `{bucket: logs.s3.amazonaws.com}`, "bucket"),
		limits.Texts(
			limits.TextBound{Field: "distributionId", Set: limits.In("{adoptionPolicy: Force, distributionId: %s}").Text, Longest: 32, Shortest: "E"},
			limits.TextBound{Field: "comment", Set: limits.In("comment: %s").Text, Longest: 128, Shortest: "c"},
			limits.TextBound{Field: "webACLId", Set: limits.In("webACLId: %s").Text, Longest: 2048, Start: webACL, Shortest: webACL},
			limits.TextBound{Field: "cacheTagConfig.headerName", Set: limits.In("cacheTagConfig: {headerName: %s}").Text, Longest: 256, Shortest: "t"},
			limits.TextBound{Field: "connectionFunctionAssociation.id", Set: limits.In("connectionFunctionAssociation: {id: %s}").Text, Longest: 128, Shortest: "f"},
			limits.TextBound{Field: "viewerMtlsConfig.trustStoreConfig.trustStoreId", Set: limits.In("viewerMtlsConfig: {mode: required, trustStoreConfig: {trustStoreId: %s}}").Text, Longest: 128, Shortest: "t"},
			limits.TextBound{Field: "defaultRootObject", Set: limits.In("defaultRootObject: %s").Text, Longest: 255, Shortest: "i"},
			limits.TextBound{Field: "originGroups[0].id", Set: group.Into("id: %s").Text, Longest: 128, Shortest: "g"},
			limits.TextBound{Field: "originGroups[0].members[0].originId", Set: group.Into("members: [{originId: %s}, {originId: spare}]").Text, Longest: 128, Shortest: "app", Valid: "app"},
			limits.TextBound{Field: "cacheBehaviors[0].pathPattern", Set: limits.Setter(behavior).Into("pathPattern: %s").Text, Longest: 255, Shortest: "*"},
			limits.TextBound{Field: "customErrorResponses[0].responsePagePath", Set: limits.Setter(errorResponse).Into("{responseCode: 404, responsePagePath: %s}").Text, Longest: 255, Start: "/", Shortest: "/"},
			limits.TextBound{Field: "viewerCertificate.acmCertificateArn", Set: certified.Into("acmCertificateArn: %s").Text, Longest: 2048, Start: certificate, Shortest: certificate},
			limits.TextBound{Field: "viewerCertificate.iamCertificateId", Set: standard("viewerCertificate: {iamCertificateId: %s}").Text, Longest: 128, Shortest: "A"},
			limits.TextBound{Field: "tenantConfig.parameterDefinitions[0].name", Set: limits.Setter(parameter).Into("name: %s").Text, Longest: 128, Shortest: "p"},
			limits.TextBound{Field: "tenantConfig.parameterDefinitions[0].definition.stringSchema.defaultValue", Set: schema.Into("defaultValue: %s").Text, Longest: 256, Shortest: "v"},
			limits.TextBound{Field: "tenantConfig.parameterDefinitions[0].definition.stringSchema.comment", Set: schema.Into("comment: %s").Text, Longest: 256, Shortest: "c"},
			limits.TextBound{Field: "aliases[0]", Set: alias.Into("[%s]").Text, Longest: 253, End: ".io", Shortest: "a.io", Valid: strings.Repeat("a123456789.", 22) + "example.com"},
			limits.TextBound{Field: "logging.bucket", Set: logged.Into("bucket: %s").Text, Longest: 253, End: ".s3.amazonaws.com", Shortest: "a.amazonaws.com"},
			limits.TextBound{Field: "logging.prefix", Set: logged.Into("prefix: %s").Text, Longest: 256, Shortest: "p"},
		),
		limits.Numbers(limits.Number("customErrorResponses[0].errorCachingMinTTL", limits.Setter(errorResponse).Into("errorCachingMinTTL: %s"), 0, 31536000)),
		limits.Choices(
			limits.Choice("viewerMtlsConfig.mode", limits.In("viewerMtlsConfig: {trustStoreConfig: {trustStoreId: ts_1}, mode: %s}"), []string{"required", "optional", "passthrough"}, "none"),
			limits.Choice("httpVersion", limits.In("httpVersion: %s"), []string{"http1.1", "http2", "http3", "http2and3"}, "http4"),
			limits.Choice("priceClass", standard("priceClass: %s"), []string{"PriceClass_100", "PriceClass_200", "PriceClass_All"}, "PriceClass_300"),
			limits.Choice("originGroups[0].selectionCriteria", group.Into("selectionCriteria: %s"), []string{"default", "media-quality-based"}, "random"),
			limits.Choice("originGroups[0].failoverCriteria.statusCodes[0]", failover, []string{"400", "403", "404", "416", "429", "500", "502", "503", "504"}, "418"),
			limits.Choice("customErrorResponses[0].errorCode", limits.Setter(errorResponse).Into("errorCode: %s"), []string{"400", "403", "404", "405", "414", "416", "500", "501", "502", "503", "504"}, "418"),
			limits.Choice(
				"customErrorResponses[0].responseCode", limits.Setter(errorResponse).Into("{responsePagePath: /x, responseCode: %s}"),
				[]string{"200", "400", "403", "404", "405", "414", "416", "500", "501", "502", "503", "504"}, "302",
			),
			limits.Choice(
				"viewerCertificate.minimumProtocolVersion", limits.Setter(direct).Into("{viewerCertificate: {acmCertificateArn: "+limits.Quote(certificate)+", sslSupportMethod: vip, minimumProtocolVersion: %s}}"),
				[]string{"SSLv3", "TLSv1", "TLSv1_2016", "TLSv1.1_2016", "TLSv1.2_2018", "TLSv1.2_2019", "TLSv1.2_2021", "TLSv1.2_2025", "TLSv1.3_2025"}, "TLSv1.2",
			),
			limits.Choice(
				"viewerCertificate.sslSupportMethod", limits.Setter(direct).Into("{viewerCertificate: {acmCertificateArn: "+limits.Quote(certificate)+", minimumProtocolVersion: TLSv1, sslSupportMethod: %s}}"),
				[]string{"sni-only", "vip", "static-ip"}, "none",
			),
			limits.Choice("restrictions.geoRestriction.restrictionType", limits.Setter(geo).Into("locations: [DE], restrictionType: %s"), []string{"whitelist", "blacklist"}, "allowlist"),
		),
		limits.Lists(
			limits.ListBound{Field: "originGroups", Set: func(groups string) string { return limits.Overlay(pair("{}"), "originGroups: "+groups) }, Most: 100, Item: strings.Replace(leastGroupOfTwo, "id: both", "id: g%d", 1)},
			limits.ListBound{Field: "originGroups[0].failoverCriteria.statusCodes", Set: group.Into("failoverCriteria: {statusCodes: %s}"), Most: 9, Item: "50%d", Least: 1}.
				Taking("400", "403", "404", "416", "429", "500", "502", "503", "504"),
			limits.ListBound{Field: "cacheBehaviors", Set: limits.In("cacheBehaviors: %s"), Most: 250, Item: limits.Overlay(leastBehavior, `pathPattern: /p%d`)},
			limits.ListBound{Field: "customErrorResponses", Set: limits.In("customErrorResponses: %s"), Most: 11, Item: "{errorCode: 50%d}"}.
				Taking("{errorCode: 400}", "{errorCode: 403}", "{errorCode: 404}", "{errorCode: 405}", "{errorCode: 414}", "{errorCode: 416}",
					"{errorCode: 500}", "{errorCode: 501}", "{errorCode: 502}", "{errorCode: 503}", "{errorCode: 504}"),
			limits.ListBound{Field: "tenantConfig.parameterDefinitions", Set: limits.In("tenantConfig: {parameterDefinitions: %s}"), Most: 50, Item: strings.Replace(leastParameter, "name: tenant", "name: p%d", 1)},
			limits.ListBound{Field: "aliases", Set: alias, Most: 500, Item: "a%d.example.com"},
			limits.ListBound{Field: "restrictions.geoRestriction.locations", Set: limits.Setter(geo).Into("restrictionType: whitelist, locations: %s"), Most: 300, Item: "C%d"}.Taking("DE", "FR"),
		),
	)
}
