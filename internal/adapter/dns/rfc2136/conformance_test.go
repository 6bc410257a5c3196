package rfc2136_test

import (
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	wire "github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/calls"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/rfc2136"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/bind"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/dnssuite"
)

// A primary with a secondary does what every provider has to do.
func TestConformance(t *testing.T) {
	const rows = 80
	zones := []bind.Zone{{Name: otherZone}}
	for n := range rows {
		zones = append(zones, bind.Zone{Name: fmt.Sprintf("c%02d.example", n)})
	}
	primary, err := bind.Start(t.Context(), bind.Options{Zones: zones})
	must(t, err)
	t.Cleanup(func() { must(t, primary.Close()) })
	secondary, err := primary.StartSecondary(t.Context())
	must(t, err)
	empty, err := bind.Start(t.Context(), bind.Options{})
	must(t, err)
	t.Cleanup(func() { must(t, empty.Close()) })
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
	primary, secondary, empty *bind.Server
	zone                      string
	key                       bind.Key
	wire                      *bind.Wire
	front                     *front
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
	s.front = newFront(t, s.wire.Address())
	s.registry = prometheus.NewRegistry()
	metrics, err := calls.NewMetrics(s.registry)
	must(t, err)
	moves := clocktesting.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	access := dns.Access{Provider: dns.Provider{Service: dns.RFC2136, Account: "main"}}
	d, err := rfc2136.New(rfc2136.Config{
		Server: s.front.address(), Secondaries: []string{s.secondary.Address()}, Zones: []string{s.zone, otherZone}, ClusterID: clusterID,
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
		Put: s.put, Remove: s.remove, Sets: s.sets, IsNote: isNote, Owner: s.owner,
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
	for _, set := range s.sets(zone) {
		if set.Key == (dns.Key{Name: "_cloudfront-tenant-operator-owner." + k.Name, Type: dns.TXT}) {
			return set.Values[0]
		}
	}
	return ""
}

// lines are those of a zone file that has the set.
func lines(set dns.RecordSet) (out []string) {
	for _, v := range set.Values {
		switch set.Type {
		case dns.CNAME, "NS", "MX":
			v += "."
		case dns.TXT:
			var parts []string
			for part := range slices.Chunk([]byte(v), 255) {
				parts = append(parts, `"`+strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(string(part))+`"`)
			}
			v = strings.Join(parts, " ")
		}
		out = append(out, fmt.Sprintf("%s. %d IN %s %s", set.Name, set.TTL, set.Type, v))
	}
	return out
}

func (s *stranger) put(zone string, set dns.RecordSet) {
	s.t.Helper()
	s.remove(zone, set.Key)
	must(s.t, s.primary.AddByHand(s.t.Context(), zone, lines(set)...))
	s.settle()
}

func (s *stranger) remove(zone string, k dns.Key) {
	s.t.Helper()
	for _, set := range s.sets(zone) {
		if set.Key == k {
			must(s.t, s.primary.DeleteByHand(s.t.Context(), zone, lines(set)...))
		}
	}
	s.settle()
}

func (s *stranger) sets(zone string) (out []dns.RecordSet) {
	s.t.Helper()
	records, err := s.primary.Records(s.t.Context(), zone)
	must(s.t, err)
	for _, line := range records {
		fields := strings.SplitN(line, " ", 4)
		ttl, err := strconv.ParseInt(fields[1], 10, 64)
		must(s.t, err)
		k := dns.Key{Name: fields[0], Type: fields[2]}
		i := slices.IndexFunc(out, func(o dns.RecordSet) bool { return o.Key == k })
		if i < 0 {
			i = len(out)
			out = append(out, dns.RecordSet{Key: k, TTL: ttl})
		}
		out[i].Values = append(out[i].Values, plain(k.Type, fields[3]))
	}
	return out
}

// plain is a value without dots at its end, quotes and escapes.
func plain(kind, value string) string {
	switch kind {
	case dns.CNAME, "NS", "MX":
		return strings.TrimSuffix(value, ".")
	case dns.TXT:
		value = strings.TrimSuffix(strings.TrimPrefix(value, `"`), `"`)
		return strings.NewReplacer(`\\`, `\`, `\"`, `"`, `" "`, ``).Replace(value)
	}
	return value
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

// dropZone has another server in the place of the primary, which is configured alike but for the zone.
func (s *stranger) dropZone() {
	s.key = s.empty.Key()
	s.front.lead(s.empty.Address())
}

func (s *stranger) settle() {
	s.t.Helper()
	if !s.stalled {
		must(s.t, s.secondary.Refresh(s.t.Context(), s.zone))
	}
}

func (s *stranger) answers(name, kind string) (out []string) {
	s.t.Helper()
	_, values, err := s.secondary.Query(s.t.Context(), name, kind)
	must(s.t, err)
	for _, v := range values {
		out = append(out, plain(kind, v))
	}
	return out
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

// front is an address behind which servers can be exchanged.
type front struct {
	tcp net.Listener
	udp net.PacketConn

	mu sync.Mutex
	to string
}

func newFront(t *testing.T, to string) *front {
	t.Helper()
	f := &front{to: to}
	config := &net.ListenConfig{}
	var err error
	for range 20 { // the port of one may be in use by the other
		f.tcp, err = config.Listen(t.Context(), "tcp", "127.0.0.1:0")
		must(t, err)
		if f.udp, err = config.ListenPacket(t.Context(), "udp", f.tcp.Addr().String()); err == nil {
			break
		}
		must(t, f.tcp.Close())
	}
	must(t, err)
	var running sync.WaitGroup
	running.Go(func() {
		for {
			c, err := f.tcp.Accept()
			if err != nil {
				return
			}
			running.Go(func() { f.session(c) })
		}
	})
	running.Go(func() {
		question := make([]byte, 65_535)
		for {
			n, client, err := f.udp.ReadFrom(question)
			if err != nil {
				return
			}
			f.datagram(question[:n], client)
		}
	})
	t.Cleanup(func() {
		_ = f.tcp.Close()
		_ = f.udp.Close()
		running.Wait()
	})
	return f
}

func (f *front) address() string { return f.tcp.Addr().String() }

func (f *front) lead(to string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.to = to
}

func (f *front) server() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.to
}

func (f *front) session(client net.Conn) {
	defer func() { _ = client.Close() }()
	server, err := (&net.Dialer{}).Dial("tcp", f.server())
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(server, client)
		_ = server.Close()
	}()
	_, _ = io.Copy(client, server)
	_ = client.Close()
	<-done
}

func (f *front) datagram(question []byte, client net.Addr) {
	m := new(wire.Msg)
	if m.Unpack(question) != nil {
		return
	}
	answer, _, err := (&wire.Client{Net: "udp", Timeout: time.Second}).Exchange(m, f.server())
	if err != nil {
		return
	}
	if packed, err := answer.Pack(); err == nil {
		_, _ = f.udp.WriteTo(packed, client)
	}
}
