package rfc2136_test

import (
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/rfc2136"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/dnsserver"
)

// A name that changes from one record to another is never left empty, whatever the software, and whether it signs the zone
// or not.
func TestANameIsNeverLeftEmpty(t *testing.T) {
	t.Parallel()
	for _, software := range []dnsserver.Software{dnsserver.BIND, dnsserver.Knot, dnsserver.PowerDNS} {
		t.Run(software.String(), func(t *testing.T) {
			t.Parallel()
			server, err := dnsserver.Start(t.Context(), dnsserver.Options{Software: software, Zones: []dnsserver.Zone{
				{Name: "plain.example"}, {Name: signedZone, Signed: true},
			}})
			must(t, err)
			t.Cleanup(func() { must(t, server.Close()) })
			for _, zone := range []string{"plain.example", signedZone} {
				t.Run(zone, func(t *testing.T) { neverEmpty(t, worldAt(t, server, zone)) })
			}
		})
	}
}

// worldAt is a zone of a server of the test's own.
func worldAt(t *testing.T, server *dnsserver.Server, zone string) world {
	t.Helper()
	w := newWorldOf(t, zone, func(c *rfc2136.Config) {
		key := server.Key()
		c.Server, c.TSIG = server.Address(), rfc2136.TSIG{Name: key.Name, Algorithm: key.Algorithm, Secret: func() string { return key.Secret }}
	})
	w.server = server
	return w
}

func neverEmpty(t *testing.T, w world) {
	ours, longer := w.cname("a", target), w.cname("a", target)
	longer.TTL = 600
	addresses := []dns.RecordSet{w.set("a", "A", 60, "192.0.2.1", "192.0.2.2"), w.set("a", "AAAA", 60, "2001:db8::1")}
	before := []dns.RecordSet(nil)
	for _, next := range [][]dns.RecordSet{
		addresses, {ours}, addresses, {w.cname("a", "other.example.net")}, {ours}, {longer}, {ours}, nil,
	} {
		changes := append(remove(before...), create(next...)...)
		w.expectSync(t, true, dns.Sent{ID: w.change(t, changes...), Changes: changes})
		read, err := w.ReadName(t.Context(), w.zone, w.name("a"))
		must(t, err)
		if len(read) != len(next) {
			t.Fatalf("the name has %v, want %v", read, next)
		}
		for i, s := range read {
			if s.String() != next[i].String() {
				t.Errorf("the name has %s, want %s", s, next[i])
			}
		}
		before = next
	}
}
