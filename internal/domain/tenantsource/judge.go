package tenantsource

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Seen is what a read has shown, complete or not.
type Seen interface {
	// Present reports whether a row names the object, usable or not.
	Present(name string) bool
	// Harms are the objects from which their rows take something away.
	Harms() []Loss
}

// Left are those of the objects of a deleted source that it has yet to remove, as the cache may still show others.
func (s State) Left(owned []Owned) []Owned {
	if s.Round == nil || !s.Round.Reserved {
		return owned
	}
	gone := s.Round.gone()
	return slices.DeleteFunc(owned, func(o Owned) bool { return gone[o.UID] })
}

// judge asks the guard about the losses of a fleet of that size.
func (s State) judge(v View, fleet int, empty bool) Verdict {
	return v.Guard.Judge(Question{
		Now: v.Now, Losses: s.Losses, Fleet: fleet, History: v.Memory.History, Empty: empty, Confirmed: v.Deleting, Since: s.pendingSince(v),
	})
}

// believe forgets the loss of every row that a read has seen and that takes nothing away, or something else, whatever
// there is to say of the read; and of every object that is not the source's now. It reports whether a row of an object
// was seen.
func (s *State) believe(v View, read Seen, owned []Owned) (seen bool) {
	// These losses may stand, for all that the read has shown.
	missing, harmed := make(map[string]bool, len(s.Losses)), map[string]bool{}
	for _, o := range owned {
		if read.Present(o.Name) {
			seen = true
		} else {
			missing[o.UID] = true
		}
	}
	for _, l := range read.Harms() {
		harmed[l.key()] = true
	}
	stands := func(key string) bool {
		uid, _, _ := strings.Cut(key, keySeparator)
		return missing[uid] || harmed[key]
	}
	back := map[string]bool{}
	if v.Memory.LastPoll.Before(s.Polled) { // status may be older than what was seen before
		maps.Copy(back, s.Back)
	}
	for _, key := range v.Memory.Cleared {
		if s.Back[key] || !stands(key) {
			back[key] = true
		}
	}
	left := Losses{}
	for name, known := range s.Losses {
		switch key := known.key(); {
		case stands(key):
			left[name] = known
		case known.Cleared:
			back[key] = true
		}
	}
	s.Losses, s.Back = left, back
	return seen
}

// recall marks those as cleared whose deletion was allowed and counted according to status: by the process before this
// one, perhaps. They are not counted again, and no plan waits for them; but what was seen of their rows before is not
// known, so they are confirmed like all others. A loss that was counted before the window is judged again.
func (s *State) recall(v View) {
	if len(v.Memory.History) > 0 {
		s.Losses = s.Losses.clear(s.cleared(v), v.Memory.History[0].Time)
	}
	var keys []string
	s.Losses, keys = s.Losses.expire(v.Now, v.Guard.Window)
	back := setOf(keys)
	maps.Copy(back, s.Back)
	s.Back = back
}

// cleared are the keys of what was allowed and counted according to status, as long as it counts, and without what is
// back.
func (s State) cleared(v View) []string {
	if v.Memory.History.Within(v.Now, v.Guard.Window).Total() == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(v.Memory.Cleared), func(key string) bool { return s.Back[key] })
}

// count counts what a round lets happen, and lists it with what was allowed before and has not happened yet. Status may
// count it already: then the answer to the write that counted it was lost.
func (s State) count(v View) (History, []string) {
	verdict, counted := s.Round.Verdict, setOf(s.cleared(v))
	uncounted, changes := 0, 0
	for _, l := range slices.Concat(verdict.Go, verdict.Changes) {
		if l.allowed() || s.Losses[l.Name].Cleared || counted[l.key()] {
			continue
		}
		if uncounted++; l.Harm != "" {
			changes++
		}
	}
	return v.Memory.History.With(v.Now, uncounted, changes, v.Guard.Window), s.Losses.clear(verdict.keys(), v.Now).clearedKeys(nil)
}

// pendingSince is the first part of the hash of a plan: when it first needed approval. A plan that has changed is another
// one, also when it becomes what it was before: an approval is never good for rows that were seen since.
func (s State) pendingSince(v View) string {
	if s.stillPending(v) {
		return stampOf(v.Memory.PendingHash)
	}
	stamp := v.Now.Unix()
	if over, err := strconv.ParseInt(stampOf(s.Over), stampBase, 64); err == nil {
		stamp = max(stamp, over+1)
	}
	return strconv.FormatInt(stamp, stampBase)
}

// stampBase makes a time short.
const stampBase = 36

func stampOf(plan string) string {
	stamp, _, _ := strings.Cut(plan, "-")
	return stamp
}

// stillPending reports whether the plan is still the one in status. That of another spec is another one.
func (s State) stillPending(v View) bool {
	plan := v.Memory.PendingHash
	same := v.Deleting || !s.rewritten(v)
	return plan != "" && same && plan != s.Over && s.Losses.planHash(stampOf(plan)) == plan
}
