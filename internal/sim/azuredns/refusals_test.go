package azuredns_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/dns/armdns"
	"github.com/google/go-cmp/cmp"

	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/azuredns"
)

// Records that a zone can't have are not written.
func TestImpossibleRecords(t *testing.T) {
	t.Parallel()
	ttl := func(seconds int64) *armdns.RecordSetProperties {
		p := cname("a.example.net")
		p.TTL = &seconds
		return p
	}
	with := func(p *armdns.RecordSetProperties, change func(*armdns.RecordSetProperties)) *armdns.RecordSetProperties {
		change(p)
		return p
	}
	var many []string
	for n := range 21 {
		many = append(many, fmt.Sprintf("192.0.2.%d", n))
	}
	for says, tt := range map[string]struct {
		name   string
		kind   armdns.RecordType
		set    *armdns.RecordSetProperties
		status int
		code   string
	}{
		"a CNAME next to something": {"text", "CNAME", cname("a.example.net"), 409, "Conflict"},
		"something next to a CNAME": {"name", "TXT", text("x"), 409, "Conflict"},
		"a CNAME at the apex":       {"@", "CNAME", cname("a.example.net"), 409, "Conflict"},
		"a TTL of zero":             {"a", "CNAME", ttl(0), 400, "BadRequest"},
		"a negative TTL":            {"a", "CNAME", ttl(-1), 400, "BadRequest"},
		"a TTL that is too long":    {"a", "CNAME", ttl(1 << 31), 400, "BadRequest"},
		"no TTL":                    {"a", "CNAME", with(cname("a.example.net"), func(p *armdns.RecordSetProperties) { p.TTL = nil }), 400, "BadRequest"},
		"an impossible target":      {"a", "CNAME", cname("a..b"), 400, "BadRequest"},
		"a label that is too long":  {strings.Repeat("l", 64), "CNAME", cname("a.example.net"), 400, "BadRequest"},
		"a name that is too long":   {strings.Repeat("l23456789.", 25) + "x", "CNAME", cname("a.example.net"), 400, "BadRequest"},
		"a name with a space":       {"a b", "CNAME", cname("a.example.net"), 400, "BadRequest"},
		"a star inside a name":      {"a.*", "CNAME", cname("a.example.net"), 400, "BadRequest"},
		"a star in a label":         {"a*", "CNAME", cname("a.example.net"), 400, "BadRequest"},
		"an NS set with a star": {"*", "NS", with(address(), func(p *armdns.RecordSetProperties) {
			p.NsRecords = []*armdns.NsRecord{{Nsdname: new("ns.example.net")}}
		}), 400, "BadRequest"},
		"records of another type":   {"a", "A", cname("a.example.net"), 400, "BadRequest"},
		"no IP address":             {"a", "A", address("2001:db8::1"), 400, "BadRequest"},
		"one value twice":           {"a", "A", address("192.0.2.1", "192.0.2.1"), 400, "BadRequest"},
		"21 records":                {"a", "A", address(many...), 400, "BadRequest"},
		"a string that is too long": {"a", "TXT", text(strings.Repeat("x", 256)), 400, "BadRequest"},
		"a text that is too long":   {"a", "TXT", text(strings.Split(strings.Repeat(strings.Repeat("x", 255)+",", 17), ",")[:17]...), 400, "BadRequest"},
		"a second SOA":              {"a", "SOA", with(address(), func(p *armdns.RecordSetProperties) { p.SoaRecord = &armdns.SoaRecord{Host: new("a.example.")} }), 400, "BadRequest"},
		"a target and records":      {"a", "A", with(address("192.0.2.1"), func(p *armdns.RecordSetProperties) { p.TargetResource = &armdns.SubResource{ID: new("/x")} }), 400, "BadRequest"},
		"metadata that is too long": {"a", "CNAME", with(cname("a.example.net"), func(p *armdns.RecordSetProperties) {
			p.Metadata = map[string]*string{"k": new(strings.Repeat("x", 257))}
		}), 400, "BadRequest"},
		"a type that Azure has not":      {"a", "HTTPS", cname("a.example.net"), 400, "InvalidResourceType"},
		"no properties":                  {"a", "CNAME", nil, 400, "InvalidRequestContent"},
		"a CNAME below one is no matter": {"b.name", "CNAME", cname("a.example.net"), 0, ""},
		"a name with an underscore":      {"_b.name", "TXT", text("x"), 0, ""},
		"a wildcard":                     {"*.b", "CNAME", cname("a.example.net"), 0, ""},
		"an empty set":                   {"b", "A", address(), 0, ""},
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.SetRecord(group, zone, sim.Record{Name: "text", Type: "TXT", TTL: 60, Texts: [][]string{{"x"}}})
			w.SetRecord(group, zone, sim.Record{Name: "name", Type: "CNAME", TTL: 60, Values: []string{"a.example.net"}})
			before := w.Records(group, zone)
			_, err := w.put(t, tt.name, tt.kind, tt.set, "", "*")
			if tt.status == 0 {
				if err != nil || len(w.Records(group, zone)) != len(before)+1 {
					t.Errorf("error %v", err)
				}
				return
			}
			refused(t, err, tt.status, tt.code)
			if d := cmp.Diff(before, w.Records(group, zone)); d != "" {
				t.Errorf("the zone (-before +after):\n%s", d)
			}
		})
	}
}

