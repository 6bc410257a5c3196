package aws

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
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
	config := sent.clone()
	d := &distribution{config: config, mode: connectionMode(config)}
	if d.mode != modeDirect && d.mode != modeTenantOnly {
		return nil, invalidArgument("The connection mode must be direct or tenant-only, got %q.", d.mode)
	}
	if err := checkQuantities(config); err != nil {
		return nil, err
	}
	enabled, err := config.boolean("Enabled")
	if err != nil {
		return nil, err
	}
	if enabled == nil {
		return nil, invalidArgument("The parameter Enabled is required.")
	}
	d.enabled = *enabled
	d.certArn = config.str("ViewerCertificate", "ACMCertificateArn")
	if d.params, err = s.readParamDefs(config.child("TenantConfig")); err != nil {
		return nil, err
	}
	for _, check := range []func(*node, *distribution) error{checkRequired, checkOrigins, checkMode} {
		if err := check(config, d); err != nil {
			return nil, err
		}
	}
	for _, item := range config.at("Aliases", "Items").items("CNAME", "member") {
		d.aliases = append(d.aliases, item.text)
	}
	if err := s.checkViewerCertificate(c, d); err != nil {
		return nil, err
	}
	fillDefaults(config, d.mode)
	return d, nil
}

// checkQuantities holds every Quantity against the number of Items beside it.
func checkQuantities(n *node) error {
	if quantity := n.child("Quantity"); quantity != nil {
		want, err := n.integer("Quantity")
		if err != nil {
			return err
		}
		got := 0
		if items := n.child("Items"); items != nil {
			got = len(items.kids)
		}
		if got != *want {
			return refuse(http.StatusBadRequest, "InconsistentQuantities",
				"The value of Quantity in %s is %d but there are %d items.", n.name, *want, got)
		}
	}
	for _, kid := range n.kids {
		if err := checkQuantities(kid); err != nil {
			return err
		}
	}
	return nil
}

// checkRequired refuses a configuration that lacks a required member.
func checkRequired(config *node, _ *distribution) error {
	if config.child("Comment") == nil {
		return invalidArgument("The parameter Comment is required.")
	}
	if len(config.str("Comment")) > 128 {
		return invalidArgument("The parameter Comment must have at most 128 characters.")
	}
	for _, path := range [][]string{
		{"CallerReference"},
		{"Origins", "Quantity"},
		{"DefaultCacheBehavior", "TargetOriginId"},
		{"DefaultCacheBehavior", "ViewerProtocolPolicy"},
	} {
		if config.str(path...) == "" {
			return invalidArgument("The parameter %s is required.", strings.Join(path, "."))
		}
	}
	behavior := config.child("DefaultCacheBehavior")
	if behavior.str("CachePolicyId") == "" && behavior.child("ForwardedValues") == nil {
		return invalidArgument("A cache behavior needs a CachePolicyId or ForwardedValues.")
	}
	return nil
}

func behaviors(config *node) []*node {
	all := []*node{config.child("DefaultCacheBehavior")}
	return append(all, config.at("CacheBehaviors", "Items").items("CacheBehavior", "member")...)
}

// paramRef is how a configuration refers to a tenant's parameter.
var paramRef = regexp.MustCompile(`\{\{([^{}]*)\}\}`)

// checkOrigins looks at the origins and at what refers to them. Parameters are
// usable in an origin's domain name and path, at most two in a field.
func checkOrigins(config *node, d *distribution) error {
	var ids []string
	for _, origin := range config.at("Origins", "Items").items("Origin", "member") {
		id := origin.str("Id")
		switch {
		case id == "" || origin.str("DomainName") == "":
			return invalidArgument("An origin needs an Id and a DomainName.")
		case slices.Contains(ids, id):
			return invalidArgument("The origin %s is listed twice.", id)
		case origin.child("S3OriginConfig") == nil && origin.child("CustomOriginConfig") == nil && origin.child("VpcOriginConfig") == nil:
			return refuse(http.StatusBadRequest, "InvalidOrigin", "The origin %s needs an S3, custom or VPC origin configuration.", id)
		}
		ids = append(ids, id)
		for _, field := range []string{"DomainName", "OriginPath"} {
			if err := checkParamRefs(origin.str(field), d.params); err != nil {
				return err
			}
		}
	}
	if len(ids) == 0 {
		return invalidArgument("A distribution needs at least one origin.")
	}
	for _, g := range config.at("OriginGroups", "Items").items("OriginGroup", "member") {
		ids = append(ids, g.str("Id"))
	}
	for _, behavior := range behaviors(config) {
		if target := behavior.str("TargetOriginId"); !slices.Contains(ids, target) {
			return refuse(http.StatusNotFound, "NoSuchOrigin", "The cache behavior targets the origin %q, which does not exist.", target)
		}
	}
	return nil
}

