package rfc2136_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	wire "github.com/miekg/dns"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/rfc2136"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/nameserver"
)

// The configuration in the docs is all that a server needs, and allows no more.
func TestTheConfigurationInTheDocs(t *testing.T) {
	t.Parallel()
	for software, tt := range map[nameserver.Software]struct {
		page string
		// begins is how the configuration does.
		begins  string
		options func(t *testing.T, page string) nameserver.Options
	}{
		nameserver.BIND: {page: "rfc2136.md", begins: "options "},
		nameserver.Knot: {page: "knot.md", begins: "server:"},
		nameserver.PowerDNS: {page: "powerdns.md", begins: "primary=", options: func(t *testing.T, page string) nameserver.Options {
			t.Helper()
			var o nameserver.Options
			for command := range strings.Lines(block(t, page, "sh", "pdnsutil ")) {
				o.Commands = append(o.Commands, strings.Fields(command))
			}
			o.Files = map[string]string{"policy.lua": block(t, page, "lua", "")}
			return o
		}},
	} {
		t.Run(software.String(), func(t *testing.T) {
			t.Parallel()
			content, err := os.ReadFile("../../../../docs/dns/" + tt.page)
			must(t, err)
			page := string(content)
			o := nameserver.Options{}
			if tt.options != nil {
				o = tt.options(t, page)
			}
			o.Software, o.Config = software, strings.ReplaceAll(block(t, page, "text", tt.begins), "/var/lib/bind/", "")
			if software == nameserver.PowerDNS {
				o.Config = strings.ReplaceAll(o.Config, "10.0.0.0/8", "127.0.0.0/8") + "lua-dnsupdate-policy-script=policy.lua\n"
			}
			isAllThatIsNeeded(t, o, regexp.MustCompile(`REPLACE/[A-Z0-9/=]+`).FindString(page))
		})
	}
}

// block is a block of a page in a language that begins with a text.
func block(t *testing.T, page, language, begins string) string {
	t.Helper()
	for _, found := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(page, -1) {
		if strings.HasPrefix(found[1], begins) {
			return found[1]
		}
	}
	t.Fatalf("the page has no block that begins with %q", begins)
	return ""
}

func isAllThatIsNeeded(t *testing.T, o nameserver.Options, secret string) {
	t.Helper()
	o.Zones = []nameserver.Zone{{Name: "example.com", Records: []string{"addr IN A 192.0.2.1"}}}
	server, err := nameserver.Start(t.Context(), o)
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
	before := w.everything(t)
	update := new(wire.Msg).SetUpdate(w.zone + ".")
	record, err := wire.NewRR("x.example.com. 60 IN TXT x")
	must(t, err)
	update.Insert([]wire.RR{record})
	answer, _, err := (&wire.Client{Net: "tcp"}).ExchangeContext(t.Context(), update, server.Address())
	must(t, err)
	if diff := cmp.Diff(before, w.everything(t)); diff != "" {
		t.Errorf("an update without a key, answered with %s: the zone (-before +after):\n%s", wire.RcodeToString[answer.Rcode], diff)
	}
	for name, changes := range map[string][]dns.Change{
		"an address":          append(remove(w.set("addr", "A", 300, "192.0.2.1")), create(w.cname("addr", target))...),
		"the zone's own name": create(dns.RecordSet{Key: dns.Key{Name: w.zone, Type: dns.TXT}, TTL: 60, Values: []string{"x"}}),
	} {
		id, err := w.Change(t.Context(), w.zone, changes)
		if err == nil && o.Software == nameserver.PowerDNS { // it does not say what it leaves out
			_, err = w.InSync(t.Context(), w.zone, dns.Sent{ID: id, Changes: changes})
			expectKind(t, err, fault.Conflict, "the server accepted the change, and does not show what it created")
		} else if !fault.Is(err, fault.Denied) {
			t.Errorf("%s: error %v", name, err)
		}
		if diff := cmp.Diff(before, w.everything(t)); diff != "" {
			t.Errorf("%s: the zone (-before +after):\n%s", name, diff)
		}
	}
}

// everything is what the zone has but for its SOA.
func (w world) everything(t *testing.T) (out []string) {
	t.Helper()
	page, _, err := w.ListRecords(t.Context(), w.zone, "")
	must(t, err)
	for _, s := range page {
		if s.Type != "SOA" {
			out = append(out, s.Name+" "+s.String())
		}
	}
	return out
}