func TestTooMuchMetadata(t *testing.T) {
	t.Parallel()
	p := cname("a.example.net")
	p.Metadata = map[string]*string{}
	for n := range 51 {
		p.Metadata[fmt.Sprintf("k%d", n)] = new("v")
	}
	_, err := newWorld(t).put(t, "a", "CNAME", p, "", "")
	refused(t, err, 400, "BadRequest")
}

// A write with a condition happens only if that is met.
func TestConditions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, err := w.put(t, "a", "CNAME", cname("a.example.net"), "", "*")
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.put(t, "A", "CNAME", cname("b.example.net"), "", "*")
	refused(t, err, 412, "PreconditionFailed")
	_, err = w.put(t, "a", "CNAME", cname("b.example.net"), "gibberish", "")
	refused(t, err, 412, "PreconditionFailed")
	_, err = w.put(t, "b", "CNAME", cname("b.example.net"), first, "")
	refused(t, err, 412, "PreconditionFailed")
	_, err = w.put(t, "a", "CNAME", cname("b.example.net"), first, "*")
	refused(t, err, 400, "BadRequest")
	_, err = w.put(t, "a", "CNAME", cname("b.example.net"), "", first)
	refused(t, err, 400, "BadRequest")
	second, err := w.put(t, "a", "CNAME", cname("b.example.net"), first, "")
	if err != nil || second == first {
		t.Fatalf("etag %s after %s, error %v", second, first, err)
	}
	refused(t, w.remove(t, "a", "CNAME", first), 412, "PreconditionFailed")
	if err := w.remove(t, "a", "CNAME", second); err != nil {
		t.Error(err)
	}
	if err := w.remove(t, "a", "CNAME", second); err != nil {
		t.Errorf("a deletion of what is not there: %v", err)
	}
	_, err = w.records(t).Get(t.Context(), group, zone, "a", "CNAME", nil)
	refused(t, err, 404, "NotFound")
	refused(t, w.remove(t, "@", "SOA", "*"), 400, "BadRequest")
	refused(t, w.remove(t, "@", "NS", "*"), 400, "BadRequest")
}

func TestQuota(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *sim.Options) { o.MaxRecordSets = 3 })
	if _, err := w.put(t, "a", "CNAME", cname("a.example.net"), "", "*"); err != nil {
		t.Fatal(err)
	}
	_, err := w.put(t, "b", "CNAME", cname("a.example.net"), "", "*")
	refused(t, err, 409, "Conflict")
	if err == nil || !strings.Contains(err.Error(), "MaximumNumberOfRecordSetsReached") {
		t.Errorf("error %v does not say what it is about", err)
	}
	if _, err := w.put(t, "a", "CNAME", cname("b.example.net"), "", ""); err != nil {
		t.Errorf("what is there can't be changed: %v", err)
	}
}

