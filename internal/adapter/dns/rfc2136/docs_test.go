package rfc2136_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/rfc2136"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/dnsserver"
)

// The configuration in the docs is all that a server needs, and allows no more.
func TestTheConfigurationInTheDocs(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../../docs/dns/rfc2136.md")
	must(t, err)
	found := regexp.MustCompile("(?s)```text\n(options .*?)```").FindSubmatch(page)
	if found == nil {
		t.Fatal("the page has no configuration")
	}
	text := strings.ReplaceAll(string(found[1]), "/var/lib/bind/", "")
	secret := regexp.MustCompile(`secret "(.*)"`).FindStringSubmatch(text)[1]
	server, err := dnsserver.Start(t.Context(), dnsserver.Options{Config: text, Zones: []dnsserver.Zone{
		{Name: "example.com", Records: []string{"addr IN A 192.0.2.1"}},
	}})
	must(t, err)
	t.Cleanup(func() { must(t, server.Close()) })
	w := newWorld(t, func(c *rfc2136.Config) {
		c.Server, c.Zones = server.Address(), []string{"example.com"}
		c.TSIG = rfc2136.TSIG{Name: "cloudfront-tenant-operator", Secret: func() string { return secret }}
	})
	w.zone = "example.com"
	changes := create(w.cname("a", target), w.cname("*.wild", target))
	w.expectSync(t, true, dns.Sent{ID: w.change(t, changes...), Changes: changes})
	w.change(t, remove(w.cname("*.wild", target))...)
	if sets := w.list(t); len(sets) != 2 { // with the address
		t.Errorf("%d sets, want 2: %v", len(sets), sets)
	}
	for name, changes := range map[string][]dns.Change{
		"an address":          append(remove(w.set("addr", "A", 300, "192.0.2.1")), create(w.cname("addr", target))...),
		"the zone's own name": create(dns.RecordSet{Key: dns.Key{Name: w.zone, Type: dns.TXT}, TTL: 60, Values: []string{"x"}}),
	} {
		if _, err := w.Change(t.Context(), w.zone, changes); !fault.Is(err, fault.Denied) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
