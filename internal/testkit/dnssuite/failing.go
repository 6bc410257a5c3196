package dnssuite

import (
	gocmp "github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// How an adapter fails, without any worker.
var failingRows = []row{
	{"a throttled call changes nothing, and its listing is not an empty one", throttled},
	{"a change without permission is denied, and changes nothing", denied},
	{"an answer that is lost leaves open whether the change was made", lost},
	{"a zone that is gone is not an empty one", gone},
	{"a name that the provider does not take is invalid, and changes nothing", impossible},
	{"the text of a failure stays the same, and has an end", stableTexts},
}

// longest is how long the text of a failure may be: it is part of a condition.
const longest = 1024

func throttled(r *rig) {
	if r.neverThrottles() {
		return
	}
	r.Throttle(4)
	before := r.all(r.Zone)
	if _, err := r.change(creates(r.cname("a").Set())...); !fault.Is(err, fault.Throttled) {
		r.t.Errorf("a throttled change: error %v is %s, want %s", err, fault.KindOf(err), fault.Throttled)
	}
	if sets, next, err := r.page(r.Zone, ""); !fault.Is(err, fault.Throttled) || len(sets) > 0 || next != "" {
		r.t.Errorf("a throttled listing: %v, next %q, error %v, want %s and nothing else", sets, next, err, fault.Throttled)
	}
	if sets, err := r.read(r.name("a")); !fault.Is(err, fault.Throttled) || len(sets) > 0 {
		r.t.Errorf("a throttled reading: %v, error %v, want %s and nothing else", sets, err, fault.Throttled)
	}
	r.settle()
	if d := gocmp.Diff(before, r.all(r.Zone)); d != "" {
		r.t.Errorf("the zone (-before +after):\n%s", d)
	}
	r.Throttle(0)
	if _, err := r.change(creates(r.cname("a").Set())...); err != nil {
		r.t.Errorf("afterwards: %v", err)
	}
}

// neverThrottles is true where a provider has no word for a slower pace.
func (r *rig) neverThrottles() bool {
	if r.Can.NoThrottle == "" {
		return false
	}
	r.t.Log(r.Can.NoThrottle)
	if r.Throttle != nil {
		r.t.Error("the world can throttle the provider, and the provider is said never to do so")
	}
	return true
}

func denied(r *rig) {
	r.Deny(true)
	before := r.all(r.Zone)
	if _, err := r.change(creates(r.cname("a").Set())...); !fault.Is(err, fault.Denied) {
		r.t.Errorf("error %v is %s, want %s", err, fault.KindOf(err), fault.Denied)
	}
	r.settle()
	if d := gocmp.Diff(before, r.all(r.Zone)); d != "" {
		r.t.Errorf("the zone (-before +after):\n%s", d)
	}
	r.Deny(false)
	if _, err := r.change(creates(r.cname("a").Set())...); err != nil {
		r.t.Errorf("afterwards: %v", err)
	}
}

func lost(r *rig) {
	set := r.cname("a").Set()
	for says, c := range map[string]struct {
		after bool
		want  []dns.RecordSet
	}{"before the commit": {false, nil}, "after the commit": {true, []dns.RecordSet{set}}} {
		r.Lose(c.after)
		if _, err := r.change(creates(set)...); !fault.Is(err, fault.Transient) {
			r.t.Errorf("lost %s: error %v is %s, want %s", says, err, fault.KindOf(err), fault.Transient)
		}
		r.settle()
		r.wantSets("lost "+says, c.want...)
		if read, err := r.read(set.Name); r.Can.NoForeign == "" && (err != nil || len(read) != len(c.want)) {
			r.t.Errorf("lost %s: the name has %v, error %v, want %d sets", says, read, err, len(c.want))
		}
		if len(c.want) > 0 {
			_, err := r.change(deletes(set)...)
			r.must(err)
			r.settle()
		}
	}
}

// absent is what a call for a zone that does not exist fails with.
func (r *rig) absent() fault.Kind {
	if r.Can.NoGone != "" {
		r.t.Log(r.Can.NoGone)
		return fault.Denied
	}
	return fault.NotFound
}

func gone(r *rig) {
	want := r.absent()
	_, err := r.change(creates(r.cname("a").Set())...)
	r.must(err)
	r.DropZone()
	if sets, next, err := r.page(r.Zone, ""); !fault.Is(err, want) || len(sets) > 0 || next != "" {
		r.t.Errorf("listing: %v, next %q, error %v, want %s and nothing else", sets, next, err, want)
	}
	if sets, err := r.read(r.name("a")); !fault.Is(err, want) || len(sets) > 0 {
		r.t.Errorf("reading: %v, error %v, want %s and nothing else", sets, err, want)
	}
	if _, err := r.change(creates(r.cname("b").Set())...); !fault.Is(err, want) {
		r.t.Errorf("creating: error %v is %s, want %s", err, fault.KindOf(err), want)
	}
	if _, err := r.change(deletes(r.cname("a").Set())...); !fault.Is(err, want) {
		r.t.Errorf("deleting: error %v is %s, want %s", err, fault.KindOf(err), want)
	}
}

func impossible(r *rig) {
	set := dns.Record{Name: r.Poison, Type: dns.CNAME, Value: target, TTL: ttl}.Set()
	before := r.all(r.Zone)
	if _, err := r.change(creates(set)...); !fault.Is(err, fault.Invalid) {
		r.t.Errorf("error %v is %s, want %s", err, fault.KindOf(err), fault.Invalid)
	}
	r.settle()
	if d := gocmp.Diff(before, r.all(r.Zone)); d != "" {
		r.t.Errorf("the zone (-before +after):\n%s", d)
	}
}

func stableTexts(r *rig) {
	text := func(says string, fail func() error) {
		first, second := fail(), fail()
		switch {
		case first == nil || second == nil:
			r.t.Errorf("%s: no failure", says)
		case first.Error() != second.Error():
			r.t.Errorf("%s: the text changes from %q to %q: each would be written to the object's status", says, first, second)
		case len(first.Error()) > longest:
			r.t.Errorf("%s: the text has %d characters: %s", says, len(first.Error()), first)
		}
	}
	create := func(s dns.RecordSet) func() error {
		return func() error {
			_, err := r.change(creates(s)...)
			return err
		}
	}
	if r.Can.NoForeign == "" {
		r.Put(r.Zone.ID, r.foreign("a"))
		text("something is there", create(r.cname("a").Set()))
		text("nothing is there", func() error {
			_, err := r.change(deletes(r.cname("b").Set())...)
			return err
		})
	}
	text("an impossible name", create(dns.Record{Name: r.Poison, Type: dns.CNAME, Value: target, TTL: ttl}.Set()))
	text("a zone that does not exist", func() error {
		_, _, err := r.page(dns.Zone{ID: r.Zone.ID + "0"}, "")
		return err
	})
	r.Deny(true)
	text("no permission", create(r.cname("c").Set()))
	r.Deny(false)
}
