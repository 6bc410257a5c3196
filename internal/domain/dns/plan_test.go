package dns_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
)

var born = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// render writes changes as lines.
func render(units []dns.Unit) (out []string) {
	for _, u := range units {
		line := u.Owner.Name + ":"
		for _, c := range u.Changes {
			line += fmt.Sprintf(" %s %s", c.Action, c.Set)
		}
		if u.Correction {
			line += " (correction)"
		}
		out = append(out, line)
	}
	return out
}

func TestPlan(t *testing.T) {
	const name = "a.example.com"
	ours, moved, other := cname(name, target), cname(name, "d2.cloudfront.net"), cname(name, "other.example.net")
	v4, v6 := alias(name, dns.A, target), alias(name, dns.AAAA, target)
	foreignA := dns.RecordSet{Key: v4.Key(), TTL: 60, Values: []string{"192.0.2.1"}}
	foreignAAAA := dns.RecordSet{Key: v6.Key(), TTL: 60, Values: []string{"2001:db8::1"}}
	otherAAAA := dns.RecordSet{Key: v6.Key(), TTL: 60, Values: []string{"2001:db8::2"}}
	mail := dns.RecordSet{Key: dns.Key{Name: name, Type: "MX"}, TTL: 60, Values: []string{"10 mail.example.com"}}
	routed := other.Set()
	routed.Routed = true
	fixed := other.Set()
	fixed.Fixed = true
	leaving, otherLeaving := ours.Set(), other.Set()
	leaving.Leaving, otherLeaving.Leaving = true, true
	claim := func(n int, do ...func(*dns.Claim)) *dns.Claim {
		c := &dns.Claim{Owner: owner(n), Since: born.Add(time.Duration(n) * time.Hour)}
		for _, f := range do {
			f(c)
		}
		return c
	}
	holds := func(s dns.State, records ...dns.Record) func(*dns.Claim) {
		return func(c *dns.Claim) {
			for _, r := range records {
				c.Ledger = append(c.Ledger, entry(r, s))
			}
		}
	}
	keeps := func(sets ...dns.RecordSet) func(*dns.Claim) {
		return func(c *dns.Claim) { c.Ledger[0].Replaced = dns.Replacing(sets) }
	}
	wants := func(records ...dns.Record) func(*dns.Claim) {
		return func(c *dns.Claim) { c.Wants = append(c.Wants, records...) }
	}
	takeover, correct, barred := func(c *dns.Claim) { c.Takeover = true }, func(c *dns.Claim) { c.Correct = true }, func(c *dns.Claim) { c.Barred = true }

	for sentence, test := range map[string]struct {
		sets   []dns.RecordSet
		claims []*dns.Claim
		want   []string
		// judged is the standing of the first record of the first claim.
		judged dns.Standing
	}{
		"what is only wanted is not published": {
			claims: []*dns.Claim{claim(1, wants(ours))}, judged: dns.Standing{Phase: dns.Absent},
		},
		"an intent is": {
			claims: []*dns.Claim{claim(1, holds(dns.Intended, ours))}, judged: dns.Standing{Phase: dns.Absent},
			want: []string{"tenant-1: CREATE CNAME d1.cloudfront.net (TTL 300)"},
		},
		"what the provider can't delete is not taken over": {
			sets: []dns.RecordSet{fixed}, claims: []*dns.Claim{claim(1, holds(dns.Intended, ours), takeover)},
			judged: dns.Standing{Phase: dns.Blocked, Found: fixed.String(), Fixed: true},
		},
		"what servers may still show is there for what has to be deleted": {
			sets: []dns.RecordSet{leaving}, claims: []*dns.Claim{claim(1, holds(dns.Retracting, ours))}, judged: dns.Standing{Phase: dns.There},
			want: []string{"tenant-1: DELETE CNAME d1.cloudfront.net (TTL 300)"},
		},
		"it is not for what has to be there": {
			sets: []dns.RecordSet{leaving}, claims: []*dns.Claim{claim(1, holds(dns.Intended, ours))}, judged: dns.Standing{Phase: dns.Absent},
			want: []string{"tenant-1: CREATE CNAME d1.cloudfront.net (TTL 300)"},
		},
		"nor for what was published": {
			sets: []dns.RecordSet{leaving}, claims: []*dns.Claim{claim(1, holds(dns.Published, ours), correct)}, judged: dns.Standing{Phase: dns.Absent},
			want: []string{"tenant-1: CREATE CNAME d1.cloudfront.net (TTL 300) (correction)"},
		},
		"what leaves is in the way of nothing": {
			sets: []dns.RecordSet{otherLeaving}, claims: []*dns.Claim{claim(1, holds(dns.Intended, ours))}, judged: dns.Standing{Phase: dns.Absent},
			want: []string{"tenant-1: CREATE CNAME d1.cloudfront.net (TTL 300)"},
		},
		"once": {
			sets: []dns.RecordSet{ours.Set()}, claims: []*dns.Claim{claim(1, holds(dns.Intended, ours))}, judged: dns.Standing{Phase: dns.There},
		},
		"what has to go is deleted": {
			sets: []dns.RecordSet{ours.Set()}, claims: []*dns.Claim{claim(1, holds(dns.Retracting, ours))}, judged: dns.Standing{Phase: dns.There},
			want: []string{"tenant-1: DELETE CNAME d1.cloudfront.net (TTL 300)"},
		},
		"not when it has another value": {
			sets: []dns.RecordSet{other.Set()}, claims: []*dns.Claim{claim(1, holds(dns.Retracting, ours))},
			judged: dns.Standing{Phase: dns.Blocked, Found: "CNAME other.example.net (TTL 300)"},
		},
		"a CNAME gives way to an alias at once": {
			sets: []dns.RecordSet{ours.Set()}, claims: []*dns.Claim{claim(1, holds(dns.Retracting, ours), holds(dns.Intended, v4, v6))},
			judged: dns.Standing{Phase: dns.There},
			want:   []string{"tenant-1: DELETE CNAME d1.cloudfront.net (TTL 300) CREATE A alias d1.cloudfront.net CREATE AAAA alias d1.cloudfront.net"},
		},
		"the place of what will go is free": {
			sets: []dns.RecordSet{ours.Set()}, claims: []*dns.Claim{claim(1, wants(moved), holds(dns.Published, ours))},
			judged: dns.Standing{Phase: dns.Absent},
		},
		"a foreign record is left alone": {
			sets: []dns.RecordSet{foreignA}, claims: []*dns.Claim{claim(1, holds(dns.Intended, ours), correct)},
			judged: dns.Standing{Phase: dns.Blocked, Found: "A 192.0.2.1 (TTL 60)"},
		},
		"unless it may be taken over": {
			sets: []dns.RecordSet{foreignA}, claims: []*dns.Claim{claim(1, holds(dns.Intended, ours), keeps(foreignA), takeover)},
			judged: dns.Standing{Phase: dns.Blocked, Found: "A 192.0.2.1 (TTL 60)"},
			want:   []string{"tenant-1: DELETE A 192.0.2.1 (TTL 60) CREATE CNAME d1.cloudfront.net (TTL 300)"},
		},
		"but not before the ledger keeps it": {
			sets: []dns.RecordSet{foreignA}, claims: []*dns.Claim{claim(1, holds(dns.Intended, ours), takeover)},
			judged: dns.Standing{Phase: dns.Blocked, Found: "A 192.0.2.1 (TTL 60)"},
		},
		"nor while the ledger keeps what it was before": {
			sets: []dns.RecordSet{foreignA}, claims: []*dns.Claim{claim(1, holds(dns.Intended, ours), keeps(other.Set()), takeover)},
			judged: dns.Standing{Phase: dns.Blocked, Found: "A 192.0.2.1 (TTL 60)"},
		},
		"nor while it keeps what its owner has deleted": {
			claims: []*dns.Claim{claim(1, holds(dns.Intended, ours), keeps(foreignA), takeover)}, judged: dns.Standing{Phase: dns.Absent},
		},
		"an alias needs all that the ledger keeps to be there": {
			sets:   []dns.RecordSet{foreignA, foreignAAAA},
			claims: []*dns.Claim{claim(1, holds(dns.Intended, v4, v6), keeps(foreignA, foreignAAAA), takeover)},
			judged: dns.Standing{Phase: dns.Blocked, Found: "A 192.0.2.1 (TTL 60)"},
			want:   []string{"tenant-1: DELETE A 192.0.2.1 (TTL 60) DELETE AAAA 2001:db8::1 (TTL 60) CREATE A alias d1.cloudfront.net CREATE AAAA alias d1.cloudfront.net"},
		},
		"what leads to CloudFront need not be kept": {
			sets: []dns.RecordSet{moved.Set()}, claims: []*dns.Claim{claim(1, holds(dns.Intended, ours), takeover)},
			judged: dns.Standing{Phase: dns.Blocked, Found: "CNAME d2.cloudfront.net (TTL 300)"},
			want:   []string{"tenant-1: DELETE CNAME d2.cloudfront.net (TTL 300) CREATE CNAME d1.cloudfront.net (TTL 300)"},
		},
		"what was replaced is put back where ours is deleted": {
			sets: []dns.RecordSet{ours.Set()}, claims: []*dns.Claim{claim(1, holds(dns.Retracting, ours), keeps(foreignA, foreignAAAA))},
			judged: dns.Standing{Phase: dns.There},
			want:   []string{"tenant-1: DELETE CNAME d1.cloudfront.net (TTL 300) CREATE A 192.0.2.1 (TTL 60) CREATE AAAA 2001:db8::1 (TTL 60)"},
		},
		"not where something else is in the place of ours": {
			sets: []dns.RecordSet{other.Set()}, claims: []*dns.Claim{claim(1, holds(dns.Retracting, ours), keeps(foreignA))},
			judged: dns.Standing{Phase: dns.Blocked, Found: "CNAME other.example.net (TTL 300)"},
		},
		"nor where ours was deleted": {
			claims: []*dns.Claim{claim(1, holds(dns.Retracting, ours), keeps(foreignA))}, judged: dns.Standing{Phase: dns.Absent},
		},
		"and only as far as there is room": {
			sets:   []dns.RecordSet{v4.Set(), foreignAAAA},
			claims: []*dns.Claim{claim(1, holds(dns.Retracting, v4, v6), keeps(foreignA, otherAAAA))}, judged: dns.Standing{Phase: dns.There},
			want: []string{"tenant-1: DELETE A alias d1.cloudfront.net CREATE A 192.0.2.1 (TTL 60)"},
		},
		"what a CNAME replaced is put back where the alias that took its place is deleted": {
			sets: []dns.RecordSet{v6.Set()}, claims: []*dns.Claim{claim(1, holds(dns.Retracting, v6), keeps(foreignA), holds(dns.Retracting, ours))},
			judged: dns.Standing{Phase: dns.There},
			want:   []string{"tenant-1: DELETE AAAA alias d1.cloudfront.net CREATE A 192.0.2.1 (TTL 60)"},
		},
		"and what an alias replaced that left before the last one": {
			sets: []dns.RecordSet{v4.Set()}, claims: []*dns.Claim{claim(1, holds(dns.Retracting, v4), keeps(foreignA, foreignAAAA), holds(dns.Retracting, v6))},
			judged: dns.Standing{Phase: dns.There},
			want:   []string{"tenant-1: DELETE A alias d1.cloudfront.net CREATE A 192.0.2.1 (TTL 60) CREATE AAAA 2001:db8::1 (TTL 60)"},
		},
		"what a CNAME replaced waits until both aliases are gone": {
			sets:   []dns.RecordSet{v4.Set(), v6.Set()},
			claims: []*dns.Claim{claim(1, holds(dns.Retracting, v4), holds(dns.Published, v6), keeps(other.Set()))}, judged: dns.Standing{Phase: dns.There},
			want: []string{"tenant-1: DELETE A alias d1.cloudfront.net"},
		},
		"a swap puts nothing back": {
			sets: []dns.RecordSet{ours.Set()}, claims: []*dns.Claim{claim(1, holds(dns.Retracting, ours), keeps(foreignA), holds(dns.Intended, v4))},
			judged: dns.Standing{Phase: dns.There},
			want:   []string{"tenant-1: DELETE CNAME d1.cloudfront.net (TTL 300) CREATE A alias d1.cloudfront.net"},
		},
		"what another object wants is put back all the same": {
			sets: []dns.RecordSet{ours.Set()}, claims: []*dns.Claim{claim(1, holds(dns.Retracting, ours), keeps(foreignA)), claim(2, wants(ours), takeover)},
			judged: dns.Standing{Phase: dns.There},
			want:   []string{"tenant-1: DELETE CNAME d1.cloudfront.net (TTL 300) CREATE A 192.0.2.1 (TTL 60)"},
		},
		"what serves something else is never taken over": {
			sets: []dns.RecordSet{mail}, claims: []*dns.Claim{claim(1, holds(dns.Intended, ours), takeover)},
			judged: dns.Standing{Phase: dns.Blocked, Found: "MX 10 mail.example.com (TTL 60)", Fixed: true},
		},
		"nor what has a routing policy": {
			sets: []dns.RecordSet{routed}, claims: []*dns.Claim{claim(1, holds(dns.Intended, ours), takeover)},
			judged: dns.Standing{Phase: dns.Blocked, Found: "CNAME other.example.net (with a routing policy or a property that the operator never writes)", Fixed: true},
		},
		"an alias is created next to MX records": {
			sets: []dns.RecordSet{mail}, claims: []*dns.Claim{claim(1, holds(dns.Intended, v4))}, judged: dns.Standing{Phase: dns.Absent},
			want: []string{"tenant-1: CREATE A alias d1.cloudfront.net"},
		},
		"drift is left where it is not to be corrected": {
			claims: []*dns.Claim{claim(1, holds(dns.Published, ours))}, judged: dns.Standing{Phase: dns.Absent},
		},
		"what was deleted is put back": {
			claims: []*dns.Claim{claim(1, holds(dns.Published, ours), correct)}, judged: dns.Standing{Phase: dns.Absent},
			want: []string{"tenant-1: CREATE CNAME d1.cloudfront.net (TTL 300) (correction)"},
		},
		"and what was changed": {
			sets: []dns.RecordSet{other.Set()}, claims: []*dns.Claim{claim(1, holds(dns.Published, ours), correct)},
			judged: dns.Standing{Phase: dns.Blocked, Found: "CNAME other.example.net (TTL 300)"},
			want:   []string{"tenant-1: DELETE CNAME other.example.net (TTL 300) CREATE CNAME d1.cloudfront.net (TTL 300) (correction)"},
		},
		"of two that want a place the older has it": {
			claims: []*dns.Claim{claim(2, wants(moved)), claim(1, wants(ours))}, judged: dns.Standing{Phase: dns.Occupied, Holder: owner(1)},
		},
		"but not before one that has it in its ledger": {
			claims: []*dns.Claim{claim(2, holds(dns.Intended, moved)), claim(1, wants(ours))}, judged: dns.Standing{Phase: dns.Absent},
			want: []string{"tenant-2: CREATE CNAME d2.cloudfront.net (TTL 300)"},
		},
		"of two ledgers the older's counts": {
			claims: []*dns.Claim{claim(2, holds(dns.Intended, moved)), claim(1, holds(dns.Intended, ours))},
			judged: dns.Standing{Phase: dns.Occupied, Holder: owner(1)},
			want:   []string{"tenant-1: CREATE CNAME d1.cloudfront.net (TTL 300)"},
		},
		"but not before the one whose record is there": {
			sets: []dns.RecordSet{moved.Set()}, claims: []*dns.Claim{claim(2, holds(dns.Published, moved)), claim(1, holds(dns.Published, ours), correct)},
			judged: dns.Standing{Phase: dns.There},
		},
		"what another object keeps is not deleted": {
			sets: []dns.RecordSet{ours.Set()}, claims: []*dns.Claim{claim(1, holds(dns.Retracting, ours)), claim(2, holds(dns.Published, ours))},
			judged: dns.Standing{Phase: dns.Occupied, Holder: owner(2)},
		},
		"what only others want is": {
			sets: []dns.RecordSet{ours.Set()}, claims: []*dns.Claim{claim(1, holds(dns.Retracting, ours)), claim(2, wants(ours))},
			judged: dns.Standing{Phase: dns.There},
			want:   []string{"tenant-1: DELETE CNAME d1.cloudfront.net (TTL 300)"},
		},
		"and its place is not free before": {
			sets: []dns.RecordSet{ours.Set()}, claims: []*dns.Claim{claim(2, wants(moved)), claim(1, holds(dns.Retracting, ours))},
			judged: dns.Standing{Phase: dns.Occupied, Holder: owner(1)},
			want:   []string{"tenant-1: DELETE CNAME d1.cloudfront.net (TTL 300)"},
		},
		"a claim that may not change the zone blocks no other": {
			claims: []*dns.Claim{claim(2, holds(dns.Intended, moved)), claim(1, holds(dns.Intended, ours), barred)},
			judged: dns.Standing{Phase: dns.Absent},
			want:   []string{"tenant-2: CREATE CNAME d2.cloudfront.net (TTL 300)"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			if d := cmp.Diff(test.want, render(plan(test.sets, test.claims))); d != "" {
				t.Errorf("plan (-want +got):\n%s", d)
			}
			first := test.claims[0]
			r := append(slices.Clone(first.Wants), records(first.Ledger)...)[0]
			judged := dns.Place{Name: name, Sets: test.sets, Claims: test.claims}.Judge(first, r)
			judged.Missing, judged.Replaces = false, "" // see TestWhatATakeoverReplaces
			if d := cmp.Diff(test.judged, judged); d != "" {
				t.Errorf("standing (-want +got):\n%s", d)
			}
		})
	}
}

