package stack

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

// writers is how many objects are created or deleted at a time.
const writers = 8

// Fleet is a number of like tenants in one namespace, and what a watch has seen of them.
type Fleet struct {
	// Shape, if any, changes each object before it is created.
	Shape func(o *v1alpha1.DistributionTenant)

	kube      client.WithWatch
	namespace string
	prefix    string
	size      int
	cancel    context.CancelFunc
	ended     chan struct{}

	mu             sync.Mutex
	moved          chan struct{}
	live           map[string]bool
	created, ready map[string]time.Time
	err            error
}

// NewFleet watches the namespace, whose objects are named prefix and a number.
func NewFleet(ctx context.Context, kube client.WithWatch, namespace, prefix string, size int) (*Fleet, error) {
	f := &Fleet{
		kube: kube, namespace: namespace, prefix: prefix, size: size, ended: make(chan struct{}), moved: make(chan struct{}),
		live: map[string]bool{}, created: map[string]time.Time{}, ready: map[string]time.Time{},
	}
	ctx, f.cancel = context.WithCancel(context.WithoutCancel(ctx))
	events, err := f.look(ctx)
	if err != nil {
		f.cancel()
		return nil, err
	}
	go f.follow(ctx, events)
	return f, nil
}

// Close ends the watch.
func (f *Fleet) Close() {
	f.cancel()
	<-f.ended
}

// Name returns the name of the n-th tenant, from 0.
func (f *Fleet) Name(n int) string { return fmt.Sprintf("%s%05d", f.prefix, n) }

// Object builds the n-th tenant.
func (f *Fleet) Object(n int) *v1alpha1.DistributionTenant {
	o := &v1alpha1.DistributionTenant{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: f.Name(n)},
		Spec: v1alpha1.DistributionTenantSpec{
			DistributionID: DistributionID,
			Domains:        []v1alpha1.TenantDomain{{Domain: f.Name(n) + ".example.com"}},
		},
	}
	if f.Shape != nil {
		f.Shape(o)
	}
	return o
}

// Create creates all objects.
func (f *Fleet) Create(ctx context.Context) error {
	return f.each(ctx, "creating", func(ctx context.Context, o *v1alpha1.DistributionTenant) error {
		f.mu.Lock()
		f.created[o.Name] = time.Now()
		f.mu.Unlock()
		return f.kube.Create(ctx, o)
	})
}

// Delete deletes all objects, one by one: as one request, thousands take longer than the
// API server gives a request.
func (f *Fleet) Delete(ctx context.Context) error {
	return f.each(ctx, "deleting", func(ctx context.Context, o *v1alpha1.DistributionTenant) error {
		return client.IgnoreNotFound(f.kube.Delete(ctx, o))
	})
}

func (f *Fleet) each(ctx context.Context, doing string, do func(context.Context, *v1alpha1.DistributionTenant) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for n := range f.size {
		group.Go(func() error {
			if err := do(ctx, f.Object(n)); err != nil {
				return fmt.Errorf("%s %s: %w", doing, f.Name(n), err)
			}
			return nil
		})
	}
	return group.Wait()
}

// WaitReady waits until every tenant has been Ready once.
func (f *Fleet) WaitReady(ctx context.Context) error {
	return f.wait(ctx, "Ready", func() int { return len(f.ready) }, f.size)
}

// WaitGone waits until no object is left.
func (f *Fleet) WaitGone(ctx context.Context) error {
	return f.wait(ctx, "there", func() int { return len(f.live) }, 0)
}

// Ready returns how long each tenant took from its creation until it was seen Ready.
func (f *Fleet) Ready() []time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []time.Duration
	for name, at := range f.ready {
		out = append(out, at.Sub(f.created[name]))
	}
	return out
}

// wait waits until count, which is called with the lock, is what is wanted.
func (f *Fleet) wait(ctx context.Context, what string, count func() int, wanted int) error {
	for {
		f.mu.Lock()
		n, failure, moved := count(), f.err, f.moved
		f.mu.Unlock()
		switch {
		case n == wanted:
			return nil
		case failure != nil:
			return failure
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return fmt.Errorf("%d of %d tenants are %s, waiting for %d: %w", n, f.size, what, wanted, context.Cause(ctx))
		}
	}
}

// follow starts again when the API server ends the watch, which happens after some time, or when we are too slow for
// it.
func (f *Fleet) follow(ctx context.Context, events watch.Interface) {
	defer close(f.ended)
	for {
		for e := range events.ResultChan() {
			if o, ok := e.Object.(*v1alpha1.DistributionTenant); ok {
				f.note(func() { f.see(o, e.Type) })
			}
		}
		events.Stop()
		var err error
		if events, err = f.look(ctx); err != nil {
			f.note(func() { f.err = err })
			return
		}
	}
}

// look takes in what is there and watches from then on.
func (f *Fleet) look(ctx context.Context) (watch.Interface, error) {
	var list v1alpha1.DistributionTenantList
	if err := f.kube.List(ctx, &list, client.InNamespace(f.namespace)); err != nil {
		return nil, fmt.Errorf("listing the fleet: %w", err)
	}
	f.note(func() {
		clear(f.live)
		for n := range list.Items {
			f.see(&list.Items[n], watch.Modified)
		}
	})
	events, err := f.kube.Watch(ctx, &v1alpha1.DistributionTenantList{}, client.InNamespace(f.namespace),
		&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.ResourceVersion}})
	if err != nil {
		return nil, fmt.Errorf("watching the fleet: %w", err)
	}
	return events, nil
}

// see needs the lock.
func (f *Fleet) see(o *v1alpha1.DistributionTenant, what watch.EventType) {
	if what == watch.Deleted {
		delete(f.live, o.Name)
		return
	}
	f.live[o.Name] = true
	if _, known := f.ready[o.Name]; !known && meta.IsStatusConditionTrue(o.Status.Conditions, v1alpha1.ConditionReady) {
		f.ready[o.Name] = time.Now()
	}
}

// note changes what is known, and wakes those who wait for it.
func (f *Fleet) note(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
	close(f.moved)
	f.moved = make(chan struct{})
}
