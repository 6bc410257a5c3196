// Package slots shares a few slots for long work between namespaces. It is pure, and does no waiting: a caller that has
// to wait is told so, and is named when it has its slot.
package slots

import "slices"

// Slots are given out so that no namespace can keep another from its own: the namespaces with the fewest slots are
// first, and of these the one that has waited longest. Within a namespace first come is first served. The last free
// slot is kept for a namespace that has none, since work that takes minutes can't be interrupted for it.
//
// Slots are not safe for concurrent use.
type Slots[K comparable] struct {
	size int
	// held is how many slots a namespace has. granted are those that were given and not yet taken.
	held    map[string]int
	used    int
	granted map[K]bool
	// waiting are those without a slot, by namespace; turns are the namespaces in which any wait, in their order.
	waiting map[string][]K
	turns   []string
}

// New returns n free slots, two at least: one that is kept, and one that any namespace may have.
func New[K comparable](size int) *Slots[K] {
	return &Slots[K]{size: max(2, size), held: map[string]int{}, granted: map[K]bool{}, waiting: map[string][]K{}}
}

// Take asks for a slot, and reports whether there is one. A caller that has to wait keeps its place when it asks again,
// and must ask again when Done names it. A caller that has a slot must not ask for another.
func (s *Slots[K]) Take(namespace string, key K) bool {
	if !s.granted[key] {
		s.enqueue(namespace, key)
		s.grant()
	}
	taken := s.granted[key]
	delete(s.granted, key)
	return taken
}

// Done gives a slot back, and names the callers that have one now.
func (s *Slots[K]) Done(namespace string) []K {
	s.used--
	if s.held[namespace]--; s.held[namespace] == 0 {
		delete(s.held, namespace)
	}
	return s.grant()
}

// Waiting is how many wait.
func (s *Slots[K]) Waiting() int {
	n := 0
	for _, keys := range s.waiting {
		n += len(keys)
	}
	return n
}

func (s *Slots[K]) enqueue(namespace string, key K) {
	keys := s.waiting[namespace]
	if slices.Contains(keys, key) {
		return
	}
	if len(keys) == 0 {
		s.turns = append(s.turns, namespace)
	}
	s.waiting[namespace] = append(keys, key)
}

// grant gives slots to callers that wait, as long as there are any for them.
func (s *Slots[K]) grant() (given []K) {
	for len(s.turns) > 0 {
		i := s.next()
		namespace := s.turns[i]
		kept := min(1, s.held[namespace])
		if s.used >= s.size-kept {
			return given
		}
		given = append(given, s.give(namespace, i))
	}
	return given
}

// next is the namespace whose turn it is.
func (s *Slots[K]) next() int {
	best := 0
	for i, namespace := range s.turns {
		if s.held[namespace] < s.held[s.turns[best]] {
			best = i
		}
	}
	return best
}

// give gives a slot to the first of a namespace, whose next turn is then behind those of all others.
func (s *Slots[K]) give(namespace string, turn int) K {
	key, rest := s.waiting[namespace][0], s.waiting[namespace][1:]
	s.turns = slices.Delete(s.turns, turn, turn+1)
	delete(s.waiting, namespace)
	if len(rest) > 0 {
		s.turns, s.waiting[namespace] = append(s.turns, namespace), rest
	}
	s.used++
	s.held[namespace]++
	s.granted[key] = true
	return key
}
