package rollout

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"time"
)

// Policy is how gently changes spread, and whose policy it is.
type Policy struct {
	// Source is the TenantSource whose spec.rollout it is, as namespace/name. Empty: the operator's own.
	Source string
	Limits
}

// Ask is a change of what a customer is served with.
type Ask struct {
	UID, Namespace, Name string
	// Fields are the names of those that change. All that change the same ones spread as one group.
	Fields []string
	// Values tell the new values apart, one for each that changes, sorted.
	Values []string
	// Was tells apart what it has of those now.
	Was []string
	// Canary says that the policy selects the object by its labels to be first, Uneasy that it had trouble before.
	Canary, Uneasy bool
}

// value tells whether two tenants get the same.
func (a Ask) value() string { return strings.Join(a.Values, ",") }

// Answer says whether it is the object's turn, and in which group it waits otherwise.
type Answer struct {
	Go    bool
	Group string
}

// Outcome is what a pass tells of an object.
type Outcome struct {
	// Settled says that nothing differs any more, Ready that the object is Ready with it.
	Settled, Ready bool
	// Unserved says that it has the change and is disabled, which shows nothing of the change.
	Unserved bool
	// Still says that nothing may be changed for the object now.
	Still bool
	// Failure is what it is stuck with. Empty: nothing.
	Failure string
}

// Known is an object that has not asked, and of which is known that it has a value, or that it is a canary which will
// ask.
type Known struct {
	UID, Namespace, Name string
	// State is Applied, InFlight since then, Failed with that Failure, or Held.
	State   State
	Since   time.Time
	Failure string
	Canary  bool
}

// Turn is an object whose turn has come.
type Turn struct{ Namespace, Name string }

// Order decides whose turn it is, in waves: the next one begins when all of the one before are Ready with the change or
// have failed, and has at most twice as many. Of those that get the same value, each wave has at most one more than are
// Ready with it, and the same holds, from the first wave on, for those that came while the same wave was on its way: what
// comes later begins small as well, however far the others are. Order is not safe for concurrent use.
type Order struct {
	groups  map[groupKey]*group
	entries map[string]*entry
}

// NewOrder makes one in which nothing waits.
func NewOrder() *Order {
	return &Order{groups: map[groupKey]*group{}, entries: map[string]*entry{}}
}

// mostLooked bounds for how many values of one group it is found out who has them already.
const mostLooked = 100

// Begins reports whether nothing that changes the same to the same value is on its way.
func (o *Order) Begins(p Policy, a Ask) bool {
	g := o.groups[keyOf(p, a)]
	if g == nil || g.name == "" {
		return true
	}
	value := a.value()
	return len(g.entries) < mostLooked && !anyOf(g.entries, func(e *entry) bool { return e.value == value })
}

func anyOf(entries map[string]*entry, is func(*entry) bool) bool {
	for _, e := range entries {
		if is(e) {
			return true
		}
	}
	return false
}

func keyOf(p Policy, a Ask) groupKey { return groupKey{p.Source, strings.Join(a.Fields, ", ")} }

// Ask says whether it is the object's turn. One that asks alone gets it at once, unless others are known that come before
// it: see Know.
func (o *Order) Ask(now time.Time, p Policy, a Ask, known ...Known) Answer {
	key := keyOf(p, a)
	e := o.entries[a.UID]
	switch {
	case e == nil:
	case e.tried() && e.group.key.source == p.Source && Covers(e.Values, a.Values):
		// It asks for what it was released for, or for the rest of it.
		return Answer{Go: true, Group: e.group.name}
	case e.undoneBy(p, a):
		e.group.undo(now, e, a)
		return Answer{Go: true, Group: e.group.name}
	case e.group.key != key || e.value != a.value() || e.state == Applied:
		o.remove(e)
		e = nil
	}
	g := o.group(key)
	g.limits = p.Limits
	if e == nil {
		e = &entry{value: a.value(), state: Waiting}
		e.Ask = a
		o.add(now, g, e)
		o.Know(now, a.UID, known)
	}
	e.Uneasy = a.Uneasy
	if e.state == Held {
		g.set(e, Waiting)
	}
	if g.admits(e) {
		g.release(now, e)
	}
	return Answer{Go: e.state == InFlight, Group: g.name}
}

// Covers reports whether an object that has its turn with some values needs no other one for those.
func Covers(has, values []string) bool {
	return !slices.ContainsFunc(values, func(v string) bool { return !slices.Contains(has, v) })
}

// Going are the values that an object has its turn with, if it has one.
func (o *Order) Going(uid string) ([]string, bool) {
	if e := o.entries[uid]; e != nil && e.tried() {
		return e.Values, true
	}
	return nil, false
}

func (o *Order) group(key groupKey) *group {
	g := o.groups[key]
	if g == nil {
		g = &group{key: key, entries: map[string]*entry{}, counts: map[State]int{}, failures: map[string]int{}, ready: newShares()}
		g.rewind()
		o.groups[key] = g
	}
	return g
}

