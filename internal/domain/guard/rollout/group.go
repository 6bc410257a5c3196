package rollout

import (
	"time"
)

// InFlightAtMost is how long a tenant may take until it is Ready with a change. Deployments take minutes.
const InFlightAtMost = 30 * time.Minute

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

// group is a change on its way. It exists from the first object that asks until none waits or is in flight any more.
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
	// released says that an administrator lets all continue.
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

// rewind lets the waves begin again.
func (g *group) rewind() {
	g.size, g.wave, g.queue, g.settled = 0, newShares(), nil, time.Time{}
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
