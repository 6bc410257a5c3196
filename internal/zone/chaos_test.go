package zone_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// Whatever calls fail, answers get lost, processes die and people edit: what was never in a
// ledger is never deleted, and when the noise ends everything wanted is published, and nothing
// that is not wanted is left.
func TestZonesSurviveChaos(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := newRig(t)
		ever := map[dns.Record]bool{}
		foreign := map[string]bool{}
		noise := rapid.IntRange(0, 6).Draw(rt, "noise")
		kinds := rapid.SampledFrom([]fault.Kind{fault.Throttled, fault.Transient, fault.Transient, fault.Denied})
		r.provider.pageSize = rapid.IntRange(1, 6).Draw(rt, "page")
		r.provider.before = func(c call) error {
			for _, ch := range c.changes {
				known := false
				for rec := range ever {
					known = known || ch.Set.Is(rec)
				}
				if !known {
					rt.Fatalf("%s %s, which no ledger names", ch.Action, ch.Set)
				}
			}
			if noise > 0 && rapid.IntRange(0, 9).Draw(rt, "fails") < noise {
				return failure(kinds.Draw(rt, "kind"), c.operation, "noise")
			}
			return nil
		}
		r.provider.lost = func(call) bool { return noise > 0 && rapid.IntRange(0, 3).Draw(rt, "lost") == 0 }
		names := []string{"a", "b", "c", "d"}
		want := func() (out []dns.Record) {
			for _, n := range names {
				if rapid.Bool().Draw(rt, n) {
					rec := cname(n)
					rec.Value = rapid.SampledFrom([]string{target, "d2.cloudfront.net"}).Draw(rt, "target")
					out = append(out, rec)
				}
			}
			return out
		}
		note := func() {
			for _, o := range r.objects {
				for _, e := range o.Ledger {
					ever[e.Record] = true
				}
			}
		}
		for n := range 2 {
			r.object(n)
		}
		for range rapid.IntRange(1, 12).Draw(rt, "rounds") {
			o := r.objects[owner(rapid.IntRange(0, 1).Draw(rt, "object"))]
			switch rapid.IntRange(0, 5).Draw(rt, "what") {
			case 0, 1:
				o.Wants = want()
				o.Version++
				r.pass(o)
			case 2:
				r.restart()
				for _, o := range r.objects {
					r.pass(o)
				}
			case 3: // by hand
				n := fmt.Sprintf("%s.example.com", rapid.SampledFrom(names).Draw(rt, "foreign"))
				if len(r.provider.state(zoneID)) < 4 && !slices.ContainsFunc(r.provider.state(zoneID), func(s string) bool { return s[0] == n[0] }) {
					foreign[n] = true
					r.provider.put(zoneID, dns.RecordSet{Key: dns.Key{Name: n, Type: dns.CNAME}, TTL: 60, Values: []string{"by.hand.example"}})
				}
			}
			for range rapid.IntRange(0, 20).Draw(rt, "steps") {
				note()
				r.clock.Step(r.Step(t.Context()))
				note()
				r.passes()
			}
		}
		noise = 0
		for range 40 { // a pause of every kind ends within that, and a listing sees what people did
			note()
			r.clock.Step(5 * time.Minute)
			for range 30 {
				note()
				r.clock.Step(min(r.Step(t.Context()), time.Minute))
				note()
				r.passes()
			}
		}
		expected := map[string]bool{}
		for n := range foreign {
			expected[n+" CNAME by.hand.example (TTL 60)"] = true
		}
		for _, o := range r.objects {
			for _, e := range o.Ledger {
				if e.State != dns.Published && r.phase(o, e.Record).Phase != dns.Blocked {
					rt.Fatalf("%s keeps %v", o.Owner.Name, e)
				}
			}
			for _, rec := range o.Wants {
				switch s := r.phase(o, rec); s.Phase {
				case dns.There:
					expected[rec.Name+" "+rec.Set().String()] = true
				case dns.Blocked, dns.Occupied:
				default:
					rt.Fatalf("%v is %s (%v)", rec, s.Phase, s.Err)
				}
			}
		}
		for _, s := range r.provider.state(zoneID) {
			if !expected[s] {
				rt.Fatalf("%s is left behind; expected %v", s, expected)
			}
		}
	})
}

