package dnssuite

import (
	"strings"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// Changes that an adapter makes, and refuses to make, without any worker.
var changingRows = []row{
	{"what is created is there, read, answered, and in sync once servers answer", creating},
	{"nothing is created over what is there", createsOverNothing},
	{"a set is deleted only as it was read", deletesExactly},
	{"a name changes from one set to another in one change", swaps},
	{"of changes that can't all be made none is, or the answer says that some may be", allOrNone},
	{"the provider shows whose a record is, or has no room for that", notesOwner},
	{"the other zones of the account are left alone", leavesOtherZones},
}

func creating(r *rig) {
	sets := []dns.RecordSet{
		r.cname("a").Set(), r.cname("*.wild").Set(), r.cname("_under.score").Set(), r.cname("xn--bcher-kva").Set(),
	}
	if text := r.set("_cf-challenge.a", dns.TXT, target); r.Can.NoText == "" {
		sets = append(sets, text)
	} else if _, err := r.change(creates(text)...); !fault.Is(err, fault.Invalid) {
		r.t.Errorf("a text is created although %s: error %v is %s, want %s", r.Can.NoText, err, fault.KindOf(err), fault.Invalid)
	}
	id, err := r.change(creates(sets...)...)
	r.must(err)
	// Records that servers don't have yet are in the zone nevertheless.
	r.showsCreated(sets)
	r.settle()
	r.wantSets("created", sets...)
	r.inSync(dns.Sent{ID: id, Changes: creates(sets...)})
	r.showsCreated(sets)
	for _, s := range sets {
		name := strings.Replace(s.Name, "*", "any", 1)
		if d := gocmp.Diff(s.Values, r.Answers(name, s.Type)); d != "" {
			r.t.Errorf("servers answer for %s %s (-want +got):\n%s", s.Type, name, d)
		}
	}
	id, err = r.change(deletes(sets...)...)
	r.must(err)
	r.settle()
	r.inSync(dns.Sent{ID: id, Changes: deletes(sets...)})
	r.wantSets("deleted")
	if d := gocmp.Diff([]string(nil), r.all(r.Zone)); d != "" {
		r.t.Errorf("the zone keeps (-want +got):\n%s", d)
	}
	for _, s := range sets {
		if got := r.Answers(s.Name, s.Type); len(got) > 0 {
			r.t.Errorf("servers still answer for %s %s: %v", s.Type, s.Name, got)
		}
	}
}

// showsCreated checks that the adapter shows just these sets.
func (r *rig) showsCreated(sets []dns.RecordSet) {
	r.t.Helper()
	listed, _, err := r.list(nil)
	r.must(err)
	if d := gocmp.Diff(showAll(sets), showAll(r.without(listed))); d != "" {
		r.t.Errorf("the listing (-created +listed):\n%s", d)
	}
	for _, s := range sets {
		read, err := r.read(s.Name)
		if d := gocmp.Diff(showAll([]dns.RecordSet{s}), showAll(read)); d != "" || err != nil {
			r.t.Errorf("the name %s: error %v (-created +read):\n%s", s.Name, err, d)
		}
	}
}

// inSync checks that the adapter says of a change that servers have it.
func (r *rig) inSync(sent dns.Sent) {
	r.t.Helper()
	done := false
	err := r.paced(func() (err error) {
		done, err = r.client.InSync(r.t.Context(), r.Zone.ID, sent)
		return err
	})
	if !done || err != nil {
		r.t.Errorf("in sync %v, error %v, after the time that servers take", done, err)
	}
}

func createsOverNothing(r *rig) {
	for says, c := range map[string]struct {
		there, comes dns.RecordSet
		kinds        []fault.Kind
	}{
		"a CNAME with another value": {r.foreign("a"), r.cname("a").Set(), []fault.Kind{fault.Exists}},
		"an equal CNAME":             {r.cname("b").Set(), r.cname("b").Set(), []fault.Kind{fault.Exists}},
		"another text":               {r.set("c", dns.TXT, "text"), r.set("c", dns.TXT, target), []fault.Kind{fault.Exists}},
		"an address next to a CNAME": {r.set("d", dns.A, "192.0.2.1"), r.cname("d").Set(), []fault.Kind{fault.Exists, fault.Invalid}},
		"a text next to a CNAME":     {r.set("e", dns.TXT, "text"), r.cname("e").Set(), []fault.Kind{fault.Exists, fault.Invalid}},
		"a CNAME next to a text":     {r.foreign("f"), r.set("f", dns.TXT, target), []fault.Kind{fault.Exists, fault.Invalid}},
	} {
		r.Put(r.Zone.ID, c.there)
		before := r.all(r.Zone)
		_, err := r.change(creates(c.comes)...)
		r.settle()
		if r.Can.NoForeign == "" && !fault.Is(err, c.kinds...) {
			r.t.Errorf("%s is there: error %v is %s, want %v", says, err, fault.KindOf(err), c.kinds)
		}
		if d := gocmp.Diff(before, r.all(r.Zone)); d != "" {
			r.t.Errorf("%s is there: the zone (-before +after):\n%s", says, d)
		}
	}
}

func deletesExactly(r *rig) {
	ours := r.cname("a").Set()
	_, err := r.change(creates(ours)...)
	r.must(err)
	r.settle()
	if r.Can.NoExact != "" {
		r.t.Log(r.Can.NoExact)
		read := ours
		read.Values = []string{"elsewhere.example.net"}
		r.keeps("it was read otherwise", read)
		return
	}
	address := dns.Key{Name: ours.Name, Type: dns.A}
	for says, there := range map[string][]dns.RecordSet{
		"it leads elsewhere now":   {r.foreign("a")},
		"it has become an address": {r.set("a", dns.A, "192.0.2.1")},
		"it is gone":               nil,
	} {
		r.Remove(r.Zone.ID, ours.Key)
		r.Remove(r.Zone.ID, address)
		for _, s := range there {
			r.Put(r.Zone.ID, s)
		}
		r.keeps(says, ours)
	}
	r.Remove(r.Zone.ID, address)
	otherTTL := ours
	otherTTL.TTL = 2 * ttl
	r.Put(r.Zone.ID, otherTTL)
	if r.Can.NoTTL == "" {
		r.keeps("it has another TTL now", ours)
		return
	}
	r.t.Log(r.Can.NoTTL)
	_, err = r.change(deletes(ours)...)
	r.must(err)
	r.settle()
	r.wantSets("it had another TTL")
}

// keeps checks that a set that is not there as it was read is not deleted, nor anything else.
func (r *rig) keeps(says string, read dns.RecordSet) {
	r.t.Helper()
	before := r.all(r.Zone)
	_, err := r.change(deletes(read)...)
	r.settle()
	if (r.Can.NoForeign == "" || r.Can.NoExact != "") && !fault.Is(err, fault.Invalid, fault.Conflict) {
		r.t.Errorf("%s: error %v is %s, want %s or %s", says, err, fault.KindOf(err), fault.Invalid, fault.Conflict)
	}
	if d := gocmp.Diff(before, r.all(r.Zone)); d != "" {
		r.t.Errorf("%s: the zone (-before +after):\n%s", says, d)
	}
}

func swaps(r *rig) {
	if r.seesNothingForeign() {
		return
	}
	for says, there := range map[string]dns.RecordSet{
		"a CNAME becomes another": r.foreign("a"), "addresses become a CNAME": r.set("b", dns.A, "192.0.2.1", "192.0.2.2"),
	} {
		r.Put(r.Zone.ID, there)
		read, err := r.read(there.Name)
		r.must(err)
		comes := dns.Record{Name: there.Name, Type: dns.CNAME, Value: target, TTL: ttl}.Set()
		if _, err := r.change(append(deletes(read...), creates(comes)...)...); err != nil {
			r.t.Errorf("%s: %v", says, err)
			continue
		}
		r.settle()
		r.wantSets(says, comes)
		_, err = r.change(deletes(comes)...)
		r.must(err)
		r.settle()
	}
}

func allOrNone(r *rig) {
	if r.seesNothingForeign() {
		return
	}
	there := r.foreign("b")
	r.Put(r.Zone.ID, there)
	first, last := r.cname("a").Set(), r.cname("c").Set()
	_, err := r.change(creates(first, r.cname("b").Set(), last)...)
	r.settle()
	switch {
	case fault.Is(err, fault.Transient) && !r.Can.Atomic:
		found := r.sets()
		for _, s := range found {
			if s != show(there) && s != show(first) && s != show(last) {
				r.t.Errorf("the zone has %s", s)
			}
		}
		return
	case !fault.Is(err, fault.Exists):
		r.t.Errorf("error %v is %s, want %s", err, fault.KindOf(err), fault.Exists)
	}
	r.wantSets("one of three is refused", there)
}

func notesOwner(r *rig) {
	o := r.publish("a")
	if r.Can.NoOwner != "" {
		r.t.Log(r.Can.NoOwner)
		if r.Owner != nil {
			r.t.Errorf("the provider shows an owner, and is said not to: %q", r.Owner(r.Zone.ID, r.cname("a").Key()))
		}
		return
	}
	if got := r.Owner(r.Zone.ID, r.cname("a").Key()); !strings.Contains(got, o.Owner.Namespace+"/"+o.Owner.Name) {
		r.t.Errorf("the provider shows %q, want the owner %s/%s in it", got, o.Owner.Namespace, o.Owner.Name)
	}
}

func leavesOtherZones(r *rig) {
	r.Put(r.Other.ID, dns.RecordSet{Key: dns.Key{Name: "a." + r.Other.Name, Type: dns.CNAME}, TTL: ttl, Values: []string{"elsewhere.example.net"}})
	before := r.all(r.Other)
	unchanged := func(what string) {
		if d := gocmp.Diff(before, r.all(r.Other)); d != "" {
			r.t.Errorf("%s: another zone (-before +after):\n%s", what, d)
		}
	}
	o := r.publish("a")
	unchanged("published")
	r.want(o)
	r.run(10 * time.Minute)
	unchanged("deleted")
}
