package ratelimit

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The tree must count like the plain list that it stands for, in which namespaces take turns.
func TestQueueCountsLikeAList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q, list := newQueue(0), []*place{}
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			if len(list) > 0 && rapid.IntRange(0, 2).Draw(t, "leave") == 0 {
				i := rapid.IntRange(0, len(list)-1).Draw(t, "who")
				q.remove(list[i])
				list = slices.Delete(list, i, i+1)
			} else {
				p := &place{caller: Caller{Namespace: rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "namespace")}}
				q.push(p)
				list = append(list, p)
				slices.SortFunc(list, func(a, b *place) int {
					return cmp.Or(cmp.Compare(a.round, b.round), cmp.Compare(a.arrival, b.arrival))
				})
			}
			if q.root.count() != len(list) {
				t.Fatalf("%d wait, want %d", q.root.count(), len(list))
			}
			last := map[string]*place{}
			for i, p := range list {
				if got := q.root.before(p.turn); got != i {
					t.Fatalf("%d before place %d, want %d", got, i, i)
				}
				if l := last[p.caller.Namespace]; l != nil && (l.round >= p.round || l.arrival >= p.arrival) {
					t.Fatalf("places of one namespace in one round, or not in order: %+v and %+v", l.turn, p.turn)
				}
				last[p.caller.Namespace] = p
			}
		}
	})
}

// Who goes and comes back at once, and namespaces that are new each time, must not keep a round from coming. They leave
// nothing behind.
func TestARoundEnds(t *testing.T) {
	q, served := newQueue(0), map[string]int{}
	waiting := func(namespace string) *place { return &place{caller: Caller{Namespace: namespace}} }
	for range 20 {
		q.push(waiting("crowd"))
	}
	q.push(waiting("eager"))
	for i := range 100 {
		q.push(waiting(string(rune('0' + i))))
		first := q.root.first()
		q.remove(first)
		served[first.caller.Namespace]++
		if first.caller.Namespace == "eager" {
			q.push(waiting("eager"))
		}
	}
	if served["crowd"] < 3 || served["eager"] < 3 {
		t.Errorf("among 100 calls the crowd had %d and the eager one had %d", served["crowd"], served["eager"])
	}
	if got, most := len(q.last), q.root.count(); got > most {
		t.Errorf("%d namespaces are remembered where %d callers wait", got, most)
	}
	for q.root != nil {
		q.remove(q.root.first())
	}
	if len(q.last) > 0 {
		t.Errorf("%d namespaces are remembered where no one waits", len(q.last))
	}
}
