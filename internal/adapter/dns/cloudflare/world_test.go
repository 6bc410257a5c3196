// Package cloudflare_test shows what only the wire can: what the adapter sends to Cloudflare, what it makes of the
// answers and of broken connections, and what its name servers show then.
package cloudflare_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/calls"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/cloudflare"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/cloudflare"
)

const (
	zoneName = "test.example"
	target   = "dmain.cloudfront.net"
	token    = "first"
)

var owner = dns.Owner{Namespace: "shop", Name: "one", UID: "u1"}

// world is a simulated Cloudflare behind a real socket, with its name servers and our client.
type world struct {
	*sim.Sim
	port.Zones
	dns    *cloudflare.DNS
	clock  *clocktesting.FakeClock
	zone   sim.Zone
	token  *atomic.Value
	halted *atomic.Pointer[chain.Halt]
	config cloudflare.Config
}

func newWorld(t *testing.T, change ...func(*sim.Options, *cloudflare.Config)) *world {
	t.Helper()
	w := &world{clock: clocktesting.NewFakeClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)), token: &atomic.Value{}, halted: &atomic.Pointer[chain.Halt]{}}
	w.token.Store(token)
	options := sim.Options{Now: w.clock.Now}
	w.config = cloudflare.Config{
		Token: func() string { return w.token.Load().(string) }, ClusterID: "blue", Clock: w.clock,
		Gate: newGate(t, w.clock, 1000, 1000, w.halted.Load),
	}
	for _, c := range change {
		c(&options, &w.config)
	}
	w.Sim = sim.New(options)
	w.AddToken(sim.Token{Value: token, ReadsZones: true, EditsDNS: true})
	w.zone = w.AddZone(sim.Zone{Name: zoneName})
	api := httptest.NewServer(w.Sim)
	t.Cleanup(api.Close)
	w.config.BaseURL, w.config.HTTPClient = api.URL+"/client/v4", api.Client()
	if w.config.NameServers == nil {
		server, err := w.StartDNS(t.Context(), "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = server.Stop() })
		w.config.NameServers = []string{server.Address}
	}
	var err error
	if w.dns, err = cloudflare.New(w.config); err != nil {
		t.Fatal(err)
	}
	w.Zones = w.dns.As(dns.Access{RoleARN: "of no meaning here"})
	return w
}

func newGate(t *testing.T, c clock.PassiveClock, rate float64, burst int, halted func() *chain.Halt) *calls.Gate {
	t.Helper()
	metrics, err := calls.NewMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	return calls.New(calls.Config{
		Provider: dns.Provider{Service: dns.Cloudflare, Account: "main"}, Rate: rate, Burst: burst, Clock: c, Metrics: metrics, Halted: halted,
	})
}

// change makes a change that has to work.
func (w *world) change(t *testing.T, changes ...dns.Change) string {
	t.Helper()
	id, err := w.Change(t.Context(), w.zone.ID, changes)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// list reads the zone, which has to work.
func (w *world) list(t *testing.T) []dns.RecordSet {
	t.Helper()
	sets, next, err := w.ListRecords(t.Context(), w.zone.ID, "")
	if err != nil || next != "" {
		t.Fatal(next, err)
	}
	return sets
}

// contents shows the records of the zone as text.
func (w *world) contents() (out []string) {
	for _, r := range w.Records(w.zone.ID) {
		out = append(out, fmt.Sprintf("%s %s %s %d", strings.TrimSuffix(r.Name, "."+zoneName), r.Type, r.Content, r.TTL))
	}
	return out
}

func (w *world) pass(d time.Duration) { w.clock.SetTime(w.clock.Now().Add(d)) }

// in is a name in the zone.
func in(name string) string {
	if name == "" {
		return zoneName
	}
	return name + "." + zoneName
}

func set(name, kind string, values ...string) dns.RecordSet {
	return dns.RecordSet{Key: dns.Key{Name: in(name), Type: kind}, TTL: 300, Values: values}
}

func cname(name string) dns.RecordSet { return set(name, dns.CNAME, target) }

func create(sets ...dns.RecordSet) (changes []dns.Change) {
	for _, s := range sets {
		changes = append(changes, dns.Change{Action: dns.Create, Set: s, Owner: owner})
	}
	return changes
}

func remove(sets ...dns.RecordSet) (changes []dns.Change) {
	for _, s := range sets {
		changes = append(changes, dns.Change{Action: dns.Delete, Set: s, Owner: owner})
	}
	return changes
}

// put writes a record as another client may have.
func (w *world) put(r sim.Record) sim.Record { return w.PutRecord(w.zone.ID, r) }

// wants checks what an error means.
func wants(t *testing.T, err error, kind fault.Kind, says ...string) {
	t.Helper()
	if fault.KindOf(err) != kind {
		t.Errorf("error %v is %v, want %v", err, fault.KindOf(err), kind)
	}
	for _, text := range says {
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("error %v does not say %q", err, text)
		}
	}
	if err != nil && !fault.Classified(err) {
		t.Errorf("error %v is not classified", err)
	}
}
