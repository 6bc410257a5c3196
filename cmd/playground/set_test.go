package main

import (
	"bytes"
	"net/http/httptest"
	"strings"
	"testing"

	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/dnsserver"
)

// A customer sets records at their provider, and the public resolver of the playground returns them.
func TestSet(t *testing.T) {
	const endpoint = "d111111abcdef8.cloudfront.net"
	seed := sim.DefaultSeed()
	seed.ConnectionGroups = []sim.SeedConnectionGroup{{ID: "cg_1", Name: "default", RoutingEndpoint: endpoint}}
	seed.Accounts = append(seed.Accounts, sim.SeedAccount{ID: customerAccount, AccessKeys: []string{customerKey}})
	seed.HostedZones = []sim.SeedHostedZone{{Name: customerZone, Account: customerAccount}}
	world := sim.New(sim.Options{Seed: &seed})
	web := httptest.NewServer(world)
	t.Cleanup(web.Close)
	start := func(handler func() (*dnsserver.Server, error)) string {
		server, err := handler()
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
	aws := start(func() (*dnsserver.Server, error) {
		return dnsserver.Start(t.Context(), "127.0.0.1:0", world.DNSHandler())
	})
	public := start(func() (*dnsserver.Server, error) { return dnsserver.Start(t.Context(), "127.0.0.1:0", resolve(aws)) })
	for _, step := range []struct {
		about          string
		args           []string
		status         int
		says           string
		question, want string
	}{
		{"nothing is there", nil, 0, "", "shop.customer.example CNAME", "shop.customer.example: NXDOMAIN"},
		{"a record is set", []string{"Shop.customer.example.", "cname", "a.example.net"}, 0, "shop.customer.example CNAME a.example.net is set.", "shop.customer.example CNAME", "CNAME   a.example.net."},
		{"and changed", []string{"shop.customer.example", "CNAME", "b.example.net"}, 0, "is set.", "shop.customer.example CNAME", "CNAME   b.example.net."},
		{"and deleted", []string{"shop.customer.example", "CNAME"}, 0, "is deleted.", "shop.customer.example CNAME", "NXDOMAIN"},
		{"what is not there is not deleted", []string{"shop.customer.example", "CNAME"}, 1, "there is no CNAME record shop.customer.example", "", ""},
		{"an address is set", []string{"shop.customer.example", "A", "192.0.2.9"}, 0, "is set.", "shop.customer.example A", "A   192.0.2.9"},
		{"and one of the other kind", []string{"shop.customer.example", "AAAA", "2001:db8::9"}, 0, "is set.", "shop.customer.example A", "A   192.0.2.9"},
		{"a CNAME replaces both", []string{"shop.customer.example", "CNAME", "b.example.net"}, 0, "is set.", "shop.customer.example AAAA", "CNAME   b.example.net."},
		{"and an address replaces it", []string{"shop.customer.example", "A", "192.0.2.8"}, 0, "is set.", "shop.customer.example CNAME", "no CNAME record"},
		{"a CNAME is not for the top of a zone", []string{"customer.example", "CNAME", endpoint}, 1, "use ALIAS", "", ""},
		{"an ALIAS is", []string{"customer.example", "ALIAS", endpoint}, 0, "customer.example ALIAS " + endpoint + " is set.", "customer.example A", "198.51.100."},
		{"with all addresses", nil, 0, "", "customer.example AAAA", "2001:db8:"},
		{"an ALIAS of nothing", []string{"customer.example", "ALIAS", "dgone.cloudfront.net"}, 1, "has no addresses", "customer.example A", "198.51.100."},
		{"it is deleted", []string{"customer.example", "ALIAS"}, 0, "is deleted.", "customer.example A", "no A record"},
		{"all of it", nil, 0, "", "customer.example AAAA", "no AAAA record"},
		{"and what is not there is not", []string{"customer.example", "ALIAS"}, 1, "there is no ALIAS record", "", ""},
		{"each form has an example", []string{"--help"}, 0, "deletes the record", "", ""},
		{"a text is quoted", []string{"_x.customer.example", "TXT", "a text"}, 0, "is set.", "_x.customer.example TXT", `TXT   "a text"`},
		{"another customer registers a domain", []string{"www.new.example", "A", "192.0.2.9"}, 0, "is set.", "www.new.example A", "A   192.0.2.9"},
		{"the platform's domains are not a customer's", []string{"shop.example.com", "A", "192.0.2.9"}, 1, "belongs to the platform", "shop.example.com A", "NXDOMAIN"},
		{"a public suffix is not, either", []string{"com", "A", "192.0.2.9"}, 1, "not below a domain", "", ""},
		{"a type that no one needs", []string{"shop.customer.example", "MX", "x"}, 1, "unknown record type MX", "", ""},
		{"a value that is none", []string{"shop.customer.example", "A", "x"}, 1, "setting shop.customer.example", "", ""},
		{"too few words", []string{"shop.customer.example"}, 2, "takes a name, a record type and a value", "", ""},
	} {
		if step.args != nil {
			var stdout, stderr bytes.Buffer
			if status := runSet(step.args, web.URL, public, &stdout, &stderr); status != step.status {
				t.Fatalf("%s: status %d: %s", step.about, status, &stderr)
			}
			if said := stdout.String() + stderr.String(); !strings.Contains(said, step.says) {
				t.Errorf("%s: it says %q", step.about, said)
			}
		}
		if step.question != "" {
			got, err := lookup(t.Context(), []string{public}, strings.Fields(step.question)...)
			if err != nil || !strings.Contains(got, step.want) {
				t.Errorf("%s: public DNS has %q, %v", step.about, got, err)
			}
		}
	}
	var stderr bytes.Buffer
	if status := runSet([]string{"a.example", "A", "192.0.2.1"}, "", "", &stderr, &stderr); status != 2 || !strings.Contains(stderr.String(), "is empty") {
		t.Errorf("without an environment: %d %s", status, &stderr)
	}
}
