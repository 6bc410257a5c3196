package stack

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// writers is how many objects are created, changed or deleted at a time.
const writers = 8

const (
	// glance is how often a wait looks at what a watch has seen. To look at thousands of objects at each event would cost
	// much of the machine that is measured.
	glance = 250 * time.Millisecond
	// listPatience bounds the wait for a list: a kind may be served a moment after its CRD was accepted, and an API server
	// may be restarting.
	listPatience = 2 * time.Minute
)

// Kind says what like objects are, and how to tell that one is ready.
type Kind struct {
	// Size is how many there are.
	Size int
	// Build makes the n-th object, from 0.
	Build func(n int) (client.Object, error)
	// List is an empty list of them, and Namespace the one that they are in; empty for all.
	List      client.ObjectList
	Namespace string
	// Ready reports whether an object is ready, and at which generation of what was asked for.
	Ready func(o client.Object) (generation int64, ready bool)
	// Once makes an object count as ready from the first time that it is at a generation, whatever becomes of it then.
	// Otherwise it counts while it is ready.
	Once bool
}

// Objects are of one kind, and known by what a watch has seen of them.
type Objects struct {
	kind   Kind
	kube   client.WithWatch
	cancel context.CancelFunc
	ended  chan struct{}

	mu   sync.Mutex
	seen map[string]seen
	// begun is when each was created or changed, wanted the generation that it got.
	begun  map[string]time.Time
	wanted map[string]int64
	// err is why the watch has ended.
	err error
}

// seen is the last that a watch showed of an object.
type seen struct {
	generation int64
	ready      bool
	// since is when it became ready at this generation.
	since time.Time
}

