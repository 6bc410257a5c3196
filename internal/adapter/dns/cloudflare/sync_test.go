package cloudflare_test

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/cloudflare"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/cloudflare"
)

// A change is in effect once the name servers show it.
func TestNameServersAreAsked(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		before  []dns.RecordSet
		changes []dns.Change
	}{
		"a CNAME":              {nil, create(cname("a"))},
		"a wildcard":           {nil, create(cname("*.a"))},
		"a text":               {nil, create(set("_cf-challenge.a", dns.TXT, target))},
		"the apex":             {nil, create(cname(""), set("_cf-challenge", dns.TXT, target))},
		"a deletion":           {[]dns.RecordSet{cname("a")}, remove(cname("a"))},
		"the apex, deleted":    {[]dns.RecordSet{cname("")}, remove(cname(""))},
		"an address, replaced": {[]dns.RecordSet{set("a", dns.A, "192.0.2.1")}, append(remove(set("a", dns.A, "192.0.2.1")), create(cname("a"))...)},
		"several":              {[]dns.RecordSet{cname("a")}, append(remove(cname("a")), create(cname("b"), cname("c"))...)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(o *sim.Options, _ *cloudflare.Config) { o.VisibleAfter = 10 * time.Second })
			if tt.before != nil {
				w.change(t, create(tt.before...)...)
				w.pass(time.Hour)
			}
			sent := dns.Sent{ID: w.change(t, tt.changes...), Changes: tt.changes}
			for _, want := range []bool{false, true} {
				if got, err := w.InSync(t.Context(), w.zone.ID, sent); got != want || err != nil {
					t.Errorf("in sync %v, %v, want %v", got, err, want)
				}
				w.pass(10 * time.Second)
			}
		})
	}
}

// Of several changes all have to be in effect, not only the first.
func TestEachChangeIsAskedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	changes := create(cname("a"), cname("b"), cname("c"))
	sent := dns.Sent{ID: w.change(t, changes...), Changes: changes}
	w.RemoveRecord(w.zone.ID, w.Records(w.zone.ID)[2].ID)
	if got, err := w.InSync(t.Context(), w.zone.ID, sent); got || err != nil {
		t.Errorf("in sync %v, %v", got, err)
	}
}

// A name server that shows the old record counts, however long ago the change was.
func TestALateNameServerIsWaitedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *sim.Options, _ *cloudflare.Config) { o.VisibleAfter = time.Hour })
	sent := dns.Sent{ID: w.change(t, create(cname("a"))...), Changes: create(cname("a"))}
	w.pass(59 * time.Minute)
	if got, err := w.InSync(t.Context(), w.zone.ID, sent); got || err != nil {
		t.Errorf("in sync %v, %v", got, err)
	}
}

// Where no name server can be reached, the API's word counts after a minute.
func TestSilentNameServers(t *testing.T) {
	t.Parallel()
	closed, err := new(net.ListenConfig).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := closed.LocalAddr().String()
	_ = closed.Close()
	w := newWorld(t, func(_ *sim.Options, c *cloudflare.Config) { c.NameServers = []string{address} })
	sent := dns.Sent{ID: w.change(t, create(cname("a"))...), Changes: create(cname("a"))}
	if got, err := w.InSync(t.Context(), w.zone.ID, sent); got || !fault.Is(err, fault.Transient) {
		t.Errorf("in sync %v, %v", got, err)
	}
	w.pass(time.Minute)
	if got, err := w.InSync(t.Context(), w.zone.ID, sent); !got || err != nil {
		t.Errorf("after a minute: in sync %v, %v", got, err)
	}
}

// Without a setting those of the zone are asked, at the usual port.
func TestNameServersOfTheZone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(_ *sim.Options, c *cloudflare.Config) { c.NameServers = []string{} })
	z := w.AddZone(sim.Zone{Name: "own.example", NameServers: []string{"ns.invalid."}})
	_, err := w.InSync(t.Context(), z.ID, dns.Sent{ID: "x@" + w.clock.Now().Format(time.RFC3339), Changes: create(cname("a"))})
	wants(t, err, fault.Transient, "ns.invalid:53")
}

func TestNamesOfChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.change(t, create(cname("a"))...)
	record := w.Records(w.zone.ID)[0].ID
	if want := record + "@2026-01-02T03:04:05Z"; first != want {
		t.Errorf("the change is called %q, want %q", first, want)
	}
	if second := w.change(t, remove(cname("a"))...); !strings.HasPrefix(second, record+"@") {
		t.Errorf("the deletion is called %q", second)
	}
}
