package dns_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
)

func TestAdvance(t *testing.T) {
	r := cname("a.example.com", target)
	const none = dns.State("")
	for name, test := range map[string]struct {
		state    dns.State
		wanted   bool
		standing dns.Standing
		takeover bool
		want     dns.State
	}{
		"what is wanted and absent is intended":             {none, true, dns.Standing{Phase: dns.Absent}, false, dns.Intended},
		"what is there already is used and left alone":      {none, true, dns.Standing{Phase: dns.There}, false, none},
		"unless it may be taken over, equal as it is":       {none, true, dns.Standing{Phase: dns.There}, true, dns.Intended},
		"nothing is intended in an unknown zone":            {none, true, dns.Standing{Phase: dns.Unknown}, false, none},
		"nor in a taken place":                              {none, true, dns.Standing{Phase: dns.Blocked}, false, none},
		"unless it may be taken over":                       {none, true, dns.Standing{Phase: dns.Blocked}, true, dns.Intended},
		"nor where another object has its record":           {none, true, dns.Standing{Phase: dns.Occupied}, true, none},
		"nor in a zone that does not exist":                 {none, true, dns.Standing{Phase: dns.NoZone}, false, none},
		"an intent that is there is published":              {dns.Intended, true, dns.Standing{Phase: dns.There}, false, dns.Published},
		"one on its way is not yet":                         {dns.Intended, true, dns.Standing{Phase: dns.Coming}, false, dns.Intended},
		"one that is refused waits":                         {dns.Intended, true, dns.Standing{Phase: dns.Refused}, false, dns.Intended},
		"one that someone else fulfilled is dropped":        {dns.Intended, true, dns.Standing{Phase: dns.There, Foreign: true}, false, none},
		"also when it is not wanted any more":               {dns.Intended, false, dns.Standing{Phase: dns.There, Foreign: true}, false, none},
		"one that is not wanted any more may be there":      {dns.Intended, false, dns.Standing{Phase: dns.Absent}, false, dns.Retracting},
		"one where another object has its record gives way": {dns.Intended, true, dns.Standing{Phase: dns.Occupied}, false, dns.Retracting},
		"a published record stays":                          {dns.Published, true, dns.Standing{Phase: dns.There}, false, dns.Published},
		"also when it was deleted":                          {dns.Published, true, dns.Standing{Phase: dns.Absent}, false, dns.Published},
		"or changed":                                        {dns.Published, true, dns.Standing{Phase: dns.Blocked}, false, dns.Published},
		"it returns way to another object":                  {dns.Published, true, dns.Standing{Phase: dns.Occupied}, false, dns.Retracting},
		"it is retracted when it is not wanted":             {dns.Published, false, dns.Standing{Phase: dns.There}, false, dns.Retracting},
		"also in an unknown zone":                           {dns.Published, false, dns.Standing{Phase: dns.Unknown}, false, dns.Retracting},
		"what is being retracted stays while it is there":   {dns.Retracting, false, dns.Standing{Phase: dns.There}, false, dns.Retracting},
		"and while some servers may have it":                {dns.Retracting, false, dns.Standing{Phase: dns.Leaving}, false, dns.Retracting},
		"and while the zone is unknown":                     {dns.Retracting, false, dns.Standing{Phase: dns.Unknown}, false, dns.Retracting},
		"and while its deletion is refused":                 {dns.Retracting, false, dns.Standing{Phase: dns.Refused}, false, dns.Retracting},
		"it is dropped when it is gone":                     {dns.Retracting, false, dns.Standing{Phase: dns.Absent}, false, none},
		"or its zone":                                       {dns.Retracting, false, dns.Standing{Phase: dns.NoZone}, false, none},
		"or something else is in its place":                 {dns.Retracting, false, dns.Standing{Phase: dns.Blocked}, true, none},
		"or another object keeps it":                        {dns.Retracting, false, dns.Standing{Phase: dns.Occupied}, false, none},
		"wanted again it is intended":                       {dns.Retracting, true, dns.Standing{Phase: dns.There}, false, dns.Intended},
		"also when it has gone meanwhile":                   {dns.Retracting, true, dns.Standing{Phase: dns.Absent}, false, dns.Intended},
		"or is going":                                       {dns.Retracting, true, dns.Standing{Phase: dns.Leaving}, false, dns.Intended},
		"not where another object is":                       {dns.Retracting, true, dns.Standing{Phase: dns.Occupied}, false, none},
		"nor where something else is":                       {dns.Retracting, true, dns.Standing{Phase: dns.Blocked}, false, none},
		"unless that may be replaced":                       {dns.Retracting, true, dns.Standing{Phase: dns.Blocked}, true, dns.Intended},
		"but not if it serves another purpose":              {dns.Retracting, true, dns.Standing{Phase: dns.Blocked, Fixed: true}, true, none},
	} {
		t.Run(name, func(t *testing.T) {
			var ledger, want []dns.Entry
			var wants []dns.Record
			if test.state != none {
				ledger = []dns.Entry{entry(r, test.state), entry(r, test.state)} // a line that was doubled counts once
			}
			if test.wanted {
				wants = []dns.Record{r, r}
			}
			if test.want != none {
				want = []dns.Entry{entry(r, test.want)}
			}
			view := dns.View{Records: map[dns.Record]dns.Standing{r: test.standing}}
			got := dns.Advance(ledger, wants, view, dns.Policy{Takeover: test.takeover})
			if len(got) == 0 {
				got = nil
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("ledger (-want +got):\n%s", d)
			}
		})
	}
}

