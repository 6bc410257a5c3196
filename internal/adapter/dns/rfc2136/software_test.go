package rfc2136_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/rfc2136"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/nameserver"
)

// A name that changes from one record to another is never left empty, whatever the software, and whether it signs the zone
// or not.
func TestANameIsNeverLeftEmpty(t *testing.T) {
	t.Parallel()
	for _, software := range []nameserver.Software{nameserver.BIND, nameserver.Knot, nameserver.PowerDNS} {
		t.Run(software.String(), func(t *testing.T) {
			t.Parallel()
			server := startOf(t, software, nameserver.Zone{Name: "plain.example"}, nameserver.Zone{Name: signedZone, Signed: true})
			for _, zone := range []string{"plain.example", signedZone} {
				t.Run(zone, func(t *testing.T) { neverEmpty(t, worldAt(t, server, zone)) })
			}
		})
	}
}

func startOf(t *testing.T, software nameserver.Software, zones ...nameserver.Zone) *nameserver.Server {
	t.Helper()
	server, err := nameserver.Start(t.Context(), nameserver.Options{Software: software, Zones: zones})
	must(t, err)
	t.Cleanup(func() { must(t, server.Close()) })
	return server
}

// worldAt is a zone of a server of the test's own.
func worldAt(t *testing.T, server *nameserver.Server, zone string, change ...func(*rfc2136.Config)) world {
	t.Helper()
	key := server.Key()
	w := newWorldOf(t, zone, append([]func(*rfc2136.Config){func(c *rfc2136.Config) {
		c.Server, c.TSIG = server.Address(), rfc2136.TSIG{Name: key.Name, Algorithm: key.Algorithm, Secret: func() string { return key.Secret }}
	}}, change...)...)
	w.server = server
	return w
}

func neverEmpty(t *testing.T, w world) {
	t.Helper()
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

// The message says what is wrong in the words of each server.
func TestWhatIsDenied(t *testing.T) {
	t.Parallel()
	const (
		apex    = "the zone's own name"
		secret  = "a wrong secret"
		unknown = "a key that is not known"
		other   = "a key of another algorithm"
		closed  = "a zone that may not be transferred"
	)
	for software, says := range map[nameserver.Software]map[string]string{
		nameserver.BIND: {
			apex: "REFUSED: the server refuses the change: allow", secret: "BADSIG", unknown: "BADKEY", other: "BADKEY",
			closed: "REFUSED: the server refuses to transfer the zone",
		},
		nameserver.Knot: {
			apex: "BADKEY: the server does not know the account's TSIG key, or does not let it change this name or type", secret: "BADSIG",
			unknown: "BADKEY", other: "BADKEY",
			closed: "BADKEY: the server does not know the account's TSIG key, or does not let it transfer the zone",
		},
		nameserver.PowerDNS: {
			secret: "REFUSED: the server refuses the change without a signature", unknown: "REFUSED: the server refuses the change without a signature",
			other: "REFUSED: the server refuses the change without a signature", closed: "NOTAUTH: ",
		},
	} {
		t.Run(software.String(), func(t *testing.T) {
			t.Parallel()
			server := startOf(t, software, nameserver.Zone{Name: "plain.example"}, nameserver.Zone{Name: closedZone, ClosedToTransfers: true})
			w := worldAt(t, server, "plain.example")
			text := create(dns.RecordSet{Key: dns.Key{Name: w.zone, Type: dns.TXT}, TTL: 60, Values: []string{"x"}})
			if _, err := w.Change(t.Context(), w.zone, text); says[apex] != "" {
				expectKind(t, err, fault.Denied, "UPDATE: "+says[apex])
			} else if err != nil {
				t.Errorf("%s has no policy, and refuses: %v", software, err)
			}
			_, _, err := worldAt(t, server, closedZone).ListRecords(t.Context(), closedZone, "")
			expectKind(t, err, fault.Denied, "AXFR: "+says[closed])
			for name, change := range map[string]func(*rfc2136.Config){
				secret:  func(c *rfc2136.Config) { c.TSIG.Secret = func() string { return "d3Jvbmc=" } },
				unknown: func(c *rfc2136.Config) { c.TSIG.Name = "other-key" },
				other:   func(c *rfc2136.Config) { c.TSIG.Algorithm = "hmac-sha512" },
			} {
				w := worldAt(t, server, "plain.example", change)
				_, err := w.Change(t.Context(), w.zone, create(w.cname("a", target)))
				expectKind(t, err, fault.Denied, "UPDATE: "+says[name])
				_, err = w.GetZone(t.Context(), w.zone)
				expectKind(t, err, fault.Denied, "TSIG")
			}
		})
	}
}

// The metadata of the docs has PowerDNS tell a secondary of a change at once, which it would notice after a minute.
func TestPowerDNSNotifiesSecondaries(t *testing.T) {
	t.Parallel()
	server := startOf(t, nameserver.PowerDNS, nameserver.Zone{Name: "example.com"})
	secondary, err := server.StartSecondary(t.Context())
	must(t, err)
	page, err := os.ReadFile("../../../../docs/dns/powerdns.md")
	must(t, err)
	notify := regexp.MustCompile(`(?m)^pdnsutil set-meta .* NOTIFY-DNSUPDATE .*$`).FindString(string(page))
	must(t, server.Command(t.Context(), strings.Fields(notify)))
	must(t, server.Command(t.Context(), []string{"pdnsutil", "set-meta", "example.com", "ALSO-NOTIFY", secondary.Address()}))
	must(t, server.Stop()) // it remembers metadata for a minute
	must(t, server.Start(t.Context()))
	w := worldAt(t, server, "example.com", func(c *rfc2136.Config) { c.Secondaries = []string{secondary.Address()} })
	sent := dns.Sent{Changes: create(w.cname("a", target))}
	sent.ID = w.change(t, sent.Changes...)
	ctx := soon(t, 30*time.Second)
	for range time.Tick(100 * time.Millisecond) { // nothing tells a test of it
		done, err := w.InSync(ctx, w.zone, sent)
		must(t, err)
		if done {
			return
		}
	}
}
