package dns

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Set returns the record as a zone holds it.
func (r Record) Set() RecordSet {
	s := RecordSet{Key: r.Key(), TTL: r.TTL}
	if r.IsAlias() {
		s.Alias = r.Value
	} else {
		s.Values = []string{r.Value}
	}
	return s
}

// Is reports whether the set is exactly the record.
func (s RecordSet) Is(r Record) bool {
	switch {
	case s.Routed || s.Key != r.Key() || s.TTL != r.TTL:
		return false
	case r.IsAlias():
		return strings.EqualFold(s.Alias, r.Value)
	case s.Alias != "" || len(s.Values) != 1:
		return false
	case r.Type == CNAME:
		return strings.EqualFold(strings.TrimSuffix(s.Values[0], "."), r.Value)
	}
	return s.Values[0] == r.Value
}

// maxShown is how many of a set's values are shown to users.
const maxShown = 3

// String renders the set for people, for example "CNAME other.example.net".
func (s RecordSet) String() string {
	shown := s.Values
	switch {
	case s.Alias != "":
		shown = []string{"alias " + s.Alias}
	case len(shown) > maxShown:
		shown = append(slices.Clone(shown[:maxShown]), "...")
	}
	text := s.Type + " " + strings.Join(shown, ", ")
	if len(text) > 200 {
		text = text[:197] + "..."
	}
	if s.Routed {
		text += " (with a routing policy or a property that the operator never writes)"
	} else if s.TTL > 0 {
		text = fmt.Sprintf("%s (TTL %d)", text, s.TTL)
	}
	return text
}

// Clashes reports whether a zone can't hold sets of both keys unless they are one: a CNAME can't share its name with
// other records.
func (k Key) Clashes(other Key) bool {
	return k.Name == other.Name && (k.Type == other.Type || k.Type == CNAME || other.Type == CNAME)
}

// Place is one name of a zone: which records it has, and which claims want it.
type Place struct {
	Name string
	Sets []RecordSet
	// Delegation is the NS set, at the name or above it, by which the zone leaves the name to other servers. Records of this
	// zone are never seen there. Nil: it does not.
	Delegation *RecordSet
	// Flattened is true at the apex of a zone whose provider shows the addresses of a CNAME there instead of it: it
	// then stands next to other sets, except for addresses.
	Flattened bool
	// Claims are all that want or hold a record of the name, at most one of each owner.
	Claims []*Claim
	// begun are the records of which the creation may have been carried out in part.
	begun map[Record]bool
}

// clashes reports whether the place can't hold sets of both keys unless they are one.
func (p Place) clashes(a, b Key) bool {
	if p.Flattened && !(a.leads() && b.leads()) {
		return a == b
	}
	return a.Clashes(b)
}

// leads reports whether sets of the key lead a name to a host.
func (k Key) leads() bool { return k.Type == CNAME || k.Type == A || k.Type == AAAA }

// has reports whether the zone holds exactly the record.
func (p Place) has(r Record) bool { _, ok := p.find(r); return ok }

// shows reports whether the zone holds exactly the record, and will continue to.
func (p Place) shows(r Record) bool {
	s, ok := p.find(r)
	return ok && !s.Leaving
}

func (p Place) find(r Record) (RecordSet, bool) {
	for _, s := range p.Sets {
		if s.Is(r) {
			return s, true
		}
	}
	return RecordSet{}, false
}

// Judge returns the state of a record of the claim according to the contents of the zone: There, Absent, Blocked or
// Occupied.
func (p Place) Judge(c *Claim, r Record) Standing {
	if holder := p.holder(c, r); holder != nil {
		return Standing{Phase: Occupied, Holder: holder.Owner, HandedOver: holder.inherits(r.Name) && !c.inherits(r.Name)}
	}
	d := p.Delegation
	if p.shows(r) && d == nil || c.StateOf(r) == Retracting && (p.has(r) || p.owes(c, r)) {
		// A record that has to be deleted is deleted below a delegation as well: it would be seen once the delegation
		// is removed.
		return Standing{Phase: There}
	}
	if d != nil {
		return Standing{Phase: Blocked, Found: d.String(), Fixed: true, Delegated: d.Name}
	}
	blocked := Standing{Phase: Absent}
	var replaces []RecordSet
	for _, s := range p.Sets {
		if s.Leaving || !p.clashes(s.Key, r.Key()) || c.lists(s) {
			continue
		}
		unkept := replaceable(s, r.Key()) && !p.keeps(c, r, s)
		spared := replaceable(s, r.Key()) && c.spares(r, s)
		fixed := unkept || spared || !replaceable(s, r.Key())
		if blocked.Phase == Absent || fixed && !blocked.Fixed {
			blocked = Standing{Phase: Blocked, Found: s.String(), Fixed: fixed, Unkept: unkept, Spared: spared}
		}
		replaces = append(replaces, s)
	}
	blocked.Missing, blocked.Begun = true, p.begun[r]
	if !blocked.Fixed {
		blocked.Replaces = Replacing(replaces)
	}
	return blocked
}

