package reconcile

import (
	"context"
	"maps"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
)

// EventAnnotationIgnored (Warning; DistributionTenant, Distribution, ConnectionGroup, TenantSource, Invalidation, EdgeGrant,
// Tenant, TenantPlan): an annotation with the operator's prefix was set that has no effect, because it is misspelled, or
// belongs to another kind. The message names it, and the one that may be meant.
const EventAnnotationIgnored = "AnnotationIgnored"

// IgnoredAnnotations tells of annotations without an effect when they appear. It queues nothing. Annotations from
// before this process started were reported when they were set.
func (d *Driver[O]) IgnoredAnnotations(heeded []string) handler.EventHandler {
	tell := func(before map[string]string, after client.Object) {
		o, ok := after.(O)
		if !ok || d.Ignored == nil || maps.Equal(before, after.GetAnnotations()) {
			return
		}
		told := d.Ignored(before, heeded)
		for _, message := range d.Ignored(after.GetAnnotations(), heeded) {
			if !slices.Contains(told, message) {
				// The events of all objects come one after the other, and must not wait for the API server.
				go d.Publish(o, Event{Warning: true, Reason: EventAnnotationIgnored, Message: message})
			}
		}
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, _ queue) {
			if !e.IsInInitialList {
				tell(nil, e.Object)
			}
		},
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, _ queue) { tell(e.ObjectOld.GetAnnotations(), e.ObjectNew) },
	}
}