func checkParamRefs(field string, defs []paramDef) error {
	refs := paramRef.FindAllStringSubmatch(field, -1)
	if len(refs) > 2 {
		return invalidArgument("A field can refer to at most two parameters, %q has %d.", field, len(refs))
	}
	for _, ref := range refs {
		name := strings.TrimSpace(ref[1])
		if !slices.ContainsFunc(defs, func(d paramDef) bool { return d.name == name }) {
			return invalidArgument("The parameter %s in %q is not defined.", name, field)
		}
	}
	return nil
}

func (s *Sim) readParamDefs(tenantConfig *node) ([]paramDef, error) {
	var defs []paramDef
	for _, item := range tenantConfig.child("ParameterDefinitions").items("member", "ParameterDefinition") {
		schema := item.at("Definition", "StringSchema")
		d := paramDef{name: item.str("Name"), defaultValue: schema.str("DefaultValue")}
		if !paramName.MatchString(d.name) {
			return nil, invalidArgument("The parameter name %q is not valid.", d.name)
		}
		required, err := schema.boolean("Required")
		if err != nil {
			return nil, err
		}
		switch {
		case required == nil:
			return nil, invalidArgument("The definition of the parameter %s must say whether it is required.", d.name)
		case len(d.defaultValue) > 256:
			return nil, invalidArgument("The default of the parameter %s must have at most 256 characters.", d.name)
		case slices.ContainsFunc(defs, func(o paramDef) bool { return o.name == d.name }):
			return nil, invalidArgument("The parameter %s is defined twice.", d.name)
		}
		d.required = *required
		defs = append(defs, d)
	}
	if len(defs) > s.quotas.Parameters {
		return nil, limitExceeded("A distribution can define %d parameters, got %d.", s.quotas.Parameters, len(defs))
	}
	return defs, nil
}

// checkViewerCertificate looks at the certificate tenants inherit, or that a
// standard distribution needs for its aliases.
func (s *Sim) checkViewerCertificate(c *call, d *distribution) error {
	var cert *certificate
	if d.certArn != "" {
		found, err := s.issuedCertificate(c.acct, d.certArn)
		if err != nil {
			return refuse(http.StatusBadRequest, "InvalidViewerCertificate", "%s", asAPIError(err).Message)
		}
		cert = found
	}
	for _, alias := range d.aliases {
		if err := checkDomainName(alias); err != nil {
			return err
		}
		if cert == nil || !covers(cert.names, alias) {
			return refuse(http.StatusBadRequest, "InvalidViewerCertificate",
				"The certificate that is attached to the distribution doesn't cover the alternate domain name %s.", alias)
		}
	}
	return nil
}

// fillDefaults adds what the service answers with although it was not sent.
// For a multi-tenant distribution only what may be sent back is added.
func fillDefaults(config *node, mode string) {
	defaults := []*node{
		txt("ConnectionMode", mode),
		txt("DefaultRootObject", ""),
		el("OriginGroups", intEl("Quantity", 0)),
		el("CacheBehaviors", intEl("Quantity", 0)),
		el("CustomErrorResponses", intEl("Quantity", 0)),
		el("ViewerCertificate", boolEl("CloudFrontDefaultCertificate", true), txt("MinimumProtocolVersion", "TLSv1")),
		el("Restrictions", el("GeoRestriction", txt("RestrictionType", "none"), intEl("Quantity", 0))),
		txt("WebACLId", ""),
		txt("HttpVersion", "http2"),
	}
	if mode == modeDirect {
		defaults = append(defaults,
			el("Aliases", intEl("Quantity", 0)),
			el("Logging", boolEl("Enabled", false), boolEl("IncludeCookies", false), txt("Bucket", ""), txt("Prefix", "")),
			txt("PriceClass", "PriceClass_All"),
			boolEl("IsIPV6Enabled", false),
			boolEl("Staging", false),
		)
	}
	for _, d := range defaults {
		if config.child(d.name) == nil {
			config.kids = append(config.kids, d)
		}
	}
}