func records(ledger []dns.Entry) (out []dns.Record) {
	for _, e := range ledger {
		out = append(out, e.Record)
	}
	return out
}

// A deletion is made with the role that published; a swap with the one that publishes now.
func TestPlanTakesTheRoleOfTheLedger(t *testing.T) {
	const first, second = "arn:aws:iam::1:role/first", "arn:aws:iam::1:role/second"
	a, b, next := alias("a.example.com", dns.A, target), alias("a.example.com", dns.AAAA, target), cname("a.example.com", target)
	c := &dns.Claim{Owner: owner(1), Ledger: []dns.Entry{{Record: a, State: dns.Retracting, RoleARN: first}, {Record: b, State: dns.Retracting, RoleARN: second}}}
	sets := []dns.RecordSet{a.Set(), b.Set()}
	access := func() (out []dns.Access) {
		for _, u := range plan(sets, []*dns.Claim{c}) {
			out = append(out, u.Access)
		}
		return out
	}
	if d := cmp.Diff([]dns.Access{{RoleARN: first, Namespace: "web"}, {RoleARN: second, Namespace: "web"}}, access()); d != "" {
		t.Errorf("identities of deletions (-want +got):\n%s", d)
	}
	c.Ledger = append(c.Ledger, entry(next, dns.Intended))
	if d := cmp.Diff([]dns.Access{{}}, access()); d != "" {
		t.Errorf("identity of a swap (-want +got):\n%s", d)
	}
}

