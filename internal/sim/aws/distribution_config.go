package aws

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

func connectionMode(config *node) string {
	if mode := config.str("ConnectionMode"); mode != "" {
		return mode
	}
	return modeDirect
}

// readDistribution checks a configuration and takes from it what the simulator
// acts on.
func (s *Sim) readDistribution(c *call, sent *node) (*distribution, error) {
	if sent == nil {
		return nil, refuse(http.StatusBadRequest, "MissingBody", "The DistributionConfig is missing.")
	}
	if err := s.fits(sent, distributionShape, "distributionConfig"); err != nil {
		return nil, err
	}
	config := sent.clone()
	d := &distribution{config: config, mode: connectionMode(config), enabled: config.isTrue("Enabled")}
	var err error
	if d.params, err = s.readParamDefs(config.child("TenantConfig")); err != nil {
		return nil, err
	}
	for _, check := range []func(*distribution) error{
		checkMode, checkGeneral, s.checkParamRefs, s.checkOrigins, s.checkOriginGroups, s.checkBehaviors, checkMutualTLS, checkErrorResponses, checkGeo, checkWebACL,
	} {
		if err := check(d); err != nil {
			return nil, err
		}
	}
	for _, item := range config.at("Aliases", "Items").items("CNAME") {
		d.aliases = append(d.aliases, item.text)
	}
	if err := s.checkViewerCertificate(c, d); err != nil {
		return nil, err
	}
	s.complete(d)
	return d, nil
}

var rootObject = regexp.MustCompile(`^[A-Za-z0-9_.*$/~"'&-]*$`)

// checkGeneral looks at what is at the top of a configuration.
func checkGeneral(d *distribution) error {
	config := d.config
	root := config.str("DefaultRootObject")
	switch {
	case config.str("CallerReference") == "":
		return invalidArgument("The parameter CallerReference is required.")
	case utf8.RuneCountInString(config.str("Comment")) > 128:
		return invalidArgument("The parameter Comment must have at most 128 characters.")
	case len(root) > 255 || strings.HasPrefix(root, "/") || !rootObject.MatchString(root):
		return refuse(http.StatusBadRequest, "InvalidDefaultRootObject",
			"The default root object %q is too long, begins with a slash or has a character that is not allowed.", root)
	}
	if bucket := config.str("Logging", "Bucket"); says(config, "Logging") && !s3Domain.MatchString(bucket) {
		return invalidArgument("The parameter Logging Bucket does not refer to a valid S3 bucket: %q.", bucket)
	}
	return nil
}

// paramRef is how a configuration refers to a tenant's parameter.
var paramRef = regexp.MustCompile(`\{\{([^{}]*)\}\}`)

// checkParamRefs looks for references to parameters. They can be in the
// domain name and the path of an origin, as many in a field as the quota allows, and nowhere else.
func (s *Sim) checkParamRefs(d *distribution) error {
	for _, origin := range origins(d.config) {
		for _, field := range []string{"DomainName", "OriginPath"} {
			if err := s.checkField(origin.str(field), d); err != nil {
				return err
			}
		}
	}
	return noParamRefs(d.config)
}

func (s *Sim) checkField(field string, d *distribution) error {
	refs := paramRef.FindAllStringSubmatch(field, -1)
	switch {
	case len(refs) > 0 && d.mode != modeTenantOnly:
		return invalidArgument("Only the origins of a multi-tenant distribution can refer to parameters, as %q does.", field)
	case len(refs) > s.quotas.ParametersInField:
		return invalidArgument("A field can refer to at most %d parameters, %q has %d.", s.quotas.ParametersInField, field, len(refs))
	case strings.ContainsAny(paramRef.ReplaceAllString(field, ""), "{}"):
		return invalidArgument("The braces in %q do not make a reference to a parameter.", field)
	}
	for _, ref := range refs {
		name := strings.TrimSpace(ref[1])
		if !slices.ContainsFunc(d.params, func(p paramDef) bool { return p.name == name }) {
			return invalidArgument("The parameter %s in %q is not defined.", name, field)
		}
	}
	return nil
}

