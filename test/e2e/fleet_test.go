package e2e_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

const (
	// fleetSize is more than a page of a list.
	fleetSize = 40
	// pageSize is how many tenants AWS lists in one call here.
	pageSize = 25
	sweeps   = "ListDistributionTenants"
	// quiet is a few of the shortest sweep intervals.
	quiet = 35 * time.Second
)

// quotas are the calls of the day's look at the quotas, half a minute after a start: on a slow machine, not all are Ready
// by then.
var quotas = []string{"GetCallerIdentity", "ListServiceQuotas", "ListAWSDefaultServiceQuotas", "ListConnectionGroups", "ListDistributionsByConnectionMode"}

// The cost of the whole lifetime of a fleet, in AWS calls and in writes to etcd.
func TestFleet(t *testing.T) {
	t.Parallel()
	s := newScene(t, stack.Options{DeployDelay: 2 * time.Second, PageSize: pageSize})
	f := newFleet(t, s)
	// Slow enough to take seconds: the burst lets a quarter of the fleet through at once.
	op := s.operator(stack.OperatorOptions{Flags: []string{"--aws-rate=10", "--aws-burst=10", "--sweep-interval=10s"}})

	f.create(budget{calls: 1.2, writes: 3.1, events: 1})
	f.settle(op)
	f.rest()
	f.restart(op)
	f.remove()
}

type fleet struct {
	*stack.Fleet

	s      *scene
	writes *stack.Writes
	// events is how many the fleet has once it is Ready.
	events int
}

func newFleet(t *testing.T, s *scene) *fleet {
	t.Helper()
	writes, err := host.CountWrites(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(writes.Stop)
	f, err := stack.NewFleet(t.Context(), kube, s.namespace, "fleet-", fleetSize)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return &fleet{Fleet: f, s: s, writes: writes}
}

func (f *fleet) tally() stack.Tally {
	f.s.t.Helper()
	tally, err := f.writes.Tally(f.s.t.Context(), f.s.namespace)
	if err != nil {
		f.s.t.Fatal(err)
	}
	return tally
}

// budget is what a tenant may cost until it is Ready, but for the sweeps and the look at the quotas, of which a slow
// machine sees more. Of the writes a tenth of one is for a machine so slow that some wait long enough for their turn to say
// so.
type budget struct {
	calls, writes float64
	// events is how many each tenant has, no more and no fewer.
	events int
}

// create wants one create per tenant, and a fleet within its budget.
func (f *fleet) create(b budget) {
	t := f.s.t
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	began := time.Now()
	if err := f.Create(ctx); err != nil {
		t.Fatal(err)
	}
	if err := f.WaitReady(ctx); err != nil {
		t.Fatal(err)
	}
	calls, tally, took := f.s.calls(), f.tally(), time.Since(began)
	made := calls.Since(nil)
	t.Logf("to Ready: %.3f AWS calls per tenant %v, %.2f writes per tenant %+v",
		float64(stack.Sum(made))/fleetSize, made, float64(tally.Ours())/fleetSize, tally)
	if got, limit := stack.Sum(without(made, append(quotas, sweeps)...)), int(fleetSize*b.calls); got > limit {
		t.Errorf("%d AWS calls for %d tenants, want at most %d: %v", got, fleetSize, limit, made)
	}
	if got, limit := made[sweeps], int(took.Seconds()); got > limit {
		t.Errorf("%d of them are sweeps, in %s, want at most one in a second", got, took)
	}
	if got := made["CreateDistributionTenant"]; got != fleetSize || calls.Throttled() > 0 {
		t.Errorf("%d creates of which AWS throttled %d, want %d and none", got, calls.Throttled(), fleetSize)
	}
	if got, limit := tally.Ours(), int(fleetSize*b.writes); got > limit {
		t.Errorf("%d writes by the operator for %d tenants, want at most %d: %+v", got, fleetSize, limit, tally)
	}
	if f.events = b.events * fleetSize; tally.Events > f.events {
		t.Errorf("%d writes of events, want %d for each of %d tenants", tally.Events, b.events, fleetSize)
	}
}

// settle waits until nothing is followed any more, the day's look at the quotas was had, and every event is stored.
func (f *fleet) settle(op *stack.Operator) {
	f.s.eventually(func(g gomega.Gomega) {
		m := f.s.metrics(op)
		g.Expect(m.Sum("cloudfront_tenant_operator_inventory_in_flight")).To(gomega.BeZero())
		g.Expect(m.Sum("cloudfront_tenant_operator_quota_limit")).NotTo(gomega.BeZero())
		g.Expect(f.tally().Events).To(gomega.Equal(f.events))
	})
}

// rest wants sweeps and nothing else.
func (f *fleet) rest(others ...string) {
	t := f.s.t
	t.Helper()
	calls, tally := f.s.calls(), f.tally()
	pause(t, quiet)
	made, written := f.s.calls().Since(calls), f.tally().Since(tally)
	t.Logf("in %s of quiet: %v, %+v", quiet, made, written)
	if other := without(made, append(others, sweeps)...); len(other) > 0 || made[sweeps] == 0 {
		t.Errorf("a quiet fleet made the calls %v, want only %s", made, sweeps)
	}
	if diff := cmp.Diff(stack.Tally{}, written); diff != "" {
		t.Errorf("a quiet fleet was written to (-want +got):\n%s", diff)
	}
}

// restart wants one sweep, and everything else believed as status has it.
func (f *fleet) restart(op *stack.Operator) {
	t := f.s.t
	t.Helper()
	f.s.stop(op)
	calls, tally := f.s.calls(), f.tally()
	f.s.start(op)
	f.s.eventually(func(g gomega.Gomega) {
		m, err := op.Metrics(t.Context())
		g.Expect(err).NotTo(gomega.HaveOccurred(), "a scrape may come too early on a busy machine")
		g.Expect(m.Sum("cloudfront_tenant_operator_inventory_age_seconds")).To(gomega.BeNumerically(">=", 0))
		g.Expect(m.Sum("controller_runtime_reconcile_total")).To(gomega.BeNumerically(">=", fleetSize))
		g.Expect(m.Sum("workqueue_depth") + m.Sum("controller_runtime_active_workers")).To(gomega.BeZero())
	})
	made, written := f.s.calls().Since(calls), f.tally().Since(tally)
	t.Logf("after a restart: %v, %+v", made, written)
	if got, limit := stack.Sum(made), fleetSize/pageSize+20; got > limit {
		t.Errorf("%d AWS calls after a restart, want at most %d: %v", got, limit, made)
	}
	if diff := cmp.Diff(stack.Tally{}, written); diff != "" {
		t.Errorf("a restart wrote to the fleet (-want +got):\n%s", diff)
	}
}

// remove wants nothing left behind.
func (f *fleet) remove() {
	t := f.s.t
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	calls, tally := f.s.calls(), f.tally()
	if err := f.Delete(ctx); err != nil {
		t.Fatal(err)
	}
	f.s.eventually(func(g gomega.Gomega) { g.Expect(f.s.inAWS()).To(gomega.BeEmpty()) })
	if err := f.WaitGone(ctx); err != nil {
		t.Fatal(err)
	}
	made, written := f.s.calls().Since(calls), f.tally().Since(tally)
	t.Logf("to delete all: %.3f AWS calls per tenant %v, %.2f writes per tenant %+v",
		float64(stack.Sum(made))/fleetSize, made, float64(written.Ours())/fleetSize, written)
}

// pause lets time pass in which nothing should happen.
func pause(t *testing.T, d time.Duration) {
	t.Helper()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.Context().Done():
	}
}
