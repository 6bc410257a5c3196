package rfc2136_test

import (
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/rfc2136"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/nameserver"
)

func (w world) expectSync(t *testing.T, want bool, sent dns.Sent) {
	t.Helper()
	if done, err := w.InSync(t.Context(), w.zone, sent); done != want || err != nil {
		t.Errorf("in sync: %t, error %v, want %t", done, err, want)
	}
}

func TestAChangeIsInSyncOnceTheSecondaryHasIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *rfc2136.Config) { c.Secondaries = []string{shared.secondary.Address()} })
	created := create(w.cname("a", target))
	sent := dns.Sent{ID: w.change(t, created...), Changes: created}
	w.expectSync(t, false, sent)
	w.expectSync(t, false, dns.Sent{ID: "unknown", Changes: created})
	must(t, shared.secondary.Refresh(t.Context(), w.zone))
	w.expectSync(t, true, sent)
	w.expectSync(t, true, dns.Sent{ID: "unknown", Changes: created})
	w.add(t, "other.@ 60 IN A 192.0.2.1")
	w.expectSync(t, true, sent) // a later change is none of its
	deleted := remove(w.cname("a", target))
	sent = dns.Sent{ID: w.change(t, deleted...), Changes: deleted}
	w.expectSync(t, false, sent)
	must(t, shared.secondary.Refresh(t.Context(), w.zone))
	w.expectSync(t, true, sent)
}

// A name below a wildcard looks the same after the deletion of a record that leads to the same place.
func TestADeletionBelowAWildcardIsInSync(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.change(t, create(w.cname("*", target), w.cname("a", target))...)
	deleted := remove(w.cname("a", target))
	w.expectSync(t, true, dns.Sent{ID: w.change(t, deleted...), Changes: deleted})
}

// The server has the record, and answers with a delegation.
func TestARecordThatIsNotVisibleIsNotInSync(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(t, "deleg.@ 60 IN NS ns.example.net.")
	created := create(w.cname("a.deleg", target))
	done, err := w.InSync(t.Context(), w.zone, dns.Sent{ID: w.change(t, created...), Changes: created})
	if done || !fault.Is(err, fault.Transient) {
		t.Errorf("in sync: %t, error %v; a server that delegates the name has no say", done, err)
	}
}

// Serial numbers begin again after the highest.
func TestSerialNumbersGoRound(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *rfc2136.Config) { c.Secondaries = []string{shared.secondary.Address()} })
	for id, want := range map[string]bool{"1": true, "4294967295": true, "2147483650": true, "2147483648": false, "1000": false} {
		w.expectSync(t, want, dns.Sent{ID: id}) // that of the zone is 1
	}
}

func TestAZoneThatIsGoneIsNotInSync(t *testing.T) {
	t.Parallel()
	w := play(t, script{})
	_, err := w.InSync(t.Context(), w.zone, dns.Sent{ID: "unknown"})
	expectKind(t, err, fault.Denied, "not the primary")
}

func TestASecondaryThatDoesNotTell(t *testing.T) {
	t.Parallel()
	server, err := nameserver.Start(t.Context(), nameserver.Options{Zones: []nameserver.Zone{{Name: "example.com"}}})
	must(t, err)
	t.Cleanup(func() { _ = server.Close() })
	w := newWorld(t, func(c *rfc2136.Config) { c.Secondaries = []string{server.Address()} })
	created := create(w.cname("a", target))
	sent := dns.Sent{ID: w.change(t, created...), Changes: created}
	_, err = w.InSync(t.Context(), w.zone, sent)
	expectKind(t, err, fault.Denied, "SOA: REFUSED: the secondary "+server.Address()+" does not serve the zone "+w.zone)
	must(t, server.Stop())
	_, err = w.InSync(t.Context(), w.zone, sent)
	expectKind(t, err, fault.Transient, "the secondary "+server.Address()+" did not respond")
}
