package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/controlplane"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/process"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

const (
	namespace = "fleet"
	poll      = 250 * time.Millisecond
	// hang ends a run in which nothing moves any more.
	hang = 2 * time.Hour
)

const (
	phaseIdle   = "idle"
	phaseHold   = "hold"
	phaseDelete = "delete"
)

// phaseNames are in their order.
var phaseNames = []string{phaseIdle, "create", "quiet", "restart", "change", "drift", phaseHold, phaseDelete}

// bench is a run.
type bench struct {
	config

	subject  *subject
	host     *stack.Host
	dir      string
	stack    *stack.Stack
	operator *operator
	objects  *objects
	writes   *stack.Writes
	// kinds are those whose writes are counted.
	kinds []schema.GroupResource
	// changed is how many tenants were changed one by one, and seenCall the last call of AWS that was looked at.
	changed  int
	seenCall uint64
}

// measure goes through the life of a fleet.
func measure(ctx context.Context, b *bench) (_ *report, err error) {
	ctx, cancel := context.WithTimeout(ctx, hang)
	defer cancel()
	r := &report{Config: b.config}
	defer func() { err = errors.Join(err, b.stop()) }()
	if err := b.start(ctx); err != nil {
		return r, err
	}
	phases := map[string]func(context.Context, *report) error{
		phaseIdle: b.idle, "create": b.create, "quiet": b.quiet, "restart": b.restart, "change": b.change, "drift": b.drift, phaseHold: b.hold, phaseDelete: b.remove,
	}
	for _, name := range phaseNames {
		say("%s", name)
		if err := b.phase(ctx, r, name, phases[name]); err != nil {
			return r, fmt.Errorf("%s: %w", name, err)
		}
		if name == b.LastPhase {
			break
		}
	}
	return r, nil
}

// phase takes the figures of what run does.
func (b *bench) phase(ctx context.Context, r *report, name string, run func(context.Context, *report) error) error {
	if name == "drift" && b.Drifted == 0 || name == phaseHold && b.Operator != "" {
		return nil
	}
	process.ForgetPeak(b.operator.child.PID())
	before, err := b.markAll(ctx)
	if err != nil {
		return err
	}
	if err := run(ctx, r); err != nil {
		return err
	}
	s, err := b.since(ctx, name, before)
	r.Phases = append(r.Phases, s)
	return err
}

func (b *bench) start(ctx context.Context) (err error) {
	kube, err := b.host.Client()
	if err != nil {
		return err
	}
	if err := kube.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		return fmt.Errorf("creating a namespace: %w", err)
	}
	if err := b.installKinds(); err != nil {
		return err
	}
	if b.stack, err = b.host.Start(ctx, stack.Options{DeployDelay: b.DeployDelay}); err != nil {
		return err
	}
	if err := b.stack.AWS.AllowTenants(ctx, b.Tenants+1); err != nil {
		return err
	}
	if err := b.prepareEdge(ctx); err != nil {
		return err
	}
	if err := b.prepareTeams(ctx, kube); err != nil {
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
	if b.objects, err = b.watchObjects(ctx); err != nil {
		return err
	}
	return process.RetryInUse(func() (err error) {
		if b.operator, err = b.newOperator(ctx); err != nil {
			return err
		}
		return b.operator.start(ctx)
	})
}

// installKinds installs the CRDs and notes their kinds.
func (b *bench) installKinds() error {
	paths := []string{b.CRDs}
	if b.CRDs == "" {
		paths = []string{b.host.Path("config", "crd")}
	}
	crds, err := controlplane.InstallCRDs(b.host.RESTConfig(), envtest.CRDInstallOptions{Paths: paths, ErrorIfPathMissing: true})
	if err != nil {
		return fmt.Errorf("installing the CRDs: %w", err)
	}
	for _, crd := range crds {
		b.kinds = append(b.kinds, schema.GroupResource{Group: crd.Spec.Group, Resource: crd.Spec.Names.Plural})
	}
	return nil
}

func (b *bench) stop() (err error) {
	if b.operator != nil {
		err = b.operator.group.Stop()
	}
	if b.objects != nil {
		b.objects.close()
	}
	if b.writes != nil {
		b.writes.Stop()
	}
	if b.stack != nil {
		err = errors.Join(err, b.stack.Stop())
	}
	return err
}

// idle lets the operator come to rest without any object: the memory is what every installation needs.
func (b *bench) idle(ctx context.Context, _ *report) error { return b.settle(ctx) }

