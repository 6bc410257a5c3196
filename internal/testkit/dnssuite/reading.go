package dnssuite

import (
	"fmt"
	"slices"
	"strings"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// Reads of an adapter, without any worker.
var readingRows = []row{
	{"the traits are complete", traits},
	{"zones are listed under their canonical names and found by their ids", listsZones},
	{"the zone's own SOA is in the listing, and marks where it begins", listsSOA},
	{"every page of a listing arrives, and every set in one piece", listsPages},
	{"what stands while others write is in the listing, or the listing fails", listsWhileWriting},
	{"a name is read as it is listed, without its neighbours", readsNames},
	{"values are read in one form, and can be deleted and put back to the letter", readsValues},
}

func traits(r *rig) {
	t := r.DNS.Traits()
	if t.Batch.Records < 1 || t.PageSize < 1 || t.ListZones == "" || t.ListRecords == "" {
		r.t.Errorf("traits %+v, want limits of at least one, and names of the operations", t)
	}
	if (r.Can.NoApex != "") != (t.Apex == dns.NoApex) {
		r.t.Errorf("the apex is %q, and the text that says that there is none is %q", t.Apex, r.Can.NoApex)
	}
	if (r.Can.NoAlias == "") != (t.Apex == dns.AliasedApex) {
		r.t.Errorf("the apex is %q, and the text that says that there are no aliases is %q", t.Apex, r.Can.NoAlias)
	}
	if r.Can.Batch < 1 || r.Can.Batch > t.Batch.Records {
		r.t.Errorf("one call publishes %d names, and a batch has %d records", r.Can.Batch, t.Batch.Records)
	}
}

func (r *rig) zones() (all []dns.Zone) {
	r.t.Helper()
	for marker, pages := "", 0; ; pages++ {
		var page []dns.Zone
		next := ""
		r.must(r.paced(func() (err error) {
			page, next, err = r.client.ListZones(r.t.Context(), marker)
			return err
		}))
		all = append(all, page...)
		if next == "" {
			return all
		}
		if next == marker || pages > 1000 {
			r.t.Fatalf("the list of zones does not end: page %d, marker %q", pages, next)
		}
		marker = next
	}
}

func (r *rig) zone(id string) (z dns.Zone, err error) {
	err = r.paced(func() (err error) {
		z, err = r.client.GetZone(r.t.Context(), id)
		return err
	})
	return z, err
}

func listsZones(r *rig) {
	expected := []dns.Zone{r.Zone, r.Other}
	if r.Can.NoTwin == "" {
		expected = append(expected, r.Twin)
	}
	listed := r.zones()
	for _, want := range expected {
		var found []dns.Zone
		for _, z := range listed {
			if z.ID == want.ID {
				found = append(found, r.known(z))
			}
		}
		if d := gocmp.Diff([]dns.Zone{want}, found); d != "" {
			r.t.Errorf("the list of zones (-want +got):\n%s", d)
		}
		got, err := r.zone(want.ID)
		if d := gocmp.Diff(want, r.known(got)); d != "" || err != nil {
			r.t.Errorf("the zone %s: error %v (-want +got):\n%s", want.ID, err, d)
		}
	}
	if z, err := r.zone(r.Zone.ID + "0"); !fault.Is(err, fault.NotFound) {
		r.t.Errorf("a zone that does not exist: %+v, error %v, want %s", z, err, fault.NotFound)
	}
}

func listsSOA(r *rig) {
	sets, _, err := r.list(nil)
	r.must(err)
	var found []string
	for _, s := range sets {
		if s.Type == "SOA" {
			found = append(found, s.Name)
		}
	}
	if d := gocmp.Diff([]string{r.Zone.Name}, found); d != "" {
		r.t.Errorf("names with an SOA (-want +got):\n%s", d)
	}
	at, err := r.read(r.Zone.Name)
	r.must(err)
	if !slices.ContainsFunc(at, func(s dns.RecordSet) bool { return s.Type == "SOA" }) {
		r.t.Errorf("read alone, the zone's own name has %v, without an SOA: what stands below a delegation could not be told from it", at)
	}
}

// populate has strangers write some pages of sets, of which several have more than one value, and returns them.
func (r *rig) populate() (sets []dns.RecordSet) {
	for n := range 3*max(r.Can.Page, 5) + 2 {
		s := r.set(fmt.Sprintf("n%03d", n), dns.A, fmt.Sprintf("192.0.2.%d", n+1))
		if n%3 == 0 {
			s.Values = []string{fmt.Sprintf("192.0.2.%d", n+1), fmt.Sprintf("198.51.100.%d", n+1), fmt.Sprintf("203.0.113.%d", n+1)}
		}
		r.Put(r.Zone.ID, s)
		sets = append(sets, s)
	}
	return sets
}

func listsPages(r *rig) {
	if r.seesNothingForeign() {
		return
	}
	r.populate()
	sets, pages, err := r.list(nil)
	r.must(err)
	if d := gocmp.Diff(r.sets(), showAll(r.without(sets))); d != "" {
		r.t.Errorf("the listing (-zone +listed):\n%s", d)
	}
	if r.Can.Page > 0 && pages < 3 {
		r.t.Errorf("it had %d pages: this world has to have small ones", pages)
	}
	if sets, next, err := r.page(r.known(dns.Zone{ID: r.Zone.ID + "0"}), ""); !fault.Is(err, r.absent()) || len(sets) > 0 || next != "" {
		r.t.Errorf("a zone that does not exist: %v, next %q, error %v, want %s and nothing else", sets, next, err, r.absent())
	}
}

func listsWhileWriting(r *rig) {
	if r.seesNothingForeign() {
		return
	}
	sets := r.populate()
	// One that comes before all others goes, and one that comes after them, and one comes at each end.
	stays := showAll(sets[1 : len(sets)-1])
	listed, pages, err := r.list(func(page int) {
		if page == 1 {
			r.Remove(r.Zone.ID, sets[0].Key)
			r.Remove(r.Zone.ID, sets[len(sets)-1].Key)
			r.Put(r.Zone.ID, r.set("aaa", dns.A, "192.0.2.200"))
			r.Remove(r.Zone.ID, dns.Key{Name: r.name("aaa"), Type: dns.A})
			r.Put(r.Zone.ID, r.set("zzz", dns.A, "192.0.2.201"))
		}
	})
	if err != nil {
		if !fault.Is(err, fault.Transient, fault.Conflict) {
			r.t.Errorf("a zone that is changed while it is listed: %v, want %s, so that it is listed again", err, fault.Transient)
		}
		return
	}
	got := showAll(listed)
	for _, s := range stays {
		n := len(slices.DeleteFunc(slices.Clone(got), func(g string) bool { return g != s }))
		if n != 1 {
			r.t.Errorf("%s stood the whole time, and is %d times in the listing of %d pages", s, n, pages)
		}
	}
}

func readsNames(r *rig) {
	if r.seesNothingForeign() {
		return
	}
	for _, s := range []dns.RecordSet{
		r.set("a", dns.A, "192.0.2.1"), r.set("a", dns.TXT, "text"), r.set("b.a", dns.A, "192.0.2.2"), r.set("*.a", dns.A, "192.0.2.3"),
		r.set("ab", dns.A, "192.0.2.4"), r.set("*", dns.A, "192.0.2.5"), r.set("xn--bcher-kva", dns.A, "192.0.2.6"),
		r.set("_service._tcp.a", dns.TXT, "under"), r.set("b", dns.CNAME, "elsewhere.example.net"),
	} {
		r.Put(r.Zone.ID, s)
	}
	for _, odd := range r.Odd {
		r.Put(r.Zone.ID, r.set(odd, dns.TXT, "odd"))
	}
	listed, _, err := r.list(nil)
	r.must(err)
	if d := gocmp.Diff(r.sets(), showAll(r.without(listed))); d != "" {
		r.t.Errorf("the listing (-zone +listed):\n%s", d)
	}
	names := map[string][]string{r.name("none"): nil, r.name("a.none"): nil, r.name("c.a"): nil}
	for _, s := range r.without(listed) {
		names[s.Name] = append(names[s.Name], show(s))
	}
	for name, want := range names {
		got, err := r.read(name)
		slices.Sort(want)
		if d := gocmp.Diff(want, showAll(got)); d != "" || err != nil {
			r.t.Errorf("the name %s: error %v (-listed +read):\n%s", name, err, d)
		}
	}
}

func readsValues(r *rig) {
	if r.seesNothingForeign() {
		return
	}
	for _, s := range []dns.RecordSet{
		r.set("v1", dns.TXT, "v=spf1 include:_spf.example.net ~all"),
		r.set("v2", dns.TXT, `say "hello" and \ or ; to $ORIGIN`),
		r.set("v3", dns.TXT, strings.Repeat("0123456789", 30)),
		r.set("v4", dns.TXT, "one", "two", " three "),
		r.set("v5", dns.A, "192.0.2.9", "192.0.2.10", "198.51.100.1"),
		r.set("v6", dns.AAAA, "2001:db8::1", "2001:db8::2"),
		r.set("v7", dns.CNAME, "elsewhere.example.net"),
	} {
		r.Put(r.Zone.ID, s)
		before := r.sets()
		read, err := r.read(s.Name)
		r.must(err)
		if d := gocmp.Diff(showAll([]dns.RecordSet{s}), showAll(read)); d != "" {
			r.t.Errorf("%s %s as read (-written +read):\n%s", s.Type, s.Name, d)
			continue
		}
		if _, err := r.change(deletes(read...)...); err != nil {
			r.t.Errorf("deleting %s %s as it was read: %v", s.Type, s.Name, err)
			continue
		}
		r.settle()
		r.wantSets("after the deletion of " + s.Name)
		if _, err := r.change(creates(read...)...); err != nil {
			r.t.Errorf("putting %s %s back: %v", s.Type, s.Name, err)
			continue
		}
		r.settle()
		r.wantLines("put back", before)
		_, err = r.change(deletes(read...)...)
		r.must(err)
		r.settle()
	}
}

// seesNothingForeign is true where the adapter sees only what it has made, and checks that it then shows nothing else.
func (r *rig) seesNothingForeign() bool {
	if r.Can.NoForeign == "" {
		return false
	}
	r.t.Log(r.Can.NoForeign)
	r.Put(r.Zone.ID, r.foreign("hidden"))
	sets, _, err := r.list(nil)
	r.must(err)
	if got := showAll(r.without(sets)); len(got) > 0 {
		r.t.Errorf("listed %v, although the adapter is said not to see the records of others", got)
	}
	return true
}