// add puts an object into a group, whose life it may begin.
func (o *Order) add(now time.Time, g *group, e *entry) {
	if g.name == "" {
		g.rewind()
		g.step, g.begun, g.done, g.released, g.looked = 1, 0, 0, false, map[string]bool{}
		g.stopped, g.held, g.bad = false, nil, nil
		sum := sha256.Sum256([]byte(g.key.source + "\x00" + g.key.fields + "\x00" + now.UTC().Format(time.RFC3339Nano)))
		g.name = hex.EncodeToString(sum[:nameBytes])
	}
	e.group, e.cohort = g, g.begun
	e.turn = turn(g.name, Member{UID: e.UID})
	g.entries[e.UID], o.entries[e.UID] = e, e
	g.count(e, 1)
}

func (o *Order) remove(e *entry) {
	e.group.count(e, -1)
	delete(e.group.entries, e.UID)
	delete(o.entries, e.UID)
}

// Tell takes what a pass has found out about an object. It reports whether that changes anything.
func (o *Order) Tell(uid string, told Outcome) bool {
	e := o.entries[uid]
	if e == nil {
		return false
	}
	switch g := e.group; {
	case e.state == Waiting || e.state == Held:
		switch {
		case told.Settled:
			o.remove(e)
		case told.Still && e.state == Waiting:
			g.set(e, Held)
		default:
			return false
		}
	case told.Unserved && e.state == InFlight:
		o.remove(e)
	case told.Ready && e.state != Applied:
		g.set(e, Applied)
		e.failure = ""
		if e.past {
			g.done++
			o.remove(e)
		}
	case told.Failure != "" && !told.Ready && (e.state != Failed || e.failure != told.Failure):
		e.failure = told.Failure
		g.set(e, Failed)
	case told.Still && !told.Settled && e.state == InFlight:
		g.set(e, Held)
	default:
		return false
	}
	return true
}

// Forget takes out an object that is gone. It reports whether it was known.
func (o *Order) Forget(uid string) bool {
	e := o.entries[uid]
	if e != nil {
		o.remove(e)
	}
	return e != nil
}

// Release lets all of the groups of those names continue at once, as an administrator has decided.
func (o *Order) Release(names []string) (changed bool) {
	for _, g := range o.groups {
		if !g.released && g.name != "" && slices.Contains(names, g.name) {
			g.released, changed = true, true
		}
	}
	return changed
}

// Bound gives the groups of a source the limits that it has now.
func (o *Order) Bound(p Policy) (changed bool) {
	for _, g := range o.groups {
		if g.key.source == p.Source && g.limits != p.Limits {
			g.limits, changed = p.Limits, true
		}
	}
	return changed
}

// Sources are those whose objects are in groups.
func (o *Order) Sources() []string {
	known := map[string]bool{}
	for key := range o.groups {
		known[key.source] = true
	}
	return slices.Sorted(maps.Keys(known))
}

// Drop forgets the figures of a source that has no rollout any more.
func (o *Order) Drop(source string) {
	maps.DeleteFunc(o.groups, func(key groupKey, g *group) bool { return key.source == source && len(g.entries) == 0 })
}

// Unlooked is an object that waits while others are to get the same value, or have it. It is asked once for each value
// whether the fleet has it already. There is none where no two get the same.
func (o *Order) Unlooked() (uid, source string, found bool) {
	for _, g := range o.sorted() {
		if g.counts[Waiting] == 0 {
			continue
		}
		waiting, asks := map[string]int{}, map[string]*entry{}
		for _, e := range g.entries {
			if e.state != Waiting || g.looked[e.value] {
				continue
			}
			waiting[e.value]++
			if a := asks[e.value]; a == nil || e.UID < a.UID {
				asks[e.value] = e
			}
		}
		for _, value := range slices.Sorted(maps.Keys(waiting)) {
			if waiting[value] > 1 || g.wave.values[value] > 0 {
				g.looked[value] = true
				return asks[value].UID, g.key.source, true
			}
		}
	}
	return "", "", false
}

// Know adds what is known of others to the group of an object. Those that are Ready with the value that it asks for
// count as tried, so that a new process continues where the previous one was.
func (o *Order) Know(now time.Time, uid string, others []Known) {
	like := o.entries[uid]
	if like == nil {
		return
	}
	g, applied := like.group, 0
	for _, k := range others {
		if o.entries[k.UID] != nil {
			continue
		}
		e := &entry{value: like.value, state: k.State, since: k.Since, failure: k.Failure}
		e.Ask = Ask{UID: k.UID, Namespace: k.Namespace, Name: k.Name, Fields: like.Fields, Values: like.Values, Canary: k.Canary}
		o.add(now, g, e)
		switch k.State {
		case Applied:
			applied++
		case InFlight:
			g.size++
			g.wave.add(e, 1)
		default:
		}
	}
	if applied > 0 && g.step == 1 && g.openCanaries == 0 {
		g.step, g.size = 2, max(g.size, (applied+1)/2)
	}
}

// sorted are the groups in a fixed order.
func (o *Order) sorted() []*group {
	return slices.SortedFunc(maps.Values(o.groups), func(a, b *group) int {
		return cmp.Or(strings.Compare(a.key.source, b.key.source), strings.Compare(a.key.fields, b.key.fields))
	})
}

// Advance gives objects their turn. again is when to look again, if nothing happens before; zero for never.
func (o *Order) Advance(now time.Time) (turns []Turn, again time.Duration) {
	for _, g := range o.sorted() {
		g.expire(now)
		g.judge()
		for _, e := range g.advance(now) {
			turns = append(turns, Turn{e.Namespace, e.Name})
		}
		o.close(g)
		again = Soonest(again, g.again)
	}
	return turns, again
}
