package cloudflare_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/cloudflare"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/cloudflare"
)

func TestZonesAreListedPageByPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 120 {
		w.AddZone(sim.Zone{Name: "z" + string(rune('a'+i/10)) + string(rune('a'+i%10)) + ".example"})
	}
	names, marker, pages := []string{}, "", 0
	for {
		page, next, err := w.ListZones(t.Context(), marker)
		if err != nil {
			t.Fatal(err)
		}
		pages++
		for _, z := range page {
			names = append(names, z.Name)
		}
		if marker = next; next == "" {
			break
		}
	}
	slices.Sort(names)
	if len(slices.Compact(names)) != 121 || pages != 3 {
		t.Errorf("%d zones in %d pages", len(names), pages)
	}
}

// A zone that is added in the meantime moves the pages: a zone could be missed.
func TestAListOfZonesThatMovesIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 60 {
		w.AddZone(sim.Zone{Name: strings.Repeat("z", i+1) + ".example"})
	}
	_, next, err := w.ListZones(t.Context(), "")
	if err != nil || next == "" {
		t.Fatal(next, err)
	}
	w.AddZone(sim.Zone{Name: "a.example"})
	_, _, err = w.ListZones(t.Context(), next)
	wants(t, err, fault.Transient, "while they were being listed")
}

func TestZonesThatResolversDoNotAsk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, tt := range map[string]struct {
		zone    sim.Zone
		private bool
		want    string
	}{
		"an active zone":                    {sim.Zone{Name: "active.example"}, false, "active.example"},
		"one with capitals":                 {sim.Zone{Name: "Upper.Example"}, false, "upper.example"},
		"one in Unicode":                    {sim.Zone{Name: "bücher.example"}, false, "xn--bcher-kva.example"},
		"one that is not delegated yet":     {sim.Zone{Name: "pending.example", Status: "pending"}, true, "pending.example"},
		"one that has left":                 {sim.Zone{Name: "moved.example", Status: "moved"}, true, "moved.example"},
		"one whose records are elsewhere":   {sim.Zone{Name: "partial.example", Type: "partial"}, true, "partial.example"},
		"one that is transferred to here":   {sim.Zone{Name: "secondary.example", Type: "secondary"}, true, "secondary.example"},
		"one of an organization's networks": {sim.Zone{Name: "internal.example", Type: "internal"}, true, "internal.example"},
	} {
		z := w.AddZone(tt.zone)
		got, err := w.GetZone(t.Context(), z.ID)
		want := dns.Zone{ID: z.ID, Name: tt.want, Private: tt.private, Apex: dns.FlattenedApex}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

func TestZonesThatAreNotThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := len(w.Calls())
	for _, id := range []string{"", "Z123", "../accounts", strings.Repeat("F", 32)} {
		_, err := w.GetZone(t.Context(), id)
		wants(t, err, fault.NotFound, "32 hexadecimal digits")
		_, _, err = w.ListRecords(t.Context(), id, "")
		wants(t, err, fault.NotFound)
		_, err = w.Change(t.Context(), id, create(cname("a")))
		wants(t, err, fault.NotFound)
	}
	if len(w.Calls()) != before {
		t.Errorf("asked for ids that can't be: %v", w.Calls())
	}
	w.change(t, create(cname("a"))...)
	w.RemoveZone(w.zone.ID)
	_, err := w.GetZone(t.Context(), w.zone.ID)
	wants(t, err, fault.NotFound, "7003")
	_, _, err = w.ListRecords(t.Context(), w.zone.ID, "")
	wants(t, err, fault.NotFound)
	_, err = w.ReadName(t.Context(), w.zone.ID, in("a"))
	wants(t, err, fault.NotFound)
	_, err = w.Change(t.Context(), w.zone.ID, remove(cname("a")))
	wants(t, err, fault.NotFound)
	_, err = w.InSync(t.Context(), w.zone.ID, dns.Sent{ID: "x", Changes: create(cname("a"))})
	wants(t, err, fault.NotFound)
}

