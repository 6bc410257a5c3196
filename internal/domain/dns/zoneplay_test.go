package dns_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// zonePlay is objects that pass as the controller does, over the worker of one zone.
type zonePlay struct {
	*worker
	t       *rapid.T
	objects []*dns.Claim
	// ever are the records that any ledger has ever named.
	ever map[dns.Record]bool
	// hands are the sets that people made.
	hands []dns.RecordSet
	// noise is how many of ten calls fail.
	noise int
}

func newZonePlay(t *rapid.T) *zonePlay {
	p := &zonePlay{worker: newWorker(genZone(t)), t: t, ever: map[dns.Record]bool{}, noise: rapid.IntRange(0, 6).Draw(t, "noise")}
	p.hands = p.zone.sets()
	p.answer, p.lost = p.disturb, func() bool { return p.noise > 0 && rapid.IntRange(0, 3).Draw(t, "lost") == 0 }
	for n := range rapid.IntRange(1, 3).Draw(t, "objects") {
		c := &dns.Claim{Owner: owner(n), Since: born.Add(time.Duration(n) * time.Hour), Correct: rapid.Bool().Draw(t, "correct")}
		p.objects = append(p.objects, c)
	}
	return p
}

// disturb fails some calls, and looks at every change that is about to be made.
func (p *zonePlay) disturb(call dns.Call) error {
	if batch, ok := call.(dns.SendBatch); ok {
		for _, c := range batch.Changes {
			known := false
			for r := range p.ever {
				known = known || c.Set.Is(r)
			}
			if !known && (c.Action == dns.Create || !slices.ContainsFunc(p.objects, func(o *dns.Claim) bool { return o.Correct })) {
				p.t.Fatalf("%s %s, which no ledger ever named", c.Action, c.Set)
			}
		}
	}
	if rapid.IntRange(0, 9).Draw(p.t, "fails") >= p.noise {
		return nil
	}
	kinds := []fault.Kind{fault.Throttled, fault.Transient, fault.Transient, fault.Denied, fault.Quota}
	return refusal(rapid.SampledFrom(kinds).Draw(p.t, "kind"))
}

// pass declares the stored ledger, stores what follows, and declares that.
func (p *zonePlay) pass(c *dns.Claim) {
	c.Version++
	view := p.declare(*c)
	if again := p.declare(*c); !cmp.Equal(view, again) {
		p.t.Fatalf("the same question has two answers: %s", cmp.Diff(view, again))
	}
	next := dns.Advance(c.Ledger, c.Wants, view, dns.Policy{})
	for _, e := range c.Ledger {
		p.everywhereBefore(e, next, view.Of(e.Record))
	}
	c.Ledger = next
	for _, e := range c.Ledger {
		p.ever[e.Record] = true
	}
	p.declare(*c)
}

// everywhereBefore checks that no entry counts as published, or leaves as deleted, before every server shows it.
func (p *zonePlay) everywhereBefore(e dns.Entry, next []dns.Entry, s dns.Standing) {
	left := !slices.ContainsFunc(next, func(n dns.Entry) bool { return n.Record == e.Record })
	published := e.State == dns.Intended && slices.Contains(next, entry(e.Record, dns.Published))
	if (published || left && s.Phase == dns.Absent) && p.now.Before(p.everywhere[e.Name+" "+e.Set().String()]) {
		p.t.Fatalf("%v is %+v, which not every server shows", e, s)
	}
}

// passes lets those pass that were woken, until none is.
func (p *zonePlay) passes() {
	for range 200 {
		woken := p.woken
		p.woken = nil
		if len(woken) == 0 {
			return
		}
		for _, c := range p.objects {
			if slices.Contains(woken, c.Owner) {
				p.pass(c)
			}
		}
	}
	p.t.Fatal("the objects wake each other forever")
}

// move is one thing that happens.
func (p *zonePlay) move() {
	c := p.objects[rapid.IntRange(0, len(p.objects)-1).Draw(p.t, "object")]
	switch rapid.IntRange(0, 9).Draw(p.t, "what") {
	case 0, 1:
		c.Wants = genWants(p.t)
		p.pass(c)
	case 2: // the process dies, and the next one knows what is stored
		p.restart()
		for _, c := range p.objects {
			p.pass(c)
		}
	case 3:
		before := p.zone.sets()
		genForeign(p.t, p.zone)
		p.hands = append(p.hands, slices.DeleteFunc(p.zone.sets(), func(s dns.RecordSet) bool {
			return slices.ContainsFunc(before, func(b dns.RecordSet) bool { return b.Key == s.Key })
		})...)
	case 4: // between the question and its answer others pass
		call := p.begin()
		p.pass(c)
		if call != nil {
			p.apply(p.perform(call))
		}
	case 5:
		p.apply(dns.RefreshAsked{})
	default:
		for range rapid.IntRange(1, 10).Draw(p.t, "steps") {
			p.step()
			p.passes()
		}
	}
}

// settle lets hours go by in which nothing fails.
func (p *zonePlay) settle() {
	p.noise = 0
	for end := p.now.Add(6 * time.Hour); p.now.Before(end); {
		p.step()
		p.passes()
	}
}

// Whatever calls fail, answers get lost, processes die and people edit: what no ledger ever named is never touched, and
// when the noise ends each ledger comes to rest, with the zone as the ledgers say.
func TestAZoneComesToRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newZonePlay(t)
		for _, c := range p.objects {
			p.pass(c)
		}
		for range rapid.IntRange(1, 30).Draw(t, "moves") {
			p.move()
		}
		p.settle()
		for _, c := range p.objects {
			view := p.declare(*c)
			if next := dns.Advance(c.Ledger, c.Wants, view, dns.Policy{}); !slices.Equal(next, c.Ledger) {
				t.Fatalf("%s was not woken for %v; its ledger is %v", c.Owner.Name, next, c.Ledger)
			}
			for _, e := range c.Ledger {
				s := view.Of(e.Record)
				switch {
				case e.State == dns.Published && s.Phase == dns.There, s.Phase == dns.Blocked:
				case e.State == dns.Published && s.Phase == dns.Absent && !c.Correct:
				default:
					t.Fatalf("%s keeps %v, which is %+v", c.Owner.Name, e, s)
				}
			}
			for _, r := range c.Wants {
				if s := view.Of(r); s.Phase == dns.Absent && c.StateOf(r) == "" && !waits(view, c, r) {
					t.Fatalf("%v of %s has room, and is not published", r, c.Owner.Name)
				}
			}
		}
		for r := range p.ever {
			there := slices.ContainsFunc(p.zone.sets(), func(s dns.RecordSet) bool { return s.Is(r) })
			if there && !slices.ContainsFunc(p.objects, func(c *dns.Claim) bool { return c.StateOf(r) != "" }) && !slices.ContainsFunc(p.hands, func(s dns.RecordSet) bool { return s.Is(r) }) {
				t.Fatalf("%v is left behind", r)
			}
		}
	})
}

// waits reports whether something keeps a name, which is taken whole or not at all.
func waits(view dns.View, c *dns.Claim, r dns.Record) bool {
	return slices.ContainsFunc(c.Wants, func(w dns.Record) bool {
		phase := view.Of(w).Phase
		return w.Name == r.Name && (phase == dns.Occupied || phase == dns.Blocked)
	})
}
