package aws

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// load puts a seed into the world. It needs the lock.
func (s *Sim) load(seed Seed) error {
	delay := s.switches.DeployDelay
	s.switches.DeployDelay = 0 // what is seeded is deployed
	defer func() { s.switches.DeployDelay = delay }()
	if seed.Quotas != nil {
		s.quotas.merge(*seed.Quotas)
	}
	if err := s.loadAccounts(seed.Accounts); err != nil {
		return err
	}
	for i, name := range seed.ResolvingDomains {
		if err := checkDomainName(name); err != nil {
			return &seedError{at("resolvingDomains", i, ""), name, "is not a domain name", "write a lower-case host name such as www.example.com or *.example.com"}
		}
		s.world.resolving[name] = struct{}{}
	}
	for _, load := range []func() error{
		func() error { return loadEach(seed.Roles, s.loadRole) },
		func() error { return loadEach(seed.Certificates, s.loadCertificate) },
		func() error { return loadEach(seed.Distributions, s.loadDistribution) },
		func() error { return loadEach(seed.ConnectionGroups, s.loadGroup) },
		func() error { return loadEach(seed.HostedZones, s.loadZone) },
		func() error { return loadEach(seed.Tenants, s.loadTenant) },
		func() error { return loadEach(seed.KeyValueStores, s.loadStore) },
	} {
		if err := load(); err != nil {
			return err
		}
	}
	return nil
}

func loadEach[T any](list []T, load func(int, T) error) error {
	for i, item := range list {
		if err := load(i, item); err != nil {
			return err
		}
	}
	return nil
}

// at names a place in the seed.
func at(list string, index int, field string) string {
	place := fmt.Sprintf("%s[%d]", list, index)
	if field == "" {
		return place
	}
	return place + "." + field
}

func (s *Sim) loadAccounts(accounts []SeedAccount) error {
	for i, a := range accounts {
		if !accountID.MatchString(a.ID) {
			return &seedError{at("accounts", i, "id"), a.ID, "is not an account id", "use 12 digits, in quotes"}
		}
		if s.world.defaultAccount == "" || a.Default {
			s.world.defaultAccount = a.ID
		}
		s.account(a.ID)
		for _, key := range a.AccessKeys {
			if owner, taken := s.world.accessKeys[key]; key == "" || (taken && owner != a.ID) {
				return &seedError{at("accounts", i, "accessKeys"), key, "is empty or belongs to another account", "give every account its own access key ids"}
			}
			s.world.accessKeys[key] = a.ID
		}
	}
	if s.world.defaultAccount == "" {
		s.world.defaultAccount = DefaultAccount
		s.account(DefaultAccount)
	}
	return nil
}

// seededAccount finds the account a seeded resource is in.
func (s *Sim) seededAccount(place, id string) (*account, error) {
	if id == "" {
		id = s.world.defaultAccount
	}
	if !accountID.MatchString(id) {
		return nil, &seedError{place, id, "is not an account id", "use 12 digits, in quotes"}
	}
	return s.account(id), nil
}

func (s *Sim) loadCertificate(i int, c SeedCertificate) error {
	if acmRegion(c.ARN) != "us-east-1" {
		return &seedError{at("certificates", i, "arn"), c.ARN, "is not the ARN of an ACM certificate in us-east-1", "use the form " + DefaultCertificateARN}
	}
	owner := c.Account
	if owner == "" {
		owner = acmArn.FindStringSubmatch(c.ARN)[2]
	}
	a, err := s.seededAccount(at("certificates", i, "account"), owner)
	if err != nil {
		return err
	}
	if len(c.Names) == 0 {
		return &seedError{at("certificates", i, "names"), "", "is empty", "list the domain names the certificate covers"}
	}
	for _, name := range c.Names {
		if err := checkDomainName(name); err != nil {
			return &seedError{at("certificates", i, "names"), name, "is not a domain name", "write a lower-case host name such as *.example.com"}
		}
	}
	now := s.now()
	cert := &certificate{
		owner: a, arn: c.ARN, names: slices.Clone(c.Names), status: certIssued, kind: amazonIssued, key: rsa2048,
		issuer: c.Issuer, managedBy: c.ManagedBy, created: now, notBefore: now, notAfter: now.AddDate(1, 0, 0),
	}
	if c.Status != "" {
		cert.status = c.Status
	}
	if !slices.Contains(certificateStates, cert.status) {
		return &seedError{at("certificates", i, "status"), c.Status, "is not a state of a certificate", "use one of " + strings.Join(certificateStates, ", ")}
	}
	if c.Type != "" {
		cert.kind = c.Type
	}
	if c.KeyAlgorithm != "" {
		cert.key = c.KeyAlgorithm
	}
	if c.ManagedBy != "" && c.ManagedBy != managedByCloudFront {
		return &seedError{at("certificates", i, "managedBy"), c.ManagedBy, "manages no certificates", "write CLOUDFRONT, or omit it"}
	}
	if c.NotAfter != nil {
		cert.notAfter = *c.NotAfter
	}
	if cert.status == certIssued && !now.Before(cert.notAfter) {
		cert.status = certExpired
	}
	a.certificates.put(cert)
	s.willAge(cert.notAfter.Add(-renewalLead))
	return nil
}

