package azure_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/azure"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/azuredns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/canned"
)

func TestZonesOfAccounts(t *testing.T) {
	t.Parallel()
	const otherGroup = "other"
	zones := func(s *settings) {
		s.sim.Zones = append(s.sim.Zones, sim.Zone{ResourceGroup: otherGroup, Name: "Test.Example"},
			sim.Zone{ResourceGroup: otherGroup, Name: "private.example", Private: true})
	}
	all := []dns.Zone{
		{ID: zoneID, Name: zoneName}, {ID: "other/private.example", Name: "private.example", Private: true}, {ID: "other/" + zoneName, Name: zoneName},
	}
	for says, tt := range map[string]struct {
		group string
		want  []dns.Zone
	}{
		"all of the subscription": {"", all},
		"those of one group":      {otherGroup, all[1:]},
	} {
		w := newWorld(t, zones, func(s *settings) { s.config.ResourceGroup = tt.group })
		got, next, err := w.ListZones(t.Context(), "")
		if d := cmp.Diff(tt.want, got); d != "" || next != "" || err != nil {
			t.Errorf("%s: next %q, error %v (-want +got):\n%s", says, next, err, d)
		}
		for _, want := range tt.want {
			if got, err := w.GetZone(t.Context(), want.ID); got != want || err != nil {
				t.Errorf("zone %+v, error %v, want %+v", got, err, want)
			}
		}
	}
	w := newWorld(t)
	for _, id := range []string{"", "Z123", "a/b/c", "/x", "absent/test.example", "dns-group/absent.example"} {
		if _, err := w.GetZone(t.Context(), id); !fault.Is(err, fault.NotFound) {
			t.Errorf("zone %q: %v, want %s", id, err, fault.NotFound)
		}
	}
}

// A group or subscription that does not exist is a mistake of the configuration, not an account without zones.
func TestAccountsThatDoNotExist(t *testing.T) {
	t.Parallel()
	for says, tt := range map[string]struct {
		change func(*azure.Config)
		want   string
	}{
		"a group":        {func(c *azure.Config) { c.ResourceGroup = "absent" }, "correct resourceGroup"},
		"a subscription": {func(c *azure.Config) { c.SubscriptionID = "44444444-4444-4444-4444-444444444444" }, "correct subscriptionId"},
		"a wrong id":     {func(c *azure.Config) { c.SubscriptionID = "mine" }, "correct subscriptionId"},
	} {
		w := newWorld(t, func(s *settings) { tt.change(&s.config) })
		_, _, err := w.ListZones(t.Context(), "")
		if !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %s and %q", says, err, fault.Denied, tt.want)
		}
	}
}

