package keyvalue

import "slices"

// MaxEntries is how many entries a ledger has at most: status has to fit into one object.
const MaxEntries = 200

// Advance returns the next ledger, sorted: what has to be stored before anything is done.
//
// A value has no owner in AWS, so a key is the object's if it was absent when its entry was stored, or is taken over. An
// entry leaves the ledger only after Removing was stored: until the worker has seen that, it may be writing the value.
func Advance(ledger []Entry, wants []Want, view View, p Policy) []Entry {
	next := make([]Entry, 0, len(ledger)+len(wants))
	claim := Claim{Wants: wants, Ledger: ledger}
	for _, e := range ledger {
		w, wanted := claim.want(e.Key)
		if e, stays := e.advance(w, wanted, view.Of(e.Key), p); stays {
			next = append(next, e)
		}
	}
	for _, w := range wants {
		_, entered := claim.entry(w.Key)
		if !entered && w.mayEnter(view.Of(w.Key), p) && len(next) < MaxEntries {
			next = append(next, Entry{Key: w.Key, Digest: Digest(w.Value), State: Intended})
		}
	}
	slices.SortFunc(next, func(a, b Entry) int { return a.Compare(b.Key) })
	return next
}

// mayEnter reports whether a key may become the object's. An equal value of others is used, and left in place.
func (w Want) mayEnter(s Standing, p Policy) bool {
	switch {
	case s.Phase == Absent:
		return true
	case s.Has(w.Value):
		return w.Takeover || p.Reclaims
	}
	return s.Phase == Present && w.Takeover
}

func (e Entry) advance(w Want, wanted bool, s Standing, p Policy) (Entry, bool) {
	switch {
	case s.Theirs:
		return e, false
	case e.State == Removing:
		return e.remove(w, wanted, s)
	case !wanted && !p.Settled:
		return e, true
	case !wanted, s.Phase == Occupied:
		// Two ledgers may name one key after a backup was restored; one of them gives way.
		e.State = Removing
	case Digest(w.Value) != e.Digest:
		e = e.change(w, s, p)
	case s.Has(w.Value):
		e.State, e.Before = Written, nil
	}
	return e, true
}

// change lets an entry have another value. One that was never seen as written waits until the key is read, and ends if
// others have created the key with that value: it could not be told from the object's own after that.
func (e Entry) change(w Want, s Standing, p Policy) Entry {
	switch {
	case e.State == Intended && s.Phase == Unknown:
		return e
	case e.State == Intended && s.Has(w.Value) && !e.own(w.Value) && !w.Takeover && !p.Reclaims:
		e.State = Removing
		return e
	}
	return e.become(w.Value, s)
}

// remove ends an entry once its key is gone, or has a value of others.
func (e Entry) remove(w Want, wanted bool, s Standing) (Entry, bool) {
	switch s.Phase {
	case Occupied, NoStore:
		return e, false
	case Present:
		if !e.own(s.Found) {
			return e, false
		}
	case Absent:
		if !wanted {
			return e, false
		}
	case Unknown:
		return e, true
	}
	if wanted {
		e = e.become(w.Value, s)
		e.State = Intended
	}
	return e, true
}
