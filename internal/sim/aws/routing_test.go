package aws

import (
	"fmt"
	"testing"
	"time"

	"github.com/miekg/dns"
)

type stillClock struct{}

func (stillClock) Now() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

const testEndpoint = "dhome.cloudfront.net"

// routingWorld has zones in two accounts, one below the other.
func routingWorld(t *testing.T) *Sim {
	t.Helper()
	return New(Options{Clock: stillClock{}, Seed: &Seed{
		Accounts: []SeedAccount{{ID: DefaultAccount}, {ID: "999988887777"}},
		ConnectionGroups: []SeedConnectionGroup{
			{ID: "cg_home", Name: "home", RoutingEndpoint: testEndpoint},
			{ID: "cg_first", Name: "first", RoutingEndpoint: "dfirst.cloudfront.net", AnycastIPListID: "aip_1"},
			{ID: "cg_second", Name: "second", RoutingEndpoint: "dsecond.cloudfront.net", AnycastIPListID: "aip_1"},
		},
		ResolvingDomains: []string{"live.elsewhere.test", "old.example.com"},
		HostedZones: []SeedHostedZone{
			{Name: "example.com.", ID: "ZPARENT", Records: []SeedRecord{
				{Name: "www.example.com", Type: "CNAME", Values: []string{testEndpoint + "."}},
				{Name: "gone.example.com", Type: "CNAME", Values: []string{"dgone.cloudfront.net"}},
				{Name: "*.wild.example.com", Type: "CNAME", Values: []string{testEndpoint}},
				{Name: "a.b.wild.example.com", Type: "TXT", Values: []string{`"x"`}},
				{Name: "chain.example.com", Type: "CNAME", Values: []string{"hop.sub.example.com"}},
				{Name: "loop1.example.com", Type: "CNAME", Values: []string{"loop2.example.com"}},
				{Name: "loop2.example.com", Type: "CNAME", Values: []string{"loop1.example.com"}},
				{Name: "out.example.com", Type: "CNAME", Values: []string{"live.elsewhere.test"}},
				{Name: "shadow.sub.example.com", Type: "CNAME", Values: []string{testEndpoint}},
				{Name: "alias.example.com", Type: "A", AliasTarget: testEndpoint},
				{Name: "example.com", Type: "A", AliasTarget: testEndpoint},
				{Name: "_cf-challenge.example.com", Type: "TXT", Values: []string{`"` + testEndpoint + `"`}},
				{Name: "wrong.example.com", Type: "A", AliasTarget: testEndpoint},
				{Name: "_cf-challenge.wrong.example.com", Type: "TXT", Values: []string{`"dother.cloudfront.net"`}},
				{Name: "plain.example.com", Type: "A", Values: []string{"192.0.2.1"}},
				{Name: "to-apex.example.com", Type: "CNAME", Values: []string{"example.com"}},
			}},
			{Name: "sub.example.com", Account: "999988887777", Records: []SeedRecord{
				{Name: "hop.sub.example.com", Type: "CNAME", Values: []string{testEndpoint}},
			}},
			{Name: "private.test", Private: true, Records: []SeedRecord{
				{Name: "www.private.test", Type: "CNAME", Values: []string{testEndpoint}},
			}},
		},
	}})
}

