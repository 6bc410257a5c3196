package v1alpha1_test

import "strings"

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
func origin(fields string) string { return "origins: [" + overlay(leastOrigin, fields) + "]" }

// s3, vpc and custom are those whose origin is of that kind, with some fields of its block.
func s3(fields string) string {
	return origin("{customOriginConfig: null, s3OriginConfig: {" + fields + "}}")
}

func vpc(fields string) string {
	return origin("{customOriginConfig: null, vpcOriginConfig: " + overlay("{vpcOriginId: vo_1}", fields) + "}")
}

func custom(fields string) string { return origin("customOriginConfig: {" + fields + "}") }

// pair are the fields of a distribution with two origins and a group of them.
func pair(group string) string {
	return `{origins: [` + leastOrigin + `, {id: spare, domainName: spare.example.com, customOriginConfig: {}}], originGroups: [` + overlay(leastGroupOfTwo, group) + `]}`
}

func defaultBehavior(fields string) string {
	return "defaultCacheBehavior: " + overlay(leastBehavior, fields)
}

func behavior(fields string) string {
	return "cacheBehaviors: [" + overlay(overlay(leastBehavior, "pathPattern: /x"), fields) + "]"
}

// direct are fields of a standard distribution.
func direct(fields string) string { return overlay("connectionMode: direct", fields) }

func viewerCertificate(fields string) string {
	return "viewerCertificate: " + overlay("acmCertificateArn: "+q(certificate), fields)
}

func errorResponse(fields string) string {
	return "customErrorResponses: [" + overlay("errorCode: 404", fields) + "]"
}

func parameter(fields string) string {
	return "tenantConfig: {parameterDefinitions: [" + overlay(leastParameter, fields) + "]}"
}

func stringSchema(fields string) string {
	return parameter("definition: {stringSchema: " + overlay("required: false", fields) + "}")
}

func logs(fields string) string {
	return direct("logging: " + overlay("bucket: logs.s3.amazonaws.com", fields))
}

func geo(fields string) string { return "restrictions: {geoRestriction: {" + fields + "}}" }

// distributionCases are those of a Distribution.
func distributionCases() map[string]validationCase {
	return merged(
		modeCases, identityCases, originRules, parameterRules, groupOfOriginsRules, viewerRules, directRules,
		originBounds(), behaviorCases("defaultCacheBehavior", defaultBehavior), behaviorCases("cacheBehaviors[0]", behavior),
		distributionBounds(), resourceCases(),
	)
}

// modeCases show what only one of the two kinds of distributions can have.
var modeCases = map[string]validationCase{
	"a distribution serves tenants or viewers": {
		accepted: `connectionMode: tenant-only`,
		refused:  `connectionMode: multi-tenant`,
		says:     []string{"spec.connectionMode", `"multi-tenant"`, `"tenant-only", "direct"`},
	},
	"a multi-tenant distribution doesn't become a standard one": {
		stored:   `connectionMode: tenant-only`,
		accepted: `{connectionMode: tenant-only, comment: changed}`,
		refused:  `connectionMode: direct`,
		says:     []string{"spec.connectionMode", `is "tenant-only": put that value back, or create another object`},
	},
	"a standard distribution doesn't become a multi-tenant one by leaving the mode out": {
		stored:   `connectionMode: direct`,
		accepted: `{connectionMode: direct, comment: changed}`,
		refused:  `comment: changed`,
		says:     []string{"spec.connectionMode", `is "direct": put that value back`},
	},
	"a multi-tenant distribution has no aliases": {
		accepted: `aliases: []`,
		refused:  `aliases: [shop.example.com]`,
		says:     []string{"spec.aliases", "has no domains of its own, its tenants have", "DistributionTenant", "connectionMode direct"},
	},
	"a multi-tenant distribution has no price class": {
		accepted: direct(`priceClass: PriceClass_100`),
		refused:  `priceClass: PriceClass_100`,
		says:     []string{"spec.priceClass", "does not support price classes for multi-tenant distributions", `remove "PriceClass_100"`, "connectionMode direct"},
	},
	"a multi-tenant distribution leaves IPv6 to the group": {
		accepted: direct(`ipv6Enabled: false`),
		refused:  `ipv6Enabled: false`,
		says:     []string{"spec.ipv6Enabled", "a setting of the connection group", "set it on the ConnectionGroup"},
	},
	"a multi-tenant distribution has no legacy logs": {
		accepted: logs(`{}`),
		refused:  `logging: {bucket: logs.s3.amazonaws.com}`,
		says:     []string{"spec.logging", "does not support legacy standard logging for multi-tenant distributions", "standard logging (v2)"},
	},
	"a multi-tenant distribution has no certificate of IAM": {
		accepted: direct(`viewerCertificate: {iamCertificateId: ` + certificateInIAM + `}`),
		refused:  `viewerCertificate: {iamCertificateId: ` + certificateInIAM + `}`,
		says:     []string{"spec.viewerCertificate.iamCertificateId", `"` + certificateInIAM + `" is a certificate in IAM`, "use acmCertificateArn"},
	},
	"a multi-tenant distribution has no addresses of its own": {
		accepted: direct(viewerCertificate(`{sslSupportMethod: vip, minimumProtocolVersion: TLSv1}`)),
		refused:  viewerCertificate(`{sslSupportMethod: vip, minimumProtocolVersion: TLSv1}`),
		says:     []string{"spec.viewerCertificate.sslSupportMethod", `"vip" asks for dedicated IP addresses`, "use sni-only"},
	},
	"a multi-tenant distribution has no static addresses": {
		accepted: viewerCertificate(`sslSupportMethod: sni-only`),
		refused:  viewerCertificate(`sslSupportMethod: static-ip`),
		says:     []string{"spec.viewerCertificate.sslSupportMethod", `"static-ip" asks for dedicated IP addresses`},
	},
	"a standard distribution has no parameters for tenants": {
		accepted: parameter(`{}`),
		refused:  direct(parameter(`{}`)),
		says:     []string{"spec.tenantConfig", "only a multi-tenant distribution has parameters", "connectionMode tenant-only"},
	},
	"a distribution has no list of anycast addresses: its group has": {
		accepted: `{}`,
		refused:  `anycastIpListId: aip_1`,
		says:     []string{`unknown field "spec.anycastIpListId"`},
	},
	"signers are named by key groups": {
		accepted: defaultBehavior(`trustedKeyGroups: [36c1a1c2-0000-4000-8000-000000000001]`),
		refused:  defaultBehavior(`trustedSigners: ["111122223333"]`),
		says:     []string{`unknown field "spec.defaultCacheBehavior.trustedSigners"`},
	},
	"times to live are those of the cache policy": {
		accepted: defaultBehavior(`{}`),
		refused:  defaultBehavior(`defaultTTL: 60`),
		says:     []string{`unknown field "spec.defaultCacheBehavior.defaultTTL"`},
	},
	"a bucket is read with an origin access control and not with an identity": {
		accepted: origin(`{customOriginConfig: null, s3OriginConfig: {}, originAccessControlId: E1A2B3C4D5E6F7}`),
		refused:  s3(`originAccessIdentity: origin-access-identity/cloudfront/E1`),
		says:     []string{`unknown field "spec.origins[0].s3OriginConfig.originAccessIdentity"`},
	},
}

