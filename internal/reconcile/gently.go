package reconcile

import (
	"context"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	// bulkPriority is that of events that come in large numbers, as in an import. It is below the usual 0, and above that
	// of the objects which are there when the operator starts.
	bulkPriority = -10
	// turnPriority is that of an object whose turn with the rate limit has come. It is there on time, also where others
	// come in large numbers: the limit keeps it from being many.
	turnPriority = 0
	// longRest is the pause from which on an object is no longer urgent, whatever it was before. A deployment that is
	// looked after is one.
	longRest = 15 * time.Second
	// The usual number of events of a sort. More are bulk, and wait until the others are done: a single change is not
	// kept waiting by fifty thousand new objects, nor a new object by fifty thousand changes.
	usualRate, usualBurst = 2, 10
)

// gently queues what the handler queues, with a lower priority while events of their sort come in large numbers. An
// object keeps its priority until an event raises it or it has nothing to do for long: the later passes over imported
// objects give way as well.
func gently(h handler.EventHandler) handler.EventHandler {
	creates, changes, deletions, wakes := newUsual(), newUsual(), newUsual(), newUsual()
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) { h.Create(ctx, e, creates.behind(q)) },
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) {
			sort := changes
			if !e.ObjectNew.GetDeletionTimestamp().IsZero() {
				sort = deletions
			}
			h.Update(ctx, e, sort.behind(q))
		},
		DeleteFunc:  func(ctx context.Context, e event.DeleteEvent, q queue) { h.Delete(ctx, e, deletions.behind(q)) },
		GenericFunc: func(ctx context.Context, e event.GenericEvent, q queue) { h.Generic(ctx, e, wakes.behind(q)) },
	}
}

// priorityAfter is the priority of an object that rests for so long, nil for the one that it has.
func priorityAfter(pause time.Duration) *int {
	if pause < longRest {
		return nil
	}
	return new(bulkPriority)
}

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// usual tells what is usual of one sort of events.
type usual struct{ *rate.Limiter }

func newUsual() usual { return usual{rate.NewLimiter(usualRate, usualBurst)} }

func (u usual) behind(q queue) queue {
	if priorities, ok := q.(priorityqueue.PriorityQueue[reconcile.Request]); ok {
		return gentle{PriorityQueue: priorities, usual: u}
	}
	return q
}

// gentle is a queue for one sort of events.
type gentle struct {
	priorityqueue.PriorityQueue[reconcile.Request]
	usual usual
}

// Add implements priorityqueue.PriorityQueue.
func (g gentle) Add(item reconcile.Request) { g.AddWithOpts(priorityqueue.AddOpts{}, item) }

// AddWithOpts implements priorityqueue.PriorityQueue.
func (g gentle) AddWithOpts(o priorityqueue.AddOpts, items ...reconcile.Request) {
	for _, item := range items {
		each := o
		if each.Priority == nil && !g.usual.Allow() {
			each.Priority = new(bulkPriority)
		}
		g.PriorityQueue.AddWithOpts(each, item)
	}
}