func TestRoutingOf(t *testing.T) {
	s := routingWorld(t)
	list := s.AnycastAddresses("aip_1")
	var home, home6 []string
	for _, rr := range s.addresses(testEndpoint, ".", dns.TypeA) {
		home = append(home, addressIn(rr).String())
	}
	for _, rr := range s.addresses(testEndpoint, ".", dns.TypeAAAA) {
		home6 = append(home6, addressIn(rr).String())
	}
	challenge := func(domain, endpoint string) SeedRecord {
		return SeedRecord{Name: challengeLabel + domain, Type: "TXT", Values: []string{`"` + endpoint + `"`}}
	}
	if err := s.Load(Seed{HostedZones: []SeedHostedZone{{Name: "anycast.test", Records: []SeedRecord{
		{Name: "anycast.test", Type: "A", Values: list}, challenge("anycast.test", "dsecond.cloudfront.net"),
		{Name: "one.anycast.test", Type: "A", Values: list[:1]}, challenge("one.anycast.test", "dfirst.cloudfront.net"),
		{Name: "alone.anycast.test", Type: "A", Values: list},
		{Name: "mixed.anycast.test", Type: "A", Values: append([]string{"192.0.2.1"}, list...)}, challenge("mixed.anycast.test", "dfirst.cloudfront.net"),
		{Name: "other.anycast.test", Type: "A", Values: list}, challenge("other.anycast.test", testEndpoint),
		{Name: "flat.anycast.test", Type: "A", Values: home}, {Name: "flat.anycast.test", Type: "AAAA", Values: home6}, challenge("flat.anycast.test", testEndpoint),
		{Name: "bare.anycast.test", Type: "A", Values: home},
		{Name: "empty.anycast.test", Type: "A", Values: home}, challenge("empty.anycast.test", ""),
		{Name: "half.anycast.test", Type: "A", Values: home}, {Name: "half.anycast.test", Type: "AAAA", Values: []string{"2001:db8::1"}}, challenge("half.anycast.test", testEndpoint),
		{Name: "gone.anycast.test", Type: "A", Values: home}, challenge("gone.anycast.test", "dgone.cloudfront.net"),
	}}}}); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, tc := range map[string]struct {
		domain, endpoint string
		ok               bool
	}{
		"a CNAME arrives":      {"www.example.com", testEndpoint, true},
		"case does not matter": {"WWW.example.com", testEndpoint, true},
		"a CNAME to an unknown endpoint arrives all the same": {"gone.example.com", "dgone.cloudfront.net", true},
		"a wildcard stands for what is below it":              {"x.wild.example.com", testEndpoint, true},
		"at any depth":                                        {"y.x.wild.example.com", testEndpoint, true},
		"but not for a name that exists":                      {"a.b.wild.example.com", "", false},
		"nor for one that only has names below it":            {"b.wild.example.com", "", false},
		"nor next to a closer name":                           {"c.b.wild.example.com", "", false},
		"the wildcard itself is a name":                       {"*.wild.example.com", testEndpoint, true},
		"a chain leads through zones of other accounts":       {"chain.example.com", testEndpoint, true},
		"a loop leads nowhere":                                {"loop1.example.com", "", false},
		"a chain may end outside the simulator":               {"out.example.com", "", true},
		"DNS outside the simulator is what it is said to be":  {"live.elsewhere.test", "", true},
		"or not": {"dead.elsewhere.test", "", false},
		"what a simulated zone says beats what is said":                                   {"old.example.com", "", false},
		"the most specific zone answers":                                                  {"shadow.sub.example.com", "", false},
		"a private zone is not public":                                                    {"www.private.test", "", false},
		"an alias alone hides where it leads":                                             {"alias.example.com", "", false},
		"an alias with its challenge counts":                                              {"example.com", testEndpoint, true},
		"a challenge that names another endpoint doesn't":                                 {"wrong.example.com", "", false},
		"the challenge may be at a name on the way":                                       {"to-apex.example.com", testEndpoint, true},
		"the addresses of an Anycast list, with a challenge that names one of its groups": {"anycast.test", "dsecond.cloudfront.net", true},
		"one of its addresses is enough":                                                  {"one.anycast.test", "dfirst.cloudfront.net", true},
		"without a challenge they hide where they lead":                                   {"alone.anycast.test", "", false},
		"another address among them leads elsewhere":                                      {"mixed.anycast.test", "", false},
		"a group without the list is not reached there":                                   {"other.anycast.test", "", false},
		"an ALIAS of another provider shows the endpoint's addresses":                     {"flat.anycast.test", testEndpoint, true},
		"which hide it without a challenge":                                               {"bare.anycast.test", "", false},
		"and with one that names nothing":                                                 {"empty.anycast.test", "", false},
		"a foreign IPv6 address next to them leads elsewhere":                             {"half.anycast.test", "", false},
		"an endpoint that is not there has no addresses":                                  {"gone.anycast.test", "", false},
		"an address is not CloudFront":                                                    {"plain.example.com", "", false},
		"what is no name leads nowhere":                                                   {"a..b", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			endpoint, ok := s.routingOf(tc.domain, s.now())
			if endpoint != tc.endpoint || ok != tc.ok {
				t.Errorf("%s: %q, %v, want %q, %v", tc.domain, endpoint, ok, tc.endpoint, tc.ok)
			}
		})
	}
	if s.leadsToCloudFront("gone.example.com", s.now()) {
		t.Error("a record that points at nothing proves something")
	}
}

