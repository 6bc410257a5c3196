package world

import (
	"cmp"
	"context"
	"maps"
	"reflect"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/keyvalue"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

// ID names an object of any kind.
type ID struct {
	// Kind is empty for a DistributionTenant.
	Kind string
	client.ObjectKey
}

func (id ID) compare(other ID) int {
	return slices.Compare([]string{id.Kind, id.Namespace, id.Name}, []string{other.Kind, other.Namespace, other.Name})
}

// scheduled is an object in the work queue.
type scheduled struct {
	due      time.Time
	failures int
	// seen is the object as the watch last showed it, nil where there is none.
	seen client.Object
	// name is the tenant's in AWS.
	name string
}

// maxPasses bounds how often one object may be reconciled in one Advance: an object that
// spins is a defect, and must not hang the test.
const maxPasses = 400

// Advance plays d of the manager's life: passes and steps of the inventory, each when it
// is due, with time jumping from one to the next.
func (w *World) Advance(d time.Duration) {
	w.t.Helper()
	end := w.Clock.Now().Add(d)
	if w.options.Shared {
		w.noteAll()
	}
	passes := map[ID]int{}
	for {
		w.watch()
		key, at := w.next()
		if at.After(end) {
			break
		}
		if at.After(w.Clock.Now()) {
			w.Clock.SetTime(at)
		}
		if key == (ID{}) {
			w.work()
			continue
		}
		if passes[key]++; passes[key] > maxPasses {
			w.t.Fatalf("%s was reconciled %d times in %s", key, maxPasses, d)
		}
		w.pass(key)
	}
	w.Clock.SetTime(end)
}

// next is what is due first: an object, or with the empty key a step of a shared worker.
func (w *World) next() (ID, time.Time) {
	best, at := ID{}, w.process.nextWork()
	for _, key := range slices.SortedFunc(maps.Keys(w.objects), ID.compare) {
		if s := w.objects[key]; !s.due.IsZero() && (s.due.Before(at) || best.Name == "" && s.due.Equal(at)) {
			best, at = key, s.due
		}
	}
	return best, at
}

// work runs one step of the shared worker that is due first, surviving a crash in it.
func (w *World) work() {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(crash); !ok {
				panic(r)
			}
			w.Restart()
		}
	}()
	first := w.process.workers[0]
	for _, other := range w.process.workers[1:] {
		if other.next.Before(first.next) {
			first = other
		}
	}
	first.next = w.Clock.Now().Add(first.step(w.t.Context()))
}

func (w *World) pass(key ID) {
	s := w.objects[key]
	s.due = time.Time{}
	result, crashed, err := w.reconcileOnce(w.t.Context(), key)
	now := w.Clock.Now()
	// The pass may have made something to follow or to publish.
	w.process.rouse(now)
	switch {
	case crashed:
		w.Restart()
	case err != nil:
		w.t.Logf("%s: %v", key, err)
		s.due = now.Add(min(time.Second<<min(s.failures, 12), 5*time.Minute))
		s.failures++
	default:
		s.failures = 0
		if result.RequeueAfter > 0 && (s.due.IsZero() || now.Add(result.RequeueAfter).Before(s.due)) {
			s.due = now.Add(result.RequeueAfter)
		}
	}
}

// wake is the inventory's OnChange.
func (w *World) wake(names []string) {
	for _, s := range w.objects {
		if slices.Contains(names, s.name) {
			s.due = w.Clock.Now()
		}
	}
}

// wakeAll is what a halt calls.
func (w *World) wakeAll(context.Context) {
	for _, s := range w.objects {
		s.due = w.Clock.Now()
	}
}

// wakeOwners is the zones' OnChange.
func (w *World) wakeOwners(owners []dns.Owner) {
	for _, o := range owners {
		key := operator.OwnerKey(o)
		if s := w.objects[ID{Kind: key.Kind, ObjectKey: client.ObjectKey{Namespace: key.Namespace, Name: key.Name}}]; s != nil {
			s.due = w.Clock.Now()
		}
	}
}

// wakeKeyOwners queues the objects whose keys stand otherwise than they know.
func (w *World) wakeKeyOwners(owners []keyvalue.Owner) {
	for _, o := range owners {
		w.wakeOwners([]dns.Owner{{Namespace: o.Namespace, Name: o.Name}})
	}
}

// watch queues what a watch with the controller's predicates would let through.
func (w *World) watch() {
	w.t.Helper()
	written, alive := w.takeNoted(), map[ID]bool{}
	if written[kindDomainClaim] && w.process.claims != nil {
		w.showClaims()
		w.process.rouse(w.Clock.Now())
	}
	for _, k := range w.process.kinds {
		if !written[k.name] {
			continue
		}
		for _, o := range k.list() {
			id := ID{Kind: k.name, ObjectKey: client.ObjectKeyFromObject(o)}
			alive[id] = true
			before := w.notice(id, o, k.watch)
			w.relate(before, o)
		}
	}
	for key, s := range w.objects {
		if written[key.Kind] && !alive[key] && s.seen != nil {
			w.relate(s.seen, nil)
			s.seen, s.due = nil, w.Clock.Now()
		}
	}
}

// relate queues the objects that refer to an object, when a change shows to them. It is nil before it was there, and
// once it is gone.
func (w *World) relate(before, after client.Object) {
	shown := cmp.Or(after, before)
	for _, k := range w.process.kinds {
		for _, r := range k.watch.Related {
			if reflect.TypeOf(r.Object) != reflect.TypeOf(shown) || before != nil && after != nil && !r.Matters(before, after) {
				continue
			}
			for key := range woken(r, before, after) {
				if s := w.objects[ID{Kind: k.name, ObjectKey: key}]; s != nil {
					s.due = w.Clock.Now()
					w.Woken++
				}
			}
		}
	}
}

// woken are the objects that refer to either state of an object.
func woken(r reconcile.Related, states ...client.Object) map[types.NamespacedName]bool {
	keys := map[types.NamespacedName]bool{}
	for _, o := range states {
		if o != nil {
			for _, key := range r.Wakes(o) {
				keys[key] = true
			}
		}
	}
	return keys
}

// notice queues an object that the watch would wake, and returns it as it was before.
func (w *World) notice(id ID, o client.Object, watch reconcile.Watch) (before client.Object) {
	s := w.objects[id]
	if s == nil {
		s = &scheduled{}
		w.objects[id] = s
	}
	if t, ok := o.(*v1alpha1.DistributionTenant); ok {
		s.name = convert.DistributionTenantName(t)
	}
	before, s.seen = s.seen, o
	if before == nil || before.GetUID() != o.GetUID() || watch.Wakes(v1alpha1.Finalizer, before, o) {
		s.due, s.failures = w.Clock.Now(), 0
	}
	return before
}

// list reads the objects of all the world's namespaces.
func (w *World) list() (all []*v1alpha1.DistributionTenant) {
	w.t.Helper()
	for _, namespace := range w.namespaces {
		var list v1alpha1.DistributionTenantList
		if err := w.Kube.List(w.t.Context(), &list, client.InNamespace(namespace)); err != nil {
			w.t.Fatalf("listing the objects: %v", err)
		}
		for n := range list.Items {
			all = append(all, &list.Items[n])
		}
	}
	return all
}