func TestSetsOfRecords(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	priority := 10
	for _, r := range []sim.Record{
		{Name: "A." + zoneName, Type: "CNAME", Content: "Other.Example.", TTL: 1},
		{Name: "b." + zoneName, Type: "A", Content: "192.0.2.2", TTL: 60},
		{Name: "b." + zoneName, Type: "A", Content: "192.0.2.1", TTL: 60},
		{Name: "c." + zoneName, Type: "A", Content: "192.0.2.1", TTL: 60},
		{Name: "c." + zoneName, Type: "A", Content: "192.0.2.2", TTL: 120},
		{Name: "d." + zoneName, Type: "A", Content: "192.0.2.1", TTL: 1, Proxied: true},
		{Name: "e." + zoneName, Type: "CNAME", Content: "x.example", TTL: 60, Settings: map[string]any{"flatten_cname": true}},
		{Name: "f." + zoneName, Type: "MX", Content: "mx.example", TTL: 60, Priority: &priority},
		{Name: "g." + zoneName, Type: "TXT", Content: `"a\"b\\c\100" "d"`, TTL: 60},
		{Name: "h." + zoneName, Type: "TXT", Content: `bare words`, TTL: 60},
		{Name: "i." + zoneName, Type: "TXT", Content: `"plain"`, TTL: 60, Meta: map[string]any{"read_only": true}},
		{Name: "j." + zoneName, Type: "TYPE65534", Content: `\# 0`, TTL: 60, Meta: map[string]any{"auto_added": true}},
		{Name: `k\.l.` + zoneName, Type: "A", Content: `192.0.2.1`, TTL: 60},
		{Name: `*.` + zoneName, Type: "CNAME", Content: target, TTL: 300},
		{Name: "sub." + zoneName, Type: "NS", Content: `ns.example`, TTL: 60},
	} {
		w.put(r)
	}
	of := func(name, kind string, ttl int64, values ...string) dns.RecordSet {
		s := set(name, kind, values...)
		s.TTL = ttl
		return s
	}
	spelled := func(s dns.RecordSet, exact ...string) dns.RecordSet { s.Exact = exact; return s }
	routed := func(s dns.RecordSet) dns.RecordSet { s.Routed = true; return s }
	want := []dns.RecordSet{
		of("*", "CNAME", 300, target),
		spelled(of("a", "CNAME", 1, "other.example"), "Other.Example."),
		of("b", "A", 60, "192.0.2.1", "192.0.2.2"),
		routed(of("c", "A", 60, "192.0.2.1", "192.0.2.2")),
		routed(of("d", "A", 1, "192.0.2.1")),
		routed(of("e", "CNAME", 60, "x.example")),
		spelled(of("f", "MX", 60, "10 mx.example"), "mx.example"),
		spelled(of("g", "TXT", 60, `a"b\cdd`), `"a\"b\\c\100" "d"`),
		spelled(of("h", "TXT", 60, `bare words`), `bare words`),
		routed(of("i", "TXT", 60, `plain`)),
		of("j", "TYPE65534", 60, `\# 0`),
		of(`k\.l`, "A", 60, `192.0.2.1`),
		of("sub", "NS", 60, "ns.example"),
		routed(dns.RecordSet{Key: dns.Key{Name: zoneName, Type: "SOA"}}),
	}
	if diff := cmp.Diff(want, w.list(t)); diff != "" {
		t.Errorf("listed (-want +got):\n%s", diff)
	}
	for _, s := range want {
		got, err := w.ReadName(t.Context(), w.zone.ID, s.Name)
		if diff := cmp.Diff([]dns.RecordSet{s}, got); diff != "" || err != nil {
			t.Errorf("read %s: %v (-want +got):\n%s", s.Name, err, diff)
		}
	}
}

// The name of the zone itself says where it begins, even when nothing else is there.
func TestAnEmptyZoneHasItsBeginning(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	want := []dns.RecordSet{{Key: dns.Key{Name: zoneName, Type: "SOA"}, Routed: true}}
	if diff := cmp.Diff(want, w.list(t)); diff != "" {
		t.Errorf("listed (-want +got):\n%s", diff)
	}
	for name, want := range map[string][]dns.RecordSet{zoneName: want, in("a"): {}} {
		if got, err := w.ReadName(t.Context(), w.zone.ID, name); err != nil || !cmp.Equal(want, got) {
			t.Errorf("%s has %v, %v", name, got, err)
		}
	}
}

// A set that is cut by the end of a page is one set.
func TestRecordsOfManyPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *sim.Options, _ *cloudflare.Config) { o.PageSize = 2 })
	for _, v := range []string{"3", "1", "2", "5", "4"} {
		w.put(sim.Record{Name: in("a"), Type: "TXT", Content: `"` + v + `"`, TTL: 300})
	}
	want := []dns.RecordSet{set("a", "TXT", "1", "2", "3", "4", "5"), {Key: dns.Key{Name: zoneName, Type: "SOA"}, Routed: true}}
	if diff := cmp.Diff(want, w.list(t)); diff != "" {
		t.Errorf("listed (-want +got):\n%s", diff)
	}
	if got, err := w.ReadName(t.Context(), w.zone.ID, in("a")); err != nil || !cmp.Equal(got, want[:1]) {
		t.Errorf("read %v, %v", got, err)
	}
	if n := w.CallsOf(sim.ListRecords); n != 6 {
		t.Errorf("%d pages", n)
	}
}

