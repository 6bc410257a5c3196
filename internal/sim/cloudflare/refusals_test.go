package cloudflare_test

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	sdkdns "github.com/cloudflare/cloudflare-go/v7/dns"
	"github.com/cloudflare/cloudflare-go/v7/option"
	sdkzones "github.com/cloudflare/cloudflare-go/v7/zones"
	"github.com/google/go-cmp/cmp"

	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/cloudflare"
)

func TestRefusedRecords(t *testing.T) {
	t.Parallel()
	with := func(f fields, change func(*fields)) fields { change(&f); return f }
	for name, tt := range map[string]struct {
		there []fields
		write fields
		want  int
	}{
		"a CNAME where an address is":  {[]fields{{name: "a." + zoneName, kind: "A", content: "192.0.2.1", ttl: 300}}, cname("a"), 81053},
		"a CNAME where another is":     {[]fields{with(cname("a"), func(f *fields) { f.content = "other.example" })}, cname("a"), 81053},
		"an address where a CNAME is":  {[]fields{cname("a")}, fields{name: "a." + zoneName, kind: "A", content: "192.0.2.1", ttl: 300}, 81054},
		"the same record again":        {[]fields{cname("a")}, cname("A"), 81058},
		"an NS where a TXT is":         {[]fields{{name: "a." + zoneName, kind: "TXT", content: `"x"`, ttl: 300}}, fields{name: "a." + zoneName, kind: "NS", content: "ns.example.net", ttl: 300}, 81056},
		"a CNAME at the apex with one": {[]fields{{name: zoneName, kind: "A", content: "192.0.2.1", ttl: 300}}, fields{name: zoneName, kind: "CNAME", content: "d.cloudfront.net", ttl: 300}, 81053},
		"an address that is none":      {nil, fields{name: "a." + zoneName, kind: "A", content: "x", ttl: 300}, 9005},
		"an IPv4 address as IPv6":      {nil, fields{name: "a." + zoneName, kind: "AAAA", content: "192.0.2.1", ttl: 300}, 9006},
		"a CNAME to no host":           {nil, with(cname("a"), func(f *fields) { f.content = "-x-.." }), 9007},
		"a CNAME to itself":            {nil, with(cname("a"), func(f *fields) { f.content = f.name }), 9039},
		"an MX without a priority":     {nil, fields{name: "a." + zoneName, kind: "MX", content: "mx.example.net", ttl: 300}, 9009},
		"a TXT of half a quote":        {nil, fields{name: "a." + zoneName, kind: "TXT", content: `"x`, ttl: 300}, 9207},
		"a TXT of 2,049 characters":    {nil, fields{name: "a." + zoneName, kind: "TXT", content: `"` + strings.Repeat("x", 2047) + `"`, ttl: 300}, 9207},
		"a type that is no type":       {nil, fields{name: "a." + zoneName, kind: "SOA", content: "x", ttl: 300}, 9004},
		"a name of another zone":       {nil, with(cname("a"), func(f *fields) { f.name = "a.other.example" }), 9000},
		"a name with a star inside":    {nil, cname("a.*"), 9000},
		"a name with a space":          {nil, cname("a b"), 9000},
		"a label of 64 letters":        {nil, cname(strings.Repeat("x", 64)), 9000},
		"no TTL":                       {nil, with(cname("a"), func(f *fields) { f.ttl = 0 }), 9021},
		"a TTL of 59":                  {nil, with(cname("a"), func(f *fields) { f.ttl = 59 }), 9021},
		"a TTL of more than a day":     {nil, with(cname("a"), func(f *fields) { f.ttl = 86401 }), 9021},
		"half a second":                {nil, with(cname("a"), func(f *fields) { f.ttl = 60.5 }), 9021},
		"a comment of 101 characters":  {nil, with(cname("a"), func(f *fields) { f.comment = strings.Repeat("ä", 101) }), 9313},
		"a TXT that is proxied":        {nil, fields{name: "a." + zoneName, kind: "TXT", content: `"x"`, ttl: 300, proxied: true}, 9041},

		"a TTL of a minute":              {nil, with(cname("a"), func(f *fields) { f.ttl = 60 }), 0},
		"an automatic TTL":               {nil, with(cname("a"), func(f *fields) { f.ttl = 1 }), 0},
		"a comment of 100 characters":    {nil, with(cname("a"), func(f *fields) { f.comment = strings.Repeat("ä", 100) }), 0},
		"a TXT of a string to be split":  {nil, fields{name: "a." + zoneName, kind: "TXT", content: `"` + strings.Repeat("x", 256) + `"`, ttl: 300}, 0},
		"a TXT without quotes":           {nil, fields{name: "a." + zoneName, kind: "TXT", content: "v=spf1 -all", ttl: 300}, 0},
		"a wildcard":                     {nil, cname("*.a"), 0},
		"an underscore":                  {nil, cname("_cf-challenge.a"), 0},
		"a second value":                 {[]fields{{name: "a." + zoneName, kind: "TXT", content: `"x"`, ttl: 300}}, fields{name: "a." + zoneName, kind: "TXT", content: `"y"`, ttl: 300}, 0},
		"a CNAME where a TXT is":         {[]fields{{name: "a." + zoneName, kind: "TXT", content: `"x"`, ttl: 300}}, cname("a"), 0},
		"a CNAME at the apex with an MX": {[]fields{{name: zoneName, kind: "MX", content: "mx.example.net", ttl: 300, priority: 5}}, fields{name: zoneName, kind: "CNAME", content: "d.cloudfront.net", ttl: 300}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for _, f := range tt.there {
				if _, err := w.create(t.Context(), f); err != nil {
					t.Fatal(err)
				}
			}
			before := w.contents()
			_, err := w.create(t.Context(), tt.write)
			status := http.StatusOK
			if tt.want != 0 {
				status = http.StatusBadRequest
			}
			w.wants(t, err, status, tt.want)
			if changed := !slices.Equal(before, w.contents()); changed != (tt.want == 0) {
				t.Errorf("the zone has %v, and had %v", w.contents(), before)
			}
		})
	}
}

