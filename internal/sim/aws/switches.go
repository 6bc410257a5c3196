package aws

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Switches decide what AWS does not document or where the sources disagree, and
// how much its reads lag. Code that works with AWS has to work both ways.
type Switches struct {
	// DeployDelay is how long a change stays InProgress. It counts for changes
	// made after it was set.
	DeployDelay time.Duration
	// DeleteNeedsDeployed refuses to delete a tenant or connection group that
	// is disabled but still InProgress.
	DeleteNeedsDeployed bool
	// UpdateReplaces makes UpdateConnectionGroup reset optional members that are
	// not sent; otherwise they are kept, as UpdateDistributionTenant always does.
	UpdateReplaces bool
	// CustomizationsMerge keeps sub-blocks of Customizations that are not sent;
	// otherwise the block is replaced as a whole.
	CustomizationsMerge bool
	// EmptyBlocksClear makes an empty Customizations or Parameters element, or
	// an empty AnycastIpListId of a connection group, clear what is there;
	// otherwise it is taken for absent.
	EmptyBlocksClear bool
	// EnabledByDefault is what Enabled is when a create does not say.
	EnabledByDefault bool
	// DeployMovesETag changes the ETag when InProgress becomes Deployed.
	DeployMovesETag bool
	// SummaryETagDiffers makes lists show another ETag than single reads do.
	SummaryETagDiffers bool
	// GetReturnsTags makes Get answer with the tags; create always does.
	GetReturnsTags bool
	// TagMovesETag changes the ETag when tags change.
	TagMovesETag bool
	// ListLag makes lists show the world as it was that long ago.
	ListLag time.Duration
	// GetLag hides what was just created from every read for that long. Its
	// name and domains are taken nevertheless.
	GetLag time.Duration
	// UpdateLag makes single reads show the value of that long ago.
	UpdateLag time.Duration
	// DeleteLag makes single reads answer for that long after a delete.
	DeleteLag time.Duration
	// DisregardParameters names tenant parameters whose values are not kept as
	// sent: the value given here is stored instead, or if that is empty, what
	// was sent in upper case.
	DisregardParameters map[string]string
	// EmptyCustomizationsEchoed answers with empty Customizations and
	// Parameters elements where there is nothing to show.
	EmptyCustomizationsEchoed bool
	// SelfHostedNeedsDNS makes a self-hosted certificate request subject to
	// the same DNS proof as a cloudfront one.
	SelfHostedNeedsDNS bool
	// CoveredRequestIgnored makes a certificate request start nothing when a
	// certificate covers every domain already.
	CoveredRequestIgnored bool
	// DefaultGroupWithDistribution creates the default connection group with
	// the first multi-tenant distribution; otherwise with the first tenant
	// that names no group.
	DefaultGroupWithDistribution bool
	// MoveNeedsDisabledSource refuses to move a domain off an enabled resource
	// within one account too; across accounts that is always refused.
	MoveNeedsDisabledSource bool
	// CertificateIssueDelay is how long after its last proof a managed
	// certificate is issued.
	CertificateIssueDelay time.Duration
	// CertificateMovesETag gives the tenant a new ETag when the status of its
	// managed certificate changes.
	CertificateMovesETag bool
	// AttachesByItself makes CloudFront attach a managed certificate to the
	// tenant once it is issued.
	AttachesByItself bool
	// RequestLost makes ACM refuse the request for a managed certificate, as
	// when the caller may not make it. The tenant is there nevertheless.
	RequestLost bool
	// CertificateLag hides a managed certificate from ACM for that long after it
	// was requested.
	CertificateLag time.Duration
	// Route53SyncDelay is how long a change of records stays PENDING.
	Route53SyncDelay time.Duration
	// DNSPropagationDelay is how long after INSYNC resolvers still see what was
	// before. Like the sync delay it counts for changes made after it was set.
	DNSPropagationDelay time.Duration
	// Route53NeverInSync keeps changes made while it is on PENDING, and out of
	// public DNS, until it is switched off.
	Route53NeverInSync bool
	// Route53ProcessingDelay is how long a zone refuses further changes after
	// one with PriorRequestNotComplete.
	Route53ProcessingDelay time.Duration
	// ChangeBatchMessages answers InvalidChangeBatch with a root and a list of
	// messages of its own; otherwise it looks like every other error.
	ChangeBatchMessages bool
	// UpdateNeedsWhole refuses an update of a distribution that leaves out what
	// the developer guide calls required in updates.
	UpdateNeedsWhole bool
	// EmptyItemsRefused refuses an empty list element in the configuration of a
	// distribution; without items it has to be left out.
	EmptyItemsRefused bool
	// UnsupportedEchoed makes answers about a multi-tenant distribution have what
	// it does not support, with values that ask for nothing. Logging that is off shows always.
	UnsupportedEchoed bool
	// SetsReordered answers with the lists of a distribution whose order means
	// nothing in another order than they were sent.
	SetsReordered bool
	// DefinitionsBindTenants refuses an update of a distribution's parameter
	// definitions that the parameters of its tenants do not go with.
	DefinitionsBindTenants bool
	// TenantOnlyUnnamed leaves the domain name of multi-tenant distributions empty.
	TenantOnlyUnnamed bool
	// FilterNeedsResource refuses to list the tenants of a distribution or a
	// connection group that does not exist; otherwise there are none.
	FilterNeedsResource bool
	// Allowed are the doubtful requests that are taken.
	Allowed Doubts
}