func (s *Sim) loadDistribution(i int, d SeedDistribution) error {
	a, err := s.seededAccount(at("distributions", i, "account"), d.Account)
	if err != nil {
		return err
	}
	if !distributionID.MatchString(d.ID) {
		return &seedError{at("distributions", i, "id"), d.ID, "is not a distribution id", "write 2 to 32 upper-case letters and digits such as E2EXAMPLE1"}
	}
	if a.distributions.find(d.ID) != nil {
		return &seedError{at("distributions", i, "id"), d.ID, "already exists", "give every distribution its own id"}
	}
	tags, err := s.seedTags(at("distributions", i, "tags"), d.Tags)
	if err != nil {
		return err
	}
	config := seedConfig(d)
	if _, used := a.callerRefs[config.str("CallerReference")]; used {
		return &seedError{at("distributions", i, "callerReference"), d.CallerReference, "was used before", "give every distribution its own, or omit it"}
	}
	next, err := s.readDistribution(&call{acct: a, now: s.now()}, config)
	if err == nil {
		err = s.world.domainsFree(next.aliases, domainHolder{})
	}
	if err != nil {
		return refusedSeed(at("distributions", i, ""), d.ID, err)
	}
	s.storeDistribution(a, d.ID, next, tags, s.now())
	return nil
}

// seedConfig makes a whole configuration of the few fields a seed has.
func seedConfig(d SeedDistribution) *node {
	mode, origin, reference := d.ConnectionMode, d.OriginDomain, d.CallerReference
	if mode == "" {
		mode = modeTenantOnly
	}
	if origin == "" {
		origin = "origin.example.com"
	}
	if reference == "" {
		reference = "seed-" + d.ID
	}
	config := el("DistributionConfig",
		txt("CallerReference", reference),
		txt("Comment", d.Comment),
		txt("ConnectionMode", mode),
		boolEl("Enabled", d.Enabled == nil || *d.Enabled),
		el("Origins", intEl("Quantity", 1), el("Items", el("Origin",
			txt("Id", "origin"),
			txt("DomainName", origin),
			txt("OriginPath", ""),
			el("CustomOriginConfig", intEl("HTTPPort", 80), intEl("HTTPSPort", 443), txt("OriginProtocolPolicy", "https-only"))))),
		el("DefaultCacheBehavior",
			txt("TargetOriginId", "origin"),
			txt("ViewerProtocolPolicy", "redirect-to-https"),
			txt("CachePolicyId", "658327ea-f89d-4fab-a63d-7e88639e58f6")),
	)
	if d.CertificateARN != "" {
		config.set(el("ViewerCertificate", txt("ACMCertificateArn", d.CertificateARN),
			txt("SSLSupportMethod", "sni-only"), txt("MinimumProtocolVersion", "TLSv1.2_2021")))
	}
	if len(d.Parameters) > 0 {
		config.set(el("TenantConfig", seedParams(d.Parameters)))
	}
	if len(d.Aliases) > 0 {
		items := el("Items")
		for _, name := range d.Aliases {
			items.kids = append(items.kids, txt("CNAME", name))
		}
		config.set(el("Aliases", intEl("Quantity", len(d.Aliases)), items))
	}
	return config
}