func viewOf(phase dns.Phase, records ...dns.Record) dns.View {
	v := dns.View{Records: map[dns.Record]dns.Standing{}}
	for _, r := range records {
		v.Records[r] = dns.Standing{Phase: phase}
	}
	return v
}

// A new target is two records in one step, so that the zone never has neither.
// A domain that moves to a zone of another provider is never without a record: what is in the former zone stays until all
// of it is in the new one.
func TestAdvanceMovesADomainToAnotherZone(t *testing.T) {
	former := cname("a.example.com", target)
	coming, text := former, former
	coming.Provider, coming.ZoneID = dns.Provider{Service: dns.Cloudflare, Account: "main"}, "023e"
	text.Provider, text.ZoneID, text.Name, text.Type = coming.Provider, coming.ZoneID, "_cf-challenge.a.example.com", dns.TXT
	wants := []dns.Record{coming, text}
	view := func(standings ...dns.Phase) dns.View {
		v := dns.View{Records: map[dns.Record]dns.Standing{}}
		for i, r := range []dns.Record{former, coming, text} {
			v.Records[r] = dns.Standing{Phase: standings[i]}
		}
		return v
	}
	published, latest := entry(former, dns.Published), []dns.Entry{entry(coming, dns.Published), entry(text, dns.Published)}
	for name, test := range map[string]struct {
		ledger []dns.Entry
		wants  []dns.Record
		view   dns.View
		want   []dns.Entry
	}{
		"the new zone is not known yet": {[]dns.Entry{published}, wants, view(dns.There, dns.Unknown, dns.Unknown), []dns.Entry{published}},
		"both are intended first": {[]dns.Entry{published}, wants, view(dns.There, dns.Absent, dns.Absent),
			[]dns.Entry{published, entry(text, dns.Intended), entry(coming, dns.Intended)}},
		"one of the new ones is there": {[]dns.Entry{published, entry(coming, dns.Intended), entry(text, dns.Intended)}, wants, view(dns.There, dns.There, dns.Coming),
			[]dns.Entry{published, entry(text, dns.Intended), entry(coming, dns.Published)}},
		"the new zone has another record there": {[]dns.Entry{published}, wants, view(dns.There, dns.Blocked, dns.Absent), []dns.Entry{published, entry(text, dns.Intended)}},
		"both are there": {append([]dns.Entry{published}, latest...), wants, view(dns.There, dns.There, dns.There),
			[]dns.Entry{entry(former, dns.Retracting), entry(text, dns.Published), entry(coming, dns.Published)}},
		"the domain is removed on the way": {[]dns.Entry{published, entry(coming, dns.Intended)}, nil, view(dns.There, dns.Coming, dns.Absent),
			[]dns.Entry{entry(former, dns.Retracting), entry(coming, dns.Retracting)}},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(test.want, dns.Advance(test.ledger, test.wants, test.view, dns.Policy{})); d != "" {
				t.Errorf("ledger (-want +got):\n%s", d)
			}
		})
	}
}

