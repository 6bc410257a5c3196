package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// writers is how many objects are created, changed or deleted at a time.
const writers = 8

// objects are the fleet's, of whatever kind, and what a watch has seen of them.
type objects struct {
	kube   client.WithWatch
	build  func(n int, changed bool) (*unstructured.Unstructured, error)
	ready  condition
	size   int
	cancel context.CancelFunc
	ended  chan struct{}

	mu   sync.Mutex
	seen map[string]seen
	// begun is when each was created or changed, wanted the generation that it got.
	begun  map[string]time.Time
	wanted map[string]int64
	err    error
}

// seen is the last that a watch showed of an object.
type seen struct {
	generation int64
	ready      bool
	// since is when it was first seen ready at this generation.
	since time.Time
}

func (b *bench) watchObjects(ctx context.Context) (*objects, error) {
	kube, err := b.host.Client()
	if err != nil {
		return nil, err
	}
	f := &objects{
		kube: kube, build: b.subject.object, ready: b.subject.ready, size: b.Tenants, ended: make(chan struct{}),
		seen: map[string]seen{}, begun: map[string]time.Time{}, wanted: map[string]int64{},
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

func (f *objects) close() {
	f.cancel()
	<-f.ended
}

// create creates all objects.
func (f *objects) create(ctx context.Context) error {
	return f.each(ctx, false, func(ctx context.Context, o *unstructured.Unstructured) error { return f.kube.Create(ctx, o) })
}

// change applies the manifest of the change to all objects.
func (f *objects) change(ctx context.Context) error { return f.each(ctx, true, f.apply) }

// changeOne applies the manifest of the change to one object.
func (f *objects) changeOne(ctx context.Context, n int) error { return f.write(ctx, n, true, f.apply) }

func (f *objects) apply(ctx context.Context, o *unstructured.Unstructured) error {
	// Against nothing, the difference is all that the manifest says.
	return f.kube.Patch(ctx, o, client.MergeFrom(&unstructured.Unstructured{Object: map[string]any{}}))
}

// remove deletes all objects, one by one: as one request, thousands take longer than the API
// server gives a request.
func (f *objects) remove(ctx context.Context) error {
	return f.each(ctx, false, func(ctx context.Context, o *unstructured.Unstructured) error {
		return client.IgnoreNotFound(f.kube.Delete(ctx, o))
	})
}

func (f *objects) each(ctx context.Context, changed bool, do func(context.Context, *unstructured.Unstructured) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for n := range f.size {
		group.Go(func() error { return f.write(ctx, n, changed, do) })
	}
	return group.Wait()
}

// write writes one object, and notes when.
func (f *objects) write(ctx context.Context, n int, changed bool, do func(context.Context, *unstructured.Unstructured) error) error {
	o, err := f.build(n, changed)
	if err != nil {
		return err
	}
	begun := time.Now()
	if err := do(ctx, o); err != nil {
		return fmt.Errorf("writing %s: %w", o.GetName(), err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.begun[o.GetName()], f.wanted[o.GetName()] = begun, o.GetGeneration()
	return nil
}

// waitReady waits until every object is ready at the generation that was written last.
func (f *objects) waitReady(ctx context.Context) error {
	return f.wait(ctx, func() bool {
		for name, wanted := range f.wanted {
			if s := f.seen[name]; !s.ready || s.generation < wanted {
				return false
			}
		}
		return true
	})
}

// waitGone waits until no object is left.
func (f *objects) waitGone(ctx context.Context) error {
	return f.wait(ctx, func() bool { return len(f.seen) == 0 })
}

// wait calls done with the lock.
func (f *objects) wait(ctx context.Context, done func() bool) error {
	return poller(ctx, func(context.Context) (bool, error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.err == nil && done(), f.err
	})
}

// took returns how long each object took from its last write until it was ready.
func (f *objects) took() []time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []time.Duration
	for name, s := range f.seen {
		if s.ready {
			out = append(out, s.since.Sub(f.begun[name]))
		}
	}
	return out
}

// follow starts again when the API server ends the watch, which happens after some time, or when we are too slow for
// it.
func (f *objects) follow(ctx context.Context, events watch.Interface) {
	defer close(f.ended)
	for {
		for e := range events.ResultChan() {
			if o, ok := e.Object.(*unstructured.Unstructured); ok {
				f.see(o, e.Type == watch.Deleted)
			}
		}
		events.Stop()
		var err error
		if events, err = f.look(ctx); err != nil {
			f.mu.Lock()
			f.err = err
			f.mu.Unlock()
			return
		}
	}
}

// look takes in what is there and watches from then on.
func (f *objects) look(ctx context.Context) (watch.Interface, error) {
	first, err := f.build(0, false)
	if err != nil {
		return nil, err
	}
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(first.GetAPIVersion())
	list.SetKind(first.GetKind() + "List")
	// A CRD may be served a moment after it was accepted.
	err = wait.PollUntilContextTimeout(ctx, poll, startTimeout, true, func(ctx context.Context) (bool, error) {
		return f.kube.List(ctx, list) == nil, nil
	})
	if err != nil {
		return nil, fmt.Errorf("listing the %s objects of --manifest: %w", first.GetKind(), err)
	}
	f.mu.Lock()
	clear(f.seen)
	f.mu.Unlock()
	for n := range list.Items {
		f.see(&list.Items[n], false)
	}
	events, err := f.kube.Watch(ctx, list,
		&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.GetResourceVersion()}})
	if err != nil {
		return nil, fmt.Errorf("watching the fleet: %w", err)
	}
	return events, nil
}

func (f *objects) see(o *unstructured.Unstructured, gone bool) {
	ready := f.ready.holds(o)
	f.mu.Lock()
	defer f.mu.Unlock()
	if gone {
		delete(f.seen, o.GetName())
		return
	}
	before := f.seen[o.GetName()]
	now := seen{generation: o.GetGeneration(), ready: ready, since: before.since}
	if !before.ready || before.generation != now.generation {
		now.since = time.Now()
	}
	f.seen[o.GetName()] = now
}