func genRecord(t *rapid.T) dns.Record {
	name := rapid.SampledFrom([]string{"a.example.com", "b.example.com"}).Draw(t, "name")
	value := rapid.SampledFrom([]string{target, "d2.cloudfront.net"}).Draw(t, "value")
	switch kind := rapid.SampledFrom([]string{dns.CNAME, dns.A, dns.AAAA, dns.TXT}).Draw(t, "type"); kind {
	case dns.A, dns.AAAA:
		return alias(name, kind, value)
	default:
		return dns.Record{ZoneID: zoneID, Name: name, Type: kind, Value: value, TTL: 300}
	}
}

// genWants draws records that can stand together.
func genWants(t *rapid.T) (out []dns.Record) {
	for range rapid.IntRange(0, 4).Draw(t, "wants") {
		r := genRecord(t)
		if !slices.ContainsFunc(out, func(o dns.Record) bool { return o.Key().Clashes(r.Key()) }) {
			out = append(out, r)
		}
	}
	return out
}

// genForeign puts something into a zone that its rules allow.
func genForeign(t *rapid.T, m memory) {
	set := genRecord(t).Set()
	switch rapid.IntRange(0, 3).Draw(t, "foreign") {
	case 0:
		set.Values, set.Alias, set.TTL = []string{"foreign.example.net"}, "", 60
	case 1:
		set = dns.RecordSet{Key: dns.Key{Name: set.Name, Type: "MX"}, TTL: 60, Values: []string{"10 mail.example.com"}}
	case 2:
		set.Routed = true
	}
	_ = m.change([]dns.Change{{Action: dns.Create, Set: set}}) // or the zone refuses it
}

