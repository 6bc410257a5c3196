package aws

// Quotas are the limits of an account on what it may hold.
type Quotas struct {
	Tenants                  int `json:"tenants,omitempty"`
	ConnectionGroups         int `json:"connectionGroups,omitempty"`
	MultiTenantDistributions int `json:"multiTenantDistributions,omitempty"`
	Distributions            int `json:"distributions,omitempty"` // standard ones
	DomainsPerTenant         int `json:"domainsPerTenant,omitempty"`
	Parameters               int `json:"parameters,omitempty"`        // per distribution, per tenant
	ParametersInField        int `json:"parametersInField,omitempty"` // of an origin
	Tags                     int `json:"tags,omitempty"`
	WebACLAssociations       int `json:"webACLAssociations,omitempty"` // tenants per web ACL
	InvalidationPaths        int `json:"invalidationPaths,omitempty"`
	WildcardInvalidations    int `json:"wildcardInvalidations,omitempty"`
	Certificates             int `json:"certificates,omitempty"` // in ACM
	NamesPerCertificate      int `json:"namesPerCertificate,omitempty"`
	HostedZones              int `json:"hostedZones,omitempty"`
	RecordsPerZone           int `json:"recordsPerZone,omitempty"`
	Origins                  int `json:"origins,omitempty"` // per distribution
	OriginGroups             int `json:"originGroups,omitempty"`
	CacheBehaviors           int `json:"cacheBehaviors,omitempty"` // per distribution, with the default one
	CustomHeaders            int `json:"customHeaders,omitempty"`  // per origin
	KeyGroups                int `json:"keyGroups,omitempty"`      // per cache behavior
	Aliases                  int `json:"aliases,omitempty"`        // of a standard distribution
	OriginTimeout            int `json:"originTimeout,omitempty"`  // seconds
	GroupsPerAnycastList     int `json:"groupsPerAnycastList,omitempty"`
}

// DefaultQuotas are those of the service's quotas page for a new account. That
// page says 100 domains per tenant; the API reference of the update speaks of 5.
func DefaultQuotas() Quotas {
	return Quotas{
		Tenants:                  10_000,
		ConnectionGroups:         100,
		MultiTenantDistributions: 20,
		Distributions:            500,
		DomainsPerTenant:         100,
		Parameters:               5,
		ParametersInField:        2,
		Tags:                     50,
		WebACLAssociations:       100,
		InvalidationPaths:        3_000,
		WildcardInvalidations:    15,
		Certificates:             2_500,
		NamesPerCertificate:      10,
		HostedZones:              500,
		RecordsPerZone:           10_000,
		Origins:                  100,
		OriginGroups:             10,
		CacheBehaviors:           75,
		CustomHeaders:            30,
		KeyGroups:                4,
		Aliases:                  100,
		OriginTimeout:            120,
		GroupsPerAnycastList:     5,
	}
}

// merge takes over the fields that are set.
func (q *Quotas) merge(from Quotas) {
	for _, f := range []struct {
		to   *int
		from int
	}{
		{&q.Tenants, from.Tenants},
		{&q.ConnectionGroups, from.ConnectionGroups},
		{&q.MultiTenantDistributions, from.MultiTenantDistributions},
		{&q.Distributions, from.Distributions},
		{&q.DomainsPerTenant, from.DomainsPerTenant},
		{&q.Parameters, from.Parameters},
		{&q.ParametersInField, from.ParametersInField},
		{&q.Tags, from.Tags},
		{&q.WebACLAssociations, from.WebACLAssociations},
		{&q.InvalidationPaths, from.InvalidationPaths},
		{&q.WildcardInvalidations, from.WildcardInvalidations},
		{&q.Certificates, from.Certificates},
		{&q.NamesPerCertificate, from.NamesPerCertificate},
		{&q.HostedZones, from.HostedZones},
		{&q.RecordsPerZone, from.RecordsPerZone},
		{&q.Origins, from.Origins},
		{&q.OriginGroups, from.OriginGroups},
		{&q.CacheBehaviors, from.CacheBehaviors},
		{&q.CustomHeaders, from.CustomHeaders},
		{&q.KeyGroups, from.KeyGroups},
		{&q.Aliases, from.Aliases},
		{&q.OriginTimeout, from.OriginTimeout},
		{&q.GroupsPerAnycastList, from.GroupsPerAnycastList},
	} {
		if f.from > 0 {
			*f.to = f.from
		}
	}
}

// Quotas returns the limits in force.
func (s *Sim) Quotas() Quotas {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.quotas
}

// SetQuotas changes the limits that are set in q and keeps the others. Existing resources stay, also above a lowered
// limit.
func (s *Sim) SetQuotas(q Quotas) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.quotas.merge(q)
}