// TestPublicDNSLags has changes appear, and disappear, after INSYNC and the
// propagation.
func TestPublicDNSLags(t *testing.T) {
	s := routingWorld(t)
	s.mu.Lock()
	defer s.mu.Unlock()
	z, start := s.world.zones["ZPARENT"], s.now()
	set := &recordSet{name: "new.example.com", kind: typeCNAME, ttl: 300, values: []string{testEndpoint}}
	made := &change{synced: start.Add(time.Minute), public: start.Add(90 * time.Second)}
	gone := &change{synced: start.Add(3 * time.Minute), public: start.Add(4 * time.Minute), stuck: true}
	z.put(set.name, set.key(), setVersion{made, set}, s.moment(start))
	z.put(set.name, set.key(), setVersion{change: gone}, s.moment(start))
	for _, tc := range []struct {
		after time.Duration
		stuck bool
		ok    bool
	}{{after: time.Minute}, {after: 90 * time.Second, ok: true}, {after: 239 * time.Second, ok: true}, {after: 4 * time.Minute}, {after: time.Hour, stuck: true, ok: true}} {
		s.switches.Route53NeverInSync = tc.stuck
		if _, ok := s.routingOf(set.name, start.Add(tc.after)); ok != tc.ok {
			t.Errorf("after %v, stuck %v: %v", tc.after, tc.stuck, ok)
		}
	}
}

// TestZonesForget makes sure that versions that can't be seen any more cost nothing, and that nothing else is
// forgotten.
func TestZonesForget(t *testing.T) {
	zone, start := newZone("Z", "1", "z.test"), time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	put := func(i int, ch *change, there bool) {
		set := &recordSet{name: fmt.Sprintf("r%d.z.test", i), kind: typeCNAME, values: []string{testEndpoint}}
		v := setVersion{change: ch, set: set}
		if !there {
			v.set = nil
		}
		zone.put(set.name, set.key(), v, moment{now: ch.submitted})
	}
	const count = 1_000
	later := start.Add(time.Hour)
	for i := range count {
		put(i, &change{submitted: start, synced: start, public: start}, true)
	}
	for i := range count - 1 {
		put(i, &change{submitted: start, synced: later, public: later}, false)
	}
	for i := range count {
		if sets, _ := zone.lookup(fmt.Sprintf("r%d.z.test", i), moment{now: later.Add(-time.Second)}); len(sets) != 1 {
			t.Fatalf("record %d is gone before resolvers know", i)
		}
	}
	put(count, &change{submitted: later, synced: later, public: later}, true)
	if zone.sets != 2 || len(zone.order) != 2 || len(zone.names) != 2 {
		t.Errorf("%d sets, %d and %d names are kept", zone.sets, len(zone.order), len(zone.names))
	}
	for _, i := range []int{count - 1, count} {
		if sets, _ := zone.lookup(fmt.Sprintf("r%d.z.test", i), moment{now: later}); len(sets) != 1 {
			t.Errorf("record %d is forgotten", i)
		}
	}
}