func genZone(t *rapid.T) memory {
	m := memory{}
	for range rapid.IntRange(0, 5).Draw(t, "sets") {
		genForeign(t, m)
	}
	return m
}

func genClaims(t *rapid.T) (out []*dns.Claim) {
	states := rapid.SampledFrom([]dns.State{dns.Intended, dns.Published, dns.Retracting})
	for n := range rapid.IntRange(1, 3).Draw(t, "claims") {
		c := &dns.Claim{
			Owner: owner(n), Since: born.Add(time.Duration(rapid.IntRange(0, 2).Draw(t, "age")) * time.Hour), Wants: genWants(t),
			Takeover: rapid.Bool().Draw(t, "takeover"), Correct: rapid.Bool().Draw(t, "correct"),
		}
		var living []dns.Record
		for range rapid.IntRange(0, 4).Draw(t, "ledger") {
			e := entry(genRecord(t), states.Draw(t, "state"))
			clash := slices.ContainsFunc(living, func(r dns.Record) bool { return r.Key().Clashes(e.Key()) })
			if c.StateOf(e.Record) != "" || clash && e.State != dns.Retracting {
				continue
			}
			if e.State != dns.Retracting {
				living = append(living, e.Record)
			}
			c.Ledger = append(c.Ledger, e)
		}
		out = append(out, c)
	}
	return out
}

