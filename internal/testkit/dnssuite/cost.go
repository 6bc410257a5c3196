package dnssuite

import (
	"fmt"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
)

// What all of it costs.
var costRows = []row{
	{"a quiet zone costs one listing in a quarter of an hour, and no change", quiet},
	{"a process that starts again changes nothing", restarts},
	{"500 objects of one zone take as many calls as its batches need", manyObjects},
	{"what is published while the zone is listed is neither lost nor corrected", publishesWhileListing},
	{"with many pages no record looks absent", manyPages},
}

// listing is how many calls it takes to list that many records.
func (r *rig) listing(records int) int {
	if r.Can.Page == 0 {
		return 1
	}
	return records/r.Can.Page + 2
}

func quiet(r *rig) {
	for n := range 5 {
		r.add(r.cname(fmt.Sprintf("t%d", n)))
	}
	r.run(30 * time.Minute)
	const hours = 3
	var all int
	r.wantNoChange("a quiet zone", func() {
		_, all = r.cost(func() { r.run(hours * time.Hour) })
	})
	records := len(r.Sets(r.Zone.ID)) + 4
	if limit := (hours*4 + 1) * r.listing(records); all > limit || all < hours {
		r.t.Errorf("%d calls in %d hours for %d records, want up to %d, and some", all, hours, records, limit)
	}
}

func restarts(r *rig) {
	r.add(r.cname("a"), r.cname("*.b"))
	r.add(r.cname("c"))
	r.run(10 * time.Minute)
	for range 3 {
		r.restart()
		r.wantNoChange("a restart", func() { r.run(20 * time.Minute) })
		for _, o := range r.objects {
			r.wantState(o, dns.Published)
			r.wantPhase(o, dns.There)
		}
	}
	o := r.objects[0]
	r.want(o)
	r.step()
	r.restart()
	r.run(10 * time.Minute)
	r.wantState(o, "")
	r.wantSets("gone after a restart", r.cname("c").Set())
}

func manyObjects(r *rig) {
	many := r.many()
	var sets []dns.RecordSet
	start := r.Clock.Now()
	mutating, all := r.cost(func() {
		for n := range many {
			record := r.cname(fmt.Sprintf("t%03d", n))
			sets = append(sets, record.Set())
			r.add(record)
		}
		r.until("all are published", func() bool { return r.everyOne(dns.Published) })
	})
	took := r.Clock.Since(start)
	r.wantSets("published", sets...)
	r.t.Logf("%d objects are published after %v with %d calls that change something, %d in all", many, took, mutating, all)
	if limit := r.callsFor(many); mutating > limit {
		r.t.Errorf("%d calls that change something, want %d at most", mutating, limit)
	}
	mutating, all = r.cost(func() {
		for _, o := range r.objects {
			r.want(o)
		}
		r.until("all are gone", func() bool { return r.everyOne("") })
	})
	r.wantSets("deleted")
	r.t.Logf("they are gone after %d calls that change something, %d in all", mutating, all)
	if limit := r.callsFor(many) * max(r.Can.Deletion, 1); mutating > limit {
		r.t.Errorf("%d calls that delete something, want %d at most", mutating, limit)
	}
}

// everyOne reports whether every entry of every object has a state; with an empty state, whether there is none.
func (r *rig) everyOne(state dns.State) bool {
	for _, o := range r.objects {
		if state != "" && len(o.Ledger) == 0 {
			return false
		}
		for _, e := range o.Ledger {
			if e.State != state {
				return false
			}
		}
	}
	return true
}

func publishesWhileListing(r *rig) {
	if r.Can.NoForeign == "" {
		r.populate()
	}
	first := r.publish("first")
	r.run(5 * time.Minute)
	mutating, _ := r.cost(func() {
		// It is on the first page of a listing that has begun before it is sent, and ends after that.
		o := r.add(r.cname("a"))
		r.workers.Refresh(first.Owner)
		r.step()
		r.Clock.Step(time.Second)
		r.run(40 * time.Minute)
		r.wantState(o, dns.Published)
		r.wantPhase(o, dns.There)
	})
	r.wantState(first, dns.Published)
	if mutating > 1 {
		r.t.Errorf("%d changes for one record: something was corrected that was in order", mutating)
	}
	for _, w := range []dns.Record{r.cname("first"), r.cname("a")} {
		if got := r.Answers(w.Name, w.Type); len(got) != 1 {
			r.t.Errorf("servers answer %v for %s", got, w.Name)
		}
	}
}

func manyPages(r *rig) {
	for n := range 3*max(r.Can.Page, 5) + 1 {
		r.add(r.cname(fmt.Sprintf("t%03d", n)))
	}
	r.run(20 * time.Minute)
	r.wantNoChange("listed again", func() { r.look() })
	r.restart()
	r.wantNoChange("listed after a restart", func() { r.look() })
	for _, o := range r.objects {
		r.wantState(o, dns.Published)
		r.wantPhase(o, dns.There)
	}
}
