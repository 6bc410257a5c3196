package dns

import (
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
		z.accepted(e.Call, e.ChangeID)
		return
	}
	z.refuse(batch, e.Call.bisected, e.Err)
}

// accepted takes over what a batch has changed.
func (z *ZoneState) accepted(call SendBatch, id string) {
	now, batch := z.at.Now, call.units
	f := &flight{id: id, changes: z.visible(call.Changes), access: call.Access, records: map[Record]bool{}, sent: now, next: now.Add(pollEvery)}
	z.flights.supersede(batch)
	z.flights.all = append(z.flights.all, f)
	z.outbox.failures = 0
	z.changeable(f.access)
	for _, u := range batch {
		delete(z.outbox.refused, unitKey{u.Owner, u.Name})
		for _, r := range slices.Concat(u.Publishes, u.Retracts) {
			f.records[r] = true
		}
		z.note(u.Name, u.leaves(z.contents.sets[u.Name]))
		if c := z.claims.owners[u.Owner]; c != nil {
			c.changeID, c.changedAt = id, now
		}
	}
}

// visible leaves out deletions below a delegation: there, others answer, whatever was deleted.
func (z *ZoneState) visible(changes []Change) []Change {
	return slices.DeleteFunc(slices.Clone(changes), func(c Change) bool {
		return c.Action == Delete && delegation(z.contents.sets, c.Set.Name) != nil
	})
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
func (z *ZoneState) refuse(batch []Unit, bisected bool, err error) {
	switch fault.KindOf(err) {
	case fault.Throttled:
		wait := fault.RetryAfter(err)
		if wait == 0 {
			z.outbox.failures++
			wait = retry.LookAgain(z.outbox.failures)
		}
		z.outbox.after = z.at.Now.Add(wait)
		if bisected {
			z.outbox.pushFront(batch)
		}
	case fault.Transient:
		z.doubt(batch)
	case fault.Denied:
		z.denied(batch, err)
	case fault.NotFound:
		access := batch[0].Access
		z.unchangeable(access, err)
		z.unreadable(access, err)
		if z.rights.lastReader != access && z.contents.sets != nil {
			// Another identity may know better.
			z.listings.next = z.at.Now
		}
	case fault.Exists, fault.Invalid, fault.Conflict:
		if len(batch) > 1 {
			z.outbox.halve(batch)
			return
		}
		z.doubts.rechecks[batch[0].Name] = recheck{unit: batch[0], err: asFault(err)}
	case fault.Quota:
		z.full(batch, err)
	default:
		z.allImpossible(batch, err)
	}
}

// halve sends a batch again in two parts: one that can't be must not keep the others from it.
func (o *outbox) halve(batch []Unit) {
	half := len(batch) / 2
	o.pushFront(batch[half:])
	o.pushFront(batch[:half])
}

// denied finds out who is meant. A policy can allow names of records and deny others, and then
// one object must not keep all others from a zone that they may change.
func (z *ZoneState) denied(batch []Unit, err error) {
	if len(batch) > 1 {
		z.outbox.halve(batch)
		return
	}
	z.impossible(batch[0], asFault(err))
	i := z.rights.identities[batch[0].Access]
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
func (z *ZoneState) full(batch []Unit, err error) {
	var leaving, coming []Unit
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
	z.outbox.pushFront(leaving)
}

func (z *ZoneState) allImpossible(batch []Unit, err error) {
	for _, u := range batch {
		z.impossible(u, asFault(err))
	}
}

// impossible notes that a unit is refused alone.
func (z *ZoneState) impossible(u Unit, err *fault.Error) {
	key := unitKey{u.Owner, u.Name}
	r := z.outbox.refused[key]
	if r == nil {
		r = &refusal{since: z.at.Now}
		z.outbox.refused[key] = r
	}
	r.err, r.over, r.next = err, false, retry.Usual.Next(r.since, z.at.Now)
	r.records = map[Record]bool{}
	for _, record := range slices.Concat(u.Publishes, u.Retracts) {
		r.records[record] = true
	}
	z.touch(u.Name)
}
