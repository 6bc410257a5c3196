package rfc2136_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/rfc2136"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/nameserver"
)

// wired leads the client through a wire that can fail.
func wired(t *testing.T) (world, *nameserver.Wire) {
	t.Helper()
	w := newWorld(t)
	wire, err := w.server.Wire(t.Context())
	must(t, err)
	d, err := rfc2136.New(config(t, w.zone, func(c *rfc2136.Config) { c.Server = wire.Address() }))
	must(t, err)
	w.dns, w.Zones = d, d.As(dns.Access{})
	return w, wire
}

func TestTheZonesAreThoseOfTheAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *rfc2136.Config) { c.Zones = append(c.Zones, "Missing.Example.", c.Zones[0]+".") })
	want := []dns.Zone{{ID: "missing.example", Name: "missing.example"}, {ID: w.zone, Name: w.zone}}
	got, next, err := w.ListZones(t.Context(), "")
	if diff := cmp.Diff(want, got); diff != "" || next != "" || err != nil {
		t.Errorf("next %q, error %v, zones (-want +got):\n%s", next, err, diff)
	}
	one, err := w.GetZone(t.Context(), w.zone)
	if diff := cmp.Diff(want[1], one); diff != "" || err != nil {
		t.Errorf("error %v, zone (-want +got):\n%s", err, diff)
	}
	_, err = w.GetZone(t.Context(), "other.example")
	expectKind(t, err, fault.NotFound, "dns.accounts")
	_, err = w.GetZone(t.Context(), "missing.example")
	expectKind(t, err, fault.Denied, "have it serve the zone") // BIND says no more than REFUSED
	_, _, err = w.ListRecords(t.Context(), "missing.example", "")
	expectKind(t, err, fault.Denied, "not the primary")
	_, err = w.Change(t.Context(), "missing.example", create(dns.RecordSet{
		Key: dns.Key{Name: "a.missing.example", Type: dns.CNAME}, TTL: 300, Values: []string{target},
	}))
	expectKind(t, err, fault.Denied, "not the primary")
}

func TestAListingHasWhatMarksTheZone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(t, "below.deleg.@ 60 IN A 192.0.2.1", "deleg.@ 60 IN NS ns.example.net.")
	page, _, err := w.ListRecords(t.Context(), w.zone, "")
	must(t, err)
	var got []string
	for _, s := range page {
		got = append(got, fmt.Sprintf("%s %s %t", s.Name, s.Type, s.Routed))
	}
	want := []string{"below." + w.name("deleg") + " A false", w.name("deleg") + " NS false", w.name("ns1") + " A false", w.zone + " NS false", w.zone + " SOA true"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sets (-want +got):\n%s", diff)
	}
}

// A question for a name would be answered with what a wildcard or a delegation says.
func TestANameHasWhatTheZoneHasForIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(t, "*.@ 60 IN CNAME x.example.net.", "deleg.@ 60 IN NS ns.example.net.", "below.deleg.@ 60 IN A 192.0.2.1", "both.@ 60 IN A 192.0.2.1", "both.@ 60 IN MX 1 x.example.net.")
	for label, want := range map[string][]dns.RecordSet{
		"covered":     nil,
		"*":           {w.set("*", "CNAME", 60, "x.example.net")},
		"below.deleg": {w.set("below.deleg", "A", 60, "192.0.2.1")},
		"both":        {w.set("both", "A", 60, "192.0.2.1"), w.set("both", "MX", 60, "1 x.example.net.")},
	} {
		got, err := w.ReadName(t.Context(), w.zone, w.name(label))
		must(t, err)
		if len(got) != len(want) || len(want) > 0 && !cmp.Equal(want, got) {
			t.Errorf("%s (-want +got):\n%s", label, cmp.Diff(want, got))
		}
	}
}

// A transfer of several messages is cut off at each of a hundred places: it is an error, and never a shorter list.
func TestATransferThatIsCutOff(t *testing.T) {
	t.Parallel()
	w, wire := wired(t)
	var lines []string
	for i := range 2000 {
		lines = append(lines, fmt.Sprintf("customer-%04d.@ 60 IN TXT %q", i, "a text that takes some room, number "+fmt.Sprint(i)))
	}
	w.add(t, lines...)
	whole := w.list(t)
	if len(whole) != 2000 {
		t.Fatalf("%d sets, want 2000", len(whole))
	}
	size := 2000 * 50 // at least
	for i := range 100 {
		wire.CutAfter(1 + i*size/100)
		page, _, err := w.ListRecords(t.Context(), w.zone, "")
		expectKind(t, err, fault.Transient, "did not respond")
		if page != nil {
			t.Fatalf("cut after %d of 100 parts, %d sets", i, len(page))
		}
	}
	wire.CutAfter(size / 2)
	_, err := w.ReadName(t.Context(), w.zone, w.name("customer-0001"))
	expectKind(t, err, fault.Transient)
	wire.Heal()
	if got := w.list(t); len(got) != 2000 {
		t.Errorf("%d sets, want 2000", len(got))
	}
}

func TestLostAnswers(t *testing.T) {
	t.Parallel()
	w, wire := wired(t)
	a := w.cname("a", target)
	wire.LoseRequests(1)
	_, err := w.Change(t.Context(), w.zone, create(a))
	expectKind(t, err, fault.Transient, "did not respond")
	w.holds(t)
	wire.LoseAnswers(1)
	_, err = w.Change(t.Context(), w.zone, create(a))
	expectKind(t, err, fault.Transient, "did not respond")
	read, err := w.ReadName(t.Context(), w.zone, a.Name)
	if diff := cmp.Diff([]dns.RecordSet{a}, read); diff != "" || err != nil {
		t.Errorf("error %v, sets (-want +got):\n%s", err, diff)
	}
	_, err = w.Change(t.Context(), w.zone, create(a))
	expectKind(t, err, fault.Exists)
	wire.Deafen()
	_, err = w.Change(t.Context(), w.zone, remove(a))
	expectKind(t, err, fault.Transient)
	wire.Heal()
	w.change(t, remove(a)...)
	w.holds(t)
}

// The question for the serial number comes after the change, and its failure is not that of the change.
func TestAChangeIsKnownWithoutItsSerial(t *testing.T) {
	t.Parallel()
	w, wire := wired(t)
	wire.CutAfter(150) // between the answer to the update and that to the question
	changes := create(w.cname("a", target))
	id, err := w.Change(t.Context(), w.zone, changes)
	must(t, err)
	if id != "unknown" {
		t.Errorf("the id is %q, want unknown", id)
	}
	wire.Heal()
	if done, err := w.InSync(t.Context(), w.zone, dns.Sent{ID: id, Changes: changes}); !done || err != nil {
		t.Errorf("in sync: %t, error %v", done, err)
	}
}

// Nothing accepts the connection, and the context ends first.
func TestAServerThatIsNotThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *rfc2136.Config) { c.Server = "127.0.0.1:1" })
	_, _, err := w.ListRecords(soon(t, time.Minute), w.zone, "")
	expectKind(t, err, fault.Transient, "AXFR: the server did not respond")
}
