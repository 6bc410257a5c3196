package dnssuite

import (
	"fmt"
	"slices"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// makes reports whether a set is one of those that make a zone one, or sign it.
func makes(z dns.Zone, s dns.RecordSet) bool {
	return s.Name == z.Name && slices.Contains([]string{"SOA", "NS", "DNSKEY", "CDS", "CDNSKEY", "NSEC3PARAM", "TYPE65534"}, s.Type)
}

// all are the sets of a zone in the form in which they are compared, but for those that make it a zone.
func (r *rig) all(z dns.Zone) (out []string) {
	for _, s := range r.Sets(z.ID) {
		if !makes(z, s) {
			out = append(out, show(s))
		}
	}
	slices.Sort(out)
	return out
}

// sets are those of Zone without the adapter's notes.
func (r *rig) sets() []string {
	var notes []string
	for _, s := range r.Sets(r.Zone.ID) {
		if r.IsNote != nil && r.IsNote(s) {
			notes = append(notes, show(s))
		}
	}
	return slices.DeleteFunc(r.all(r.Zone), func(s string) bool { return slices.Contains(notes, s) })
}

func (r *rig) wantSets(what string, sets ...dns.RecordSet) {
	r.t.Helper()
	r.wantLines(what, showAll(sets))
}

func (r *rig) wantLines(what string, lines []string) {
	r.t.Helper()
	if d := gocmp.Diff(lines, r.sets()); d != "" {
		r.t.Errorf("%s: the zone (-want +got):\n%s", what, d)
	}
}

func showAll(sets []dns.RecordSet) (out []string) {
	for _, s := range sets {
		out = append(out, show(s))
	}
	slices.Sort(out)
	return out
}

// show renders all of a set that is compared.
func show(s dns.RecordSet) string {
	return fmt.Sprintf("%s %s %d %q %s", s.Name, s.Type, s.TTL, slices.Sorted(slices.Values(s.Values)), s.Alias)
}

// wantState checks that the ledger of an object has all that it wants, and nothing else, in a state; with an empty state,
// that it has nothing.
func (r *rig) wantState(o *object, state dns.State) {
	r.t.Helper()
	var want, got []string
	for _, w := range o.Wants {
		if state != "" {
			want = append(want, fmt.Sprintf("%s %s %s", w.Name, w.Type, state))
		}
	}
	for _, e := range o.Ledger {
		got = append(got, fmt.Sprintf("%s %s %s", e.Name, e.Type, e.State))
	}
	slices.Sort(want)
	slices.Sort(got)
	if d := gocmp.Diff(want, got); d != "" {
		r.t.Errorf("ledger of %s (-want +got):\n%s", o.Owner.Name, d)
	}
}

// wantPhase checks how the only record of an object stands, and returns it.
func (r *rig) wantPhase(o *object, want dns.Phase) dns.Standing {
	r.t.Helper()
	r.pass(o)
	record := o.Ledger
	if len(o.Wants) > 0 {
		record = []dns.Entry{{Record: o.Wants[0]}}
	}
	if len(record) == 0 {
		r.t.Fatalf("%s neither wants nor has a record", o.Owner.Name)
	}
	s := o.view.Of(record[0].Record)
	if s.Phase != want {
		r.t.Errorf("%s is %s (found %q, error %v), want %s", record[0].Name, s.Phase, s.Found, s.Err, want)
	}
	return s
}

// cost counts the calls that do makes.
func (r *rig) cost(do func()) (mutating, all int) {
	m, a := r.Calls()
	do()
	mutating, all = r.Calls()
	return mutating - m, all - a
}

// wantNoChange checks that do leads to no call that may change something, and leaves the zone as it is.
func (r *rig) wantNoChange(what string, do func()) {
	r.t.Helper()
	before := r.all(r.Zone)
	if mutating, _ := r.cost(do); mutating > 0 {
		r.t.Errorf("%s: %d calls that change something", what, mutating)
	}
	if d := gocmp.Diff(before, r.all(r.Zone)); d != "" {
		r.t.Errorf("%s: the zone (-before +after):\n%s", what, d)
	}
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// paced makes a call, and again when the adapter's own limiter says so.
func (r *rig) paced(call func() error) error {
	for range 1000 {
		err := call()
		if fault.CodeOf(err) != localRateLimit {
			return err
		}
		r.Clock.Step(max(fault.RetryAfter(err), time.Millisecond))
	}
	r.t.Fatal("the adapter's own limiter lets nothing pass")
	return nil
}

// change sends changes past the workers.
func (r *rig) change(changes ...dns.Change) (id string, err error) {
	err = r.paced(func() (err error) {
		id, err = r.client.Change(r.t.Context(), r.Zone.ID, changes)
		return err
	})
	return id, err
}

// read reads a name past the workers.
func (r *rig) read(name string) (sets []dns.RecordSet, err error) {
	err = r.paced(func() (err error) {
		sets, err = r.client.ReadName(r.t.Context(), r.Zone.ID, name)
		return err
	})
	return sets, err
}

// page reads one page of a zone past the workers.
func (r *rig) page(z dns.Zone, marker string) (sets []dns.RecordSet, next string, err error) {
	err = r.paced(func() (err error) {
		sets, next, err = r.client.ListRecords(r.t.Context(), z.ID, marker)
		return err
	})
	return sets, next, err
}

// list reads all pages of the zone, with what happens between them.
func (r *rig) list(between func(page int)) (sets []dns.RecordSet, pages int, err error) {
	for marker := ""; ; {
		page, next, err := r.page(r.Zone, marker)
		if err != nil {
			return nil, pages, err
		}
		sets = append(sets, page...)
		if pages++; next == "" {
			return sets, pages, nil
		}
		if pages > 1000 || next == marker {
			r.t.Fatalf("the listing does not end: %d pages, marker %q", pages, next)
		}
		if between != nil {
			between(pages)
		}
		marker = next
	}
}

// without returns sets but for those that make the zone one.
func (r *rig) without(sets []dns.RecordSet) []dns.RecordSet {
	return slices.DeleteFunc(slices.Clone(sets), func(s dns.RecordSet) bool {
		return makes(r.Zone, s)
	})
}

func creates(sets ...dns.RecordSet) (out []dns.Change) {
	for _, s := range sets {
		out = append(out, dns.Change{Action: dns.Create, Set: s, Owner: dns.Owner{Namespace: "web", Name: "shop", UID: "1"}})
	}
	return out
}

func deletes(sets ...dns.RecordSet) (out []dns.Change) {
	for _, s := range sets {
		out = append(out, dns.Change{Action: dns.Delete, Set: s, Owner: dns.Owner{Namespace: "web", Name: "shop", UID: "1"}})
	}
	return out
}

// foreign is a CNAME that leads elsewhere.
func (r *rig) foreign(labels string) dns.RecordSet {
	return dns.RecordSet{Key: dns.Key{Name: r.name(labels), Type: dns.CNAME}, TTL: ttl, Values: []string{"elsewhere.example.net"}}
}

func (r *rig) set(labels, kind string, values ...string) dns.RecordSet {
	return dns.RecordSet{Key: dns.Key{Name: r.name(labels), Type: kind}, TTL: ttl, Values: values}
}