// Two accounts may reach one zone: what is deleted with one of them would be gone for the other.
func TestAdvanceKeepsWhatAnotherAccountMayReach(t *testing.T) {
	at := func(account, zone string) dns.Record {
		r := cname("a.example.com", target)
		r.Provider, r.ZoneID = dns.Provider{Service: dns.Cloudflare, Account: account}, zone
		return r
	}
	for name, test := range map[string]struct {
		want dns.Record
		kept dns.State
	}{
		"the zone has the same ID":           {at("second", "023e"), dns.Published},
		"it is another zone":                 {at("second", "99aa"), dns.Retracting},
		"it is another record of the zone":   {cname("b.example.com", target), dns.Retracting},
		"it is another service's zone of it": {dns.Record{Provider: dns.Provider{Service: dns.Azure, Account: "main"}, ZoneID: "023e", Name: "a.example.com", Type: dns.CNAME, Value: target, TTL: 300}, dns.Retracting},
	} {
		t.Run(name, func(t *testing.T) {
			former := at("main", "023e")
			view := dns.View{Records: map[dns.Record]dns.Standing{former: {Phase: dns.There}, test.want: {Phase: dns.There}}}
			got := dns.Advance([]dns.Entry{entry(former, dns.Published)}, []dns.Record{test.want}, view, dns.Policy{})
			if d := cmp.Diff([]dns.Entry{entry(former, test.kept)}, got); d != "" {
				t.Errorf("ledger (-want +got):\n%s", d)
			}
		})
	}
}

func TestAdvanceSwapsInOneStep(t *testing.T) {
	before, after := cname("a.example.com", target), cname("a.example.com", "d2.cloudfront.net")
	view := viewOf(dns.Absent, after)
	view.Records[before] = dns.Standing{Phase: dns.There}
	got := dns.Advance([]dns.Entry{entry(before, dns.Published)}, []dns.Record{after}, view, dns.Policy{})
	if d := cmp.Diff([]dns.Entry{entry(before, dns.Retracting), entry(after, dns.Intended)}, got); d != "" {
		t.Errorf("ledger (-want +got):\n%s", d)
	}
}

// Half of the addresses of a name would lead nowhere in particular.
func TestAdvanceTakesANameWholeOrNotAtAll(t *testing.T) {
	v4, v6 := alias(apex, dns.A, target), alias(apex, dns.AAAA, target)
	view := viewOf(dns.Absent, v6)
	view.Records[v4] = dns.Standing{Phase: dns.Blocked}
	if got := dns.Advance(nil, []dns.Record{v4, v6}, view, dns.Policy{}); len(got) > 0 {
		t.Errorf("intended %v next to a record that is not ours", got)
	}
	if got := dns.Advance(nil, []dns.Record{v4, v6}, view, dns.Policy{Takeover: true}); len(got) != 2 {
		t.Errorf("intended %v, want both", got)
	}
}

func TestAdvanceRemembersTheRole(t *testing.T) {
	const before, now = "arn:aws:iam::1:role/before", "arn:aws:iam::1:role/now"
	published, intended, fresh := cname("a.example.com", target), cname("b.example.com", target), cname("c.example.com", target)
	ledger := []dns.Entry{
		{Record: published, State: dns.Published, RoleARN: before}, {Record: intended, State: dns.Intended, RoleARN: before},
	}
	got := dns.Advance(ledger, []dns.Record{published, intended, fresh}, viewOf(dns.Absent, published, intended, fresh), dns.Policy{RoleARN: now})
	want := []dns.Entry{
		{Record: published, State: dns.Published, RoleARN: before},
		{Record: intended, State: dns.Intended, RoleARN: now}, {Record: fresh, State: dns.Intended, RoleARN: now},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("ledger (-want +got):\n%s", d)
	}
}

