package cloudflare_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"

	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/cloudflare"
)

// ask puts a question over a network and shows the answer as text.
func ask(t *testing.T, network, server, name string, kind uint16) []string {
	t.Helper()
	answer, _, err := (&dns.Client{Net: network}).ExchangeContext(t.Context(), new(dns.Msg).SetQuestion(dns.Fqdn(name), kind), server)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{dns.RcodeToString[answer.Rcode]}
	if answer.Authoritative {
		out[0] += " authoritative"
	}
	for _, r := range answer.Answer {
		out = append(out, dns.TypeToString[r.Header().Rrtype]+" "+strings.TrimPrefix(r.String(), r.Header().String()))
	}
	return out
}

func TestNameServers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, r := range []sim.Record{
		{Name: zoneName, Type: "CNAME", Content: "d.cloudfront.net", TTL: 60},
		{Name: zoneName, Type: "TXT", Content: `"a;b" "c"`, TTL: 60},
		{Name: "a." + zoneName, Type: "CNAME", Content: "d.cloudfront.net", TTL: 1},
		{Name: "*.w." + zoneName, Type: "CNAME", Content: "d.cloudfront.net", TTL: 60},
		{Name: "b.c.w." + zoneName, Type: "A", Content: "192.0.2.1", TTL: 60},
		{Name: "p." + zoneName, Type: "A", Content: "192.0.2.1", TTL: 1, Proxied: true},
		{Name: "sub." + zoneName, Type: "NS", Content: "ns.example.net", TTL: 60},
	} {
		w.PutRecord(w.zone.ID, r)
	}
	server, err := w.StartDNS(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	for name, tt := range map[string]struct {
		name string
		kind uint16
		want []string
	}{
		"a CNAME":                           {"A." + zoneName, dns.TypeCNAME, []string{"NOERROR authoritative", "CNAME d.cloudfront.net."}},
		"an address behind a CNAME":         {"a." + zoneName, dns.TypeA, []string{"NOERROR authoritative", "CNAME d.cloudfront.net."}},
		"the apex is flattened":             {zoneName, dns.TypeA, []string{"NOERROR authoritative", "A " + sim.FlattenedA}},
		"over IPv6 as well":                 {zoneName, dns.TypeAAAA, []string{"NOERROR authoritative", "AAAA " + sim.FlattenedAAAA}},
		"and shows no CNAME":                {zoneName, dns.TypeCNAME, []string{"NOERROR authoritative"}},
		"but the text next to it":           {zoneName, dns.TypeTXT, []string{"NOERROR authoritative", `TXT "a;b" "c"`}},
		"the name servers":                  {zoneName, dns.TypeNS, []string{"NOERROR authoritative", "NS ada.ns.cloudflare.com.", "NS bob.ns.cloudflare.com."}},
		"the start of the zone":             {zoneName, dns.TypeSOA, []string{"NOERROR authoritative", "SOA ada.ns.cloudflare.com. dns.cloudflare.com. 1 10000 2400 604800 1800"}},
		"a wildcard":                        {"x.w." + zoneName, dns.TypeCNAME, []string{"NOERROR authoritative", "CNAME d.cloudfront.net."}},
		"a name between":                    {"c.w." + zoneName, dns.TypeA, []string{"NOERROR authoritative"}},
		"below it the wildcard ends":        {"x.c.w." + zoneName, dns.TypeA, []string{"NXDOMAIN authoritative"}},
		"a name that isn't there":           {"x." + zoneName, dns.TypeA, []string{"NXDOMAIN authoritative"}},
		"a proxied name":                    {"p." + zoneName, dns.TypeA, []string{"NOERROR authoritative", "A " + sim.ProxyA}},
		"a delegated name":                  {"x.sub." + zoneName, dns.TypeA, []string{"NOERROR"}},
		"a zone that is not served":         {"x.example.org", dns.TypeA, []string{"REFUSED"}},
		"a type that the name doesn't have": {"b.c.w." + zoneName, dns.TypeTXT, []string{"NOERROR authoritative"}},
	} {
		for _, network := range []string{"udp", "tcp"} {
			if diff := cmp.Diff(tt.want, ask(t, network, server.Address, tt.name, tt.kind)); diff != "" {
				t.Errorf("%s over %s (-want +got):\n%s", name, network, diff)
			}
		}
	}
	for _, r := range w.Records(w.zone.ID) {
		if r.Type == "SOA" || r.Type == "NS" && r.Name == zoneName {
			t.Errorf("the API shows %+v", r)
		}
	}
}

func TestNameServersAreLate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *sim.Options) { o.VisibleAfter = 10 * time.Second })
	server, err := w.StartDNS(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	r, err := w.create(t.Context(), cname("a"))
	if err != nil {
		t.Fatal(err)
	}
	look := func(after time.Duration, want int) {
		t.Helper()
		w.clock.SetTime(w.clock.Now().Add(after))
		if got := ask(t, "udp", server.Address, "a."+zoneName, dns.TypeCNAME); len(got)-1 != want {
			t.Errorf("%d records, want %d", len(got)-1, want)
		}
	}
	look(0, 0)
	look(9*time.Second, 0)
	look(time.Second, 1)
	w.RemoveRecord(w.zone.ID, r.ID)
	look(9*time.Second, 1)
	look(time.Second, 0)
}
