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
//
// Read ground.go first, then its parts in their order: rights.go, flight.go, doubt.go, outbox.go with outcome.go. Each
// only changes itself and those before it. The ZoneState itself has what concerns all of them: claims that come and go
// (declared.go), listings (listing.go), what is due (due.go) and the answers (standing.go).
type ZoneState struct {
	*ground

	// Each part stands on those before it.
	rights  *rights
	flights *flights
	doubts  *doubts
	outbox  *outbox
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
	g := &ground{
		claims:   register{owners: map[Owner]*declared{}, names: map[string][]*declared{}},
		contents: contents{written: map[string]bool{}}, listings: listings{next: now}, touched: map[string]bool{},
	}
	z := &ZoneState{ground: g, rights: &rights{ground: g, identities: map[Access]*identity{}}}
	z.flights = &flights{ground: g, rights: z.rights}
	z.doubts = &doubts{
		ground: g, rights: z.rights, flights: z.flights,
		lost: map[string]uint64{}, rechecks: map[string]recheck{}, unlisted: map[string]bool{},
	}
	z.outbox = &outbox{
		ground: g, rights: z.rights, flights: z.flights, doubts: z.doubts,
		ready: map[string]pending{}, refused: map[unitKey]*refusal{},
	}
	z.Know(t)
	return z
}

// Know takes over what the provider can.
func (z *ZoneState) Know(t Traits) {
	t.PageSize = max(t.PageSize, 1)
	z.traits = t
}

// Apply takes over an event that has happened at a moment.
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
		z.forgetShown(name)
		z.outbox.review(name)
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
