package aws

import (
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// tenant is one version of a distribution tenant. It is never changed after it
// was stored.
type tenant struct {
	meta

	distributionID string
	groupID        string
	domains        []domain
	params         []param
	custom         customizations
	enabled        bool
	managed        *managedRequest
}

type domain struct {
	name   string
	active bool
}

func (d domain) status() string {
	if d.active {
		return "active"
	}
	return "inactive"
}

type param struct {
	name, value string
}

type customizations struct {
	webACL *webACL
	cert   string
	geo    *geoRestriction
}

func (c customizations) empty() bool {
	return c.webACL == nil && c.cert == "" && c.geo == nil
}

type webACL struct {
	action, arn string
}

type geoRestriction struct {
	kind      string
	locations []string
}

func (t *tenant) domainNames() []string {
	names := make([]string, 0, len(t.domains))
	for _, d := range t.domains {
		names = append(names, d.name)
	}
	return names
}

// webACLArn is the web ACL the tenant uses, if it overrides one.
func (t *tenant) webACLArn() string {
	if t.custom.webACL == nil {
		return ""
	}
	return t.custom.webACL.arn
}

// tenantInput is what a create or update says; a nil or false "has" means that
// it does not say it.
type tenantInput struct {
	name           string
	distributionID string
	groupID        string
	domains        []string
	hasDomains     bool
	params         []param
	hasParams      bool
	custom         customizations
	hasCustom      bool
	enabled        *bool
	request        *managedInput
	seeded         bool // the domains need no proof
}

var (
	tenantName  = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9-.]{1,126}[a-zA-Z0-9]$`)
	paramName   = regexp.MustCompile(`^[a-zA-Z0-9-_]{1,128}$`)
	webACLArn   = regexp.MustCompile(`^arn:aws[a-z-]*:wafv2:us-east-1:[0-9]{12}:global/webacl/[^/]+/[^/]+$`)
	domainLabel = regexp.MustCompile(`^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$`)
)

// readTenant reads and checks everything of a create or update that can be
// checked without looking at anything else.
func (s *Sim) readTenant(in *node) (tenantInput, error) {
	t := tenantInput{
		name:           in.str("Name"),
		distributionID: in.str("DistributionId"),
		groupID:        in.str("ConnectionGroupId"),
	}
	var err error
	if t.enabled, err = in.boolean("Enabled"); err != nil {
		return t, err
	}
	if list := in.child("Domains"); list != nil {
		t.hasDomains = true
		if t.domains, err = s.readDomains(list); err != nil {
			return t, err
		}
	}
	if list := in.child("Parameters"); list != nil && (len(list.kids) > 0 || s.switches.EmptyBlocksClear) {
		t.hasParams = true
		if t.params, err = s.readParams(list); err != nil {
			return t, err
		}
	}
	if block := in.child("Customizations"); block != nil && (len(block.kids) > 0 || s.switches.EmptyBlocksClear) {
		t.hasCustom = true
		if t.custom, err = readCustomizations(block); err != nil {
			return t, err
		}
	}
	t.request, err = readManagedRequest(in.child("ManagedCertificateRequest"))
	return t, err
}

func (s *Sim) readDomains(list *node) ([]string, error) {
	var names []string
	for _, item := range list.items("member", "DomainItem") {
		name := item.str("Domain")
		if err := checkDomainName(name); err != nil {
			return nil, err
		}
		if slices.Contains(names, name) {
			return nil, invalidArgument("The domain %s is listed twice.", name)
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return nil, invalidArgument("A distribution tenant needs at least one domain.")
	}
	if len(names) > s.quotas.DomainsPerTenant {
		return nil, limitExceeded("A distribution tenant can have %d domains, got %d.", s.quotas.DomainsPerTenant, len(names))
	}
	return names, nil
}

// checkDomainName accepts lower-case host names, with a wildcard as the whole
// first label.
func checkDomainName(name string) error {
	labels := strings.Split(strings.TrimPrefix(name, "*."), ".")
	ok := len(name) <= 253 && len(labels) >= 2
	for _, label := range labels {
		ok = ok && domainLabel.MatchString(label)
	}
	if !ok {
		return invalidArgument("The provided Domain Name is not valid: %q.", name)
	}
	return nil
}

func (s *Sim) readParams(list *node) ([]param, error) {
	var params []param
	for _, item := range list.items("member", "Parameter") {
		p := param{name: item.str("Name"), value: item.str("Value")}
		switch {
		case !paramName.MatchString(p.name):
			return nil, invalidArgument("The parameter name %q is not valid.", p.name)
		case p.value == "" || utf8.RuneCountInString(p.value) > 256:
			return nil, invalidArgument("The value of the parameter %s must have 1 to 256 characters.", p.name)
		case slices.ContainsFunc(params, func(q param) bool { return q.name == p.name }):
			return nil, invalidArgument("The parameter %s is given twice.", p.name)
		}
		params = append(params, p)
	}
	if len(params) > s.quotas.Parameters {
		return nil, invalidArgument("A distribution tenant can have %d parameters, got %d.", s.quotas.Parameters, len(params))
	}
	return params, nil
}

// readCustomizations reads the block whose sub-blocks override what the
// distribution says.
func readCustomizations(block *node) (customizations, error) {
	var c customizations
	if acl := block.child("WebAcl"); acl != nil {
		c.webACL = &webACL{action: acl.str("Action"), arn: acl.str("Arn")}
		if c.webACL.action != "override" && c.webACL.action != "disable" {
			return c, invalidArgument("The web ACL action must be override or disable, got %q.", c.webACL.action)
		}
		if c.webACL.action == "override" && c.webACL.arn == "" {
			return c, invalidArgument("The web ACL action override needs an ARN.")
		}
		if c.webACL.arn != "" && !webACLArn.MatchString(c.webACL.arn) {
			return c, invalidArgument("The web ACL ARN is not valid: %q.", c.webACL.arn)
		}
	}
	if cert := block.child("Certificate"); cert != nil {
		if c.cert = cert.str("Arn"); c.cert == "" {
			return c, invalidArgument("The certificate customization needs an ARN.")
		}
	}
	if geo := block.child("GeoRestrictions"); geo != nil {
		restriction, err := readGeo(geo)
		if err != nil {
			return c, err
		}
		c.geo = restriction
	}
	return c, nil
}

// readGeo reads the restriction; the server keeps the locations sorted.
func readGeo(block *node) (*geoRestriction, error) {
	geo := &geoRestriction{kind: block.str("RestrictionType")}
	for _, item := range block.child("Locations").items("Location", "member") {
		if !isCountry(item.text) {
			return nil, invalidArgument("The location %q is not a two-letter upper-case country code.", item.text)
		}
		geo.locations = append(geo.locations, item.text)
	}
	slices.Sort(geo.locations)
	geo.locations = slices.Compact(geo.locations)
	switch geo.kind {
	case "none":
		if len(geo.locations) > 0 {
			return nil, invalidArgument("The restriction type none takes no locations.")
		}
	case "whitelist", "blacklist":
		if len(geo.locations) == 0 {
			return nil, invalidArgument("The restriction type %s needs locations.", geo.kind)
		}
	default:
		return nil, invalidArgument("The restriction type must be none, whitelist or blacklist, got %q.", geo.kind)
	}
	return geo, nil
}

// checkParams holds the parameters of a tenant against what the distribution
// declares. A required one must be given; there is no inheritance.
func checkParams(params []param, defs []paramDef) error {
	for _, p := range params {
		if !slices.ContainsFunc(defs, func(d paramDef) bool { return d.name == p.name }) {
			return invalidArgument("The parameter %s is not defined by the distribution.", p.name)
		}
	}
	for _, d := range defs {
		if d.required && !slices.ContainsFunc(params, func(p param) bool { return p.name == d.name }) {
			return invalidArgument("The required parameter %s is missing.", d.name)
		}
	}
	return nil
}

// disregard spoils the values the switch names.
func (s *Sim) disregard(params []param) []param {
	out := slices.Clone(params)
	for i, p := range out {
		value, ok := s.switches.DisregardParameters[p.name]
		switch {
		case !ok:
		case value != "":
			out[i].value = value
		default:
			out[i].value = strings.ToUpper(p.value)
		}
	}
	return out
}

// tenantBody renders a tenant, in full or as a list shows it: a summary has no
// parameters and no tags but carries the ETag.
func (s *Sim) tenantBody(root string, v seen[tenant], summary bool, tags []tag) *node {
	t := v.value
	domains := el("Domains")
	for _, d := range t.domains {
		domains.kids = append(domains.kids, el("member", txt("Domain", d.name), txt("Status", d.status())))
	}
	n := el(root,
		txt("Id", v.id),
		txt("DistributionId", t.distributionID),
		txt("Name", v.name),
		txt("Arn", v.arn),
		domains,
		opt("ConnectionGroupId", t.groupID),
		s.customizationsBody(t.custom),
		txt("CreatedTime", stamp(v.created)),
		txt("LastModifiedTime", stamp(t.modified)),
	)
	if summary {
		n.set(txt("ETag", s.summaryETag(v.id, t.meta, v.at)))
	} else {
		if len(tags) > 0 {
			n.set(tagsBody(tags))
		}
		if params := s.paramsBody(t.params); params != nil {
			n.set(params)
		}
	}
	n.set(boolEl("Enabled", t.enabled))
	n.set(txt("Status", t.status(v.at)))
	return n
}

func (s *Sim) paramsBody(params []param) *node {
	if len(params) == 0 && !s.switches.EmptyCustomizationsEchoed {
		return nil
	}
	n := el("Parameters")
	for _, p := range params {
		n.kids = append(n.kids, el("member", txt("Name", p.name), txt("Value", p.value)))
	}
	return n
}

func (s *Sim) customizationsBody(c customizations) *node {
	if c.empty() && !s.switches.EmptyCustomizationsEchoed {
		return nil
	}
	n := el("Customizations")
	if c.webACL != nil {
		n.set(el("WebAcl", txt("Action", c.webACL.action), opt("Arn", c.webACL.arn)))
	}
	if c.cert != "" {
		n.set(el("Certificate", txt("Arn", c.cert)))
	}
	if c.geo != nil {
		geo := el("GeoRestrictions", txt("RestrictionType", c.geo.kind))
		if len(c.geo.locations) > 0 {
			locations := el("Locations")
			for _, l := range c.geo.locations {
				locations.kids = append(locations.kids, txt("Location", l))
			}
			geo.set(locations)
		}
		n.set(geo)
	}
	return n
}

// tenantReply answers with a tenant as it is right now.
func (s *Sim) tenantReply(status int, r *record[tenant], now time.Time, tags []tag) reply {
	v := seen[tenant]{record: r, value: r.current(), at: now}
	return reply{status: status, etag: s.etagAt(v.value.meta, now), body: s.tenantBody("DistributionTenant", v, false, tags)}
}
