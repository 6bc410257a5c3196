package dns_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
)

// model is a zone, objects with stored ledgers, and a worker that knows only what was declared.
type model struct {
	t       *rapid.T
	zone    memory
	objects []*object
	// ever are the records that any ledger has ever named.
	ever map[dns.Record]bool
	// made are the records that the worker created and that were not touched since.
	made map[dns.Record]bool
	// owed are the sets of others that takeovers have replaced, by name, as far as no user has changed the name since.
	owed map[string][]dns.RecordSet
	// seen are the sets of others that the zone ever had.
	seen []dns.RecordSet
	// shared are the names that two objects have had in their ledgers at one time, which only conflicts lead to.
	shared map[string]bool
}

type object struct {
	stored dns.Claim
	// declared is what the worker knows of the object, nil after a crash.
	declared *dns.Claim
	// next is the ledger of a pass that was not stored yet.
	next    []dns.Entry
	passing bool
}

func (m *model) declared() (out []*dns.Claim) {
	for _, o := range m.objects {
		if o.declared != nil {
			out = append(out, o.declared)
		}
	}
	return out
}

func (o *object) declare() {
	c := o.stored
	c.Wants, c.Ledger = slices.Clone(c.Wants), slices.Clone(c.Ledger)
	o.declared = &c
}

// begin declares the stored ledger and works out the next one.
func (m *model) begin(o *object) {
	o.declare()
	view := dns.View{Records: map[dns.Record]dns.Standing{}}
	for _, r := range append(slices.Clone(o.declared.Wants), records(o.declared.Ledger)...) {
		view.Records[r] = place(r.Name, m.zone.sets(), m.declared()).Judge(o.declared, r)
	}
	o.next = dns.Advance(o.stored.Ledger, o.stored.Wants, view, dns.Policy{Takeover: o.stored.Takeover})
	o.passing = true
}

// end stores the next ledger and declares it.
func (m *model) end(o *object) {
	if !o.passing {
		return
	}
	o.passing, o.stored.Ledger = false, o.next
	for _, e := range o.next {
		m.ever[e.Record] = true
		m.shared[e.Name] = m.shared[e.Name] || slices.ContainsFunc(m.objects, func(other *object) bool {
			return other != o && slices.ContainsFunc(other.stored.Ledger, func(f dns.Entry) bool { return f.Name == e.Name })
		})
	}
	o.declare()
}

// work carries one unit out.
func (m *model) work(pick int) bool {
	units := plan(m.zone.sets(), m.declared())
	if len(units) == 0 {
		return false
	}
	u := units[pick%len(units)]
	owner := m.objects[slices.IndexFunc(m.objects, func(o *object) bool { return o.stored.Owner == u.Owner })]
	for _, c := range u.Changes {
		known := false
		for r := range m.ever {
			known = known || c.Set.Is(r)
		}
		if c.Action == dns.Delete && !known && !owner.declared.Takeover && !owner.declared.Correct {
			m.t.Fatalf("%s is deleted, which no ledger ever named", c.Set)
		}
	}
	m.seen = append(m.seen, m.zone.sets()...)
	apply(m.t, m.zone, []dns.Unit{u})
	m.forgetMissing()
	for _, r := range u.Publishes {
		m.made[r] = true
	}
	m.owe(u, owner.declared)
	return true
}

// owe notes what a unit has replaced, and what it has put back.
func (m *model) owe(u dns.Unit, c *dns.Claim) {
	for _, ch := range u.Changes {
		ours := false
		for r := range m.ever {
			ours = ours || ch.Set.Is(r)
		}
		drift := slices.ContainsFunc(c.Ledger, func(e dns.Entry) bool {
			return e.State == dns.Published && slices.Contains(u.Publishes, e.Record) && e.Key().Clashes(ch.Set.Key)
		})
		switch is := func(s dns.RecordSet) bool { return cmp.Equal(s, ch.Set) }; {
		case ch.Action == dns.Create && !ours && !slices.ContainsFunc(m.seen, is):
			m.t.Fatalf("%s is created, which was never there", ch.Set)
		case ch.Action == dns.Delete && !ours && !drift:
			m.owed[u.Name] = append(m.owed[u.Name], ch.Set)
		}
	}
}

func leadsToCloudFront(s dns.RecordSet) bool {
	return s.Alias != "" || slices.ContainsFunc(s.Values, func(v string) bool { return strings.HasSuffix(v, ".cloudfront.net") })
}

// forgetMissing forgets what the worker made and is not there any more.
func (m *model) forgetMissing() {
	for r := range m.made {
		if !slices.ContainsFunc(m.zone.sets(), func(s dns.RecordSet) bool { return s.Is(r) }) {
			delete(m.made, r)
		}
	}
}

