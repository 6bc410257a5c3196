package distributiontenant_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/rollout"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/keyvalue"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/publication"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

func spreads(in *distributiontenant.Input) { in.Spreads = true }

// answers is what the order says.
func answers(goes bool) func(*distributiontenant.Input) {
	return func(in *distributiontenant.Input) {
		in.Spreads, in.World.TurnKnown = true, true
		asks, _ := in.ServiceChange()
		in.World.Turn = distributiontenant.Turn{Values: asks.Values, Answer: rollout.Answer{Go: goes, Group: "0a1b2c3d"}, Release: " To release the rest, run: it."}
	}
}

// wants changes the spec.
func wants(change func(*distributiontenant.Desired)) func(*distributiontenant.Input) {
	return func(in *distributiontenant.Input) {
		in.Generation++
		change(&in.Desired)
	}
}

func tier(d *distributiontenant.Desired) { d.Parameters = map[string]string{"tier": "lead"} }

// published has the domain of the spec in a zone.
func published(in *distributiontenant.Input) {
	in.Desired.DNS = &publication.Spec{Zone: dns.Selector{ID: "Z1"}, TTL: 300}
	record := dns.Record{ZoneID: "Z1", Name: "alpha.example.com", Type: dns.CNAME, Value: "d1.cloudfront.net", TTL: 300}
	in.Memory.Ledger = []dns.Entry{{Record: record, State: dns.Published}}
	in.World.Zones, in.World.ZonesKnown, in.World.IPv6Known = []dns.Zone{{ID: "Z1", Name: "example.com"}, {ID: "Z2", Name: "example.com"}}, true, true
	in.World.DNS = dns.View{Records: map[dns.Record]dns.Standing{record: {Phase: dns.There}}}
}

func toAnotherZone(d *distributiontenant.Desired) {
	other := *d.DNS
	other.Zone.ID = "Z2"
	d.DNS = &other
}

