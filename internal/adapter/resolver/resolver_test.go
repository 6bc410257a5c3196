package resolver_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/miekg/dns"
	"go.uber.org/goleak"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/resolver"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/dnsserver"
)

func TestMain(m *testing.M) {
	code := m.Run()
	var leaked error
	// A question to a server that does not answer ends with its timeout, which is longer than one look takes.
	for range 10 {
		if leaked = goleak.Find(); leaked == nil {
			break
		}
	}
	if leaked != nil && code == 0 {
		fmt.Fprintln(os.Stderr, leaked)
		code = 1
	}
	os.Exit(code)
}

const target = "dmain.cloudfront.net"

// serve starts a DNS server on UDP and TCP and returns where it listens.
func serve(t *testing.T, handle dns.HandlerFunc) string {
	t.Helper()
	server, err := dnsserver.Start(t.Context(), "127.0.0.1:0", handle)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Errorf("the DNS server: %v", err)
		}
	})
	return server.Address
}

// zone is a server that knows these records and follows CNAMEs in one answer, or leaves that to the client.
func zone(t *testing.T, chases bool, records ...string) dns.HandlerFunc {
	t.Helper()
	var all []dns.RR
	for _, r := range records {
		rr, err := dns.NewRR(r)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, rr)
	}
	return func(w dns.ResponseWriter, q *dns.Msg) {
		m := new(dns.Msg).SetReply(q)
		m.Rcode = dns.RcodeNameError
		name := q.Question[0].Name
		for hops := 0; name != "" && hops < 20; hops++ {
			next := ""
			for _, rr := range all {
				if !strings.EqualFold(rr.Header().Name, name) {
					continue
				}
				m.Rcode = dns.RcodeSuccess
				if c, ok := rr.(*dns.CNAME); ok || rr.Header().Rrtype == q.Question[0].Qtype {
					m.Answer = append(m.Answer, rr)
					if ok && chases {
						next = c.Target
					}
				}
			}
			if name = next; name != "" {
				m.Rcode = dns.RcodeNameError
			}
		}
		answer(w, m)
	}
}

func answer(w dns.ResponseWriter, m *dns.Msg) {
	// There is no one left to tell: the client may be gone.
	_ = w.WriteMsg(m)
}

func failing(code int) dns.HandlerFunc {
	return func(w dns.ResponseWriter, q *dns.Msg) { answer(w, new(dns.Msg).SetRcode(q, code)) }
}

func TestLeads(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		records []string
		want    bool
	}{
		"a CNAME to the target, which has no address here": {[]string{"shop.example.com. CNAME dmain.cloudfront.net."}, true},
		"a CNAME to the target, which has one":             {[]string{"shop.example.com. CNAME dmain.cloudfront.net.", target + ". A 192.0.2.1"}, true},
		"the case does not matter":                         {[]string{"SHOP.example.com. CNAME DMain.CloudFront.net."}, true},
		"a chain of CNAMEs": {[]string{
			"shop.example.com. CNAME a.example.net.", "a.example.net. CNAME b.example.net.", "b.example.net. CNAME dmain.cloudfront.net.",
		}, true},
		"a CNAME to another distribution":        {[]string{"shop.example.com. CNAME dother.cloudfront.net.", "dother.cloudfront.net. A 192.0.2.1"}, false},
		"no such name":                           {nil, false},
		"a name without an address":              {[]string{`shop.example.com. TXT "hello"`}, false},
		"an address without a challenge":         {[]string{"shop.example.com. A 192.0.2.1"}, false},
		"an alias with its challenge":            {[]string{"shop.example.com. A 192.0.2.1", `_cf-challenge.shop.example.com. TXT "dmain.cloudfront.net"`}, true},
		"a challenge among other texts":          {[]string{"shop.example.com. A 192.0.2.1", `_cf-challenge.shop.example.com. TXT "hello"`, `_cf-challenge.shop.example.com. TXT "dmain." "cloudfront.net."`}, true},
		"a challenge for another distribution":   {[]string{"shop.example.com. A 192.0.2.1", `_cf-challenge.shop.example.com. TXT "dother.cloudfront.net"`}, false},
		"a challenge without an address":         {[]string{`_cf-challenge.shop.example.com. TXT "dmain.cloudfront.net"`}, false},
		"a CNAME to an alias with the challenge": {[]string{"shop.example.com. CNAME in.example.net.", "in.example.net. A 192.0.2.1", `_cf-challenge.in.example.net. TXT "dmain.cloudfront.net"`}, true},
		"a circle":                               {[]string{"shop.example.com. CNAME a.example.net.", "a.example.net. CNAME b.example.net.", "b.example.net. CNAME a.example.net."}, false},
		"a circle of one":                        {[]string{"shop.example.com. CNAME shop.example.com."}, false},
	} {
		for how, chases := range map[string]bool{"by a resolver": true, "by a server of zones": false} {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				r := newResolver(t, serve(t, zone(t, chases, tt.records...)))
				got, err := r.Leads(t.Context(), "Shop.example.com.", target)
				if err != nil || got != tt.want {
					t.Errorf("leads: %t, error %v, want %t", got, err, tt.want)
				}
			})
		}
	}
}

