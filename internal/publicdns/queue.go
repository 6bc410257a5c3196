package publicdns

import (
	"container/heap"
	"time"
)

// lane is how urgent a name is when more are due than can be looked at.
type lane int8

const (
	// waited are names that a user waits for: asked for and not looked at yet, or to be refreshed.
	waited lane = iota
	// fresh are names that were asked for within the last hour.
	fresh
	// rest are all others.
	rest
	lanes
)

// turns share the looks if all lanes have names that are late: none of them waits forever.
var turns = [...][lanes]lane{{waited, fresh, rest}, {fresh, waited, rest}, {waited, fresh, rest}, {rest, waited, fresh}}

// The places of an entry that is in no lane.
const (
	unplaced int32 = -1
	inLook   int32 = -2
)

// queue has the names that are not looked at right now, by the time at which they are due.
type queue struct {
	byDue [lanes]byDue
	turn  int
}

// put has a name looked at at a time, but not right after its last look.
func (q *queue) put(e *entry, in lane, due time.Time) {
	q.remove(e)
	e.lane, e.due = in, nanos(due)
	if e.looked != 0 {
		e.due = max(e.due, e.looked+int64(spacing))
	}
	heap.Push(&q.byDue[in], e)
}

func (q *queue) remove(e *entry) {
	if e.place >= 0 {
		heap.Remove(&q.byDue[e.lane], int(e.place))
		e.place = unplaced
	}
}

// due is the name to look at, nil if none is due.
func (q *queue) due(now time.Time) *entry {
	for _, in := range turns[q.turn%len(turns)] {
		if l := q.byDue[in]; len(l) > 0 && l[0].due <= nanos(now) {
			return l[0]
		}
	}
	return nil
}

// take takes a name out, to look at it.
func (q *queue) take(e *entry) {
	q.remove(e)
	e.place = inLook
	q.turn++
}

// next is the time until a name is due, an hour at most.
func (q *queue) next(now time.Time) time.Duration {
	wait := time.Hour
	for _, l := range q.byDue {
		if len(l) > 0 {
			wait = min(wait, time.Duration(l[0].due-nanos(now)))
		}
	}
	return wait
}

// byDue is a heap.
type byDue []*entry

// Len implements heap.Interface.
func (b byDue) Len() int { return len(b) }

// Less implements heap.Interface.
func (b byDue) Less(i, j int) bool { return b[i].due < b[j].due }

// Swap implements heap.Interface.
func (b byDue) Swap(i, j int) {
	b[i], b[j] = b[j], b[i]
	b[i].place, b[j].place = int32(i), int32(j)
}

// Push implements heap.Interface.
func (b *byDue) Push(x any) {
	e := x.(*entry) //nolint:forcetypeassert // a heap of entries
	e.place = int32(len(*b))
	*b = append(*b, e)
}

// Pop implements heap.Interface.
func (b *byDue) Pop() any {
	last := len(*b) - 1
	e := (*b)[last]
	(*b)[last] = nil
	*b = (*b)[:last]
	return e
}

// pace spreads looks: one in each interval, and a burst after a pause.
type pace struct {
	interval time.Duration
	// paid is until when the looks of the past have used the time up.
	paid time.Time
}

// wait is the time until the next look may begin.
func (p *pace) wait(now time.Time) time.Duration {
	return max(max(p.paid.Sub(now), 0)-(burst-1)*p.interval, 0)
}

// spend is called with each look that begins.
func (p *pace) spend(now time.Time) {
	if p.paid.Before(now) {
		p.paid = now
	}
	p.paid = p.paid.Add(p.interval)
}
