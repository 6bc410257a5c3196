package publication_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/publication"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

const (
	alpha = "alpha.example.com"
	beta  = "beta.example.com"
)

func record(domain string) dns.Record {
	return dns.Record{ZoneID: "Z1", Name: domain, Type: dns.CNAME, Value: "d1.cloudfront.net", TTL: 300}
}

func entry(domain string, s dns.State) dns.Entry { return dns.Entry{Record: record(domain), State: s} }

// served is a tenant that serves its one domain, for which a record is asked.
func served(changes ...func(*publication.Case)) publication.Case {
	c := publication.Case{
		Spec: &publication.Spec{Type: dns.CNAME, TTL: 300}, Domains: []string{alpha}, Generation: 2, HasFinalizer: true, Publishes: true,
		Drift: resource.DriftEnforce,
		Zones: []dns.Zone{{ID: "Z1", Name: "example.com"}}, ZonesKnown: true, IPv6Known: true,
		Endpoint: "d1.cloudfront.net", EndpointText: "d1.cloudfront.net", EndpointKnown: true, Routed: true,
		Tenant: publication.Tenant{Present: true, Ours: true, Settled: true, Remembered: true, Domains: []string{alpha}, Served: []string{alpha}},
		View:   dns.View{Records: map[dns.Record]dns.Standing{}},
	}
	for _, change := range changes {
		change(&c)
	}
	return c
}

func standing(domain string, s dns.Standing) func(*publication.Case) {
	return func(c *publication.Case) { c.View.Records[record(domain)] = s }
}

func phase(domain string, p dns.Phase) func(*publication.Case) {
	return standing(domain, dns.Standing{Phase: p})
}

func led(entries ...dns.Entry) func(*publication.Case) {
	return func(c *publication.Case) { c.Ledger = entries }
}

// first is a case in which CloudFront itself has to prove what comes.
func first(c *publication.Case) { c.First, c.Requests = true, true }

func unborn(c *publication.Case) { c.Tenant = publication.Tenant{} }

func wants(domains ...string) func(*publication.Case) {
	return func(c *publication.Case) { c.Domains = domains }
}

