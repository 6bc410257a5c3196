package ratelimit

import (
	"slices"
	"time"
)

// lane is a token bucket with the queues of the classes that take from it.
type lane struct {
	// share of the whole rate that flows into the lane.
	share float64
	// burst is the capacity at the full rate.
	burst  float64
	tokens float64
	// lost are the tokens for which there was no room since a caller last went in its turn.
	lost float64
	// queues are sorted by class. There are as many as classes, which is a handful.
	queues []*queue
}

// fill adds tokens, and returns those for which there is no room; scale is the present part of
// the full rate.
func (l *lane) fill(tokens, scale float64) (over float64) {
	room := max(0, l.capacity(scale)-l.tokens)
	l.tokens += min(room, tokens)
	over = max(0, tokens-room)
	l.lost += over
	return over
}

func (l *lane) capacity(scale float64) float64 { return max(1, l.burst*scale) }

// fullAfter is how many tokens must flow into all lanes together until this one is full.
func (l *lane) fullAfter(scale float64) float64 {
	room := l.capacity(scale) - l.tokens
	if room < epsilon {
		return 0
	}
	return room / l.share
}

// idle reports whether no caller waits in the lane, and at least half of its burst is available.
func (l *lane) idle(scale float64) bool {
	for _, q := range l.queues {
		if q.root.count() > 0 {
			return false
		}
	}
	return l.tokens >= 1+l.capacity(scale)/2
}

func (l *lane) queueOf(class int) *queue {
	i, found := slices.BinarySearchFunc(l.queues, class, func(q *queue, c int) int { return q.class - c })
	if !found {
		l.queues = slices.Insert(l.queues, i, newQueue(class))
	}
	return l.queues[i]
}

// ahead counts those of a class between least and the caller's that go before p, or before a newcomer if p is nil.
func (l *lane) ahead(least int, c Caller, p *place) int {
	n := 0
	for _, q := range l.queues {
		switch {
		case q.class < least:
		case q.class < c.Class:
			n += q.root.count()
		case q.class == c.Class && p != nil:
			n += q.root.before(p.turn)
		case q.class == c.Class:
			n += q.root.before(q.newcomer(c.Namespace))
		}
	}
	return n
}

// turn orders a queue. Namespaces take turns: in each round each of them goes once, in the order in which they came.
type turn struct {
	round   int
	arrival uint64
}

func (t turn) before(other turn) bool {
	return t.round < other.round || t.round == other.round && t.arrival < other.arrival
}

// place is one waiting caller's place in a queue.
type place struct {
	turn
	caller Caller
	until  time.Time
	queue  *queue
	// index is the place's position in the expiry heap.
	index int
	// sooner and later are the neighbors of the same namespace.
	sooner, later *place
	node
}

// queue lets namespaces take turns, and each of them is first in, first out. With ten thousand callers each asking now
// and then, a walk along the queue would be the most expensive thing the operator does: a balanced tree tells in
// logarithmic time how many are before any one of its places.
type queue struct {
	class    int
	root     *place
	arrivals uint64
	// last are the places that were taken last, by namespace.
	last map[string]*place
}

func newQueue(class int) *queue { return &queue{class: class, last: map[string]*place{}} }

// newcomer is the turn that a caller of the namespace would get now. No newcomer joins the present round, so that it
// ends, however many namespaces come and come back.
func (q *queue) newcomer(namespace string) turn {
	t := turn{arrival: q.arrivals}
	if q.root != nil {
		t.round = q.root.first().round + 1
	}
	if last := q.last[namespace]; last != nil {
		t.round = max(t.round, last.round+1)
	}
	return t
}

func (q *queue) push(p *place) {
	namespace := p.caller.Namespace
	p.queue, p.turn = q, q.newcomer(namespace)
	q.arrivals++
	if last := q.last[namespace]; last != nil {
		p.sooner, last.later = last, p
	}
	q.last[namespace] = p
	q.root = q.root.insert(p)
}

func (q *queue) remove(p *place) {
	q.root = q.root.remove(p)
	if p.sooner != nil {
		p.sooner.later = p.later
	}
	switch {
	case p.later != nil:
		p.later.sooner = p.sooner
	case p.sooner != nil:
		q.last[p.caller.Namespace] = p.sooner
	default:
		delete(q.last, p.caller.Namespace)
	}
}

// expiryHeap has the place on top that is lost first. It implements heap.Interface.
type expiryHeap []*place

func (h expiryHeap) Len() int           { return len(h) }
func (h expiryHeap) Less(i, j int) bool { return h[i].until.Before(h[j].until) }
func (h expiryHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *expiryHeap) Push(x any) {
	p := x.(*place) //nolint:forcetypeassert // only hold pushes, and it pushes places
	p.index = len(*h)
	*h = append(*h, p)
}

func (h *expiryHeap) Pop() any {
	last := len(*h) - 1
	p := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return p
}