// Every change of what customers are served with is asked about, and nothing else is.
func TestWhatIsAskedAbout(t *testing.T) {
	notGranted := func(in *distributiontenant.Input) { in.Ungranted = &chain.Halt{Reason: "NotGranted"} }
	secondGroup := func(in *distributiontenant.Input) { inGroup("cg_2")(in) }
	for name, test := range map[string]struct {
		in     distributiontenant.Input
		fields []string
	}{
		"parameters":                  {with(quiet(), wants(tier)), []string{"parameters"}},
		"parameters that are emptied": {with(quiet(), wants(func(d *distributiontenant.Desired) { d.Parameters = nil })), []string{"parameters"}},
		"a web ACL": {with(quiet(), wants(func(d *distributiontenant.Desired) {
			d.Customizations.WebACL = distributiontenant.WebACL{Action: "disable"}
		})), []string{"customizations.webAcl"}},
		"a geo restriction": {with(quiet(), wants(func(d *distributiontenant.Desired) {
			d.Customizations.Geo = distributiontenant.Geo{Type: "whitelist", Locations: []string{"AQ"}}
		})), []string{"customizations.geoRestrictions"}},
		"a certificate":                 {with(quiet(), wants(func(d *distributiontenant.Desired) { d.Customizations.CertificateARN = ownARN })), []string{"customizations.certificate.arn"}},
		"a distribution":                {with(quiet(), wants(func(d *distributiontenant.Desired) { d.DistributionID = "E2" })), []string{"distributionId"}},
		"a connection group":            {with(quiet(), wants(func(d *distributiontenant.Desired) { d.ConnectionGroupID = "cg_2" })), []string{"connectionGroupId"}},
		"a parent that leads elsewhere": {with(quiet(), secondGroup), []string{"connectionGroupId"}},
		"another zone":                  {with(quiet(), published, wants(toAnotherZone)), []string{"dns"}},
		"another DNS provider": {with(quiet(), published, wants(func(d *distributiontenant.Desired) {
			toAnotherZone(d)
			d.DNS.Provider = dns.Provider{Service: "cloudflare"}
		})), []string{"dns"}},
		"a value that functions read":                   {with(quiet(), edited, keyed, keyThere, owns("silver", keyvalue.Written)), []string{"keyValues"}},
		"none any more":                                 {with(quiet(), edited, keyThere, owns("gold", keyvalue.Written)), []string{"keyValues"}},
		"one in another store":                          {with(quiet(), edited, keyedAs("", storeARN+"2"), keyThere, owns("gold", keyvalue.Written)), []string{"keyValues"}},
		"one for another key":                           {with(quiet(), edited, keyedAs("k", storeARN), keyThere, owns("gold", keyvalue.Written)), []string{"keyValues"}},
		"one for each domain instead of one key":        {with(quiet(), edited, keyed, keyThere, ownsKey("k", "gold")), []string{"keyValues"}},
		"a key that goes with its domain":               {with(quiet(), edited, keyed, keyThere, ownsKey("www.example.com", "gold")), nil},
		"a key that is new":                             {with(quiet(), edited, keyed, keyThere), nil},
		"a key that is being removed already":           {with(quiet(), keyThere, owns("gold", keyvalue.Removing)), nil},
		"keys of an object that may not have them":      {with(quiet(), keyed, keyThere, owns("silver", keyvalue.Written), notGranted), nil},
		"several fields are one change":                 {with(quiet(), wants(func(d *distributiontenant.Desired) { tier(d); d.DistributionID = "E2" })), []string{"distributionId", "parameters"}},
		"drift":                                         {with(quiet(), drifted), []string{"parameters"}},
		"drift is not corrected (report)":               {with(quiet(), drifted, drift(resource.DriftReport)), nil},
		"but a change of the spec is made under report": {with(quiet(), wants(tier), drift(resource.DriftReport)), []string{"parameters"}},
		"a tag":                     {with(quiet(), wants(func(d *distributiontenant.Desired) { d.Tags = map[string]string{"team": "api"} })), nil},
		"a domain that is added":    {with(quiet(), wants(func(d *distributiontenant.Desired) { d.Domains = append(d.Domains, "b.example.com") })), nil},
		"a tenant that is disabled": {with(quiet(), wants(tier), disabledTenant), nil},
		"a tenant that serves no domain": {with(quiet(), wants(tier), func(in *distributiontenant.Input) {
			change(in, func(o *distributiontenant.Observed) { o.DomainStates = nil })
		}), nil},
		"a tenant that is created":    {with(unborn(), wants(tier)), nil},
		"a tenant of another":         {with(quiet(), wants(tier), taggedFor(other)), nil},
		"a parent that leads nowhere": {with(quiet(), unresolved), nil},
		"the only account of a provider": {with(quiet(), published, wants(func(d *distributiontenant.Desired) {
			d.DNS = &publication.Spec{Provider: dns.Provider{Service: dns.Cloudflare}}
		}), func(in *distributiontenant.Input) {
			in.Memory.Ledger = slices.Clone(in.Memory.Ledger)
			in.Memory.Ledger[0].Provider = dns.Provider{Service: dns.Cloudflare, Account: "main"}
		}), nil},
		"a zone that the spec does not name": {with(quiet(), published, wants(func(d *distributiontenant.Desired) { toAnotherZone(d); d.DNS.Zone = dns.Selector{} })), nil},
		"a managed certificate that was issued": {with(quiet(), requested, wants(func(*distributiontenant.Desired) {}), func(in *distributiontenant.Input) {
			in.World.Managed, in.World.ManagedKnown = &certificate.Managed{ARN: ownARN, State: certificate.Issued}, true
		}), nil},
	} {
		t.Run(name, func(t *testing.T) {
			if off, _ := test.in.ServiceChange(); len(off.Fields) > 0 {
				t.Errorf("without an order there is a change of %v", off.Fields)
			}
			in := with(test.in, spreads)
			asks, _ := in.ServiceChange()
			if d := cmp.Diff(test.fields, asks.Fields); d != "" {
				t.Errorf("fields (-want +got):\n%s", d)
			}
			look, looks := distributiontenant.Decide(in).Step.(distributiontenant.Look)
			if asked := looks && look.At == distributiontenant.LookTurn; asked != (len(test.fields) > 0) {
				t.Errorf("the order is asked: %t", asked)
			}
		})
	}
}