// identityCases are about which distribution an object stands for.
var identityCases = map[string]validationCase{
	"a distribution that is adopted is named by its ID": {
		accepted: `{distributionId: E1A2B3C4D5E6F7, adoptionPolicy: IfUnowned}`,
		refused:  `{distributionId: d111111abcdef8.cloudfront, adoptionPolicy: IfUnowned}`,
		says:     []string{"spec.distributionId", `"d111111abcdef8.cloudfront" is not the ID of a distribution`, "not the ARN or the domain name"},
	},
	"a new object adopts nothing with Never": {
		accepted: `{distributionId: E1A2B3C4D5E6F7, adoptionPolicy: Force}`,
		refused:  `{distributionId: E1A2B3C4D5E6F7, adoptionPolicy: Never}`,
		says:     []string{"spec.adoptionPolicy", `names the distribution "E1A2B3C4D5E6F7", which is in AWS already`, "Never takes over nothing", "IfUnowned", "Force", "remove distributionId"},
	},
	"Never is what adoptionPolicy is by default": {
		accepted: `adoptionPolicy: Never`,
		refused:  `distributionId: E1A2B3C4D5E6F7`,
		says:     []string{"spec.adoptionPolicy", "Never takes over nothing"},
	},
	"once adopted, nothing is left to adopt": {
		stored:   `{distributionId: E1A2B3C4D5E6F7, adoptionPolicy: IfUnowned}`,
		accepted: `distributionId: E1A2B3C4D5E6F7`,
		refused:  `distributionId: ""`,
		says:     []string{"spec.distributionId", "at least 1"},
	},
	"an object stands for one distribution": {
		stored:   `{distributionId: E1A2B3C4D5E6F7, adoptionPolicy: IfUnowned}`,
		accepted: `{distributionId: E1A2B3C4D5E6F7, adoptionPolicy: IfUnowned, comment: changed}`,
		refused:  `{distributionId: E7F6E5D4C3B2A1, adoptionPolicy: IfUnowned}`,
		says:     []string{"spec.distributionId", `"E7F6E5D4C3B2A1" is another distribution than "E1A2B3C4D5E6F7"`, "put that ID back, or create another object"},
	},
	"a created distribution is not exchanged for another": {
		stored:   `{}`,
		accepted: `comment: changed`,
		refused:  `{distributionId: E1A2B3C4D5E6F7, adoptionPolicy: IfUnowned}`,
		says:     []string{"spec.distributionId", "distributionId was absent: put that back", "deletionPolicy Retain"},
	},
	"an adopted distribution is not exchanged for a new one": {
		stored:   `{distributionId: E1A2B3C4D5E6F7, adoptionPolicy: IfUnowned}`,
		accepted: `{distributionId: E1A2B3C4D5E6F7, adoptionPolicy: Force}`,
		refused:  `{}`,
		says:     []string{"spec.distributionId", `distributionId was "E1A2B3C4D5E6F7": put that back`},
	},
	"a caller reference is the operator's": {
		accepted: `{}`,
		refused:  `callerReference: mine`,
		says:     []string{`unknown field "spec.callerReference"`},
	},
	"a distribution is enabled or not": {
		accepted: `enabled: false`,
		refused:  `enabled: "no"`,
		says:     []string{"spec.enabled", "boolean"},
	},
}

var originRules = map[string]validationCase{
	"a distribution has an origin": {
		accepted: origin(`{}`),
		refused:  `origins: []`,
		says:     []string{"spec.origins", "at least 1"},
	},
	"origins are required": {
		accepted: origin(`{}`),
		refused:  `origins: null`,
		says:     []string{"spec.origins", "Required"},
	},
	"an origin has an id of its own": {
		accepted: `origins: [` + leastOrigin + `, {id: files, domainName: b.s3.amazonaws.com, s3OriginConfig: {}}]`,
		refused:  `origins: [` + leastOrigin + `, {id: app, domainName: b.s3.amazonaws.com, s3OriginConfig: {}}]`,
		says:     []string{"spec.origins[1]", "Duplicate value", "app"},
	},
	"an origin is of some kind": {
		accepted: s3(``),
		refused:  origin(`customOriginConfig: null`),
		says:     []string{"spec.origins[0]", `the origin "app" has none of customOriginConfig`, "set one of them"},
	},
	"an origin is of one kind only": {
		accepted: vpc(`{}`),
		refused:  origin(`s3OriginConfig: {}`),
		says:     []string{"spec.origins[0]", `the origin "app" has more than one of customOriginConfig`, "set one of them"},
	},
	"an origin is named by a DNS name and not by a URL": {
		accepted: origin(`domainName: bucket_1.s3.eu-central-1.amazonaws.com`),
		refused:  origin(`domainName: "https://app.example.com/"`),
		says:     []string{"spec.origins[0].domainName", `"https://app.example.com/" is not the DNS name of an origin`, "no scheme, port or path"},
	},
	"the name of a parameter is closed": {
		accepted: overlay(origin(`domainName: "{{tenant}}.example.com"`), parameter(`{}`)),
		refused:  overlay(origin(`domainName: "{{tenant}.example.com"`), parameter(`{}`)),
		says:     []string{"spec.origins[0].domainName", "a parameter is written {{name}}"},
	},
	"an origin path starts with a slash": {
		accepted: origin(`originPath: /production`),
		refused:  origin(`originPath: production`),
		says:     []string{"spec.origins[0].originPath", `"production" is no origin path`, "start it with a slash"},
	},
	"an origin path doesn't end with a slash": {
		accepted: origin(`originPath: /production/v1`),
		refused:  origin(`originPath: /production/`),
		says:     []string{"spec.origins[0].originPath", `"/production/" is no origin path`, "end it without one"},
	},
	"an answer is not cut off before its parts": {
		accepted: origin(`{customOriginConfig: {originReadTimeout: 60}, responseCompletionTimeout: 60}`),
		refused:  origin(`{customOriginConfig: {originReadTimeout: 60}, responseCompletionTimeout: 59}`),
		says:     []string{"spec.origins[0].responseCompletionTimeout", `the origin "app" is given less time than originReadTimeout`, "raise the one, or lower the other"},
	},
	"an answer is not cut off before its parts, also by default": {
		accepted: origin(`responseCompletionTimeout: 30`),
		refused:  origin(`responseCompletionTimeout: 29`),
		says:     []string{"spec.origins[0].responseCompletionTimeout", "30 seconds where it is absent"},
	},
	"an answer of a bucket is not cut off before its parts": {
		accepted: origin(`{customOriginConfig: null, s3OriginConfig: {originReadTimeout: 20}, responseCompletionTimeout: 20}`),
		refused:  origin(`{customOriginConfig: null, s3OriginConfig: {originReadTimeout: 20}, responseCompletionTimeout: 19}`),
		says:     []string{"spec.origins[0].responseCompletionTimeout"},
	},
	"an answer of a private server is not cut off before its parts": {
		accepted: origin(`{customOriginConfig: null, vpcOriginConfig: {vpcOriginId: vo_1, originReadTimeout: 90}, responseCompletionTimeout: 90}`),
		refused:  origin(`{customOriginConfig: null, vpcOriginConfig: {vpcOriginId: vo_1, originReadTimeout: 90}, responseCompletionTimeout: 89}`),
		says:     []string{"spec.origins[0].responseCompletionTimeout"},
	},
	"a header is given once, whatever its case": {
		accepted: origin(`customHeaders: [{name: X-A, value: a}, {name: X-B, value: a}]`),
		refused:  origin(`customHeaders: [{name: X-A, value: a}, {name: x-a, value: b}]`),
		says:     []string{"spec.origins[0].customHeaders", `"X-A" is given twice`, "remove one"},
	},
	"a header is given once": {
		accepted: origin(`customHeaders: [{name: X-A, value: a}]`),
		refused:  origin(`customHeaders: [{name: X-A, value: a}, {name: X-A, value: b}]`),
		says:     []string{"spec.origins[0].customHeaders[1]", "Duplicate value"},
	},
	"a header has the name of one": {
		accepted: origin(`customHeaders: [{name: X-Origin_Verify.1, value: a}]`),
		refused:  origin(`customHeaders: [{name: "X Origin", value: a}]`),
		says:     []string{"spec.origins[0].customHeaders[0].name", `"X Origin" is no header name`, "use letters, digits and hyphens"},
	},
	"a header is not one that CloudFront keeps to itself": {
		accepted: origin(`customHeaders: [{name: Hostname, value: a}, {name: Authorization, value: a}]`),
		refused:  origin(`customHeaders: [{name: Host, value: a}]`),
		says:     []string{"spec.origins[0].customHeaders[0].name", `"Host" is a header that CloudFront does not let a distribution set`, "origin request policy"},
	},
	"a header is not one of CloudFront's own": {
		accepted: origin(`customHeaders: [{name: X-Edgeless, value: a}]`),
		refused:  origin(`customHeaders: [{name: X-EDGE-Location, value: a}]`),
		says:     []string{"spec.origins[0].customHeaders[0].name", `"X-EDGE-Location" is a header`},
	},
	"a port for HTTP is 80, 443 or a high one": {
		accepted: custom(`httpPort: 1024`),
		refused:  custom(`httpPort: 1023`),
		says:     []string{"spec.origins[0].customOriginConfig.httpPort", "1023", "80, 443 and 1024 to 65535 only: use one of these"},
	},
	"a port for HTTPS is 80, 443 or a high one": {
		accepted: custom(`httpsPort: 443`),
		refused:  custom(`httpsPort: 444`),
		says:     []string{"spec.origins[0].customOriginConfig.httpsPort", "444", "80, 443 and 1024 to 65535 only"},
	},
	"a version of TLS is listed once": {
		accepted: custom(`originSslProtocols: [TLSv1.1, TLSv1.2]`),
		refused:  custom(`originSslProtocols: [TLSv1.2, TLSv1.2]`),
		says:     []string{"spec.origins[0].customOriginConfig.originSslProtocols[1]", "Duplicate value"},
	},
	"an origin access control is named by its ID": {
		accepted: origin(`originAccessControlId: E1A2B3C4D5E6F7`),
		refused:  origin(`originAccessControlId: my control`),
		says:     []string{"spec.origins[0].originAccessControlId", `"my control" is not the ID of an origin access control`, "give the ID"},
	},
	"a VPC origin is named by its ID": {
		accepted: vpc(`vpcOriginId: vo_BQwjxxQxjCaBcQLzJUFkDM`),
		refused:  vpc(`vpcOriginId: "arn:aws:cloudfront::111122223333:vpcorigin/vo_1"`),
		says:     []string{"spec.origins[0].vpcOriginConfig.vpcOriginId", "is not the ID of a VPC origin", "give the ID"},
	},
	"the owner of a VPC origin is an account": {
		accepted: vpc(`ownerAccountId: "111122223333"`),
		refused:  vpc(`ownerAccountId: "11112222333x"`),
		says:     []string{"spec.origins[0].vpcOriginConfig.ownerAccountId", `"11112222333x" is not the ID of an AWS account`, "12 digits"},
	},
	"an account has 12 digits": {
		accepted: vpc(`ownerAccountId: "111122223333"`),
		refused:  vpc(`ownerAccountId: "11112222333"`),
		says:     []string{"spec.origins[0].vpcOriginConfig.ownerAccountId", "at least 12"},
	},
	"a shield is in a region": {
		accepted: origin(`originShield: {originShieldRegion: ap-southeast-2}`),
		refused:  origin(`originShield: {originShieldRegion: Frankfurt}`),
		says:     []string{"spec.origins[0].originShield.originShieldRegion", `"Frankfurt" is no AWS region like eu-central-1`},
	},
}

