package tenantsource_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/rollout"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/sourceworld"
)

// gently gives the source a rollout.
func gently(o *v1alpha1.TenantSource) { o.Spec.Rollout = &v1alpha1.SourceRollout{MaxConcurrent: 4} }

// stamped gives all tenants a parameter, which is a version of the template that can be told.
func stamped(version string) func(*v1alpha1.TenantSource) {
	return func(o *v1alpha1.TenantSource) {
		o.Spec.Template = &v1alpha1.TenantTemplate{Spec: &v1alpha1.TemplateSpec{Parameters: []v1alpha1.Parameter{{Name: "version", Value: version}}}}
	}
}

// having is how many tenants have the version.
func having(w *sourceworld.World, version string) (n int) {
	for _, o := range w.AllTenants() {
		if p := o.Spec.Parameters; len(p) > 0 && p[0].Value == version {
			n++
		}
	}
	return n
}

// rolledOut is what the source says of its rollout, and of which of its generations since it was created.
func rolledOut(t *testing.T, w *sourceworld.World, want string, generation int64) {
	t.Helper()
	o, _ := w.Get("customers")
	got, of := sourceworld.Condition(o, v1alpha1.ConditionRolledOut), int64(0)
	for _, c := range o.Status.Conditions {
		if c.Type == v1alpha1.ConditionRolledOut {
			of = c.ObservedGeneration
		}
	}
	if got != want || of != generation {
		t.Errorf("the source says %s of generation %d, want %s of %d\n%s", got, of, want, generation, w.Describe("customers"))
	}
}

// rolling is a world in memory whose n tenants have the first version, with how far their changes have come.
func rolling(t *testing.T, n int) (w *sourceworld.World, progress **rollout.Rollout, table *memoryTable) {
	t.Helper()
	var now *rollout.Rollout
	w, table = inMemory(t, n, sourceworld.Options{Progress: func(source types.NamespacedName) (rollout.Rollout, bool) {
		if now == nil || source.Name != "customers" {
			return rollout.Rollout{}, false
		}
		return *now, true
	}}, gently, stamped("one"))
	w.Deploy(nil)
	w.Advance(time.Second)
	rolledOut(t, w, "RolledOut=True/RolledOut", 1)
	return w, &now, table
}

// All objects change at once, each with one write. That all tenants have the change is said once it is in AWS, with two
// writes of status altogether.
func TestAChangeOfTheSpecChangesAllObjects(t *testing.T) {
	t.Parallel()
	const n = 12
	w, _, _ := rolling(t, n)
	before := w.Writes()
	w.Edit("customers", stamped("two"))
	w.Advance(time.Second)
	if got := having(w, "two"); got != n {
		t.Errorf("%d objects have the change\n%s", got, w.Describe("customers"))
	}
	w.Advance(30 * time.Second)
	rolledOut(t, w, "RolledOut=True/RolledOut", 1)
	w.Deploy(nil)
	w.Advance(10 * time.Second)
	rolledOut(t, w, "RolledOut=True/RolledOut", 2)
	w.Advance(2 * interval)
	after := w.Writes()
	// Each of the two later polls has its own.
	if diff := cmp.Diff([]int{n, 2 + 2}, []int{after.Applied - before.Applied, after.SourceStatus - before.SourceStatus}); diff != "" {
		t.Errorf("writes of objects and of status (-want +got):\n%s", diff)
	}
}

