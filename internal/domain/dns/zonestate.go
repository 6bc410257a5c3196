package dns

import (
	"slices"
	"time"
)

// ZoneState is all that is known of one zone: what the objects have declared, what the zone holds, and what is on its
// way between the two. It returns the state of an object's records, and says what has to be read or sent next.
//
// It is a state machine without a clock, a goroutine or a client: Apply takes what has happened and when, and returns what
// follows from it. It is not safe for concurrent use.
type ZoneState struct {
	traits Traits
	claims register
	rights rights
	// contents are the records in the zone.
	contents contents
	listings listings
	outbox   outbox
	flights  flights
	doubts   doubts

	// seq orders listings and lost answers, and whose turn it is.
	seq uint64
	// touched are the names whose answers may have changed since they were last compared.
	touched map[string]bool
	// at is the moment of the event that is being applied, effects what follows from it.
	at      Moment
	effects Effects
}

// Moment is when something has happened, with a number in [0, 1) that spreads what would otherwise happen at one time.
type Moment struct {
	Now    time.Time
	Random float64
}

// Effects are what follows from an event.
type Effects struct {
	// Woken are the objects whose answer has changed.
	Woken []Owner
	// Conflicts is how many objects have found the place of a record taken.
	Conflicts int
	// Propagated are the times that it took changes to get to every server.
	Propagated []time.Duration
	// Sooner is true when something is due earlier than it was before.
	Sooner bool
	// Call is what the provider has to be asked, or told; nil for nothing.
	Call Call
}

// NewZoneState returns the state of a zone of which nothing is known yet.
func NewZoneState(t Traits, now time.Time) *ZoneState {
	z := &ZoneState{
		claims:   register{owners: map[Owner]*declared{}, names: map[string][]*declared{}},
		rights:   rights{identities: map[Access]*identity{}},
		contents: contents{written: map[string]bool{}}, listings: listings{next: now},
		outbox: outbox{ready: map[string]pending{}, refused: map[unitKey]*refusal{}},
		doubts: doubts{lost: map[string]uint64{}, rechecks: map[string]recheck{}, unlisted: map[string]bool{}}, touched: map[string]bool{},
	}
	z.Know(t)
	return z
}

// Know takes over what the provider can.
func (z *ZoneState) Know(t Traits) {
	t.PageSize = max(t.PageSize, 1)
	z.traits = t
}

// Apply takes over what has happened at a moment.
func (z *ZoneState) Apply(at Moment, e Event) Effects {
	z.at, z.effects = at, Effects{}
	before, _ := z.Due(at.Now)
	e.happen(z)
	z.settle()
	first, _ := z.Due(at.Now)
	z.effects.Sooner = first.Before(before)
	return z.effects
}

// settle finds out what has to be done at the touched names, and whose answer has changed.
func (z *ZoneState) settle() {
	concerned := map[*declared]bool{}
	// In no order: names that are neighbours in the alphabet often share a fate, and one that is refused must not find its
	// like around it in a batch each time.
	for name := range z.touched {
		z.review(name)
		for _, c := range z.claims.names[name] {
			concerned[c] = true
		}
	}
	clear(z.touched)
	for c := range concerned {
		if d := z.digest(c); d != c.answered {
			c.answered = d
			z.wake(c.Owner)
		}
	}
	slices.SortFunc(z.effects.Woken, compareOwners)
}

func (z *ZoneState) wake(o Owner) { z.effects.Woken = append(z.effects.Woken, o) }

func (z *ZoneState) touch(names ...string) {
	for _, name := range names {
		z.touched[name] = true
	}
}

// touchAll marks every name that an object has a claim to.
func (z *ZoneState) touchAll() {
	for name := range z.claims.names {
		z.touched[name] = true
	}
}

func (z *ZoneState) tick() uint64 {
	z.seq++
	return z.seq
}

func (z *ZoneState) place(name string) Place {
	p := Place{Name: name, Sets: z.contents.sets[name], Delegation: delegation(z.contents.sets, name)}
	p.Flattened = z.traits.Apex == FlattenedApex && slices.ContainsFunc(p.Sets, func(s RecordSet) bool { return s.Type == soa })
	for _, c := range z.claims.names[name] {
		p.Claims = append(p.Claims, &c.Claim)
	}
	return p
}

// Empty reports whether no object has a claim to the zone.
func (z *ZoneState) Empty() bool { return len(z.claims.owners) == 0 }

// ZoneStats describes a zone for metrics.
type ZoneStats struct {
	// Records are all that are in the zone, Waiting the names that are about to be changed, and Propagating the batches
	// that not every server has yet.
	Records, Waiting, Propagating int
}

// Stats returns the present figures.
func (z *ZoneState) Stats() ZoneStats {
	return ZoneStats{Records: z.contents.records, Waiting: len(z.outbox.ready), Propagating: z.flights.followed()}
}