// parameterRules are about {{parameters}}, and what declares them.
var parameterRules = map[string]validationCase{
	"a parameter in a domainName is declared": {
		accepted: overlay(origin(`domainName: "{{tenant}}.app.example.com"`), parameter(`{}`)),
		refused:  overlay(origin(`domainName: "{{Tenant}}.app.example.com"`), parameter(`{}`)),
		says:     []string{"spec.origins", `"{{Tenant}}.app.example.com", the domainName of the origin "app", has a parameter that is not declared`, "add it to tenantConfig.parameterDefinitions"},
	},
	"the second parameter in a domainName is declared": {
		accepted: overlay(origin(`domainName: "{{tenant}}.{{tenant}}.example.com"`), parameter(`{}`)),
		refused:  overlay(origin(`domainName: "{{tenant}}.{{region}}.example.com"`), parameter(`{}`)),
		says:     []string{"spec.origins", "the domainName of the origin", "not declared"},
	},
	"a parameter is declared by its whole name": {
		accepted: overlay(origin(`domainName: "{{tenant}}.example.com"`), parameter(`{}`)),
		refused:  overlay(origin(`domainName: "{{tenant2}}.example.com"`), parameter(`{}`)),
		says:     []string{"spec.origins", `"{{tenant2}}.example.com"`, "not declared"},
	},
	"a parameter needs a declaration at all": {
		accepted: origin(`domainName: tenant.example.com`),
		refused:  origin(`domainName: "{{tenant}}.example.com"`),
		says:     []string{"spec.origins", "not declared"},
	},
	"a parameter in an originPath is declared": {
		accepted: overlay(origin(`originPath: "/{{tenant}}/v1"`), parameter(`{}`)),
		refused:  overlay(origin(`originPath: "/{{region}}/v1"`), parameter(`{}`)),
		says:     []string{"spec.origins", `"/{{region}}/v1", the originPath of the origin "app", has a parameter that is not declared`, "correct its name"},
	},
	"a domainName has at most two parameters": {
		accepted: overlay(origin(`domainName: "{{tenant}}.{{tenant}}.example.com"`), parameter(`{}`)),
		refused:  overlay(origin(`domainName: "{{tenant}}.{{tenant}}.{{tenant}}.example.com"`), parameter(`{}`)),
		says:     []string{"spec.origins[0].domainName", "has more than two parameters", "at most two in a domainName: remove one"},
	},
	"an originPath has at most two parameters": {
		accepted: overlay(origin(`originPath: "/{{tenant}}{{tenant}}"`), parameter(`{}`)),
		refused:  overlay(origin(`originPath: "/{{tenant}}{{tenant}}{{tenant}}"`), parameter(`{}`)),
		says:     []string{"spec.origins[0].originPath", "has more than two parameters", "at most two in an originPath: remove one"},
	},
	"an origin of a standard distribution has no parameter in its domainName": {
		accepted: direct(origin(`domainName: a.example.com`)),
		refused:  direct(origin(`domainName: "{{tenant}}.example.com"`)),
		says:     []string{"spec.origins", `the origin "app" has a parameter`, "write the value in its place, or choose connectionMode tenant-only"},
	},
	"an origin of a standard distribution has no parameter in its originPath": {
		accepted: direct(origin(`originPath: "/{tenant}"`)),
		refused:  direct(origin(`originPath: "/{{tenant}}"`)),
		says:     []string{"spec.origins", `the origin "app" has a parameter`},
	},
	"a parameter has a name that CloudFront takes": {
		accepted: parameter(`name: Tenant_name-1`),
		refused:  parameter(`name: tenant.name`),
		says:     []string{"spec.tenantConfig.parameterDefinitions[0].name", `"tenant.name" is not a parameter name`, "use letters, digits, hyphens and underscores"},
	},
	"a parameter is declared once": {
		accepted: `tenantConfig: {parameterDefinitions: [` + leastParameter + `]}`,
		refused:  `tenantConfig: {parameterDefinitions: [` + leastParameter + `, ` + leastParameter + `]}`,
		says:     []string{"spec.tenantConfig.parameterDefinitions[1]", "Duplicate value", "tenant"},
	},
	"a required parameter has no default": {
		accepted: stringSchema(`{required: false, defaultValue: shared}`),
		refused:  stringSchema(`{required: true, defaultValue: shared}`),
		says:     []string{"spec.tenantConfig.parameterDefinitions[0].definition.stringSchema.defaultValue", `"shared" is of no use`, "remove defaultValue, or set required to false"},
	},
}

