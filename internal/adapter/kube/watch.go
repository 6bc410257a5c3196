package kube

import (
	"context"
	"fmt"
	"maps"
	"sync/atomic"
	"time"
	"unique"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
)

// watch is the part of the cache with the objects of one kind.
type watch struct {
	informer toolscache.SharedIndexInformer
	// failure is why the objects could not be listed, nil if nothing is known to be wrong; failed is closed when there is one.
	failure atomic.Pointer[string]
	failed  chan struct{}
	// settled says that the objects were listed, or can't be.
	settled atomic.Bool
	written written
}

// run starts to cache a kind, if it isn't cached already.
func (c *Children) run(ctx context.Context, k plan.Kind, handler toolscache.ResourceEventHandler) (*watch, error) {
	if w := c.watch(k); w != nil {
		return w, nil
	}
	informer, err := c.cache.GetInformer(ctx, c.prototype(k), cache.BlockUntilSynced(false))
	if err == nil {
		_, err = informer.AddEventHandler(handler)
	}
	if err != nil {
		c.drop(ctx, k)
		return nil, fmt.Errorf("watching %s: %w", k.Kind, err)
	}
	return c.watch(k), nil
}

// drop ends the caching of a kind.
func (c *Children) drop(ctx context.Context, k plan.Kind) {
	c.mu.Lock()
	delete(c.watches, k)
	c.mu.Unlock()
	// It fails for what has no kind only.
	_ = c.cache.RemoveInformer(ctx, c.prototype(k))
}

func (c *Children) watch(k plan.Kind) *watch {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.watches[k]
}

// newInformer is called by the cache, in run. This is where one learns of the failures of a single kind.
func (c *Children) newInformer(lw toolscache.ListerWatcher, o runtime.Object, resync time.Duration, by toolscache.Indexers) toolscache.SharedIndexInformer {
	informer := toolscache.NewSharedIndexInformer(lw, o, resync, by)
	k := kindOf(o, c.opts.Scheme)
	w := &watch{informer: informer, failed: make(chan struct{})}
	// It fails only for an informer that runs.
	_ = informer.SetWatchErrorHandlerWithContext(func(ctx context.Context, r *toolscache.Reflector, err error) {
		text := classify("List"+k.Kind, plan.Object{Kind: k}, err).Message
		if w.failure.Swap(&text) == nil {
			close(w.failed)
		}
		if apierrors.IsNotFound(err) && c.optional(k) {
			// It has gone, or is about to come, which is no failure.
			c.ask()
			return
		}
		toolscache.DefaultWatchErrorHandler(ctx, r, err)
	})
	c.mu.Lock()
	c.watches[k] = w
	c.mu.Unlock()
	return informer
}

// kindOf is the kind of an object that a cache is made for, which is of the scheme or names its kind itself.
func kindOf(o runtime.Object, scheme *runtime.Scheme) plan.Kind {
	gvk, err := apiutil.GVKForObject(o, scheme)
	if err != nil {
		panic(err)
	}
	return plan.Kind{Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind}
}

// changes tells of each event of a kind.
func (c *Children) changes(k plan.Kind) toolscache.ResourceEventHandler {
	tell := func(o any) {
		if gone, ok := o.(toolscache.DeletedFinalStateUnknown); ok {
			o = gone.Obj
		}
		if live, err := liveOf(k, o); err == nil {
			c.opts.Changed(live)
		}
	}
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc: tell,
		UpdateFunc: func(before, after any) {
			b, a := before.(client.Object), after.(client.Object) //nolint:forcetypeassert // an informer holds objects
			if b.GetResourceVersion() == a.GetResourceVersion() {
				return
			}
			if !maps.Equal(b.GetLabels(), a.GetLabels()) {
				tell(before)
			}
			tell(after)
		},
		DeleteFunc: tell,
	}
}

// prototype is an empty object of a kind: the scheme's own type where it has one.
func (c *Children) prototype(k plan.Kind) client.Object {
	if k == kindDefinition {
		return definition()
	}
	if typed, err := c.opts.Scheme.New(gvk(k)); err == nil {
		if o, ok := typed.(client.Object); ok {
			return o
		}
	}
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(gvk(k))
	return o
}

func gvk(k plan.Kind) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: k.Group, Version: k.Version, Kind: k.Kind}
}

// slim makes an object smaller before the cache keeps it: without what nothing here reads, and with one copy of the
// text that the objects of a tenant share.
func slim(object any) (any, error) {
	o, ok := object.(metav1.Object)
	if !ok {
		return object, nil // a tombstone
	}
	o.SetManagedFields(nil)
	annotations := o.GetAnnotations()
	delete(annotations, corev1.LastAppliedConfigAnnotation)
	o.SetAnnotations(shared(annotations))
	o.SetLabels(shared(o.GetLabels()))
	o.SetNamespace(unique.Make(o.GetNamespace()).Value())
	return object, nil
}

func shared(m map[string]string) map[string]string {
	if len(m) == 0 {
		return nil
	}
	out := make(map[string]string, len(m))
	for key, value := range m {
		out[unique.Make(key).Value()] = unique.Make(value).Value()
	}
	return out
}
