package dns_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
)

// of is a set that others have in a zone.
func of(kind, name, value string) dns.RecordSet {
	return dns.RecordSet{Key: dns.Key{Name: name, Type: kind}, TTL: 300, Values: []string{value}}
}

// A name that the zone delegates away is not published in it, and the message says where it is delegated.
func TestWhatIsDelegatedIsNotPublished(t *testing.T) {
	own := []dns.RecordSet{of("SOA", apex, "ns.example.com. host.example.com. 1 2 3 4 5"), of("NS", apex, "ns.example.com.")}
	const name = "a.shop.example.com"
	for what, tc := range map[string]struct {
		others []dns.RecordSet
		// at is where the name is delegated; empty: it is not.
		at string
	}{
		"the zone's own servers":                           {nil, ""},
		"a delegation above":                               {[]dns.RecordSet{of("NS", "shop.example.com", "ns.other.test.")}, "shop.example.com"},
		"a delegation of the name":                         {[]dns.RecordSet{of("NS", name, "ns.other.test.")}, name},
		"one within another, which resolvers never get to": {[]dns.RecordSet{of("NS", name, "ns.third.test."), of("NS", "shop.example.com", "ns.other.test.")}, "shop.example.com"},
		"a delegation of a neighbour":                      {[]dns.RecordSet{of("NS", "b.shop.example.com", "ns.other.test."), of("NS", "op.example.com", "ns.other.test.")}, ""},
		"a delegation below":                               {[]dns.RecordSet{of("NS", "x."+name, "ns.other.test.")}, ""},
	} {
		t.Run(what, func(t *testing.T) {
			zone := memory{}
			for _, s := range append(own, tc.others...) {
				zone[s.Key] = s
			}
			w := newWorker(zone)
			a := alias(name, dns.A, target)
			c := dns.Claim{Owner: owner(1), Wants: []dns.Record{a}, Ledger: []dns.Entry{entry(a, dns.Intended)}, Takeover: true, Correct: true}
			w.declare(c)
			for range 20 {
				w.step()
			}
			got := standingOf(w, c)
			if got.Delegated != tc.at || (tc.at != "") != (got.Phase == dns.Blocked && got.Fixed) {
				t.Errorf("it stands %+v, want it delegated at %q", got, tc.at)
			}
			if sent := len(w.sent) > 0; sent == (tc.at != "") {
				t.Errorf("sent: %v", w.sent)
			}
		})
	}
}

// A delegation that comes or goes above a name concerns the name.
func TestADelegationComesAndGoes(t *testing.T) {
	const name = "a.shop.example.com"
	cut := of("NS", "shop.example.com", "ns.other.test.")
	zone := memory{cut.Key: cut}
	for _, s := range []dns.RecordSet{of("SOA", apex, "ns.example.com. host.example.com. 1 2 3 4 5")} {
		zone[s.Key] = s
	}
	w := newWorker(zone)
	a := cname(name, target)
	c := dns.Claim{Owner: owner(1), Wants: []dns.Record{a}}
	w.declare(c)
	next := func(phase dns.Phase) {
		t.Helper()
		w.woken = nil
		for start := w.now; w.now.Sub(start) < time.Hour && len(w.woken) == 0; {
			w.step()
		}
		if d := cmp.Diff([]dns.Owner{owner(1)}, w.woken); d != "" {
			t.Errorf("woken (-want +got):\n%s", d)
		}
		if got := w.declare(c).Of(a); got.Phase != phase {
			t.Errorf("%+v, want %s", got, phase)
		}
	}
	next(dns.Blocked)
	delete(zone, cut.Key)
	next(dns.Absent)
	zone[cut.Key] = cut
	next(dns.Blocked)
}

// A published record that is then delegated away does not count as there. It is still ours, and can be deleted.
func TestWhatIsDelegatedLaterIsNotThere(t *testing.T) {
	const name = "a.shop.example.com"
	a, aaaa := alias(name, dns.A, target), alias(name, dns.AAAA, target)
	cut := of("NS", "shop.example.com", "ns.other.test.")
	zone := memory{}
	for _, s := range []dns.RecordSet{of("SOA", apex, "ns.example.com. host.example.com. 1 2 3 4 5"), a.Set(), aaaa.Set()} {
		zone[s.Key] = s
	}
	w := newWorker(zone)
	c := dns.Claim{Owner: owner(1), Wants: []dns.Record{a, aaaa}, Ledger: []dns.Entry{entry(a, dns.Published), entry(aaaa, dns.Published)}, Correct: true}
	pass := func() {
		t.Helper()
		c.Version++
		c.Ledger = dns.Advance(c.Ledger, c.Wants, w.declare(c), dns.Policy{})
		w.declare(c)
	}
	stands := func(r dns.Record, want dns.Standing) {
		t.Helper()
		if d := cmp.Diff(want, w.declare(c).Of(r)); d != "" {
			t.Errorf("the %s stands (-want +got):\n%s", r.Type, d)
		}
	}
	hours := func() {
		t.Helper()
		for start := w.now; w.now.Sub(start) < time.Hour; {
			w.step()
			pass()
		}
	}
	hours()
	stands(a, dns.Standing{Phase: dns.There})

	zone[cut.Key] = cut
	hours()
	delegated := dns.Standing{Phase: dns.Blocked, Found: cut.String(), Fixed: true, Delegated: cut.Name}
	stands(a, delegated)
	stands(aaaa, delegated)
	if d := cmp.Diff([]dns.Entry{entry(a, dns.Published), entry(aaaa, dns.Published)}, c.Ledger); d != "" || len(w.sent) > 0 {
		t.Errorf("sent %v, the ledger (-want +got):\n%s", w.sent, d)
	}

	c.Wants = []dns.Record{a}
	pass()
	for zone[aaaa.Key()].Type != "" {
		call := w.begin()
		stands(a, delegated) // also while a change of its name is underway
		if call != nil {
			w.apply(w.perform(call))
		}
		pass()
	}
	c.Wants = nil
	hours()
	if _, left := zone[a.Key()]; left || len(c.Ledger) > 0 {
		t.Errorf("left behind: %v, %v", zone, c.Ledger)
	}
}
