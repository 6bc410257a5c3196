package aws

import (
	"regexp"
	"strings"
)

// says tells whether a configuration asks for something: the member is there
// and is neither empty nor false nor None nor a list of nothing. SDKs and tools send
// such zero values along with what they mean.
func says(config *node, path ...string) bool {
	n := config.at(path...)
	switch {
	case n == nil:
		return false
	case n.child("Quantity") != nil:
		return n.str("Quantity") != "0"
	case n.child("Enabled") != nil:
		return n.str("Enabled") == "true"
	}
	return len(n.kids) > 0 || (n.text != "" && n.text != "false" && n.text != "None")
}

// standardOnly are the members a multi-tenant distribution cannot have, and
// what replaces them.
var standardOnly = []struct {
	path    []string
	instead string
}{
	{[]string{"Aliases"}, "the domains of its distribution tenants"},
	{[]string{"PriceClass"}, ""},
	{[]string{"ContinuousDeploymentPolicyId"}, ""},
	{[]string{"Staging"}, ""},
	{[]string{"IsIPV6Enabled"}, "a connection group"},
	{[]string{"AnycastIpListId"}, "a connection group"},
	{[]string{"Logging"}, "standard logging v2"},
	{[]string{"ViewerCertificate", "IAMCertificateId"}, "an ACM certificate"},
}

// standardOnlyBehavior are the same of cache behaviors.
var standardOnlyBehavior = []struct {
	name    string
	instead string
}{
	{"TrustedSigners", "TrustedKeyGroups"},
	{"SmoothStreaming", ""},
	{"ForwardedValues", "a cache policy and an origin request policy"},
	{"MinTTL", "a cache policy"},
	{"DefaultTTL", "a cache policy"},
	{"MaxTTL", "a cache policy"},
}

var wafClassicID = regexp.MustCompile(`^[0-9a-fA-F-]{36}$`)

// checkMode refuses what the connection mode does not support.
func checkMode(d *distribution) error {
	config := d.config
	if d.mode == modeDirect {
		if says(config, "TenantConfig") {
			return invalidArgument("TenantConfig is not supported for a standard distribution.")
		}
		return nil
	}
	for _, m := range standardOnly {
		if says(config, m.path...) {
			return unsupported(strings.Join(m.path, "."), m.instead)
		}
	}
	for _, behavior := range behaviors(config) {
		for _, m := range standardOnlyBehavior {
			if says(behavior, m.name) {
				return unsupported(behavior.name+"."+m.name, m.instead)
			}
		}
	}
	for _, origin := range origins(config) {
		if says(origin, "S3OriginConfig", "OriginAccessIdentity") {
			return unsupported("S3OriginConfig.OriginAccessIdentity", "origin access control")
		}
	}
	if wafClassicID.MatchString(config.str("WebACLId")) {
		return unsupported("WebACLId of WAF Classic", "the ARN of a WAFv2 web ACL")
	}
	cert := config.child("ViewerCertificate")
	if cert.isTrue("CloudFrontDefaultCertificate") {
		return nil // what else stands there is of no effect
	}
	if method := cert.str("SSLSupportMethod"); method != "" && method != "sni-only" {
		return unsupported("ViewerCertificate.SSLSupportMethod "+method, "sni-only")
	}
	if cert.str("MinimumProtocolVersion") == "SSLv3" {
		return unsupported("ViewerCertificate.MinimumProtocolVersion SSLv3", "TLSv1.2_2021")
	}
	return nil
}

func unsupported(what, instead string) error {
	if instead == "" {
		return invalidArgument("%s is not supported for a multi-tenant distribution.", what)
	}
	return invalidArgument("%s is not supported for a multi-tenant distribution, use %s.", what, instead)
}
