// Package breaker decides which deletions may go on: a burst of them is seen whole, judged against a budget for its
// namespace and for the cluster, and held as one plan if it is larger, until a person approves or abandons that plan.
package breaker

import (
	"cmp"
	"slices"
	"time"
)

// Class is a kind of object whose deletions share a budget.
type Class string

// Item is one deletion, or one change that does as much harm.
type Item struct {
	Class           Class
	UID             string
	Namespace, Name string
	// Harm says what a change does, and Generation which spec asks for it. Empty: the object is being deleted.
	Harm       string
	Generation int64
	// Since is the deletion timestamp, or when the change was first seen.
	Since time.Time
	// Owns is the namespace that is deleted with the object. Empty: none is. What is deleted in it was decided on with it.
	Owns string
	// Approval and Abandonment are the plans that the object's annotations name. Empty: none.
	Approval, Abandonment string
}

// Limit is how many deletions a window allows: the larger of a number and a share of the objects.
type Limit struct {
	Max     int
	Percent int
}

// Budget is what one class may lose in a window.
type Budget struct {
	// Cluster is for all objects of the class, Namespace for those of one namespace.
	Cluster, Namespace Limit
}

// Policy is what the administrator has set.
type Policy struct {
	// Settle is how long nothing else may be deleted before a burst is judged, SettleMax how long that may take.
	Settle, SettleMax time.Duration
	// Window is how long a deletion counts.
	Window time.Duration
	// Ceiling is the share of a class of more than three objects that no limit exceeds, in percent.
	Ceiling int
	Budgets map[Class]Budget
}

// RescueAge is how long a resource that was kept may be adopted without being asked for.
const RescueAge = 30 * 24 * time.Hour

// smallest is the number of objects up to which a class has no ceiling.
const smallest = 3

// Counts are the living objects of a class by namespace.
type Counts map[string]int

// Total is their sum.
func (c Counts) Total() int {
	n := 0
	for _, k := range c {
		n += k
	}
	return n
}

// World is what is judged.
type World struct {
	Now time.Time
	// Living are the objects that are not being deleted.
	Living map[Class]Counts
	// Waiting are the deletions and changes that have not ended. Those that were cleared before are among them.
	Waiting []Item
	// Approved and Abandoned are the plans that an administrator has named.
	Approved, Abandoned []string
	// Young means that the process may not know of all changes yet that wait. It knows those in Withdrawn not to.
	Young     bool
	Withdrawn map[Key]struct{}
}

// Verdict is what Judge has found.
type Verdict struct {
	// Memory is what has to be stored before anything is done; Changed tells whether it differs.
	Memory  Memory
	Changed bool
	// Held are the plans that wait for a person, by the keys of their members.
	Held map[Key]*Hold
	// Began are the plans that were made now.
	Began []*Hold
	// Wake is when to judge again. Zero: when something changes.
	Wake time.Time
}

// Judge decides on all that waits.
func Judge(p Policy, m Memory, w World) Verdict {
	j := &judge{Policy: p, world: w, memory: m.clone(), verdict: Verdict{Held: map[Key]*Hold{}}}
	j.memory.forget(w.Now, p.Window, w.Waiting)
	classes := map[Class][]Item{}
	cleared, abandoned := j.memory.Decided()
	for _, i := range w.Waiting {
		goes := i.In(cleared)
		_, stays := abandoned[i.Key()]
		if goes && i.Owns != "" {
			j.owned = append(j.owned, i.Owns)
		}
		if !goes && !stays {
			classes[i.Class] = append(classes[i.Class], i)
		}
	}
	for _, h := range j.memory.Holds {
		// Also one whose members have all ended.
		if _, has := classes[h.Class]; !has {
			classes[h.Class] = nil
		}
	}
	for class, open := range classes {
		j.class(class, open)
	}
	slices.SortFunc(j.memory.Holds, func(a, b Hold) int {
		return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(a.Namespace, b.Namespace))
	})
	j.verdict.Memory, j.verdict.Changed = j.memory, j.changed
	return j.verdict
}

// judge is one judgement.
type judge struct {
	Policy
	world   World
	memory  Memory
	verdict Verdict
	changed bool
	// open are the items of the class that is judged.
	open []Item
	// owned are the namespaces that go with an object that was let go on.
	owned []string
}

// class decides on the open items of one class: what a person has answered first, then each namespace, and then the
// cluster without what a namespace has held.
func (j *judge) class(class Class, open []Item) {
	open = j.answered(open)
	fresh := slices.DeleteFunc(slices.Clone(open), func(i Item) bool { return j.memory.holds(i.Key()) })
	due := j.due(fresh)
	if len(fresh) > 0 && j.world.Now.Before(due) {
		// The burst is not seen whole yet. What is held already stays held.
		j.wake(due)
		open = slices.DeleteFunc(open, func(i Item) bool { return !j.memory.holds(i.Key()) })
	}
	j.open = open
	rest := open
	for _, namespace := range namespaces(open, j.memory.Holds, class) {
		mine := slices.DeleteFunc(slices.Clone(rest), func(i Item) bool { return i.Namespace != namespace || j.memory.holdsIn(i.Key(), "") })
		if j.scope(class, namespace, mine) {
			rest = slices.DeleteFunc(slices.Clone(rest), func(i Item) bool { return j.memory.holdsIn(i.Key(), namespace) })
		}
	}
	if j.scope(class, "", rest) || len(rest) == 0 {
		return
	}
	j.clear(rest, false)
}

