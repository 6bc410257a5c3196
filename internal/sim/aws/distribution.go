package aws

import (
	"net/http"
	"time"
)

// distribution is one version of a distribution. The configuration is kept as
// it was sent, with the defaults the service fills in, because an update has to
// send all of it back.
type distribution struct {
	meta

	config   *node
	mode     string
	enabled  bool
	certArn  string
	aliases  []string
	params   []paramDef
	endpoint string
}

// reference is the caller reference, by which its creator knows it.
func (d *distribution) reference() string { return d.config.str("CallerReference") }

type paramDef struct {
	name         string
	required     bool
	defaultValue string
}

const (
	modeDirect     = "direct"
	modeTenantOnly = "tenant-only"
)

// tenantOnly returns a distribution that tenants can belong to.
func (a *account) tenantOnly(id string) (*record[distribution], error) {
	r := a.distributions.find(id)
	if r == nil {
		return nil, entityNotFound("distribution", id)
	}
	if r.current().mode != modeTenantOnly {
		return nil, conflict("InvalidAssociation", "The distribution %s is not a multi-tenant distribution.", id)
	}
	return r, nil
}

func (s *Sim) createDistribution(c *call) (reply, error) {
	root, err := c.root("DistributionConfig")
	if err != nil {
		return reply{}, err
	}
	return s.admitDistribution(c, root, nil)
}

func (s *Sim) createDistributionWithTags(c *call) (reply, error) {
	root, err := c.root("DistributionConfigWithTags")
	if err != nil {
		return reply{}, err
	}
	if err := s.fits(root, distributionWithTagsShape, "distributionConfigWithTags"); err != nil {
		return reply{}, err
	}
	tags, err := s.readTags(root.child("Tags"))
	if err != nil {
		return reply{}, err
	}
	return s.admitDistribution(c, root.child("DistributionConfig"), tags)
}

// admitDistribution creates a distribution. A caller reference that was used
// before is refused, also with the same content: this is no replay.
func (s *Sim) admitDistribution(c *call, config *node, tags []tag) (reply, error) {
	d, err := s.readDistribution(c, config)
	if err != nil {
		return reply{}, err
	}
	ref := d.reference()
	if known, used := c.acct.callerRefs[ref]; used {
		return reply{}, conflict("DistributionAlreadyExists", "The caller reference is that of the distribution %s.", known)
	}
	if err := s.world.domainsFree(d.aliases, domainHolder{}); err != nil {
		return reply{}, err
	}
	if err := s.checkDistributionQuota(c.acct, d.mode); err != nil {
		return reply{}, err
	}
	id := "E" + s.derive.digits(upperDigits, 13, "distribution", c.acct.id, ref)
	r := s.storeDistribution(c.acct, id, d, tags, c.now)
	c.about(r.id, ref)
	out := s.distributionReply(http.StatusCreated, seen[distribution]{record: r, value: d, at: c.now})
	out.location = "https://cloudfront.amazonaws.com" + cloudFrontVersion + "distribution/" + id
	return out, nil
}

func (s *Sim) checkDistributionQuota(a *account, mode string) error {
	count := 0
	for _, r := range a.distributions.live {
		if r.current().mode == mode {
			count++
		}
	}
	switch {
	case mode == modeTenantOnly && count >= s.quotas.MultiTenantDistributions:
		return limitExceeded("The account has reached its quota of %d multi-tenant distributions.", s.quotas.MultiTenantDistributions)
	case mode == modeDirect && count >= s.quotas.Distributions:
		return refuse(http.StatusBadRequest, "TooManyDistributions", "The account has reached its quota of %d distributions.", s.quotas.Distributions)
	}
	return nil
}

func (s *Sim) storeDistribution(a *account, id string, d *distribution, tags []tag, now time.Time) *record[distribution] {
	d.meta = s.changed(id, 0, now)
	d.endpoint = s.derive.endpoint(id)
	r := &record[distribution]{id: id, arn: "arn:aws:cloudfront::" + a.id + ":distribution/" + id, created: now, tags: tags}
	r.put(d, now, s.keep())
	a.distributions.add(r)
	a.callerRefs[d.reference()] = id
	s.holdAliases(a, id, nil, d.aliases)
	if d.mode == modeTenantOnly && s.switches.DefaultGroupWithDistribution {
		s.defaultGroup(a, now)
	}
	return r
}

func (s *Sim) holdAliases(a *account, id string, before, after []string) {
	for _, name := range before {
		delete(s.world.domains, name)
	}
	for _, name := range after {
		s.world.domains[name] = domainHolder{kind: kindDistribution, account: a.id, id: id}
	}
}

