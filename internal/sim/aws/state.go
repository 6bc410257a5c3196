package aws

import (
	"maps"
	"slices"
	"time"
)

// State is what AWS holds, without any lag, for tests to look at.
type State struct {
	Now      time.Time      `json:"now"`
	Accounts []AccountState `json:"accounts"`
}

// AccountState is what one account holds, each list in order of creation.
type AccountState struct {
	ID               string                 `json:"id"`
	Tenants          []TenantState          `json:"tenants"`
	ConnectionGroups []ConnectionGroupState `json:"connectionGroups"`
	Distributions    []DistributionState    `json:"distributions"`
	Certificates     []CertificateState     `json:"certificates"`
	HostedZones      []HostedZoneState      `json:"hostedZones"`
	KeyValueStores   []KeyValueStoreState   `json:"keyValueStores,omitempty"`
	// Invalidations are those of one resource after the other.
	Invalidations []InvalidationState `json:"invalidations,omitempty"`
}

// TenantState is a distribution tenant.
type TenantState struct {
	ID                 string             `json:"id"`
	ARN                string             `json:"arn"`
	Name               string             `json:"name"`
	DistributionID     string             `json:"distributionId"`
	ConnectionGroupID  string             `json:"connectionGroupId"`
	Enabled            bool               `json:"enabled"`
	Status             string             `json:"status"`
	ETag               string             `json:"eTag"`
	Domains            map[string]string  `json:"domains"` // name -> active or inactive
	Parameters         map[string]string  `json:"parameters,omitempty"`
	Customizations     CustomizationState `json:"customizations"`
	ManagedCertificate string             `json:"managedCertificateArn,omitempty"`
	Tags               map[string]string  `json:"tags,omitempty"`
	CreatedTime        time.Time          `json:"createdTime"`
	LastModifiedTime   time.Time          `json:"lastModifiedTime"`
}

// CustomizationState is what a tenant overrides.
type CustomizationState struct {
	WebACLAction       string   `json:"webAclAction,omitempty"`
	WebACLARN          string   `json:"webAclArn,omitempty"`
	CertificateARN     string   `json:"certificateArn,omitempty"`
	GeoRestrictionType string   `json:"geoRestrictionType,omitempty"`
	GeoLocations       []string `json:"geoLocations,omitempty"`
}

// ConnectionGroupState is a connection group.
type ConnectionGroupState struct {
	ID              string            `json:"id"`
	ARN             string            `json:"arn"`
	Name            string            `json:"name"`
	RoutingEndpoint string            `json:"routingEndpoint"`
	IPv6            bool              `json:"ipv6"`
	Enabled         bool              `json:"enabled"`
	Default         bool              `json:"default"`
	AnycastIPListID string            `json:"anycastIpListId,omitempty"`
	Status          string            `json:"status"`
	ETag            string            `json:"eTag"`
	Tags            map[string]string `json:"tags,omitempty"`
	Tenants         int               `json:"tenants"`

	CreatedTime      time.Time `json:"createdTime"`
	LastModifiedTime time.Time `json:"lastModifiedTime"`
}

// DistributionState is a distribution.
type DistributionState struct {
	ID  string `json:"id"`
	ARN string `json:"arn"`
	// CallerReference is what its creator named it by.
	CallerReference string            `json:"callerReference"`
	Comment         string            `json:"comment"`
	ConnectionMode  string            `json:"connectionMode"`
	Enabled         bool              `json:"enabled"`
	Status          string            `json:"status"`
	ETag            string            `json:"eTag"`
	DomainName      string            `json:"domainName"`
	CertificateARN  string            `json:"certificateArn,omitempty"`
	Aliases         []string          `json:"aliases,omitempty"`
	Parameters      []SeedParameter   `json:"parameters,omitempty"`
	Tags            map[string]string `json:"tags,omitempty"`
	Tenants         int               `json:"tenants"`
	// Config is the whole configuration as a read answers with it, element by
	// element: an object for a structure, a list for a list, and a string for
	// everything else.
	Config map[string]any `json:"config"`

	CreatedTime      time.Time `json:"createdTime"`
	LastModifiedTime time.Time `json:"lastModifiedTime"`
}

