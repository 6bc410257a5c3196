package reconcile

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

// wakeQueue is how many woken objects may wait for the work queue to take them.
const wakeQueue = 1024

// Waker queues objects of a kind that something outside has changed for.
type Waker struct {
	queue  chan event.GenericEvent
	active <-chan struct{}
}

// NewWaker makes one. active is closed once this replica is the one that works: nothing is queued before, and every
// object is looked at then. It is nil if only the working replica ever wakes.
func NewWaker(active <-chan struct{}) *Waker {
	return &Waker{queue: make(chan event.GenericEvent, wakeQueue), active: active}
}

// Queue is what a Watch takes.
func (w *Waker) Queue() <-chan event.GenericEvent { return w.queue }

// Wake queues objects. It waits for room.
func (w *Waker) Wake(ctx context.Context, keys ...types.NamespacedName) {
	if !w.Active() {
		return
	}
	for _, key := range keys {
		o := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
		select {
		case w.queue <- event.GenericEvent{Object: o}:
		case <-ctx.Done():
			return
		}
	}
}

// WakeNames queues objects of a kind that is in no namespace.
func (w *Waker) WakeNames(ctx context.Context, names ...string) {
	for _, name := range names {
		w.Wake(ctx, types.NamespacedName{Name: name})
	}
}

// Active reports whether this replica is the one that works: nothing is queued before.
func (w *Waker) Active() bool {
	if w.active == nil {
		return true
	}
	select {
	case <-w.active:
		return true
	default:
		return false
	}
}