func TestJudge(t *testing.T) {
	absent, there := phase(alpha, dns.Absent), phase(alpha, dns.There)
	underway := func(c *publication.Case) { c.Requests, c.Underway = true, true }
	lost := func(c *publication.Case) { c.Unresolved = true }
	for name, test := range map[string]struct {
		in               publication.Case
		wants            []string
		ledger           []dns.Entry
		waiting, leaving []string
		published        bool
		returns          bool
		reason           chain.Reason
	}{
		"what is served is published":                {in: served(absent), wants: []string{alpha}, ledger: []dns.Entry{entry(alpha, dns.Intended)}, reason: publication.ReasonDNSRecordCreating},
		"and what is not is not":                     {in: served(absent, func(c *publication.Case) { c.Tenant.Served = nil }), reason: publication.ReasonDNSRecordCreating},
		"nor while the tenant is deployed":           {in: served(absent, func(c *publication.Case) { c.Tenant.Settled = false }), reason: publication.ReasonDNSRecordCreating},
		"it stays":                                   {in: served(there, led(entry(alpha, dns.Published))), wants: []string{alpha}, ledger: []dns.Entry{entry(alpha, dns.Published)}, reason: publication.ReasonDNSReady},
		"the record comes first":                     {in: served(absent, first, unborn), wants: []string{alpha}, ledger: []dns.Entry{entry(alpha, dns.Intended)}, reason: publication.ReasonDNSRecordCreating},
		"and is there":                               {in: served(there, first, unborn, led(entry(alpha, dns.Published))), wants: []string{alpha}, ledger: []dns.Entry{entry(alpha, dns.Published)}, published: true, reason: publication.ReasonDNSReady},
		"it is deleted when AWS refuses the tenant":  {in: served(there, first, unborn, led(entry(alpha, dns.Published)), func(c *publication.Case) { c.Refused = true }), ledger: []dns.Entry{entry(alpha, dns.Retracting)}, reason: publication.ReasonDNSRecordCreating},
		"one that is still to be deleted is not":     {in: served(there, first, unborn, led(entry(alpha, dns.Retracting))), wants: []string{alpha}, ledger: []dns.Entry{entry(alpha, dns.Intended)}, returns: true, reason: publication.ReasonDNSReady},
		"nor is one whose deletion was sent":         {in: served(phase(alpha, dns.Leaving), first, unborn, led(entry(alpha, dns.Retracting))), wants: []string{alpha}, ledger: []dns.Entry{entry(alpha, dns.Intended)}, reason: publication.ReasonDNSPropagating},
		"an intent that was stored is published":     {in: served(there, first, unborn, led(entry(alpha, dns.Intended))), wants: []string{alpha}, ledger: []dns.Entry{entry(alpha, dns.Published)}, published: true, reason: publication.ReasonDNSReady},
		"a domain comes not before its record stays": {in: served(there, phase(beta, dns.There), first, wants(alpha, beta), led(entry(alpha, dns.Published), entry(beta, dns.Retracting))), wants: []string{alpha, beta}, ledger: []dns.Entry{entry(alpha, dns.Published), entry(beta, dns.Intended)}, waiting: []string{beta}, returns: true, reason: publication.ReasonDNSReady},
		"a domain comes when it is proven":           {in: served(there, phase(beta, dns.Coming), first, wants(alpha, beta), led(entry(alpha, dns.Published), entry(beta, dns.Intended))), wants: []string{alpha, beta}, ledger: []dns.Entry{entry(alpha, dns.Published), entry(beta, dns.Intended)}, waiting: []string{beta}, reason: publication.ReasonDNSPropagating},
		"without proof it need not wait":             {in: served(there, wants(alpha, beta), led(entry(alpha, dns.Published))), wants: []string{alpha}, ledger: []dns.Entry{entry(alpha, dns.Published)}, reason: publication.ReasonDNSRecordCreating},
		"one request at a time":                      {in: served(there, underway, wants(alpha, beta), led(entry(alpha, dns.Published))), wants: []string{alpha}, ledger: []dns.Entry{entry(alpha, dns.Published)}, waiting: []string{beta}, reason: publication.ReasonDNSRecordCreating},
		"a domain is removed after its record":       {in: served(there, wants(beta), led(entry(alpha, dns.Published))), ledger: []dns.Entry{entry(alpha, dns.Retracting)}, leaving: []string{alpha}, reason: publication.ReasonDNSRecordCreating},
		"one that a request is for stays":            {in: served(there, underway, wants(beta), led(entry(alpha, dns.Published))), wants: []string{alpha}, ledger: []dns.Entry{entry(alpha, dns.Published)}, waiting: []string{beta}, leaving: []string{alpha}, reason: publication.ReasonDNSRecordCreating},
		"one that can't come keeps others out":       {in: served(phase(alpha, dns.Absent), phase(beta, dns.NoZone), first, unborn, wants(alpha, beta)), wants: []string{beta}, reason: publication.ReasonZoneNotFound},
		"a reference leads nowhere":                  {in: served(there, lost, led(entry(alpha, dns.Published))), wants: []string{alpha}, ledger: []dns.Entry{entry(alpha, dns.Published)}, reason: publication.ReasonDNSReady},
		"and a name without a tenant is deleted":     {in: served(there, lost, unborn, led(entry(alpha, dns.Published))), ledger: []dns.Entry{entry(alpha, dns.Retracting)}, reason: publication.ReasonDNSRecordCreating},
		"nothing is changed blindly":                 {in: served(absent, func(c *publication.Case) { c.Blind = true }), wants: []string{alpha}, reason: publication.ReasonDNSRecordCreating},
		"nor while paused":                           {in: served(absent, func(c *publication.Case) { c.Still = true }), wants: []string{alpha}, reason: publication.ReasonDNSRecordCreating},
		"nor without our finalizer":                  {in: served(absent, func(c *publication.Case) { c.HasFinalizer = false }), wants: []string{alpha}, ledger: []dns.Entry{}, reason: publication.ReasonDNSRecordCreating},
		"a role that is not granted is reported":     {in: served(absent, func(c *publication.Case) { c.Publishes, c.DeniedRole = false, "arn:role" }), reason: publication.ReasonRoleNotAllowed},
		"a deletion takes the records back":          {in: served(there, led(entry(alpha, dns.Published)), func(c *publication.Case) { c.Publishes, c.Deleting = false, true }), ledger: []dns.Entry{entry(alpha, dns.Retracting)}, reason: publication.ReasonDNSPropagating},
		"unless the tenant stays":                    {in: served(there, led(entry(alpha, dns.Published)), func(c *publication.Case) { c.Publishes, c.Deleting, c.Retained = false, true, true }), ledger: []dns.Entry{entry(alpha, dns.Published)}, reason: publication.ReasonDNSReady},
		"whether it stays is not known yet": {in: served(there, led(entry(alpha, dns.Published)), func(c *publication.Case) {
			c.Publishes, c.Deleting, c.Retained, c.Blind, c.Tenant = false, true, true, true, publication.Tenant{Unknown: true, Remembered: true}
		}), ledger: []dns.Entry{entry(alpha, dns.Published)}, reason: publication.ReasonDNSPropagating},
		"or they are abandoned":                   {in: served(there, led(entry(alpha, dns.Published)), func(c *publication.Case) { c.Publishes, c.Deleting, c.Abandoned = false, true, true }), reason: publication.ReasonDNSNotConfigured},
		"no records are asked for":                {in: served(func(c *publication.Case) { c.Spec, c.Publishes = nil, false }), reason: publication.ReasonDNSNotConfigured},
		"a place that is taken is a conflict":     {in: served(standing(alpha, dns.Standing{Phase: dns.Blocked, Found: "A 192.0.2.1"})), wants: []string{alpha}, ledger: []dns.Entry{}, reason: publication.ReasonDNSConflict},
		"a domain outside of the zones has none":  {in: served(wants("alpha.example.org")), reason: publication.ReasonZoneNotFound},
		"the worst of several domains is the one": {in: served(there, wants("alpha.example.org", alpha), led(entry(alpha, dns.Published))), wants: []string{alpha}, ledger: []dns.Entry{entry(alpha, dns.Published)}, reason: publication.ReasonZoneNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			f := publication.Judge(test.in)
			var names []string
			for _, r := range f.Wants {
				names = append(names, r.Name)
			}
			for what, d := range map[string]string{
				"wants": cmp.Diff(test.wants, names), "ledger": cmp.Diff(none(test.ledger), none(f.Ledger)),
				"waiting": cmp.Diff(none(test.waiting), none(f.Waiting)), "leaving": cmp.Diff(none(test.leaving), none(f.Leaving)),
			} {
				if d != "" {
					t.Errorf("%s (-want +got):\n%s", what, d)
				}
			}
			if f.Returns != test.returns {
				t.Errorf("returns %t", f.Returns)
			}
			if f.Published != test.published || f.Ready.Type != publication.Ready || f.Ready.Reason != test.reason || f.Ready.Generation != 2 {
				t.Errorf("published %t, %+v, want %s", f.Published, f.Ready, test.reason)
			}
		})
	}
}

