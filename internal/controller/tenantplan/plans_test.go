package tenantplan_test

import (
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/tenantplan"
)

func TestReleasedIsOfOneGeneration(t *testing.T) {
	plans := tenantplan.NewPlans("")
	plan := &kleffv1.TenantPlan{ObjectMeta: metav1.ObjectMeta{Name: "basic", UID: "p1", Generation: 1}}
	plans.State(plan)
	plans.Release("p1", 1, []string{"a", "b"})
	plans.Released("p1", 1)["c"] = true
	for about, c := range map[string]struct {
		plan       types.UID
		generation int64
		tenant     types.UID
		want       bool
	}{
		"who was released is":                   {"p1", 1, "a", true},
		"another tenant isn't":                  {"p1", 1, "c", false},
		"nor is anybody of another generation":  {"p1", 2, "a", false},
		"nor of a plan that nothing is said of": {"p2", 1, "a", false},
	} {
		if got := plans.IsReleased(c.plan, c.generation, c.tenant); got != c.want {
			t.Errorf("%s: got %t", about, got)
		}
		if got := plans.Released(c.plan, c.generation)[string(c.tenant)]; got != c.want {
			t.Errorf("%s: among all, got %t", about, got)
		}
	}
	plan.Generation = 2
	plans.State(plan)
	if plans.IsReleased("p1", 2, "a") || plans.IsReleased("p1", 1, "a") {
		t.Error("a new generation is released to no tenant yet, and the former one is over")
	}
}

// A plan that enforces too little can't be used, and says so with its other mistakes.
func TestAPlanThatEnforcesTooLittleIsInvalid(t *testing.T) {
	t.Parallel()
	o := &kleffv1.TenantPlan{ObjectMeta: metav1.ObjectMeta{Name: "basic", UID: "p1", Generation: 1}}
	o.Spec.PodSecurity = &kleffv1.PodSecurity{Enforce: "privileged"}
	o.Spec.Labels = map[string]kleffv1.LabelValue{"no key!": "x"}
	state := tenantplan.NewPlans("baseline").State(o)
	for _, text := range []string{"spec.podSecurity.enforce", "spec.labels"} {
		if state.Plan != nil || !strings.Contains(state.Invalid, text) {
			t.Errorf("the plan %v is usable, or %q does not name %s", state.Plan, state.Invalid, text)
		}
	}
}

// A pass over one tenant costs the same whatever the number of the others.
func TestAskingForOneTenantCopiesNothing(t *testing.T) {
	plans := tenantplan.NewPlans("")
	plan := &kleffv1.TenantPlan{ObjectMeta: metav1.ObjectMeta{Name: "basic", UID: "p1", Generation: 1}}
	plans.State(plan)
	all := make([]string, 10_000)
	for i := range all {
		all[i] = strconv.Itoa(i)
	}
	plans.Release("p1", 1, all)
	allocations := testing.AllocsPerRun(100, func() {
		if plans.State(plan).Plan == nil || !plans.IsReleased("p1", 1, "7") {
			t.Error("it was forgotten")
		}
	})
	if allocations != 0 {
		t.Errorf("it takes %g allocations", allocations)
	}
}
