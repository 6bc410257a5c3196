package world

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

// Epoch is when every offline world begins, so that a case plays the same way each time.
var Epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// NewOffline makes a world without an API server, for tests that play thousands of them.
// Nothing checks what is written: the schema and its rules belong to the other worlds.
func NewOffline(t TB, o Options) *World {
	t.Helper()
	s := scheme(t)
	tracker := clienttesting.NewObjectTracker(s, serializer.NewCodecFactory(s).UniversalDecoder())
	store := fake.NewClientBuilder().WithScheme(s).WithObjectTracker(tracker).
		WithStatusSubresource(&v1alpha1.DistributionTenant{}, &v1alpha1.Distribution{}, &v1alpha1.ConnectionGroup{}, &v1alpha1.Invalidation{}, &v1alpha1.DomainClaim{}).Build()
	clk := clocktesting.NewFakeClock(Epoch)
	lag := &lagging{before: map[client.ObjectKey]*v1alpha1.DistributionTenant{}}
	w := build(t, clk, serving(store, tracker, clk), lag.client(store), o)
	w.lag = lag
	return w
}

// serving adds what an API server does to objects and the fake client does not: identity,
// age and generation.
func serving(store client.WithWatch, tracker clienttesting.ObjectTracker, clk *clocktesting.FakeClock) client.WithWatch {
	created := 0
	return interceptor.NewClient(store, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			created++
			if o.GetName() == "" {
				o.SetName(fmt.Sprintf("%s%d", o.GetGenerateName(), created))
			}
			o.SetUID(types.UID(fmt.Sprintf("uid-%d", created)))
			o.SetGeneration(1)
			o.SetCreationTimestamp(metav1.NewTime(clk.Now()))
			return c.Create(ctx, o, opts...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			if specOf(o) == nil {
				return c.Patch(ctx, o, p, opts...)
			}
			before := reflect.New(reflect.TypeOf(o).Elem()).Interface().(client.Object) //nolint:forcetypeassert // another of the same type
			if err := c.Get(ctx, client.ObjectKeyFromObject(o), before); err != nil {
				return err
			}
			if err := c.Patch(ctx, o, p, opts...); err != nil || equality.Semantic.DeepEqual(specOf(before), specOf(o)) {
				return err
			}
			return nextGeneration(ctx, c, o)
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			if specOf(o) == nil || len(o.GetFinalizers()) == 0 {
				return c.Delete(ctx, o, opts...)
			}
			return deleteHeld(ctx, c, tracker, clk, o, opts...)
		},
	})
}

// deleteHeld deletes an object that finalizers hold, at the time of the world: the fake client takes the time of day.
func deleteHeld(ctx context.Context, c client.WithWatch, tracker clienttesting.ObjectTracker, clk *clocktesting.FakeClock, o client.Object, opts ...client.DeleteOption) error {
	if err := c.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil || o.GetDeletionTimestamp() != nil {
		return err
	}
	if err := c.Delete(ctx, o, opts...); err != nil {
		return err
	}
	gvk, err := c.GroupVersionKindFor(o)
	if err != nil {
		return err
	}
	resources, _ := meta.UnsafeGuessKindToResource(gvk)
	stored, err := tracker.Get(resources, o.GetNamespace(), o.GetName())
	if err != nil {
		return err
	}
	deleted := stored.DeepCopyObject().(client.Object) //nolint:forcetypeassert // it was stored as one
	at := metav1.NewTime(clk.Now().Truncate(time.Second))
	deleted.SetDeletionTimestamp(&at)
	if err := tracker.Update(resources, deleted, o.GetNamespace()); err != nil {
		return err
	}
	if err := c.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
		return err
	}
	return nextGeneration(ctx, c, o)
}

// specOf is the spec of the kinds that have generations here, nil of others.
func specOf(o client.Object) any {
	switch o := o.(type) {
	case *v1alpha1.DistributionTenant:
		return o.Spec
	case *v1alpha1.Distribution:
		return o.Spec
	case *v1alpha1.ConnectionGroup:
		return o.Spec
	case *v1alpha1.Invalidation:
		return o.Spec
	}
	return nil
}

func nextGeneration(ctx context.Context, c client.Client, o client.Object) error {
	base := o.DeepCopyObject().(client.Object) //nolint:forcetypeassert // a copy of an object is one
	o.SetGeneration(o.GetGeneration() + 1)
	return c.Patch(ctx, o, client.MergeFrom(base))
}

// lagging is a cache that may not have seen the operator's own last write yet.
type lagging struct {
	mu sync.Mutex
	// before has each object as it was before the operator last wrote to it.
	before map[client.ObjectKey]*v1alpha1.DistributionTenant
	stale  int
}

// LagReads makes the next n reads of the operator miss its own last write to the object.
// They miss nothing else: a cache never goes backward.
func (w *World) LagReads(n int) {
	w.lag.mu.Lock()
	defer w.lag.mu.Unlock()
	w.lag.stale = n
}

func (l *lagging) client(store client.WithWatch) client.WithWatch {
	return interceptor.NewClient(store, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if err := c.Get(ctx, key, o, opts...); err != nil {
				return err
			}
			if t, ok := o.(*v1alpha1.DistributionTenant); ok {
				l.read(key, t)
			}
			return nil
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			l.write(ctx, c, o)
			return c.Patch(ctx, o, p, opts...)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			l.write(ctx, c, o)
			return c.SubResource(sub).Patch(ctx, o, p, opts...)
		},
	})
}

func (l *lagging) read(key client.ObjectKey, now *v1alpha1.DistributionTenant) {
	l.mu.Lock()
	defer l.mu.Unlock()
	old := l.before[key]
	if l.stale == 0 || old == nil {
		return
	}
	l.stale--
	if old.UID == now.UID && old.Generation == now.Generation {
		old.DeepCopyInto(now)
	}
}

func (l *lagging) write(ctx context.Context, c client.Client, o client.Object) {
	var before v1alpha1.DistributionTenant
	if err := c.Get(ctx, client.ObjectKeyFromObject(o), &before); err != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.before[client.ObjectKeyFromObject(o)] = &before
}
