package rollout

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// InFlightAtMost is how long a tenant may take until it is Ready with a change. Deployments take minutes.
const InFlightAtMost = 30 * time.Minute

// firstWave is how many tenants a change reaches first where each gets a value of its own: customers who edit their own
// settings at the same time don't wait for each other.
const firstWave = 5

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
	// Still says that nothing may be changed for the object now.
	Still bool
	// Failure is what it is stuck with. Empty: nothing.
	Failure string
}

// Known is an object of which is known without its asking that it has a value, or that it is a canary which will ask.
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

// groupKey says what spreads together: one policy, and one set of fields. It is not the object, or every change would be
// alone.
type groupKey struct{ source, fields string }

// entry is one object of a group.
type entry struct {
	Ask

	value string
	// cohort counts the waves that the group had begun when it came.
	cohort int
	group  *group
	state  State
	// since is when it was released.
	since   time.Time
	failure string
	turn    uint64
	// past says that it failed before the group that there is now began.
	past bool
}

// group is a change on its way. It lives from the first object that asks until none waits or is in flight any more.
type group struct {
	key    groupKey
	name   string
	limits Limits
	// entries are by UID. counts has those by state, failures the failed by value.
	entries  map[string]*entry
	counts   map[State]int
	failures map[string]int
	// ready and wave count those that are Applied, and those that were released in the present wave.
	ready, wave shares
	// canaries is how many are selected by labels, openCanaries how many of them are still to be reached.
	canaries, openCanaries int

	// step counts waves, begun those of the whole life. size is how many the present one has released, and queue are those
	// that it has still to release.
	step, begun, size int
	queue             []string
	// settled is since when the present wave is over.
	settled time.Time
	// released says that an administrator lets all go on.
	released bool
	// stopped says that too many have failed, held in which namespaces alone, and bad with which values alone.
	stopped   bool
	held, bad map[string]bool
	// done is how many the last life of the group has applied, again when to look again.
	done  int
	again time.Duration
	// looked are the values of which it is known who has them already.
	looked map[string]bool
}

// shares count objects by the value that they get, and by when they came.
type shares struct {
	values  map[string]int
	cohorts map[int]int
}

func newShares() shares { return shares{map[string]int{}, map[int]int{}} }