// Sets that are about to be replaced are stored first, follow the changes of their owner, and stay once ours are there.
func TestAdvanceKeepsWhatIsReplaced(t *testing.T) {
	const name = "a.example.com"
	ours, v4, v6 := cname(name, target), alias(name, dns.A, target), alias(name, dns.AAAA, target)
	a := dns.RecordSet{Key: v4.Key(), TTL: 60, Values: []string{"192.0.2.1"}}
	aaaa := dns.RecordSet{Key: v6.Key(), TTL: 60, Values: []string{"2001:db8::1"}}
	other := cname(name, "other.example.net").Set()
	missing := func(phase dns.Phase, sets ...dns.RecordSet) dns.Standing {
		return dns.Standing{Phase: phase, Missing: true, Replaces: dns.Replacing(sets)}
	}
	keeps := func(e dns.Entry, sets ...dns.RecordSet) dns.Entry {
		e.Replaced = dns.Replacing(sets)
		return e
	}
	there := dns.Standing{Phase: dns.There}
	for sentence, test := range map[string]struct {
		ledger []dns.Entry
		wants  []dns.Record
		view   map[dns.Record]dns.Standing
		fixed  bool
		want   []dns.Entry
	}{
		"it is stored with the intent": {
			wants: []dns.Record{ours}, view: map[dns.Record]dns.Standing{ours: missing(dns.Blocked, a, aaaa)},
			want: []dns.Entry{keeps(entry(ours, dns.Intended), a, aaaa)},
		},
		"once for a name": {
			wants: []dns.Record{v4, v6}, view: map[dns.Record]dns.Standing{v4: missing(dns.Blocked, other), v6: missing(dns.Blocked, other)},
			want: []dns.Entry{keeps(entry(v4, dns.Intended), other), entry(v6, dns.Intended)},
		},
		"it follows its owner's changes": {
			ledger: []dns.Entry{keeps(entry(ours, dns.Intended), a, aaaa)}, wants: []dns.Record{ours},
			view: map[dns.Record]dns.Standing{ours: missing(dns.Blocked, other)}, want: []dns.Entry{keeps(entry(ours, dns.Intended), other)},
		},
		"also where ours is refused": {
			ledger: []dns.Entry{keeps(entry(ours, dns.Intended), a)}, wants: []dns.Record{ours},
			view: map[dns.Record]dns.Standing{ours: missing(dns.Refused, other)}, want: []dns.Entry{keeps(entry(ours, dns.Intended), other)},
		},
		"what its owner deleted is forgotten": {
			ledger: []dns.Entry{keeps(entry(ours, dns.Intended), a)}, wants: []dns.Record{ours},
			view: map[dns.Record]dns.Standing{ours: missing(dns.Absent)}, want: []dns.Entry{entry(ours, dns.Intended)},
		},
		"it stays while ours is on its way": {
			ledger: []dns.Entry{keeps(entry(ours, dns.Intended), a)}, wants: []dns.Record{ours},
			view: map[dns.Record]dns.Standing{ours: {Phase: dns.Coming}}, want: []dns.Entry{keeps(entry(ours, dns.Intended), a)},
		},
		"while the zone is unknown": {
			ledger: []dns.Entry{keeps(entry(ours, dns.Intended), a)}, wants: []dns.Record{ours},
			view: nil, want: []dns.Entry{keeps(entry(ours, dns.Intended), a)},
		},
		"when ours is there": {
			ledger: []dns.Entry{keeps(entry(ours, dns.Intended), a)}, wants: []dns.Record{ours},
			view: map[dns.Record]dns.Standing{ours: there}, want: []dns.Entry{keeps(entry(ours, dns.Published), a)},
		},
		"and when that was changed, which is drift": {
			ledger: []dns.Entry{keeps(entry(ours, dns.Published), a)}, wants: []dns.Record{ours},
			view: map[dns.Record]dns.Standing{ours: missing(dns.Blocked, other)}, want: []dns.Entry{keeps(entry(ours, dns.Published), a)},
		},
		"another type of ours takes it over": {
			ledger: []dns.Entry{keeps(entry(ours, dns.Published), a, aaaa)}, wants: []dns.Record{v4, v6},
			view: map[dns.Record]dns.Standing{ours: there, v4: missing(dns.Absent), v6: missing(dns.Absent)},
			want: []dns.Entry{keeps(entry(v4, dns.Intended), a, aaaa), entry(v6, dns.Intended), entry(ours, dns.Retracting)},
		},
		"a further record adds what it replaces": {
			ledger: []dns.Entry{keeps(entry(v4, dns.Published), a)}, wants: []dns.Record{v4, v6},
			view: map[dns.Record]dns.Standing{v4: there, v6: missing(dns.Blocked, aaaa)},
			want: []dns.Entry{keeps(entry(v4, dns.Published), a, aaaa), entry(v6, dns.Intended)},
		},
		"what leaves takes it along to the end": {
			ledger: []dns.Entry{keeps(entry(ours, dns.Published), a)},
			view:   map[dns.Record]dns.Standing{ours: there}, want: []dns.Entry{keeps(entry(ours, dns.Retracting), a)},
		},
		"until it is put back": {
			ledger: []dns.Entry{keeps(entry(ours, dns.Retracting), a)}, view: map[dns.Record]dns.Standing{ours: missing(dns.Blocked, a)},
		},
		"wanted again it is seen again": {
			ledger: []dns.Entry{keeps(entry(ours, dns.Retracting), a, aaaa)}, wants: []dns.Record{ours},
			view: map[dns.Record]dns.Standing{ours: missing(dns.Blocked, a)}, want: []dns.Entry{keeps(entry(ours, dns.Intended), a)},
		},
		"nothing is stored where nothing may be replaced": {
			ledger: []dns.Entry{entry(ours, dns.Intended)}, wants: []dns.Record{ours}, fixed: true,
			view: map[dns.Record]dns.Standing{ours: missing(dns.Blocked, a)}, want: []dns.Entry{entry(ours, dns.Intended)},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			before := slices.Clone(test.ledger)
			got := dns.Advance(test.ledger, test.wants, dns.View{Records: test.view}, dns.Policy{Takeover: !test.fixed})
			if len(got) == 0 {
				got = nil
			}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Errorf("ledger (-want +got):\n%s", d)
			}
			if d := cmp.Diff(before, test.ledger); d != "" {
				t.Errorf("the ledger that it was given was changed (-before +after):\n%s", d)
			}
		})
	}
}