func TestRefusedTokens(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other := w.AddZone(sim.Zone{Name: "other.example"})
	for _, one := range []sim.Token{
		{Value: "reader", ReadsZones: true},
		{Value: "editor", EditsDNS: true},
		{Value: "looker", ReadsDNS: true},
		{Value: "of-one", ReadsZones: true, EditsDNS: true, Zones: []string{other.ID}},
	} {
		w.AddToken(one)
	}
	zones := func(ctx context.Context, o ...option.RequestOption) error {
		_, err := w.zones.List(ctx, sdkzones.ZoneListParams{}, o...)
		return err
	}
	zone := func(ctx context.Context, o ...option.RequestOption) error {
		var p sdkzones.ZoneGetParams
		put(&p.ZoneID.Value, &p.ZoneID.Present, w.zone.ID)
		_, err := w.zones.Get(ctx, p, o...)
		return err
	}
	records := func(ctx context.Context, o ...option.RequestOption) error {
		_, err := w.list(ctx, w.zone.ID, o...)
		return err
	}
	create := func(ctx context.Context, o ...option.RequestOption) error {
		_, err := w.create(ctx, cname("a"), o...)
		return err
	}
	for name, tt := range map[string]struct {
		do           func(context.Context, ...option.RequestOption) error
		token        option.RequestOption
		status, code int
	}{
		"no token":                       {zones, option.WithHeaderDel("Authorization"), 400, 9106},
		"another kind of authorization":  {zones, option.WithHeader("Authorization", "Basic eDp5"), 400, 6003},
		"a token with a space":           {zones, option.WithAPIToken("a b"), 400, 6003},
		"an unknown token, zones":        {zones, option.WithAPIToken("x"), 403, 9109},
		"an unknown token, records":      {records, option.WithAPIToken("x"), 401, 10000},
		"zones without Zone:Read":        {zones, option.WithAPIToken("editor"), 403, 9109},
		"a zone without Zone:Read":       {zone, option.WithAPIToken("editor"), 403, 9109},
		"records without DNS:Edit":       {records, option.WithAPIToken("reader"), 403, 10000},
		"a creation without DNS:Edit":    {create, option.WithAPIToken("reader"), 403, 10000},
		"a creation with DNS:Read":       {create, option.WithAPIToken("looker"), 403, 10000},
		"records with DNS:Read":          {records, option.WithAPIToken("looker"), 200, 0},
		"a zone of another token":        {zone, option.WithAPIToken("of-one"), 403, 9109},
		"records of another token":       {records, option.WithAPIToken("of-one"), 403, 10000},
		"zones with a token for one":     {zones, option.WithAPIToken("of-one"), 200, 0},
		"records with DNS:Edit alone":    {records, option.WithAPIToken("editor"), 200, 0},
		"everything with a token for it": {create, option.WithAPIToken(token), 200, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w.wants(t, tt.do(t.Context(), tt.token), tt.status, tt.code)
		})
	}
	w.RevokeToken("reader")
	w.wants(t, zones(t.Context(), option.WithAPIToken("reader")), 403, 9109)
}

