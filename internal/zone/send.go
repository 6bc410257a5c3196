package zone

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/retry"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// refusal is a unit that the provider refuses by itself.
type refusal struct {
	err         *fault.Error
	records     map[dns.Record]bool
	since, next time.Time
	// over is true when it may be tried again.
	over bool
}

// recheck is a unit that was refused by itself, on whose name more has to be known.
type recheck struct {
	unit dns.Unit
	err  *fault.Error
}

// send sends the next batch.
func (z *zone) send(ctx context.Context) {
	if err := z.opts.Confirm(ctx); err != nil {
		z.update(func() { z.sendAfter = z.opts.Clock.Now().Add(confirmPause) })
		return
	}
	z.mu.Lock()
	batch, bisected := z.nextBatch()
	z.sending = flightOf(batch)
	z.mu.Unlock()
	if len(batch) == 0 {
		z.update(func() { z.sending = nil })
		return
	}
	var changes []dns.Change
	class := port.Correct
	for _, u := range batch {
		changes = append(changes, u.Changes...)
		if !u.Correction {
			class = port.Change
		}
	}
	id, err := z.opts.Providers.as(batch[0].Access).Change(z.call(ctx, "change", class), z.id, changes)
	if fault.RetryAfter(err) == 0 {
		// Otherwise it was our own limiter that answered.
		z.opts.Observer.Batch(len(changes), fault.KindOf(err).String())
	}
	z.update(func() {
		f := z.sending
		z.sending = nil
		for _, u := range batch {
			z.touch(u.Name)
		}
		if err == nil {
			z.accepted(batch, f, id)
			return
		}
		z.refuse(batch, bisected, err)
	})
}

func flightOf(batch []dns.Unit) *flight {
	f := &flight{records: map[dns.Record]bool{}, names: map[string]bool{}}
	for _, u := range batch {
		f.names[u.Name] = true
		for _, r := range slices.Concat(u.Publishes, u.Retracts) {
			f.records[r] = true
		}
	}
	return f
}

// nextBatch returns what has to be sent next, and whether it is part of a batch that was refused.
func (z *zone) nextBatch() (batch []dns.Unit, bisected bool) {
	for len(z.front) > 0 {
		keys := z.front[0]
		z.front = z.front[1:]
		var units []dns.Unit
		for _, k := range keys {
			for _, u := range z.units(k.name) {
				if u.Owner == k.owner {
					units = append(units, u)
				}
			}
		}
		// What has changed meanwhile may have grown, or be another identity's by now.
		batches := dns.Batches(units, z.traits.Batch)
		for _, more := range slices.Backward(batches[min(1, len(batches)):]) {
			z.pushFront(more)
		}
		if len(batches) > 0 {
			return batches[0], true
		}
	}
	names := make([]string, 0, len(z.ready))
	for name := range z.ready {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(z.ready[a].turn, z.ready[b].turn) })
	var units []dns.Unit
	for _, name := range names {
		units = append(units, z.units(name)...)
		if len(units) >= 2*z.traits.Batch.Records {
			break
		}
	}
	units = z.together(units)
	if len(units) == 0 {
		return nil, false
	}
	return dns.Batches(units, z.traits.Batch)[0], false
}

// together picks what may go into one batch, corrections last. What was refused by itself
// before goes alone, when nothing else is due: it would have the whole batch refused.
func (z *zone) together(units []dns.Unit) []dns.Unit {
	var fresh, corrections, alone []dns.Unit
	for _, u := range units {
		switch r := z.refused[unitKey{u.Owner, u.Name}]; {
		case r != nil && r.err.Kind != fault.Quota:
			alone = append(alone, u)
		case u.Correction:
			corrections = append(corrections, u)
		default:
			fresh = append(fresh, u)
		}
	}
	if len(fresh)+len(corrections) > 0 {
		return append(fresh, corrections...)
	}
	return alone[:min(1, len(alone))]
}

// pushFront puts units before all others.
func (z *zone) pushFront(units []dns.Unit) {
	var keys []unitKey
	for _, u := range units {
		keys = append(keys, unitKey{u.Owner, u.Name})
	}
	z.front = slices.Insert(z.front, 0, keys)
}

// accepted takes over what a batch has changed.
func (z *zone) accepted(batch []dns.Unit, f *flight, id string) {
	now := z.opts.Clock.Now()
	f.id, f.access, f.sent, f.next = id, batch[0].Access, now, now.Add(pollEvery)
	f.names = nil
	z.flights = append(z.flights, f)
	z.sendFailures = 0
	z.changeable(f.access)
	for _, u := range batch {
		delete(z.refused, unitKey{u.Owner, u.Name})
		sets := slices.Clone(z.sets[u.Name])
		for _, c := range u.Changes {
			sets = slices.DeleteFunc(sets, func(s dns.RecordSet) bool { return s.Key == c.Set.Key && !s.Routed })
			if c.Action == dns.Create {
				sets = append(sets, c.Set)
			}
		}
		z.hold(u.Name, sets)
		if c := z.claims[u.Owner]; c != nil {
			c.changeID, c.changedAt = id, now
		}
	}
}