// Names whose records the ledger has no room for wait, and are left alone.
func TestWhatIsKeptIsBounded(t *testing.T) {
	var wants []dns.Record
	view := dns.View{Records: map[dns.Record]dns.Standing{}}
	var claim dns.Claim
	var sets []dns.RecordSet
	for n := range 100 {
		r := cname(fmt.Sprintf("n%03d.example.com", n), target)
		set := dns.RecordSet{Key: dns.Key{Name: r.Name, Type: dns.A}, TTL: 60, Values: []string{strings.Repeat("x", 1000)}}
		wants, sets = append(wants, r), append(sets, set)
		view.Records[r] = dns.Place{Name: r.Name, Sets: []dns.RecordSet{set}}.Judge(&claim, r)
	}
	ledger := dns.Advance(nil, wants, view, dns.Policy{Takeover: true})
	kept := 0
	for _, e := range ledger {
		kept += len(e.Replaced)
	}
	if len(ledger) < 50 || len(ledger) == len(wants) || kept > dns.MaxReplaced {
		t.Errorf("%d entries keep %d characters", len(ledger), kept)
	}
	// Those that wait hear why.
	claim = dns.Claim{Owner: owner(1), Wants: wants, Ledger: ledger, Takeover: true}
	last := wants[len(wants)-1]
	s := dns.Place{Name: last.Name, Sets: sets[len(sets)-1:], Claims: []*dns.Claim{&claim}}.Judge(&claim, last)
	if s.Phase != dns.Blocked || !s.Fixed || !s.Unkept {
		t.Errorf("the last is %+v", s)
	}
}