// apply carries a plan out, one unit at a time.
func apply(t *rapid.T, m memory, units []dns.Unit) {
	for _, u := range units {
		if err := m.change(u.Changes); err != nil {
			t.Fatalf("the zone refuses %v: %v", render([]dns.Unit{u}), err)
		}
	}
}

// Whatever stands in the zone and in the ledgers: the zone takes the plan, which leads to what
// is due and nowhere else.
func TestPlanLeadsToWhatIsDue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, claims := genZone(t), genClaims(t)
		before := m.sets()
		units := plan(before, claims)
		ledgers := map[dns.Record]bool{}
		mayReplace := map[string]bool{}
		for _, c := range claims {
			for _, e := range c.Ledger {
				ledgers[e.Record] = true
				mayReplace[e.Name] = mayReplace[e.Name] || c.Takeover || c.Correct && e.State == dns.Published
			}
		}
		for _, u := range units {
			for _, ch := range u.Changes {
				known := slices.ContainsFunc(slices.Collect(mapKeys(ledgers)), ch.Set.Is)
				if ch.Action == dns.Create && !known {
					t.Fatalf("creates %s, which stands in no ledger", ch.Set)
				}
				if ch.Action == dns.Delete && !known && (!mayReplace[u.Name] || ch.Set.Routed || ch.Set.Type == "MX") {
					t.Fatalf("deletes %s, which is not ours", ch.Set)
				}
			}
		}
		apply(t, m, units)
		waited := len(claims) > 1
		for range len(claims) { // what one object leaves another may have waited for
			again := plan(m.sets(), claims)
			if len(again) > 0 && !waited {
				t.Fatalf("a second plan changes %v", render(again))
			}
			apply(t, m, again)
		}
		if again := plan(m.sets(), claims); len(again) > 0 {
			t.Fatalf("a last plan changes %v", render(again))
		}
		for _, c := range claims {
			for _, e := range c.Ledger {
				p := place(e.Name, m.sets(), claims)
				phase := p.Judge(c, e.Record).Phase
				if e.State == dns.Retracting && phase == dns.There {
					t.Fatalf("%v has to go and is there", e.Record)
				}
				if e.State == dns.Intended && phase == dns.Absent && !blockedByOwn(p, c, e.Record) {
					t.Fatalf("%v is due, has room, and is not there", e.Record)
				}
			}
		}
	})
}