func (s shares) add(e *entry, n int) {
	if s.values[e.value] += n; s.values[e.value] == 0 {
		delete(s.values, e.value)
	}
	if s.cohorts[e.cohort] += n; s.cohorts[e.cohort] == 0 {
		delete(s.cohorts, e.cohort)
	}
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
		// What it asks for is what it was released for, or the rest of it.
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

// tried reports whether it was released, and is not known to have the change.
func (e *entry) tried() bool { return e.state == InFlight || e.state == Failed }

// undoneBy reports whether it was given its values, and asks for those that it had before: that never waits.
func (e *entry) undoneBy(p Policy, a Ask) bool {
	return (e.tried() || e.state == Applied) && e.group.key.source == p.Source && Covers(e.Was, a.Values)
}

// undo gives an object what it had before, whatever else the group waits for. To have the change after all, it waits like any
// other.
func (g *group) undo(now time.Time, e *entry, a Ask) {
	g.count(e, -1)
	e.Ask, e.value, e.state, e.since, e.failure = a, a.value(), InFlight, now, ""
	e.Was = nil
	g.count(e, 1)
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

// rewind lets the waves begin again.
func (g *group) rewind() {
	g.size, g.wave, g.queue, g.settled = 0, newShares(), nil, time.Time{}
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

// nameBytes is how much of a hash names a group.
const nameBytes = 4

func (g *group) count(e *entry, n int) {
	g.counts[e.state] += n
	switch e.state {
	case Applied:
		g.ready.add(e, n)
	case Failed:
		if g.failures[e.value] += n; g.failures[e.value] == 0 {
			delete(g.failures, e.value)
		}
	default:
	}
	if e.Canary && !e.past {
		g.canaries += n
		if e.state == Held || e.state == Waiting {
			g.openCanaries += n
		}
	}
}

func (g *group) set(e *entry, s State) {
	g.count(e, -1)
	e.state = s
	g.count(e, 1)
}

func (o *Order) remove(e *entry) {
	e.group.count(e, -1)
	delete(e.group.entries, e.UID)
	delete(o.entries, e.UID)
}

// release gives an object its turn.
func (g *group) release(now time.Time, e *entry) {
	e.since, e.failure = now, ""
	g.set(e, InFlight)
	g.size++
	g.wave.add(e, 1)
}

// admits reports whether one that asks gets its turn at once, as those of the first wave do, and all that an administrator
// has released. Where others have failed with the very value, they are judged first.
func (g *group) admits(e *entry) bool {
	switch over := g.size > 0 && g.counts[InFlight] == 0; {
	case e.state != Waiting:
		return false
	case g.released:
		return true
	case g.limits.Paused, g.stopped, g.blocked(e), g.failures[e.value] > 0, g.step != 1, over, len(g.queue) > 0:
		return false
	}
	return g.free() > 0 && g.size < g.first() && g.fits(e, shares{})
}

// free is how many more may be in flight.
func (g *group) free() int {
	if g.limits.MaxConcurrent == 0 {
		return len(g.entries) + 1
	}
	return g.limits.MaxConcurrent - g.counts[InFlight]
}

// marked reports whether the first wave is that of the canaries that the policy selects by their labels.
func (g *group) marked() bool { return g.limits.Strict && g.limits.Canaries == 0 && g.canaries > 0 }

// first is how many the first wave may have.
func (g *group) first() int {
	if g.marked() {
		return g.canaries
	}
	return cmp.Or(g.limits.Canaries, firstWave)
}

// fits reports whether the present wave may have one more like that one, in addition to those that are queued.
func (g *group) fits(e *entry, queued shares) bool {
	if g.marked() && g.step == 1 {
		return e.Canary
	}
	canaries := max(g.limits.Canaries, 1)
	may := func(few, ready, has int) bool {
		chosen := g.limits.Step > 0 || g.limits.StepPercent > 0
		return chosen && ready >= canaries || has < max(few, ready+1)
	}
	return may(canaries, g.ready.values[e.value], g.wave.values[e.value]+queued.values[e.value]) &&
		may(g.first(), g.ready.cohorts[e.cohort], g.wave.cohorts[e.cohort]+queued.cohorts[e.cohort])
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

// Release lets all of the groups of those names go on at once, as an administrator has decided.
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

// Know adds what is known of others to the group of an object. Those that are Ready with the value that it asks for count
// as tried, so that a new process goes on where the one before it was.
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

// Advance gives their turn to those whose it is. again is when to look again, if nothing happens before; zero for never.
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

// expire fails those that take too long.
func (g *group) expire(now time.Time) {
	g.again = 0
	if g.counts[InFlight] == 0 {
		return
	}
	for _, e := range g.entries {
		if e.state != InFlight {
			continue
		}
		if left := e.since.Add(InFlightAtMost).Sub(now); left > 0 {
			g.again = Soonest(g.again, left)
			continue
		}
		e.failure = fmt.Sprintf("It was not Ready %d minutes after the change.", int(InFlightAtMost.Minutes()))
		g.set(e, Failed)
	}
}

// tally counts those that were tried, those of them that failed, and the namespaces in which they did.
type tally struct {
	tried, failed int
	failing       map[string]bool
}

// tallies are by namespace, or by value.
type tallies map[string]*tally

func (t tallies) add(by string, e *entry) {
	if t[by] == nil {
		t[by] = &tally{failing: map[string]bool{}}
	}
	t[by].tried++
	if e.state == Failed {
		t[by].failed++
		t[by].failing[e.Namespace] = true
	}
}

// above are those of which too many have failed, in that many namespaces at least.
func (t tallies) above(g *group, namespaces int) map[string]bool {
	out := map[string]bool{}
	for by, of := range t {
		// One failure alone is left out, except for canaries that were asked for.
		a := advance{limits: g.limits}
		if len(of.failing) >= namespaces && a.above(of.failed, of.tried, g.limits.Strict && g.step <= 1) {
			out[by] = true
		}
	}
	return out
}

// judge finds out where too many have failed. Failures of one namespace stop that namespace alone, or one team could stop
// the changes of all others, and failures with one value stop that value. What is left is judged together.
func (g *group) judge() {
	namespaces, values, all := tallies{}, tallies{}, tallies{}
	play := g.inPlay()
	for _, e := range g.entries {
		if e.counts(play) {
			namespaces.add(e.Namespace, e)
			values.add(e.value, e)
		}
	}
	g.held, g.bad = namespaces.above(g, 1), values.above(g, 2)
	for _, e := range g.entries {
		if e.counts(play) && !g.blocked(e) {
			all.add("", e)
		}
	}
	g.stopped = all.above(g, 2)[""]
}

// blocked reports whether too many have failed that are like that one.
func (g *group) blocked(e *entry) bool { return g.held[e.Namespace] || g.bad[e.value] }

// inPlay are the values of those that are still to get them.
func (g *group) inPlay() map[string]bool {
	play := map[string]bool{}
	for _, e := range g.entries {
		if e.state == Waiting || e.state == InFlight {
			play[e.value] = true
		}
	}
	return play
}

// counts reports whether an object that was tried says something about those that are still to be: it is of this life of
// the group, or got what they are to get.
func (e *entry) counts(play map[string]bool) bool {
	return (e.state == Applied || e.state == Failed) && (!e.past || play[e.value])
}

// advance releases those whose turn it is.
func (g *group) advance(now time.Time) (out []*entry) {
	if g.released {
		for _, id := range slices.Sorted(maps.Keys(g.entries)) {
			if e := g.entries[id]; e.state == Waiting {
				g.release(now, e)
				out = append(out, e)
			}
		}
		return out
	}
	if g.limits.Paused || g.stopped {
		return nil
	}
	g.fill(now)
	for len(g.queue) > 0 && g.free() > 0 {
		e := g.entries[g.queue[0]]
		g.queue = g.queue[1:]
		g.release(now, e)
		out = append(out, e)
	}
	return out
}

// eligible are those that wait for nothing but their turn.
func (g *group) eligible(e *entry) bool { return e.state == Waiting && !g.blocked(e) }

// fill chooses the next wave when the present one is over. More may join the first one.
func (g *group) fill(now time.Time) {
	g.queue = slices.DeleteFunc(g.queue, func(id string) bool { e := g.entries[id]; return e == nil || !g.eligible(e) })
	open := g.counts[InFlight]+len(g.queue) > 0
	switch waits := g.waits(); {
	case waits == 0:
		return
	case g.step == 1 && (open || g.size == 0 || g.marked() && g.openCanaries > 0):
		g.choose(g.first() - g.size - len(g.queue))
		return
	case open:
		return
	}
	if g.settled.IsZero() {
		g.settled = now
	}
	if left := g.settled.Add(g.limits.Pause).Sub(now); left > 0 {
		g.again = Soonest(g.again, left)
		return
	}
	before := g.size
	g.rewind()
	g.step++
	g.begun++
	g.choose(g.next(before))
}

// waits is how many are eligible.
func (g *group) waits() (n int) {
	if g.counts[Waiting] == 0 {
		return 0
	}
	for _, e := range g.entries {
		if g.eligible(e) {
			n++
		}
	}
	return n
}

// next is how many the next wave may have, after one of that many. A wave that was not full does not make the next one
// larger.
func (g *group) next(before int) int {
	switch l := g.limits; {
	case l.Step > 0:
		return l.Step
	case l.StepPercent > 0:
		const whole = 100
		return max(1, (g.tenants()*l.StepPercent+whole-1)/whole)
	}
	return max(g.first(), 2*before)
}

// tenants is how many the change concerns.
func (g *group) tenants() (n int) {
	for _, e := range g.entries {
		if !e.past {
			n++
		}
	}
	return n
}

// choose queues up to that many of those that wait: canaries first, those that had trouble last, and of each namespace in
// turn, so that one with many does not keep those of the others waiting.
func (g *group) choose(room int) {
	queued := newShares()
	for _, id := range g.queue {
		queued.add(g.entries[id], 1)
	}
	var open []*entry
	for _, e := range g.entries {
		if room > 0 && g.eligible(e) && g.fits(e, queued) && !slices.Contains(g.queue, e.UID) {
			open = append(open, e)
		}
	}
	slices.SortFunc(open, compareTurns)
	rank, of := map[string]int{}, map[string]int{}
	for _, e := range open {
		rank[e.UID] = of[e.Namespace]
		of[e.Namespace]++
	}
	slices.SortStableFunc(open, func(a, b *entry) int {
		return cmp.Or(before(a.Canary, b.Canary), before(b.Uneasy, a.Uneasy), cmp.Compare(rank[a.UID], rank[b.UID]), compareTurns(a, b))
	})
	for _, e := range open {
		if room == 0 {
			return
		}
		if g.fits(e, queued) {
			g.queue = append(g.queue, e.UID)
			queued.add(e, 1)
			room--
		}
	}
}

func compareTurns(a, b *entry) int {
	return cmp.Or(before(a.Canary, b.Canary), before(b.Uneasy, a.Uneasy), cmp.Compare(a.turn, b.turn), strings.Compare(a.UID, b.UID))
}

// close ends the life of a group in which none is in flight, and none waits for its turn. Those that are like others of which
// too many have failed wait, and don't keep the group alive for the rest.
func (o *Order) close(g *group) {
	if g.counts[InFlight] > 0 || g.waits() > 0 {
		return
	}
	g.rewind()
	if g.stopped && g.counts[Waiting] > 0 {
		return
	}
	for _, e := range g.entries {
		switch {
		case g.counts[Waiting] > 0 && g.blocked(e):
		case e.state == Applied:
			g.done++
			o.remove(e)
		case e.state == Failed && !e.past:
			g.count(e, -1)
			e.past = true
			g.count(e, 1)
		case e.state == Held:
			o.remove(e)
		}
	}
	if g.counts[Waiting] > 0 {
		return
	}
	g.name, g.step, g.released = "", 1, false
	if len(g.entries) == 0 && g.key.source == "" {
		delete(o.groups, g.key)
	}
}

// Group is how far one change has come.
type Group struct {
	Rollout

	// Source is the policy's, Name that of the group, and Fields what changes.
	Source, Name, Fields string
}

// Groups are all that there are, in a fixed order.
func (o *Order) Groups() (out []Group) {
	for _, g := range o.sorted() {
		out = append(out, Group{g.rollout(), g.key.source, g.name, g.key.fields})
	}
	return out
}

// rollout counts the objects of a group.
func (g *group) rollout() Rollout {
	r := Rollout{
		Applied: g.done + g.counts[Applied], Failed: g.counts[Failed], InFlight: g.counts[InFlight],
		Waiting: g.counts[InFlight] + g.counts[Waiting] + g.counts[Held], Progress: Progress{Step: g.step, Settled: g.settled}, Again: g.again,
	}
	r.Tenants = r.Applied + r.Failed + r.Waiting
	open := g.counts[Waiting] > 0 && !g.released
	r.Paused, r.Stopped = g.limits.Paused && open, open && (g.stopped || g.waits() == 0)
	var first *entry
	for _, e := range g.entries {
		if e.state == Failed && (first == nil || strings.Compare(e.Name, first.Name) < 0) {
			first = e
		}
	}
	if first != nil {
		r.First = fmt.Sprintf("Tenant %q: %s", first.Name, first.failure)
	}
	return r
}

// Sum is how far all changes of the objects of a source have come. It is false where none was seen.
func Sum(groups []Group, source string) (sum Rollout, found bool) {
	for _, g := range groups {
		if g.Source != source {
			continue
		}
		found = true
		sum.Tenants += g.Tenants
		sum.Applied += g.Applied
		sum.Failed += g.Failed
		sum.Waiting += g.Waiting
		sum.InFlight += g.InFlight
		sum.Stopped, sum.Paused = sum.Stopped || g.Stopped, sum.Paused || g.Paused
		sum.First, sum.Again = cmp.Or(sum.First, g.First), Soonest(sum.Again, g.Again)
		p := &sum.Progress
		p.Step, p.Target = max(p.Step, g.Progress.Step), p.Target+g.Progress.Target
		if at := g.Progress.Settled; !at.IsZero() && (p.Settled.IsZero() || at.Before(p.Settled)) {
			p.Settled = at
		}
	}
	return sum, found
}