func TestTokensAreVerified(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for value, want := range map[string]int{token: http.StatusOK, "x": http.StatusUnauthorized} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+"/user/tokens/verify", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+value)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("the token %s is answered with %d", value, answer.StatusCode)
		}
	}
}

func TestUnknownObjects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.list(t.Context(), strings.Repeat("0", 32))
	w.wants(t, err, 404, 7003)
	_, err = w.list(t.Context(), "short")
	w.wants(t, err, 404, 7003)
	var p sdkdns.RecordDeleteParams
	put(&p.ZoneID.Value, &p.ZoneID.Present, w.zone.ID)
	_, err = w.records.Delete(t.Context(), strings.Repeat("0", 32), p)
	w.wants(t, err, 404, 81044)
	w.wants(t, w.batch(t.Context(), []string{strings.Repeat("0", 32)}), 404, 81044)
	w.RemoveZone(w.zone.ID)
	_, err = w.list(t.Context(), w.zone.ID)
	w.wants(t, err, 404, 7003)
}

func TestABatchIsAllOrNothing(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		deletes      int // of the records a, b and c
		twice        bool
		posts        []fields
		status, code int
		want         []string
	}{
		"deletions come first":         {1, false, []fields{{name: "a." + zoneName, kind: "A", content: "192.0.2.1", ttl: 60}}, 200, 0, []string{"a A 192.0.2.1", "b", "c"}},
		"one impossible of several":    {1, false, []fields{cname("d"), {name: "e." + zoneName, kind: "A", content: "x", ttl: 60}}, 400, 9005, []string{"a", "b", "c"}},
		"one that is there":            {1, false, []fields{cname("d"), cname("c")}, 400, 81058, []string{"a", "b", "c"}},
		"one twice":                    {0, false, []fields{cname("d"), cname("d")}, 400, 81058, []string{"a", "b", "c"}},
		"a deletion twice":             {1, true, nil, 400, 6009, []string{"a", "b", "c"}},
		"nothing":                      {0, false, nil, 400, 6007, []string{"a", "b", "c"}},
		"more than the plan takes":     {3, false, []fields{cname("d"), cname("e")}, 400, 6008, []string{"a", "b", "c"}},
		"more than the zone can hold":  {0, false, []fields{cname("d"), cname("e"), cname("f")}, 400, 81045, []string{"a", "b", "c"}},
		"as many as the plan can take": {2, false, []fields{cname("d"), cname("e")}, 200, 0, []string{"c", "d", "e"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(o *sim.Options) { o.BatchLimit, o.RecordQuota = 4, 5 })
			var ids []string
			for _, n := range []string{"a", "b", "c"} {
				r, err := w.create(t.Context(), cname(n))
				if err != nil {
					t.Fatal(err)
				}
				ids = append(ids, r.ID)
			}
			deletes := ids[:tt.deletes]
			if tt.twice {
				deletes = append(deletes, deletes...)
			}
			w.wants(t, w.batch(t.Context(), deletes, tt.posts...), tt.status, tt.code)
			var got []string
			for _, text := range w.contents() {
				got = append(got, strings.TrimSuffix(text, " CNAME d111.cloudfront.net"))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("the zone (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRecordsAreEdited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r, err := w.create(t.Context(), fields{name: "a." + zoneName, kind: "A", content: "192.0.2.1", ttl: 300, comment: "first"})
	if err != nil {
		t.Fatal(err)
	}
	var edit sdkdns.RecordEditParams
	put(&edit.ZoneID.Value, &edit.ZoneID.Present, w.zone.ID)
	var body sdkdns.RecordEditParamsBody
	put(&body.Content.Value, &body.Content.Present, "192.0.2.2")
	edit.Body = body
	_, err = w.records.Edit(t.Context(), r.ID, edit)
	w.wants(t, err, 200, 0)
	if got := w.Records(w.zone.ID)[0]; got.Content != "192.0.2.2" || got.TTL != 300 || got.Comment != "first" || got.ID != r.ID {
		t.Errorf("patched: %+v", got)
	}
	var update sdkdns.RecordUpdateParams
	put(&update.ZoneID.Value, &update.ZoneID.Present, w.zone.ID)
	var whole sdkdns.RecordUpdateParamsBody
	put(&whole.Name.Value, &whole.Name.Present, "a."+zoneName)
	put(&whole.Type.Value, &whole.Type.Present, sdkdns.RecordUpdateParamsBodyTypeCNAME)
	put(&whole.Content.Value, &whole.Content.Present, "d.cloudfront.net")
	put(&whole.TTL.Value, &whole.TTL.Present, 60)
	update.Body = whole
	_, err = w.records.Update(t.Context(), r.ID, update)
	w.wants(t, err, 200, 0)
	if got := w.Records(w.zone.ID)[0]; got.Type != "CNAME" || got.TTL != 60 || got.Comment != "" {
		t.Errorf("overwritten: %+v", got)
	}
	if _, err := w.create(t.Context(), cname("b")); err != nil {
		t.Fatal(err)
	}
	put(&whole.Name.Value, &whole.Name.Present, "b."+zoneName)
	update.Body = whole
	_, err = w.records.Update(t.Context(), r.ID, update)
	w.wants(t, err, 400, 81053)
	w.PutRecord(w.zone.ID, sim.Record{ID: r.ID, Name: "a." + zoneName, Type: "A", Content: "192.0.2.1", TTL: 1, Meta: map[string]any{"read_only": true}})
	_, err = w.records.Edit(t.Context(), r.ID, edit)
	w.wants(t, err, 400, 9041)
	w.wants(t, w.batch(t.Context(), []string{r.ID}), 400, 9041)
}

func TestPagesAndFilters(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *sim.Options) { o.PageSize = 2 })
	for i := range 5 {
		if _, err := w.create(t.Context(), fields{name: "a." + zoneName, kind: "TXT", content: `"` + strconv.Itoa(i) + `"`, ttl: 60}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.create(t.Context(), cname("b")); err != nil {
		t.Fatal(err)
	}
	count := func(o ...option.RequestOption) (n int) {
		var p sdkdns.RecordListParams
		put(&p.ZoneID.Value, &p.ZoneID.Present, w.zone.ID)
		pages := w.records.ListAutoPaging(t.Context(), p, o...)
		for pages.Next() {
			n++
		}
		if pages.Err() != nil {
			t.Fatal(pages.Err())
		}
		return n
	}
	for name, tt := range map[string]struct {
		query []option.RequestOption
		want  int
	}{
		"everything":     {nil, 6},
		"a name":         {[]option.RequestOption{option.WithQuery("name.exact", "A."+zoneName)}, 5},
		"a type":         {[]option.RequestOption{option.WithQuery("type", "CNAME")}, 1},
		"a content":      {[]option.RequestOption{option.WithQuery("content.exact", `"3"`)}, 1},
		"nothing":        {[]option.RequestOption{option.WithQuery("name.exact", zoneName)}, 0},
		"a part of it":   {[]option.RequestOption{option.WithQuery("name.exact", "est.example")}, 0},
		"pages of a few": {[]option.RequestOption{option.WithQuery("per_page", "1")}, 6},
	} {
		if got := count(tt.query...); got != tt.want {
			t.Errorf("%s: %d records, want %d", name, got, tt.want)
		}
	}
	for name, tt := range map[string]struct{ key, value string }{
		"a page of too many":     {"per_page", "5001"},
		"a page of none":         {"per_page", "0"},
		"no such page":           {"page", "0"},
		"a filter of some other": {"name.contains", "a"},
		"any instead of all":     {"match", "any"},
	} {
		_, err := w.list(t.Context(), w.zone.ID, option.WithQuery(tt.key, tt.value))
		if w.status != 400 || err == nil {
			t.Errorf("%s: status %d, error %v", name, w.status, err)
		}
	}
	for _, per := range []string{"4", "51"} {
		_, err := w.zones.List(t.Context(), sdkzones.ZoneListParams{}, option.WithQuery("per_page", per))
		if w.status != 400 || err == nil {
			t.Errorf("%s zones in a page: status %d, error %v", per, w.status, err)
		}
	}
}

func TestZonesAreListed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 7 {
		w.AddZone(sim.Zone{Name: "z" + strconv.Itoa(i) + ".example"})
	}
	w.AddZone(sim.Zone{Name: "new.example", Status: "pending"})
	var names []string
	pages := w.zones.ListAutoPaging(t.Context(), sdkzones.ZoneListParams{}, option.WithQuery("per_page", "5"))
	for pages.Next() {
		names = append(names, pages.Current().Name)
	}
	if pages.Err() != nil || len(names) != 9 || !slices.IsSorted(names) {
		t.Errorf("zones %v, %v", names, pages.Err())
	}
	page, err := w.zones.List(t.Context(), sdkzones.ZoneListParams{}, option.WithQuery("name", zoneName))
	if err != nil || len(page.Result) != 1 || len(page.Result[0].NameServers) != 2 || page.Result[0].Status != sdkzones.ZoneStatusActive {
		t.Errorf("%+v, %v", page, err)
	}
}

func TestTooManyRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *sim.Options) { o.RequestLimit = 3 })
	w.AddToken(sim.Token{Value: "second", EditsDNS: true})
	ask := func(o ...option.RequestOption) error { _, err := w.list(t.Context(), w.zone.ID, o...); return err }
	for range 3 {
		w.wants(t, ask(), 200, 0)
	}
	w.clock.SetTime(w.clock.Now().Add(time.Minute))
	w.wants(t, ask(), 429, 10013)
	if after := w.header.Get("Retry-After"); after != "240" {
		t.Errorf("Retry-After is %q", after)
	}
	w.wants(t, ask(option.WithAPIToken("second")), 200, 0)
	w.clock.SetTime(w.clock.Now().Add(4 * time.Minute))
	w.wants(t, ask(), 200, 0)
}

func TestMalformedRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.create(t.Context(), cname("a"), option.WithJSONSet("colour", "red"))
	w.wants(t, err, 400, 6007)
	_, err = w.create(t.Context(), cname("a"), option.WithRequestBody("application/json", []byte("{")))
	w.wants(t, err, 400, 6007)
	_, err = w.create(t.Context(), cname("a"), option.WithJSONSet("tags", []string{"a:b"}))
	w.wants(t, err, 400, 9300)
	_, err = w.create(t.Context(), cname("a"), option.WithJSONSet("id", "x"))
	w.wants(t, err, 400, 6007)
}

func TestFaults(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fault     sim.Fault
		committed bool
		status    int
	}{
		"before anything is done":     {sim.Fault{Moment: sim.Before}, false, 0},
		"after all is done":           {sim.Fault{Moment: sim.After}, true, 0},
		"in the middle of the answer": {sim.Fault{Moment: sim.Truncated}, true, 0},
		"an error instead":            {sim.Fault{Moment: sim.Instead, Status: 503}, false, 503},
		"a page instead":              {sim.Fault{Moment: sim.Instead, Status: 502, Body: "<html>"}, false, 502},
		"of another operation":        {sim.Fault{Operation: sim.ListZones, Moment: sim.Before}, true, 200},
		"the next but one":            {sim.Fault{Moment: sim.Before, Skip: 1}, true, 200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.AddFault(tt.fault)
			_, err := w.create(t.Context(), cname("a"))
			if (err == nil) != (tt.status == 200) || (len(w.Records(w.zone.ID)) == 1) != tt.committed {
				t.Errorf("error %v, records %v", err, w.contents())
			}
			want := []sim.Call{{
				Operation: sim.CreateRecord, Mutating: true, Committed: tt.committed, Status: tt.status, Path: "/client/v4/zones/" + w.zone.ID + "/dns_records",
			}}
			if diff := cmp.Diff(want, w.Calls()); diff != "" {
				t.Errorf("journal (-want +got):\n%s", diff)
			}
		})
	}
}