// CertificateState is an ACM certificate.
type CertificateState struct {
	ARN       string   `json:"arn"`
	Names     []string `json:"names"`
	Status    string   `json:"status"`
	ManagedBy string   `json:"managedBy,omitempty"`
	// RequestedBy is the id of the tenant a managed certificate was asked for by,
	// also when that is gone.
	RequestedBy   string    `json:"requestedBy,omitempty"`
	InUseBy       []string  `json:"inUseBy"`
	FailureReason string    `json:"failureReason,omitempty"`
	CreatedTime   time.Time `json:"createdTime"`
	NotAfter      time.Time `json:"notAfter,omitzero"`
}

// State returns what AWS holds.
func (s *Sim) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	s.progressAll(now)
	out := State{Now: now}
	for _, id := range slices.Sorted(maps.Keys(s.world.accounts)) {
		out.Accounts = append(out.Accounts, s.accountState(s.world.accounts[id], now))
	}
	return out
}

// Tenants returns the tenants of an account in order of creation; no account
// means the default one.
func (s *Sim) Tenants(accountID string) []TenantState {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.progressAll(s.now())
	return states(s.accountNamed(accountID).tenants, s.now(), s.tenantState)
}

// Tenant returns one tenant by id, name or ARN; no account means the default
// one.
func (s *Sim) Tenant(accountID, identifier string) (TenantState, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, now := s.accountNamed(accountID), s.now()
	s.progress(now)
	r := a.tenants.resolve(identifier)
	s.progressTenant(a, r, now)
	if r == nil {
		return TenantState{}, false
	}
	return s.tenantState(r, now), true
}

// Distributions returns the distributions of an account in order of creation;
// no account means the default one.
func (s *Sim) Distributions(accountID string) []DistributionState {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.accountNamed(accountID).distributionStates(s)
}

// Distribution returns one distribution by id, ARN or caller reference; no
// account means the default one.
func (s *Sim) Distribution(accountID, identifier string) (DistributionState, bool) {
	for _, d := range s.Distributions(accountID) {
		if identifier == d.ID || identifier == d.ARN || identifier == d.CallerReference {
			return d, true
		}
	}
	return DistributionState{}, false
}

// ConnectionGroups returns the connection groups of an account in order of
// creation; no account means the default one.
func (s *Sim) ConnectionGroups(accountID string) []ConnectionGroupState {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.accountNamed(accountID).groupStates(s)
}

// ConnectionGroup returns one connection group by id, name or ARN; no account
// means the default one.
func (s *Sim) ConnectionGroup(accountID, identifier string) (ConnectionGroupState, bool) {
	for _, g := range s.ConnectionGroups(accountID) {
		if identifier == g.ID || identifier == g.Name || identifier == g.ARN {
			return g, true
		}
	}
	return ConnectionGroupState{}, false
}

// groupStates needs the lock.
func (a *account) groupStates(s *Sim) []ConnectionGroupState {
	return states(a.groups, s.now(), func(r *record[group], now time.Time) ConnectionGroupState {
		g := s.groupState(r, now)
		g.Tenants = a.tenantsIn[r.id]
		return g
	})
}

// distributionStates needs the lock.
func (a *account) distributionStates(s *Sim) []DistributionState {
	return states(a.distributions, s.now(), func(r *record[distribution], now time.Time) DistributionState {
		d := s.distributionState(r, now)
		d.Tenants = a.tenantsOf[r.id]
		return d
	})
}

func (s *Sim) accountNamed(id string) *account {
	if id == "" {
		id = s.world.defaultAccount
	}
	return s.account(id)
}

