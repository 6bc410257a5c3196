package dnssuite

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/zone"
)

const (
	target = "dmain.cloudfront.net"
	ttl    = 300
	// localRateLimit is the code of a call that the adapter's own limiter has not let go.
	localRateLimit = "LocalRateLimit"
)

// rig is a subject with the workers over it, and objects that pass as the controller has them pass.
type rig struct {
	*Subject
	t       testing.TB
	client  port.Zones
	workers *zone.Zones
	objects []*object
	woken   []dns.Owner
	// failed are the latest failures of the adapter.
	failed []string
	// watch is called after each step of a worker. Nil for nothing.
	watch func()
}

// object is what the API server stores of an object.
type object struct {
	dns.Claim
	view dns.View
}

func newRig(t testing.TB, s *Subject) *rig {
	t.Helper()
	r := &rig{Subject: s, t: t}
	s.DNS = listening{s.DNS, &r.failed}
	r.client = s.DNS.As(s.Access)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the adapter's latest failures: %q", r.failed)
		}
	})
	r.Zone, r.Other, r.Twin = r.known(s.Zone), r.known(s.Other), r.known(s.Twin)
	r.restart()
	return r
}

// known completes a zone with what all zones of the provider have in common.
func (r *rig) known(z dns.Zone) dns.Zone {
	z.Provider, z.Apex = r.Access.Provider, r.DNS.Traits().Apex
	return z
}

// restart replaces the process: the workers know nothing but what objects have stored.
func (r *rig) restart() {
	r.woken = nil
	r.workers = zone.New(zone.Options{
		Providers: zone.Providers{r.Access.Provider: r.DNS}.Always(), Clock: r.Clock,
		OnChange: func(o []dns.Owner) { r.woken = append(r.woken, o...) }, Random: func() float64 { return 0.5 },
	})
	for _, o := range r.objects {
		r.pass(o)
	}
}

// name is a name in the zone, whose own has no labels.
func (r *rig) name(labels string) string {
	if labels == "" {
		return r.Zone.Name
	}
	return labels + "." + r.Zone.Name
}

// wanted are the records that publish a domain of the zone, which has to be possible.
func (r *rig) wanted(labels string) []dns.Record {
	r.t.Helper()
	records, err := dns.Wanted(r.name(labels), r.Zone, dns.Options{Target: target, TTL: ttl, IPv6: true})
	r.must(err)
	return records
}

// cname is the record that publishes a domain below the zone's own name.
func (r *rig) cname(labels string) dns.Record {
	return dns.Record{Provider: r.Zone.Provider, ZoneID: r.Zone.ID, Name: r.name(labels), Type: dns.CNAME, Value: target, TTL: ttl}
}

// add makes an object that wants records and corrects drift, and lets it pass.
func (r *rig) add(wants ...dns.Record) *object {
	n := len(r.objects)
	o := &object{Claim: dns.Claim{
		Owner:  dns.Owner{Namespace: "web", Name: fmt.Sprintf("tenant-%04d", n), UID: fmt.Sprint(n)},
		Access: r.Access, Since: r.Clock.Now(), Wants: wants, Correct: true,
	}}
	r.objects = append(r.objects, o)
	r.pass(o)
	return o
}

// publish makes an object with one domain and waits until it is published.
func (r *rig) publish(labels string) *object {
	r.t.Helper()
	o := r.add(r.cname(labels))
	r.run(5 * time.Minute)
	r.wantState(o, dns.Published)
	return o
}

// want replaces what an object wants.
func (r *rig) want(o *object, wants ...dns.Record) {
	o.Wants = wants
	o.Version++
	r.pass(o)
}

// pass is one pass of the controller: declare, store, and declare what was stored.
func (r *rig) pass(o *object) {
	claim := func() dns.Claim {
		c := o.Claim
		c.Wants, c.Ledger = slices.Clone(c.Wants), slices.Clone(c.Ledger)
		return c
	}
	o.view = r.workers.Declare(claim())
	next := dns.Advance(o.Ledger, o.Wants, o.view, dns.Policy{Takeover: o.Takeover, RoleARN: o.Access.RoleARN})
	if slices.Equal(next, o.Ledger) {
		return
	}
	o.Version++
	o.Ledger = next
	o.view = r.workers.Declare(claim())
}

