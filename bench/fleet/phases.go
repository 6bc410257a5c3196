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

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/bench/rig"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/controlplane"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

const (
	namespace = "fleet"

	phaseIdle   = "idle"
	phaseHold   = "hold"
	phaseDelete = "delete"
)

// phaseNames are in their order.
var phaseNames = []string{phaseIdle, "create", "quiet", "restart", "change", "drift", phaseHold, phaseDelete}

// bench is a run.
type bench struct {
	rig.Bench
	config

	subject *subject
	report  report
	// kinds are those whose writes are counted.
	kinds []schema.GroupResource
	// changed is how many tenants were changed one by one, and seenCall the last call of AWS that was looked at.
	changed  int
	seenCall uint64
}

// measure goes through the life of a fleet.
func (b *bench) measure(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, rig.Hang)
	defer cancel()
	defer func() { err = errors.Join(err, b.Stop()) }()
	if err := b.start(ctx); err != nil {
		return err
	}
	phases := rig.Phases{phaseIdle: b.idle, "create": b.create, "quiet": b.quiet, "restart": b.restart, "change": b.change, phaseDelete: b.remove}
	if b.Drifted > 0 {
		phases["drift"] = b.drift
	}
	if b.Operator == "" {
		phases[phaseHold] = b.hold
	}
	return b.Play(ctx, phaseNames, b.LastPhase, phases, b.begin)
}

func (b *bench) start(ctx context.Context) (err error) {
	if b.Kube, err = b.Host.Client(); err != nil {
		return err
	}
	if err := b.Kube.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		return fmt.Errorf("creating a namespace: %w", err)
	}
	if err := b.installKinds(); err != nil {
		return err
	}
	if b.Stack, err = b.Host.Start(ctx, stack.Options{DeployDelay: b.DeployDelay}); err != nil {
		return err
	}
	if err := b.Stack.AWS.AllowTenants(ctx, b.Tenants+1); err != nil {
		return err
	}
	if err := b.prepareEdge(ctx); err != nil {
		return err
	}
	if err := b.prepareTeams(ctx); err != nil {
		return err
	}
	if b.Throttle > 0 {
		limit := sim.Limit{Operation: "*", Rate: b.Throttle, Burst: int(2*b.Throttle) + 1}
		if err := b.Stack.AWS.Limit(ctx, limit); err != nil {
			return err
		}
	}
	if b.Writes, err = b.Host.CountWrites(ctx); err != nil {
		return err
	}
	if b.Objects, err = b.watch(ctx); err != nil {
		return err
	}
	b.Replica, err = b.Stack.StartOperator(ctx, stack.OperatorOptions{Program: b.program()})
	return err
}

// installKinds installs the CRDs and notes their kinds.
func (b *bench) installKinds() error {
	paths := []string{b.CRDs}
	if b.CRDs == "" {
		paths = []string{b.Host.Path("config", "crd")}
	}
	crds, err := controlplane.InstallCRDs(b.Host.RESTConfig(), envtest.CRDInstallOptions{Paths: paths, ErrorIfPathMissing: true})
	if err != nil {
		return fmt.Errorf("installing the CRDs: %w", err)
	}
	for _, crd := range crds {
		b.kinds = append(b.kinds, schema.GroupResource{Group: crd.Spec.Group, Resource: crd.Spec.Names.Plural})
	}
	return nil
}

// idle lets the operator come to rest without any object: the memory is what every installation needs.
func (b *bench) idle(ctx context.Context) error { return b.Settle(ctx, b.work) }

// create goes from the first object to the last that is ready, and continues until nothing moves any more.
func (b *bench) create(ctx context.Context) error {
	begun := time.Now()
	if err := b.whileChanging(ctx, b.createReady); err != nil {
		return err
	}
	b.report.AllReadySeconds, b.report.Ready = time.Since(begun).Seconds(), rig.DistributionOf(b.Objects.Took())
	rate := b.AWSRate
	if b.Throttle > 0 {
		rate = min(rate, b.Throttle)
	}
	b.report.FloorSeconds = float64(b.Tenants)/rate + b.DeployDelay.Seconds()
	if b.DNS {
		// A create and an attachment each, with DNS before and the certificate between them.
		b.report.FloorSeconds = 2*b.report.FloorSeconds + dnsDelay.Seconds() + certDelay.Seconds()
	}
	if err := b.countEdge(ctx); err != nil {
		return err
	}
	return b.Settle(ctx, b.work)
}

// createReady creates all objects, and waits until they are ready.
func (b *bench) createReady(ctx context.Context) error {
	if err := b.Objects.Create(ctx); err != nil {
		return err
	}
	rig.Say("all %d objects exist", b.Tenants)
	return b.Objects.WaitReady(ctx)
}

func (b *bench) quiet(ctx context.Context) error { return rig.Quiet(ctx, b.Quiet) }

func (b *bench) restart(ctx context.Context) (err error) {
	b.report.RestartSeconds, err = b.Restart(ctx, b.work)
	return err
}

// change writes another spec to all objects, and waits until AWS has it and they are ready.
func (b *bench) change(ctx context.Context) error {
	before, err := b.Stack.AWS.Calls(ctx)
	if err != nil {
		return err
	}
	begun := time.Now()
	if err := b.Objects.Each(ctx, b.changedObject, b.apply); err != nil {
		return err
	}
	err = rig.Until(ctx, func(ctx context.Context) (bool, error) {
		now, err := b.Stack.AWS.Calls(ctx)
		return now[opUpdate].Committed-before[opUpdate].Committed >= b.Tenants-b.changed, err
	})
	if err != nil {
		return err
	}
	if err := b.Objects.WaitReady(ctx); err != nil {
		return err
	}
	b.report.AllChangedSeconds, b.report.Changed = time.Since(begun).Seconds(), rig.DistributionOf(b.Objects.Took())
	return b.Settle(ctx, b.work)
}

// opUpdate is what every change of a tenant is in AWS.
const opUpdate = "UpdateDistributionTenant"

// drift measures from a change behind the operator's back to the correction. The changes
// are spread over an interval, as those of real users are.
func (b *bench) drift(ctx context.Context) error {
	calls, err := b.Stack.AWS.Journal(ctx, 0)
	if err != nil {
		return err
	}
	last, changed := calls[len(calls)-1].Seq, 0
	err = wait.PollUntilContextTimeout(ctx, b.SweepInterval/time.Duration(b.Drifted), rig.Hang, true, func(ctx context.Context) (bool, error) {
		name := nameOf(changed * (b.Tenants / b.Drifted))
		changed++
		return changed == b.Drifted, b.Stack.AWS.Disable(ctx, name)
	})
	if err != nil {
		return err
	}
	var latencies []time.Duration
	err = rig.Until(ctx, func(ctx context.Context) (bool, error) {
		entries, err := b.Stack.AWS.Journal(ctx, last)
		latencies = corrections(entries)
		return len(latencies) == b.Drifted, err
	})
	b.report.Drift = rig.DistributionOf(latencies)
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
func (b *bench) remove(ctx context.Context) error {
	begun := time.Now()
	remove := b.Objects.Delete
	if b.Operator == "" {
		remove = b.approve
	}
	if err := remove(ctx); err != nil {
		return err
	}
	if err := b.Objects.WaitGone(ctx); err != nil {
		return err
	}
	b.report.AllGoneSeconds = time.Since(begun).Seconds()
	left, err := b.leaked(ctx)
	b.report.Leaked = left
	return errors.Join(err, b.countLeft(ctx))
}
