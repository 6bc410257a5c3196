// Package loss decides which losses may happen. A burst of deletions, and of changes that take as much out of service,
// is seen whole, judged against a budget for its namespace and for the cluster, and held as one plan if it is larger, until
// the plan is approved or abandoned. The budget counts customers: a parent weighs what depends on it.
package loss

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/budget"
)

// Class is a kind of object whose deletions share a budget.
type Class string

// Item is one deletion, or one change that does as much harm.
type Item struct {
	Class           Class
	UID             string
	Namespace, Name string
	// Weight is how many customers it takes out of service. A tenant that never served weighs nothing.
	Weight int
	// Harm says what a change does, and Generation which spec asks for it. Empty: the object is being deleted.
	Harm       string
	Generation int64
	// Since is the deletion timestamp, or when the change was first seen.
	Since time.Time
	// Owns is the namespace that is deleted with the object. Empty: none is. The objects that are deleted in it were
	// decided on with it.
	Owns string
	// Approval and Abandonment are the plans that the object's annotations name. Empty: none.
	Approval, Abandonment string
}

// Budget is what one class may lose in a window.
type Budget struct {
	// Cluster is for all customers of the class, Namespace for those of one namespace. Nil: namespaces have no limit of their
	// own, and no plan either.
	Cluster   budget.Limit
	Namespace *budget.Limit
}

// Policy is what the administrator has set.
type Policy struct {
	// Settle is how long nothing else may be deleted before a burst is judged, SettleMax how long that may take.
	Settle, SettleMax time.Duration
	// Window is how long a deletion counts.
	Window time.Duration
	// Ceiling is the share of more than three customers that no limit exceeds, in percent.
	Ceiling int
	Budgets map[Class]Budget
}

// RescueAge is how long a resource that was kept may be adopted without being asked for.
const RescueAge = 30 * 24 * time.Hour

// Counts are the customers of the living objects of a class by namespace.
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
	// Living are the customers of the objects that are not being deleted.
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
	// Held are the plans that wait for an administrator, by the keys of their members.
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
	// owned are the namespaces that are deleted with an object that was cleared.
	owned []string
}

// class decides on the open items of one class: first those that were answered, then those that are lost with whole
// namespaces, then each namespace, and then the cluster without the items that are held for a namespace.
func (j *judge) class(class Class, open []Item) {
	open = j.answered(open)
	fresh := slices.DeleteFunc(slices.Clone(open), func(i Item) bool { return j.memory.holds(i.Key()) })
	due := j.due(fresh)
	if len(fresh) > 0 && j.world.Now.Before(due) {
		// The burst is not seen whole yet. Items that are held already stay held.
		j.wake(due)
		open = slices.DeleteFunc(open, func(i Item) bool { return !j.memory.holds(i.Key()) })
	}
	j.open = open
	emptied := j.emptied(class)
	rest := open
	for _, namespace := range namespaces(open, j.memory.Holds, class) {
		mine := slices.DeleteFunc(slices.Clone(rest), func(i Item) bool {
			return i.Namespace != namespace || j.memory.holdsIn(i.Key(), "") || emptied[namespace] && !j.memory.holds(i.Key())
		})
		if j.Budgets[class].Namespace != nil && j.scope(class, namespace, mine, false) {
			rest = slices.DeleteFunc(slices.Clone(rest), func(i Item) bool { return j.memory.holdsIn(i.Key(), namespace) })
		}
	}
	j.cluster(class, rest, emptied)
}

// cluster judges what no namespace has held. A plan of the cluster keeps to the namespaces of its members: losses of
// others meanwhile are judged as if the plan were not there. Namespaces that lose all they have join the plan.
func (j *judge) cluster(class Class, rest []Item, emptied map[string]bool) {
	planned := maps.Clone(emptied)
	if planned == nil {
		planned = map[string]bool{}
	}
	for _, i := range rest {
		planned[i.Namespace] = planned[i.Namespace] || j.memory.holdsIn(i.Key(), "")
	}
	var joined, others []Item
	for _, i := range rest {
		if planned[i.Namespace] {
			joined = append(joined, i)
		} else {
			others = append(others, i)
		}
	}
	over := len(others) > 0 && !j.fits(class, "", others)
	if over {
		joined, others = rest, nil
	}
	if !j.scope(class, "", joined, over || len(emptied) > 0) {
		j.clear(joined, false)
	}
	if len(others) > 0 && !j.fits(class, "", others) {
		// Members that have left the plan have used up the budget.
		j.scope(class, "", others, true)
		return
	}
	j.clear(others, false)
}