// create goes from the first object to the last that is ready, and on until all is still.
func (b *bench) create(ctx context.Context, r *report) error {
	begun := time.Now()
	if err := b.whileChanging(ctx, r, b.createReady); err != nil {
		return err
	}
	r.AllReadySeconds, r.Ready = time.Since(begun).Seconds(), distributionOf(b.objects.took())
	rate := b.AWSRate
	if b.Throttle > 0 {
		rate = min(rate, b.Throttle)
	}
	r.FloorSeconds = float64(b.Tenants)/rate + b.DeployDelay.Seconds()
	if b.DNS {
		// A create and an attachment each, with DNS before and the certificate between them.
		r.FloorSeconds = 2*r.FloorSeconds + dnsDelay.Seconds() + certDelay.Seconds()
	}
	if err := b.countEdge(ctx, r); err != nil {
		return err
	}
	return b.settle(ctx)
}

// createReady creates all objects, and waits until they are ready.
func (b *bench) createReady(ctx context.Context) error {
	if err := b.objects.create(ctx); err != nil {
		return err
	}
	say("all %d objects exist", b.Tenants)
	return b.objects.waitReady(ctx)
}

// quiet waits where there is nothing to do.
func (b *bench) quiet(ctx context.Context, _ *report) error {
	end := time.Now().Add(b.Quiet)
	return poller(ctx, func(context.Context) (bool, error) { return time.Now().After(end), nil })
}

// restart kills the operator and waits until a new one has come to rest.
func (b *bench) restart(ctx context.Context, r *report) error {
	if err := b.operator.kill(ctx); err != nil {
		return err
	}
	begun := time.Now()
	if err := b.operator.start(ctx); err != nil {
		return err
	}
	err := b.settle(ctx)
	r.RestartSeconds = time.Since(begun).Seconds() - stillFor.Seconds()
	return err
}

// change writes another spec to all objects, and waits until AWS has it and they are ready.
func (b *bench) change(ctx context.Context, r *report) error {
	before, err := b.stack.AWS.Calls(ctx)
	if err != nil {
		return err
	}
	begun := time.Now()
	if err := b.objects.change(ctx); err != nil {
		return err
	}
	err = poller(ctx, func(ctx context.Context) (bool, error) {
		now, err := b.stack.AWS.Calls(ctx)
		return now[opUpdate].Committed-before[opUpdate].Committed >= b.Tenants-b.changed, err
	})
	if err != nil {
		return err
	}
	if err := b.objects.waitReady(ctx); err != nil {
		return err
	}
	r.AllChangedSeconds, r.Changed = time.Since(begun).Seconds(), distributionOf(b.objects.took())
	return b.settle(ctx)
}

// opUpdate is what every change of a tenant is in AWS.
const opUpdate = "UpdateDistributionTenant"

// drift measures from a change behind the operator's back to the correction. The changes
// are spread over an interval, as those of real people are.
func (b *bench) drift(ctx context.Context, r *report) error {
	calls, err := b.stack.AWS.Journal(ctx, 0)
	if err != nil {
		return err
	}
	last, changed := calls[len(calls)-1].Seq, 0
	err = wait.PollUntilContextTimeout(ctx, b.SweepInterval/time.Duration(b.Drifted), hang, true, func(ctx context.Context) (bool, error) {
		name := nameOf(changed * (b.Tenants / b.Drifted))
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
		if e.Operation != opUpdate || !e.Committed {
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

// remove deletes all objects, or approves that they were deleted, and waits until they are gone.
func (b *bench) remove(ctx context.Context, r *report) error {
	begun := time.Now()
	remove := b.objects.remove
	if b.Operator == "" {
		remove = b.approve
	}
	if err := remove(ctx); err != nil {
		return err
	}
	if err := b.objects.waitGone(ctx); err != nil {
		return err
	}
	r.AllGoneSeconds = time.Since(begun).Seconds()
	left, err := b.leaked(ctx)
	r.Leaked = left
	return errors.Join(err, b.countLeft(ctx, r))
}

// The fleet counts as quiet after this long without a call, a write, or more than next to no CPU time. An operator that
// polls is never quiet, and is measured until the time limit.
const (
	stillFor   = 8 * time.Second
	stillCPU   = 0.1
	impatience = 3 * time.Minute
)

// settle waits until the operator rests.
func (b *bench) settle(ctx context.Context) error {
	begun := time.Now()
	last, err := b.mark(ctx)
	if err != nil {
		return err
	}
	since, busy := last.at, last
	return poller(ctx, func(ctx context.Context) (bool, error) {
		now, err := b.mark(ctx)
		if err != nil {
			return false, err
		}
		calls, writes := now.calls.Since(busy.calls), now.writes.Since(busy.writes)
		cpu := (now.cpu[operatorCPU] - last.cpu[operatorCPU]) / max(now.at.Sub(last.at).Seconds(), 0.001)
		if stack.Sum(calls)+writes.Ours()+writes.Events > 0 || cpu > stillCPU {
			since, busy = now.at, now
		}
		last = now
		return now.at.Sub(since) > stillFor || now.at.Sub(begun) > impatience, nil
	})
}

func poller(ctx context.Context, done wait.ConditionWithContextFunc) error {
	return wait.PollUntilContextTimeout(ctx, poll, hang, true, done)
}