func TestAListThatIsNotWholeIsNone(t *testing.T) {
	t.Parallel()
	answer := func(body string) sim.Fault {
		return sim.Fault{Operation: sim.ListRecords, Moment: sim.Instead, Status: 200, Body: body, Skip: 1}
	}
	one := func(id string) string {
		return `{"id":"` + id + `","name":"x.` + zoneName + `","type":"A","content":"192.0.2.1","ttl":60}`
	}
	for name, tt := range map[string]sim.Fault{
		"the second page fails":        {Operation: sim.ListRecords, Moment: sim.Instead, Status: 500, Skip: 1},
		"the second page is cut":       {Operation: sim.ListRecords, Moment: sim.Truncated, Skip: 1},
		"the second page is empty":     answer(`{"success":true,"result":[],"result_info":{"total_count":4}}`),
		"the second page is missing":   answer(`{"success":true,"result":null,"result_info":{"total_count":4}}`),
		"the length is missing":        answer(`{"success":true,"result":[],"result_info":{}}`),
		"the length has changed":       answer(`{"success":true,"result":[` + one("x") + `],"result_info":{"total_count":3}}`),
		"the list is shorter than it":  answer(`{"success":true,"result":[{"id":"a","name":"b","type":"c"}],"result_info":{"total_count":2}}`),
		"a record has no id":           answer(`{"success":true,"result":[{"name":"b","type":"c"},{"id":"x","name":"b","type":"c"}],"result_info":{"total_count":4}}`),
		"it is the first page again":   answer(`{"success":true,"result":[` + one("first") + "," + one("second") + `],"result_info":{"total_count":4}}`),
		"it is no answer of the API's": answer(`<html>`),
		"it fails with a good status":  answer(`{"success":false,"errors":[],"result":[` + one("x") + "," + one("y") + `],"result_info":{"total_count":4}}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(o *sim.Options, _ *cloudflare.Config) { o.PageSize = 2 })
			for i, id := range []string{"first", "second", "third", "fourth"} {
				w.put(sim.Record{ID: id, Name: in(string(rune('a' + i))), Type: "A", Content: "192.0.2.1", TTL: 60})
			}
			w.AddFault(tt)
			sets, _, err := w.ListRecords(t.Context(), w.zone.ID, "")
			wants(t, err, fault.Transient)
			if sets != nil {
				t.Errorf("listed %v", sets)
			}
			if got := w.list(t); len(got) != 5 {
				t.Errorf("the next listing has %v", got)
			}
		})
	}
}

func TestRotatedToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.change(t, create(cname("a"))...)
	w.RevokeToken(token)
	w.AddToken(sim.Token{Value: "second", ReadsZones: true, EditsDNS: true})
	_, _, err := w.ListRecords(t.Context(), w.zone.ID, "")
	wants(t, err, fault.Denied, "10000", "Zone:Read and DNS:Edit")
	w.token.Store("second\n") // as files have it
	if got := w.list(t); len(got) != 2 {
		t.Errorf("listed %v", got)
	}
	w.token.Store("")
	before := len(w.Calls())
	_, _, err = w.ListZones(t.Context(), "")
	wants(t, err, fault.Denied, "no API token")
	if len(w.Calls()) != before {
		t.Error("asked without a token")
	}
}

func TestLeastToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other := w.AddZone(sim.Zone{Name: "other.example"})
	w.AddToken(sim.Token{Value: token, ReadsZones: true, EditsDNS: true, Zones: []string{w.zone.ID}})
	zones, _, err := w.ListZones(t.Context(), "")
	if err != nil || len(zones) != 1 {
		t.Errorf("zones %v, %v", zones, err)
	}
	w.change(t, create(cname("a"))...)
	_, err = w.Change(t.Context(), other.ID, create(cname("a")))
	wants(t, err, fault.Denied, "9109")
	w.AddToken(sim.Token{Value: token, ReadsZones: true})
	_, err = w.Change(t.Context(), w.zone.ID, create(cname("b")))
	wants(t, err, fault.Denied, "10000")
}

func TestConstructor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, change := range map[string]func(*cloudflare.Config){
		"an address of no API": func(c *cloudflare.Config) { c.BaseURL = "ftp://x" },
		"no URL at all":        func(c *cloudflare.Config) { c.BaseURL = "://" },
		"no token":             func(c *cloudflare.Config) { c.Token = nil },
		"no gate":              func(c *cloudflare.Config) { c.Gate = nil },
		"no clock":             func(c *cloudflare.Config) { c.Clock = nil },
	} {
		config := w.config
		change(&config)
		if _, err := cloudflare.New(config); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if n := len(w.Calls()); n != 0 {
		t.Errorf("%d calls were made", n)
	}
	traits := w.dns.Traits()
	if traits.Apex != dns.FlattenedApex || traits.Batch.Records != 200 || traits.PageSize != 5000 {
		t.Errorf("traits %+v", traits)
	}
}

// Facts about a zone are not read each time.
func TestCallsOfAQuietZone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if _, _, err := w.ListZones(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		w.list(t)
		w.pass(15 * time.Minute)
	}
	if n := w.CallsOf(sim.GetZone); n != 0 || w.CallsOf(sim.ListRecords) != 3 {
		t.Errorf("calls %v", w.Calls())
	}
}