// DefaultSwitches is the strict reading: what a careful client must cope with.
func DefaultSwitches() Switches {
	return Switches{
		DeleteNeedsDeployed: true, EmptyBlocksClear: true, EnabledByDefault: true,
		CertificateIssueDelay: 10 * time.Second, CertificateMovesETag: true,
		UpdateNeedsWhole: true, EmptyItemsRefused: true,
	}
}

func (sw *Switches) clone() Switches {
	copied := *sw
	copied.DisregardParameters = maps.Clone(sw.DisregardParameters)
	return copied
}

// switchDef gives a switch its name in JSON and on the command line.
type switchDef struct {
	name     string
	flag     func(*Switches) *bool
	duration func(*Switches) *time.Duration
}

var switchDefs = slices.Concat(doubtDefs, []switchDef{
	{name: "attachesByItself", flag: func(s *Switches) *bool { return &s.AttachesByItself }},
	{name: "certificateIssueDelay", duration: func(s *Switches) *time.Duration { return &s.CertificateIssueDelay }},
	{name: "certificateLag", duration: func(s *Switches) *time.Duration { return &s.CertificateLag }},
	{name: "certificateMovesETag", flag: func(s *Switches) *bool { return &s.CertificateMovesETag }},
	{name: "changeBatchMessages", flag: func(s *Switches) *bool { return &s.ChangeBatchMessages }},
	{name: "coveredRequestIgnored", flag: func(s *Switches) *bool { return &s.CoveredRequestIgnored }},
	{name: "customizationsMerge", flag: func(s *Switches) *bool { return &s.CustomizationsMerge }},
	{name: "defaultGroupWithDistribution", flag: func(s *Switches) *bool { return &s.DefaultGroupWithDistribution }},
	{name: "definitionsBindTenants", flag: func(s *Switches) *bool { return &s.DefinitionsBindTenants }},
	{name: "deleteLag", duration: func(s *Switches) *time.Duration { return &s.DeleteLag }},
	{name: "deleteNeedsDeployed", flag: func(s *Switches) *bool { return &s.DeleteNeedsDeployed }},
	{name: "deployDelay", duration: func(s *Switches) *time.Duration { return &s.DeployDelay }},
	{name: "deployMovesETag", flag: func(s *Switches) *bool { return &s.DeployMovesETag }},
	{name: "disregardParameters"},
	{name: "dnsPropagationDelay", duration: func(s *Switches) *time.Duration { return &s.DNSPropagationDelay }},
	{name: "emptyBlocksClear", flag: func(s *Switches) *bool { return &s.EmptyBlocksClear }},
	{name: "emptyCustomizationsEchoed", flag: func(s *Switches) *bool { return &s.EmptyCustomizationsEchoed }},
	{name: "emptyItemsRefused", flag: func(s *Switches) *bool { return &s.EmptyItemsRefused }},
	{name: "enabledByDefault", flag: func(s *Switches) *bool { return &s.EnabledByDefault }},
	{name: "filterNeedsResource", flag: func(s *Switches) *bool { return &s.FilterNeedsResource }},
	{name: "getLag", duration: func(s *Switches) *time.Duration { return &s.GetLag }},
	{name: "getReturnsTags", flag: func(s *Switches) *bool { return &s.GetReturnsTags }},
	{name: "listLag", duration: func(s *Switches) *time.Duration { return &s.ListLag }},
	{name: "moveNeedsDisabledSource", flag: func(s *Switches) *bool { return &s.MoveNeedsDisabledSource }},
	{name: "route53NeverInSync", flag: func(s *Switches) *bool { return &s.Route53NeverInSync }},
	{name: "route53ProcessingDelay", duration: func(s *Switches) *time.Duration { return &s.Route53ProcessingDelay }},
	{name: "route53SyncDelay", duration: func(s *Switches) *time.Duration { return &s.Route53SyncDelay }},
	{name: "requestLost", flag: func(s *Switches) *bool { return &s.RequestLost }},
	{name: "selfHostedNeedsDNS", flag: func(s *Switches) *bool { return &s.SelfHostedNeedsDNS }},
	{name: "setsReordered", flag: func(s *Switches) *bool { return &s.SetsReordered }},
	{name: "summaryETagDiffers", flag: func(s *Switches) *bool { return &s.SummaryETagDiffers }},
	{name: "tagMovesETag", flag: func(s *Switches) *bool { return &s.TagMovesETag }},
	{name: "tenantOnlyUnnamed", flag: func(s *Switches) *bool { return &s.TenantOnlyUnnamed }},
	{name: "unsupportedEchoed", flag: func(s *Switches) *bool { return &s.UnsupportedEchoed }},
	{name: "updateLag", duration: func(s *Switches) *time.Duration { return &s.UpdateLag }},
	{name: "updateNeedsWhole", flag: func(s *Switches) *bool { return &s.UpdateNeedsWhole }},
	{name: "updateReplaces", flag: func(s *Switches) *bool { return &s.UpdateReplaces }},
})

