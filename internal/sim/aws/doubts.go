package aws

import "slices"

// Doubts are requests of which it is not known whether AWS takes them: nothing documents them, and no public program
// sends them. All of them are refused, with the code that AWS would most likely use, unless they are allowed here.
type Doubts struct {
	// EmptyBlocks is an empty Parameters or Customizations element at all. EmptyBlocksClear decides its effect.
	EmptyBlocks bool
	// NeedlessEmptyBlocks is one where there is nothing to remove. It takes EmptyBlocks as well.
	NeedlessEmptyBlocks bool
	// CertificateWithRequest is an update that has both a Customizations.Certificate and a ManagedCertificateRequest.
	CertificateWithRequest bool
	// CoveredPrimaryDomain is a ManagedCertificateRequest whose PrimaryDomainName has the distribution's certificate already,
	// while another domain has none.
	CoveredPrimaryDomain bool
	// EmptyAnycastIPList is an empty AnycastIpListId of a connection group. EmptyBlocksClear decides its effect.
	EmptyAnycastIPList bool
	// UpdateWithoutLogging is an update of a multi-tenant distribution that leaves out the Logging that reads show.
	UpdateWithoutLogging bool
	// TenantCacheTags are tags in the invalidation of a tenant. Those of a standard distribution are documented.
	TenantCacheTags bool
}

// AllAllowed allows every doubt.
func AllAllowed() Doubts { return Doubts{true, true, true, true, true, true, true} }

// doubtDefs name the doubts as switches: what is on is allowed.
var doubtDefs = []switchDef{
	{name: "allowCertificateWithRequest", flag: func(s *Switches) *bool { return &s.Allowed.CertificateWithRequest }},
	{name: "allowCoveredPrimaryDomain", flag: func(s *Switches) *bool { return &s.Allowed.CoveredPrimaryDomain }},
	{name: "allowEmptyAnycastIpList", flag: func(s *Switches) *bool { return &s.Allowed.EmptyAnycastIPList }},
	{name: "allowEmptyBlocks", flag: func(s *Switches) *bool { return &s.Allowed.EmptyBlocks }},
	{name: "allowNeedlessEmptyBlocks", flag: func(s *Switches) *bool { return &s.Allowed.NeedlessEmptyBlocks }},
	{name: "allowTenantCacheTags", flag: func(s *Switches) *bool { return &s.Allowed.TenantCacheTags }},
	{name: "allowUpdateWithoutLogging", flag: func(s *Switches) *bool { return &s.Allowed.UpdateWithoutLogging }},
}

// doubtBlock refuses an empty block of a tenant that has, or has not, something there to remove.
func (d Doubts) doubtBlock(block *node, taken bool) error {
	if block == nil || len(block.kids) > 0 || d.EmptyBlocks && (taken || d.NeedlessEmptyBlocks) {
		return nil
	}
	return invalidArgument("The parameter %s is empty.", block.name)
}

// doubtUpdate looks at an update of a tenant.
func (d Doubts) doubtUpdate(before *tenant, root *node, in tenantInput) error {
	if in.request != nil && in.custom.cert != "" && !d.CertificateWithRequest {
		return invalidArgument("A certificate and a ManagedCertificateRequest can't be in one update.")
	}
	return d.doubtBlocks(before, root)
}

// doubtBlocks looks at the blocks for a tenant as it was before.
func (d Doubts) doubtBlocks(before *tenant, in *node) error {
	if err := d.doubtBlock(in.child("Parameters"), len(before.params) > 0); err != nil {
		return err
	}
	return d.doubtBlock(in.child("Customizations"), !before.custom.empty())
}

// doubtTags looks at what is invalidated for a tenant.
func (d Doubts) doubtTags(items []string) error {
	if i := slices.IndexFunc(items, isTag); i >= 0 && !d.TenantCacheTags {
		return invalidArgument("An invalidation path must begin with a slash, got %q.", items[i])
	}
	return nil
}

// doubtPrimary looks at the primary domain of a request, given the domains as they are without it.
func (s *Sim) doubtPrimary(c *call, t *tenant, in *managedInput, domains []domain) error {
	if in == nil || in.primary == "" || s.switches.Allowed.CoveredPrimaryDomain {
		return nil
	}
	open := slices.ContainsFunc(domains, func(d domain) bool { return !d.active && d.name != in.primary })
	dist := c.acct.distributions.find(t.distributionID)
	if open && dist != nil && s.anyCovers(c, []string{dist.current().certArn}, in.primary) {
		return invalidArgument("The primary domain name %s has the certificate of the distribution.", in.primary)
	}
	return nil
}

// doubtAnycast looks at the Anycast list of a connection group.
func (d Doubts) doubtAnycast(in *node) error {
	if list := in.child("AnycastIpListId"); list != nil && list.text == "" && !d.EmptyAnycastIPList {
		return invalidArgument("The parameter AnycastIpListId is empty.")
	}
	return nil
}

// doubtLogging looks at an update of a multi-tenant distribution. For a standard one UpdateNeedsWhole speaks.
func (d Doubts) doubtLogging(before *distribution, config *node) error {
	if d.UpdateWithoutLogging || before.mode != modeTenantOnly || before.config.child("Logging") == nil {
		return nil
	}
	return needed(config, []string{"Logging"})
}