// none makes no difference between a list that is empty and none.
func none[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}

func TestWhatIsLookedUp(t *testing.T) {
	zones := func(c *publication.Case) { c.ZonesKnown = false }
	endpoint := func(c *publication.Case) { c.Endpoint, c.EndpointKnown, c.Routed = "", false, false }
	ready := func(c *publication.Case) {
		c.Before = &chain.Condition{Type: publication.Ready, Status: true, Reason: publication.ReasonDNSReady, Generation: 2}
	}
	alias := func(c *publication.Case) { c.Spec.Type, c.IPv6Known = dns.Alias, false }
	for name, test := range map[string]struct {
		in   publication.Case
		want publication.Lack
	}{
		"nothing":                            {served(), publication.LacksNothing},
		"the zones":                          {served(zones, endpoint, alias), publication.LacksZones},
		"where to lead":                      {served(endpoint, alias), publication.LacksEndpoint},
		"whether an alias has two addresses": {served(alias), publication.LacksIPv6},
		"nothing that the ledger tells":      {served(zones, ready, led(entry(alpha, dns.Published))), publication.LacksNothing},
		"but not of an earlier generation": {
			served(zones, ready, led(entry(alpha, dns.Published)), func(c *publication.Case) { c.Generation++ }), publication.LacksZones,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if f := publication.Judge(test.in); f.Lacks != test.want || f.Placed != (test.want == publication.LacksNothing) {
				t.Errorf("lacks %d, placed %t, want %d", f.Lacks, f.Placed, test.want)
			}
		})
	}
}

