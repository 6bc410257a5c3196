package dns

import (
	"slices"
	"time"
)

// register finds what objects have declared, by owner and by name.
type register struct {
	owners map[Owner]*declared
	names  map[string][]*declared
}

// declared is what one object has declared, with what is remembered of it.
type declared struct {
	Claim
	// maybe are the records of which a change was sent with no answer, by this process or perhaps the one before, or may have
	// been carried out in part: if one is refused as existing it is ours all the same.
	maybe map[Record]bool
	// foreign are the records in the ledger that are certainly not ours. They are neither
	// created nor deleted until the ledger has let them go.
	foreign map[Record]bool
	// answered is the answer that the object was last given, or woken for.
	answered uint64
	// conflicted is true while a place is taken.
	conflicted bool
	// changeID is that of the last change that was sent for the claim, changedAt when.
	changeID  string
	changedAt time.Time
}

func (e Declared) happen(z *ZoneState) {
	part := e.Claim
	c, again := z.claims.owners[part.Owner]
	if !again {
		c = &declared{}
		z.claims.owners[part.Owner] = c
	}
	for _, name := range c.changed(&part) {
		z.touch(name)
		delete(z.outbox.refused, unitKey{part.Owner, name})
	}
	z.claims.remove(c)
	formerly, stored := c.accesses(), again && !slices.Equal(c.Ledger, part.Ledger)
	c.settle(&part)
	c.Claim = part
	z.claims.add(c)
	// The new ones first: what is known of an identity is lost with its last claim.
	z.rights.admit(c.accesses())
	z.rights.dismiss(formerly)
	if !again {
		z.restore(c)
		z.doubts.noteUnlisted(c)
	}
	c.forgetGone()
	c.Barred = z.rights.identities[c.Access].barred
	// The object gets this answer now, so it need not be woken for it.
	c.answered = z.digest(c)
	z.settle()
	if stored && z.canAdvance(c) {
		// An object that stores a ledger at the end of a pass does not look at the answer any more.
		z.wake(part.Owner)
	}
}

// canAdvance reports whether the ledger of a claim can advance with what is known already.
func (z *ZoneState) canAdvance(c *declared) bool {
	view := View{Records: map[Record]Standing{}}
	z.each(c, func(r Record, s Standing) { view.Records[r] = s })
	next := Advance(c.Ledger, c.Wants, view, Policy{Takeover: c.Takeover, Reclaims: c.Reclaims, Inherits: c.Inherits, RoleARN: c.Access.RoleARN})
	return !slices.Equal(next, c.Ledger)
}

func (e Permitted) happen(z *ZoneState) {
	if c := z.claims.owners[e.Owner]; c != nil && (c.Still != e.Still || c.Correct != e.Correct) {
		c.Still, c.Correct = e.Still, e.Correct
		z.touch(c.Names()...)
	}
}

func (e Forgotten) happen(z *ZoneState) {
	c := z.claims.owners[e.Owner]
	if c == nil {
		return
	}
	z.touch(c.Names()...)
	for _, name := range c.Names() {
		delete(z.outbox.refused, unitKey{e.Owner, name})
	}
	z.claims.remove(c)
	z.rights.dismiss(c.accesses())
	delete(z.claims.owners, e.Owner)
}

func (r *register) add(c *declared) {
	for _, name := range c.Names() {
		r.names[name] = append(r.names[name], c)
	}
}

func (r *register) remove(c *declared) {
	for _, name := range c.Names() {
		left := slices.DeleteFunc(r.names[name], func(o *declared) bool { return o == c })
		if len(left) == 0 {
			delete(r.names, name)
			continue
		}
		r.names[name] = left
	}
}

// changed names where the claim and its successor differ.
func (c *declared) changed(next *Claim) []string {
	all := slices.Concat(c.Names(), next.Names())
	slices.Sort(all)
	all = slices.Compact(all)
	if c.Takeover != next.Takeover || c.Spares != next.Spares || c.Reclaims != next.Reclaims || !slices.Equal(c.Inherits, next.Inherits) || c.Correct != next.Correct || c.Still != next.Still || c.Access != next.Access {
		return all
	}
	return slices.DeleteFunc(all, func(name string) bool { return c.sameAt(name, next) })
}

// sameAt reports whether two claims say the same of a name.
func (c *Claim) sameAt(name string, other *Claim) bool {
	wants := func(c *Claim) (out []Record) {
		for _, r := range c.Wants {
			if r.Name == name {
				out = append(out, r)
			}
		}
		return out
	}
	entries := func(c *Claim) (out []Entry) {
		for _, e := range c.Ledger {
			if e.Name == name {
				out = append(out, e)
			}
		}
		return out
	}
	return slices.Equal(wants(c), wants(other)) && slices.Equal(entries(c), entries(other))
}

// restore notes what a process before this one may have sent for the object. Once it was
// declared here, whatever is sent is known.
func (z *ZoneState) restore(c *declared) {
	for _, e := range c.Ledger {
		if e.State == Published {
			continue
		}
		if e.State == Intended || z.traits.Stepwise {
			note(&c.maybe, e.Record)
		}
		if z.contents.sets == nil || z.at.Now.Before(z.contents.settled) {
			z.flights.restore(e.Record, z.contents.settled)
		}
	}
}

// mayHaveSent notes that what a unit publishes may be in the zone, and that what it deletes may have left its place empty.
func (g *ground) mayHaveSent(u Unit) {
	c := g.claims.owners[u.Owner]
	if c == nil {
		return
	}
	records := u.Publishes
	if g.traits.Stepwise && u.creates() {
		records = slices.Concat(records, u.Retracts)
	}
	for _, r := range records {
		note(&c.maybe, r)
	}
}

// settle forgets that records may be there that have become published.
func (c *declared) settle(next *Claim) {
	for r := range c.maybe {
		if c.StateOf(r) == Intended && next.StateOf(r) == Published {
			delete(c.maybe, r)
		}
	}
}

// forgetShown forgets what may have been sent of published records that the name shows.
func (g *ground) forgetShown(name string) {
	p := Place{Name: name, Sets: g.contents.sets[name]}
	for _, c := range g.claims.names[name] {
		for r := range c.maybe {
			if c.StateOf(r) == Published && p.shows(r) {
				delete(c.maybe, r)
			}
		}
	}
}

func note(in *map[Record]bool, r Record) {
	if *in == nil {
		*in = map[Record]bool{}
	}
	(*in)[r] = true
}

// forgetGone forgets what is remembered of records that have left the ledger.
func (c *declared) forgetGone() {
	for _, m := range []map[Record]bool{c.maybe, c.foreign} {
		for r := range m {
			if c.StateOf(r) == "" {
				delete(m, r)
			}
		}
	}
}

// accesses are the identities that act for the claim.
func (c *declared) accesses() map[Access]bool {
	if c.Owner == (Owner{}) {
		return nil
	}
	out := map[Access]bool{c.Access: true}
	for _, e := range c.Ledger {
		out[c.AccessOf(e)] = true
	}
	return out
}