// noParamRefs refuses a reference anywhere but in an origin's domain name and
// path; comments are for people.
func noParamRefs(n *node) error {
	switch n.name {
	case "DomainName", "OriginPath", "Comment":
		return nil
	}
	if paramRef.MatchString(n.text) {
		return invalidArgument("A parameter can't be used in %s, only in an origin's DomainName and OriginPath: %q.", n.name, n.text)
	}
	for _, kid := range n.kids {
		if err := noParamRefs(kid); err != nil {
			return err
		}
	}
	return nil
}

// readParamDefs reads the parameters that tenants are given.
func (s *Sim) readParamDefs(tenantConfig *node) ([]paramDef, error) {
	var defs []paramDef
	for _, item := range tenantConfig.child("ParameterDefinitions").items("member", "ParameterDefinition") {
		schema := item.at("Definition", "StringSchema")
		d := paramDef{name: item.str("Name"), defaultValue: schema.str("DefaultValue"), required: schema.isTrue("Required")}
		value := schema.child("DefaultValue")
		switch {
		case !paramName.MatchString(d.name):
			return nil, invalidArgument("The parameter name %q is not valid.", d.name)
		case schema == nil:
			return nil, invalidArgument("The definition of the parameter %s needs a StringSchema.", d.name)
		case value != nil && (value.text == "" || utf8.RuneCountInString(value.text) > 256):
			return nil, invalidArgument("The default of the parameter %s must have 1 to 256 characters.", d.name)
		case slices.ContainsFunc(defs, func(o paramDef) bool { return o.name == d.name }):
			return nil, invalidArgument("The parameter %s is defined twice.", d.name)
		}
		defs = append(defs, d)
	}
	if len(defs) > s.quotas.Parameters {
		return nil, limitExceeded("A distribution can define %d parameters, got %d.", s.quotas.Parameters, len(defs))
	}
	return defs, nil
}

// The statuses that custom error responses can replace, and send.
var (
	errorCodes    = []string{"400", "403", "404", "405", "414", "416", "500", "501", "502", "503", "504"}
	responseCodes = append([]string{"200"}, errorCodes...)
)

// checkErrorResponses looks at what viewers get instead of errors.
func checkErrorResponses(d *distribution) error {
	var seen []string
	for _, r := range d.config.at("CustomErrorResponses", "Items").items("CustomErrorResponse") {
		code, sent, page := r.str("ErrorCode"), r.str("ResponseCode"), r.str("ResponsePagePath")
		switch {
		case !slices.Contains(errorCodes, code):
			return refuse(http.StatusBadRequest, "InvalidErrorCode", "The error code %s can't be replaced.", code)
		case slices.Contains(seen, code):
			return invalidArgument("The error code %s is listed twice.", code)
		case (sent == "") != (page == ""):
			return invalidArgument("The custom error response for %s needs both ResponseCode and ResponsePagePath, or neither.", code)
		case sent != "" && !slices.Contains(responseCodes, sent):
			return refuse(http.StatusBadRequest, "InvalidResponseCode", "The response code %q is not valid.", sent)
		case page != "" && !validPath(page):
			return invalidPath("ResponsePagePath", page)
		case outside(r, "ErrorCachingMinTTL", 0, longestTTL):
			return invalidArgument("The parameter ErrorCachingMinTTL is out of range: %s.", r.str("ErrorCachingMinTTL"))
		}
		seen = append(seen, code)
	}
	return nil
}

// longestTTL is a hundred years, the longest the service caches.
const longestTTL = 3_153_600_000

// outside tells whether a number is there and not within bounds.
func outside(n *node, name string, least, most int) bool {
	value, err := n.integer(name)
	return err != nil || (value != nil && (*value < least || *value > most))
}

func validPath(path string) bool {
	return strings.HasPrefix(path, "/") && len(path) <= 255 && !strings.ContainsAny(path, " <>\"\t\r\n")
}

func invalidPath(field, path string) error {
	return refuse(http.StatusBadRequest, "InvalidRelativePath",
		"The relative path in %s is too big, is not URL-encoded, or does not begin with a slash (/): %q.", field, path)
}

