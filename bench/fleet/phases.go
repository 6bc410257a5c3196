package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

const (
	namespace = "fleet"
	// quietSweeps is how many sweep intervals nothing is done.
	quietSweeps = 3
	poll        = 250 * time.Millisecond
	// hang ends a run in which nothing moves any more.
	hang = 2 * time.Hour
)

// bench is a run.
type bench struct {
	config

	host     *stack.Host
	stack    *stack.Stack
	operator *stack.Operator
	fleet    *stack.Fleet
	writes   *stack.Writes
	memory   *memory
}

// measure goes through the life of a fleet.
func measure(ctx context.Context, host *stack.Host, c config) (_ *report, err error) {
	ctx, cancel := context.WithTimeout(ctx, hang)
	defer cancel()
	b, r := &bench{config: c, host: host}, &report{Config: c}
	defer func() { err = errors.Join(err, b.stop()) }()
	if err := b.start(ctx); err != nil {
		return r, err
	}
	for _, phase := range []struct {
		name string
		run  func(context.Context, *report) error
	}{
		{"creating", b.create}, {"quiet", b.quiet}, {"restart", b.restart}, {"drift", b.drift}, {"deleting", b.remove},
	} {
		say("%s", phase.name)
		if err := phase.run(ctx, r); err != nil {
			return r, fmt.Errorf("%s: %w", phase.name, err)
		}
	}
	return r, nil
}

func (b *bench) start(ctx context.Context) (err error) {
	kube, err := b.host.Client()
	if err != nil {
		return err
	}
	if err := kube.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		return fmt.Errorf("creating a namespace: %w", err)
	}
	if b.stack, err = b.host.Start(ctx, stack.Options{DeployDelay: b.DeployDelay}); err != nil {
		return err
	}
	if err := b.stack.AWS.AllowTenants(ctx, b.Tenants+1); err != nil {
		return err
	}
	if b.Throttle > 0 {
		limit := sim.Limit{Operation: "*", Rate: b.Throttle, Burst: int(2*b.Throttle) + 1}
		if err := b.stack.AWS.Limit(ctx, limit); err != nil {
			return err
		}
	}
	if b.writes, err = b.host.CountWrites(ctx); err != nil {
		return err
	}
	if b.fleet, err = stack.NewFleet(ctx, kube, namespace, "tenant-", b.Tenants); err != nil {
		return err
	}
	b.operator, err = b.stack.StartOperator(ctx, stack.OperatorOptions{Flags: []string{
		fmt.Sprintf("--aws-rate=%g", b.AWSRate), fmt.Sprintf("--aws-burst=%d", b.AWSBurst), "--sweep-interval=" + b.SweepInterval.String(),
	}})
	if err != nil {
		return err
	}
	b.memory = watchMemory(ctx, b.operator)
	return nil
}

func (b *bench) stop() error {
	if b.memory != nil {
		b.memory.stop()
	}
	if b.fleet != nil {
		b.fleet.Close()
	}
	if b.writes != nil {
		b.writes.Stop()
	}
	if b.stack != nil {
		return b.stack.Stop()
	}
	return nil
}

// create measures the way from the first object to the last that is Ready.
func (b *bench) create(ctx context.Context, r *report) error {
	before, err := b.mark(ctx)
	if err != nil {
		return err
	}
	if err := b.fleet.Create(ctx); err != nil {
		return err
	}
	say("all %d objects exist", b.Tenants)
	if err := b.fleet.WaitReady(ctx); err != nil {
		return err
	}
	if r.Create, err = b.since(ctx, before); err != nil {
		return err
	}
	r.Ready = distributionOf(b.fleet.Ready())
	floor := max(0, float64(b.Tenants-b.AWSBurst)/b.AWSRate)
	if b.Throttle > 0 {
		floor = float64(b.Tenants) / min(b.Throttle, b.AWSRate)
	}
	r.FloorSeconds = floor + b.DeployDelay.Seconds()
	return b.until(ctx, func(m stack.Metrics) bool { return m.Sum("cloudfront_tenant_operator_inventory_in_flight") == 0 })
}

// quiet measures what is done when there is nothing to do.
func (b *bench) quiet(ctx context.Context, r *report) error {
	before, err := b.mark(ctx)
	if err != nil {
		return err
	}
	end := before.at.Add(quietSweeps * b.SweepInterval)
	if err := poller(ctx, func(context.Context) (bool, error) { return time.Now().After(end), nil }); err != nil {
		return err
	}
	if r.Quiet, err = b.since(ctx, before); err != nil {
		return err
	}
	m, err := b.operator.Metrics(ctx)
	if err != nil {
		return err
	}
	r.SteadyBytes, r.Goroutines = m.Sum("process_resident_memory_bytes"), m.Sum("go_goroutines")
	return nil
}