// Values from Azure are compared in one form and kept to the letter.
func TestReadValues(t *testing.T) {
	t.Parallel()
	owned := map[string]string{"owner": "cloudfront-tenant-operator cluster=other object=a/b"}
	for says, tt := range map[string]struct {
		record sim.Record
		want   dns.RecordSet
	}{
		"a name with letters of both cases": {
			sim.Record{Type: "CNAME", Values: []string{"Old.Example.NET."}},
			dns.RecordSet{Values: []string{"old.example.net"}, Exact: []string{"Old.Example.NET"}},
		},
		"a name with a dot at its end":  {sim.Record{Type: "CNAME", Values: []string{target + "."}}, dns.RecordSet{Values: []string{target}}},
		"a text in pieces of their own": {sim.Record{Type: "TXT", Texts: [][]string{{"a", "b"}}}, dns.RecordSet{Values: []string{"ab"}, Exact: []string{`["a","b"]`}}},
		"a long text in the usual ones": {
			sim.Record{Type: "TXT", Texts: [][]string{{strings.Repeat("x", 255), "y"}}}, dns.RecordSet{Values: []string{strings.Repeat("x", 255) + "y"}},
		},
		"addresses in another spelling": {
			sim.Record{Type: "AAAA", Values: []string{"2001:DB8::0:1"}}, dns.RecordSet{Values: []string{"2001:db8::1"}, Exact: []string{"2001:DB8::0:1"}},
		},
		"a mail server":           {sim.Record{Type: "MX", Values: []string{"10 mail.example.net."}}, dns.RecordSet{Values: []string{"10 mail.example.net."}}},
		"a set without records":   {sim.Record{Type: "A"}, dns.RecordSet{}},
		"an alias in Azure":       {sim.Record{Type: "A", Target: "/subscriptions/x/ip"}, dns.RecordSet{Routed: true}},
		"metadata of someone":     {sim.Record{Type: "TXT", Texts: [][]string{{"x"}}, Metadata: map[string]string{"team": "web"}}, dns.RecordSet{Values: []string{"x"}, Routed: true}},
		"an owner that is not us": {sim.Record{Type: "TXT", Texts: [][]string{{"x"}}, Metadata: map[string]string{"owner": "web"}}, dns.RecordSet{Values: []string{"x"}, Routed: true}},
		"a note of ours":          {sim.Record{Type: "CNAME", Values: []string{target}, Metadata: owned}, dns.RecordSet{Values: []string{target}}},
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			tt.record.Name, tt.record.TTL = "MiXed", 77
			w.SetRecord(group, zoneName, tt.record)
			tt.want.Key, tt.want.TTL = dns.Key{Name: "mixed." + zoneName, Type: tt.record.Type}, 77
			if d := cmp.Diff([]dns.RecordSet{tt.want}, w.name(t, "mixed")); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			_, err := w.Change(t.Context(), zoneID, remove(tt.want))
			if tt.want.Routed != fault.Is(err, fault.Invalid) {
				t.Errorf("deleting it: %v", err)
			}
			if !tt.want.Routed && tt.record.Type != "MX" {
				w.change(t, create(tt.want)...)
				if d := cmp.Diff([]dns.RecordSet{tt.want}, w.name(t, "mixed")); d != "" {
					t.Errorf("put back (-want +got):\n%s", d)
				}
			}
		})
	}
}

// The note says whose a record is, and is only next to those that the operator publishes.
func TestNotes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.change(t, create(cname("a"), set("b", dns.CNAME, "elsewhere.example.net"), set("c", dns.A, "192.0.2.1", "192.0.2.2"))...)
	for name, want := range map[string]map[string]string{
		"a": {"owner": "cloudfront-tenant-operator cluster=" + clusterID + " object=web/shop"}, "b": nil, "c": nil,
	} {
		got, _ := w.record(name, dns.CNAME)
		if d := cmp.Diff(want, got.Metadata); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
	long := create(cname("long"))
	long[0].Owner = dns.Owner{Namespace: strings.Repeat("n", 63), Name: strings.Repeat("o", 253)}
	w.change(t, long...)
}

func TestConfigurations(t *testing.T) {
	for says, tt := range map[string]struct {
		config azure.Config
		want   string
	}{
		"no subscription":       {azure.Config{}, "subscriptionId is empty"},
		"a cloud of no one":     {azure.Config{SubscriptionID: "s", Cloud: "Moon"}, `cloud "Moon" is not known`},
		"no credential":         {azure.Config{SubscriptionID: "s"}, `credential "" is not known`},
		"a secret of no one":    {azure.Config{SubscriptionID: "s", Credential: azure.Credential{Kind: azure.ClientSecret, Secret: func() string { return "" }}}, "needs tenantId, clientId"},
		"a pod without webhook": {azure.Config{SubscriptionID: "s", Credential: azure.Credential{Kind: azure.WorkloadIdentity}}, "preparing credential WorkloadIdentity"},
	} {
		if _, err := azure.New(tt.config); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", says, err, tt.want)
		}
	}
	traits := newWorld(t).dns.Traits()
	if d := cmp.Diff(dns.Traits{Batch: dns.Limits{Records: 1, Characters: 4096}, PageSize: 500, ListZones: "Zones_List", ListRecords: "RecordSets_ListAllByDnsZone", Apex: dns.NoApex, Stepwise: true}, traits); d != "" {
		t.Errorf("traits (-want +got):\n%s", d)
	}
}

