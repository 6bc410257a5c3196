package dnssuite

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
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

// run lets workers and objects work for that long, with the clock jumping from one step to the next.
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

// until lets workers and objects work until something is so, for a day at most.
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
