package zone_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/zone"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	zoneID = "Z1"
	target = "d1.cloudfront.net"
)

// rig is the workers over a provider, with objects that pass as the controller does.
type rig struct {
	*zone.Zones
	t        *testing.T
	clock    *clocktesting.FakeClock
	provider *provider
	objects  map[dns.Owner]*object
	// asleep are objects that do not pass when they are woken.
	asleep bool

	mu          sync.Mutex
	woken       []dns.Owner
	conflicts   int
	took        []time.Duration
	results     []string
	corrections []dns.Correction
}

// object is what the API server stores of an object.
type object struct {
	dns.Claim
	role string
	view dns.View
	// writes is how often its ledger was stored again.
	writes int
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, clock: clocktesting.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)), objects: map[dns.Owner]*object{}}
	r.provider = newProvider(r.clock)
	r.provider.addZone(zoneID, "example.com")
	r.restart()
	return r
}

// restart replaces the process: what it knew is lost.
func (r *rig) restart() {
	r.woken = nil
	r.Zones = zone.New(zone.Options{
		Providers: zone.Providers{{}: r.provider}.Always(), Clock: r.clock, OnChange: r.wake, Observer: r, Random: func() float64 { return 0.5 },
	})
}

func (r *rig) wake(owners []dns.Owner) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.woken = append(r.woken, owners...)
}

func (r *rig) Batch(_ dns.Provider, changes int, result fault.Kind) {
	r.results = append(r.results, fmt.Sprintf("%d %s", changes, result))
}
func (r *rig) Corrected(corrections []dns.Correction) {
	r.corrections = append(r.corrections, corrections...)
}
func (r *rig) Conflict(dns.Provider)                         { r.conflicts++ }
func (r *rig) Propagated(_ dns.Provider, took time.Duration) { r.took = append(r.took, took) }

func owner(n int) dns.Owner {
	return dns.Owner{Namespace: "web", Name: fmt.Sprintf("tenant-%04d", n), UID: fmt.Sprint(n)}
}

func cname(name string) dns.Record {
	return dns.Record{ZoneID: zoneID, Name: name + ".example.com", Type: dns.CNAME, Value: target, TTL: 300}
}

// object makes an object that wants records, and lets it pass.
func (r *rig) object(n int, wants ...dns.Record) *object {
	o := &object{Claim: dns.Claim{Owner: owner(n), Since: r.clock.Now().Add(time.Duration(n) * time.Second), Wants: wants, Correct: true}}
	r.objects[o.Owner] = o
	r.pass(o)
	return o
}

// pass is one pass of the controller: declare, store, and declare what was stored.
func (r *rig) pass(o *object) {
	o.Access = dns.Access{}
	if o.role != "" {
		o.Access = dns.Access{RoleARN: o.role, Namespace: o.Owner.Namespace}
	}
	claim := func() dns.Claim {
		c := o.Claim
		c.Wants, c.Ledger = slices.Clone(c.Wants), slices.Clone(c.Ledger)
		return c
	}
	o.view = r.Declare(claim())
	next := dns.Advance(o.Ledger, o.Wants, o.view, dns.Policy{Takeover: o.Takeover, RoleARN: o.role})
	if slices.Equal(next, o.Ledger) {
		return
	}
	o.Version++
	o.writes++
	o.Ledger = next
	o.view = r.Declare(claim())
}

// passes runs the passes of the woken objects until there are none.
func (r *rig) passes() {
	for range 1000 {
		r.mu.Lock()
		woken := slices.CompactFunc(slices.SortedFunc(slices.Values(r.woken), func(a, b dns.Owner) int { return cmpStrings(a.Name, b.Name) }),
			func(a, b dns.Owner) bool { return a == b })
		r.woken = nil
		r.mu.Unlock()
		if len(woken) == 0 || r.asleep {
			return
		}
		for _, w := range woken {
			if o := r.objects[w]; o != nil {
				r.pass(o)
			}
		}
	}
	r.t.Fatal("the objects wake each other for ever")
}

func cmpStrings(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// run lets workers and objects work for that long, with time jumping from one step to the next.
func (r *rig) run(d time.Duration) {
	r.t.Helper()
	end := r.clock.Now().Add(d)
	for range 20_000 {
		r.passes()
		next := r.clock.Now().Add(r.Step(r.t.Context()))
		r.passes()
		if next.After(end) {
			r.clock.SetTime(end)
			return
		}
		r.clock.SetTime(next)
	}
	r.t.Fatal("the workers do not come to rest")
}

// runUntil is run until that is so.
func (r *rig) runUntil(so func() bool) {
	r.t.Helper()
	for range 20_000 {
		if so() {
			return
		}
		r.passes()
		r.clock.Step(r.Step(r.t.Context()))
	}
	r.t.Fatal("it never comes to that")
}

func (r *rig) wantZone(lines ...string) {
	r.t.Helper()
	if d := cmp.Diff(lines, r.provider.state(zoneID)); d != "" {
		r.t.Errorf("zone (-want +got):\n%s", d)
	}
}

func (r *rig) wantLedger(o *object, lines ...string) {
	r.t.Helper()
	var got []string
	for _, e := range o.Ledger {
		got = append(got, fmt.Sprintf("%s %s %s", e.Type, e.Name, e.State))
	}
	if d := cmp.Diff(lines, got); d != "" {
		r.t.Errorf("ledger of %s (-want +got):\n%s", o.Owner.Name, d)
	}
}

// phase is how a record of the object stands.
func (r *rig) phase(o *object, record dns.Record) dns.Standing {
	r.t.Helper()
	r.pass(o)
	return o.view.Of(record)
}

func (r *rig) wantPhase(o *object, record dns.Record, want dns.Phase) dns.Standing {
	r.t.Helper()
	got := r.phase(o, record)
	if got.Phase != want {
		r.t.Errorf("%s of %s is %s (%v), want %s", record.Name, o.Owner.Name, got.Phase, got.Err, want)
	}
	return got
}

// cost counts the calls that do makes.
func (r *rig) cost(do func()) map[string]int {
	r.provider.mu.Lock()
	before := len(r.provider.calls)
	r.provider.mu.Unlock()
	do()
	out := map[string]int{}
	for _, c := range r.provider.calls[before:] {
		out[c]++
	}
	return out
}