// due is when a burst counts as seen whole.
func (j *judge) due(fresh []Item) time.Time {
	var first, last time.Time
	for _, i := range fresh {
		if first.IsZero() || i.Since.Before(first) {
			first = i.Since
		}
		if i.Since.After(last) {
			last = i.Since
		}
	}
	// A clock that is behind the API server's must not make a burst wait longer.
	if last.After(j.world.Now) {
		last = j.world.Now
	}
	if most := first.Add(j.SettleMax); most.Before(last.Add(j.Settle)) {
		return most
	}
	return last.Add(j.Settle)
}

func (j *judge) wake(at time.Time) {
	if j.verdict.Wake.IsZero() || at.Before(j.verdict.Wake) {
		j.verdict.Wake = at
	}
}

// answered takes out what a person has decided, and what was decided with its namespace.
func (j *judge) answered(open []Item) []Item {
	var cleared, abandoned, rest []Item
	for _, i := range open {
		h := j.memory.hold(i.Key())
		switch {
		case i.Harm == "" && slices.Contains(j.owned, i.Namespace):
			cleared = append(cleared, i)
		case h == nil:
			rest = append(rest, i)
		case i.Harm == "" && h.wasNamed(slices.Concat(j.world.Abandoned, []string{i.Abandonment})):
			abandoned = append(abandoned, i)
		case h.named(i.Key(), j.world.Approved), h.Namespace != "" && h.named(i.Key(), []string{i.Approval}):
			cleared = append(cleared, i)
		default:
			rest = append(rest, i)
		}
	}
	j.clear(cleared, true)
	if len(abandoned) > 0 {
		j.memory.abandon(j.world.Now, abandoned)
		j.changed = true
	}
	return rest
}

// clear lets items go on, and counts them. What a person has approved uses up no budget: or every single deletion would
// need a person for a while after it.
func (j *judge) clear(items []Item, approved bool) {
	if len(items) > 0 {
		j.memory.clear(j.world.Now, items, approved)
		j.changed = true
	}
}

// scope judges the open items of one namespace, or of the cluster, and reports whether it holds them.
func (j *judge) scope(class Class, namespace string, open []Item) bool {
	h := j.memory.holdOf(class, namespace)
	// Members that are changes are not known before their objects had a pass.
	unknown := h != nil && h.Changes > 0 && j.misses(h.Keys, keysOf(open))
	if len(open) == 0 {
		if h != nil && !unknown {
			j.drop(class, namespace)
		}
		return false
	}
	spent, gone := j.memory.spent(j.world.Now.Add(-j.Window), class, namespace)
	size := j.size(class, namespace) + gone
	allowed := j.allowed(class, namespace, size)
	keys := keysOf(open)
	fits := spent+len(open) <= allowed
	switch {
	case h == nil && fits:
		return false
	case h != nil && fits && !unknown && len(keys) < len(h.Keys) && h.Keys.containsAll(keys):
		// Members have left the plan, and what remains is within the budget.
		j.drop(class, namespace)
		return false
	}
	j.keep(Hold{Class: class, Namespace: namespace, Count: len(open), Of: size, Allowed: allowed, Spent: spent, Changes: changes(open)}, h, keys)
	return true
}

// misses reports whether some of the members are neither open nor known to have ended.
func (j *judge) misses(members, open Keys) bool {
	return j.world.Young && slices.ContainsFunc(members, func(k Key) bool {
		_, withdrawn := j.world.Withdrawn[k]
		return !withdrawn && !open.contains(k)
	})
}

// keep stores a plan, under a new name if it has grown.
func (j *judge) keep(now Hold, before *Hold, keys Keys) {
	now.Since, now.Keys = j.world.Now, keys
	if before != nil {
		now.Since = before.Since
	}
	if before != nil && before.Keys.containsAll(keys) {
		// It keeps its name, its figures and its members while it shrinks: an approval stays good.
		now = *before
	} else {
		now.Plan = now.name()
		now.Former = before.grownBy(keys)
		j.drop(now.Class, now.Namespace)
		j.memory.Holds = append(j.memory.Holds, now)
		j.changed = true
		j.verdict.Began = append(j.verdict.Began, &now)
	}
	for _, k := range keys {
		j.verdict.Held[k] = &now
	}
}

func (j *judge) drop(class Class, namespace string) {
	n := len(j.memory.Holds)
	j.memory.Holds = slices.DeleteFunc(j.memory.Holds, func(h Hold) bool { return h.Class == class && h.Namespace == namespace })
	j.changed = j.changed || len(j.memory.Holds) < n
}

// size is how many objects live or wait for their deletion. One with a change that waits lives.
func (j *judge) size(class Class, namespace string) int {
	n := j.world.Living[class].Total()
	if namespace != "" {
		n = j.world.Living[class][namespace]
	}
	for _, i := range j.open {
		if i.Harm == "" && (namespace == "" || i.Namespace == namespace) {
			n++
		}
	}
	return n
}

// allowed is how many of that many objects a window may lose.
func (j *judge) allowed(class Class, namespace string, size int) int {
	limit := j.Budgets[class].Cluster
	if namespace != "" {
		limit = j.Budgets[class].Namespace
	}
	allowed := max(limit.Max, size*limit.Percent/100)
	if namespace == "" && size > smallest {
		allowed = min(allowed, size*j.Ceiling/100)
	}
	return allowed
}

func changes(items []Item) int {
	n := 0
	for _, i := range items {
		if i.Harm != "" {
			n++
		}
	}
	return n
}

// namespaces are those of the items, and of the plans of the class.
func namespaces(open []Item, holds []Hold, class Class) []string {
	var out []string
	for _, i := range open {
		out = append(out, i.Namespace)
	}
	for _, h := range holds {
		if h.Class == class {
			out = append(out, h.Namespace)
		}
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(n string) bool { return n == "" })
}