var groupOfOriginsRules = map[string]validationCase{
	"a member of a group is an origin": {
		accepted: pair(`{}`),
		refused:  pair(`members: [{originId: app}, {originId: other}]`),
		says:     []string{"spec.originGroups", `"other", a member of the group "both", is not the id of one of origins`, "add it there"},
	},
	"a member is no group": {
		accepted: pair(`members: [{originId: spare}, {originId: app}]`),
		refused:  pair(`members: [{originId: app}, {originId: both}]`),
		says:     []string{"spec.originGroups", `"both", a member of the group "both"`},
	},
	"the members of a group are two origins": {
		accepted: pair(`{}`),
		refused:  pair(`members: [{originId: app}, {originId: app}]`),
		says:     []string{"spec.originGroups[0].members", `"app" is both members`, "name another origin"},
	},
	"a group has two members at least": {
		accepted: pair(`{}`),
		refused:  pair(`members: [{originId: app}]`),
		says:     []string{"spec.originGroups[0].members", "at least 2"},
	},
	"a group has two members at most": {
		accepted: pair(`{}`),
		refused:  pair(`members: [{originId: app}, {originId: spare}, {originId: app}]`),
		says:     []string{"spec.originGroups[0].members", "Too many: 3", "at most 2"},
	},
	"a group and an origin have different ids": {
		accepted: pair(`id: apps`),
		refused:  pair(`id: app`),
		says:     []string{"spec.originGroups", `"app" is the id of an origin and of an origin group`, "rename one of the two"},
	},
	"a group has an id of its own": {
		accepted: pair(`{}`),
		refused:  overlay(pair(`{}`), `originGroups: [`+leastGroupOfTwo+`, `+leastGroupOfTwo+`]`),
		says:     []string{"spec.originGroups[1]", "Duplicate value", "both"},
	},
	"a status is listed once": {
		accepted: pair(`failoverCriteria: {statusCodes: [500, 503]}`),
		refused:  pair(`failoverCriteria: {statusCodes: [503, 503]}`),
		says:     []string{"spec.originGroups[0].failoverCriteria.statusCodes[1]", "Duplicate value"},
	},
	"the default behavior has an origin that exists": {
		accepted: overlay(pair(`{}`), defaultBehavior(`targetOriginId: both`)),
		refused:  overlay(pair(`{}`), defaultBehavior(`targetOriginId: other`)),
		says:     []string{"spec.defaultCacheBehavior.targetOriginId", `"other" is the id of neither an origin nor an origin group`, "add it there, or name one that exists"},
	},
	"a behavior has an origin that exists": {
		accepted: overlay(pair(`{}`), behavior(`targetOriginId: both`)),
		refused:  overlay(pair(`{}`), behavior(`targetOriginId: other`)),
		says:     []string{"spec.cacheBehaviors", `"other", the targetOriginId of "/x", is the id of neither an origin nor an origin group`, "add it there, or name one that exists"},
	},
	"what is written does not fail over": {
		accepted: overlay(pair(`{}`), defaultBehavior(`{targetOriginId: both, allowedMethods: [GET, HEAD, OPTIONS]}`)),
		refused:  overlay(pair(`{}`), defaultBehavior(`{targetOriginId: both, allowedMethods: `+allMethods+`}`)),
		says:     []string{"spec.defaultCacheBehavior.allowedMethods", `the origin group "both" can fail over`, "GET, HEAD and OPTIONS only", "name an origin in targetOriginId"},
	},
	"what is written to a path does not fail over": {
		accepted: overlay(pair(`{}`), behavior(`{targetOriginId: app, allowedMethods: `+allMethods+`}`)),
		refused:  overlay(pair(`{}`), behavior(`{targetOriginId: both, allowedMethods: `+allMethods+`}`)),
		says:     []string{"spec.cacheBehaviors", `requests for "/x" go to the origin group "both"`, "remove the other methods"},
	},
}

// viewerRules are about what viewers get to see.
var viewerRules = map[string]validationCase{
	"a default behavior is required": {
		accepted: defaultBehavior(`{}`),
		refused:  `defaultCacheBehavior: null`,
		says:     []string{"spec.defaultCacheBehavior", "Required"},
	},
	"a path pattern is used once": {
		accepted: `cacheBehaviors: [` + overlay(leastBehavior, `pathPattern: /a`) + `, ` + overlay(leastBehavior, `pathPattern: /A`) + `]`,
		refused:  `cacheBehaviors: [` + overlay(leastBehavior, `pathPattern: /a`) + `, ` + overlay(leastBehavior, `pathPattern: /a`) + `]`,
		says:     []string{"spec.cacheBehaviors", `"/a" is the pathPattern of two behaviors`, "remove one"},
	},
	"a path pattern is that of a path": {
		accepted: behavior(`pathPattern: "/a_b.c/*?$~@:+&-"`),
		refused:  behavior(`pathPattern: "/a b"`),
		says:     []string{"spec.cacheBehaviors[0].pathPattern", `"/a b" is no path pattern`, "neither a query nor spaces"},
	},
	"gRPC needs HTTP/2": {
		accepted: overlay(`httpVersion: http2and3`, defaultBehavior(`{allowedMethods: `+allMethods+`, grpcConfig: {enabled: true}}`)),
		refused:  overlay(`httpVersion: http3`, defaultBehavior(`{allowedMethods: `+allMethods+`, grpcConfig: {enabled: true}}`)),
		says:     []string{"spec.httpVersion", "gRPC", `"http3" is without`, "use http2 or http2and3, or switch gRPC off"},
	},
	"gRPC for a path needs HTTP/2": {
		accepted: overlay(`httpVersion: http1.1`, behavior(`{allowedMethods: `+allMethods+`, grpcConfig: {enabled: false}}`)),
		refused:  overlay(`httpVersion: http1.1`, behavior(`{allowedMethods: `+allMethods+`, grpcConfig: {enabled: true}}`)),
		says:     []string{"spec.httpVersion", `"http1.1" is without`},
	},
	"a page has a status": {
		accepted: errorResponse(`{responseCode: 200, responsePagePath: /index.html}`),
		refused:  errorResponse(`responsePagePath: /index.html`),
		says:     []string{"spec.customErrorResponses[0]", `"/index.html" is given without the status`, "add responseCode, or remove it"},
	},
	"a status has a page": {
		accepted: errorResponse(`errorCachingMinTTL: 0`),
		refused:  errorResponse(`responseCode: 200`),
		says:     []string{"spec.customErrorResponses[0]", "responseCode is given without the page", "add responsePagePath, or remove it"},
	},
	"a page has a path": {
		accepted: errorResponse(`{responseCode: 404, responsePagePath: /404.html}`),
		refused:  errorResponse(`{responseCode: 404, responsePagePath: 404.html}`),
		says:     []string{"spec.customErrorResponses[0].responsePagePath", `"404.html" is no path`, "start it with a slash"},
	},
	"an error has one response": {
		accepted: `customErrorResponses: [{errorCode: 403}, {errorCode: 404}]`,
		refused:  `customErrorResponses: [{errorCode: 404}, {errorCode: 404}]`,
		says:     []string{"spec.customErrorResponses[1]", "Duplicate value", "404"},
	},
	"a certificate is named": {
		accepted: viewerCertificate(`{}`),
		refused:  `viewerCertificate: {minimumProtocolVersion: TLSv1.2_2021}`,
		says:     []string{"spec.viewerCertificate", "no certificate is named", "name it in acmCertificateArn"},
	},
	"one certificate is named": {
		accepted: direct(viewerCertificate(`{}`)),
		refused:  direct(viewerCertificate(`iamCertificateId: ` + certificateInIAM)),
		says:     []string{"spec.viewerCertificate", "two certificates are named", "exactly one"},
	},
	"a certificate is in us-east-1": {
		accepted: viewerCertificate(`acmCertificateArn: ` + q(strings.Replace(certificate, "arn:aws:", "arn:aws-us-gov:", 1))),
		refused:  viewerCertificate(`acmCertificateArn: ` + q(strings.Replace(certificate, "us-east-1", "eu-central-1", 1))),
		says:     []string{"spec.viewerCertificate.acmCertificateArn", "eu-central-1", "us-east-1, the only region", "request or import the certificate there"},
	},
	"a certificate of IAM is named by its ID": {
		accepted: direct(`viewerCertificate: {iamCertificateId: ` + certificateInIAM + `}`),
		refused:  direct(`viewerCertificate: {iamCertificateId: "arn:aws:iam::111122223333:server-certificate/shop"}`),
		says:     []string{"spec.viewerCertificate.iamCertificateId", "is not the ID of a server certificate in IAM", "give the ID"},
	},
	"names need TLS": {
		accepted: viewerCertificate(`minimumProtocolVersion: TLSv1`),
		refused:  viewerCertificate(`minimumProtocolVersion: SSLv3`),
		says:     []string{"spec.viewerCertificate.minimumProtocolVersion", `"SSLv3" does not know the names`, "use TLSv1.2_2021 or a later one"},
	},
	"names need TLS also in a standard distribution": {
		accepted: direct(viewerCertificate(`{minimumProtocolVersion: SSLv3, sslSupportMethod: vip}`)),
		refused:  direct(viewerCertificate(`{minimumProtocolVersion: SSLv3, sslSupportMethod: sni-only}`)),
		says:     []string{"spec.viewerCertificate.minimumProtocolVersion", `"SSLv3" does not know the names`},
	},
	"dedicated addresses need an older policy": {
		accepted: direct(viewerCertificate(`{minimumProtocolVersion: TLSv1, sslSupportMethod: vip}`)),
		refused:  direct(viewerCertificate(`sslSupportMethod: vip`)),
		says:     []string{"spec.viewerCertificate.minimumProtocolVersion", `sslSupportMethod "vip"`, "not the default TLSv1.2_2021", "name one of these, or use sni-only"},
	},
	"a web ACL has global scope": {
		accepted: `webACLId: ` + q(webACL),
		refused:  `webACLId: "arn:aws:wafv2:eu-west-1:111122223333:regional/webacl/a/b"`,
		says:     []string{"spec.webACLId", "eu-west-1", "is not the ARN of a global web ACL", "scope CLOUDFRONT only"},
	},
	"a web ACL is not one of WAF Classic": {
		accepted: `webACLId: ` + q(webACL),
		refused:  `webACLId: 0f0e0d0c-0000-4000-8000-000000000002`,
		says:     []string{"spec.webACLId", "WAF Classic are not supported"},
	},
	"a root object has no slash before it": {
		accepted: `defaultRootObject: start/index.html`,
		refused:  `defaultRootObject: /index.html`,
		says:     []string{"spec.defaultRootObject", `"/index.html" starts with a slash`, `write "index.html"`},
	},
	"a whitelist needs a country": {
		accepted: geo(`restrictionType: whitelist, locations: [DE]`),
		refused:  geo(`restrictionType: whitelist`),
		says:     []string{"spec.restrictions.geoRestriction.locations", "need at least one country", "add one, or choose none"},
	},
	"a blacklist needs a country": {
		accepted: geo(`restrictionType: blacklist, locations: [DE]`),
		refused:  geo(`restrictionType: blacklist, locations: []`),
		says:     []string{"spec.restrictions.geoRestriction.locations", "need at least one country"},
	},
	"no restriction takes no country": {
		accepted: geo(`restrictionType: none, locations: []`),
		refused:  geo(`restrictionType: none, locations: [DE]`),
		says:     []string{"spec.restrictions.geoRestriction.locations", "remove locations, or choose whitelist or blacklist"},
	},
	"a country is in the ISO list": {
		accepted: geo(`restrictionType: whitelist, locations: [GB, DE]`),
		refused:  geo(`restrictionType: whitelist, locations: [UK, DE]`),
		says:     []string{"spec.restrictions.geoRestriction.locations[0]", `"UK" is not an ISO 3166-1 alpha-2 country code`},
	},
	"a country is not empty": {
		accepted: geo(`restrictionType: whitelist, locations: [DE]`),
		refused:  geo(`restrictionType: whitelist, locations: [""]`),
		says:     []string{"spec.restrictions.geoRestriction.locations[0]", "at least 2"},
	},
	"a country has two letters": {
		accepted: geo(`restrictionType: whitelist, locations: [DE]`),
		refused:  geo(`restrictionType: whitelist, locations: [DEU]`),
		says:     []string{"spec.restrictions.geoRestriction.locations[0]", "Too long", "2"},
	},
	"a country is listed once": {
		accepted: geo(`restrictionType: whitelist, locations: [DE, FR]`),
		refused:  geo(`restrictionType: whitelist, locations: [DE, DE]`),
		says:     []string{"spec.restrictions.geoRestriction.locations[1]", "Duplicate value"},
	},
	"a restriction is one of countries": {
		accepted: geo(`restrictionType: none`),
		refused:  `restrictions: {}`,
		says:     []string{"spec.restrictions.geoRestriction", "Required"},
	},
	"a restriction has a type": {
		accepted: geo(`restrictionType: none`),
		refused:  geo(`locations: [DE]`),
		says:     []string{"spec.restrictions.geoRestriction.restrictionType", "Required"},
	},
}