func newResolver(t *testing.T, servers ...string) *resolver.Resolver {
	t.Helper()
	r, err := resolver.New(servers)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestServersHaveToAgree(t *testing.T) {
	t.Parallel()
	has := zone(t, true, "shop.example.com. CNAME dmain.cloudfront.net.")
	there, too := serve(t, has), serve(t, has)
	absent := serve(t, zone(t, true))
	broken, refusing := serve(t, failing(dns.RcodeServerFailure)), serve(t, failing(dns.RcodeRefused))
	for name, tt := range map[string]struct {
		servers []string
		want    bool
		fails   bool
	}{
		"all have it":                        {[]string{there, too}, true, false},
		"one has not heard of it yet":        {[]string{there, absent}, false, false},
		"one that fails has no say":          {[]string{there, broken, refusing}, true, false},
		"nor does it make up an answer":      {[]string{absent, broken}, false, false},
		"with none that answers it is known": {[]string{broken, refusing}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := newResolver(t, tt.servers...).Leads(t.Context(), "shop.example.com", target)
			if got != tt.want || (err != nil) != tt.fails {
				t.Errorf("leads: %t, error %v", got, err)
			}
			if tt.fails && (!fault.Is(err, fault.Transient) || !strings.Contains(err.Error(), tt.servers[0])) {
				t.Errorf("error %v, want a transient one that names the servers", err)
			}
		})
	}
}

func TestACallThatIsGivenUpEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	r := newResolver(t, serve(t, func(dns.ResponseWriter, *dns.Msg) { cancel() }))
	if got, err := r.Leads(ctx, "shop.example.com", target); got || !fault.Is(err, fault.Transient) {
		t.Errorf("leads: %t, error %v", got, err)
	}
}

func TestServersThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, servers := range map[string][]string{
		"none":            nil,
		"no port":         {"1.1.1.1"},
		"an empty port":   {"1.1.1.1:"},
		"a port by name":  {"1.1.1.1:domain"},
		"port zero":       {"1.1.1.1:0"},
		"no host":         {":53"},
		"a bare address":  {"2606:4700:4700::1111"},
		"a second is bad": {"1.1.1.1:53", "x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := resolver.New(servers)
			if err == nil || !strings.Contains(err.Error(), "for example 1.1.1.1:53") {
				t.Errorf("error %v, want one that says how to write it", err)
			}
		})
	}
	// One server that is named twice must not pass for two that agree.
	if _, err := resolver.New([]string{"1.1.1.1:53", "8.8.8.8:53", "1.1.1.1:53"}); err == nil || !strings.Contains(err.Error(), `"1.1.1.1:53": it is named twice`) {
		t.Errorf("error %v for a server that is named twice", err)
	}
	newResolver(t, "1.1.1.1:53", "[2606:4700:4700::1111]:53", "dns.example.com:5353")
}