// Set changes the switch of that name, as the command line and the control API
// call it: a boolean, a duration such as 10s, or for disregardParameters a
// comma-separated list of name or name=value.
func (sw *Switches) Set(name, value string) error {
	for _, def := range switchDefs {
		if def.name != name {
			continue
		}
		switch {
		case def.flag != nil:
			on, err := strconv.ParseBool(value)
			if err != nil {
				return fmt.Errorf("switch %s is %q: use true or false", name, value)
			}
			*def.flag(sw) = on
		case def.duration != nil:
			d, err := time.ParseDuration(value)
			if err != nil || d < 0 {
				return fmt.Errorf("switch %s is %q: use a duration such as 10s", name, value)
			}
			*def.duration(sw) = d
		default:
			sw.disregard(strings.Split(value, ","))
		}
		return nil
	}
	return fmt.Errorf("switch %q does not exist: use one of %s", name, strings.Join(SwitchNames(), ", "))
}

func (sw *Switches) disregard(list []string) {
	sw.DisregardParameters = nil
	for _, item := range list {
		name, value, _ := strings.Cut(strings.TrimSpace(item), "=")
		if name == "" {
			continue
		}
		if sw.DisregardParameters == nil {
			sw.DisregardParameters = map[string]string{}
		}
		sw.DisregardParameters[name] = value
	}
}

// SwitchNames lists the switches.
func SwitchNames() []string {
	names := make([]string, 0, len(switchDefs))
	for _, def := range switchDefs {
		names = append(names, def.name)
	}
	return names
}

// values renders the switches for JSON.
func (sw *Switches) values() map[string]any {
	out := map[string]any{}
	for _, def := range switchDefs {
		switch {
		case def.flag != nil:
			out[def.name] = *def.flag(sw)
		case def.duration != nil:
			out[def.name] = def.duration(sw).String()
		default:
			list := []string{}
			for _, name := range slices.Sorted(maps.Keys(sw.DisregardParameters)) {
				if value := sw.DisregardParameters[name]; value != "" {
					name += "=" + value
				}
				list = append(list, name)
			}
			out[def.name] = list
		}
	}
	return out
}

// Switches returns the switches as they stand.
func (s *Sim) Switches() Switches {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.switches.clone()
}

// SetSwitches replaces all switches.
func (s *Sim) SetSwitches(sw Switches) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.switches = sw.clone()
}

// ChangeSwitches changes some switches and leaves the others.
func (s *Sim) ChangeSwitches(change func(*Switches)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := s.switches.clone()
	change(&next)
	s.switches = next
}
