package dnssuite

import (
	"cmp"
	"fmt"
	"math/bits"
	"strings"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// How the workers publish through an adapter, and what failures do to that.
var publishingRows = []row{
	{"a record is published after the ledger names it, and counts once servers answer", publishes},
	{"what an earlier process has sent counts once servers answer, where that can be asked", resumes},
	{"an answer that is lost before the commit: one record in the end", func(r *rig) { losesAnswers(r, false) }},
	{"an answer that is lost after the commit: one record in the end", func(r *rig) { losesAnswers(r, true) }},
	{"throttling delays a record and does nothing else", throttlesWorker},
	{"without permission nothing is published, and objects are told", deniesWorker},
	{"one impossible record among 500 keeps none of the others", oneOf500},
	{"a name that can't exist keeps no other from being read", unreadable},
	{"a zone that vanishes takes its records along, and releases the objects", vanishes},
}

// published checks that nothing of an object is in the zone that its ledger does not name, and that nothing counts as published
// that servers don't answer.
func (r *rig) published(o *object) {
	named, counts := map[dns.Key]bool{}, map[dns.Key]bool{}
	for _, e := range o.Ledger {
		named[e.Key()], counts[e.Key()] = true, e.State == dns.Published
	}
	for _, w := range o.Wants {
		if counts[w.Key()] && len(r.Answers(w.Name, w.Type)) == 0 {
			r.t.Fatalf("%s %s counts as published, and no server answers", w.Type, w.Name)
		}
	}
	for _, s := range r.Sets(r.Zone.ID) {
		if (s.Name == r.name("a") || s.Name == r.name("_cf-challenge.a")) && !named[s.Key] && (r.IsNote == nil || !r.IsNote(s)) {
			r.t.Fatalf("%s %s is in the zone, and the ledger has %v", s.Type, s.Name, o.Ledger)
		}
	}
}

func publishes(r *rig) {
	if r.Stall != nil {
		r.Stall(true)
	}
	o := r.add(r.wanted("a")...)
	r.watch = func() { r.published(o) }
	r.run(30 * time.Minute)
	if r.Stall != nil {
		r.wantState(o, dns.Intended)
		r.wantPhase(o, dns.Coming)
		r.Stall(false)
		r.run(10 * time.Minute)
	}
	r.wantState(o, dns.Published)
	r.wantPhase(o, dns.There)
	r.wantSets("published", r.cname("a").Set())
	if o.view.ChangeID == "" {
		r.t.Error("the object knows no change that a person could look up")
	}
}

func resumes(r *rig) {
	if r.Stall == nil || !r.DNS.Traits().Anonymous {
		r.t.Log("a change without an id gets some time")
		return
	}
	r.publish("first")
	r.Stall(true)
	o := r.add(r.cname("a"))
	r.watch = func() { r.published(o) }
	r.run(time.Minute)
	r.restart()
	r.run(30 * time.Minute)
	r.wantState(o, dns.Intended)
	r.Stall(false)
	r.run(10 * time.Minute)
	r.wantState(o, dns.Published)
	r.Stall(true)
	r.want(o)
	r.run(time.Minute)
	r.restart()
	r.run(30 * time.Minute)
	if len(o.Ledger) == 0 {
		r.t.Error("the ledger let the record go while servers answer")
	}
	// It comes back before it was gone.
	r.want(o, r.cname("a"))
	r.run(30 * time.Minute)
	r.Stall(false)
	r.run(10 * time.Minute)
	r.wantState(o, dns.Published)
	r.wantSets("it has come back", r.cname("a").Set(), r.cname("first").Set())
}

func losesAnswers(r *rig, after bool) {
	first := r.publish("first")
	r.Lose(after)
	o := r.publish("a")
	r.wantSets("published", r.cname("a").Set(), r.cname("first").Set())
	r.wantPhase(o, dns.There)
	r.Lose(after)
	r.want(o)
	r.run(10 * time.Minute)
	r.wantState(o, "")
	r.wantSets("deleted", r.cname("first").Set())
	r.wantState(first, dns.Published)
	// A process that stops before it sees the answer continues from its ledger.
	o = r.add(r.cname("b"))
	r.Lose(after)
	mutating, _ := r.Calls()
	r.until("a change is sent", func() bool {
		now, _ := r.Calls()
		return now > mutating
	})
	r.restart()
	r.run(10 * time.Minute)
	r.wantState(o, dns.Published)
	r.wantSets("after a restart", r.cname("b").Set(), r.cname("first").Set())
}

func throttlesWorker(r *rig) {
	if r.neverThrottles() {
		return
	}
	r.Put(r.Zone.ID, r.foreign("other"))
	r.Throttle(5)
	o := r.add(r.cname("a"))
	r.watch = func() {
		for record, s := range o.view.Records {
			if s.Phase == dns.Refused {
				r.t.Errorf("%s counts as refused: %v", record.Name, s.Err)
			}
		}
	}
	r.run(20 * time.Minute)
	r.wantState(o, dns.Published)
	r.wantSets("throttled", r.cname("a").Set(), r.foreign("other"))
	r.Throttle(3)
	r.want(o)
	r.run(20 * time.Minute)
	r.wantState(o, "")
	r.wantSets("throttled", r.foreign("other"))
}

func deniesWorker(r *rig) {
	r.Deny(true)
	o := r.add(r.cname("a"))
	r.run(5 * time.Minute)
	if s := r.wantPhase(o, dns.Unknown); s.Err == nil || s.Err.Kind != fault.Denied {
		r.t.Errorf("the object is told %v, want that it is denied", s.Err)
	}
	r.wantSets("denied")
	r.Deny(false)
	r.run(2 * time.Hour)
	r.wantState(o, dns.Published)
	r.wantSets("allowed", r.cname("a").Set())
}

// many is how many objects one zone has in the rows about numbers.
func (r *rig) many() int { return cmp.Or(r.Can.Many, 500) }

// callsFor is how many calls it takes to publish that many names.
func (r *rig) callsFor(names int) int { return (names + r.Can.Batch - 1) / r.Can.Batch }

func oneOf500(r *rig) {
	many := r.many()
	impossible := dns.Record{Provider: r.Zone.Provider, ZoneID: r.Zone.ID, Name: r.Poison, Type: dns.CNAME, Value: target, TTL: ttl}
	var sets []dns.RecordSet
	mutating, all := r.cost(func() {
		for n := range many {
			record := r.cname(fmt.Sprintf("t%03d", n))
			if n == many/2 {
				record = impossible
			} else {
				sets = append(sets, record.Set())
			}
			r.add(record)
		}
		r.run(30 * time.Minute)
	})
	r.wantSets("one of 500 is impossible", sets...)
	for n, o := range r.objects {
		if n != many/2 {
			r.wantState(o, dns.Published)
		}
	}
	s := r.wantPhase(r.objects[many/2], dns.Refused)
	if s.Err == nil || s.Err.Kind != fault.Invalid || s.Err.Message == "" {
		r.t.Errorf("it is refused with %+v, want %s and why", s.Err, fault.Invalid)
	}
	// The batch that has it is halved until it is alone: two calls each time, and it is tried again from time to time.
	halving := 2 * bits.Len(uint(min(many, r.DNS.Traits().Batch.Records)))
	limit := r.callsFor(many) + halving + 10
	r.t.Logf("%d calls that change something, %d in all, at most %d of the former", mutating, all, limit)
	if mutating > limit {
		r.t.Errorf("%d calls that change something, want %d at most", mutating, limit)
	}
}

// unreadable has a name with a label that is too long for DNS. Providers refuse to read it, too, as they refuse a record, and
// that says nothing about the zone.
func unreadable(r *rig) {
	impossible := r.add(r.cname(strings.Repeat("l", 64)))
	r.run(10 * time.Minute)
	r.Lose(true)
	o := r.publish("a")
	r.wantPhase(o, dns.There)
	r.Lose(true)
	r.want(o)
	r.run(10 * time.Minute)
	r.wantState(o, "")
	r.wantSets("lost")
	if s := r.wantPhase(impossible, dns.Refused); s.Err == nil || s.Err.Kind != fault.Invalid {
		r.t.Errorf("it is refused with %v, want %s", s.Err, fault.Invalid)
	}
}

func vanishes(r *rig) {
	o := r.publish("a")
	r.DropZone()
	r.look()
	kept := r.absent() == fault.Denied
	phase := dns.NoZone
	if kept {
		phase = dns.There
	}
	r.wantPhase(o, phase)
	mutating, _ := r.cost(func() { r.run(2 * time.Hour) })
	if mutating > 0 {
		r.t.Errorf("%d changes are sent to a zone that does not exist", mutating)
	}
	r.want(o)
	r.run(time.Hour)
	if kept {
		// A record that may be there is not given up.
		if len(o.Ledger) != 1 || o.Ledger[0].State != dns.Retracting {
			r.t.Errorf("ledger %v, want the record that is still to be deleted", o.Ledger)
		}
		return
	}
	r.wantState(o, "")
}
