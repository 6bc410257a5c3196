package dnsserver

import (
	"net"
	"strings"
	"testing"

	"github.com/miekg/dns"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func refuse(w dns.ResponseWriter, q *dns.Msg) {
	_ = w.WriteMsg(new(dns.Msg).SetRcode(q, dns.RcodeRefused))
}

func TestAnswersOverBothProtocols(t *testing.T) {
	server, err := Start(t.Context(), "127.0.0.1:0", dns.HandlerFunc(refuse))
	if err != nil {
		t.Fatal(err)
	}
	for _, network := range []string{"udp", "tcp"} {
		question := new(dns.Msg).SetQuestion("a.example.", dns.TypeA)
		answer, _, err := (&dns.Client{Net: network}).ExchangeContext(t.Context(), question, server.Address)
		if err != nil || answer.Rcode != dns.RcodeRefused {
			t.Errorf("over %s: %v, %v", network, answer, err)
		}
	}
	if err := server.Stop(); err != nil {
		t.Error(err)
	}
}

// TestOnePortForBothProtocols has the port that was asked for, or that the system picked for UDP, be taken for TCP.
func TestOnePortForBothProtocols(t *testing.T) {
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	if _, err := Start(t.Context(), taken.Addr().String(), dns.HandlerFunc(refuse)); err == nil {
		t.Fatal("a port that is taken for TCP is served")
	}
	if packets, err := new(net.ListenConfig).ListenPacket(t.Context(), "udp", taken.Addr().String()); err != nil {
		t.Errorf("a start that failed leaves its socket open: %v", err)
	} else if err := packets.Close(); err != nil {
		t.Error(err)
	}
	if _, err := Start(t.Context(), "256.0.0.1:1", dns.HandlerFunc(refuse)); err == nil || !strings.Contains(err.Error(), "256.0.0.1") {
		t.Errorf("an address that does not exist: %v", err)
	}
}