// directRules are about the domains and logs of a standard distribution.
var directRules = map[string]validationCase{
	"aliases need a certificate": {
		accepted: direct(overlay(`aliases: [shop.example.com]`, viewerCertificate(`{}`))),
		refused:  direct(`aliases: [shop.example.com]`),
		says:     []string{"spec.viewerCertificate", `"shop.example.com" and all other aliases need a certificate`, "set viewerCertificate.acmCertificateArn"},
	},
	"an alias is a domain in lower case": {
		accepted: direct(overlay(`aliases: ["*.shop.example.com", xn--bcher-kva.example]`, viewerCertificate(`{}`))),
		refused:  direct(overlay(`aliases: [Shop.example.com]`, viewerCertificate(`{}`))),
		says:     []string{"spec.aliases", `"Shop.example.com" is not a fully qualified domain name`, "in lower case"},
	},
	"an alias is given once": {
		accepted: direct(overlay(`aliases: [a.example.com, b.example.com]`, viewerCertificate(`{}`))),
		refused:  direct(overlay(`aliases: [a.example.com, a.example.com]`, viewerCertificate(`{}`))),
		says:     []string{"spec.aliases[1]", "Duplicate value"},
	},
	"logs are written to a bucket": {
		accepted: logs(`bucket: logs.s3.cn-north-1.amazonaws.com.cn`),
		refused:  logs(`bucket: logs`),
		says:     []string{"spec.logging.bucket", `"logs" is not the domain name of a bucket`, "give <bucket>.s3.amazonaws.com"},
	},
	"logs have cookies or not": {
		accepted: logs(`includeCookies: true`),
		refused:  logs(`includeCookies: "some"`),
		says:     []string{"spec.logging.includeCookies", "boolean"},
	},
}

func originBounds() map[string]validationCase {
	set, customs, shield := setter(origin), setter(custom), setter(origin).into("originShield: {originShieldRegion: %s}")
	header := func(format string) setter { return setter(origin).into("customHeaders: [" + format + "]") }
	return merged(
		requiredCases("origins[0].", func(fields string) string { return "origins: [" + fields + "]" }, leastOrigin, "id", "domainName"),
		requiredCases("origins[0].customHeaders[0].", header("%s"), `{name: X-A, value: a}`, "name", "value"),
		requiredCases("origins[0].vpcOriginConfig.", setter(origin).into("{customOriginConfig: null, vpcOriginConfig: %s}"), `{vpcOriginId: vo_1}`, "vpcOriginId"),
		requiredCases("origins[0].originShield.", setter(origin).into("originShield: %s"), `{originShieldRegion: eu-central-1}`, "originShieldRegion"),
		textCases(
			textBound{field: "origins[1].id", set: in("{origins: [" + leastOrigin + ", {domainName: a.example.com, customOriginConfig: {}, id: %s}]}").text, longest: 128, shortest: "a"},
			textBound{field: "origins[0].domainName", set: set.into("domainName: %s").text, longest: 253, shortest: "a"},
			textBound{field: "origins[0].originPath", set: set.into("originPath: %s").text, longest: 255, start: "/", shortest: "/a"},
			textBound{field: "origins[0].customHeaders[0].name", set: header("{value: a, name: %s}").text, longest: 256, shortest: "a"},
			textBound{field: "origins[0].customHeaders[0].value", set: header("{name: X-A, value: %s}").text, longest: 1783, shortest: "a"},
			textBound{field: "origins[0].originAccessControlId", set: set.into("originAccessControlId: %s").text, longest: 64, shortest: "E"},
			textBound{field: "origins[0].vpcOriginConfig.vpcOriginId", set: setter(vpc).into("vpcOriginId: %s").text, longest: 64, shortest: "v"},
			textBound{field: "origins[0].vpcOriginConfig.ownerAccountId", set: setter(vpc).into("ownerAccountId: %s").text, longest: 12},
			textBound{field: "origins[0].originShield.originShieldRegion", set: shield.text, longest: 32, start: "eu-", end: "-1", shortest: "eu-a-1", valid: "eu-central-1"},
		),
		numberCases(
			numberBound{"origins[0].connectionAttempts", set.into("connectionAttempts: %s"), 1, 3},
			numberBound{"origins[0].connectionTimeout", set.into("connectionTimeout: %s"), 1, 10},
			numberBound{"origins[0].responseCompletionTimeout", set.into("{customOriginConfig: {originReadTimeout: 1}, responseCompletionTimeout: %s}"), 1, 86400},
			numberBound{"origins[0].customOriginConfig.httpPort", customs.into("httpPort: %s"), 80, 65535},
			numberBound{"origins[0].customOriginConfig.httpsPort", customs.into("httpsPort: %s"), 80, 65535},
			numberBound{"origins[0].customOriginConfig.originReadTimeout", customs.into("originReadTimeout: %s"), 1, 180},
			numberBound{"origins[0].customOriginConfig.originKeepaliveTimeout", customs.into("originKeepaliveTimeout: %s"), 1, 180},
			numberBound{"origins[0].s3OriginConfig.originReadTimeout", setter(s3).into("originReadTimeout: %s"), 1, 180},
			numberBound{"origins[0].vpcOriginConfig.originReadTimeout", setter(vpc).into("originReadTimeout: %s"), 1, 180},
			numberBound{"origins[0].vpcOriginConfig.originKeepaliveTimeout", setter(vpc).into("originKeepaliveTimeout: %s"), 1, 180},
		),
		choiceCases(
			choice{"origins[0].customOriginConfig.originProtocolPolicy", customs.into("originProtocolPolicy: %s"), []string{"https-only", "http-only", "match-viewer"}, "any"},
			choice{"origins[0].customOriginConfig.originSslProtocols[0]", customs.into("originSslProtocols: [%s]"), []string{"SSLv3", "TLSv1", "TLSv1.1", "TLSv1.2"}, "TLSv1.3"},
			choice{"origins[0].customOriginConfig.ipAddressType", customs.into("ipAddressType: %s"), []string{"ipv4", "ipv6", "dualstack"}, "ipv5"},
		),
		listCases(
			listBound{field: "origins", set: in("origins: %s"), most: 25, item: "{id: app%d, domainName: app.example.com, customOriginConfig: {}}"}.withFirst(leastOrigin),
			listBound{field: "origins[0].customHeaders", set: set.into("customHeaders: %s"), most: 30, item: "{name: X-%d, value: a}"},
			listBound{field: "origins[0].customOriginConfig.originSslProtocols", set: customs.into("originSslProtocols: %s"), most: 4, item: "TLSv1.%d", least: 1}.taking("SSLv3", "TLSv1", "TLSv1.1", "TLSv1.2"),
		),
	)
}

