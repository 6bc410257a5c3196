package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/bench/rig"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/process"
)

// The changes of a watched table: one after the other first, and then many in each second.
const (
	changes   = 200
	mostPause = time.Second
	busyFor   = 30 * time.Second
	busyEvery = 50 * time.Millisecond
	// landsWithin is far above what a change may take.
	landsWithin = 2 * time.Minute
)

// arrivals notes when the objects have what their rows say.
type arrivals struct {
	mu sync.Mutex
	// committed is when the last change of a row was stored, by its name, waits what its object is to have then.
	committed map[string]time.Time
	waits     map[string]string
	took      []time.Duration
	// news is closed and replaced when one arrives.
	news chan struct{}
}

func (a *arrivals) expect(name, plan string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waits[name] = plan
}

func (a *arrivals) stored(name string, at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, waits := a.waits[name]; waits {
		a.committed[name] = at
	}
}

// follow takes the changes of the objects. One that arrives before its row was said to be stored took no time.
func (a *arrivals) follow(w watch.Interface) {
	for e := range w.ResultChan() {
		o, ok := e.Object.(*v1alpha1.DistributionTenant)
		if !ok {
			continue
		}
		now := time.Now()
		a.mu.Lock()
		if plan, waits := a.waits[o.Name]; waits && slices.ContainsFunc(o.Spec.Parameters, func(p v1alpha1.Parameter) bool { return p.Value == plan }) {
			if at, known := a.committed[o.Name]; known {
				a.took = append(a.took, now.Sub(at))
			} else {
				a.took = append(a.took, 0)
			}
			delete(a.waits, o.Name)
			delete(a.committed, o.Name)
			close(a.news)
			a.news = make(chan struct{})
		}
		a.mu.Unlock()
	}
}

// await waits until no change is on its way.
func (a *arrivals) await(ctx context.Context) error {
	deadline := time.NewTimer(landsWithin)
	defer deadline.Stop()
	for {
		a.mu.Lock()
		left, news := len(a.waits), a.news
		a.mu.Unlock()
		if left == 0 {
			return nil
		}
		select {
		case <-news:
		case <-deadline.C:
			return fmt.Errorf("%d changes have not reached their objects within %s", left, landsWithin)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// takeTimes returns the times so far, and forgets them.
func (a *arrivals) takeTimes() []time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	took := a.took
	a.took = nil
	return took
}

// hints measures how long a committed row takes to its object while the database tells of changes.
func (b *bench) hints(ctx context.Context) error {
	if err := b.listen(ctx); err != nil {
		return err
	}
	w, err := b.kube.Watch(ctx, &v1alpha1.DistributionTenantList{}, client.InNamespace(namespace))
	if err != nil {
		return fmt.Errorf("watching the tenants: %w", err)
	}
	a := &arrivals{committed: map[string]time.Time{}, waits: map[string]string{}, news: make(chan struct{})}
	var following sync.WaitGroup
	following.Go(func() { a.follow(w) })
	defer func() {
		w.Stop()
		following.Wait()
	}()
	fmt.Fprintln(b.out, "\nchanges of a watched table\tp50 s\tp99 s\tmax s\tchanges\tpolls\tCPU s\tpeak MiB")
	rig.Say("changing one row after the other")
	return errors.Join(
		b.change(ctx, a, "one after the other", func(random *rand.Rand, n int) (time.Duration, bool) {
			return time.Duration(random.Int64N(int64(mostPause))), n < changes
		}, true),
		b.change(ctx, a, "twenty in each second", func(_ *rand.Rand, n int) (time.Duration, bool) {
			return busyEvery, n < int(busyFor/busyEvery)
		}, false),
	)
}

// change makes changes with pauses, and prints a line for them. alone says that each is awaited before the next.
func (b *bench) change(ctx context.Context, a *arrivals, title string, next func(*rand.Rand, int) (time.Duration, bool), alone bool) error {
	process.ForgetPeak(b.operator.PID())
	before := process.UsageOf(b.operator.PID())
	polls, err := b.polls(ctx)
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(1, uint64(b.rows))) // the same rows in each run
	for n := 0; ; n++ {
		pause, more := next(random, n)
		if !more {
			break
		}
		i := random.IntN(b.rows)
		id, plan := rowName(i), fmt.Sprintf("%s-%d", title[:3], n)
		a.expect(id, plan)
		if err := b.put(ctx, i, i+1, plan); err != nil {
			return err
		}
		a.stored(id, time.Now())
		if alone {
			if err := a.await(ctx); err != nil {
				return err
			}
		}
		select {
		case <-time.NewTimer(pause).C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if err := a.await(ctx); err != nil {
		return err
	}
	now := process.UsageOf(b.operator.PID())
	after, err := b.polls(ctx)
	if err != nil {
		return err
	}
	took := a.takeTimes()
	d := rig.DistributionOf(took)
	fmt.Fprintf(b.out, "%s\t%.2f\t%.2f\t%.2f\t%d\t%.0f\t%.1f\t%.0f\n", title, d.P50, d.P99, d.Max, len(took), after-polls, now.CPU-before.CPU, now.Peak/rig.Mebibyte)
	return nil
}

// polls is how many polls are over.
func (b *bench) polls(ctx context.Context) (float64, error) {
	m, err := b.operator.Metrics(ctx)
	if err != nil {
		return 0, err
	}
	return m.Sum("cloudfront_tenant_operator_source_polls_total"), nil
}

// listen has the database tell of changes, and waits until it does.
func (b *bench) listen(ctx context.Context) error {
	q, err := b.table.Watch(ctx)
	if err != nil {
		return err
	}
	if err := b.edit(ctx, func(o *v1alpha1.TenantSource) {
		o.Spec.Watch = &v1alpha1.SourceWatch{Channel: q.Watch.Channel, Query: q.Watch.Query}
	}); err != nil {
		return err
	}
	return b.until(ctx, "listening", func(o *v1alpha1.TenantSource) bool {
		c := meta.FindStatusCondition(o.Status.Conditions, v1alpha1.ConditionWatching)
		return o.Status.ObservedGeneration == o.Generation && c != nil && c.Status == metav1.ConditionTrue
	})
}
