package tenantplan_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/tenantplan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
)

// change is one that is rolled out in steps of one tenant.
type change struct {
	*testing.T

	kube  client.Client
	clock *clocktesting.FakePassiveClock
	plan  *kleffv1.TenantPlan
	plans *tenantplan.Plans
	c     *tenantplan.Controller
	// released are the tenants that it has come to, in their order.
	released []string
}

// newChange is a plan of an earlier version of the operator, whose tenants have what it says.
func newChange(t *testing.T, tenants ...string) *change {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := kleffv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	s := &change{T: t, clock: clocktesting.NewFakePassiveClock(time.Unix(0, 0))}
	s.plan = &kleffv1.TenantPlan{ObjectMeta: metav1.ObjectMeta{Name: "basic", UID: "p1", Generation: 4, Finalizers: []string{kleffv1.PlanFinalizer}}}
	s.plan.Spec.Rollout = &kleffv1.Rollout{
		Canary: &v1alpha1.RolloutCanary{Count: 1}, Step: &v1alpha1.RolloutStep{Count: 1}, Pause: &metav1.Duration{Duration: time.Hour}, MaxFailedPercent: new(int32),
	}
	s.plan.Status.ObservedGeneration = 4
	b := fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&kleffv1.Tenant{}).
		WithIndex(&kleffv1.Tenant{}, tenantplan.IndexPlan, func(o client.Object) []string { return []string{"basic"} })
	for _, name := range tenants {
		o := &kleffv1.Tenant{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}, Spec: kleffv1.TenantSpec{Plan: "basic"}}
		o.Status = kleffv1.TenantStatus{Plan: "basic", PlanUID: "p1", PlanGeneration: 4}
		meta.SetStatusCondition(&o.Status.Conditions, metav1.Condition{Type: kleffv1.ConditionNamespaceReady, Status: metav1.ConditionTrue, Reason: "Provisioned"})
		b = b.WithObjects(o)
	}
	s.kube = b.Build()
	s.restart()
	return s
}

func (s *change) restart() {
	s.plans = tenantplan.NewPlans("")
	s.c = tenantplan.New(tenantplan.Options{
		Client: s.kube, Children: &silent{answers: true}, Plans: s.plans, Clock: s.clock, Active: make(chan struct{}),
		Next: func(_ context.Context, tenants ...string) { s.released = append(s.released, tenants...) },
	})
}

// edit changes the plan, and lets the operator look at it.
func (s *change) edit(how func(*kleffv1.TenantPlanSpec)) {
	s.Helper()
	how(&s.plan.Spec)
	s.plan.Generation++
	s.pass()
}

func (s *change) tier(value kleffv1.LabelValue) {
	s.Helper()
	s.edit(func(p *kleffv1.TenantPlanSpec) { p.Labels = map[string]kleffv1.LabelValue{"tier": value} })
}

// pass is one reconcile of the plan.
func (s *change) pass() {
	s.Helper()
	s.clock.SetTime(s.clock.Now().Add(time.Minute))
	pass, err := s.c.Begin(s.Context(), s.plan)
	for range 9 {
		if err != nil {
			s.Fatal(err)
		}
		if pass.Decide() == chain.Rest {
			pass.Conclude(nil)
			return
		}
		err = pass.Perform(s.Context(), nil)
	}
	s.Fatal("a pass finds no end")
}

// lands gives the last of the released tenants the change, or its failure.
func (s *change) lands(failure string) {
	s.Helper()
	var o kleffv1.Tenant
	if err := s.kube.Get(s.Context(), client.ObjectKey{Name: s.released[len(s.released)-1]}, &o); err != nil {
		s.Fatal(err)
	}
	o.Status.PlanGeneration = convert.PlanGeneration(s.plan)
	if failure != "" {
		meta.SetStatusCondition(&o.Status.Conditions, metav1.Condition{Type: kleffv1.ConditionPlanApplied, Status: metav1.ConditionFalse, Reason: failure})
	}
	if err := s.kube.Status().Update(s.Context(), &o); err != nil {
		s.Fatal(err)
	}
	s.pass()
}

