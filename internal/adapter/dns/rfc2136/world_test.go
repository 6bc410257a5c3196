// What only this package shows: what is sent to a real BIND, how its answers are read, and what is concluded when they are
// lost, cut off, refused or not signed.
package rfc2136_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"
	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/calls"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/rfc2136"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/nameserver"
)

const (
	target    = "dmain.cloudfront.net"
	clusterID = "test-cluster"

	strictZone = "strict.example"
	closedZone = "closed.example"
	signedZone = "signed.example"
)

var owner = dns.Owner{Namespace: "shop", Name: "web", UID: "1"}

// note is the note of that object.
const note = `"cloudfront-tenant-operator cluster=test-cluster object=shop/web"`

// shared is the server of all tests, with more zones than there are tests, and its secondary.
var shared struct {
	sync.Once
	*nameserver.Server
	secondary *nameserver.Server
	err       error
	mu        sync.Mutex
	zones     []string
}

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.Server != nil {
		if err := shared.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func startShared() {
	zones := []nameserver.Zone{
		{Name: strictZone, Policy: "deny operator-key name locked.strict.example.; grant operator-key wildcard *.strict.example. CNAME TXT;"},
		{Name: closedZone, ClosedToTransfers: true},
		{Name: signedZone, Signed: true},
	}
	for i := range 80 {
		name := fmt.Sprintf("z%02d.example", i)
		zones = append(zones, nameserver.Zone{Name: name})
		shared.zones = append(shared.zones, name)
	}
	if shared.Server, shared.err = nameserver.Start(context.Background(), nameserver.Options{Zones: zones}); shared.err == nil {
		shared.secondary, shared.err = shared.StartSecondary(context.Background())
	}
}

// world is a zone of a real server, with the client for it.
type world struct {
	port.Zones
	dns    *rfc2136.DNS
	server *nameserver.Server
	zone   string
}

func newWorld(t *testing.T, change ...func(*rfc2136.Config)) world {
	t.Helper()
	return newWorldOf(t, "", change...)
}

// newWorldOf takes a zone of its own where none is named.
func newWorldOf(t *testing.T, zone string, change ...func(*rfc2136.Config)) world {
	t.Helper()
	shared.Do(startShared)
	must(t, shared.err)
	if zone == "" {
		shared.mu.Lock()
		zone, shared.zones = shared.zones[0], shared.zones[1:]
		shared.mu.Unlock()
	}
	d, err := rfc2136.New(config(t, zone, change...))
	must(t, err)
	return world{Zones: d.As(dns.Access{}), dns: d, server: shared.Server, zone: zone}
}

func config(t *testing.T, zone string, change ...func(*rfc2136.Config)) rfc2136.Config {
	t.Helper()
	metrics, err := calls.NewMetrics(prometheus.NewRegistry())
	must(t, err)
	key := shared.Key()
	c := rfc2136.Config{
		Server: shared.Address(), Zones: []string{zone}, ClusterID: clusterID, Clock: clock.RealClock{},
		TSIG: rfc2136.TSIG{Name: key.Name, Algorithm: key.Algorithm, Secret: func() string { return key.Secret }},
		Gate: calls.New(calls.Config{
			Provider: dns.Provider{Service: dns.RFC2136, Account: "main"}, Rate: 1000, Burst: 1000, Clock: clock.RealClock{}, Metrics: metrics,
		}),
	}
	for _, f := range change {
		f(&c)
	}
	return c
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// name is a full name in the zone.
func (w world) name(label string) string { return label + "." + w.zone }

func (w world) cname(label, to string) dns.RecordSet {
	return dns.RecordSet{Key: dns.Key{Name: w.name(label), Type: dns.CNAME}, TTL: 300, Values: []string{to}}
}

func (w world) set(label, kind string, ttl int64, values ...string) dns.RecordSet {
	return dns.RecordSet{Key: dns.Key{Name: w.name(label), Type: kind}, TTL: ttl, Values: values}
}

func create(sets ...dns.RecordSet) (out []dns.Change) {
	for _, s := range sets {
		out = append(out, dns.Change{Action: dns.Create, Set: s, Owner: owner})
	}
	return out
}

func remove(sets ...dns.RecordSet) (out []dns.Change) {
	for _, s := range sets {
		out = append(out, dns.Change{Action: dns.Delete, Set: s, Owner: owner})
	}
	return out
}

func (w world) change(t *testing.T, changes ...dns.Change) string {
	t.Helper()
	id, err := w.Change(t.Context(), w.zone, changes)
	for tries := 0; fault.Is(err, fault.Transient) && tries < 20; tries++ {
		// PowerDNS fails while another change holds its database.
		id, err = w.Change(t.Context(), w.zone, changes)
	}
	must(t, err)
	return id
}

// add adds records by hand. In lines, @ is the zone.
func (w world) add(t *testing.T, lines ...string) {
	t.Helper()
	must(t, w.server.AddByHand(t.Context(), w.zone, w.lines(lines)...))
}

func (w world) lines(lines []string) (out []string) {
	for _, l := range lines {
		out = append(out, strings.ReplaceAll(l, "@", w.zone+"."))
	}
	return out
}

// holds compares what the server has with lines of a zone file in which @ is the zone, but for what every zone has.
func (w world) holds(t *testing.T, want ...string) {
	t.Helper()
	got, err := w.server.Records(t.Context(), w.zone)
	must(t, err)
	got = slices.DeleteFunc(got, func(line string) bool {
		return strings.HasPrefix(line, w.zone+" 300 NS ") || strings.HasPrefix(line, "ns1."+w.zone)
	})
	for i, l := range got {
		got[i] = strings.ReplaceAll(l, w.zone, "@")
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

// list returns the sets of the zone, but for what every zone has.
func (w world) list(t *testing.T) []dns.RecordSet {
	t.Helper()
	page, next, err := w.ListRecords(t.Context(), w.zone, "")
	must(t, err)
	if next != "" {
		t.Errorf("there is another page: %q", next)
	}
	return slices.DeleteFunc(page, func(s dns.RecordSet) bool { return s.Name == w.zone || s.Name == w.name("ns1") })
}

func expectKind(t *testing.T, err error, want fault.Kind, says ...string) {
	t.Helper()
	if !fault.Is(err, want) || !fault.Classified(err) {
		t.Fatalf("error %v is %v, want %v", err, fault.KindOf(err), want)
	}
	for _, text := range says {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("error %q does not say %q", err, text)
		}
	}
}

func soon(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}
