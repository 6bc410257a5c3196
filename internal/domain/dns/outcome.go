package dns

import (
	"reflect"
	"slices"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/retry"
)

func (e BatchAnswered) happen(z *ZoneState) {
	z.outbox.sending = nil
	batch := e.Call.units
	for _, u := range batch {
		z.touch(u.Name)
	}
	if e.Err == nil {
		z.outbox.accepted(e.Call, e.ChangeID)
		return
	}
	z.outbox.refuse(batch, e.Call.bisected, e.Err)
	if access := e.Call.Access; fault.Is(e.Err, fault.NotFound) {
		z.denyRead(access, e.Err)
		if z.rights.lastReader != access && z.contents.sets != nil {
			// Another identity may know better.
			z.listings.next = z.at.Now
		}
	}
}

// accepted takes over what a batch has changed.
func (o *outbox) accepted(call SendBatch, id string) {
	now, batch := o.at.Now, call.units
	f := &flight{id: id, changes: o.visible(call.Changes), access: call.Access, records: map[Record]bool{}, units: batch, sent: now, next: now.Add(pollEvery)}
	o.flights.supersede(batch)
	o.flights.all = append(o.flights.all, f)
	o.failures = 0
	o.rights.allowChange(f.access)
	for _, u := range batch {
		if o.traits.Stepwise { // a part may be left out
			o.mayHaveSent(u)
		} else {
			delete(o.refused, unitKey{u.Owner, u.Name})
		}
		for _, r := range slices.Concat(u.Publishes, u.Retracts) {
			f.records[r] = true
		}
		o.learn(u.Name, u.leaves(o.contents.sets[u.Name]))
		if c := o.claims.owners[u.Owner]; c != nil {
			c.changeID, c.changedAt = id, now
		}
	}
}

// shown ends the refusals that were before a flight which brought all that it was to create.
func (o *outbox) shown(f *flight) {
	for _, u := range f.units {
		key := unitKey{u.Owner, u.Name}
		if r := o.refused[key]; r != nil && !f.reread && !r.since.After(f.sent) {
			delete(o.refused, key)
		}
	}
}

// leaves returns what a unit makes of the sets of its name.
func (u Unit) leaves(sets []RecordSet) []RecordSet {
	sets = slices.Clone(sets)
	for _, c := range u.Changes {
		sets = slices.DeleteFunc(sets, func(s RecordSet) bool { return s.Key == c.Set.Key && !s.Routed })
		if c.Action == Create {
			sets = append(sets, c.Set)
		}
	}
	return sets
}

// refuse concludes what it can from a batch that was not accepted.
func (o *outbox) refuse(batch []Unit, bisected bool, err error) {
	switch fault.KindOf(err) {
	case fault.Throttled:
		wait := fault.RetryAfter(err)
		if wait == 0 {
			o.failures++
			wait = retry.LookAgain(o.failures)
		}
		o.after = o.at.Now.Add(wait)
		if bisected {
			o.pushFront(batch)
		}
	case fault.Transient:
		o.doubt(batch)
	case fault.Denied:
		o.denied(batch, err)
	case fault.NotFound:
		o.rights.denyChange(batch[0].Access, err)
	case fault.Exists, fault.Invalid, fault.Conflict:
		if len(batch) > 1 {
			o.halve(batch)
			return
		}
		o.doubts.rechecks[batch[0].Name] = recheck{unit: batch[0], err: asFault(err)}
	case fault.Quota:
		o.full(batch, err)
	default:
		o.postponeAll(batch, err)
	}
}

// halve sends a batch again in two parts: one that can't be must not keep the others from it.
func (o *outbox) halve(batch []Unit) {
	half := len(batch) / 2
	o.pushFront(batch[half:])
	o.pushFront(batch[:half])
}

// denied finds out which identity is meant. A policy can allow names of records and deny others, and then
// one object must not keep all others from a zone that they may change.
func (o *outbox) denied(batch []Unit, err error) {
	if len(batch) > 1 {
		o.halve(batch)
		return
	}
	o.postpone(batch[0], asFault(err))
	i := o.rights.identities[batch[0].Access]
	if i == nil {
		return
	}
	if i.denials++; i.denials >= patienceWithDenials || !i.accepted {
		o.rights.denyChange(batch[0].Access, err)
	}
}

// patienceWithDenials is how many names in a row may be denied to an identity that could change
// others, until it counts as one that can change none.
const patienceWithDenials = 3

// full handles a quota that is used up. Changes that make room must not wait for changes that need room.
func (o *outbox) full(batch []Unit, err error) {
	var leaving, coming []Unit
	for _, u := range batch {
		if len(u.Publishes) == 0 {
			leaving = append(leaving, u)
		} else {
			coming = append(coming, u)
		}
	}
	if len(leaving) == 0 || len(coming) == 0 {
		o.postponeAll(batch, err)
		return
	}
	o.postponeAll(coming, err)
	o.pushFront(leaving)
}

func (o *outbox) postponeAll(batch []Unit, err error) {
	for _, u := range batch {
		o.postpone(u, asFault(err))
	}
}

// postpone notes that a unit is refused alone.
func (o *outbox) postpone(u Unit, err *fault.Error) {
	key := unitKey{u.Owner, u.Name}
	r := o.refused[key]
	if r == nil {
		r = &refusal{since: o.at.Now}
		o.refused[key] = r
	}
	r.err, r.over, r.next = err, false, retry.Usual.Next(r.since, o.at.Now)
	r.records = map[Record]bool{}
	for _, record := range slices.Concat(u.Publishes, u.Retracts) {
		r.records[record] = true
	}
	o.touch(u.Name)
}

// doubt notes that a batch may have been carried out.
func (o *outbox) doubt(batch []Unit) {
	now := o.at.Now
	o.failures++
	o.after = now.Add(retry.LookAgain(o.failures))
	// An answer that was lost may be ahead of what it answered.
	o.doubts.readAfter = later(o.doubts.readAfter, now.Add(unansweredFor))
	for _, u := range batch {
		o.doubts.lost[u.Name] = o.tick()
		o.mayHaveSent(u)
	}
	if o.doubts.relisting() {
		o.listings.current, o.listings.next = nil, o.doubts.readAfter
	}
}

// conclude judges a unit that was refused alone by the records that exist at its name.
func (o *outbox) conclude(name string) {
	r, ok := o.doubts.rechecks[name]
	if !ok {
		return
	}
	delete(o.doubts.rechecks, name)
	o.touch(name)
	c := o.claims.owners[r.unit.Owner]
	if c == nil {
		return
	}
	p := o.place(name)
	if r.err.Kind == fault.Exists {
		for _, record := range r.unit.Publishes {
			state := c.StateOf(record)
			if state == Published && o.traits.Unlisted {
				continue // it is what servers still show of ours
			}
			if p.has(record) && state != "" && !c.maybe[record] {
				note(&c.foreign, record)
			}
		}
	}
	for _, u := range o.units(name) {
		if u.Owner == r.unit.Owner && reflect.DeepEqual(u.Changes, r.unit.Changes) {
			o.postpone(u, r.err)
		}
	}
}