func mapKeys(m map[dns.Record]bool) func(func(dns.Record) bool) {
	return func(yield func(dns.Record) bool) {
		for r := range m {
			if !yield(r) {
				return
			}
		}
	}
}

// blockedByOwn reports whether another published record of the same ledger keeps the place.
func blockedByOwn(p dns.Place, c *dns.Claim, r dns.Record) bool {
	return slices.ContainsFunc(p.Sets, func(s dns.RecordSet) bool {
		return s.Clashes(r.Key()) && slices.ContainsFunc(c.Ledger, func(e dns.Entry) bool { return s.Is(e.Record) })
	})
}

func TestBatchesRespectTheLimitsAndLoseNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limits := dns.Limits{Records: rapid.IntRange(1, 10).Draw(t, "records"), Characters: rapid.IntRange(10, 200).Draw(t, "characters")}
		var units []dns.Unit
		for n := range rapid.IntRange(0, 30).Draw(t, "units") {
			u := dns.Unit{Name: fmt.Sprint(n), Access: dns.Access{RoleARN: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "role")}}
			for range rapid.IntRange(1, 3).Draw(t, "changes") {
				set := dns.RecordSet{Values: []string{strings.Repeat("x", rapid.IntRange(1, 40).Draw(t, "length"))}}
				if rapid.Bool().Draw(t, "alias") {
					set = dns.RecordSet{Alias: "x"}
				}
				u.Changes = append(u.Changes, dns.Change{Action: dns.Create, Set: set})
			}
			units = append(units, u)
		}
		var got []string
		for _, batch := range dns.Batches(units, limits) {
			records, characters := 0, 0
			for _, u := range batch {
				got = append(got, u.Name)
				if u.Access != batch[0].Access {
					t.Fatal("two identities in one batch")
				}
				for _, c := range u.Changes {
					records++
					for _, v := range c.Set.Values {
						characters += len(v)
					}
				}
			}
			if len(batch) > 1 && (records > limits.Records || characters > limits.Characters) {
				t.Fatalf("%d records with %d characters, at most %+v", records, characters, limits)
			}
		}
		var want []string
		for _, u := range units {
			want = append(want, u.Name)
		}
		slices.Sort(want)
		slices.Sort(got)
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("units (-want +got):\n%s", d)
		}
	})
}
