package distribution

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/claim"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/publication"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// Target is a name of the platform's own that leads to a connection group.
type Target struct {
	Name string
	DNS  publication.Spec
}

// Sight is what is known of a target outside of the object.
type Sight struct {
	// Zones are those of the provider if ZonesKnown; Unlisted is why they can't be read.
	Zones      []dns.Zone
	ZonesKnown bool
	Unlisted   *fault.Error
	// DNS is what is known of its records.
	DNS dns.View
	// DeniedRole is a role that it needs and the administrator has not granted.
	DeniedRole string
	// Tenant is the object of a tenant that has the name among its domains, empty where there is none.
	Tenant ownership.Owner
	// Given means that the spec has it no more, and that of another group of the namespace does. Inherits means that another
	// group of the namespace has its records, and wants them no more.
	Given, Inherits bool
}

// TargetNames are the targets of the spec, in its order, and then those that are being removed.
func (in Input) TargetNames() (names []string) {
	for _, t := range in.Desired.Targets {
		names = append(names, t.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(in.Memory.Targets)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Target is what the spec says of a target, and where. Nil: it has none of that name.
func (in Input) Target(name string) (spec *publication.Spec, at int) {
	at = slices.IndexFunc(in.Desired.Targets, func(t Target) bool { return t.Name == name })
	if at < 0 {
		return nil, at
	}
	return &in.Desired.Targets[at].DNS, at
}

// TargetWants are the records of a target that are due now, and how much that is of those that are wanted.
func (in Input) TargetWants(name string) ([]dns.Record, dns.Extent) {
	switch f := in.targetFact(name); {
	case in.World.Knowledge == resource.Nothing && (in.deleting() || !f.Placed):
		return f.Wants, dns.Blind
	case f.Placed:
		return f.Wants, dns.Whole
	default:
		return f.Wants, dns.Partial
	}
}

// Rests reports whether nothing is changed in DNS for the object for now.
func (in Input) Rests() bool { return in.Still() || !in.deleting() && in.view().InDoubt() }

func (in Input) targetFact(name string) publication.Fact {
	spec, at := in.Target(name)
	f := publication.Judge(in.targetCase(name, spec))
	if of := in.World.Targets[name].Tenant; of.Name != "" && spec != nil {
		f.Ready = in.usedByTenant(name, of)
	}
	words := strings.NewReplacer(
		"the distribution tenant", "the connection group", "without a tenant", "without a connection group",
		"spec.domains", "spec.customerTargets", "spec.dns", fmt.Sprintf("spec.customerTargets[%d].dns", max(at, 0)),
	)
	f.Ready.Message = words.Replace(f.Ready.Message)
	if f.Awaits != nil {
		f.Awaits.Message = words.Replace(f.Awaits.Message)
	}
	return f
}

// usedByTenant says that the name can't be a target, and which object has it to users who may see that.
func (in Input) usedByTenant(name string, of ownership.Owner) chain.Condition {
	c := chain.Condition{Type: publication.Ready, Reason: publication.ReasonDNSConflict, Generation: in.Generation}
	named := of.Namespace + "/" + of.Name
	whose := "the DistributionTenant " + named
	if of.Namespace != in.Me.Namespace {
		whose, c.Detail = "a DistributionTenant of another namespace", fmt.Sprintf("%s is a domain of the DistributionTenant %s.", name, named)
	}
	c.Message = fmt.Sprintf("spec.customerTargets has %s, which is a domain of %s: its customer would be told to point it at itself. Use another name for the target, or remove the domain from the tenant.", name, whose)
	return c
}

// targetCase is what is known of the records of a target. The group is to its targets what a tenant is to its domains: it
// serves what leads to it.
func (in Input) targetCase(name string, spec *publication.Spec) publication.Case {
	w, v, at, ledger := in.World, in.view(), in.World.Targets[name], in.Memory.Targets[name]
	theirs := v.Present && v.Relation() == ownership.Foreign
	c := publication.Case{
		Spec: spec, Namespace: in.Me.Namespace, Generation: in.Generation,
		Deleting: in.deleting(), Still: in.Still(), Held: v.Held() || at.Given || in.deleting() && in.inUse(v), InDoubt: !in.deleting() && v.InDoubt(),
		Reclaims: in.Rescued, HasFinalizer: in.HasFinalizer, Abandoned: in.Policy.AbandonDNS,
		Retained: v.Retain && w.Knowledge != resource.Absent && !theirs, Drift: in.Policy.Drift, DeniedRole: at.DeniedRole,
		Blind:     w.Unreadable != nil || v.Elsewhere() || w.Knowledge == resource.Nothing && (in.Memory.ID != "" || in.deleting()) || in.deleting() && v.Present && !w.TagsKnown,
		Publishes: spec != nil && !in.deleting() && at.DeniedRole == "" && (at.Tenant.Name == "" || len(ledger) > 0),
		Zones:     at.Zones, ZonesKnown: at.ZonesKnown, Unlisted: at.Unlisted, Ledger: ledger, View: at.DNS,
		Tenant: publication.Tenant{Present: v.Present, Ours: v.Mine(), Unknown: w.Knowledge == resource.Nothing, Remembered: in.Memory.ID != "", Perhaps: in.Memory.ID != ""},
	}
	if spec != nil {
		c.Domains = []string{name}
	}
	if at.Inherits {
		c.Inherits = []string{name}
	}
	if before, had := in.Memory.Conditions[publication.Ready]; had {
		c.Before = &before
	}
	if r := w.Resource; r != nil && v.Mine() {
		c.Endpoint, c.EndpointText, c.EndpointKnown, c.IPv6, c.IPv6Known = r.Endpoint, r.Endpoint, true, r.IPv6, true
		c.Tenant.Domains, c.Tenant.Settled = []string{name}, r.Settled()
		if r.Enabled {
			c.Tenant.Served = []string{name}
		}
	}
	return c
}

// inUse reports whether the group still has tenants, as far as is known, so that their customers may be led to it.
func (in Input) inUse(v *resource.View) bool {
	if !v.Present || v.Relation() != ownership.Ours {
		return false
	}
	_, waits := unused(in)
	return waits
}

// targetsPlaced looks up the zones of targets before records are published.
func targetsPlaced(in Input) (Decision, bool) {
	if !in.view().Mine() {
		return pass()
	}
	for _, t := range in.Desired.Targets {
		if in.targetFact(t.Name).Lacks == publication.LacksZones {
			return do(Look{At: LookZones, Domains: []string{t.Name}})
		}
	}
	return pass()
}

// targetsRemoved keeps a group that is being torn down until no target leads to it any more.
func targetsRemoved(in Input) (Decision, bool) {
	for _, name := range in.TargetNames() {
		if p := in.targetFact(name).Awaits; p != nil {
			return rest(*p, 0)
		}
	}
	return pass()
}

// takenTargets are those that the spec has dropped and that are still published. Customers may have been told them, whoever
// publishes their domains.
func (in Input) takenTargets() (out []string) {
	for _, name := range in.TargetNames() {
		spec, _ := in.Target(name)
		leads := slices.ContainsFunc(in.Memory.Targets[name], func(e dns.Entry) bool { return e.State != dns.Retracting })
		if spec == nil && leads && !in.World.Targets[name].Given {
			out = append(out, "removes the customer target "+name)
		}
	}
	return out
}

// targetStakes are the domains that the targets are.
func (in Input) targetStakes() (out []claim.Domain) {
	for _, name := range in.TargetNames() {
		spec, _ := in.Target(name)
		d := claim.Domain{Name: name, Wanted: spec != nil && !in.deleting() && !in.Frozen()}
		if len(in.Memory.Targets[name]) > 0 {
			d.Stake = claim.Recorded
		}
		if d.Wanted || d.Stake > claim.Wants {
			out = append(out, d)
		}
	}
	return out
}

// targetLedgers are the ledgers to store next, and the condition of all targets: the worst of theirs. There is none without
// targets.
func (in Input) targetLedgers() (ledgers map[string][]dns.Entry, ready *chain.Condition) {
	for _, name := range in.TargetNames() {
		f := in.targetFact(name)
		if len(f.Ledger) > 0 {
			if ledgers == nil {
				ledgers = map[string][]dns.Entry{}
			}
			ledgers[name] = f.Ledger
		}
		if ready == nil || ready.Status && !f.Ready.Status || ready.Status == f.Ready.Status && publication.Severity(f.Ready.Reason) > publication.Severity(ready.Reason) {
			ready = &f.Ready
		}
	}
	return ledgers, ready
}

// TargetChanges tells which records of targets have come and gone between what is stored and a report.
func TargetChanges(in Input, r Report) (events []chain.Event) {
	for _, name := range in.TargetNames() {
		for _, e := range publication.Changes(in.Memory.Targets[name], r.Targets[name], in.targetFact(name).Left, in.World.Targets[name].DNS) {
			e.Message = strings.NewReplacer("the distribution tenant", "the connection group", "spec.dns", "dns").Replace(e.Message)
			events = append(events, e)
		}
	}
	return events
}

// MissesTarget reports whether a target has no zone to be published in, or a tenant has its name, and nothing else tells when
// that changes.
func MissesTarget(in Input, r Report) bool {
	for _, s := range in.World.Targets {
		if s.Tenant.Name != "" {
			return true
		}
	}
	return slices.ContainsFunc(r.Conditions, func(c chain.Condition) bool {
		return c.Type == publication.Ready && (c.Reason == publication.ReasonZoneNotFound || c.Reason == publication.ReasonZoneAmbiguous)
	})
}
