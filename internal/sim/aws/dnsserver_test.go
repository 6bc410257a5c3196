package aws_test

import (
	"context"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	sdkroute53 "github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/dnsserver"
)

// dnsServer serves a simulator's DNS over UDP and TCP and returns the address.
func dnsServer(t *testing.T, sim *aws.Sim) string {
	t.Helper()
	server, err := dnsserver.Start(t.Context(), "127.0.0.1:0", sim.DNSHandler())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	return server.Address
}

func lookup(t *testing.T, network, server, name string, kind uint16) *dns.Msg {
	t.Helper()
	query := new(dns.Msg).SetQuestion(name, kind)
	answer, _, err := (&dns.Client{Net: network, Timeout: 5 * time.Second}).ExchangeContext(t.Context(), query, server)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

var blanks = regexp.MustCompile(`\s+`)

// shown writes an answer as "RCODE; answers; authority types".
func shown(m *dns.Msg) string {
	parts := []string{dns.RcodeToString[m.Rcode]}
	for _, rr := range m.Answer {
		parts = append(parts, blanks.ReplaceAllString(rr.String(), " "))
	}
	for _, rr := range m.Ns {
		parts = append(parts, "authority "+dns.TypeToString[rr.Header().Rrtype]+" "+rr.Header().Name)
	}
	return strings.Join(parts, "; ")
}

// TestDNSOfAnAnycastList answers for a connection group with the addresses of its list.
func TestDNSOfAnAnycastList(t *testing.T) {
	sim := newSim(t, func(o *aws.Options) {
		o.Seed.ConnectionGroups = append(o.Seed.ConnectionGroups, aws.SeedConnectionGroup{
			ID: "cg_anycast", Name: "anycast", RoutingEndpoint: "danycast.cloudfront.net", AnycastIPListID: "aip_1",
		})
	})
	list := sim.AnycastAddresses("aip_1")
	if len(list) != 3 || slices.Equal(list, sim.AnycastAddresses("aip_2")) {
		t.Errorf("addresses of the lists: %v, %v", list, sim.AnycastAddresses("aip_2"))
	}
	want := "NOERROR"
	for _, ip := range list {
		want += "; danycast.cloudfront.net. 60 IN A " + ip
	}
	if got := shown(lookup(t, "udp", dnsServer(t, sim), "danycast.cloudfront.net.", dns.TypeA)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestDNS(t *testing.T) {
	sim, c := newZoneSim(t)
	mustChange(t, c,
		create(recordOf("www.test.example", "CNAME", homeEndpoint)), create(recordOf("gone.test.example", "CNAME", "dgone.cloudfront.net")),
		create(recordOf("a.test.example", "A", "192.0.2.1", "192.0.2.2")), create(recordOf("t.test.example", "TXT", `"a b" "c\"d\\e" "\344"`)),
		create(recordOf("mx.test.example", "MX", "10 mail.test.example")), create(recordOf("*.w.test.example", "CNAME", "www.test.example.")),
		create(recordOf("deep.below.test.example", "A", "192.0.2.1")), create(aliasOf("alias.test.example", "AAAA", homeEndpoint)),
		create(recordOf("out.test.example", "CNAME", "elsewhere.invalid")), create(recordOf("live.test.example", "CNAME", "live.customer.org")),
		create(recordOf("sub.test.example", "NS", "ns.elsewhere.invalid.")), create(recordOf("www.sub.test.example", "CNAME", homeEndpoint)),
		create(weighted("a", 1)), create(recordOf("loop.test.example", "CNAME", "loop.test.example")),
	)
	if _, err := changeZone(t, c, privateZone, create(recordOf("x.private.example", "A", "192.0.2.1"))); err != nil {
		t.Fatal(err)
	}
	const soa = "; authority SOA test.example."
	addresses := func(owner string) string {
		answer := regexp.MustCompile(`198\.51\.100\.\d+|203\.0\.113\.\d+`).FindAllString(shown(lookup(t, "udp", dnsServer(t, sim), homeEndpoint+".", dns.TypeA)), -1)
		if len(answer) != 2 {
			t.Fatalf("addresses %v", answer)
		}
		return fmt.Sprintf("; %s 60 IN A %s; %s 60 IN A %s", owner, answer[0], owner, answer[1])
	}
	home := addresses("dhome.cloudfront.net.")
	server := dnsServer(t, sim)
	for name, tc := range map[string]struct {
		name string
		kind uint16
		want string
	}{
		"addresses":                            {"a.test.example.", dns.TypeA, "NOERROR; a.test.example. 300 IN A 192.0.2.1; a.test.example. 300 IN A 192.0.2.2"},
		"the spelling of the question is kept": {"A.Test.example.", dns.TypeA, "NOERROR; A.Test.example. 300 IN A 192.0.2.1; A.Test.example. 300 IN A 192.0.2.2"},
		"texts":                                {"t.test.example.", dns.TypeTXT, `NOERROR; t.test.example. 300 IN TXT "a b" "c\"d\\e" "\228"`},
		"a mail server":                        {"mx.test.example.", dns.TypeMX, "NOERROR; mx.test.example. 300 IN MX 10 mail.test.example."},
		"a CNAME itself":                       {"www.test.example.", dns.TypeCNAME, "NOERROR; www.test.example. 300 IN CNAME dhome.cloudfront.net."},
		"a CNAME is followed":                  {"www.test.example.", dns.TypeA, "NOERROR; www.test.example. 300 IN CNAME dhome.cloudfront.net." + home},
		"a wildcard answers for a name":        {"x.w.test.example.", dns.TypeA, "NOERROR; x.w.test.example. 300 IN CNAME www.test.example.; www.test.example. 300 IN CNAME dhome.cloudfront.net." + home},
		"a wildcard by its own name":           {"*.w.test.example.", dns.TypeCNAME, "NOERROR; *.w.test.example. 300 IN CNAME www.test.example."},
		"an alias answers with addresses":      {"old-alias.test.example.", dns.TypeA, "NOERROR" + addresses("old-alias.test.example.")},
		"an alias of the other family":         {"alias.test.example.", dns.TypeA, "NOERROR" + soa},
		"no data":                              {"a.test.example.", dns.TypeAAAA, "NOERROR" + soa},
		"no data for a name between others":    {"below.test.example.", dns.TypeA, "NOERROR" + soa},
		"no such name":                         {"none.test.example.", dns.TypeA, "NXDOMAIN" + soa},
		"a CNAME to an unknown endpoint":       {"gone.test.example.", dns.TypeA, "NXDOMAIN; gone.test.example. 300 IN CNAME dgone.cloudfront.net.; authority SOA cloudfront.net."},
		"a CNAME that leads elsewhere":         {"out.test.example.", dns.TypeA, "NOERROR; out.test.example. 300 IN CNAME elsewhere.invalid."},
		"one of weighted sets":                 {"weighted.test.example.", dns.TypeA, "NOERROR; weighted.test.example. 300 IN A 192.0.2.1"},
		"a name below a delegation":            {"www.sub.test.example.", dns.TypeA, "REFUSED"},
		"a delegated name":                     {"sub.test.example.", dns.TypeA, "REFUSED"},
		"a private zone":                       {"x.private.example.", dns.TypeA, "REFUSED"},
		"a zone outside the simulator":         {"www.elsewhere.invalid.", dns.TypeA, "REFUSED"},
		"everything":                           {"a.test.example.", dns.TypeANY, "NOTIMP"},
	} {
		for _, network := range []string{"udp", "tcp"} {
			t.Run(name+" over "+network, func(t *testing.T) {
				answer := lookup(t, network, server, tc.name, tc.kind)
				if diff := cmp.Diff(tc.want, shown(answer)); diff != "" {
					t.Errorf("answer (-want +got):\n%s", diff)
				}
				if answer.Rcode < dns.RcodeNotImplemented && !answer.Authoritative {
					t.Error("the answer has no authority")
				}
			})
		}
	}
	if got := lookup(t, "udp", server, "alias.test.example.", dns.TypeAAAA); len(got.Answer) != 1 || !strings.Contains(got.Answer[0].String(), "2001:db8:") {
		t.Errorf("IPv6 of an alias: %s", shown(got))
	}
	if got := lookup(t, "udp", server, "live.test.example.", dns.TypeA); len(got.Answer) != 3 {
		t.Errorf("a name that is said to resolve: %s", shown(got))
	}
	if got := lookup(t, "udp", server, "test.example.", dns.TypeNS); len(got.Answer) != 4 {
		t.Errorf("name servers: %s", shown(got))
	}
	if got := lookup(t, "udp", server, "loop.test.example.", dns.TypeA); len(got.Answer) != 1 && got.Rcode != dns.RcodeNameError {
		t.Errorf("a loop: %s", shown(got))
	}
}

// TestDNSLargeAnswers has what is too large for UDP come over TCP.
func TestDNSLargeAnswers(t *testing.T) {
	sim, c := newZoneSim(t)
	var values []string
	for i := range 60 {
		values = append(values, fmt.Sprintf("192.0.2.%d", i))
	}
	mustChange(t, c, create(recordOf("many.test.example", "A", values...)))
	server := dnsServer(t, sim)
	if got := lookup(t, "udp", server, "many.test.example.", dns.TypeA); !got.Truncated {
		t.Error("the answer over UDP is not cut")
	}
	if got := lookup(t, "tcp", server, "many.test.example.", dns.TypeA); got.Truncated || len(got.Answer) != 60 {
		t.Errorf("over TCP: %d answers", len(got.Answer))
	}
}

// TestDNSLags asks the resolver of the standard library before and after a change
// is public.
func TestDNSLags(t *testing.T) {
	sim, c := newZoneSim(t)
	sim.ChangeSwitches(func(sw *aws.Switches) { sw.Route53SyncDelay, sw.DNSPropagationDelay = 30*time.Second, 30*time.Second })
	server := dnsServer(t, sim)
	resolver := net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, server)
	}}
	info := mustChange(t, c, create(recordOf("new.test.example", "CNAME", homeEndpoint)))
	sim.Advance(59 * time.Second)
	if got := must[*sdkroute53.GetChangeOutput](t)(c.GetChange(t.Context(), &sdkroute53.GetChangeInput{Id: info.Id})).ChangeInfo.Status; got != "INSYNC" {
		t.Fatalf("status %s", got)
	}
	if found, err := resolver.LookupHost(t.Context(), "new.test.example."); err == nil {
		t.Errorf("INSYNC is taken for public: %v", found)
	}
	sim.Advance(time.Second)
	found, err := resolver.LookupHost(t.Context(), "new.test.example.")
	if err != nil || !slices.ContainsFunc(found, func(a string) bool { return strings.HasPrefix(a, "198.51.100.") }) {
		t.Errorf("the record is public: %v, %v", found, err)
	}
	if name, err := resolver.LookupCNAME(t.Context(), "new.test.example."); err != nil || name != homeEndpoint+"." {
		t.Errorf("canonical name %q, %v", name, err)
	}
}
