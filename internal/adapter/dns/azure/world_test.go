// Package azure_test shows what the adapter makes of Azure DNS: the real SDK and the real credentials speak to a simulator
// at the wire.
package azure_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/azure"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/calls"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/azuredns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/dnsserver"
)

const (
	group     = "DNS-Group"
	zoneName  = "test.example"
	zoneID    = "dns-group/" + zoneName
	target    = "dmain.cloudfront.net"
	client    = "33333333-3333-3333-3333-333333333333"
	secret    = "right"
	clusterID = "test-cluster"
	// visibleAfter is how long a change takes to the simulated servers.
	visibleAfter = 5 * time.Second
)

var subscriptionScope = "/subscriptions/" + sim.DefaultSubscription

// world is a simulated Azure with our adapter.
type world struct {
	*sim.Sim
	port.Zones
	dns   *azure.DNS
	clock *clocktesting.FakeClock
	// servers is where the name servers of the zones listen.
	servers string
}

// settings are what a test can change of a world.
type settings struct {
	sim    sim.Options
	config azure.Config
}

func newWorld(t *testing.T, change ...func(*settings)) *world {
	t.Helper()
	clk := clocktesting.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	set := settings{
		sim: sim.Options{
			Clock: clk, VisibleAfter: visibleAfter,
			// The SDK has the real clock, and must not think that it has a token that the other clock has ended.
			TokenLifetime: 10 * 365 * 24 * time.Hour,
			Principals:    []sim.Principal{{ClientID: client, Secret: secret, Grants: []sim.Grant{{Role: sim.DNSZoneContributor, Scope: subscriptionScope}}}},
			Zones:         []sim.Zone{{ResourceGroup: group, Name: zoneName}},
		},
		config: azure.Config{
			SubscriptionID: sim.DefaultSubscription, ClusterID: clusterID, Clock: clk, Gate: newGate(t, clk, 1000),
			Credential: azure.Credential{
				Kind: azure.ClientSecret, TenantID: sim.DefaultTenant, ClientID: client, Secret: func() string { return secret },
			},
		},
	}
	for _, c := range change {
		c(&set)
	}
	w := &world{Sim: sim.New(set.sim), clock: clk}
	server, err := dnsserver.Start(t.Context(), "127.0.0.1:0", w.DNSHandler())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	w.servers = server.Address
	if set.config.NameServers == nil {
		set.config.NameServers = []string{server.Address}
	}
	if set.config.HTTPClient == nil {
		set.config.HTTPClient = &http.Client{Transport: w.Transport()}
	}
	if w.dns, err = azure.New(set.config); err != nil {
		t.Fatal(err)
	}
	w.Zones = w.dns.As(dns.Access{})
	return w
}

func newGate(t *testing.T, clk clock.PassiveClock, burst int) *calls.Gate {
	t.Helper()
	metrics, err := calls.NewMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	return calls.New(calls.Config{
		Provider: dns.Provider{Service: dns.Azure, Account: "main"}, Rate: 100, Burst: burst, Clock: clk, Metrics: metrics,
	})
}

// change makes a change that has to work.
func (w *world) change(t *testing.T, changes ...dns.Change) string {
	t.Helper()
	id, err := w.Change(t.Context(), zoneID, changes)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// name reads what a name has, which has to work.
func (w *world) name(t *testing.T, labels string) []dns.RecordSet {
	t.Helper()
	sets, err := w.ReadName(t.Context(), zoneID, labels+"."+zoneName)
	if err != nil {
		t.Fatal(err)
	}
	return sets
}

// record is what Azure has for a name and type.
func (w *world) record(name, kind string) (sim.Record, bool) {
	for _, r := range w.Records(group, zoneName) {
		if r.Name == name && r.Type == kind {
			return r, true
		}
	}
	return sim.Record{}, false
}

func set(labels, kind string, values ...string) dns.RecordSet {
	return dns.RecordSet{Key: dns.Key{Name: labels + "." + zoneName, Type: kind}, TTL: 300, Values: values}
}

func cname(labels string) dns.RecordSet { return set(labels, dns.CNAME, target) }

var owner = dns.Owner{Namespace: "web", Name: "shop", UID: "1"}

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
