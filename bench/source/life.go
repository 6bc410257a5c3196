package main

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/bench/rig"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

// deployDelay is how long AWS deploys a change.
const deployDelay = 30 * time.Second

// columnState has the state of the tenant in its row.
const columnState = "state"

// life measures how the rows become tenants that are Ready, with all controllers.
func (b *bench) life(ctx context.Context, s *stack.Stack, flags []string) (err error) {
	if err := s.AWS.AllowTenants(ctx, b.rows+1); err != nil {
		return err
	}
	// The rate is no limit in practice.
	if b.operator, err = s.StartOperator(ctx, stack.OperatorOptions{Flags: append(flags, "--aws-rate=1000", "--aws-burst=1000")}); err != nil {
		return err
	}
	tenants, err := b.watchTenants(ctx)
	if err != nil {
		return err
	}
	defer tenants.Close()
	return b.liveThrough(ctx, s, tenants)
}

// liveThrough lets the first poll begin, and prints what it costs until nothing moves any more.
func (b *bench) liveThrough(ctx context.Context, s *stack.Stack, tenants *stack.Objects) error {
	calls, err := s.AWS.Calls(ctx)
	if err != nil {
		return err
	}
	end, err := b.meter(ctx)
	if err != nil {
		return err
	}
	begun := time.Now()
	rig.Say("the first poll")
	if err := b.apply(ctx); err != nil {
		return err
	}
	if err := tenants.WaitReady(ctx); err != nil {
		return err
	}
	ready := time.Since(begun).Seconds()
	if err := b.awaitLive(ctx); err != nil {
		return err
	}
	live := time.Since(begun).Seconds()
	replica := rig.Bench{Replica: b.operator}
	if err := replica.Settle(ctx, func(ctx context.Context) (int, error) { return b.work(ctx, s) }); err != nil {
		return err
	}
	f, err := end(ctx)
	if err != nil {
		return err
	}
	now, err := s.AWS.Calls(ctx)
	b.printLife(f, ready, live, stack.Sum(now.Since(calls)))
	return err
}

func (b *bench) printLife(f figures, ready, live float64, calls int) {
	each := func(n float64) float64 { return n / float64(b.rows) }
	rig.PrintTimes(b.out, func(line func(string, bool, string, ...any)) {
		line("all tenants Ready", true, "%.0f s", ready)
		line("all rows Live", b.states != nil, "%.0f s", live)
		line("AWS calls per tenant", true, "%.3f", each(float64(calls)))
		line("writes per tenant, with its creation", true, "%.3f", each(float64(f.tenants)))
		line("writes to the source", true, "%d", f.source)
		line("rows written per tenant", b.states != nil, "%.3f", each(f.rows))
		line("operator CPU per tenant", true, "%.1f ms", each(1000*f.used.CPU))
		line("CPU of its children per tenant", true, "%.1f ms", each(1000*f.used.EndedCPU))
		line("peak memory", true, "%.0f MiB, at rest %.0f MiB", f.used.Peak/rig.Mebibyte, f.used.Resident/rig.Mebibyte)
		line("peak memory of a child", true, "%.0f MiB", f.children/rig.Mebibyte)
	})
}

// work is what AWS, etcd and the state table have seen of the operator.
func (b *bench) work(ctx context.Context, s *stack.Stack) (int, error) {
	calls, err := s.AWS.Calls(ctx)
	if err != nil {
		return 0, err
	}
	sources, tenants, err := b.tallies(ctx)
	if err != nil {
		return 0, err
	}
	rows, err := b.rowsWritten(ctx)
	return stack.Sum(calls.Since(nil)) + sources.Ours() + tenants.Ours() + int(rows), err
}

// watchTenants watches the tenants that the source will make.
func (b *bench) watchTenants(ctx context.Context) (*stack.Objects, error) {
	build := func(n int) (client.Object, error) {
		return &v1alpha1.DistributionTenant{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: rowName(n)}}, nil
	}
	tenants, err := stack.Watch(ctx, b.kube, stack.Kind{
		Size: b.rows, Build: build, List: &v1alpha1.DistributionTenantList{}, Namespace: namespace,
		Ready: func(o client.Object) (int64, bool) {
			t, ok := o.(*v1alpha1.DistributionTenant)
			return o.GetGeneration(), ok && meta.IsStatusConditionTrue(t.Status.Conditions, v1alpha1.ConditionReady)
		},
	})
	if err != nil {
		return nil, err
	}
	// The operator creates them.
	return tenants, tenants.Each(ctx, build, func(context.Context, client.Object) error { return nil })
}

// awaitLive waits until all rows, if there are any, say that their tenants are live.
func (b *bench) awaitLive(ctx context.Context) error {
	if b.states == nil {
		return nil
	}
	live := 0
	err := wait.PollUntilContextTimeout(ctx, survey, rowsWithin, true, func(ctx context.Context) (bool, error) {
		rows, err := b.states.table.Rows(ctx)
		live = 0
		for _, row := range rows {
			if row[columnState] == string(v1alpha1.DomainLive) {
				live++
			}
		}
		return live == b.rows, err
	})
	if err != nil {
		return fmt.Errorf("%d of %d rows are %s: %w", live, b.rows, v1alpha1.DomainLive, err)
	}
	return nil
}