// passes lets the woken objects pass until none is woken any more.
func (r *rig) passes() {
	byOwner := map[dns.Owner]*object{}
	for _, o := range r.objects {
		byOwner[o.Owner] = o
	}
	for range 1000 {
		if len(r.woken) == 0 {
			return
		}
		woken := slices.Clone(r.woken)
		r.woken = nil
		slices.SortFunc(woken, func(a, b dns.Owner) int { return cmp.Compare(a.Name, b.Name) })
		for _, w := range slices.Compact(woken) {
			r.pass(byOwner[w])
		}
	}
	r.t.Fatal("the objects wake each other for ever")
}

// step is one call of the workers, with what follows from it, and says how long the next can wait.
func (r *rig) step() time.Duration {
	r.passes()
	wait := r.workers.Step(r.t.Context())
	r.passes()
	if r.watch != nil {
		r.watch()
	}
	return wait
}

// run lets workers and objects go on for so long, with the clock going from one step to the next.
func (r *rig) run(d time.Duration) {
	r.t.Helper()
	end := r.Clock.Now().Add(d)
	for range 20_000 {
		wait := r.step()
		if wait > 0 && r.Settle != nil {
			r.Settle()
		}
		next := r.Clock.Now().Add(wait)
		if next.After(end) {
			r.Clock.SetTime(end)
			return
		}
		r.Clock.SetTime(next)
	}
	r.t.Fatal("the workers do not come to rest")
}

// until lets workers and objects go on until something is so, for a day at most.
func (r *rig) until(what string, is func() bool) {
	r.t.Helper()
	for range 20_000 {
		if is() {
			return
		}
		wait := r.step()
		if wait > 0 && r.Settle != nil {
			r.Settle()
		}
		r.Clock.Step(min(wait, time.Minute))
	}
	r.t.Fatalf("it never happens that %s", what)
}

// look lists the zone again, as it happens every quarter of an hour.
func (r *rig) look() { r.run(25 * time.Minute) }

// settle gives servers the time that they take.
func (r *rig) settle() {
	r.Clock.Step(2 * time.Minute)
	if r.Settle != nil {
		r.Settle()
	}
}

// all are the sets of a zone in the form in which they are compared, but for those that make it a zone.
func (r *rig) all(z dns.Zone) (out []string) {
	for _, s := range r.Sets(z.ID) {
		if s.Name != z.Name || s.Type != "SOA" && s.Type != "NS" {
			out = append(out, show(s))
		}
	}
	slices.Sort(out)
	return out
}

// sets are those of Zone without the adapter's notes.
func (r *rig) sets() []string {
	var notes []string
	for _, s := range r.Sets(r.Zone.ID) {
		if r.IsNote != nil && r.IsNote(s) {
			notes = append(notes, show(s))
		}
	}
	return slices.DeleteFunc(r.all(r.Zone), func(s string) bool { return slices.Contains(notes, s) })
}

func (r *rig) wantSets(what string, sets ...dns.RecordSet) {
	r.t.Helper()
	r.wantLines(what, showAll(sets))
}

func (r *rig) wantLines(what string, lines []string) {
	r.t.Helper()
	if d := gocmp.Diff(lines, r.sets()); d != "" {
		r.t.Errorf("%s: the zone (-want +got):\n%s", what, d)
	}
}

func showAll(sets []dns.RecordSet) (out []string) {
	for _, s := range sets {
		out = append(out, show(s))
	}
	slices.Sort(out)
	return out
}

// show renders all of a set that is compared.
func show(s dns.RecordSet) string {
	return fmt.Sprintf("%s %s %d %q %s", s.Name, s.Type, s.TTL, slices.Sorted(slices.Values(s.Values)), s.Alias)
}

// wantState checks that the ledger of an object has all that it wants, and nothing else, in a state; with an empty state,
// that it has nothing.
func (r *rig) wantState(o *object, state dns.State) {
	r.t.Helper()
	var want, got []string
	for _, w := range o.Wants {
		if state != "" {
			want = append(want, fmt.Sprintf("%s %s %s", w.Name, w.Type, state))
		}
	}
	for _, e := range o.Ledger {
		got = append(got, fmt.Sprintf("%s %s %s", e.Name, e.Type, e.State))
	}
	slices.Sort(want)
	slices.Sort(got)
	if d := gocmp.Diff(want, got); d != "" {
		r.t.Errorf("ledger of %s (-want +got):\n%s", o.Owner.Name, d)
	}
}