// behaviorCases are those of the default behavior and of any other.
func behaviorCases(path string, b setter) map[string]validationCase {
	rules := map[string]validationCase{
		"methods are one of three sets": {
			accepted: b(`allowedMethods: [OPTIONS, HEAD, GET]`),
			refused:  b(`allowedMethods: [GET, HEAD, POST]`),
			says:     []string{".allowedMethods", "[GET, HEAD, POST] is none of the three sets", "GET, HEAD and OPTIONS; or all seven"},
		},
		"methods are two, three or seven": {
			accepted: b(`allowedMethods: ` + allMethods),
			refused:  b(`allowedMethods: [GET, HEAD, OPTIONS, PUT, PATCH, POST]`),
			says:     []string{".allowedMethods", "[GET, HEAD, OPTIONS, PUT, PATCH, POST] is none of the three sets"},
		},
		"a method is listed once": {
			accepted: b(`allowedMethods: [GET, HEAD]`),
			refused:  b(`allowedMethods: [GET, GET]`),
			says:     []string{".allowedMethods[1]", "Duplicate value"},
		},
		"methods are two at least": {
			accepted: b(`allowedMethods: [GET, HEAD]`),
			refused:  b(`allowedMethods: [GET]`),
			says:     []string{".allowedMethods", "at least 2"},
		},
		"methods are seven at most": {
			accepted: b(`allowedMethods: ` + allMethods),
			refused:  b(`allowedMethods: [GET, HEAD, OPTIONS, PUT, PATCH, POST, DELETE, GET]`),
			says:     []string{".allowedMethods", "Too many: 8", "at most 7"},
		},
		"cached methods are one of two sets": {
			accepted: b(`{allowedMethods: [GET, HEAD, OPTIONS], cachedMethods: [GET, HEAD, OPTIONS]}`),
			refused:  b(`{allowedMethods: ` + allMethods + `, cachedMethods: [GET, HEAD, POST]}`),
			says:     []string{".cachedMethods", "[GET, HEAD, POST] is none of the two sets", "GET, HEAD and OPTIONS"},
		},
		"a cached method is allowed": {
			accepted: b(`{allowedMethods: ` + allMethods + `, cachedMethods: [GET, HEAD, OPTIONS]}`),
			refused:  b(`{allowedMethods: [GET, HEAD], cachedMethods: [GET, HEAD, OPTIONS]}`),
			says:     []string{".cachedMethods", `"OPTIONS" is not among allowedMethods`, "add it there, or remove it here"},
		},
		"a cached method is allowed, also by default": {
			accepted: b(`cachedMethods: [HEAD, GET]`),
			refused:  b(`cachedMethods: [GET, HEAD, OPTIONS]`),
			says:     []string{".cachedMethods", `"OPTIONS" is not among allowedMethods`},
		},
		"a cached method is listed once": {
			accepted: b(`cachedMethods: [GET, HEAD]`),
			refused:  b(`cachedMethods: [GET, GET]`),
			says:     []string{".cachedMethods[1]", "Duplicate value"},
		},
		"cached methods are two at least": {
			accepted: b(`cachedMethods: [GET, HEAD]`),
			refused:  b(`cachedMethods: [GET]`),
			says:     []string{".cachedMethods", "at least 2"},
		},
		"cached methods are three at most": {
			accepted: b(`cachedMethods: [GET, HEAD]`),
			refused:  b(`cachedMethods: [GET, HEAD, OPTIONS, POST]`),
			says:     []string{".cachedMethods", "Too many: 4", "at most 3"},
		},
		"gRPC needs POST": {
			accepted: b(`{allowedMethods: ` + allMethods + `, grpcConfig: {enabled: true}}`),
			refused:  b(`grpcConfig: {enabled: true}`),
			says:     []string{".grpcConfig.enabled", "gRPC uses POST", "add all seven methods to allowedMethods, or switch gRPC off"},
		},
		"a cache policy is named by its ID": {
			accepted: b(`cachePolicyId: ` + cachePolicy),
			refused:  b(`cachePolicyId: CachingOptimized`),
			says:     []string{".cachePolicyId", `"CachingOptimized" is not the ID of a cache policy`, "not the name"},
		},
		"an origin request policy is named by its ID": {
			accepted: b(`originRequestPolicyId: ` + cachePolicy),
			refused:  b(`originRequestPolicyId: All Viewer`),
			says:     []string{".originRequestPolicyId", `"All Viewer" is not the ID of an origin request policy`, "give the ID"},
		},
		"a response headers policy is named by its ID": {
			accepted: b(`responseHeadersPolicyId: ` + cachePolicy),
			refused:  b(`responseHeadersPolicyId: Simple_CORS`),
			says:     []string{".responseHeadersPolicyId", `"Simple_CORS" is not the ID of a response headers policy`, "give the ID"},
		},
		"field-level encryption is named by its ID": {
			accepted: b(`fieldLevelEncryptionId: E1A2B3C4D5E6F7`),
			refused:  b(`fieldLevelEncryptionId: my config`),
			says:     []string{".fieldLevelEncryptionId", `"my config" is not the ID of a field-level encryption configuration`, "give the ID"},
		},
		"a key group is named by its ID": {
			accepted: b(`trustedKeyGroups: [` + cachePolicy + `]`),
			refused:  b(`trustedKeyGroups: [my keys]`),
			says:     []string{".trustedKeyGroups", `"my keys" is not the ID of a key group`, "give the ID"},
		},
		"a key group is listed once": {
			accepted: b(`trustedKeyGroups: [a, b]`),
			refused:  b(`trustedKeyGroups: [a, a]`),
			says:     []string{".trustedKeyGroups[1]", "Duplicate value"},
		},
		"a function is named by its ARN": {
			accepted: b(`functionAssociations: [{eventType: viewer-request, functionArn: ` + q(function) + `}]`),
			refused:  b(`functionAssociations: [{eventType: viewer-request, functionArn: rewrite}]`),
			says:     []string{".functionAssociations[0].functionArn", `"rewrite" is not the ARN of a CloudFront function`, "give arn:aws:cloudfront::<account>:function/<name>"},
		},
		"an event has one function": {
			accepted: b(`functionAssociations: [{eventType: viewer-request, functionArn: ` + q(function) + `}, {eventType: viewer-response, functionArn: ` + q(function) + `}]`),
			refused:  b(`functionAssociations: [{eventType: viewer-request, functionArn: ` + q(function) + `}, {eventType: viewer-request, functionArn: ` + q(function) + `}]`),
			says:     []string{".functionAssociations[1]", "Duplicate value", "viewer-request"},
		},
		"a Lambda function is named with its version": {
			accepted: b(`lambdaFunctionAssociations: [{eventType: origin-request, lambdaFunctionArn: ` + q(lambda) + `}]`),
			refused:  b(`lambdaFunctionAssociations: [{eventType: origin-request, lambdaFunctionArn: ` + q(strings.TrimSuffix(lambda, "3")+"$LATEST") + `}]`),
			says:     []string{".lambdaFunctionAssociations[0].lambdaFunctionArn", `$LATEST" is not the ARN of a numbered version`, "publish a version there"},
		},
		"a Lambda function is in us-east-1": {
			accepted: b(`lambdaFunctionAssociations: [{eventType: origin-request, lambdaFunctionArn: ` + q(lambda) + `}]`),
			refused:  b(`lambdaFunctionAssociations: [{eventType: origin-request, lambdaFunctionArn: ` + q(strings.Replace(lambda, "us-east-1", "eu-west-1", 1)) + `}]`),
			says:     []string{".lambdaFunctionAssociations[0].lambdaFunctionArn", "eu-west-1", "a function in us-east-1"},
		},
		"an event has one Lambda function": {
			accepted: b(`lambdaFunctionAssociations: [{eventType: origin-request, lambdaFunctionArn: ` + q(lambda) + `}, {eventType: origin-response, lambdaFunctionArn: ` + q(lambda) + `}]`),
			refused:  b(`lambdaFunctionAssociations: [{eventType: origin-request, lambdaFunctionArn: ` + q(lambda) + `}, {eventType: origin-request, lambdaFunctionArn: ` + q(lambda) + `}]`),
			says:     []string{".lambdaFunctionAssociations[1]", "Duplicate value", "origin-request"},
		},
		"only a request has a body": {
			accepted: b(`lambdaFunctionAssociations: [{eventType: viewer-request, lambdaFunctionArn: ` + q(lambda) + `, includeBody: true}, {eventType: viewer-response, lambdaFunctionArn: ` + q(lambda) + `, includeBody: false}]`),
			refused:  b(`lambdaFunctionAssociations: [{eventType: origin-response, lambdaFunctionArn: ` + q(lambda) + `, includeBody: true}]`),
			says:     []string{".lambdaFunctionAssociations[0].includeBody", `the event "origin-response" has no body of a request`, "remove includeBody"},
		},
		"functions of both kinds don't share the events of viewers": {
			accepted: b(`{functionAssociations: [{eventType: viewer-request, functionArn: ` + q(function) + `}], lambdaFunctionAssociations: [{eventType: origin-request, lambdaFunctionArn: ` + q(lambda) + `}]}`),
			refused:  b(`{functionAssociations: [{eventType: viewer-request, functionArn: ` + q(function) + `}], lambdaFunctionAssociations: [{eventType: viewer-response, lambdaFunctionArn: ` + q(lambda) + `}]}`),
			says:     []string{".lambdaFunctionAssociations", `here is one for "viewer-response"`, "move it to an event of the origin, or remove functionAssociations"},
		},
	}
	cases := map[string]validationCase{}
	for name, tc := range rules {
		tc.says[0] = "spec." + path + tc.says[0]
		cases[path+": "+name] = tc
	}
	inFunction := b.into("functionAssociations: [%s]")
	inLambda := b.into("lambdaFunctionAssociations: [%s]")
	whole := overlay(leastBehavior, "pathPattern: /x")
	wrap := in("cacheBehaviors: [%s]")
	if path == "defaultCacheBehavior" {
		whole, wrap = leastBehavior, in("defaultCacheBehavior: %s")
	}
	return merged(cases,
		requiredCases(path+".", wrap, whole, "targetOriginId", "viewerProtocolPolicy", "cachePolicyId"),
		requiredCases(path+".grpcConfig.", b.into("grpcConfig: %s"), `{enabled: false}`, "enabled"),
		requiredCases(path+".functionAssociations[0].", inFunction, `{eventType: viewer-request, functionArn: `+q(function)+`}`, "eventType", "functionArn"),
		requiredCases(path+".lambdaFunctionAssociations[0].", inLambda, `{eventType: origin-request, lambdaFunctionArn: `+q(lambda)+`}`, "eventType", "lambdaFunctionArn"),
		textCases(
			textBound{field: path + ".targetOriginId", set: b.into("targetOriginId: %s").text, longest: 128, shortest: "app", valid: "app"},
			textBound{field: path + ".cachePolicyId", set: b.into("cachePolicyId: %s").text, longest: 64, shortest: "1"},
			textBound{field: path + ".originRequestPolicyId", set: b.into("originRequestPolicyId: %s").text, longest: 64, shortest: "1"},
			textBound{field: path + ".responseHeadersPolicyId", set: b.into("responseHeadersPolicyId: %s").text, longest: 64, shortest: "1"},
			textBound{field: path + ".fieldLevelEncryptionId", set: b.into("fieldLevelEncryptionId: %s").text, longest: 64, shortest: "a"},
			textBound{field: path + ".trustedKeyGroups[0]", set: b.into("trustedKeyGroups: [%s]").text, longest: 64, shortest: "a"},
			textBound{field: path + ".functionAssociations[0].functionArn", set: inFunction.into("{eventType: viewer-request, functionArn: %s}").text, longest: 108, start: function, shortest: function, valid: function},
			textBound{field: path + ".lambdaFunctionAssociations[0].lambdaFunctionArn", set: inLambda.into("{eventType: origin-request, lambdaFunctionArn: %s}").text, longest: 256, start: lambda, shortest: lambda},
		),
		choiceCases(
			choice{path + ".viewerProtocolPolicy", b.into("viewerProtocolPolicy: %s"), []string{"redirect-to-https", "https-only", "allow-all"}, "http-only"},
			choice{path + ".allowedMethods[0]", b.into("allowedMethods: [%s, HEAD]"), []string{"GET"}, "TRACE"},
			choice{path + ".cachedMethods[0]", b.into("cachedMethods: [%s, HEAD]"), []string{"GET"}, "TRACE"},
			choice{path + ".functionAssociations[0].eventType", inFunction.into("{functionArn: " + q(function) + ", eventType: %s}"), []string{"viewer-request", "viewer-response"}, "origin-request"},
			choice{
				path + ".lambdaFunctionAssociations[0].eventType", inLambda.into("{lambdaFunctionArn: " + q(lambda) + ", eventType: %s}"),
				[]string{"viewer-request", "viewer-response", "origin-request", "origin-response"}, "request",
			},
		),
		listCases(
			listBound{field: path + ".trustedKeyGroups", set: b.into("trustedKeyGroups: %s"), most: 4, item: "k%d"},
			listBound{field: path + ".functionAssociations", set: b.into("functionAssociations: %s"), most: 2, item: "{functionArn: " + q(function) + ", eventType: viewer-%d}"}.
				taking("{functionArn: "+q(function)+", eventType: viewer-request}", "{functionArn: "+q(function)+", eventType: viewer-response}"),
			listBound{field: path + ".lambdaFunctionAssociations", set: b.into("lambdaFunctionAssociations: %s"), most: 4, item: "{lambdaFunctionArn: " + q(lambda) + ", eventType: viewer-%d}"}.
				taking("{lambdaFunctionArn: "+q(lambda)+", eventType: viewer-request}", "{lambdaFunctionArn: "+q(lambda)+", eventType: viewer-response}",
					"{lambdaFunctionArn: "+q(lambda)+", eventType: origin-request}", "{lambdaFunctionArn: "+q(lambda)+", eventType: origin-response}"),
		),
	)
}