// A domain that AWS has refused keeps no place until the next try, although nothing is looked up to publish it.
func TestWhatIsRefusedKeepsNoPlace(t *testing.T) {
	alias := func(c *publication.Case) { c.Spec.Type, c.IPv6Known = dns.Alias, false }
	refused := func(c *publication.Case) { c.Refused = true }
	unseen := func(c *publication.Case) { c.Tenant = publication.Tenant{Unknown: true, Perhaps: true} }
	remembered := func(c *publication.Case) {
		c.Tenant = publication.Tenant{Unknown: true, Perhaps: true, Remembered: true}
	}
	for name, test := range map[string]struct {
		in   publication.Case
		want bool
	}{
		"refused":                             {served(alias, first, unborn, refused), true},
		"perhaps there all the same":          {served(alias, first, unseen, refused), true},
		"before its zones were read":          {served(first, unborn, refused, func(c *publication.Case) { c.ZonesKnown = false }), true},
		"not refused":                         {served(alias, first, unborn), false},
		"refused for a tenant that was there": {served(alias, first, remembered, refused), false},
		"refused with a domain that it has":   {served(alias, first, wants(alpha, beta), refused), false},
	} {
		t.Run(name, func(t *testing.T) {
			if f := publication.Judge(test.in); f.Placed != test.want {
				t.Errorf("placed %t, want %t", f.Placed, test.want)
			}
		})
	}
}

// A reason that resolves without a user never hides one that does not, and the order knows every reason.
func TestSeverity(t *testing.T) {
	passes := []chain.Reason{publication.ReasonDNSNotConfigured, publication.ReasonDNSReady, publication.ReasonDNSPropagating, publication.ReasonDNSRecordCreating}
	stays := []chain.Reason{
		publication.ReasonDNSError, publication.ReasonDNSConflict, publication.ReasonZoneAmbiguous, publication.ReasonZoneNotFound, publication.ReasonRoleNotAllowed,
		resource.ReasonAccessDenied, resource.ReasonAWSError, resource.ReasonQuotaExceeded, resource.ReasonInvalidSpec, "SomethingNew",
	}
	for _, p := range passes {
		if !publication.Passes(p) {
			t.Errorf("%s needs a person", p)
		}
		for _, s := range stays {
			if publication.Passes(s) || publication.Severity(s) <= publication.Severity(p) {
				t.Errorf("%s is no worse than %s", s, p)
			}
		}
	}
	if publication.Severity(publication.ReasonRoleNotAllowed) >= publication.Severity(resource.ReasonAWSError) {
		t.Error("what is not known has a place")
	}
}

// A delegated record stays ours and is no drift: it exists as it was written, but resolvers don't see it.
func TestWhatIsDelegatedIsAConflictAndNoDrift(t *testing.T) {
	delegated := standing(alpha, dns.Standing{Phase: dns.Blocked, Found: "NS ns.other.test.", Fixed: true, Delegated: "example.com"})
	for name, in := range map[string]publication.Case{
		"published":                   served(delegated, led(entry(alpha, dns.Published))),
		"published before the tenant": served(delegated, first, unborn, led(entry(alpha, dns.Published))),
	} {
		t.Run(name, func(t *testing.T) {
			f := publication.Judge(in)
			if f.Ready.Reason != publication.ReasonDNSConflict || !strings.HasPrefix(f.Ready.Message, alpha+" is delegated: the zone Z1 has NS ns.other.test. at example.com") {
				t.Errorf("it is %+v", f.Ready)
			}
			if f.Published || f.Proven || len(f.Drift) > 0 {
				t.Errorf("it counts as published, or as drift: %+v", f)
			}
			if d := cmp.Diff(in.Ledger, f.Ledger); d != "" {
				t.Errorf("ledger (-want +got):\n%s", d)
			}
		})
	}
}

