package reconcile

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// The delays after a failure about which nothing is known. It may be an outage, so that the ceiling stays far below
// that of a refusal.
const (
	firstBackoff = time.Second
	lastBackoff  = 5 * time.Minute
)

// Watch is what wakes the objects of a kind.
type Watch struct {
	// Name of the controller, in logs and metrics.
	Name string
	// Workers is how many objects are reconciled at the same time.
	Workers int
	// Slots, if any, is how many passes run at the same time, fairly between namespaces. It is for passes that may take
	// long; there should be more workers, to turn away those that have to wait.
	Slots int
	// Short reports whether the next pass over an object takes no long time, so that it needs no slot. It may be nil.
	Short func(key types.NamespacedName) bool
	// Wake brings objects that something outside has changed for.
	Wake <-chan event.GenericEvent
	// Annotations are those whose change wakes the object.
	Annotations []string
	// Related are the other kinds that objects of this one refer to.
	Related []Related
	// Ready waits for what every pass needs. No object is reconciled before. It may be nil.
	Ready func(ctx context.Context) error
}

// Related is a kind whose objects wake those that refer to them.
type Related struct {
	// Object is an empty object of the kind.
	Object client.Object
	// Wakes names the objects to wake when this one was created, changed or deleted.
	Wakes func(o client.Object) []types.NamespacedName
	// Matters reports whether a change shows to the objects that refer to this one.
	Matters func(before, after client.Object) bool
}

// Wakes reports whether a change of an object wakes the object itself: one of its spec, its deletion, the named
// annotations, or a finalizer of ours that was removed. Our own writes never do. After a gap in the watch, a new object of
// the same name looks like a change of the old one.
func (w Watch) Wakes(finalizer string, before, after client.Object) bool {
	lost := slices.Contains(before.GetFinalizers(), finalizer) && !slices.Contains(after.GetFinalizers(), finalizer)
	deleted := before.GetDeletionTimestamp().IsZero() != after.GetDeletionTimestamp().IsZero()
	return before.GetUID() != after.GetUID() || before.GetGeneration() != after.GetGeneration() || lost || deleted ||
		!maps.Equal(pick(before, w.Annotations), pick(after, w.Annotations))
}

// Setup registers the driver with the manager.
func Setup[O client.Object](mgr ctrl.Manager, d *Driver[O], w Watch) error {
	b := ctrl.NewControllerManagedBy(mgr).Named(w.Name).
		// This names the kind in the log. Its objects come through Watches, which takes a handler.
		For(d.Kind.New(), builder.WithPredicates(predicate.NewPredicateFuncs(func(client.Object) bool { return false }))).
		Watches(d.Kind.New(), gently(&handler.EnqueueRequestForObject{}), builder.WithPredicates(predicate.Funcs{
			UpdateFunc: func(e event.UpdateEvent) bool { return w.Wakes(d.Kind.Finalizer(), e.ObjectOld, e.ObjectNew) },
		})).
		Watches(d.Kind.New(), d.IgnoredAnnotations(w.Annotations)).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: w.Workers,
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstBackoff, lastBackoff),
		})
	if w.Wake != nil {
		b = b.WatchesRawSource(source.Channel(w.Wake, gently(&handler.EnqueueRequestForObject{})))
	}
	if w.Ready != nil {
		b = b.WatchesRawSource(gate(w.Ready))
	}
	for _, r := range w.Related {
		b = b.Watches(r.Object, gently(handler.EnqueueRequestsFromMapFunc(func(_ context.Context, o client.Object) []reconcile.Request {
			var requests []reconcile.Request
			for _, key := range r.Wakes(o) {
				requests = append(requests, reconcile.Request{NamespacedName: key})
			}
			return requests
		})), builder.WithPredicates(predicate.Funcs{
			UpdateFunc: func(e event.UpdateEvent) bool { return r.Matters(e.ObjectOld, e.ObjectNew) },
		}))
	}
	var reconciler reconcile.Reconciler = d
	if w.Slots > 0 {
		s := share(d, w.Slots, w.Short)
		b, reconciler = b.WatchesRawSource(source.Channel(s.waker.Queue(), &handler.EnqueueRequestForObject{})), s
	}
	if err := b.Complete(reconciler); err != nil {
		return fmt.Errorf("setting up the %s controller: %w", w.Name, err)
	}
	return nil
}

// gate is a source of a controller that brings nothing, and is waited for.
type gate func(ctx context.Context) error

// Start implements source.Source.
func (gate) Start(context.Context, workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	return nil
}

// WaitForSync implements source.SyncingSource.
func (g gate) WaitForSync(ctx context.Context) error { return g(ctx) }

var _ source.SyncingSource = gate(nil)

func pick(o client.Object, keys []string) map[string]string {
	out := map[string]string{}
	for _, k := range keys {
		if v, ok := o.GetAnnotations()[k]; ok {
			out[k] = v
		}
	}
	return out
}