func seedParams(params []SeedParameter) *node {
	defs := el("ParameterDefinitions")
	for _, p := range params {
		defs.kids = append(defs.kids, el("member",
			txt("Name", p.Name),
			el("Definition", el("StringSchema", boolEl("Required", p.Required), opt("DefaultValue", p.Default)))))
	}
	return defs
}

func (s *Sim) loadGroup(i int, g SeedConnectionGroup) error {
	a, err := s.seededAccount(at("connectionGroups", i, "account"), g.Account)
	if err != nil {
		return err
	}
	id := g.ID
	if id == "" {
		id = s.derive.ksuid("cg_", a.id, "seed", g.Name)
	}
	name := g.Name
	if name == "" {
		name = "CreatedByCloudFront-" + id
	}
	switch {
	case !groupID.MatchString(id):
		return &seedError{at("connectionGroups", i, "id"), id, "is not a connection group id", "write cg_ and letters and digits, or omit it"}
	case a.groups.find(id) != nil || a.groups.names[name] != nil:
		return &seedError{at("connectionGroups", i, "name"), name, "or its id already exists", "give every connection group its own name and id"}
	case g.Default && a.groups.find(a.defaultGroupID) != nil:
		return &seedError{at("connectionGroups", i, "default"), "true", "is set for a second group", "an account has one default group"}
	case g.RoutingEndpoint != "" && (!routingHost.MatchString(g.RoutingEndpoint) || a.endpoints[g.RoutingEndpoint] != ""):
		return &seedError{at("connectionGroups", i, "routingEndpoint"), g.RoutingEndpoint, "is taken or not a host in cloudfront.net", "use the form d111111abcdef8.cloudfront.net, or omit it"}
	}
	tags, err := s.seedTags(at("connectionGroups", i, "tags"), g.Tags)
	if err != nil {
		return err
	}
	s.storeGroup(a, id, name, &group{
		endpoint: g.RoutingEndpoint, anycastID: g.AnycastIPListID, isDefault: g.Default,
		ipv6: g.IPv6 == nil || *g.IPv6, enabled: g.Enabled == nil || *g.Enabled,
	}, tags, s.now())
	return nil
}

func (s *Sim) loadTenant(i int, t SeedTenant) error {
	place := at("tenants", i, "")
	a, err := s.seededAccount(at("tenants", i, "account"), t.Account)
	if err != nil {
		return err
	}
	if t.ID != "" && (!tenantID.MatchString(t.ID) || a.tenants.find(t.ID) != nil) {
		return &seedError{at("tenants", i, "id"), t.ID, "already exists or is not a tenant id", "write dt_ and letters and digits, or omit it"}
	}
	tags, err := s.seedTags(at("tenants", i, "tags"), t.Tags)
	if err != nil {
		return err
	}
	in := tenantInput{
		name: t.Name, distributionID: t.DistributionID, groupID: t.ConnectionGroupID,
		domains: t.Domains, hasDomains: len(t.Domains) > 0, custom: customizations{cert: t.CertificateARN},
		enabled: new(t.Enabled == nil || *t.Enabled), seeded: true,
	}
	for _, name := range slices.Sorted(maps.Keys(t.Parameters)) {
		in.params = append(in.params, param{name, t.Parameters[name]})
	}
	for _, name := range t.Domains {
		if err := checkDomainName(name); err != nil {
			return refusedSeed(at("tenants", i, "domains"), name, err)
		}
	}
	next, err := s.admitTenant(&call{acct: a, now: s.now()}, in)
	if err != nil {
		return refusedSeed(place, t.Name, err)
	}
	if next.groupID == "" {
		next.groupID = s.defaultGroup(a, s.now()).id
	}
	r := s.storeNewTenant(a, t.ID, in, next, tags, s.now())
	if t.ManagedCertificate != nil {
		return s.loadManaged(at("tenants", i, "managedCertificate"), a, r, *t.ManagedCertificate)
	}
	return nil
}

func (s *Sim) seedTags(place string, tags map[string]string) ([]tag, error) {
	var out []tag
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		t := tag{key, tags[key]}
		if err := checkTag(t); err != nil {
			return nil, refusedSeed(place, key, err)
		}
		out = append(out, t)
	}
	return out, nil
}
