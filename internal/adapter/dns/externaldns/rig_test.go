package externaldns_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/externaldns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/zone"
)

const target, otherTarget = "d111.cloudfront.net", "d222.cloudfront.net"

// rig is a world with the workers over the adapter, and tenants that pass as the controller has them pass.
type rig struct {
	*world

	dns     *externaldns.DNS
	workers *zone.Zones
	tenants []*tenant
	woken   []dns.Owner
}

// tenant is what the API server stores of a tenant with one domain.
type tenant struct {
	dns.Claim
	record dns.Record
	view   dns.View
	// writes is how often its ledger was stored again.
	writes int
}

func (s *servers) rig(t *testing.T, change ...func(*externaldns.Config)) *rig {
	t.Helper()
	w := s.world(t)
	w.interval = 10 * time.Minute // a round takes real time
	r := &rig{world: w, dns: w.adapter(change...)}
	r.restart()
	return r
}

// restart replaces the process: it knows nothing but what tenants have stored.
func (r *rig) restart() {
	r.woken = nil
	r.workers = zone.New(zone.Options{
		Providers: zone.Providers{access.Provider: r.dns}.Always(), Clock: r.clock,
		OnChange: func(o []dns.Owner) { r.woken = append(r.woken, o...) }, Random: func() float64 { return 0.5 },
	})
	for _, o := range r.tenants {
		r.pass(o)
	}
}

func (r *rig) cname(label, to string) dns.Record {
	return dns.Record{Provider: access.Provider, ZoneID: r.zone, Name: label + "." + r.zone, Type: dns.CNAME, Value: to, TTL: 300}
}

// tenant makes one that wants a record.
func (r *rig) tenant(label string) *tenant {
	n := len(r.tenants)
	o := &tenant{record: r.cname(label, target), Claim: dns.Claim{
		Owner:  dns.Owner{Namespace: "web", Name: fmt.Sprintf("tenant-%04d", n), UID: fmt.Sprint(n)},
		Access: access, Since: r.clock.Now(), Correct: true,
	}}
	o.Wants = []dns.Record{o.record}
	r.tenants = append(r.tenants, o)
	r.pass(o)
	return o
}

// want replaces what a tenant wants.
func (r *rig) want(o *tenant, wants ...dns.Record) {
	o.Wants = wants
	o.Version++
	r.pass(o)
}

// pass is one pass of the controller: declare, store, and declare what was stored.
func (r *rig) pass(o *tenant) {
	claim := func() dns.Claim {
		c := o.Claim
		c.Wants, c.Ledger = slices.Clone(c.Wants), slices.Clone(c.Ledger)
		return c
	}
	o.view = r.workers.Declare(claim())
	next := dns.Advance(o.Ledger, o.Wants, o.view, dns.Policy{Takeover: o.Takeover})
	if slices.Equal(next, o.Ledger) {
		return
	}
	o.Version++
	o.writes++
	o.Ledger = next
	o.view = r.workers.Declare(claim())
}

// passes lets the woken tenants pass, and checks that none has let go of what servers show.
func (r *rig) passes() {
	r.t.Helper()
	for range 1000 {
		if len(r.woken) == 0 {
			break
		}
		woken := slices.Clone(r.woken)
		r.woken = nil
		slices.SortFunc(woken, func(a, b dns.Owner) int { return cmp.Compare(a.Name, b.Name) })
		for _, w := range slices.Compact(woken) {
			for _, o := range r.tenants {
				if o.Owner != w {
					continue
				}
				had := len(o.Ledger)
				if r.pass(o); had > 0 && len(o.Ledger) == 0 && r.has(o) && !o.gaveUp() {
					r.t.Errorf("the ledger let %s go, and servers show it", o.record.Name)
				}
			}
		}
	}
}

// has reports whether the zone has the record of a tenant.
func (r *rig) has(o *tenant) bool {
	return slices.ContainsFunc(r.hand.Sets(r.zone), func(s dns.RecordSet) bool { return s.Is(o.record) })
}

