package dns

import (
	"cmp"
	"slices"
)

// Unit is what has to be done at one name for one claim. It is done at once or not at all: a
// name that changes from a CNAME to an alias is never without both.
type Unit struct {
	Owner  Owner
	Access Access
	Name   string
	// Changes are the deletions and then the creations. Where nothing is published these put back what was replaced.
	Changes []Change
	// Publishes and Retracts are the records of the ledger that the changes create and delete.
	Publishes, Retracts []Record
	// Restores are those of them that others have changed or deleted.
	Restores []Record
	// Correction is true when nothing but drift is undone.
	Correction bool
}

// Names returns the names that a claim wants or holds records of, sorted.
func (c *Claim) Names() []string {
	names := make([]string, 0, len(c.Wants)+len(c.Ledger))
	for _, r := range c.Wants {
		names = append(names, r.Name)
	}
	for _, e := range c.Ledger {
		names = append(names, e.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Plan returns what has to change at the name, what creates something first, then sorted by
// owner. Units can be carried out in any order: of two that touch one place only the first is
// due now.
func (p Place) Plan() []Unit {
	var all, due []Unit
	for _, c := range p.Claims {
		if !c.Still {
			all = append(all, p.units(c)...)
		}
	}
	slices.SortFunc(all, func(a, b Unit) int {
		return cmp.Or(
			cmp.Compare(min(len(b.Publishes), 1), min(len(a.Publishes), 1)),
			compareOwners(a.Owner, b.Owner), cmp.Compare(a.Access.RoleARN, b.Access.RoleARN),
		)
	})
	for _, u := range all {
		if !slices.ContainsFunc(due, u.clashes) {
			due = append(due, u)
		}
	}
	return due
}

// creates reports whether a unit creates anything.
func (u Unit) creates() bool {
	return slices.ContainsFunc(u.Changes, func(c Change) bool { return c.Action == Create })
}

// clashes reports whether two units touch one place.
func (u Unit) clashes(other Unit) bool {
	return slices.ContainsFunc(u.Changes, func(c Change) bool {
		return slices.ContainsFunc(other.Changes, func(o Change) bool { return c.Set.Clashes(o.Set.Key) })
	})
}

// AccessOf returns the identity with which an entry of the claim's ledger is published and deleted.
func (c *Claim) AccessOf(e Entry) Access {
	return AccessFor(e.Provider, e.RoleARN, c.Owner.Namespace)
}

// units returns what has to be done for one claim: one unit, unless several roles have to
// delete something and none creates anything.
func (p Place) units(c *Claim) []Unit {
	gone := map[Key]RecordSet{}
	var leaving, coming []Entry
	for _, e := range c.Ledger {
		s, there := p.find(e.Record)
		if e.State != Retracting || p.holder(c, e.Record) != nil || !there && !p.owes(c, e.Record) {
			continue
		}
		leaving = append(leaving, e)
		if there {
			gone[s.Key] = s
		}
	}
	for _, state := range []State{Published, Intended} { // where drift makes room there is some for more
		for _, e := range c.Ledger {
			replaced, ok := p.opening(c, e, gone)
			if !ok || e.State != state {
				continue
			}
			for _, s := range replaced {
				gone[s.Key] = s
			}
			coming = append(coming, e)
		}
	}
	if len(coming) > 0 {
		// An identity that may create the new record may delete the old one: it is one zone.
		return []Unit{p.unit(c, c.AccessOf(coming[0]), gone, leaving, coming)}
	}
	return p.retreats(c, gone, leaving)
}

// retreats returns the units that only delete, one for each role.
func (p Place) retreats(c *Claim, gone map[Key]RecordSet, leaving []Entry) (units []Unit) {
	for len(leaving) > 0 {
		access := c.AccessOf(leaving[0])
		now := map[Key]RecordSet{}
		mine := slices.DeleteFunc(slices.Clone(leaving), func(e Entry) bool { return c.AccessOf(e) != access })
		for _, e := range mine {
			if s, there := gone[e.Key()]; there {
				now[e.Key()] = s
			}
		}
		units = append(units, p.unit(c, access, now, mine, nil))
		if len(c.remembered(p.Name)) > 0 {
			// What is put back may need the room of all.
			return units
		}
		leaving = slices.DeleteFunc(leaving, func(e Entry) bool { return c.AccessOf(e) == access })
	}
	return units
}

func (p Place) unit(c *Claim, access Access, gone map[Key]RecordSet, leaving, coming []Entry) Unit {
	u := Unit{Owner: c.Owner, Access: access, Name: p.Name, Correction: len(leaving) == 0}
	for _, s := range gone {
		u.Changes = append(u.Changes, Change{Action: Delete, Set: s, Owner: c.Owner})
	}
	slices.SortFunc(u.Changes, func(a, b Change) int { return cmp.Compare(a.Set.Type, b.Set.Type) })
	slices.SortFunc(coming, func(a, b Entry) int { return compareRecords(a.Record, b.Record) })
	for _, e := range coming {
		u.Changes = append(u.Changes, Change{Action: Create, Set: e.Set(), Owner: c.Owner})
		u.Publishes = append(u.Publishes, e.Record)
		if e.State == Published {
			u.Restores = append(u.Restores, e.Record)
			continue
		}
		u.Correction = false
	}
	if len(coming) == 0 {
		for _, s := range p.returning(c, gone) {
			u.Changes = append(u.Changes, Change{Action: Create, Set: s})
		}
	}
	for _, e := range leaving {
		u.Retracts = append(u.Retracts, e.Record)
	}
	slices.SortFunc(u.Retracts, compareRecords)
	return u
}

// opening reports whether an entry has to be created, and what has to be deleted for it in addition to what is deleted
// in any case.
func (p Place) opening(c *Claim, e Entry, gone map[Key]RecordSet) (replaced []RecordSet, ok bool) {
	due := e.State == Intended || e.State == Published && c.Correct
	if e.Name != p.Name || !due || p.Delegation != nil || p.shows(e.Record) || p.holder(c, e.Record) != nil {
		return nil, false
	}
	// A published record that was changed is drift; one that never existed needs more.
	may := c.takes(e.Name) || e.State == Published
	for _, s := range p.Sets {
		if _, going := gone[s.Key]; going || s.Leaving || !p.clashes(s.Key, e.Key()) {
			continue
		}
		if !may || c.lists(s) || !replaceable(s, e.Key()) || c.spares(e.Record, s) {
			return nil, false
		}
		replaced = append(replaced, s)
	}
	return replaced, e.State == Published || p.mayReplace(c, e, replaced, gone)
}

// replaceable reports whether a set may be replaced by one of ours, where replacing is allowed at all: one that points
// the name elsewhere. Sets that serve another purpose (MX, NS, TXT next to a CNAME) are never deleted to make room.
func replaceable(s RecordSet, k Key) bool {
	return !s.Routed && !s.Fixed && (s.Key == k || s.Type == CNAME || s.Type == A || s.Type == AAAA)
}