func TestInTurn(t *testing.T) {
	for name, q := range turnCases() {
		t.Run(name, func(t *testing.T) { ask(t, q) })
	}
}

func turnCases() map[string]question {
	changed := with(quiet(), wants(tier))
	further := func(d *distributiontenant.Desired) { d.Domains = []string{"alpha.example.com", "b.example.com"} }
	added := quiet().World.Tenant.Tenant
	added.Domains = []string{"alpha.example.com", "b.example.com"}
	certified := func(d *distributiontenant.Desired) { further(d); d.Customizations.CertificateARN = ownARN }
	newTags := func(d *distributiontenant.Desired) { d.Tags = map[string]string{"team": "api"} }
	return map[string]question{
		"a change is asked about":                             {in: with(changed, spreads), rule: "InTurn", step: distributiontenant.Look{At: distributiontenant.LookTurn}},
		"and made when it is the turn":                        {in: with(changed, answers(true)), rule: "InSync", step: distributiontenant.Update{ID: tenantID, ETag: "E-1", Tenant: target(changed)}},
		"and not before":                                      {in: with(changed, answers(false)), rule: "Idle", step: distributiontenant.Rest{}},
		"drift waits, too":                                    {in: with(quiet(), drifted, answers(false)), rule: "Idle", step: distributiontenant.Rest{}},
		"a domain that is added does not wait":                {in: with(changed, wants(further), answers(false)), rule: "InSync", step: distributiontenant.Update{ID: tenantID, ETag: "E-1", Tenant: added, Partial: true}},
		"it waits with the certificate":                       {in: with(quiet(), wants(certified), answers(false)), rule: "Serving", step: distributiontenant.Rest{}, reason: resource.ReasonDomainValidationPending},
		"and with the distribution whose certificate is used": {in: with(quiet(), wants(func(d *distributiontenant.Desired) { further(d); d.DistributionID = "E2" }), answers(false)), rule: "Serving", step: distributiontenant.Rest{}, reason: resource.ReasonDomainValidationPending},
		"a tag does not wait":                                 {in: with(changed, wants(newTags), answers(false)), rule: "TagsInSync", step: distributiontenant.Tag{ARN: "arn:" + tenantID, Tags: map[string]string{"team": "api"}}},
		"more differs than it has its turn with":              {in: with(changed, answers(true), func(in *distributiontenant.Input) { in.World.Turn.Values = nil }), rule: "InTurn", step: distributiontenant.Look{At: distributiontenant.LookTurn}},
	}
}

// A tenant that waits says so, stays Ready, and does not count as changed, whatever else was sent for the generation.
func TestATenantThatWaits(t *testing.T) {
	in := with(quiet(), wants(tier), answers(false))
	in.Attempts.AcceptedFor, in.Attempts.Accepted = in.Generation, resource.WroteConfig
	r := distributiontenant.Conclude(in, distributiontenant.Outcome{Decision: distributiontenant.Decide(in)})
	if r.AppliedGeneration != 2 {
		t.Errorf("generation %d counts as applied", r.AppliedGeneration)
	}
	conditions := map[chain.ConditionType]chain.Condition{}
	for _, c := range r.Conditions {
		conditions[c.Type] = c
	}
	want := "Not applied in AWS yet: parameters[tier]. The same change reaches customers in steps: the next ones when those before are Ready with it. " +
		"It is not the turn of this tenant yet. This is rollout 0a1b2c3d. To release the rest, run: it."
	if c := conditions[chain.Synced]; c.Status || c.Reason != distributiontenant.ReasonRollingOut || c.Message != want {
		t.Errorf("Synced is %+v, want the message %q", c, want)
	}
	if c := conditions[chain.Ready]; !c.Status || c.Generation != 2 {
		t.Errorf("Ready is %+v", c)
	}
	if told := distributiontenant.Told(in, distributiontenant.Outcome{}, r); told != (rollout.Outcome{}) {
		t.Errorf("the order is told %+v", told)
	}
}

