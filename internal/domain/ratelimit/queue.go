package ratelimit

import (
	"slices"
	"time"
)

// lane is a token bucket with the queues of the classes that drink from it.
type lane struct {
	// share of the whole rate that flows into the lane.
	share float64
	// burst is the capacity at the full rate.
	burst  float64
	tokens float64
	// queues are sorted by class. There are as many as classes, which is a handful.
	queues []*queue
}

// fill adds tokens, and returns those for which there is no room; scale is the present part of
// the full rate.
func (l *lane) fill(tokens, scale float64) (over float64) {
	room := max(0, l.capacity(scale)-l.tokens)
	l.tokens += min(room, tokens)
	return max(0, tokens-room)
}

func (l *lane) capacity(scale float64) float64 { return max(1, l.burst*scale) }

func (l *lane) full(scale float64) bool { return l.tokens+epsilon >= l.capacity(scale) }

// idle reports whether no caller waits in the lane, and at least half of its burst is available.
func (l *lane) idle(scale float64) bool {
	for _, q := range l.queues {
		if q.live > 0 {
			return false
		}
	}
	return l.tokens >= 1+l.capacity(scale)/2
}

func (l *lane) queueOf(class int) *queue {
	i, found := slices.BinarySearchFunc(l.queues, class, func(q *queue, c int) int { return q.class - c })
	if !found {
		l.queues = slices.Insert(l.queues, i, &queue{class: class})
	}
	return l.queues[i]
}

// ahead counts those who go before p, or before a newcomer of the class if p is nil.
func (l *lane) ahead(class int, p *place) int {
	n := 0
	for _, q := range l.queues {
		switch {
		case q.class < class:
			n += q.live
		case q.class == class && p != nil:
			n += q.before(p.slot)
		case q.class == class:
			n += q.live
		}
	}
	return n
}

// place is one waiting caller's place in a queue.
type place struct {
	key   string
	until time.Time
	queue *queue
	slot  int
	// index is the place's position in the expiry heap.
	index int
}

// queue is first in, first out, and tells in logarithmic time how many are before any
// one of its places: with ten thousand callers each asking now and then, a walk along
// the queue would be the most expensive thing the operator does. Slots are handed out in
// order, and a Fenwick tree counts those that are still taken.
type queue struct {
	class int
	slots []*place
	// tree has one more element than there is room for slots; tree[0] is not used.
	tree []int
	live int
}

const smallestQueue = 16

func (q *queue) push(p *place) {
	if len(q.slots)+1 >= len(q.tree) {
		q.compact()
	}
	p.queue, p.slot = q, len(q.slots)
	q.slots = append(q.slots, p)
	q.live++
	q.add(p.slot, 1)
}

func (q *queue) remove(p *place) {
	q.slots[p.slot] = nil
	q.live--
	q.add(p.slot, -1)
}

// before counts the taken slots below slot.
func (q *queue) before(slot int) int {
	n := 0
	for i := slot; i > 0; i -= i & -i {
		n += q.tree[i]
	}
	return n
}

func (q *queue) add(slot, n int) {
	for i := slot + 1; i < len(q.tree); i += i & -i {
		q.tree[i] += n
	}
}

// compact gives the slots of those who left to newcomers, and makes room for as many
// again as there are, so that it happens once in so many pushes.
func (q *queue) compact() {
	left := make([]*place, 0, max(smallestQueue, 2*q.live))
	for _, p := range q.slots {
		if p != nil {
			left = append(left, p)
		}
	}
	q.slots, q.tree = left, make([]int, cap(left)+2)
	for i, p := range left {
		p.slot = i
		q.add(i, 1)
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