// Status has the progress of the tenants' changes: figures at most once in ten seconds, and the rest at once.
func TestTheProgressOfARolloutIsShown(t *testing.T) {
	t.Parallel()
	w, progress, _ := rolling(t, 8)
	w.Edit("customers", stamped("two"))
	w.Advance(time.Second)
	now := func(r rollout.Rollout) {
		*progress = &r
		w.Progressed("customers")
		w.Advance(100 * time.Millisecond)
	}
	counts := func(want string) {
		t.Helper()
		o, _ := w.Get("customers")
		got := "nothing"
		if s := o.Status.Rollout; s != nil {
			got = fmt.Sprintf("%d of %d, %d failed, %d wait, step %d", *s.Applied, *s.Tenants, *s.Failed, *s.Waiting, s.Step)
		}
		if got != want {
			t.Errorf("status says %s, want %s", got, want)
		}
	}
	first := rollout.Progress{Step: 1, Target: 2}
	now(rollout.Rollout{Waiting: 8, InFlight: 2, Progress: first})
	rolledOut(t, w, "RolledOut=False/RollingOut", 2)
	counts("0 of 8, 0 failed, 8 wait, step 1")
	now(rollout.Rollout{Applied: 1, Waiting: 7, InFlight: 1, Progress: first})
	counts("0 of 8, 0 failed, 8 wait, step 1")
	w.Advance(10 * time.Second)
	counts("1 of 8, 0 failed, 7 wait, step 1")
	now(rollout.Rollout{Failed: 2, Waiting: 6, Stopped: true, First: `Tenant "customer-001": it is broken`, Progress: first})
	rolledOut(t, w, "RolledOut=False/RolloutStopped", 2)
	counts("0 of 8, 2 failed, 6 wait, step 1")
	expect(t, w, "Ready=True/PollSucceeded")
	if got := w.Condition("customers", v1alpha1.ConditionStalled); got != "Stalled=True/RolloutStopped" {
		t.Errorf("the source says %s", got)
	}
	if e := w.Events[len(w.Events)-1]; !e.Warning || e.Reason != v1alpha1.ReasonRolloutStopped || !strings.Contains(e.Message, "it is broken") {
		t.Errorf("the last event is %+v", e)
	}
	// A new process knows nothing of it, and the tenants don't have their specs.
	*progress = nil
	w.Restart()
	w.Advance(30 * time.Second)
	rolledOut(t, w, "RolledOut=False/RolloutStopped", 2)
	now(rollout.Rollout{Applied: 7, Failed: 1, First: `Tenant "customer-001": it is broken`})
	rolledOut(t, w, "RolledOut=False/TenantsFailed", 2)
	w.Deploy(nil)
	*progress = nil
	w.Progressed("customers")
	w.Advance(time.Second)
	rolledOut(t, w, "RolledOut=True/RolledOut", 2)
	counts("nothing")

	w.Edit("customers", func(o *v1alpha1.TenantSource) { o.Spec.Rollout = nil })
	w.Advance(time.Second)
	rolledOut(t, w, "RolledOut is not there", 0)
}

// Rows whose tenants all have their turn at once cost no write of status more than without a rollout.
func TestARowThatChangesIsNoRollout(t *testing.T) {
	t.Parallel()
	w, progress, table := rolling(t, 3)
	w.Advance(2 * interval)
	before := w.Writes()
	table.rows[1]["domain"] = []any{table.rows[1]["domain"], "new.example.com"}
	*progress = &rollout.Rollout{Waiting: 1, InFlight: 1}
	w.Advance(interval)
	*progress = nil
	w.Progressed("customers")
	w.Advance(time.Second)
	after := w.Writes()
	if diff := cmp.Diff([]int{1, 1}, []int{after.Applied - before.Applied, after.SourceStatus - before.SourceStatus}); diff != "" {
		t.Errorf("writes of objects and of status (-want +got):\n%s", diff)
	}
	rolledOut(t, w, "RolledOut=True/RolledOut", 1)
}

// The guard judges a change as a whole. An edit of the rollout leaves the plan that it holds as it is, and while it is held,
// nothing is rolled out.
func TestAHeldMoveIsTheSameAfterAnEditOfTheRollout(t *testing.T) {
	t.Parallel()
	const n = 12
	w, _, _ := rolling(t, n)
	w.Edit("customers", func(o *v1alpha1.TenantSource) { o.Spec.DistributionID = "E2SECOND" })
	w.Advance(interval)
	expect(t, w, "Ready=False/DeletionHeld")
	o, _ := w.Get("customers")
	plan := o.Status.HeldDeletions.PlanHash
	w.Edit("customers", func(o *v1alpha1.TenantSource) { o.Spec.Rollout.Paused = true })
	w.Advance(time.Second)
	rolledOut(t, w, "RolledOut=True/RolledOut", 1)
	w.Annotate("customers", v1alpha1.AnnotationApproveDeletions, plan)
	w.Advance(time.Second)
	expect(t, w, "Ready=True/PollSucceeded")
	for _, o := range w.AllTenants() {
		if o.Spec.DistributionID != "E2SECOND" {
			t.Errorf("%s is in %s\n%s", o.Name, o.Spec.DistributionID, w.Describe("customers"))
		}
	}
	w.Deploy(nil)
	w.Advance(10 * time.Second)
	rolledOut(t, w, "RolledOut=True/RolledOut", 3)
}