// hold notes what stands at a name, past any listing that is under way.
func (z *zone) hold(name string, sets []dns.RecordSet) {
	z.records += len(sets) - len(z.sets[name])
	if len(sets) == 0 {
		delete(z.sets, name)
	} else {
		z.sets[name] = sets
	}
	z.written[name] = true
	z.touch(name)
}

// refuse concludes what it can from a batch that was not accepted.
func (z *zone) refuse(batch []dns.Unit, bisected bool, err error) {
	now := z.opts.Clock.Now()
	access := batch[0].Access
	switch fault.KindOf(err) {
	case fault.Throttled:
		wait := fault.RetryAfter(err)
		if wait == 0 {
			z.sendFailures++
			wait = retry.LookAgain(z.sendFailures)
		}
		z.sendAfter = now.Add(wait)
		if bisected {
			z.pushFront(batch)
		}
	case fault.Transient:
		z.doubt(batch, now)
	case fault.Denied:
		z.denied(batch, err)
	case fault.NotFound:
		z.unchangeable(access, err)
		z.unreadable(access, err)
		if z.lastReader != access && z.sets != nil {
			// Another identity may know better.
			z.nextListing = now
		}
	case fault.Exists, fault.Invalid, fault.Conflict:
		if len(batch) > 1 {
			z.halve(batch)
			return
		}
		z.rechecks[batch[0].Name] = recheck{unit: batch[0], err: asFault(err)}
	case fault.Quota:
		z.full(batch, err)
	default:
		z.allImpossible(batch, err)
	}
}

// halve sends a batch again in two parts: one that can't be must not keep the others from it.
func (z *zone) halve(batch []dns.Unit) {
	half := len(batch) / 2
	z.pushFront(batch[half:])
	z.pushFront(batch[:half])
}

// denied finds out who is meant. A policy can allow names of records and deny others, and then
// one object must not keep all others from a zone that they may change.
func (z *zone) denied(batch []dns.Unit, err error) {
	if len(batch) > 1 {
		z.halve(batch)
		return
	}
	z.impossible(batch[0], asFault(err))
	i := z.identities[batch[0].Access]
	if i == nil {
		return
	}
	if i.denials++; i.denials >= patienceWithDenials || !i.accepted {
		z.unchangeable(batch[0].Access, err)
	}
}

// patienceWithDenials is how many names in a row may be denied to an identity that could change
// others, until it counts as one that can change none.
const patienceWithDenials = 3

// full handles a quota that is used up. What makes room must not wait for what needs some.
func (z *zone) full(batch []dns.Unit, err error) {
	var leaving, coming []dns.Unit
	for _, u := range batch {
		if len(u.Publishes) == 0 {
			leaving = append(leaving, u)
		} else {
			coming = append(coming, u)
		}
	}
	if len(leaving) == 0 || len(coming) == 0 {
		z.allImpossible(batch, err)
		return
	}
	z.allImpossible(coming, err)
	z.pushFront(leaving)
}

func (z *zone) allImpossible(batch []dns.Unit, err error) {
	for _, u := range batch {
		z.impossible(u, asFault(err))
	}
}

// doubt notes that a batch may have been carried out.
func (z *zone) doubt(batch []dns.Unit, now time.Time) {
	z.sendFailures++
	z.sendAfter = now.Add(retry.LookAgain(z.sendFailures))
	// An answer that was lost may be ahead of what it answered.
	z.readAfter = later(z.readAfter, now.Add(unansweredFor))
	for _, u := range batch {
		z.doubts[u.Name] = z.tick()
		if c := z.claims[u.Owner]; c != nil {
			for _, r := range u.Publishes {
				c.note(&c.maybe, r)
			}
		}
	}
	z.relist()
}

// impossible notes that a unit is refused by itself.
func (z *zone) impossible(u dns.Unit, err *fault.Error) {
	now := z.opts.Clock.Now()
	key := unitKey{u.Owner, u.Name}
	r := z.refused[key]
	if r == nil {
		r = &refusal{since: now}
		z.refused[key] = r
	}
	r.err, r.over, r.next = err, false, retry.Usual.Next(r.since, now)
	r.records = map[dns.Record]bool{}
	for _, record := range slices.Concat(u.Publishes, u.Retracts) {
		r.records[record] = true
	}
	z.touch(u.Name)
}

// conclude judges a unit that was refused alone by what stands at its name.
func (z *zone) conclude(name string) {
	r, ok := z.rechecks[name]
	if !ok {
		return
	}
	delete(z.rechecks, name)
	z.touch(name)
	c := z.claims[r.unit.Owner]
	if c == nil {
		return
	}
	p := z.place(name)
	if r.err.Kind == fault.Exists {
		for _, record := range r.unit.Publishes {
			if p.Has(record) && c.StateOf(record) != "" && !c.maybe[record] {
				c.note(&c.foreign, record)
			}
		}
	}
	for _, u := range z.units(name) {
		if u.Owner == r.unit.Owner && reflect.DeepEqual(u.Changes, r.unit.Changes) {
			z.impossible(u, r.err)
		}
	}
}