// wantPhase checks how the only record of an object stands, and returns it.
func (r *rig) wantPhase(o *object, want dns.Phase) dns.Standing {
	r.t.Helper()
	r.pass(o)
	record := o.Ledger
	if len(o.Wants) > 0 {
		record = []dns.Entry{{Record: o.Wants[0]}}
	}
	if len(record) == 0 {
		r.t.Fatalf("%s neither wants nor has a record", o.Owner.Name)
	}
	s := o.view.Of(record[0].Record)
	if s.Phase != want {
		r.t.Errorf("%s is %s (found %q, error %v), want %s", record[0].Name, s.Phase, s.Found, s.Err, want)
	}
	return s
}

// cost counts the calls that do makes.
func (r *rig) cost(do func()) (mutating, all int) {
	m, a := r.Calls()
	do()
	mutating, all = r.Calls()
	return mutating - m, all - a
}

// wantNoChange checks that do leads to no call that may change something, and to no other zone.
func (r *rig) wantNoChange(what string, do func()) {
	r.t.Helper()
	before := r.all(r.Zone)
	if mutating, _ := r.cost(do); mutating > 0 {
		r.t.Errorf("%s: %d calls that change something", what, mutating)
	}
	if d := gocmp.Diff(before, r.all(r.Zone)); d != "" {
		r.t.Errorf("%s: the zone (-before +after):\n%s", what, d)
	}
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// paced makes a call, and again when the adapter's own limiter says so.
func (r *rig) paced(call func() error) error {
	for range 1000 {
		err := call()
		if fault.CodeOf(err) != localRateLimit {
			return err
		}
		r.Clock.Step(max(fault.RetryAfter(err), time.Millisecond))
	}
	r.t.Fatal("the adapter's own limiter lets nothing pass")
	return nil
}

// change sends changes past the workers.
func (r *rig) change(changes ...dns.Change) (id string, err error) {
	err = r.paced(func() (err error) {
		id, err = r.client.Change(r.t.Context(), r.Zone.ID, changes)
		return err
	})
	return id, err
}

// read reads a name past the workers.
func (r *rig) read(name string) (sets []dns.RecordSet, err error) {
	err = r.paced(func() (err error) {
		sets, err = r.client.ReadName(r.t.Context(), r.Zone.ID, name)
		return err
	})
	return sets, err
}

// page reads one page of a zone past the workers.
func (r *rig) page(z dns.Zone, marker string) (sets []dns.RecordSet, next string, err error) {
	err = r.paced(func() (err error) {
		sets, next, err = r.client.ListRecords(r.t.Context(), z.ID, marker)
		return err
	})
	return sets, next, err
}

// list reads all pages of the zone, with what happens between them.
func (r *rig) list(between func(page int)) (sets []dns.RecordSet, pages int, err error) {
	for marker := ""; ; {
		page, next, err := r.page(r.Zone, marker)
		if err != nil {
			return nil, pages, err
		}
		sets = append(sets, page...)
		if pages++; next == "" {
			return sets, pages, nil
		}
		if pages > 1000 || next == marker {
			r.t.Fatalf("the listing does not end: %d pages, marker %q", pages, next)
		}
		if between != nil {
			between(pages)
		}
		marker = next
	}
}

// without returns sets but for those that make the zone one.
func (r *rig) without(sets []dns.RecordSet) []dns.RecordSet {
	return slices.DeleteFunc(slices.Clone(sets), func(s dns.RecordSet) bool {
		return s.Name == r.Zone.Name && (s.Type == "SOA" || s.Type == "NS")
	})
}

func creates(sets ...dns.RecordSet) (out []dns.Change) {
	for _, s := range sets {
		out = append(out, dns.Change{Action: dns.Create, Set: s, Owner: dns.Owner{Namespace: "web", Name: "shop", UID: "1"}})
	}
	return out
}

func deletes(sets ...dns.RecordSet) (out []dns.Change) {
	for _, s := range sets {
		out = append(out, dns.Change{Action: dns.Delete, Set: s, Owner: dns.Owner{Namespace: "web", Name: "shop", UID: "1"}})
	}
	return out
}

// foreign is a CNAME that leads elsewhere.
func (r *rig) foreign(labels string) dns.RecordSet {
	return dns.RecordSet{Key: dns.Key{Name: r.name(labels), Type: dns.CNAME}, TTL: ttl, Values: []string{"elsewhere.example.net"}}
}

func (r *rig) set(labels, kind string, values ...string) dns.RecordSet {
	return dns.RecordSet{Key: dns.Key{Name: r.name(labels), Type: kind}, TTL: ttl, Values: values}
}
