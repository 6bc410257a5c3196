package slots_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/slots"
)

// world is who asks for slots, as a test sees it. A key begins with the letter of its namespace.
type world struct {
	slots   *slots.Slots[string]
	working []string
	waiting []string
	// passedBy are the slots that each namespace was given while another waits that has none.
	passedBy map[string]map[string]int
}

func newWorld(size int) *world {
	return &world{slots: slots.New[string](size), passedBy: map[string]map[string]int{}}
}

func of(key string) string { return key[:1] }

func (w *world) has(namespace string) int {
	n := 0
	for _, key := range w.working {
		if of(key) == namespace {
			n++
		}
	}
	return n
}

func (w *world) ask(key string) {
	if w.slots.Take(of(key), key) {
		w.gets(key)
	} else {
		w.waiting = append(w.waiting, key)
	}
}

func (w *world) gets(key string) {
	w.working = append(w.working, key)
	delete(w.passedBy, of(key))
	waiting := map[string]bool{}
	for _, other := range w.waiting {
		waiting[of(other)] = true
	}
	for other := range waiting {
		if other != of(key) && w.has(other) == 0 {
			if w.passedBy[other] == nil {
				w.passedBy[other] = map[string]int{}
			}
			w.passedBy[other][of(key)]++
		}
	}
}

// finish ends the work of a key, and lets those ask again that have a slot now.
func (w *world) finish(key string) (next []string) {
	w.working = slices.DeleteFunc(w.working, func(k string) bool { return k == key })
	next = w.slots.Done(of(key))
	for _, k := range next {
		w.waiting = slices.DeleteFunc(w.waiting, func(other string) bool { return other == k })
		w.ask(k)
	}
	return next
}

func TestSlots(t *testing.T) {
	tests := []struct {
		name string
		asks []string
		want []string
		// after finishing the first one
		then []string
	}{
		{"one namespace has all slots but the one that is kept", []string{"a1", "a2", "a3", "a4"}, []string{"a1", "a2", "a3"}, []string{"a4"}},
		{"another has the slot that was kept at once", []string{"a1", "a2", "a3", "a4", "b1"}, []string{"a1", "a2", "a3", "b1"}, nil},
		{
			"a namespace that has none is before one that waits longer and has some",
			[]string{"a1", "a2", "a3", "a4", "b1", "c1"}, []string{"a1", "a2", "a3", "b1"}, []string{"c1"},
		},
		{
			"of those that have none they who wait longest are first",
			[]string{"a1", "b1", "c1", "d1", "f1", "e1"}, []string{"a1", "b1", "c1", "d1"}, []string{"f1"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(4)
			for _, key := range tt.asks {
				w.ask(key)
			}
			if diff := cmp.Diff(tt.want, w.working); diff != "" {
				t.Errorf("at work (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.then, w.finish(tt.want[0])); diff != "" {
				t.Errorf("next (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhoAsksAgainKeepsItsPlace(t *testing.T) {
	s := slots.New[string](2)
	for _, key := range []string{"a1", "a2", "a3", "a2", "a2"} {
		s.Take(of(key), key)
	}
	if got := s.Waiting(); got != 2 {
		t.Errorf("%d wait, want 2", got)
	}
	if diff := cmp.Diff([]string{"a2"}, s.Done("a")); diff != "" {
		t.Errorf("next (-want +got):\n%s", diff)
	}
	if s.Take("a", "a3") {
		t.Error("a slot that was given to one was taken by another")
	}
	if !s.Take("a", "a2") {
		t.Error("who was given a slot doesn't get it")
	}
}

// However many come and however long the work takes: no slot is lost, none is given twice, no namespace has a second one
// before another that has none, each of them passes one that waits at most once, and within one first come is first
// served.
func TestSlotsAreFair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(2, 6).Draw(t, "size")
		w := newWorld(size)
		for i := range rapid.IntRange(1, 200).Draw(t, "steps") {
			if len(w.working) > 0 && rapid.Bool().Draw(t, "finish") {
				w.finish(rapid.SampledFrom(w.working).Draw(t, "who"))
			} else {
				w.ask(fmt.Sprintf("%s%03d", rapid.SampledFrom([]string{"a", "a", "a", "b", "c", "d"}).Draw(t, "namespace"), i))
			}
			w.check(t, size)
		}
		for len(w.working) > 0 {
			w.finish(w.working[0])
			w.check(t, size)
		}
		if len(w.waiting) > 0 {
			t.Fatalf("%v wait for good", w.waiting)
		}
	})
}

func (w *world) check(t *rapid.T, size int) {
	if n := len(w.working); n > size || len(w.waiting) > 0 && n < size-1 {
		t.Fatalf("%v at work with %d slots while %v wait", w.working, size, w.waiting)
	}
	for _, key := range w.waiting {
		if w.has(of(key)) == 0 && len(w.working) < size {
			t.Fatalf("%s waits although a slot is free: %v", key, w.working)
		}
		for other, n := range w.passedBy[of(key)] {
			if n > 1 && w.has(of(key)) == 0 {
				t.Fatalf("%s waits and has no slot, and %s had %d in the meantime", key, other, n)
			}
		}
		for _, working := range w.working {
			if of(working) == of(key) && working > key {
				t.Fatalf("%s was before %s of the same namespace", working, key)
			}
		}
	}
}
