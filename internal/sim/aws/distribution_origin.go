package aws

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
)

func origins(config *node) []*node { return config.at("Origins", "Items").items("Origin") }

func originGroups(config *node) []*node {
	return config.at("OriginGroups", "Items").items("OriginGroup")
}

var (
	// s3Domain is the name of a bucket, not that of its website.
	s3Domain = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]*\.s3([.-][a-z0-9-]+)*\.amazonaws\.com(\.cn)?$`)
	// signedDomain is where CloudFront can sign its requests with an origin access
	// control: S3, MediaStore, MediaPackage v2 and URLs of Lambda functions.
	signedDomain = regexp.MustCompile(`(\.s3([.-][a-z0-9-]+)*|\.mediastore\..+|\.mediapackagev2\..+)\.amazonaws\.com(\.cn)?$|\.lambda-url\.[a-z0-9-]+\.on\.aws$`)
	// address is what no domain name is.
	address    = regexp.MustCompile(`\.[0-9]+$`)
	regionName = regexp.MustCompile(`^[a-z]{2}(-[a-z]+)+-[0-9]$`)
	headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,256}$")
)

// domainWith is a domain name as it may be once a tenant's values, which can
// have dots, stand in it.
func domainWith(domain string) string {
	return strings.ToLower(paramRef.ReplaceAllString(domain, "p.p"))
}

func invalidOrigin(format string, args ...any) error {
	return refuse(http.StatusBadRequest, "InvalidOrigin", format, args...)
}

// checkOrigins checks each origin separately.
func (s *Sim) checkOrigins(d *distribution) error {
	var ids []string
	for _, origin := range origins(d.config) {
		id := origin.str("Id")
		switch {
		case id == "":
			return invalidArgument("The parameter Id of an origin is required.")
		case len(id) > 128:
			return invalidArgument("The id of an origin must have at most 128 characters: %q.", id)
		case slices.Contains(ids, id):
			return invalidArgument("The origin %s is listed twice.", id)
		}
		ids = append(ids, id)
		for _, check := range []func(*node) error{checkOriginAddress, s.checkOriginKind, s.checkOriginLimits, s.checkHeaders} {
			if err := check(origin); err != nil {
				return err
			}
		}
	}
	if len(ids) == 0 {
		return invalidArgument("A distribution needs at least one origin.")
	}
	if len(ids) > s.quotas.Origins {
		return tooMany("TooManyOrigins", "origins", s.quotas.Origins, len(ids))
	}
	return nil
}

func checkOriginAddress(origin *node) error {
	domain := domainWith(origin.str("DomainName"))
	if checkDomainName(domain) != nil || strings.HasPrefix(domain, "*") || address.MatchString(domain) {
		return invalidArgument("The parameter origin name must be a domain name: %q.", origin.str("DomainName"))
	}
	path := paramRef.ReplaceAllString(origin.str("OriginPath"), "p")
	if path != "" && (!validPath(path) || strings.HasSuffix(path, "/")) {
		return invalidPath("OriginPath", origin.str("OriginPath"))
	}
	return nil
}

// checkOriginKind wants exactly one kind, and what goes with it.
func (s *Sim) checkOriginKind(origin *node) error {
	id, domain := origin.str("Id"), domainWith(origin.str("DomainName"))
	s3, custom, vpc := origin.child("S3OriginConfig"), origin.child("CustomOriginConfig"), origin.child("VpcOriginConfig")
	kinds := 0
	for _, kind := range []*node{s3, custom, vpc} {
		if kind != nil {
			kinds++
		}
	}
	control, identity := origin.str("OriginAccessControlId"), s3.str("OriginAccessIdentity")
	switch {
	case kinds != 1:
		return invalidOrigin("The origin %s needs one of an S3, custom or VPC origin configuration, it has %d.", id, kinds)
	case s3 != nil && !s3Domain.MatchString(domain):
		return invalidOrigin("The Amazon S3 origin server %s of %s does not refer to a valid Amazon S3 bucket.", origin.str("DomainName"), id)
	case identity != "" && !strings.HasPrefix(identity, "origin-access-identity/cloudfront/"):
		return refuse(http.StatusBadRequest, "InvalidOriginAccessIdentity", "The origin access identity is not valid: %q.", identity)
	case identity != "" && control != "":
		return refuse(http.StatusBadRequest, "IllegalOriginAccessConfiguration",
			"The origin %s has both an origin access control and an origin access identity.", id)
	case control != "" && !signedDomain.MatchString(domain):
		return refuse(http.StatusBadRequest, "InvalidDomainNameForOriginAccessControl",
			"An origin access control can't be used with the domain name %s.", origin.str("DomainName"))
	case vpc != nil && vpc.str("VpcOriginId") == "":
		return invalidArgument("The parameter VpcOriginId of the origin %s is required.", id)
	case vpc.str("OwnerAccountId") != "" && !accountID.MatchString(vpc.str("OwnerAccountId")):
		return invalidArgument("The parameter OwnerAccountId of the origin %s is not an account id: %q.", id, vpc.str("OwnerAccountId"))
	}
	return checkCustomOrigin(id, custom)
}

func checkCustomOrigin(id string, custom *node) error {
	for _, name := range []string{"HTTPPort", "HTTPSPort"} {
		if port := custom.number(name); custom != nil && port != 80 && port != 443 && (port < 1024 || port > 65535) {
			return invalidArgument("The parameter %s of the origin %s must be 80, 443 or 1024 to 65535, got %d.", name, id, port)
		}
	}
	protocols := custom.at("OriginSslProtocols", "Items").items("SslProtocol")
	if custom.child("OriginSslProtocols") != nil && len(protocols) == 0 {
		return invalidArgument("The origin %s needs at least one of the SSL protocols.", id)
	}
	return onlyOnce("SSL protocol", protocols)
}

// checkOriginLimits looks at numbers and regions.
func (s *Sim) checkOriginLimits(origin *node) error {
	id, shield := origin.str("Id"), origin.child("OriginShield")
	switch {
	case outside(origin, "ConnectionAttempts", 1, 3):
		return invalidArgument("The parameter ConnectionAttempts of the origin %s must be 1 to 3.", id)
	case outside(origin, "ConnectionTimeout", 1, 10):
		return invalidArgument("The parameter ConnectionTimeout of the origin %s must be 1 to 10.", id)
	case shield.isTrue("Enabled") && shield.str("OriginShieldRegion") == "":
		return invalidArgument("The parameter OriginShieldRegion of the origin %s is required.", id)
	case shield.str("OriginShieldRegion") != "" && !regionName.MatchString(shield.str("OriginShieldRegion")):
		return invalidArgument("The parameter OriginShieldRegion of the origin %s is not a region: %q.", id, shield.str("OriginShieldRegion"))
	}
	read := 30
	for _, kind := range []string{"S3OriginConfig", "CustomOriginConfig", "VpcOriginConfig"} {
		config := origin.child(kind)
		switch {
		case outside(config, "OriginReadTimeout", 1, s.quotas.OriginTimeout):
			return refuse(http.StatusBadRequest, "InvalidOriginReadTimeout", "The read timeout of the origin %s must be 1 to %d.", id, s.quotas.OriginTimeout)
		case outside(config, "OriginKeepaliveTimeout", 1, s.quotas.OriginTimeout):
			return refuse(http.StatusBadRequest, "InvalidOriginKeepaliveTimeout", "The keep alive timeout of the origin %s must be 1 to %d.", id, s.quotas.OriginTimeout)
		}
		if sent := config.number("OriginReadTimeout"); sent > 0 {
			read = sent
		}
	}
	if whole := origin.child("ResponseCompletionTimeout"); whole != nil && origin.number("ResponseCompletionTimeout") < read {
		return invalidArgument("The parameter ResponseCompletionTimeout of the origin %s must be at least OriginReadTimeout, %d.", id, read)
	}
	return nil
}

// refusedHeaders are those CloudFront does not add to requests.
var refusedHeaders = []string{
	"cache-control", "connection", "content-length", "cookie", "host", "if-match", "if-modified-since", "if-none-match", "if-range",
	"if-unmodified-since", "max-forwards", "pragma", "proxy-authenticate", "proxy-authorization", "proxy-connection", "range",
	"request-range", "te", "trailer", "transfer-encoding", "upgrade", "via", "x-real-ip",
}

// maxHeaders bounds all custom headers of an origin together, names and values.
const maxHeaders = 10_240

func (s *Sim) checkHeaders(origin *node) error {
	headers := origin.at("CustomHeaders", "Items").items("OriginCustomHeader")
	if len(headers) > s.quotas.CustomHeaders {
		return tooMany("TooManyOriginCustomHeaders", "custom headers for an origin", s.quotas.CustomHeaders, len(headers))
	}
	var seen []string
	size := 0
	for _, h := range headers {
		sent, value := h.str("HeaderName"), h.str("HeaderValue")
		name := strings.ToLower(sent)
		size += len(sent) + len(value)
		switch {
		case !headerName.MatchString(sent):
			return invalidArgument("The header name %q is not valid.", sent)
		case slices.Contains(refusedHeaders, name), strings.HasPrefix(name, "x-amz-"), strings.HasPrefix(name, "x-edge-"):
			return invalidArgument("CloudFront can't add the header %s to requests.", sent)
		case slices.Contains(seen, name):
			return invalidArgument("The header %s is listed twice.", sent)
		case value == "" || len(value) > 1783 || size > maxHeaders:
			return invalidArgument("The value of the header %s is empty or too long.", sent)
		}
		seen = append(seen, name)
	}
	return nil
}

// failoverCodes are the statuses on which an origin group can fail over.
var failoverCodes = []string{"400", "403", "404", "416", "429", "500", "502", "503", "504"}

func (s *Sim) checkOriginGroups(d *distribution) error {
	var ids []string
	for _, origin := range origins(d.config) {
		ids = append(ids, origin.str("Id"))
	}
	known := slices.Clone(ids)
	groups := originGroups(d.config)
	if len(groups) > s.quotas.OriginGroups {
		return tooMany("TooManyOriginGroupsPerDistribution", "origin groups", s.quotas.OriginGroups, len(groups))
	}
	for _, g := range groups {
		id := g.str("Id")
		if id == "" || len(id) > 128 || slices.Contains(ids, id) {
			return invalidArgument("The id of an origin group must have 1 to 128 characters and be no other origin's or group's: %q.", id)
		}
		ids = append(ids, id)
		if err := checkOriginGroup(g, known); err != nil {
			return err
		}
	}
	return nil
}

func checkOriginGroup(g *node, origins []string) error {
	id := g.str("Id")
	members := g.at("Members", "Items").items("OriginGroupMember")
	if len(members) != 2 {
		return invalidArgument("The origin group %s needs two members, it has %d.", id, len(members))
	}
	for _, m := range members {
		if !slices.Contains(origins, m.str("OriginId")) {
			return noSuchOrigin("The origin group "+id+" has the member", m.str("OriginId"))
		}
	}
	if members[0].str("OriginId") == members[1].str("OriginId") {
		return invalidArgument("The members of the origin group %s are the same.", id)
	}
	codes := g.at("FailoverCriteria", "StatusCodes", "Items").items("StatusCode")
	if len(codes) == 0 {
		return invalidArgument("The origin group %s needs status codes on which it fails over.", id)
	}
	for _, code := range codes {
		if !slices.Contains(failoverCodes, code.text) {
			return invalidArgument("The origin group %s can't fail over on the status code %s.", id, code.text)
		}
	}
	return onlyOnce("status code", codes)
}

func noSuchOrigin(who, id string) error {
	return refuse(http.StatusNotFound, "NoSuchOrigin", "%s %q, which does not exist.", who, id)
}

// onlyOnce refuses a value that is in a list twice.
func onlyOnce(what string, items []*node) error {
	for i, item := range items {
		if slices.ContainsFunc(items[:i], func(o *node) bool { return o.text == item.text }) {
			return invalidArgument("The %s %s is listed twice.", what, item.text)
		}
	}
	return nil
}