func (s *Sim) seeDistribution(c *call) (seen[distribution], error) {
	v, ok := c.acct.distributions.get(c.vars[0], c.now, &s.switches)
	if !ok || v.id != c.vars[0] {
		return v, noSuchDistribution(c.vars[0])
	}
	return v, nil
}

func (s *Sim) getDistribution(c *call) (reply, error) {
	v, err := s.seeDistribution(c)
	if err != nil {
		return reply{}, err
	}
	return s.distributionReply(http.StatusOK, v), nil
}

func (s *Sim) getDistributionConfig(c *call) (reply, error) {
	v, err := s.seeDistribution(c)
	if err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusOK, etag: s.etagAt(v.value.meta, v.at), body: v.value.config}, nil
}

func (s *Sim) listDistributions(c *call) (reply, error) {
	return s.pageOfDistributions(c, "")
}

func (s *Sim) listDistributionsByMode(c *call) (reply, error) {
	mode := c.vars[0]
	if mode != modeDirect && mode != modeTenantOnly {
		return reply{}, invalidArgument("The connection mode must be direct or tenant-only, got %q.", mode)
	}
	return s.pageOfDistributions(c, mode)
}

func (s *Sim) pageOfDistributions(c *call, mode string) (reply, error) {
	marker, size, err := s.queryPage(c)
	if err != nil {
		return reply{}, err
	}
	found, next, err := page(c.acct.distributions, marker, size, func(r *record[distribution]) *node {
		v, ok := r.listed(c.now, &s.switches)
		if !ok || (mode != "" && v.value.mode != mode) {
			return nil
		}
		return s.distributionSummary(v)
	})
	if err != nil {
		return reply{}, err
	}
	body := el("DistributionList",
		txt("Marker", marker),
		opt("NextMarker", next),
		intEl("MaxItems", size),
		boolEl("IsTruncated", next != ""),
		intEl("Quantity", len(found)),
		el("Items", found...))
	return reply{status: http.StatusOK, body: body}, nil
}

// domainName is the one CloudFront gave the distribution. It is not known what a multi-tenant one shows, which can't be
// reached; the element is required.
func (s *Sim) domainName(d *distribution) string {
	if d.mode == modeTenantOnly && s.switches.TenantOnlyUnnamed {
		return ""
	}
	return d.endpoint
}

func (s *Sim) distributionReply(status int, v seen[distribution]) reply {
	d := v.value
	body := el("Distribution",
		txt("Id", v.id),
		txt("ARN", v.arn),
		txt("Status", d.status(v.at)),
		txt("LastModifiedTime", stamp(d.modified)),
		intEl("InProgressInvalidationBatches", 0),
		txt("DomainName", s.domainName(d)),
		el("ActiveTrustedSigners", boolEl("Enabled", false), intEl("Quantity", 0)),
		el("ActiveTrustedKeyGroups", boolEl("Enabled", false), intEl("Quantity", 0)),
		d.config,
	)
	return reply{status: status, etag: s.etagAt(d.meta, v.at), body: body}
}

// distributionSummary renders a list item: members that clients rely on being
// there are there, the tenant configuration is not.
func (s *Sim) distributionSummary(v seen[distribution]) *node {
	d := v.value
	n := el("DistributionSummary",
		txt("Id", v.id),
		txt("ARN", v.arn),
		txt("ETag", s.summaryETag(v.id, d.meta, v.at)),
		txt("Status", d.status(v.at)),
		txt("LastModifiedTime", stamp(d.modified)),
		txt("DomainName", s.domainName(d)),
	)
	for _, name := range []string{"Aliases", "Origins", "OriginGroups", "DefaultCacheBehavior", "CacheBehaviors", "CustomErrorResponses", "Comment", "PriceClass", "Enabled", "ViewerCertificate", "Restrictions", "WebACLId", "HttpVersion", "IsIPV6Enabled"} {
		kid := d.config.child(name)
		if kid == nil {
			kid = summaryDefault(name, d.mode)
		}
		n.set(kid)
	}
	n.set(txt("ConnectionMode", d.mode))
	n.set(boolEl("Staging", d.config.str("Staging") == "true"))
	return n
}

// summaryDefault stands for what a configuration leaves out but a summary must
// have.
func summaryDefault(name, mode string) *node {
	switch name {
	case "PriceClass":
		return txt(name, priceClass(mode))
	case "IsIPV6Enabled":
		return boolEl(name, false)
	}
	return el(name, intEl("Quantity", 0))
}
