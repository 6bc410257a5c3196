package rfc2136_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/calls"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/rfc2136"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/dnssuite"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/nameserver"
)

// A primary with a secondary does what every provider has to do, whatever its software, and whether it signs its zones or not.
func TestConformance(t *testing.T) {
	for _, software := range []nameserver.Software{nameserver.BIND, nameserver.Knot, nameserver.PowerDNS} {
		for _, signed := range []bool{false, true} {
			name := software.String()
			if signed {
				name += " with signed zones"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				conforms(t, software, signed)
			})
		}
	}
}

func conforms(t *testing.T, software nameserver.Software, signed bool) {
	t.Helper()
	const rows = 60
	zones := []nameserver.Zone{{Name: otherZone, Signed: signed}}
	for n := range rows {
		zones = append(zones, nameserver.Zone{Name: fmt.Sprintf("c%02d.example", n), Signed: signed})
	}
	start := func(o nameserver.Options) *nameserver.Server {
		server, err := nameserver.Start(t.Context(), o)
		must(t, err)
		t.Cleanup(func() { must(t, server.Close()) })
		return server
	}
	primary, empty := start(nameserver.Options{Software: software, Zones: zones}), start(nameserver.Options{Software: software})
	secondary, err := primary.StartSecondary(t.Context())
	must(t, err)
	next := 0
	dnssuite.Run(t, func(t *testing.T) *dnssuite.Subject {
		t.Helper()
		next++
		s := &stranger{t: t, primary: primary, secondary: secondary, empty: empty, zone: zones[next].Name, key: primary.Key()}
		return s.subject()
	})
}

const otherZone = "other.example"

// stranger is the world past the operator: a primary and its secondary, and a server that has no zones.
type stranger struct {
	t                         *testing.T
	primary, secondary, empty *nameserver.Server
	zone                      string
	key                       nameserver.Key
	hand                      dnssuite.Server
	wire                      *nameserver.Wire
	front                     *nameserver.Front
	registry                  *prometheus.Registry
	stalled                   bool
}

func (s *stranger) subject() *dnssuite.Subject {
	t := s.t
	t.Helper()
	var err error
	s.wire, err = s.primary.Wire(t.Context())
	must(t, err)
	t.Cleanup(func() { _ = s.wire.Close() })
	s.hand = dnssuite.Server{TB: t, Server: s.primary}
	s.front = nameserver.NewFront(t, s.wire.Address())
	s.registry = prometheus.NewRegistry()
	metrics, err := calls.NewMetrics(s.registry)
	must(t, err)
	moves := clocktesting.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	access := dns.Access{Provider: dns.Provider{Service: dns.RFC2136, Account: "main"}}
	d, err := rfc2136.New(rfc2136.Config{
		Server: s.front.Address(), Secondaries: []string{s.secondary.Address()}, Zones: []string{s.zone, otherZone}, ClusterID: clusterID,
		// The server has the time of day, and takes no signature of another.
		Clock: clock.RealClock{},
		TSIG:  rfc2136.TSIG{Name: s.key.Name, Algorithm: s.key.Algorithm, Secret: func() string { return s.key.Secret }},
		Gate:  calls.New(calls.Config{Provider: access.Provider, Rate: 1000, Burst: 1000, Clock: moves, Metrics: metrics}),
	})
	must(t, err)
	// A server keeps the address of a name server that is in the zone, and the suite's zones have nothing in them.
	must(t, s.primary.AddByHand(t.Context(), s.zone, s.zone+". 300 IN NS ns.example.net."))
	must(t, s.primary.DeleteByHand(t.Context(), s.zone, s.zone+". 300 IN NS ns1."+s.zone+"."))
	must(t, s.primary.DeleteByHand(t.Context(), s.zone, "ns1."+s.zone+". 300 IN A 127.0.0.1"))
	s.settle()
	return &dnssuite.Subject{
		DNS: d, Access: access, Clock: moves,
		Zone: dns.Zone{ID: s.zone, Name: s.zone}, Other: dns.Zone{ID: otherZone, Name: otherZone},
		Put: s.put, Remove: s.remove, Sets: s.hand.Sets, IsNote: isNote, Owner: s.owner,
		Lose: s.lose, Deny: s.deny, DropZone: s.dropZone, Stall: func(stalled bool) { s.stalled = stalled }, Settle: s.settle,
		Answers: s.answers, Calls: s.calls,
		Poison: strings.Repeat("l", 64) + "." + s.zone,
		Odd:    []string{`dot\.inside`, `back\\slash`, "exclam!"},
		Can: dnssuite.Can{
			Batch: 100, Atomic: true,
			NoAlias: "the DNS provider rfc2136 has no alias records for a." + s.zone + ": use Auto or CNAME",
			NoApex: s.zone + " is the apex of its zone, and the DNS provider rfc2136 can't lead an apex to CloudFront: use a name below it such as www." +
				s.zone + ", or host the zone at a provider that can, for example route53 or cloudflare",
			NoGone:     "a server that does not have a zone says the same as one that is not its primary",
			NoTwin:     "a server has one zone of a name, and an account has one server",
			NoTTL:      "a prerequisite of RFC 2136 compares the values of a set, and not its TTL",
			NoThrottle: "a name server has no answer that asks for a slower pace",
		},
	}
}

func isNote(s dns.RecordSet) bool {
	return s.Type == dns.TXT && strings.HasPrefix(s.Name, "_cloudfront-tenant-operator-owner")
}

// owner is the text of the note on a name.
func (s *stranger) owner(zone string, k dns.Key) string {
	for _, set := range s.hand.Sets(zone) {
		if set.Key == (dns.Key{Name: "_cloudfront-tenant-operator-owner." + k.Name, Type: dns.TXT}) {
			return set.Values[0]
		}
	}
	return ""
}

func (s *stranger) put(zone string, set dns.RecordSet) {
	s.t.Helper()
	s.hand.Put(zone, set)
	s.settle()
}

func (s *stranger) remove(zone string, k dns.Key) {
	s.t.Helper()
	s.hand.Remove(zone, k)
	s.settle()
}

func (s *stranger) lose(after bool) {
	if after {
		s.wire.LoseAnswers(1)
		return
	}
	s.wire.LoseRequests(1)
}

// deny has the account use another key than the server's.
func (s *stranger) deny(denied bool) {
	s.key = s.primary.Key()
	if denied {
		s.key.Secret = s.empty.Key().Secret
	}
}

// dropZone replaces the primary by a server with the same configuration except for the zone.
func (s *stranger) dropZone() {
	s.key = s.empty.Key()
	s.front.Lead(s.empty.Address())
}

func (s *stranger) settle() {
	s.t.Helper()
	if !s.stalled {
		must(s.t, s.secondary.Refresh(s.t.Context(), s.zone))
	}
}

func (s *stranger) answers(name, kind string) []string {
	s.t.Helper()
	return dnssuite.Server{TB: s.t, Server: s.secondary}.Answers(name, kind)
}

// calls are counted where they leave the adapter.
func (s *stranger) calls() (mutating, all int) {
	s.t.Helper()
	families, err := s.registry.Gather()
	must(s.t, err)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			n := int(m.GetCounter().GetValue())
			for _, l := range m.GetLabel() {
				if l.GetName() == "operation" {
					all += n
					if l.GetValue() == "UPDATE" {
						mutating += n
					}
				}
			}
		}
	}
	return mutating, all
}