// is checks how many tenants have been released, applied and failed, and what the plan says.
func (s *change) is(released int, applied, failed int32, reason string) {
	s.Helper()
	rolled := meta.FindStatusCondition(s.plan.Status.Conditions, kleffv1.ConditionRolledOut)
	got := []any{len(s.released), *s.plan.Status.Applied, *s.plan.Status.Failed, rolled.Reason, rolled.ObservedGeneration}
	if d := cmp.Diff([]any{released, applied, failed, reason, s.plan.Generation}, got); d != "" {
		s.Errorf("released, applied, failed, reason and generation (-want +got):\n%s", d)
	}
}

func paused(paused bool) func(*kleffv1.TenantPlanSpec) {
	return func(p *kleffv1.TenantPlanSpec) { p.Rollout.Paused = paused }
}

// A rollout that is paused continues where it was, also if the operator restarts meanwhile. Nothing but a change of
// what the tenants get begins another one.
func TestAPausedRolloutGoesOnWhereItWas(t *testing.T) {
	s := newChange(t, "a", "b", "c", "d")
	s.pass()
	s.is(0, 4, 0, kleffv1.ReasonRolledOut)
	s.tier("large")
	s.is(1, 0, 0, kleffv1.ReasonRollingOut)
	s.edit(paused(true))
	s.is(1, 0, 0, kleffv1.ReasonRolloutPaused)
	if !s.plans.IsReleased("p1", convert.PlanGeneration(s.plan), types.UID(s.released[0])) {
		t.Error("the tenant that was released is not any more")
	}
	s.lands("")
	progress := s.plan.Status.Rollout.DeepCopy()
	s.edit(paused(false))
	s.is(1, 1, 0, kleffv1.ReasonRollingOut)
	const pause = "A change of the plan is being rolled out, and pauses until 1970-01-01T01:"
	if c := meta.FindStatusCondition(s.plan.Status.Conditions, kleffv1.ConditionRolledOut); !strings.HasPrefix(c.Message, pause) {
		s.Errorf("RolledOut says %q, want %q and more", c.Message, pause)
	}
	if d := cmp.Diff(progress, s.plan.Status.Rollout); d != "" {
		t.Errorf("the progress (-before +after):\n%s", d)
	}
	s.restart()
	s.edit(paused(true))
	s.clock.SetTime(s.clock.Now().Add(time.Hour))
	s.pass()
	s.is(1, 1, 0, kleffv1.ReasonRolloutPaused)
	s.edit(paused(false))
	s.is(2, 1, 0, kleffv1.ReasonRollingOut)
	s.lands("")
	s.is(2, 2, 0, kleffv1.ReasonRollingOut)
	s.tier("larger")
	s.is(3, 0, 0, kleffv1.ReasonRollingOut)
}

// Failed tenants stay failed, however the rollout is edited, and the other tenants keep their turns.
func TestAnEditOfTheRolloutForgetsNoFailure(t *testing.T) {
	s := newChange(t, "a", "b", "c", "d")
	s.pass()
	s.tier("large")
	s.lands(kleffv1.ReasonPartiallyApplied)
	s.is(1, 0, 1, kleffv1.ReasonRolloutStopped)
	s.edit(paused(true))
	s.restart()
	s.edit(paused(false))
	s.is(1, 0, 1, kleffv1.ReasonRolloutStopped)
	s.edit(func(p *kleffv1.TenantPlanSpec) { *p.Rollout = kleffv1.Rollout{MaxFailedPercent: new(int32(100))} })
	s.is(2, 0, 1, kleffv1.ReasonRollingOut)
	if slices.Contains(s.released[1:], s.released[0]) {
		t.Errorf("%v were released", s.released)
	}
}
