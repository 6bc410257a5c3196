package dns

import (
	"reflect"
	"slices"
)

// ground is what all parts of a zone's state stand on: what objects have declared, what the zone holds, and the event
// that is being applied.
type ground struct {
	traits Traits
	claims register
	// contents are the records in the zone.
	contents contents
	listings listings

	// seq orders listings and lost answers, and whose turn it is.
	seq uint64
	// touched are the names whose answers may have changed since they were last compared.
	touched map[string]bool
	// at is the moment of the event that is being applied, effects what follows from it.
	at      Moment
	effects Effects
}

func (g *ground) wake(o Owner) { g.effects.Woken = append(g.effects.Woken, o) }

func (g *ground) touch(names ...string) {
	for _, name := range names {
		g.touched[name] = true
	}
}

// touchAll marks every name that an object has a claim to.
func (g *ground) touchAll() {
	for name := range g.claims.names {
		g.touched[name] = true
	}
}

func (g *ground) tick() uint64 {
	g.seq++
	return g.seq
}

func (g *ground) place(name string) Place {
	p := Place{Name: name, Sets: g.contents.sets[name], Delegation: delegation(g.contents.sets, name)}
	p.Flattened = g.traits.Apex == FlattenedApex && slices.ContainsFunc(p.Sets, func(s RecordSet) bool { return s.Type == soa })
	for _, c := range g.claims.names[name] {
		p.Claims = append(p.Claims, &c.Claim)
		for r := range c.maybe {
			if g.traits.Stepwise && r.Name == name {
				note(&p.begun, r)
			}
		}
	}
	return p
}

// learn remembers which records a name has, past any listing that is under way.
func (g *ground) learn(name string, sets []RecordSet) {
	before := delegation(g.contents.sets, name)
	g.contents.records += len(sets) - len(g.contents.sets[name])
	if len(sets) == 0 {
		delete(g.contents.sets, name)
	} else {
		g.contents.sets[name] = sets
	}
	g.contents.written[name] = true
	g.touch(name)
	if !reflect.DeepEqual(before, delegation(g.contents.sets, name)) {
		g.touchAll() // it concerns everything below
	}
}

// visible leaves out deletions below a delegation: there, others answer, whatever was deleted.
func (g *ground) visible(changes []Change) []Change {
	return slices.DeleteFunc(slices.Clone(changes), func(c Change) bool {
		return c.Action == Delete && delegation(g.contents.sets, c.Set.Name) != nil
	})
}
