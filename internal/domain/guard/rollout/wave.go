package rollout

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

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
// the changes of all others, and failures with one value stop that value. The rest is judged together.
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
	switch waiting := g.waiting(); {
	case waiting == 0:
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

// waiting is how many are eligible.
func (g *group) waiting() (n int) {
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
	if g.counts[InFlight] > 0 || g.waiting() > 0 {
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

// firstWave is how many tenants a change reaches first where each gets a value of its own: customers who edit their own
// settings at the same time don't wait for each other.
const firstWave = 5

// first is how many the first wave may have.
func (g *group) first() int {
	if g.marked() {
		return g.canaries
	}
	return cmp.Or(g.limits.Canaries, firstWave)
}