// A token that is missing, invalid or too old opens nothing.
func TestTokens(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	records := w.records(t)
	if _, err := records.Get(t.Context(), group, zone, "@", "SOA", nil); err != nil {
		t.Fatal(err)
	}
	w.clock.step(time.Hour)
	_, err := records.Get(t.Context(), group, zone, "@", "SOA", nil)
	refused(t, err, 401, "ExpiredAuthenticationToken")
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
		w.server.URL+subscriptionScope+"/providers/Microsoft.Network/dnszones?api-version=2018-05-01", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := w.server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != 401 || !strings.HasPrefix(answer.Header.Get("WWW-Authenticate"), "Bearer ") {
		t.Errorf("without a token: %s, %v", answer.Status, answer.Header)
	}
}

// Roles allow what they say, at their scope and below.
func TestRoles(t *testing.T) {
	t.Parallel()
	zoneScope := sim.Zone{ResourceGroup: group, Name: zone}.ID()
	for says, tt := range map[string]struct {
		role        sim.Role
		scope       string
		lists       bool
		reads       bool
		writes      bool
		readsOthers bool
	}{
		"a contributor of the zone":          {sim.DNSZoneContributor, zoneScope, false, true, true, false},
		"a contributor of the group":         {sim.DNSZoneContributor, subscriptionScope + "/resourceGroups/dns-group", false, true, true, true},
		"a reader of the subscription":       {sim.Reader, subscriptionScope, true, true, false, true},
		"a contributor of another zone":      {sim.DNSZoneContributor, zoneScope + ".org", false, false, false, false},
		"a contributor of the subscription":  {sim.DNSZoneContributor, subscriptionScope, true, true, true, true},
		"a contributor of some other group":  {sim.DNSZoneContributor, subscriptionScope + "/resourceGroups/dns", false, false, false, false},
		"someone with a role of another use": {"Owner of nothing", subscriptionScope, false, false, false, false},
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.ChangePrincipal(client, func(p *sim.Principal) { p.Grants = []sim.Grant{{Role: tt.role, Scope: tt.scope}} })
			allowed := func(what string, err error, want bool) {
				t.Helper()
				if want && err != nil {
					t.Errorf("%s: %v", what, err)
				} else if !want {
					refused(t, err, 403, "AuthorizationFailed")
				}
			}
			_, err := w.zones(t, sim.DefaultSubscription).NewListPager(nil).NextPage(t.Context())
			allowed("listing zones", err, tt.lists)
			_, err = w.zones(t, sim.DefaultSubscription).Get(t.Context(), group, zone, nil)
			allowed("reading the zone", err, tt.reads)
			_, err = w.zones(t, sim.DefaultSubscription).Get(t.Context(), group, "private.example", nil)
			allowed("reading another zone", err, tt.readsOthers)
			_, err = w.put(t, "a", "CNAME", cname("a.example.net"), "", "*")
			allowed("writing", err, tt.writes)
			allowed("deleting", w.remove(t, "a", "CNAME", "*"), tt.writes)
		})
	}
}

func TestWhatIsNotThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	zones, records := w.zones(t, sim.DefaultSubscription), w.records(t)
	_, err := zones.Get(t.Context(), group, "absent.example", nil)
	refused(t, err, 404, "ResourceNotFound")
	_, err = zones.Get(t.Context(), "absent", zone, nil)
	refused(t, err, 404, "ResourceGroupNotFound")
	_, err = zones.NewListByResourceGroupPager("absent", nil).NextPage(t.Context())
	refused(t, err, 404, "ResourceGroupNotFound")
	_, err = records.Get(t.Context(), group, "absent.example", "a", "A", nil)
	refused(t, err, 404, "ParentResourceNotFound")
	_, err = records.CreateOrUpdate(t.Context(), group, "absent.example", "a", "A", armdns.RecordSet{Properties: address("192.0.2.1")}, nil)
	refused(t, err, 404, "ParentResourceNotFound")
	_, err = records.Delete(t.Context(), group, "absent.example", "a", "A", nil)
	refused(t, err, 404, "ParentResourceNotFound")
	_, err = w.zones(t, "44444444-4444-4444-4444-444444444444").NewListPager(nil).NextPage(t.Context())
	refused(t, err, 404, "SubscriptionNotFound")
	_, err = w.zones(t, "mine").NewListPager(nil).NextPage(t.Context())
	refused(t, err, 400, "InvalidSubscriptionId")
}
