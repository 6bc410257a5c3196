package distribution_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distribution"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/claim"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/publication"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

const (
	target   = "cname.shop.example"
	endpoint = "d111.cloudfront.net"
)

// leading is the record of the target.
var leading = dns.Record{ZoneID: "Z1", Name: target, Type: "CNAME", Value: endpoint, TTL: 300}

// targeted is a connection group with the target, of which nothing is published yet.
func targeted(in *distribution.Input) {
	in.Desired.Words, in.Desired.Targets = ofGroups(), []distribution.Target{{Name: target, DNS: publication.Spec{Type: "Auto", TTL: 300}}}
	if in.World.Resource != nil {
		in.World.Resource.Endpoint = endpoint
	}
	in.World.Targets = map[string]distribution.Sight{}
}

// sighted adds what is known of the target.
func sighted(change func(*distribution.Sight)) func(*distribution.Input) {
	return func(in *distribution.Input) {
		s := in.World.Targets[target]
		change(&s)
		in.World.Targets[target] = s
	}
}

var zoned = sighted(func(s *distribution.Sight) {
	s.Zones, s.ZonesKnown = []dns.Zone{{ID: "Z1", Name: "shop.example"}}, true
})

// phase is how the record stands in its zone.
func phase(p dns.Phase) func(*distribution.Input) {
	return sighted(func(s *distribution.Sight) { s.DNS.Records = map[dns.Record]dns.Standing{leading: {Phase: p}} })
}

// entered has the record in the ledger.
func entered(state dns.State) func(*distribution.Input) {
	return func(in *distribution.Input) {
		in.Memory.Targets = map[string][]dns.Entry{target: {{Record: leading, State: state}}}
	}
}

func dropped(in *distribution.Input) { in.Desired.Targets = nil }

func used(in *distribution.Input) { in.World.Dependents = &distribution.Dependents{Count: 2} }

func progressing(in *distribution.Input) { in.World.Resource.Status = "InProgress" }

func unusedGroup(in *distribution.Input) { in.World.Dependents = &distribution.Dependents{} }

func targetsKept() map[string]question {
	return map[string]question{
		"the zones of a target are looked up": {
			in: with(quiet(), targeted), rule: "TargetsPlaced", step: distribution.Look{At: distribution.LookZones, Domains: []string{target}},
		},
		"once": {in: with(quiet(), targeted, zoned), rule: "Idle", step: distribution.Rest{}},
	}
}

func targetsRemoved() map[string]question {
	waiting := "Waiting until CNAME cname.shop.example is removed from DNS, so that no name points to CloudFront without a connection group."
	return map[string]question{
		"a group without tenants waits for its targets": {
			in: with(dying(), targeted, zoned, unusedGroup, entered(dns.Published), phase(dns.There)), rule: "TargetsRemoved", step: distribution.Rest{}, reason: resource.ReasonDeleting, says: waiting,
		},
		"and is then disabled": {in: with(dying(), targeted, zoned, unusedGroup), rule: "Disabled", step: distribution.Disable{}},
		"one that is gone lets go once they are": {
			in: with(dying(), targeted, entered(dns.Retracting), phase(dns.There), absent), rule: "Gone", step: distribution.Rest{}, reason: resource.ReasonDeleting, says: waiting,
		},
	}
}

func TestTargetsAreLookedUpAndRemoved(t *testing.T) {
	for name, q := range together(targetsKept(), targetsRemoved()) {
		t.Run(name, func(t *testing.T) { ask(t, q) })
	}
}

// ledgers is the ledger of the target after a pass, as states.
func ledgers(r distribution.Report) string {
	var states []string
	for _, e := range r.Targets[target] {
		states = append(states, string(e.State))
	}
	return strings.Join(states, " ")
}