// While the zone waits, the records stay where they are, and those of a new domain are published in the new one.
func TestTheZoneWaits(t *testing.T) {
	in := with(quiet(), published, wants(toAnotherZone), wants(func(d *distributiontenant.Desired) { d.Domains = append(d.Domains, "b.example.com") }))
	change(&in, func(o *distributiontenant.Observed) {
		o.Domains, o.DomainStates = in.Desired.Domains, map[string]string{"alpha.example.com": distributiontenant.DomainActive, "b.example.com": distributiontenant.DomainActive}
	})
	in.Memory.Conditions = maps.Clone(in.Memory.Conditions)
	in.Memory.Conditions[distributiontenant.DNSReady] = chain.Condition{Type: distributiontenant.DNSReady, Status: true, Reason: publication.ReasonDNSReady, Generation: 2}
	waits := with(in, answers(false))
	for _, c := range distributiontenant.Conclude(waits, distributiontenant.Outcome{Decision: distributiontenant.Decide(waits)}).Conditions {
		if c.Type == distributiontenant.DNSReady && c.Generation != 2 {
			t.Errorf("DNS is judged for generation %d before it is the turn of its zone", c.Generation)
		}
	}
	for goes, want := range map[bool]string{false: "alpha.example.com Z1, b.example.com Z2", true: "alpha.example.com Z2, b.example.com Z2"} {
		var got []string
		wants, _ := with(in, answers(goes)).Wants()
		for _, r := range wants {
			got = append(got, r.Name+" "+r.ZoneID)
		}
		if d := cmp.Diff(want, strings.Join(got, ", ")); d != "" {
			t.Errorf("when it may go (%t), wanted are (-want +got):\n%s", goes, d)
		}
	}
}

// The reports of passes to the order.
func TestTold(t *testing.T) {
	wrote := []distributiontenant.Step{distributiontenant.Update{}}
	failed := func(in *distributiontenant.Input) {
		in.Memory.Failure = &resource.Failure{Reason: resource.ReasonInvalidSpec, Generation: in.Generation, Since: now}
		in.Attempts.Last = now
		in.Memory.Conditions = map[chain.ConditionType]chain.Condition{chain.Ready: {Type: chain.Ready, Reason: resource.ReasonInvalidSpec, Message: "No."}}
	}
	unwanted := wants(func(d *distributiontenant.Desired) { d.Enabled = false })
	for name, test := range map[string]struct {
		in   distributiontenant.Input
		done []distributiontenant.Step
		want rollout.Outcome
	}{
		"a quiet tenant":            {quiet(), nil, rollout.Outcome{Settled: true, Ready: true}},
		"one that was just written": {quiet(), wrote, rollout.Outcome{Settled: true}},
		"one that is deployed":      {with(quiet(), inProgress), nil, rollout.Outcome{Settled: true}},
		"one with tags to be set":   {with(quiet(), wants(func(d *distributiontenant.Desired) { d.Tags = nil })), nil, rollout.Outcome{Settled: true, Ready: true}},
		"one that is paused":        {with(quiet(), wants(tier), func(in *distributiontenant.Input) { in.Paused = true }), nil, rollout.Outcome{Still: true}},
		"one whose parent is lost":  {with(quiet(), unresolved), nil, rollout.Outcome{Still: true}},
		"one that is gone":          {with(quiet(), absent), nil, rollout.Outcome{Settled: true, Unserved: true}},
		"one that is disabled":      {with(quiet(), disabledTenant, unwanted), nil, rollout.Outcome{Settled: true, Unserved: true}},
		"one that is being enabled": {with(quiet(), disabledTenant), nil, rollout.Outcome{Settled: true, Unserved: true}},
		"one that was disabled now": {with(quiet(), disabledTenant, unwanted), wrote, rollout.Outcome{Settled: true}},
		"one that was not read yet": {with(quiet(), unknown), nil, rollout.Outcome{}},
		"one that AWS refuses":      {with(quiet(), wants(tier), failed, answers(true)), nil, rollout.Outcome{Failure: "InvalidSpec: No."}},
	} {
		t.Run(name, func(t *testing.T) {
			in := with(test.in, spreads)
			out := distributiontenant.Outcome{Decision: distributiontenant.Decide(in), Done: test.done}
			if d := cmp.Diff(test.want, distributiontenant.Told(in, out, distributiontenant.Conclude(in, out))); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
