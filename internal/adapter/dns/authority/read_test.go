package authority_test

import (
	"net"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/authority"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/nameserver"
)

// silent is an address at which nothing answers.
func silent(t *testing.T) string {
	t.Helper()
	c, err := new(net.ListenConfig).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := c.LocalAddr().String()
	_ = c.Close()
	return address
}

func set(name, kind string, ttl int64, values ...string) dns.RecordSet {
	return dns.RecordSet{Key: dns.Key{Name: name, Type: kind}, TTL: ttl, Values: values}
}

// The answers of a real server at a name, with a zone that has everything that can be mistaken.
func TestAt(t *testing.T) {
	server, err := nameserver.Start(t.Context(), nameserver.Options{Zones: []nameserver.Zone{{Name: zone, Records: []string{
		"alias.example.com. 60 IN CNAME other.example.net.",
		"host.example.com. 60 IN A 192.0.2.2", "host.example.com. 60 IN A 192.0.2.1", "host.example.com. 60 IN AAAA 2001:db8::1",
		`text.example.com. 60 IN TXT "one"`, "mail.example.com. 60 IN MX 10 mx.example.net.",
		"deep.below.example.com. 60 IN A 192.0.2.3",
		"*.wild.example.com. 60 IN CNAME other.example.net.", "own.wild.example.com. 60 IN CNAME third.example.net.",
		"sub.example.com. 60 IN NS ns1.example.net.", "sub.example.com. 60 IN NS ns2.example.net.",
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	delegated := []dns.RecordSet{set("sub.example.com", "NS", 60, "ns1.example.net", "ns2.example.net")}
	for says, c := range map[string]struct {
		name string
		want []dns.RecordSet
	}{
		"nothing":                               {"none.example.com", nil},
		"a CNAME":                               {"alias.example.com", []dns.RecordSet{set("alias.example.com", dns.CNAME, 60, "other.example.net")}},
		"addresses of both kinds":               {"host.example.com", []dns.RecordSet{set("host.example.com", dns.A, 60, "192.0.2.1", "192.0.2.2"), set("host.example.com", dns.AAAA, 60, "2001:db8::1")}},
		"a text":                                {"text.example.com", []dns.RecordSet{set("text.example.com", dns.TXT, 60, "one")}},
		"a mail server":                         {"mail.example.com", []dns.RecordSet{set("mail.example.com", "MX", 60, "10 mx.example.net")}},
		"nothing but something below":           {"below.example.com", nil},
		"nothing but what a wildcard shows":     {"any.wild.example.com", nil},
		"a record below a wildcard":             {"own.wild.example.com", []dns.RecordSet{set("own.wild.example.com", dns.CNAME, 60, "third.example.net")}},
		"the wildcard itself":                   {"*.wild.example.com", []dns.RecordSet{set("*.wild.example.com", dns.CNAME, 60, "other.example.net")}},
		"a name that is left to other servers":  {"sub.example.com", delegated},
		"a name below one left to other server": {"deep.below.sub.example.com", delegated},
	} {
		t.Run(says, func(t *testing.T) {
			got, err := authority.At(t.Context(), []string{silent(t), server.Address()}, zone, c.name)
			if d := cmp.Diff(c.want, got); d != "" || err != nil {
				t.Errorf("error %v (-want +got):\n%s", err, d)
			}
		})
	}
	t.Run("no server responds", func(t *testing.T) {
		if got, err := authority.At(t.Context(), []string{silent(t)}, zone, "none.example.com"); !fault.Is(err, fault.Transient) || got != nil {
			t.Errorf("got %v, error %v, want %s", got, err, fault.Transient)
		}
	})
	t.Run("a server that does not have the zone is not believed", func(t *testing.T) {
		if got, err := authority.At(t.Context(), []string{server.Address()}, "example.org", "none.example.org"); !fault.Is(err, fault.Transient) || got != nil {
			t.Errorf("got %v, error %v, want %s", got, err, fault.Transient)
		}
	})
	for says, c := range map[string]struct {
		servers []string
		zone    string
		want    fault.Kind
	}{
		"the server has the zone":                {[]string{server.Address()}, zone, fault.None},
		"one that does not respond has no say":   {[]string{silent(t), server.Address()}, zone, fault.None},
		"the server does not have the zone":      {[]string{server.Address()}, "example.org", fault.Denied},
		"a name in a zone is none":               {[]string{server.Address()}, "host.example.com", fault.Denied},
		"a zone that is left to others is none":  {[]string{server.Address()}, "sub.example.com", fault.Denied},
		"none of the servers of a zone responds": {[]string{silent(t), silent(t)}, zone, fault.Transient},
	} {
		t.Run(says, func(t *testing.T) {
			if err := authority.Serve(t.Context(), c.servers, c.zone); fault.KindOf(err) != c.want {
				t.Errorf("error %v is %s, want %s", err, fault.KindOf(err), c.want)
			}
		})
	}
}