func TestWhatIsPublishedForATarget(t *testing.T) {
	ofTenant := func(namespace string) func(*distribution.Input) {
		return sighted(func(s *distribution.Sight) { s.Tenant = ownership.Owner{Namespace: namespace, Name: "acme"} })
	}
	given := sighted(func(s *distribution.Sight) { s.Given = true })
	for name, test := range map[string]struct {
		about  string
		in     distribution.Input
		ledger string
		ready  string
	}{
		"new":                 {"A new target is about to be published.", with(quiet(), targeted, zoned, phase(dns.Absent)), "Intended", "DNSRecordCreating"},
		"seen":                {"What was seen in the zone is published.", with(quiet(), targeted, zoned, entered(dns.Intended), phase(dns.There)), "Published", "DNSReady"},
		"deploying":           {"Nothing leads to a group before it is deployed.", with(quiet(), targeted, zoned, phase(dns.Absent), progressing), "", "DNSRecordCreating"},
		"dropped":             {"A target that the spec has dropped is taken back.", with(quiet(), targeted, zoned, dropped, entered(dns.Published), phase(dns.There)), "Retracting", "DNSNotConfigured"},
		"taken over":          {"Unless another group takes it over.", with(quiet(), targeted, zoned, dropped, given, entered(dns.Published), phase(dns.There)), "Published", "DNSNotConfigured"},
		"a tenant's":          {"The domain of a tenant is not published.", with(quiet(), targeted, zoned, ofTenant("shop"), phase(dns.Absent)), "", "DNSConflict"},
		"a later tenant's":    {"What customers may have been told stays, whichever tenant comes.", with(quiet(), targeted, zoned, ofTenant("other"), entered(dns.Published), phase(dns.There)), "Published", "DNSConflict"},
		"paused":              {"Nothing is changed for a paused object.", with(quiet(), targeted, zoned, dropped, entered(dns.Published), phase(dns.There), paused), "Published", "DNSNotConfigured"},
		"deleted, with users": {"A target stays while the group that is deleted has tenants.", with(dying(), targeted, zoned, used, entered(dns.Published), phase(dns.There)), "Published", "DNSPropagating"},
		"deleted":             {"Then it is taken back.", with(dying(), targeted, zoned, unusedGroup, entered(dns.Published), phase(dns.There)), "Retracting", "DNSPropagating"},
		"kept":                {"It is kept with a group that is kept.", with(dying(), targeted, zoned, unusedGroup, entered(dns.Published), phase(dns.There), retain), "Published", "DNSReady"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Log(test.about)
			r := conclude(test.in)
			if got := ledgers(r); got != test.ledger {
				t.Errorf("the ledger has %q, want %q", got, test.ledger)
			}
			var ready chain.Condition
			for _, c := range r.Conditions {
				if c.Type == publication.Ready {
					ready = c
				}
			}
			if string(ready.Reason) != test.ready {
				t.Errorf("the condition is %+v, want the reason %s", ready, test.ready)
			}
			if strings.Contains(ready.Message, "distribution tenant") || strings.Contains(ready.Message, "other/acme") {
				t.Errorf("the message speaks of what the user does not have or see: %s", ready.Message)
			}
		})
	}
}

// A target that customers may have been told is a loss when it is removed, whatever is done about drift.
func TestARemovalOfATargetIsHarm(t *testing.T) {
	const loss = "removes the customer target " + target
	given := sighted(func(s *distribution.Sight) { s.Given = true })
	for name, test := range map[string]struct {
		in   distribution.Input
		want string
	}{
		"it is in the spec":               {with(quiet(), targeted, entered(dns.Published)), ""},
		"it was dropped":                  {with(quiet(), targeted, dropped, entered(dns.Published)), loss},
		"also where drift is reported":    {with(quiet(), targeted, dropped, entered(dns.Published), drift(resource.DriftReport)), loss},
		"it was cleared before":           {with(quiet(), targeted, dropped, entered(dns.Retracting)), ""},
		"another group takes it over":     {with(quiet(), targeted, dropped, entered(dns.Published), given), ""},
		"the group itself is deleted now": {with(dying(), targeted, dropped, entered(dns.Published)), ""},
	} {
		if got := test.in.Harm(); got != test.want {
			t.Errorf("%s: the harm is %q, want %q", name, got, test.want)
		}
	}
}

func TestTargetsAreObservedAsDomains(t *testing.T) {
	wanted, both := claim.Domain{Name: target, Wanted: true}, claim.Domain{Name: target, Wanted: true, Stake: claim.Recorded}
	leaving := claim.Domain{Name: target, Stake: claim.Recorded}
	for name, test := range map[string]struct {
		in   distribution.Input
		want []claim.Domain
	}{
		"a new one is wanted":            {with(quiet(), targeted), []claim.Domain{wanted}},
		"one with a record is had":       {with(quiet(), targeted, entered(dns.Published)), []claim.Domain{both}},
		"one that leaves is not free":    {with(quiet(), targeted, dropped, entered(dns.Retracting)), []claim.Domain{leaving}},
		"an object that goes wants none": {with(dying(), targeted), nil},
	} {
		if d := cmp.Diff(test.want, test.in.Stakes()); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}