const (
	function = "arn:aws:cloudfront::111122223333:function/rewrite"
	lambda   = "arn:aws:lambda:us-east-1:111122223333:function:rewrite:3"
)

// distributionBounds are those of everything but origins and behaviors.
func distributionBounds() map[string]validationCase {
	schema := setter(stringSchema)
	group, failover := setter(pair), setter(pair).into("failoverCriteria: {statusCodes: [%s]}")
	logged, certified := setter(logs), setter(viewerCertificate)
	standard := func(format string) setter { return setter(direct).into(format) }
	alias := setter(direct).into("{viewerCertificate: {acmCertificateArn: " + q(certificate) + "}, aliases: %s}")
	return merged(
		requiredCases("originGroups[0].", func(g string) string { return overlay(pair("{}"), "originGroups: ["+g+"]") }, leastGroupOfTwo, "id", "failoverCriteria", "members"),
		requiredCases("originGroups[0].failoverCriteria.", group.into("failoverCriteria: %s"), `{statusCodes: [503]}`, "statusCodes"),
		requiredCases("originGroups[0].members[0].", group.into("members: [%s, {originId: spare}]"), `{originId: app}`, "originId"),
		requiredCases("cacheBehaviors[0].", in("cacheBehaviors: [%s]"), overlay(leastBehavior, "pathPattern: /x"), "pathPattern"),
		requiredCases("customErrorResponses[0].", in("customErrorResponses: [%s]"), `{errorCode: 404}`, "errorCode"),
		requiredCases("tenantConfig.parameterDefinitions[0].", in("tenantConfig: {parameterDefinitions: [%s]}"), leastParameter, "name", "definition"),
		requiredCases("tenantConfig.parameterDefinitions[0].definition.", setter(parameter).into("definition: %s"), `{stringSchema: {required: true}}`, "stringSchema"),
		requiredCases("tenantConfig.parameterDefinitions[0].definition.stringSchema.", setter(parameter).into("definition: {stringSchema: %s}"), `{required: true}`, "required"),
		requiredCases("logging.", setter(direct).into("logging: %s"), `{bucket: logs.s3.amazonaws.com}`, "bucket"),
		textCases(
			textBound{field: "distributionId", set: in("{adoptionPolicy: Force, distributionId: %s}").text, longest: 32, shortest: "E"},
			textBound{field: "comment", set: in("comment: %s").text, longest: 128, shortest: "c"},
			textBound{field: "webACLId", set: in("webACLId: %s").text, longest: 2048, start: webACL, shortest: webACL},
			textBound{field: "defaultRootObject", set: in("defaultRootObject: %s").text, longest: 255, shortest: "i"},
			textBound{field: "originGroups[0].id", set: group.into("id: %s").text, longest: 128, shortest: "g"},
			textBound{field: "originGroups[0].members[0].originId", set: group.into("members: [{originId: %s}, {originId: spare}]").text, longest: 128, shortest: "app", valid: "app"},
			textBound{field: "cacheBehaviors[0].pathPattern", set: setter(behavior).into("pathPattern: %s").text, longest: 255, shortest: "*"},
			textBound{field: "customErrorResponses[0].responsePagePath", set: setter(errorResponse).into("{responseCode: 404, responsePagePath: %s}").text, longest: 255, start: "/", shortest: "/"},
			textBound{field: "viewerCertificate.acmCertificateArn", set: certified.into("acmCertificateArn: %s").text, longest: 2048, start: certificate, shortest: certificate},
			textBound{field: "viewerCertificate.iamCertificateId", set: standard("viewerCertificate: {iamCertificateId: %s}").text, longest: 128, shortest: "A"},
			textBound{field: "tenantConfig.parameterDefinitions[0].name", set: setter(parameter).into("name: %s").text, longest: 128, shortest: "p"},
			textBound{field: "tenantConfig.parameterDefinitions[0].definition.stringSchema.defaultValue", set: schema.into("defaultValue: %s").text, longest: 256, shortest: "v"},
			textBound{field: "tenantConfig.parameterDefinitions[0].definition.stringSchema.comment", set: schema.into("comment: %s").text, longest: 256, shortest: "c"},
			textBound{field: "aliases[0]", set: alias.into("[%s]").text, longest: 253, end: ".io", shortest: "a.io", valid: strings.Repeat("a123456789.", 22) + "example.com"},
			textBound{field: "logging.bucket", set: logged.into("bucket: %s").text, longest: 253, end: ".s3.amazonaws.com", shortest: "a.amazonaws.com"},
			textBound{field: "logging.prefix", set: logged.into("prefix: %s").text, longest: 256, shortest: "p"},
		),
		numberCases(numberBound{"customErrorResponses[0].errorCachingMinTTL", setter(errorResponse).into("errorCachingMinTTL: %s"), 0, 31536000}),
		choiceCases(
			choice{"httpVersion", in("httpVersion: %s"), []string{"http1.1", "http2", "http3", "http2and3"}, "http4"},
			choice{"priceClass", standard("priceClass: %s"), []string{"PriceClass_100", "PriceClass_200", "PriceClass_All"}, "PriceClass_300"},
			choice{"originGroups[0].selectionCriteria", group.into("selectionCriteria: %s"), []string{"default", "media-quality-based"}, "random"},
			choice{"originGroups[0].failoverCriteria.statusCodes[0]", failover, []string{"400", "403", "404", "416", "429", "500", "502", "503", "504"}, "418"},
			choice{"customErrorResponses[0].errorCode", setter(errorResponse).into("errorCode: %s"), []string{"400", "403", "404", "405", "414", "416", "500", "501", "502", "503", "504"}, "418"},
			choice{
				"customErrorResponses[0].responseCode", setter(errorResponse).into("{responsePagePath: /x, responseCode: %s}"),
				[]string{"200", "400", "403", "404", "405", "414", "416", "500", "501", "502", "503", "504"}, "302",
			},
			choice{
				"viewerCertificate.minimumProtocolVersion", setter(direct).into("{viewerCertificate: {acmCertificateArn: " + q(certificate) + ", sslSupportMethod: vip, minimumProtocolVersion: %s}}"),
				[]string{"SSLv3", "TLSv1", "TLSv1_2016", "TLSv1.1_2016", "TLSv1.2_2018", "TLSv1.2_2019", "TLSv1.2_2021", "TLSv1.2_2025", "TLSv1.3_2025"}, "TLSv1.2",
			},
			choice{
				"viewerCertificate.sslSupportMethod", setter(direct).into("{viewerCertificate: {acmCertificateArn: " + q(certificate) + ", minimumProtocolVersion: TLSv1, sslSupportMethod: %s}}"),
				[]string{"sni-only", "vip", "static-ip"}, "none",
			},
			choice{"restrictions.geoRestriction.restrictionType", setter(geo).into("locations: [DE], restrictionType: %s"), []string{"whitelist", "blacklist"}, "allowlist"},
		),
		listCases(
			listBound{field: "originGroups", set: func(groups string) string { return overlay(pair("{}"), "originGroups: "+groups) }, most: 10, item: strings.Replace(leastGroupOfTwo, "id: both", "id: g%d", 1)},
			listBound{field: "originGroups[0].failoverCriteria.statusCodes", set: group.into("failoverCriteria: {statusCodes: %s}"), most: 9, item: "50%d", least: 1}.
				taking("400", "403", "404", "416", "429", "500", "502", "503", "504"),
			listBound{field: "cacheBehaviors", set: in("cacheBehaviors: %s"), most: 25, item: overlay(leastBehavior, `pathPattern: /p%d`)},
			listBound{field: "customErrorResponses", set: in("customErrorResponses: %s"), most: 11, item: "{errorCode: 50%d}"}.
				taking("{errorCode: 400}", "{errorCode: 403}", "{errorCode: 404}", "{errorCode: 405}", "{errorCode: 414}", "{errorCode: 416}",
					"{errorCode: 500}", "{errorCode: 501}", "{errorCode: 502}", "{errorCode: 503}", "{errorCode: 504}"),
			listBound{field: "tenantConfig.parameterDefinitions", set: in("tenantConfig: {parameterDefinitions: %s}"), most: 50, item: strings.Replace(leastParameter, "name: tenant", "name: p%d", 1)},
			listBound{field: "aliases", set: alias, most: 100, item: "a%d.example.com"},
			listBound{field: "restrictions.geoRestriction.locations", set: setter(geo).into("restrictionType: whitelist, locations: %s"), most: 300, item: "C%d"}.taking("DE", "FR"),
		),
	)
}