// takes reports whether the claim may replace what is at the name, and make an equal record its own.
func (c *Claim) takes(name string) bool { return c.Takeover || c.inherits(name) }

// inherits reports whether the records of the name are handed over to the claim.
func (c *Claim) inherits(name string) bool { return slices.Contains(c.Inherits, Domain(name)) }

// spares reports whether the claim must not replace the set, although it may replace others. A set that replaced a
// published record is none of these.
func (c *Claim) spares(r Record, s RecordSet) bool {
	return c.Spares && c.StateOf(r) != Published && !s.endsAtCloudFront()
}

// keeps reports whether the ledger of a claim has room for what its record replaces. A set that replaced a published
// record is not kept: it was not there before.
func (p Place) keeps(c *Claim, r Record, s RecordSet) bool {
	return c.StateOf(r) == Published || s.fits(c.rememberedElsewhere(p.Name))
}

// lists reports whether the set is in the ledger of the claim.
func (c *Claim) lists(s RecordSet) bool {
	return slices.ContainsFunc(c.Ledger, func(e Entry) bool { return s.Is(e.Record) })
}

// StateOf returns the state of a record in the claim's ledger, empty when it is not there.
func (c *Claim) StateOf(r Record) State {
	for _, e := range c.Ledger {
		if e.Record == r {
			return e.State
		}
	}
	return ""
}

// holder returns the other claim that holds the place of a record, nil if there is none.
//
// An existing record that has to be deleted is the other's only if the other wants to keep the very same record: we
// must delete anything else in the zone that is ours, or it would stay forever.
func (p Place) holder(c *Claim, r Record) *Claim {
	if c.StateOf(r) == Retracting && p.has(r) {
		for _, o := range p.Claims {
			if state := o.StateOf(r); o.Owner != c.Owner && state != "" && state != Retracting {
				return o
			}
		}
		return nil
	}
	var best *Claim
	for _, o := range p.Claims {
		if o.Owner == c.Owner || p.title(o, r.Key()) == noTitle || !p.precedes(o, c, r.Key()) {
			continue
		}
		if best == nil || p.precedes(o, best, r.Key()) {
			best = o
		}
	}
	return best
}

// The titles to a place, the best first. A record that exists in the zone comes first, so that of two ledgers that name
// one place (after a backup was restored) the one whose record would be left behind never gives way.
const (
	inZone = iota
	inZoneLeaving
	inLedger
	inLedgerLeaving
	onlyWanted
	barred
	noTitle
)

// title is the best one that a claim has to the place of the key.
func (p Place) title(c *Claim, k Key) int {
	best := noTitle
	for _, e := range c.Ledger {
		if !e.Key().Clashes(k) {
			continue
		}
		title := inLedger
		if p.has(e.Record) {
			title = inZone
		}
		if e.State == Retracting {
			title++
		}
		best = min(best, title)
	}
	if best > onlyWanted && slices.ContainsFunc(c.Wants, func(r Record) bool { return r.Key().Clashes(k) }) {
		best = onlyWanted
	}
	if c.Barred && best > inZoneLeaving && best < noTitle {
		return barred
	}
	return best
}

// precedes reports whether the place of the key belongs to a rather than to b: by title, and
// else to the older. The object to which it is handed over has it from the moment its ledger says so. Until then it
// stays with the object that had it, whose ledger names what is there, and which keeps no other object from it.
func (p Place) precedes(a, b *Claim, k Key) bool {
	switch {
	case a.inherits(k.Name) == b.inherits(k.Name):
	case b.inherits(k.Name):
		return false
	case p.title(a, k) < onlyWanted:
		return true
	}
	return cmp.Or(cmp.Compare(p.title(a, k), p.title(b, k)), a.Since.Compare(b.Since), compareOwners(a.Owner, b.Owner)) < 0
}

func compareOwners(a, b Owner) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID), cmp.Compare(a.Target, b.Target))
}
