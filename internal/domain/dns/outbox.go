package dns

import (
	"cmp"
	"slices"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// outbox is what has to be sent.
type outbox struct {
	*ground

	rights  *rights
	flights *flights
	doubts  *doubts

	// ready are the names that have changes to send, in the order of their numbers.
	ready   map[string]pending
	records int
	// since is when the first of them became so, zero when that has to be found out.
	since time.Time
	// front are the parts of a refused batch. They are sent before anything else.
	front    [][]unitKey
	refused  map[unitKey]*refusal
	after    time.Time
	failures int
	// sending are the names of the batch that has no answer yet.
	sending map[string]bool
}

// pending is a name that has changes to send.
type pending struct {
	turn    uint64
	records int
	since   time.Time
}

// unitKey names what has to be done at one name for one object.
type unitKey struct {
	owner Owner
	name  string
}

// refusal is a unit that the provider refuses alone.
type refusal struct {
	err         *fault.Error
	records     map[Record]bool
	since, next time.Time
	// over is true when it may be tried again.
	over bool
}

// The rhythm of batches: what is declared within a moment goes together, and while a batch is
// not in sync everywhere the next one gathers more.
const (
	gatherFor    = time.Second
	gatherAtMost = 10 * time.Second
)

// review notes whether the name has something to send.
func (o *outbox) review(name string) {
	before, was := o.ready[name]
	records := 0
	for _, u := range o.units(name) {
		records += len(u.Changes)
	}
	o.records += records - before.records
	if records == 0 {
		delete(o.ready, name)
		if before.since.Equal(o.since) {
			o.since = time.Time{}
		}
		return
	}
	if !was {
		before.turn, before.since = o.tick(), o.at.Now
	}
	before.records = records
	o.ready[name] = before
}

// waitingSince is when the first of the names that are ready became so.
func (o *outbox) waitingSince() time.Time {
	if o.since.IsZero() {
		for _, p := range o.ready {
			if o.since.IsZero() || p.since.Before(o.since) {
				o.since = p.since
			}
		}
	}
	return o.since
}

// due says when the next batch may go.
func (o *outbox) due() (time.Time, bool) {
	switch {
	case o.contents.sets == nil:
		return time.Time{}, false
	case len(o.front) > 0:
		return o.after, true
	case len(o.ready) == 0:
		return time.Time{}, false
	}
	since := o.waitingSince()
	due := since.Add(gatherFor)
	if o.flights.followed() > 0 {
		due = since.Add(gatherAtMost)
	}
	if o.records >= o.traits.Batch.Records {
		due = since
	}
	return later(due, o.after), true
}

// units are the changes at a name that may be sent now.
func (o *outbox) units(name string) []Unit {
	if o.contents.sets == nil || len(o.claims.names[name]) == 0 || o.busy(name) {
		return nil
	}
	return slices.DeleteFunc(o.place(name).Plan(), o.postponed)
}

// busy reports whether a change of the name has no answer yet.
func (o *outbox) busy(name string) bool {
	return o.doubts.about(name) || o.sending[name]
}

// postponed reports whether a unit has to wait after it, or its identity, was refused.
func (o *outbox) postponed(u Unit) bool {
	if r := o.refused[unitKey{u.Owner, u.Name}]; r != nil && o.at.Now.Before(r.next) {
		return true
	}
	if i := o.rights.identities[u.Access]; i != nil && i.changeErr != nil && o.at.Now.Before(i.changeNext) {
		return true
	}
	foreign := o.claims.owners[u.Owner].foreign
	return slices.ContainsFunc(slices.Concat(u.Publishes, u.Retracts), func(r Record) bool { return foreign[r] })
}

func (o *outbox) begin() {
	batch, bisected := o.nextBatch()
	if len(batch) == 0 {
		return
	}
	call := SendBatch{Access: batch[0].Access, Correction: true, units: batch, bisected: bisected}
	o.sending = map[string]bool{}
	for _, u := range batch {
		o.sending[u.Name] = true
		call.Changes = append(call.Changes, u.Changes...)
		call.Correction = call.Correction && u.Correction
	}
	o.effects.Call = call
}

// nextBatch returns what has to be sent next, and whether it is part of a batch that was refused.
func (o *outbox) nextBatch() (batch []Unit, bisected bool) {
	for len(o.front) > 0 {
		keys := o.front[0]
		o.front = o.front[1:]
		var units []Unit
		for _, k := range keys {
			for _, u := range o.units(k.name) {
				if u.Owner == k.owner {
					units = append(units, u)
				}
			}
		}
		// A change that was replaced meanwhile may have grown, or belong to another identity by now.
		batches := Batches(units, o.traits.Batch)
		for _, more := range slices.Backward(batches[min(1, len(batches)):]) {
			o.pushFront(more)
		}
		if len(batches) > 0 {
			return batches[0], true
		}
	}
	var units []Unit
	for _, name := range o.inTurn() {
		units = append(units, o.units(name)...)
		if len(units) >= 2*o.traits.Batch.Records {
			break
		}
	}
	units = o.together(units)
	if len(units) == 0 {
		return nil, false
	}
	return Batches(units, o.traits.Batch)[0], false
}

// inTurn are the names that are ready, in their order.
func (o *outbox) inTurn() []string {
	names := make([]string, 0, len(o.ready))
	for name := range o.ready {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(o.ready[a].turn, o.ready[b].turn) })
	return names
}

// together picks what may be in one batch, corrections last. A unit that was refused alone before is sent alone, when
// nothing else is due: it would have the whole batch refused.
func (o *outbox) together(units []Unit) []Unit {
	var fresh, corrections, alone []Unit
	for _, u := range units {
		switch r := o.refused[unitKey{u.Owner, u.Name}]; {
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
func (o *outbox) pushFront(units []Unit) {
	var keys []unitKey
	for _, u := range units {
		keys = append(keys, unitKey{u.Owner, u.Name})
	}
	o.front = slices.Insert(o.front, 0, keys)
}
