package query_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	wire "github.com/miekg/dns"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/query"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/dnsserver"
)

const name = "a.example.com"

// ask asks a server that answers with a code and records, over UDP only as much as fits if it is told to.
func ask(t *testing.T, code int, truncates, always bool, records ...string) (query.Answer, error) {
	t.Helper()
	s, err := dnsserver.Start(t.Context(), "127.0.0.1:0", wire.HandlerFunc(func(w wire.ResponseWriter, q *wire.Msg) {
		m := new(wire.Msg).SetRcode(q, code)
		m.Authoritative = !q.RecursionDesired
		for _, text := range records {
			r, err := wire.NewRR(text)
			if err != nil {
				t.Error(err)
			}
			m.Answer = append(m.Answer, r)
		}
		if truncates && (always || w.LocalAddr().Network() == "udp") {
			m.Answer, m.Truncated = nil, true
		}
		_ = w.WriteMsg(m)
	}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop() })
	return query.Ask(t.Context(), s.Address, query.Question{Name: name, Kind: wire.TypeA, Recursive: code == wire.RcodeRefused})
}

func TestWhatAnAnswerSays(t *testing.T) {
	t.Parallel()
	for says, tt := range map[string]struct {
		code                 int
		refusal, noAuthority string
	}{
		"success":               {wire.RcodeSuccess, "", ""},
		"there is no such name": {wire.RcodeNameError, "", ""},
		"a failure":             {wire.RcodeServerFailure, "got the response code SERVFAIL", "got the response code SERVFAIL"},
		"a resolver's":          {wire.RcodeRefused, "got the response code REFUSED", "the answer is not that of a name server of the zone"},
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			a, err := ask(t, tt.code, false, false)
			if err != nil {
				t.Fatal(err)
			}
			expect(t, a.Refusal(), tt.refusal)
			expect(t, a.NoAuthority(), tt.noAuthority)
		})
	}
}

// expect wants an error that ends in a text, and none where that is empty.
func expect(t *testing.T, err error, text string) {
	t.Helper()
	if (err == nil) != (text == "") || err != nil && !strings.HasSuffix(err.Error(), text) {
		t.Errorf("got %v, want %q", err, text)
	}
}

func TestALongAnswerIsAskedForAgain(t *testing.T) {
	t.Parallel()
	a, err := ask(t, wire.RcodeSuccess, true, false, name+" 60 A 192.0.2.1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"192.0.2.1"}, a.Values(name, dns.A)); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	_, err = ask(t, wire.RcodeSuccess, true, true)
	expect(t, err, "the response is truncated")
}

func TestValues(t *testing.T) {
	t.Parallel()
	a, err := ask(t, wire.RcodeSuccess, false, false, "A.Example.com. 60 CNAME B.Example.Net.", "b.example.net. 60 A 192.0.2.1",
		`b.example.net. 60 TXT "a\"\195\188" "c"`, "a.example.com. 60 MX 10 MX.example.net.")
	if err != nil {
		t.Fatal(err)
	}
	got := [][]string{a.Values(name, dns.CNAME), a.Values(name, dns.A), a.Values("b.example.net", dns.A), a.Values(name, "MX"), a.Texts()}
	if diff := cmp.Diff([][]string{{"b.example.net"}, nil, {"192.0.2.1"}, {"10 mx.example.net"}, {`a"üc`}}, got); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}