func (m *model) disturb() {
	o := m.objects[rapid.IntRange(0, len(m.objects)-1).Draw(m.t, "object")]
	switch rapid.IntRange(0, 9).Draw(m.t, "what") {
	case 0:
		o.stored.Wants = genWants(m.t)
	case 1, 2:
		m.begin(o)
	case 3, 4:
		m.end(o)
	case 5, 6, 7:
		m.work(rapid.IntRange(0, 20).Draw(m.t, "unit"))
	case 8: // a crash: nothing declared, and every pass is lost
		for _, o := range m.objects {
			o.declared, o.passing = nil, false
		}
	case 9:
		before := m.zone.sets()
		m.seen = append(m.seen, before...)
		defer func() { m.forgive(before) }()
		if sets := m.zone.sets(); len(sets) > 0 && rapid.Bool().Draw(m.t, "by hand") {
			_ = m.zone.change([]dns.Change{{Action: dns.Delete, Set: sets[rapid.IntRange(0, len(sets)-1).Draw(m.t, "set")]}})
		}
		m.forgetMissing()
		genForeign(m.t, m.zone)
	}
}

// forgive forgets what is owed to names that a user has changed.
func (m *model) forgive(before []dns.RecordSet) {
	for name := range m.owed {
		at := func(sets []dns.RecordSet) []dns.RecordSet {
			return slices.DeleteFunc(slices.Clone(sets), func(s dns.RecordSet) bool { return s.Name != name })
		}
		if !cmp.Equal(at(before), at(m.zone.sets())) {
			delete(m.owed, name)
		}
	}
}

// calm lets passes and worker run undisturbed until nothing moves.
func (m *model) calm() {
	for range 12 {
		before, moved := m.ledgers(), false
		for _, o := range m.objects {
			m.begin(o)
			m.end(o)
		}
		for range 50 {
			if !m.work(0) {
				break
			}
			moved = true
		}
		if after := m.ledgers(); !moved && slices.EqualFunc(before, after, slices.Equal[[]dns.Entry]) {
			return
		}
	}
	m.t.Fatalf("no rest after twelve rounds; ledgers %v", m.ledgers())
}

func (m *model) ledgers() (out [][]dns.Entry) {
	for _, o := range m.objects {
		out = append(out, o.stored.Ledger)
	}
	return out
}

// However passes, work, crashes, people and edits mix: it comes to rest, with everything
// published that has room, nothing of ours left behind, and nothing deleted that was not ours.
func TestItConverges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &model{t: t, zone: genZone(t), ever: map[dns.Record]bool{}, made: map[dns.Record]bool{}, owed: map[string][]dns.RecordSet{}, shared: map[string]bool{}}
		backup := rapid.IntRange(0, 3).Draw(t, "backup") == 0
		for n := range rapid.IntRange(1, 3).Draw(t, "objects") {
			c := dns.Claim{Owner: owner(n), Since: born.Add(time.Duration(n) * time.Hour), Wants: genWants(t)}
			c.Takeover, c.Correct = rapid.Bool().Draw(t, "takeover"), rapid.Bool().Draw(t, "correct")
			m.objects = append(m.objects, &object{stored: c})
		}
		if backup { // ledgers that say what they like
			for n, c := range genClaims(t) {
				if n < len(m.objects) {
					m.objects[n].stored.Ledger = c.Ledger
				}
				for _, e := range c.Ledger {
					m.ever[e.Record] = true
				}
			}
		}
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			m.disturb()
		}
		for _, o := range m.objects {
			o.passing = false
		}
		m.calm()
		m.check()
		if !backup {
			m.checkOwed()
		}
	})
}

// checkOwed lets all objects go, and checks that what they have replaced is back.
func (m *model) checkOwed() {
	for _, o := range m.objects {
		o.stored.Wants = nil
	}
	m.calm()
	for name, sets := range m.owed {
		for _, s := range sets {
			if back := slices.ContainsFunc(m.zone.sets(), func(z dns.RecordSet) bool { return cmp.Equal(z, s) }); !back && !leadsToCloudFront(s) && !m.shared[name] {
				m.t.Fatalf("%s lacks %v, and has %v", name, s, m.zone.sets())
			}
		}
	}
}

func (m *model) check() {
	claimed := map[dns.Record]bool{}
	for _, o := range m.objects {
		for _, e := range o.stored.Ledger {
			claimed[e.Record] = true
			if e.State == dns.Retracting || !slices.Contains(o.stored.Wants, e.Record) {
				m.t.Fatalf("%s keeps %v in its ledger", o.stored.Owner.Name, e)
			}
		}
		for _, r := range o.stored.Wants {
			m.due(o, r)
		}
	}
	for r := range m.made {
		if !claimed[r] {
			m.t.Fatalf("%v was made and is in no ledger: %v", r, m.ledgers())
		}
	}
}

// due checks that a wanted record is there, or that something keeps its name.
func (m *model) due(o *object, r dns.Record) {
	p := place(r.Name, m.zone.sets(), m.declared())
	if p.Judge(o.declared, r).Phase != dns.Absent {
		return
	}
	state := o.declared.StateOf(r)
	if state == dns.Published && !o.stored.Correct {
		return // drift that is only reported
	}
	if state == "" && slices.ContainsFunc(o.stored.Wants, func(w dns.Record) bool {
		phase := p.Judge(o.declared, w).Phase
		return w.Name == r.Name && (phase == dns.Occupied || phase == dns.Blocked)
	}) {
		return // a name is taken whole or not at all
	}
	m.t.Fatalf("%v of %s is due, has room, and is %q", r, o.stored.Owner.Name, state)
}