// Resolvers see a zone below another one only once that has its NS records. Until then what is published stays.
func TestANewZoneBelowTheOneThatIsPublished(t *testing.T) {
	const shop = "a.shop.example.com"
	above, below := record(shop), record(shop)
	below.ZoneID = "Z2"
	up, down := []dns.Record{above}, []dns.Record{below}
	other, proof := above, below
	other.Value = "d2.cloudfront.net"
	proof.Name, proof.Type = "_cf-challenge."+shop, dns.TXT
	is := func(r dns.Record, s dns.State) dns.Entry { return dns.Entry{Record: r, State: s} }
	nested := func(changes ...func(*publication.Case)) publication.Case {
		c := served(led(is(above, dns.Published)), func(c *publication.Case) {
			c.Domains, c.Tenant.Domains, c.Tenant.Served = []string{shop}, []string{shop}, []string{shop}
			c.Zones = append(c.Zones, dns.Zone{ID: "Z2", Name: "shop.example.com"})
			c.View.Records[above], c.View.Records[below] = dns.Standing{Phase: dns.There}, dns.Standing{Phase: dns.Absent}
		})
		for _, change := range changes {
			change(&c)
		}
		return c
	}
	both := led(is(above, dns.Published), is(below, dns.Published))
	there := func(c *publication.Case) { c.View.Records[below] = dns.Standing{Phase: dns.There} }
	delegated := func(c *publication.Case) {
		c.View.Records[above] = dns.Standing{Phase: dns.Blocked, Found: "NS ns.aws.test.", Fixed: true, Delegated: "shop.example.com"}
	}
	moved := func(c *publication.Case) {
		c.View.Records[above], c.View.Records[other] = dns.Standing{Phase: dns.Absent}, dns.Standing{Phase: dns.There}
	}
	elsewhere := func(c *publication.Case) {
		c.View.Records[above] = dns.Standing{Phase: dns.Blocked, Found: "NS ns.other.test.", Fixed: true, Delegated: shop}
	}
	named := func(c *publication.Case) { c.Spec.Zone.Name = "shop.example.com" }
	unread := func(c *publication.Case) { c.View.Records[above] = dns.Standing{Phase: dns.Unknown} }
	gone := func(c *publication.Case) { c.View.Records[above] = dns.Standing{Phase: dns.NoZone} }
	apex := func(c *publication.Case) { c.Zones[1].Name, c.Zones[1].Apex = shop, dns.FlattenedApex }
	unlisted := func(c *publication.Case) {
		c.Zones, c.ZonesKnown = nil, false
		c.Before = &chain.Condition{Type: publication.Ready, Status: true, Reason: publication.ReasonDNSReady, Generation: 2}
	}
	for name, test := range map[string]struct {
		in     publication.Case
		wants  []dns.Record
		ledger []dns.Entry
		lacks  publication.Lack
		reason chain.Reason
	}{
		"changes nothing":                       {in: nested(), wants: up, ledger: []dns.Entry{is(above, dns.Published)}, reason: publication.ReasonDNSReady},
		"nor while the record above is read":    {in: nested(unread), wants: up, ledger: []dns.Entry{is(above, dns.Published)}, reason: publication.ReasonDNSReady},
		"nor if it has to lead elsewhere":       {in: nested(moved, led(is(other, dns.Published))), wants: up, ledger: []dns.Entry{is(above, dns.Intended), is(other, dns.Retracting)}, reason: publication.ReasonDNSRecordCreating},
		"nor while the record is replaced":      {in: nested(led(is(above, dns.Intended), is(other, dns.Retracting)), moved), wants: up, ledger: []dns.Entry{is(above, dns.Intended), is(other, dns.Retracting)}, reason: publication.ReasonDNSRecordCreating},
		"nor once the new record is there":      {in: nested(led(is(above, dns.Intended))), wants: up, ledger: []dns.Entry{is(above, dns.Published)}, reason: publication.ReasonDNSReady},
		"nor if a name below it is delegated":   {in: nested(elsewhere), wants: up, ledger: []dns.Entry{is(above, dns.Published)}, reason: publication.ReasonDNSConflict},
		"keeps what a restart finds it has got": {in: nested(unread, led(is(above, dns.Published), is(below, dns.Intended))), wants: down, ledger: []dns.Entry{is(above, dns.Published), is(below, dns.Intended)}, reason: publication.ReasonDNSRecordCreating},
		"gets the record if it is named":        {in: nested(named), wants: down, ledger: []dns.Entry{is(above, dns.Published), is(below, dns.Intended)}, reason: publication.ReasonDNSRecordCreating},
		"then the one above is deleted":         {in: nested(named, both, there), wants: down, ledger: []dns.Entry{is(above, dns.Retracting), is(below, dns.Published)}, reason: publication.ReasonDNSReady},
		"and stays so":                          {in: nested(both, there), wants: down, ledger: []dns.Entry{is(above, dns.Retracting), is(below, dns.Published)}, reason: publication.ReasonDNSReady},
		"gets it once it is delegated":          {in: nested(delegated), wants: down, ledger: []dns.Entry{is(above, dns.Published), is(below, dns.Intended)}, reason: publication.ReasonDNSRecordCreating},
		"if the zone above is gone":             {in: nested(gone), wants: down, ledger: []dns.Entry{is(above, dns.Published), is(below, dns.Intended)}, reason: publication.ReasonDNSRecordCreating},
		"if the record above never came":        {in: nested(led(is(above, dns.Intended)), gone), wants: down, ledger: []dns.Entry{is(above, dns.Retracting), is(below, dns.Intended)}, reason: publication.ReasonDNSRecordCreating},
		"if it has the name of the domain":      {in: nested(apex), wants: []dns.Record{proof, below}, ledger: []dns.Entry{is(above, dns.Published), is(below, dns.Intended)}, reason: publication.ReasonDNSRecordCreating},
		"is not looked for":                     {in: nested(unlisted), wants: up, ledger: []dns.Entry{is(above, dns.Published)}, reason: publication.ReasonDNSReady},
		"but is where the record is not seen":   {in: nested(unlisted, delegated), wants: up, ledger: []dns.Entry{is(above, dns.Published)}, lacks: publication.LacksZones, reason: publication.ReasonDNSConflict},
	} {
		t.Run(name, func(t *testing.T) {
			f := publication.Judge(test.in)
			if d := cmp.Diff(test.wants, f.Wants); d != "" {
				t.Errorf("wants (-want +got):\n%s", d)
			}
			if d := cmp.Diff(test.ledger, f.Ledger); d != "" {
				t.Errorf("ledger (-want +got):\n%s", d)
			}
			if f.Ready.Reason != test.reason || f.Lacks != test.lacks {
				t.Errorf("it is %+v and lacks %d, want %s and %d", f.Ready, f.Lacks, test.reason, test.lacks)
			}
		})
	}
}