func TestALedgerIsBounded(t *testing.T) {
	var wants []dns.Record
	for n := range dns.MaxEntries + 100 {
		wants = append(wants, cname(fmt.Sprintf("n%03d.example.com", n), target))
	}
	got := dns.Advance(nil, wants, viewOf(dns.Absent, wants...), dns.Policy{})
	if len(got) != dns.MaxEntries {
		t.Errorf("%d entries, want %d", len(got), dns.MaxEntries)
	}
}

// A ledger without room for everything that it replaces takes one name after the other.
func TestWhatHasNoRoomIsNotReplacedYet(t *testing.T) {
	var ledger []dns.Entry
	var wants []dns.Record
	for n := range dns.MaxEntries - 3 {
		ledger = append(ledger, entry(cname(fmt.Sprintf("n%03d.example.com", n), target), dns.Published))
	}
	for n := range 2 {
		name := fmt.Sprintf("n%03d.example.com", n)
		wants = append(wants, alias(name, dns.A, target), alias(name, dns.AAAA, target))
	}
	for _, e := range ledger[2:] {
		wants = append(wants, e.Record)
	}
	view := viewOf(dns.There, wants[4:]...)
	for _, r := range wants[:4] {
		view.Records[r] = dns.Standing{Phase: dns.Absent}
	}
	states := map[string][]dns.State{}
	for _, e := range dns.Advance(ledger, wants, view, dns.Policy{}) {
		if e.Name < "n002" {
			states[e.Name] = append(states[e.Name], e.State)
		}
	}
	want := map[string][]dns.State{
		"n000.example.com": {dns.Intended, dns.Intended, dns.Retracting},
		"n001.example.com": {dns.Published},
	}
	if d := cmp.Diff(want, states); d != "" {
		t.Errorf("states (-want +got):\n%s", d)
	}
}

func TestPlausible(t *testing.T) {
	challenge := dns.Record{ZoneID: zoneID, Name: "_cf-challenge.a.example.com", Type: dns.TXT, Value: target, TTL: 300}
	with := func(r dns.Record, change func(*dns.Record)) dns.Record { change(&r); return r }
	for name, test := range map[string]struct {
		record dns.Record
		want   bool
	}{
		"a CNAME to CloudFront":              {cname("a.example.com", target), true},
		"an alias to CloudFront":             {alias("a.example.com", dns.AAAA, target), true},
		"the text next to it":                {challenge, true},
		"a CNAME that leads elsewhere":       {cname("a.example.com", "mail.example.org"), false},
		"one that only looks like it":        {cname("a.example.com", "d1.cloudfront.net.example.org"), false},
		"one to the domain itself":           {cname("a.example.com", ".cloudfront.net"), false},
		"an alias that leads elsewhere":      {alias("a.example.com", dns.A, "lb.example.org"), false},
		"a text of another name":             {with(challenge, func(r *dns.Record) { r.Name = "a.example.com" }), false},
		"another text of the name":           {with(challenge, func(r *dns.Record) { r.Value = "v=spf1 -all" }), false},
		"another type":                       {with(challenge, func(r *dns.Record) { r.Type = "MX" }), false},
		"no type, as nothing was ever there": {dns.Record{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.record.Plausible(); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

// A published record is believed when it is read back, or it would never be removed.
func TestWhatIsWantedIsPlausible(t *testing.T) {
	zone := dns.Zone{ID: zoneID, Name: "example.com"}
	for _, kind := range []dns.RecordType{dns.Auto, dns.Alias} {
		for _, domain := range []string{"example.com", "a.example.com", "*.example.com"} {
			records, err := dns.Wanted(domain, zone, dns.Options{Target: target, IPv6: true, TTL: 60, Type: kind})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range records {
				if !r.Plausible() {
					t.Errorf("%+v is not", r)
				}
			}
		}
	}
	if records, err := dns.Wanted("a.example.com", zone, dns.Options{Target: "elsewhere.example.org", TTL: 60}); err == nil {
		t.Errorf("%+v would be published", records)
	}
}