// Watch begins to watch objects. Close ends it.
func Watch(ctx context.Context, kube client.WithWatch, k Kind) (*Objects, error) {
	f := &Objects{
		kind: k, kube: kube, ended: make(chan struct{}),
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

// Close ends the watch.
func (f *Objects) Close() {
	f.cancel()
	<-f.ended
}

// Create creates all objects.
func (f *Objects) Create(ctx context.Context) error {
	return f.Each(ctx, f.kind.Build, func(ctx context.Context, o client.Object) error { return f.kube.Create(ctx, o) })
}

// Delete deletes all objects, one by one: as one request, thousands take longer than the API server gives a request.
func (f *Objects) Delete(ctx context.Context) error {
	return f.Each(ctx, f.kind.Build, func(ctx context.Context, o client.Object) error { return client.IgnoreNotFound(f.kube.Delete(ctx, o)) })
}

// Each builds and writes all objects.
func (f *Objects) Each(ctx context.Context, build func(n int) (client.Object, error), do func(context.Context, client.Object) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for n := range f.kind.Size {
		group.Go(func() error {
			o, err := build(n)
			if err != nil {
				return err
			}
			return f.Write(ctx, o, do)
		})
	}
	return group.Wait()
}

// Write writes one object, and notes when.
func (f *Objects) Write(ctx context.Context, o client.Object, do func(context.Context, client.Object) error) error {
	f.mu.Lock()
	f.begun[o.GetName()] = time.Now()
	f.mu.Unlock()
	if err := do(ctx, o); err != nil {
		return fmt.Errorf("writing %s: %w", o.GetName(), err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.wanted[o.GetName()] = o.GetGeneration()
	return nil
}

// Expect replaces the generation that is wanted of all objects.
func (f *Objects) Expect(generation int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for name := range f.wanted {
		f.wanted[name] = generation
	}
}

// WaitReady waits until every object is ready at the generation that is wanted of it.
func (f *Objects) WaitReady(ctx context.Context) error {
	return f.wait(ctx, "all are ready", func() bool { return f.ready() == f.kind.Size })
}

// WaitOne waits until an object that need not exist yet is ready.
func (f *Objects) WaitOne(ctx context.Context, name string) error {
	return f.wait(ctx, name+" is ready", func() bool { return f.seen[name].ready })
}

// WaitGone waits until no object is left.
func (f *Objects) WaitGone(ctx context.Context) error {
	return f.wait(ctx, "all are gone", func() bool { return len(f.seen) == 0 })
}

// Counts returns how many objects there are, and how many are ready at the generation that is wanted of them. The error is
// why the watch has ended.
func (f *Objects) Counts() (there, ready int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.seen), f.ready(), f.err
}

// ready needs the lock.
func (f *Objects) ready() (count int) {
	for name, wanted := range f.wanted {
		if s := f.seen[name]; s.ready && s.generation >= wanted {
			count++
		}
	}
	return count
}

// Took returns how long each object that is ready took from its last write until it was.
func (f *Objects) Took() (out []time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for name, s := range f.seen {
		if s.ready {
			out = append(out, s.since.Sub(f.begun[name]))
		}
	}
	return out
}

// wait calls done with the lock.
func (f *Objects) wait(ctx context.Context, what string, done func() bool) error {
	err := wait.PollUntilContextCancel(ctx, glance, true, func(context.Context) (bool, error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		return done(), f.err
	})
	if ctx.Err() == nil || err == nil {
		return err
	}
	there, ready, _ := f.Counts()
	return fmt.Errorf("%d of %d objects are there and %d ready, waiting until %s: %w", there, f.kind.Size, ready, what, context.Cause(ctx))
}

// follow starts again when the API server ends the watch, which happens after some time, or when we are too slow for
// it.
func (f *Objects) follow(ctx context.Context, events watch.Interface) {
	defer close(f.ended)
	for {
		for e := range events.ResultChan() {
			if o, ok := e.Object.(client.Object); ok {
				f.mu.Lock()
				f.see(o, e.Type == watch.Deleted)
				f.mu.Unlock()
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
func (f *Objects) look(ctx context.Context) (watch.Interface, error) {
	list, err := f.list(ctx)
	if err != nil {
		return nil, fmt.Errorf("listing the fleet: %w", err)
	}
	f.take(list)
	events, err := f.kube.Watch(ctx, list, client.InNamespace(f.kind.Namespace),
		&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.GetResourceVersion()}})
	if err != nil {
		return nil, fmt.Errorf("watching the fleet: %w", err)
	}
	return events, nil
}

// list asks again where an answer fails. Each answer has a list of its own: in one that was read before, parts of other
// objects would be left.
func (f *Objects) list(ctx context.Context) (list client.ObjectList, err error) {
	var failure error
	err = wait.PollUntilContextTimeout(ctx, glance, listPatience, true, func(ctx context.Context) (bool, error) {
		list = f.kind.List.DeepCopyObject().(client.ObjectList) //nolint:forcetypeassert // a copy has the same type
		failure = f.kube.List(ctx, list, client.InNamespace(f.kind.Namespace))
		return failure == nil, nil
	})
	if err != nil {
		return nil, errors.Join(err, failure)
	}
	return list, nil
}

// take sees all that is in a list, and forgets what is not. What it still has keeps its time.
func (f *Objects) take(list client.ObjectList) {
	f.mu.Lock()
	defer f.mu.Unlock()
	there := map[string]bool{}
	_ = meta.EachListItem(list, func(item runtime.Object) error { // it is a list
		if o, ok := item.(client.Object); ok {
			f.see(o, false)
			there[o.GetName()] = true
		}
		return nil
	})
	maps.DeleteFunc(f.seen, func(name string, _ seen) bool { return !there[name] })
}

// see needs the lock.
func (f *Objects) see(o client.Object, gone bool) {
	if gone {
		delete(f.seen, o.GetName())
		return
	}
	generation, ready := f.kind.Ready(o)
	before := f.seen[o.GetName()]
	was := before.ready && before.generation == generation
	now := seen{generation: generation, ready: ready || was && f.kind.Once, since: before.since}
	if !was {
		now.since = time.Now()
	}
	f.seen[o.GetName()] = now
}