// That others answer for a name is told although nothing may be looked up or changed.
func TestADelegationIsToldWhilePaused(t *testing.T) {
	in := served(led(entry(alpha, dns.Published)), func(c *publication.Case) {
		c.Zones, c.ZonesKnown, c.Still = nil, false, true
		c.Before = &chain.Condition{Type: publication.Ready, Status: true, Reason: publication.ReasonDNSReady, Generation: 2}
		c.View.Records[record(alpha)] = dns.Standing{Phase: dns.Blocked, Found: "NS ns.other.test.", Fixed: true, Delegated: alpha}
	})
	if f := publication.Judge(in); f.Ready.Reason != publication.ReasonDNSConflict {
		t.Errorf("it is %+v", f.Ready)
	}
}

// A record that moves to another zone is in both for a while, and status has one line for it.
func TestWhatWasDeletedInTwoZonesIsOneDifference(t *testing.T) {
	elsewhere := entry(alpha, dns.Published)
	elsewhere.ZoneID = "Z2"
	in := served(phase(alpha, dns.Absent), led(entry(alpha, dns.Published), elsewhere))
	in.View.Records[elsewhere.Record] = dns.Standing{Phase: dns.Absent}
	want := []resource.Difference{{Field: "dns[cname " + alpha + "]", Desired: "d1.cloudfront.net"}}
	if d := cmp.Diff(want, publication.Judge(in).Drift); d != "" {
		t.Errorf("drift (-want +got):\n%s", d)
	}
}

