package ratelimit

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The tree must count like the plain list that it stands for.
func TestQueueCountsLikeAList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q, list := &queue{}, []*place{}
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			if len(list) > 0 && rapid.IntRange(0, 2).Draw(t, "leave") == 0 {
				i := rapid.IntRange(0, len(list)-1).Draw(t, "who")
				q.remove(list[i])
				list = slices.Delete(list, i, i+1)
			} else {
				p := &place{}
				q.push(p)
				list = append(list, p)
			}
			if q.live != len(list) {
				t.Fatalf("%d live, want %d", q.live, len(list))
			}
			for i, p := range list {
				if got := q.before(p.slot); got != i {
					t.Fatalf("%d before place %d, want %d", got, i, i)
				}
			}
		}
	})
}
