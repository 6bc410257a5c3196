package reconcile

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// priorities counts what is queued by priority.
type priorities struct {
	priorityqueue.PriorityQueue[reconcile.Request]
	counts map[int]int
}

func (p *priorities) AddWithOpts(o priorityqueue.AddOpts, items ...reconcile.Request) {
	priority := 0
	if o.Priority != nil {
		priority = *o.Priority
	}
	p.counts[priority] += len(items)
}

func TestBulkWaits(t *testing.T) {
	t.Parallel()
	pod := func(n, version int, deleted bool) *corev1.Pod {
		o := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(n), ResourceVersion: fmt.Sprint(version)}}
		if deleted {
			o.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
		}
		return o
	}
	h := func() (handler.EventHandler, *priorities) {
		return gently(&handler.EnqueueRequestForObject{}), &priorities{counts: map[int]int{}}
	}
	created := func(n int) event.CreateEvent { return event.CreateEvent{Object: pod(n, 1, false)} }
	changed := func(n int) event.UpdateEvent {
		return event.UpdateEvent{ObjectOld: pod(n, 1, false), ObjectNew: pod(n, 2, false)}
	}
	deleted := func(n int) event.UpdateEvent {
		return event.UpdateEvent{ObjectOld: pod(n, 1, false), ObjectNew: pod(n, 2, true)}
	}
	for what, tt := range map[string]struct {
		send func(handler.EventHandler, *priorities)
		want map[int]int
	}{
		"a few new objects are usual": {
			func(h handler.EventHandler, q *priorities) {
				for n := range usualBurst {
					h.Create(t.Context(), created(n), q)
				}
			}, map[int]int{0: usualBurst},
		},
		"an import waits, and a change meanwhile does not": {
			func(h handler.EventHandler, q *priorities) {
				for n := range 1000 {
					h.Create(t.Context(), created(n), q)
				}
				h.Update(t.Context(), changed(1), q)
			}, map[int]int{0: usualBurst + 1, bulkPriority: 1000 - usualBurst},
		},
		"a change of all waits, and a new object, a deletion and what is woken do not": {
			func(h handler.EventHandler, q *priorities) {
				for n := range 1000 {
					h.Update(t.Context(), changed(n), q)
				}
				h.Create(t.Context(), created(1), q)
				h.Update(t.Context(), deleted(2), q)
				h.Generic(t.Context(), event.GenericEvent{Object: pod(3, 1, false)}, q)
			}, map[int]int{0: usualBurst + 3, bulkPriority: 1000 - usualBurst},
		},
		"after a while it is usual again": {
			func(h handler.EventHandler, q *priorities) {
				for n := range 1000 {
					h.Create(t.Context(), created(n), q)
				}
				<-time.NewTimer(time.Second).C
				h.Create(t.Context(), created(0), q)
			}, map[int]int{0: usualBurst + 1, bulkPriority: 1000 - usualBurst},
		},
		"what was there at the start comes last, and counts for nothing": {
			func(h handler.EventHandler, q *priorities) {
				for n := range 1000 {
					h.Create(t.Context(), event.CreateEvent{Object: pod(n, 1, false), IsInInitialList: true}, q)
				}
				h.Create(t.Context(), created(0), q)
			}, map[int]int{0: 1, handler.LowPriority: 1000},
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h, q := h()
				tt.send(h, q)
				if diff := cmp.Diff(tt.want, q.counts); diff != "" {
					t.Errorf("by priority (-want +got):\n%s", diff)
				}
			})
		})
	}
}
