// What only this package shows: that the server is a real one, that its helpers change and read what they name, and that a
// secondary and a wire fail as they are told to.
package nameserver_test

import (
	"net"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
	"go.uber.org/goleak"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/nameserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const zone = "example.com"

func start(t *testing.T, o nameserver.Options) *nameserver.Server {
	t.Helper()
	s, err := nameserver.Start(t.Context(), o)
	must(t, err)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func expect(t *testing.T, s *nameserver.Server, want ...string) {
	t.Helper()
	want = append([]string{"example.com 300 NS ns1.example.com.", "ns1.example.com 300 A 127.0.0.1"}, want...)
	slices.Sort(want)
	got, err := s.Records(t.Context(), zone)
	must(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

func TestAZoneIsChangedByHandAndOutlivesARestart(t *testing.T) {
	for _, software := range []nameserver.Software{nameserver.BIND, nameserver.Knot, nameserver.PowerDNS} {
		t.Run(software.String(), func(t *testing.T) { isChangedByHandAndOutlivesARestart(t, software) })
	}
}

func isChangedByHandAndOutlivesARestart(t *testing.T, software nameserver.Software) {
	t.Helper()
	s := start(t, nameserver.Options{Software: software, Zones: []nameserver.Zone{{Name: zone}, {Name: "example.org"}}})
	expect(t, s)
	must(t, s.AddByHand(t.Context(), zone, "www.example.com. 60 IN A 192.0.2.1", "www.example.com. 60 IN A 192.0.2.2"))
	must(t, s.DeleteByHand(t.Context(), zone, "www.example.com. IN A 192.0.2.1"))
	expect(t, s, "www.example.com 60 A 192.0.2.2")
	must(t, s.Stop())
	if _, _, err := s.Query(t.Context(), zone, "SOA"); err == nil {
		t.Error("a server that is stopped responds")
	}
	must(t, s.Start(t.Context()))
	expect(t, s, "www.example.com 60 A 192.0.2.2")
	code, values, err := s.Query(t.Context(), "www.example.com", "A")
	if diff := cmp.Diff([]string{"192.0.2.2"}, values); diff != "" || code != "NOERROR" || err != nil {
		t.Errorf("got %s, error %v, values (-want +got):\n%s", code, err, diff)
	}
}

func TestASecondaryHasAZoneAsOfItsLastRefresh(t *testing.T) {
	s := start(t, nameserver.Options{Zones: []nameserver.Zone{{Name: zone}}})
	second, err := s.StartSecondary(t.Context())
	must(t, err)
	must(t, s.AddByHand(t.Context(), zone, "www.example.com. 60 IN A 192.0.2.1"))
	expect(t, second)
	must(t, second.Refresh(t.Context(), zone))
	expect(t, second, "www.example.com 60 A 192.0.2.1")
}

func TestAWireLosesWhatItIsToldTo(t *testing.T) {
	s := start(t, nameserver.Options{Zones: []nameserver.Zone{{Name: zone, Policy: "grant operator-key zonesub ANY;"}}})
	w, err := s.Wire(t.Context())
	must(t, err)
	update := func(line string) error {
		m := new(dns.Msg).SetUpdate("example.com.")
		rr, err := dns.NewRR(line)
		must(t, err)
		m.Insert([]dns.RR{rr})
		k := s.Key()
		m.SetTsig(k.Name+".", k.Algorithm+".", 300, time.Now().Unix())
		client := &dns.Client{Net: "tcp", TsigSecret: map[string]string{k.Name + ".": k.Secret}}
		_, _, err = client.Exchange(m, w.Address())
		return err
	}
	w.LoseRequests(1)
	if update("a.example.com. 60 IN A 192.0.2.1") == nil {
		t.Error("an answer to a request that was lost")
	}
	expect(t, s)
	w.LoseAnswers(1)
	if update("b.example.com. 60 IN A 192.0.2.1") == nil {
		t.Error("an answer that was lost")
	}
	expect(t, s, "b.example.com 60 A 192.0.2.1") // the answer was there before it was lost
	w.CutAfter(20)
	if update("b.example.com. 60 IN A 192.0.2.1") == nil {
		t.Error("a whole answer of 20 bytes")
	}
	w.Heal()
	must(t, update("c.example.com. 60 IN A 192.0.2.1"))
	expect(t, s, "b.example.com 60 A 192.0.2.1", "c.example.com 60 A 192.0.2.1")
	question := new(dns.Msg).SetQuestion("c.example.com.", dns.TypeA)
	if answer, err := dns.Exchange(question, w.Address()); err != nil || len(answer.Answer) != 1 {
		t.Errorf("over UDP: got %v, error %v", answer, err)
	}
	w.Deafen()
	if update("d.example.com. 60 IN A 192.0.2.1") == nil {
		t.Error("an answer although nothing passes")
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	s := start(t, nameserver.Options{Zones: []nameserver.Zone{{Name: zone}}})
	must(t, s.Close())
	if conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.Address()); err == nil {
		_ = conn.Close()
		t.Error("a server still listens")
	}
	if err := s.Start(t.Context()); err == nil {
		t.Error("a closed server starts")
	}
}