// gaveUp reports whether a tenant has found that its record is another's.
func (o *tenant) gaveUp() bool { return len(o.Wants) > 0 }

// run lets workers and tenants work for that long, with the clock jumping from one step to the next.
func (r *rig) run(d time.Duration) {
	r.t.Helper()
	end := r.clock.Now().Add(d)
	for range 20_000 {
		r.passes()
		wait := r.workers.Step(r.t.Context())
		r.passes()
		if wait > 0 {
			r.settle()
		}
		next := r.clock.Now().Add(wait)
		if next.After(end) {
			r.clock.SetTime(end)
			return
		}
		r.clock.SetTime(next)
	}
	r.t.Fatal("the workers do not come to rest")
}

// shows are the values that servers show for the record of a tenant.
func (r *rig) shows(o *tenant) []string {
	return r.hand.Answers(strings.Replace(o.record.Name, "*", "any", 1), dns.CNAME)
}

// state is that of the only entry of a ledger, empty for none.
func (o *tenant) state() dns.State {
	if len(o.Ledger) == 0 {
		return ""
	}
	return o.Ledger[0].State
}

// standing is how the record of a tenant stands.
func (r *rig) standing(o *tenant) dns.Standing {
	r.pass(o)
	return o.view.Of(o.record)
}

// object is the DNSEndpoint of a name, nil for none.
func (w *world) object(name string) *unstructured.Unstructured {
	w.t.Helper()
	for _, o := range w.endpoints() {
		if o.GetName() == externaldns.ObjectName(name) {
			return &o
		}
	}
	return nil
}

// edit changes the DNSEndpoint of a name by hand.
func (w *world) edit(name string, change func(o *unstructured.Unstructured)) {
	w.t.Helper()
	o := w.object(name)
	if o == nil {
		w.t.Fatalf("there is no DNSEndpoint for %s", name)
	}
	change(o)
	must(w.t, admin.Update(w.t.Context(), o))
}

// putEndpoint makes a DNSEndpoint as a user would.
func (w *world) putEndpoint(o *unstructured.Unstructured, name string) {
	w.t.Helper()
	o.SetGroupVersionKind(endpointKind)
	o.SetNamespace(w.namespace)
	o.SetName(name)
	must(w.t, admin.Create(w.t.Context(), o))
}

func (w *world) deleteEndpoint(name string) {
	w.t.Helper()
	must(w.t, client.IgnoreNotFound(admin.Delete(w.t.Context(), w.object(name))))
}

// setEndpoints replaces the endpoints of an object, each a name, a TTL and a target.
func setEndpoints(o *unstructured.Unstructured, all ...any) {
	if o.Object == nil {
		o.Object = map[string]any{}
	}
	if err := unstructured.SetNestedSlice(o.Object, all, "spec", "endpoints"); err != nil {
		panic(err)
	}
}

func entry(name string, ttl int64, to string) any {
	return map[string]any{"dnsName": name, "recordType": "CNAME", "recordTTL": ttl, "targets": []any{to}}
}

func annotate(o *unstructured.Unstructured, key, value string) {
	a := o.GetAnnotations()
	if key = "cloudfront-tenant-operator.io/" + key; value == "" {
		delete(a, key)
	} else {
		a[key] = value
	}
	o.SetAnnotations(a)
}

func unlabel(o *unstructured.Unstructured, key string) {
	l := o.GetLabels()
	delete(l, key)
	o.SetLabels(l)
}

// records are what the zone has, but for its own name and ExternalDNS's notes.
func (w *world) records() (out []string) {
	w.t.Helper()
	for _, s := range w.hand.Sets(w.zone) {
		if s.Name != w.zone && !isNote(s) {
			out = append(out, s.Name+" "+s.String())
		}
	}
	slices.Sort(out)
	return out
}

func equalJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}