// Once the tenant has the domain, what led elsewhere in CloudFront leads to nothing: it is not kept to be put back.
func TestWhatLeadsToCloudFrontIsKeptUntilTheTenantHasTheDomain(t *testing.T) {
	cname := func(value string) dns.RecordSet {
		return dns.RecordSet{Key: dns.Key{Name: alpha, Type: dns.CNAME}, TTL: 60, Values: []string{value}}
	}
	within := dns.Replacing([]dns.RecordSet{cname("d2.cloudfront.net")})
	outside := dns.Replacing([]dns.RecordSet{cname("other.example.net")})
	for name, test := range map[string]struct {
		change         func(*publication.Case)
		replaced, want dns.Replaced
	}{
		"elsewhere in CloudFront, with a tenant": {func(*publication.Case) {}, within, ""},
		"before there is one":                    {all(unborn, first), within, within},
		"outside":                                {func(*publication.Case) {}, outside, outside},
	} {
		t.Run(name, func(t *testing.T) {
			e := entry(alpha, dns.Published)
			e.Replaced = test.replaced
			got := publication.Judge(served(phase(alpha, dns.There), led(e), test.change)).Ledger
			e.Replaced = test.want
			if d := cmp.Diff([]dns.Entry{e}, got); d != "" {
				t.Errorf("ledger (-want +got):\n%s", d)
			}
		})
	}
}

func all(changes ...func(*publication.Case)) func(*publication.Case) {
	return func(c *publication.Case) {
		for _, change := range changes {
			change(c)
		}
	}
}

// An object of another namespace is not named, but in the log.
func TestAHolderElsewhereIsNotNamed(t *testing.T) {
	for name, test := range map[string]struct {
		namespace, says, detail string
	}{
		"of the same namespace": {"pay", "pay/checkout", ""},
		"of another one":        {"shop", "an object of another namespace", alpha + " is already published by the object pay/checkout."},
	} {
		t.Run(name, func(t *testing.T) {
			c := served(standing(alpha, dns.Standing{Phase: dns.Occupied, Holder: dns.Owner{Namespace: "pay", Name: "checkout", UID: "u9"}}))
			c.Namespace = test.namespace
			ready := publication.Judge(c).Ready
			if ready.Reason != publication.ReasonDNSConflict || !strings.Contains(ready.Message, test.says) || ready.Detail != test.detail {
				t.Errorf("it is %+v", ready)
			}
			if test.detail != "" && (strings.Contains(ready.Message, "pay") || strings.Contains(ready.Message, "checkout")) {
				t.Errorf("it names the object: %s", ready.Message)
			}
		})
	}
}

// The condition says of records that can't be kept what to do.
func TestWhatCanNotBeKeptIsAConflict(t *testing.T) {
	c := served(standing(alpha, dns.Standing{Phase: dns.Blocked, Found: "A 192.0.2.1", Fixed: true, Unkept: true}))
	c.Spec.Takeover = true
	ready := publication.Judge(c).Ready
	if ready.Reason != publication.ReasonDNSConflict {
		t.Fatalf("it is %+v", ready)
	}
	for _, part := range []string{alpha, "Z1", "A 192.0.2.1", "spec.dns.takeover", "put back", "20 values", "Remove the record"} {
		if !strings.Contains(ready.Message, part) {
			t.Errorf("it does not say %q: %s", part, ready.Message)
		}
	}
}

// A record that is as wanted, but was there before the object, is left when that is deleted: the condition says so.
func TestReadyNamesRecordsOfOthers(t *testing.T) {
	const fine = "Every domain points to d1.cloudfront.net."
	const left = fine + " In DNS before this object, and left there when it is deleted: CNAME alpha.example.com. " +
		"To have the operator own and delete such records, set spec.dns.takeover to true."
	for name, test := range map[string]struct {
		in   publication.Case
		want string
	}{
		"a record of our own is deleted with the object": {in: served(phase(alpha, dns.There), led(entry(alpha, dns.Published))), want: fine},
		"an equal record that was there before is left":  {in: served(phase(alpha, dns.There)), want: left},
		"so is one that the provider refused to create":  {in: served(standing(alpha, dns.Standing{Phase: dns.There, Foreign: true}), led(entry(alpha, dns.Intended))), want: left},
		"an equal record that is taken over is not": {
			in: served(phase(alpha, dns.There), func(c *publication.Case) { c.Spec.Takeover = true }), want: fine,
		},
		"nothing is said before the finalizer is there": {in: served(phase(alpha, dns.There), func(c *publication.Case) { c.HasFinalizer = false }), want: fine},
	} {
		t.Run(name, func(t *testing.T) {
			if got := publication.Judge(test.in).Ready.Message; got != test.want {
				t.Errorf("the message is %q, want %q", got, test.want)
			}
		})
	}
}