// leastEmptied is how many customers a namespace has to have had for their loss to be more than that of one customer, and
// how many such namespaces are one mistake.
const leastEmptied = 2

// emptied are the namespaces that lose all of their customers, if there are several in a window: one is given up, several
// are one mistake. Approved losses do not count, and neither do losses that are held for a namespace.
func (j *judge) emptied(class Class) map[string]bool {
	if j.Budgets[class].Namespace == nil {
		return nil
	}
	lost, left := map[string]int{}, maps.Clone(j.world.Living[class])
	open := map[string]bool{}
	for _, i := range j.open {
		if i.Namespace == "" || j.memory.holdsIn(i.Key(), i.Namespace) {
			continue
		}
		lost[i.Namespace] += i.Weight
		open[i.Namespace] = true
		if i.Harm != "" {
			left[i.Namespace] -= i.Weight
		}
	}
	for _, b := range j.memory.Cleared {
		if b.Class == class && !b.Approved && b.At.After(j.world.Now.Add(-j.Window)) {
			lost[b.Namespace] += b.Weight
		}
	}
	n := 0
	for namespace, customers := range lost {
		if customers < leastEmptied || left[namespace] > 0 {
			delete(open, namespace)
			continue
		}
		n++
	}
	if n < leastEmptied || len(open) == 0 {
		return nil
	}
	return open
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

// answered takes out what an administrator has decided, and what was decided with its namespace.
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

// clear lets items continue, and counts them. Approved items use up no budget: otherwise every single deletion would
// need an approval for a while after them.
func (j *judge) clear(items []Item, approved bool) {
	if len(items) > 0 {
		j.memory.clear(j.world.Now, items, approved)
		j.changed = true
	}
}

// fits reports whether the items are within what the scope may still lose. Those that weigh nothing always are.
func (j *judge) fits(class Class, namespace string, open []Item) bool {
	n := weight(open)
	spent, gone := j.memory.spent(j.world.Now.Add(-j.Window), class, namespace)
	return n == 0 || spent+n <= j.allowed(class, namespace, j.size(class, namespace)+gone)
}

// scope judges the open items of one namespace, or of the cluster, and reports whether it holds them: if they are known
// to be too many, it holds all of them.
func (j *judge) scope(class Class, namespace string, open []Item, tooMany bool) bool {
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
	fits := !tooMany && j.fits(class, namespace, open)
	switch {
	case h == nil && fits:
		return false
	case h != nil && fits && !unknown && len(keys) < len(h.Keys) && h.Keys.containsAll(keys):
		// Members have left the plan, and what remains is within the budget.
		j.drop(class, namespace)
		return false
	}
	j.keep(Hold{Class: class, Namespace: namespace, Count: len(open), Customers: weight(open), Of: size, Allowed: allowed, Spent: spent, Changes: changes(open)}, h, keys)
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

// size is how many customers live or wait for their deletion. One with a change that waits lives.
func (j *judge) size(class Class, namespace string) int {
	n := j.world.Living[class].Total()
	if namespace != "" {
		n = j.world.Living[class][namespace]
	}
	for _, i := range j.open {
		if i.Harm == "" && (namespace == "" || i.Namespace == namespace) {
			n += i.Weight
		}
	}
	return n
}

// allowed is how many of that many customers a window may lose. Where several namespaces have customers, one of them may use
// half of what the cluster may lose: the others keep the rest.
func (j *judge) allowed(class Class, namespace string, size int) int {
	limits := j.Budgets[class]
	if namespace == "" {
		allowed, _ := limits.Cluster.Allows(size, j.Ceiling)
		return allowed
	}
	allowed, _ := limits.Namespace.Allows(size, j.Ceiling)
	_, gone := j.memory.spent(j.world.Now.Add(-j.Window), class, "")
	if all := j.size(class, "") + gone; all > size {
		of, _ := limits.Cluster.Allows(all, j.Ceiling)
		allowed = min(allowed, (of+1)/2)
	}
	return allowed
}

func weight(items []Item) int {
	n := 0
	for _, i := range items {
		n += i.Weight
	}
	return n
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
