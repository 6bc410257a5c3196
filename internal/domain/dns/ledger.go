package dns

import "slices"

// MaxEntries is how many entries a ledger has at most: status has to fit into one object.
const MaxEntries = 400

// Policy is what an object allows.
type Policy struct {
	// Takeover lets records be replaced that are not ours, and makes equal ones ours.
	Takeover bool
	// Reclaims makes equal records ours again: an object of that name left them when it was deleted.
	Reclaims bool
	// Inherits are the domains whose records other objects hand over.
	Inherits []string
	// RoleARN is the role with which new entries are published.
	RoleARN string
}

// takes reports whether records at the name may be replaced, and equal ones made ours.
func (p Policy) takes(name string) bool {
	return p.Takeover || slices.Contains(p.Inherits, Domain(name))
}

// Advance returns the next ledger, sorted: what has to be stored before anything is done.
//
// Entries tell what they replace before that happens, see Replaced.
//
// An entry is only removed after Retracting, which has to be stored first: until the worker has seen that, it may be
// sending the record this very moment. The exception is a foreign record equal to ours, which would be deleted that
// way; the worker itself leaves alone what it has reported as foreign.
func Advance(ledger []Entry, wants []Record, view View, policy Policy) []Entry {
	wanted := make(map[Record]bool, len(wants))
	for _, r := range wants {
		wanted[r] = true
	}
	coming := comingTo(wants, view)
	next := make([]Entry, 0, len(ledger)+len(wants))
	entered, published := make(map[Record]bool, len(ledger)), make(map[Record]bool, len(ledger))
	for _, e := range ledger {
		if entered[e.Record] {
			continue
		}
		entered[e.Record], published[e.Record] = true, e.State == Published
		if state := advance(e.State, wanted[e.Record] || e.moves(coming) || e.stays(wants), view.Of(e.Record), policy.takes(e.Name)); state != "" {
			e.State = state
			if state == Intended && wanted[e.Record] {
				// What could not be published with another role can be with this one.
				e.RoleARN = policy.RoleARN
			}
			next = append(next, e)
		}
	}
	next, waiting := enter(next, intents(wants, entered, view, policy), view, policy)
	for i, e := range next {
		if waiting[e.Name] && published[e.Record] && view.Of(e.Record).Phase != Occupied {
			// It is deleted when there is room for its replacement.
			next[i].State = Published
		}
	}
	slices.SortFunc(next, func(a, b Entry) int { return compareRecords(a.Record, b.Record) })
	remember(next, ledger, view, policy)
	return next
}

// comingTo are the zones in which records of a domain are wanted and not there yet, by domain.
func comingTo(wants []Record, view View) map[string]map[ZoneKey]bool {
	coming := map[string]map[ZoneKey]bool{}
	for _, r := range wants {
		if view.Of(r).Phase == There {
			continue
		}
		domain := Domain(r.Name)
		if coming[domain] == nil {
			coming[domain] = map[ZoneKey]bool{}
		}
		coming[domain][r.Zone()] = true
	}
	return coming
}

// moves reports whether a published record stays until its domain has records in another zone, so that the domain is never
// without one.
func (e Entry) moves(coming map[string]map[ZoneKey]bool) bool {
	if e.State != Published {
		return false
	}
	for zone := range coming[Domain(e.Name)] {
		if zone != e.Zone() {
			return true
		}
	}
	return false
}

// stays reports whether a published record is wanted as it is, with another account of the provider in a zone of the same
// ID. That may be the very zone, and then to delete the record would delete the one that is wanted.
func (e Entry) stays(wants []Record) bool {
	return e.State == Published && slices.ContainsFunc(wants, func(r Record) bool {
		at := r.Provider
		r.Provider, r.TTL = e.Provider, e.TTL
		return at != e.Provider && at.Service == e.Provider.Service && r == e.Record
	})
}

// advance returns the next state of an entry, empty when it leaves the ledger.
func advance(state State, wanted bool, s Standing, takes bool) State {
	switch state {
	case Retracting:
		return retract(wanted, s, takes)
	case Published:
		if s.HandedOver {
			// Another ledger has it, and the worker does nothing for it any more.
			return ""
		}
		if !wanted || s.Phase == Occupied {
			return Retracting
		}
		return Published
	case Intended:
	}
	switch {
	case s.Foreign:
		return ""
	case !wanted, s.Phase == Occupied:
		// Two ledgers may name one place after a backup was restored; one of them gives way.
		return Retracting
	case s.Phase == There:
		return Published
	}
	return Intended
}

func retract(wanted bool, s Standing, takes bool) State {
	switch s.Phase {
	case Occupied, NoZone:
		return ""
	case Blocked:
		// If something else is where it was, ours is gone. It comes back only where that may be replaced.
		if !wanted || !takes || s.Fixed {
			return ""
		}
	case Absent:
		if !wanted {
			return ""
		}
	case Unknown, Coming, There, Leaving, Refused:
	}
	if wanted {
		return Intended
	}
	return Retracting
}

// place is a name in a zone.
type place struct {
	zone ZoneKey
	name string
}

func (r Record) place() place { return place{r.Zone(), r.Name} }

// intents returns the records that may be published, sorted. All records of a name are published or none: a name with
// half of its addresses here and half elsewhere would not work.
func intents(wants []Record, entered map[Record]bool, view View, policy Policy) (out []Record) {
	taken := map[place]bool{}
	for _, r := range wants {
		s := view.Of(r)
		if s.Phase == Occupied || s.Phase == Blocked && (s.Fixed || !policy.takes(r.Name)) {
			taken[r.place()] = true
		}
	}
	for _, r := range wants {
		phase := view.Of(r).Phase
		due := phase == Absent || phase == Blocked || phase == There && (policy.takes(r.Name) || policy.Reclaims)
		if due && !entered[r] && !taken[r.place()] {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, compareRecords)
	return slices.Compact(out)
}

// enter adds intents to a ledger as far as it has room, those of one name together. The other
// names wait.
func enter(ledger []Entry, intents []Record, view View, policy Policy) (next []Entry, waiting map[string]bool) {
	waiting = map[string]bool{}
	kept := 0
	for _, e := range ledger {
		kept += len(e.Replaced)
	}
	for len(intents) > 0 {
		n := 1
		for n < len(intents) && intents[n].place() == intents[0].place() {
			n++
		}
		replaced := 0
		for _, r := range intents[:n] {
			replaced += len(view.Of(r).Replaces)
		}
		if len(ledger)+n > MaxEntries || replaced > 0 && kept+replaced > MaxReplaced {
			waiting[intents[0].Name] = true
		} else {
			kept += replaced
			for _, r := range intents[:n] {
				ledger = append(ledger, Entry{Record: r, State: Intended, RoleARN: policy.RoleARN})
			}
		}
		intents = intents[n:]
	}
	return ledger, waiting
}