// checkGeo looks at the countries.
func checkGeo(d *distribution) error {
	geo := d.config.at("Restrictions", "GeoRestriction")
	if geo == nil {
		return nil
	}
	locations := geo.child("Items").items("Location")
	if (geo.str("RestrictionType") == "none") != (len(locations) == 0) {
		return refuse(http.StatusBadRequest, "InvalidGeoRestrictionParameter",
			"The restriction type %s does not go with %d locations.", geo.str("RestrictionType"), len(locations))
	}
	for _, l := range locations {
		if !isCountry(l.text) {
			return refuse(http.StatusBadRequest, "InvalidLocationCode", "The location code %q is not valid.", l.text)
		}
	}
	return nil
}

// checkWebACL accepts the ARN of a WAFv2 web ACL of global scope, and for a
// standard distribution the id of one of WAF Classic; checkMode has seen to that.
func checkWebACL(d *distribution) error {
	id := d.config.str("WebACLId")
	if id == "" || webACLArn.MatchString(id) || wafClassicID.MatchString(id) {
		return nil
	}
	return refuse(http.StatusBadRequest, "InvalidWebACLId", "The web ACL id is not valid: %q.", id)
}

func invalidCertificate(format string, args ...any) error {
	return refuse(http.StatusBadRequest, "InvalidViewerCertificate", format, args...)
}

// checkViewerCertificate looks at the certificate tenants inherit, or that a
// standard distribution needs for its aliases.
func (s *Sim) checkViewerCertificate(c *call, d *distribution) error {
	if err := readCertificate(d); err != nil {
		return err
	}
	var cert *certificate
	if d.certArn != "" {
		found, err := s.issuedCertificate(c.acct, d.certArn)
		if err != nil {
			return invalidCertificate("%s", asAPIError(err).Message)
		}
		cert = found
	}
	if len(d.aliases) > s.quotas.Aliases {
		return tooMany("TooManyDistributionCNAMEs", "alternate domain names", s.quotas.Aliases, len(d.aliases))
	}
	for i, alias := range d.aliases {
		if err := checkDomainName(alias); err != nil {
			return err
		}
		if slices.Contains(d.aliases[:i], alias) {
			return invalidArgument("The alternate domain name %s is listed twice.", alias)
		}
		// The names of an IAM certificate are not known here.
		if d.config.str("ViewerCertificate", "IAMCertificateId") == "" && (cert == nil || !covers(cert.names, alias)) {
			return invalidCertificate("The certificate that is attached to the distribution doesn't cover the alternate domain name %s.", alias)
		}
	}
	return nil
}

// readCertificate finds the one source of the certificate. The deprecated
// members, which the service itself answers with, are read where they stand alone.
func readCertificate(d *distribution) error {
	block := d.config.child("ViewerCertificate")
	if block == nil {
		return nil
	}
	arn, iam, own := block.str("ACMCertificateArn"), block.str("IAMCertificateId"), block.isTrue("CloudFrontDefaultCertificate")
	if arn == "" && block.str("CertificateSource") == "acm" {
		arn = block.str("Certificate")
	}
	sources := 0
	for _, given := range []bool{arn != "", iam != "", own} {
		if given {
			sources++
		}
	}
	method, again := block.str("SSLSupportMethod"), block.str("Certificate")
	switch {
	case sources != 1:
		return invalidCertificate("Give one of CloudFrontDefaultCertificate, ACMCertificateArn and IAMCertificateId, got %d.", sources)
	case own:
		return nil // its other settings are of no effect
	case again != "" && again != arn+iam:
		return invalidCertificate("The deprecated member Certificate names another certificate: %s.", again)
	case method == "" || block.str("MinimumProtocolVersion") == "":
		return invalidCertificate("A certificate needs SSLSupportMethod and MinimumProtocolVersion.")
	case method == "sni-only" && block.str("MinimumProtocolVersion") == "SSLv3":
		return refuse(http.StatusBadRequest, "InvalidProtocolSettings", "SSLv3 can't be the minimum protocol version of sni-only.")
	}
	d.certArn = arn
	return nil
}

func tooMany(code, what string, quota, got int) error {
	return refuse(http.StatusBadRequest, code, "A distribution can have %d %s, got %d.", quota, what, got)
}