// Whatever calls fail, answers get lost, changes are carried out in part and processes die while names are taken over and
// given back: in the end each has what it had at first.
func TestWhatIsReplacedSurvivesChaos(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := newRig(t)
		stepwise := rapid.Bool().Draw(rt, "stepwise")
		noise := rapid.IntRange(0, 6).Draw(rt, "noise")
		kinds := rapid.SampledFrom([]fault.Kind{fault.Throttled, fault.Transient, fault.Transient, fault.Denied, fault.Quota})
		r.provider.before = func(c call) error {
			if noise > 0 && rapid.IntRange(0, 9).Draw(rt, "fails") < noise {
				return failure(kinds.Draw(rt, "kind"), c.operation, "noise")
			}
			return nil
		}
		r.provider.lost = func(call) bool { return noise > 0 && rapid.IntRange(0, 3).Draw(rt, "lost") == 0 }
		if stepwise {
			creates := func(c dns.Change) bool { return c.Action == dns.Create }
			r.provider.leavesOut = func(c call) bool {
				return noise > 0 && slices.ContainsFunc(c.changes, creates) && rapid.IntRange(0, 3).Draw(rt, "leaves out") == 0
			}
			r.provider.stopsAfter = func(c call) int {
				if noise > 0 && rapid.IntRange(0, 3).Draw(rt, "stops") == 0 {
					return rapid.IntRange(0, len(c.changes)).Draw(rt, "after")
				}
				return len(c.changes)
			}
		}
		names := []string{"a", "b", "c"}
		for _, n := range names {
			for _, set := range rapid.SampledFrom([][]dns.RecordSet{
				nil, {{Key: dns.Key{Type: dns.A}, TTL: 60, Values: []string{"192.0.2.1", "192.0.2.2"}}},
				{{Key: dns.Key{Type: dns.A}, TTL: 60, Values: []string{"192.0.2.1"}}, {Key: dns.Key{Type: dns.AAAA}, TTL: 30, Values: []string{"2001:db8::1"}}},
				{{Key: dns.Key{Type: dns.CNAME}, TTL: 60, Values: []string{"other.example.net"}}},
			}).Draw(rt, n) {
				set.Name = cname(n).Name
				r.provider.put(zoneID, set)
			}
		}
		before := r.provider.state(zoneID)
		var objects []*object
		for n := range names {
			o := r.object(n)
			o.Takeover = true
			objects = append(objects, o)
		}
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			n := rapid.IntRange(0, len(names)-1).Draw(rt, "object")
			switch rapid.IntRange(0, 3).Draw(rt, "what") {
			case 0:
				objects[n].Wants = []dns.Record{cname(names[n])}
			case 1:
				v4, v6 := cname(names[n]), cname(names[n])
				v4.Type, v4.TTL, v6.Type, v6.TTL = dns.A, 0, dns.AAAA, 0
				objects[n].Wants = []dns.Record{v4, v6}
			case 2:
				objects[n].Wants = nil
			case 3:
				r.restart()
				for _, o := range objects {
					r.pass(o)
				}
			}
			r.pass(objects[n])
			r.run(time.Duration(rapid.IntRange(0, 90).Draw(rt, "seconds")) * time.Second)
		}
		noise = 0
		r.run(3 * time.Hour)
		for _, o := range objects {
			for _, rec := range o.Wants {
				if s := r.phase(o, rec); s.Phase != dns.There {
					rt.Fatalf("%v is %s (%v)", rec, s.Phase, s.Err)
				}
			}
			o.Wants = nil
			r.pass(o)
		}
		r.run(6 * time.Hour)
		for _, o := range objects {
			if len(o.Ledger) > 0 {
				rt.Fatalf("%s keeps %v", o.Owner.Name, o.Ledger)
			}
		}
		if d := cmp.Diff(before, r.provider.state(zoneID)); d != "" {
			rt.Fatalf("zone (-before +after):\n%s", d)
		}
	})
}