// restart measures the way back to where every object was looked at.
func (b *bench) restart(ctx context.Context, r *report) error {
	r.PeakBytes = b.memory.stop()
	if _, err := b.operator.Stop(ctx); err != nil {
		return err
	}
	before, err := b.mark(ctx)
	if err != nil {
		return err
	}
	if err := b.operator.Start(ctx); err != nil {
		return err
	}
	err = b.until(ctx, func(m stack.Metrics) bool {
		return m.Sum("cloudfront_tenant_operator_inventory_age_seconds") >= 0 &&
			m.Sum("controller_runtime_reconcile_total") >= float64(b.Tenants) &&
			m.Sum("workqueue_depth")+m.Sum("controller_runtime_active_workers") == 0
	})
	if err != nil {
		return err
	}
	r.Restart, err = b.since(ctx, before)
	return err
}

// drift measures from a change behind the operator's back to the correction. The changes
// are spread over an interval, as those of real people are.
func (b *bench) drift(ctx context.Context, r *report) error {
	if b.Drifted == 0 {
		return nil
	}
	calls, err := b.stack.AWS.Journal(ctx, 0)
	if err != nil {
		return err
	}
	last, changed := calls[len(calls)-1].Seq, 0
	err = wait.PollUntilContextTimeout(ctx, b.SweepInterval/time.Duration(b.Drifted), hang, true, func(ctx context.Context) (bool, error) {
		name := b.fleet.Name(changed * (b.Tenants / b.Drifted))
		changed++
		return changed == b.Drifted, b.stack.AWS.Disable(ctx, name)
	})
	if err != nil {
		return err
	}
	var latencies []time.Duration
	err = poller(ctx, func(ctx context.Context) (bool, error) {
		entries, err := b.stack.AWS.Journal(ctx, last)
		latencies = corrections(entries)
		return len(latencies) == b.Drifted, err
	})
	r.Drift = distributionOf(latencies)
	return err
}

// corrections pairs the first two updates of each tenant: ours and the operator's.
func corrections(entries []sim.Entry) []time.Duration {
	first := map[string]time.Time{}
	var out []time.Duration
	for _, e := range entries {
		if e.Operation != "UpdateDistributionTenant" || !e.Committed {
			continue
		}
		if at, known := first[e.ID]; known {
			out = append(out, e.Time.Sub(at))
		} else {
			first[e.ID] = e.Time
		}
	}
	return out
}

// remove measures the deletion of all.
func (b *bench) remove(ctx context.Context, r *report) error {
	before, err := b.mark(ctx)
	if err != nil {
		return err
	}
	if err := b.fleet.Delete(ctx); err != nil {
		return err
	}
	if err := b.fleet.WaitGone(ctx); err != nil {
		return err
	}
	if r.Delete, err = b.since(ctx, before); err != nil {
		return err
	}
	left, err := b.stack.AWS.Tenants(ctx)
	r.Leaked = len(left)
	return err
}

// until polls the operator's metrics.
func (b *bench) until(ctx context.Context, done func(stack.Metrics) bool) error {
	return poller(ctx, func(ctx context.Context) (bool, error) {
		m, err := b.operator.Metrics(ctx)
		return err == nil && done(m), err
	})
}

func poller(ctx context.Context, done wait.ConditionWithContextFunc) error {
	return wait.PollUntilContextTimeout(ctx, poll, hang, true, done)
}

// memory samples the operator's resident memory and remembers the largest.
type memory struct {
	cancel context.CancelFunc
	wait   sync.WaitGroup
	peak   float64
}

// memoryEvery is rare enough not to show in the operator's CPU time.
const memoryEvery = 2 * time.Second

func watchMemory(ctx context.Context, o *stack.Operator) *memory {
	m := &memory{}
	ctx, m.cancel = context.WithCancel(ctx)
	m.wait.Go(func() {
		wait.UntilWithContext(ctx, func(ctx context.Context) {
			if sample, err := o.Metrics(ctx); err == nil {
				m.peak = max(m.peak, sample.Sum("process_resident_memory_bytes"))
			}
		}, memoryEvery)
	})
	return m
}

// stop ends the samples and returns the largest.
func (m *memory) stop() float64 {
	m.cancel()
	m.wait.Wait()
	return m.peak
}
