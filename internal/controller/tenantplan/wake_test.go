package tenantplan_test

import (
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/tenantplan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
)

func TestOnlyConstraintsWakeTheirPlan(t *testing.T) {
	of := func(k plan.Kind, namespace string, labels map[string]string) plan.Live {
		return plan.Live{Object: plan.Object{Kind: k, Namespace: namespace, Name: "one", Labels: labels}}
	}
	basic := map[string]string{plan.LabelPlan: "basic", plan.LabelPlanUID: "p1"}
	for about, c := range map[string]struct {
		changed plan.Live
		wakes   int
	}{
		"a constraint wakes the plan that it names":              {of(plan.ConstraintKind("KleffPodSecurity"), "", basic), 1},
		"one that names none wakes no plan":                      {of(plan.ConstraintKind("KleffPodSecurity"), "", nil), 0},
		"a customer's object wakes no plan, whatever its labels": {of(plan.KindNetworkPolicy, "user-12345", basic), 0},
	} {
		active := make(chan struct{})
		close(active)
		plans := tenantplan.New(tenantplan.Options{Active: active})
		plans.ChildChanged(t.Context(), c.changed)
		if got := len(plans.Woken()); got != c.wakes {
			t.Errorf("%s: woke %d", about, got)
		}
	}
}