func (s *Sim) accountState(a *account, now time.Time) AccountState {
	out := AccountState{
		ID:               a.id,
		Tenants:          states(a.tenants, now, s.tenantState),
		ConnectionGroups: a.groupStates(s),
		Distributions:    a.distributionStates(s),
		Certificates:     []CertificateState{},
		HostedZones:      []HostedZoneState{},
		KeyValueStores:   s.storeStates(a),
		Invalidations:    a.invalidationStates(now),
	}
	for _, z := range a.zones {
		out.HostedZones = append(out.HostedZones, z.state())
	}
	for _, c := range a.certificates.order {
		out.Certificates = append(out.Certificates, CertificateState{
			ARN: c.arn, Names: slices.Clone(c.names), Status: c.status, ManagedBy: c.managedBy, RequestedBy: c.tenantID,
			InUseBy: a.usersOf(c), FailureReason: c.failure, CreatedTime: c.created, NotAfter: c.notAfter,
		})
	}
	return out
}

func states[T, S any](t *table[T], now time.Time, state func(*record[T], time.Time) S) []S {
	out := make([]S, 0, len(t.live))
	for _, r := range t.order {
		if r.deleted.IsZero() {
			out = append(out, state(r, now))
		}
	}
	return out
}

func (s *Sim) tenantState(r *record[tenant], now time.Time) TenantState {
	t := r.current()
	out := TenantState{
		ID: r.id, ARN: r.arn, Name: r.name, DistributionID: t.distributionID, ConnectionGroupID: t.groupID,
		Enabled: t.enabled, Status: t.status(now), ETag: s.etagAt(t.meta, now), Domains: map[string]string{},
		Tags: tagMap(r.tags), CreatedTime: r.created, LastModifiedTime: t.modified,
		Customizations: CustomizationState{CertificateARN: t.custom.cert},
	}
	for _, d := range t.domains {
		out.Domains[d.name] = d.status()
	}
	for _, p := range t.params {
		if out.Parameters == nil {
			out.Parameters = map[string]string{}
		}
		out.Parameters[p.name] = p.value
	}
	if acl := t.custom.webACL; acl != nil {
		out.Customizations.WebACLAction, out.Customizations.WebACLARN = acl.action, acl.arn
	}
	if geo := t.custom.geo; geo != nil {
		out.Customizations.GeoRestrictionType, out.Customizations.GeoLocations = geo.kind, slices.Clone(geo.locations)
	}
	if t.managed != nil {
		out.ManagedCertificate = t.managed.arn
	}
	return out
}

func (s *Sim) groupState(r *record[group], now time.Time) ConnectionGroupState {
	g := r.current()
	return ConnectionGroupState{
		ID: r.id, ARN: r.arn, Name: r.name, RoutingEndpoint: g.endpoint, IPv6: g.ipv6, Enabled: g.enabled, Default: g.isDefault,
		AnycastIPListID: g.anycastID, Status: g.status(now), ETag: s.etagAt(g.meta, now), Tags: tagMap(r.tags),
		CreatedTime: r.created, LastModifiedTime: g.modified,
	}
}

func (s *Sim) distributionState(r *record[distribution], now time.Time) DistributionState {
	d := r.current()
	out := DistributionState{
		ID: r.id, ARN: r.arn, ConnectionMode: d.mode, Enabled: d.enabled, Status: d.status(now), ETag: s.etagAt(d.meta, now),
		DomainName: s.domainName(d), CertificateARN: d.certArn, Aliases: slices.Clone(d.aliases), Tags: tagMap(r.tags),
		CallerReference: d.reference(), Comment: d.config.str("Comment"), Config: d.config.object(),
		CreatedTime: r.created, LastModifiedTime: d.modified,
	}
	for _, p := range d.params {
		out.Parameters = append(out.Parameters, SeedParameter{Name: p.name, Required: p.required, Default: p.defaultValue})
	}
	return out
}

func tagMap(tags []tag) map[string]string {
	if len(tags) == 0 {
		return nil
	}
	out := make(map[string]string, len(tags))
	for _, t := range tags {
		out[t.key] = t.value
	}
	return out
}

// SetResolving makes public DNS of names lead to CloudFront, or no longer.
func (s *Sim) SetResolving(resolves bool, names ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.progress(s.now())
	defer func() { s.progress(s.now()) }()
	for _, name := range names {
		if resolves {
			s.world.resolving[name] = struct{}{}
		} else {
			delete(s.world.resolving, name)
		}
	}
}

// Resolving lists the names whose public DNS leads to CloudFront.
func (s *Sim) Resolving() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.world.resolving))
}