// No answer, and none of Azure's, is never an empty zone or name.
func TestAnswersThatCanNotBeBelieved(t *testing.T) {
	t.Parallel()
	for says, answer := range map[string]struct {
		status int
		body   string
	}{
		"nothing":                 {200, ""},
		"a page of a proxy":       {200, "<html>Sign in</html>"},
		"an empty document":       {200, "{}"},
		"an empty list":           {200, `{"value":[]}`},
		"a null":                  {200, `{"value":[null]}`},
		"a set without a name":    {200, `{"value":[{"type":"Microsoft.Network/dnszones/A","properties":{}}],"type":"x/CNAME","properties":{}}`},
		"a missing page":          {404, "<html>not found</html>"},
		"a server that is broken": {502, "<html>bad gateway</html>"},
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(s *settings) {
				s.config.HTTPClient = &http.Client{Transport: onlyManagement{sim.New(s.sim).Transport(), &canned.Transport{Status: answer.status, Body: answer.body, ContentType: "application/json"}}}
			})
			for operation, call := range map[string]func() error{
				"GetZone":     func() error { _, err := w.GetZone(t.Context(), zoneID); return err },
				"ListRecords": func() error { _, _, err := w.ListRecords(t.Context(), zoneID, ""); return err },
				"ReadName":    func() error { _, err := w.ReadName(t.Context(), zoneID, "a."+zoneName); return err },
				"Change":      func() error { _, err := w.Change(t.Context(), zoneID, create(cname("a"))); return err },
			} {
				if err := call(); !fault.Is(err, fault.Transient) {
					t.Errorf("%s: error %v is %s, want %s", operation, err, fault.KindOf(err), fault.Transient)
				}
			}
		})
	}
}

// onlyManagement answers tokens as the simulator does, and everything else in another way.
type onlyManagement struct{ tokens, rest http.RoundTripper }

func (o onlyManagement) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasPrefix(r.URL.Host, "login.") {
		return o.tokens.RoundTrip(r)
	}
	return o.rest.RoundTrip(r)
}

// Servers that can't be asked do not hold up a change for ever, and those that can are believed.
func TestInSync(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sent := dns.Sent{Changes: create(cname("a"), set("empty", dns.A))}
	sent.ID = w.change(t, sent.Changes...)
	inSync := func(w *world, want bool) {
		t.Helper()
		if got, err := w.InSync(t.Context(), zoneID, sent); got != want || err != nil {
			t.Errorf("in sync %v, error %v, want %v", got, err, want)
		}
	}
	inSync(w, false)
	w.Stall(true)
	w.clock.Step(time.Hour)
	inSync(w, false)
	w.Stall(false)
	inSync(w, true)
	if _, err := w.InSync(t.Context(), zoneID, dns.Sent{ID: "C123"}); !fault.Is(err, fault.NotFound) {
		t.Errorf("a change that is not ours: %v", err)
	}

	// Nothing listens there.
	w = newWorld(t, func(s *settings) { s.config.NameServers = []string{"127.0.0.1:1"} })
	sent.ID = w.change(t, sent.Changes...)
	if _, err := w.InSync(t.Context(), zoneID, sent); !fault.Is(err, fault.Transient) {
		t.Errorf("no server responds: %v, want %s", err, fault.Transient)
	}
	w.clock.Step(time.Minute)
	inSync(w, true)
}

// Without servers in the configuration those are asked that Azure names for the zone, which is read once.
func TestNameServersOfTheZone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *settings) {
		s.config.NameServers = []string{}
		s.sim.Zones = []sim.Zone{{ResourceGroup: group, Name: zoneName, NameServers: []string{"ns1.invalid."}}, {ResourceGroup: group, Name: "private.example", Private: true}}
	})
	sent := dns.Sent{Changes: create(cname("a"))}
	sent.ID = w.change(t, sent.Changes...)
	for range 2 {
		if _, err := w.InSync(t.Context(), zoneID, sent); !fault.Is(err, fault.Transient) || !strings.Contains(err.Error(), "ns1.invalid:53") {
			t.Errorf("error %v", err)
		}
	}
	if n := w.Calls(sim.GetZone); n != 1 {
		t.Errorf("the zone was read %d times", n)
	}
	if done, err := w.InSync(t.Context(), "dns-group/private.example", sent); !done || err != nil {
		t.Errorf("a zone without public servers: %v, error %v", done, err)
	}
}
