package dns

import (
	"hash/maphash"
	"slices"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// Answer adds the state of a claim's records to a view.
func (z *ZoneState) Answer(part Claim, view *View) {
	c := z.claims.owners[part.Owner]
	if c == nil {
		c = &declared{}
	}
	// The claim may be older than what is known.
	asked := &declared{Claim: part, maybe: c.maybe, foreign: c.foreign}
	asked.Barred = c.Barred
	z.each(asked, func(r Record, s Standing) { view.Records[r] = s })
	if c.changedAt.After(view.ChangedAt) {
		view.ChangeID, view.ChangedAt = c.changeID, c.changedAt
	}
}

// each visits each record that the claim wants or holds, with its state.
func (z *ZoneState) each(c *declared, do func(Record, Standing)) {
	var p Place
	tell := func(r Record, access Access) {
		if p.Name != r.Name {
			p = z.place(r.Name)
		}
		do(r, z.standing(c, p, r, access))
	}
	for _, r := range c.Wants {
		if c.StateOf(r) == "" {
			tell(r, c.Access)
		}
	}
	for _, e := range c.Ledger {
		tell(e.Record, c.AccessOf(e))
	}
}

// seed makes the digests of this process.
var seed = maphash.MakeSeed()

// digest identifies the answer that the object would be given now.
func (z *ZoneState) digest(c *declared) (sum uint64) {
	taken := false
	z.each(c, func(r Record, s Standing) {
		text := ""
		if s.Err != nil {
			text = s.Err.Error()
		}
		s.Phase, s.Err = z.told(c, r, s), nil
		sum += maphash.Comparable(seed, struct {
			r Record
			s Standing
			e string
		}{r, s, text})
		taken = taken || s.Foreign || s.Phase == Blocked || s.Phase == Occupied
	})
	if taken && !c.conflicted {
		z.effects.Conflicts++
	}
	c.conflicted = taken
	return sum
}

// told is the phase to report: a change that was sent a moment ago is not reported yet.
func (z *ZoneState) told(c *declared, r Record, s Standing) Phase {
	f := z.flights.with(r)
	if s.Err != nil || f != nil && f.slow {
		return s.Phase
	}
	switch state := c.StateOf(r); {
	case s.Phase == Coming && state == Intended:
		return Absent
	case s.Phase == Leaving && state == Retracting:
		return There
	}
	return s.Phase
}

// standing returns the state of a record of the claim, for which that identity acts.
func (z *ZoneState) standing(c *declared, p Place, r Record, access Access) Standing {
	state, i := c.StateOf(r), z.rights.identities[access]
	if z.contents.sets == nil {
		return z.unread(i)
	}
	if z.outbox.busy(r.Name) && (p.Delegation == nil || state == Retracting) {
		return underway(state, p.has(r))
	}
	s := p.Judge(&c.Claim, r)
	f := z.flights.with(r)
	switch {
	case c.foreign[r] && state == Retracting:
		// It leaves the ledger without being touched.
		return Standing{Phase: Blocked, Found: r.Set().String()}
	case c.foreign[r] && state == Intended:
		s.Foreign = true
		return s
	case f != nil && s.Phase == There && state != Retracting:
		return Standing{Phase: Coming, Err: f.err}
	case s.Phase == Occupied && slices.Contains(c.Wants, r):
		// It leaves the ledger: another object's record comes, or is there.
		return s
	case f != nil && state == Retracting && !p.has(r):
		return Standing{Phase: Leaving, Err: f.err}
	}
	if s.Delegated != "" || !unsettled(&c.Claim, state, s.Phase, c.takes(r.Name)) {
		return s
	}
	if i != nil && i.changeErr != nil && (state != "" || !i.changeOver) {
		// Once it may try again, what has no intent yet gets one: or there would be nothing to try.
		return Standing{Phase: Unknown, Err: i.changeErr, Missing: s.Missing, Replaces: s.Replaces, Begun: s.Begun}
	}
	if refused := z.outbox.refused[unitKey{c.Owner, r.Name}]; refused != nil && refused.records[r] {
		return Standing{Phase: Refused, Err: refused.err, Missing: s.Missing, Replaces: s.Replaces, Begun: s.Begun}
	}
	return s
}

// unread returns the state of any record while the zone's content is not known.
func (z *ZoneState) unread(i *identity) Standing {
	s := Standing{Phase: Unknown}
	switch {
	case i == nil:
	case i.readErr != nil && i.readErr.Kind == fault.NotFound && z.rights.unreadableToAll():
		s.Phase = NoZone
	case i.readErr != nil:
		s.Err = i.readErr
	case z.listings.err != nil:
		s.Err = asFault(z.listings.err)
	}
	return s
}

// underway is the state of a record while the answer to a change of its name is awaited.
func underway(state State, there bool) Standing {
	switch state {
	case Intended:
		return Standing{Phase: Coming}
	case Retracting:
		return Standing{Phase: Leaving}
	case Published:
		if there {
			return Standing{Phase: There}
		}
		return Standing{Phase: Coming}
	}
	return Standing{Phase: Unknown}
}

// unsettled reports whether there is something that would have to be sent for a record.
func unsettled(c *Claim, state State, phase Phase, takes bool) bool {
	switch state {
	case Retracting:
		return phase == There
	case Published:
		return c.Correct && (phase == Absent || phase == Blocked)
	case Intended:
	}
	return phase == Absent || phase == Blocked && takes
}
