package tenantsource_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/sourceworld"
)

// gently lets the source roll its changes out.
func gently(r v1alpha1.SourceRollout) func(*v1alpha1.TenantSource) {
	return func(o *v1alpha1.TenantSource) { o.Spec.Rollout = &r }
}

// stamped gives all tenants a parameter, which is a version of the template that can be told.
func stamped(version string) func(*v1alpha1.TenantSource) {
	return func(o *v1alpha1.TenantSource) {
		o.Spec.Template = &v1alpha1.TenantTemplate{Spec: &v1alpha1.TemplateSpec{Parameters: []v1alpha1.Parameter{{Name: "version", Value: version}}}}
	}
}

// versionOf is the version that a tenant has.
func versionOf(o *v1alpha1.DistributionTenant) string {
	for _, p := range o.Spec.Parameters {
		if p.Name == "version" {
			return p.Value
		}
	}
	return ""
}

// having are the names of the tenants that have the version.
func having(w *sourceworld.World, version string) []string {
	out := []string{}
	for _, o := range w.AllTenants() {
		if versionOf(&o) == version {
			out = append(out, o.Name)
		}
	}
	return out
}

// rolledOut is what the source says of its rollout.
func rolledOut(t *testing.T, w *sourceworld.World, want string) {
	t.Helper()
	if got := w.Condition("customers", v1alpha1.ConditionRolledOut); got != want {
		t.Errorf("the source says %s, want %s\n%s", got, want, w.Describe("customers"))
	}
}

// settled is a world whose n tenants are ready with the first version.
func settled(t *testing.T, n int, r v1alpha1.SourceRollout) (*sourceworld.World, func(name string, row map[string]any)) {
	t.Helper()
	w, table := newWorld(t, n, gently(r), stamped("one"))
	w.Advance(2 * time.Second)
	w.Deploy("customers", nil)
	w.Advance(2 * time.Second)
	rolledOut(t, w, "RolledOut=True/RolledOut")
	return w, func(_ string, row map[string]any) { must(t, table.Put(t.Context(), row)) }
}

// steps plays what follows a change, tenant by tenant, and returns how many had the version after each look.
func steps(w *sourceworld.World, version string, looks int) []int {
	var counts []int
	for range looks {
		w.Advance(2 * time.Second)
		if n := len(having(w, version)); len(counts) == 0 || counts[len(counts)-1] != n {
			counts = append(counts, n)
		}
		w.Deploy("customers", nil)
	}
	return counts
}

// A change of the template begins with one tenant, and costs one write for each.
func TestAChangeIsRolledOut(t *testing.T) {
	t.Parallel()
	const n = 20
	w, _ := settled(t, n, v1alpha1.SourceRollout{MaxConcurrent: 4})
	before := w.Writes()
	w.Edit("customers", stamped("two"))
	counts := steps(w, "two", 12)
	if diff := cmp.Diff([]int{1, 3, 7, 11, 15, 19, 20}, counts); diff != "" {
		t.Errorf("the change reached (-want +got):\n%s%s", diff, w.Describe("customers"))
	}
	rolledOut(t, w, "RolledOut=True/RolledOut")
	after := w.Writes()
	if got := after.Applied - before.Applied; got != n {
		t.Errorf("%d writes of tenants, want %d", got, n)
	}
	if got := after.SourceStatus - before.SourceStatus; got > 6 {
		t.Errorf("%d writes of status", got)
	}
	o, _ := w.Get("customers")
	if s := o.Status.Rollout; !s.Complete || *s.Applied != n || *s.Waiting != 0 {
		t.Errorf("status says %+v", s)
	}
}

// Two canaries come first, then steps with a pause between them; a restart changes nothing of that.
func TestCanariesStepsAndPauses(t *testing.T) {
	t.Parallel()
	w, _ := settled(t, 10, v1alpha1.SourceRollout{
		Canary: &v1alpha1.RolloutCanary{Count: 2}, Step: &v1alpha1.RolloutStep{Count: 4}, Pause: &metav1.Duration{Duration: time.Hour}, MaxConcurrent: 10,
	})
	w.Edit("customers", stamped("two"))
	if diff := cmp.Diff([]int{2}, steps(w, "two", 4)); diff != "" {
		t.Errorf("canaries (-want +got):\n%s", diff)
	}
	w.Restart()
	w.Advance(50 * time.Minute)
	if got := len(having(w, "two")); got != 2 {
		t.Errorf("%d tenants in the pause", got)
	}
	if message := w.Describe("customers"); !strings.Contains(message, ", and pauses until ") {
		t.Errorf("no end of the pause in:\n%s", message)
	}
	w.Advance(12 * time.Minute)
	w.Deploy("customers", nil)
	if got := len(having(w, "two")); got != 6 {
		t.Errorf("%d tenants after the pause\n%s", got, w.Describe("customers"))
	}
	w.Advance(62 * time.Minute)
	w.Deploy("customers", nil)
	w.Advance(time.Minute)
	rolledOut(t, w, "RolledOut=True/RolledOut")
}

// ringed is a world whose tenants 3 and 7 have the labels of canaries. The change that is rolled out uses the column code.
func ringed(t *testing.T) (*sourceworld.World, *memoryTable, func(*v1alpha1.TenantSource)) {
	t.Helper()
	label := func(column string) func(*v1alpha1.TenantSource) {
		return func(o *v1alpha1.TenantSource) {
			o.Spec.Mapping = append(o.Spec.Mapping, v1alpha1.FieldMapping{Column: column, Field: v1alpha1.FieldPath("metadata.labels[" + column + "]")})
		}
	}
	w, table := rolling(t, 10, sourceworld.Options{}, v1alpha1.SourceRollout{
		Canary: &v1alpha1.RolloutCanary{MatchLabels: map[string]string{"ring": "canary"}}, MaxConcurrent: 10,
	})
	table.more = []string{"ring", "code"}
	for i, row := range table.rows {
		row["ring"], row["code"] = "rest", "a"
		if i == 3 || i == 7 {
			row["ring"] = "canary"
		}
	}
	w.Edit("customers", label("ring"))
	w.Advance(6 * interval) // labels change no status, which alone wakes the source here
	rolledOut(t, w, "RolledOut=True/RolledOut")
	return w, table, func(o *v1alpha1.TenantSource) {
		stamped("two")(o)
		label("code")(o)
	}
}

// Canaries by labels come first, all of them and no others.
func TestCanariesByLabelsComeFirst(t *testing.T) {
	t.Parallel()
	w, _, change := ringed(t)
	w.Edit("customers", change)
	w.Advance(2 * time.Second)
	if d := cmp.Diff([]string{name(3), name(7)}, having(w, "two")); d != "" {
		t.Errorf("who has the change first (-want +got):\n%s", d)
	}
	steps(w, "two", 6)
	rolledOut(t, w, "RolledOut=True/RolledOut")
}

// A canary that the change makes invalid stops the rollout before it begins: no other tenant is tried in its place.
func TestACanaryThatCantHaveTheChangeStopsIt(t *testing.T) {
	t.Parallel()
	w, table, change := ringed(t)
	table.rows[7]["code"] = "no label"
	w.Edit("customers", change)
	for range 3 {
		deploys(w, nil)
	}
	rolledOut(t, w, "RolledOut=False/RolloutStopped")
	if got := w.Describe("customers"); !strings.Contains(got, "1 of 10 tenants can't have the change, with 1 canary among them, so the rollout is stopped") {
		t.Errorf("the source says %s", got)
	}
	if got := having(w, "two"); len(got) > 0 {
		t.Errorf("%v have the change", got)
	}
	table.rows[7]["code"] = "b"
	w.Advance(interval)
	steps(w, "two", 6)
	rolledOut(t, w, "RolledOut=True/RolledOut")
}

// A canary whose row is gone for a moment is waited for.
func TestACanaryWithoutARowIsWaitedFor(t *testing.T) {
	t.Parallel()
	w, table, change := ringed(t)
	rows := table.rows
	table.rows = slices.Delete(slices.Clone(rows), 7, 8)
	w.Edit("customers", change)
	for range 3 {
		deploys(w, nil)
	}
	if d := cmp.Diff([]string{name(3)}, having(w, "two")); d != "" {
		t.Errorf("who has the change without the row (-want +got):\n%s", d)
	}
	table.rows = rows
	w.Annotate("customers", v1alpha1.AnnotationSyncNow, "rows are back")
	w.Advance(2 * time.Second)
	if d := cmp.Diff([]string{name(3), name(7)}, having(w, "two")); d != "" {
		t.Errorf("who has the change first (-want +got):\n%s", d)
	}
	steps(w, "two", 6)
	rolledOut(t, w, "RolledOut=True/RolledOut")
}

// Too many failures stop a rollout; rows of tenants that it has not reached go through with the former version, new rows
// get the new one, and undo takes it back.
func TestARolloutStopsAndIsUndone(t *testing.T) {
	t.Parallel()
	w, put := settled(t, 8, v1alpha1.SourceRollout{Canary: &v1alpha1.RolloutCanary{Count: 2}, MaxConcurrent: 2})
	w.Edit("customers", stamped("two"))
	w.Advance(2 * time.Second)
	w.Deploy("customers", func(o *v1alpha1.DistributionTenant) bool { return versionOf(o) == "two" })
	w.Advance(2 * time.Second)
	rolledOut(t, w, "RolledOut=False/RolloutStopped")
	released := having(w, "two")

	waiting := slices.DeleteFunc(names(8), func(n string) bool { return slices.Contains(released, n) })[0]
	changed := map[string]any{"name": waiting, "domain": "new-" + waiting + ".example.com", "enabled": true}
	put(waiting, changed)
	put(name(8), row(8))
	w.Advance(interval)
	for _, o := range w.AllTenants() {
		if want := "new-" + waiting + ".example.com"; o.Name == waiting && (o.Spec.Domains[0].Domain != want || versionOf(&o) != "one") {
			t.Errorf("the changed row became %s with version %s", o.Spec.Domains[0].Domain, versionOf(&o))
		}
	}
	if diff := cmp.Diff(append(released, name(8)), having(w, "two")); diff != "" {
		t.Errorf("after the stop (-want +got):\n%s", diff)
	}

	w.Edit("customers", func(o *v1alpha1.TenantSource) { o.Spec.Rollout.Undo = true })
	for range 4 {
		w.Advance(2 * time.Second)
		w.Deploy("customers", nil)
	}
	w.Advance(2 * time.Second)
	rolledOut(t, w, "RolledOut=False/Undone")
	if got := having(w, "two"); len(got) > 0 {
		t.Errorf("%v have what was undone", got)
	}

	// Without undo it starts again, and a second change overtakes it.
	w.Edit("customers", func(o *v1alpha1.TenantSource) { o.Spec.Rollout.Undo = false })
	w.Advance(2 * time.Second)
	w.Edit("customers", stamped("three"))
	steps(w, "three", 12)
	rolledOut(t, w, "RolledOut=True/RolledOut")
	if got := len(having(w, "three")); got != 9 {
		t.Errorf("%d tenants have the last version", got)
	}
}

// A change that is taken back in the spec is taken from the tenants that have it.
func TestAChangeThatIsTakenBackInTheSpec(t *testing.T) {
	t.Parallel()
	w, _ := settled(t, 6, v1alpha1.SourceRollout{MaxConcurrent: 2})
	w.Edit("customers", stamped("two"))
	steps(w, "two", 2)
	w.Edit("customers", stamped("one"))
	steps(w, "one", 4)
	rolledOut(t, w, "RolledOut=True/RolledOut")
	if got := having(w, "one"); len(got) != 6 {
		t.Errorf("%v have the version of the spec\n%s", got, w.Describe("customers"))
	}
	// Also where another change and undo come after that.
	w.Edit("customers", stamped("two"))
	steps(w, "two", 2)
	w.Edit("customers", stamped("one"))
	w.Edit("customers", stamped("three"))
	steps(w, "three", 2)
	w.Edit("customers", func(o *v1alpha1.TenantSource) { o.Spec.Rollout.Undo = true })
	steps(w, "one", 5)
	rolledOut(t, w, "RolledOut=False/Undone")
	if got := having(w, "one"); len(got) != 6 {
		t.Errorf("%v have the former version\n%s", got, w.Describe("customers"))
	}
}

// A paused rollout reaches no tenant until that is taken back.
func TestAPausedRolloutWaits(t *testing.T) {
	t.Parallel()
	w, _ := settled(t, 3, v1alpha1.SourceRollout{Paused: true})
	w.Edit("customers", stamped("two"))
	steps(w, "two", 3)
	rolledOut(t, w, "RolledOut=False/RolloutPaused")
	if got := having(w, "two"); len(got) > 0 {
		t.Errorf("%v have the change", got)
	}
	w.Edit("customers", func(o *v1alpha1.TenantSource) { o.Spec.Rollout.Paused = false })
	steps(w, "two", 5)
	rolledOut(t, w, "RolledOut=True/RolledOut")
}

// movedTo is how many tenants are in the distribution.
func movedTo(w *sourceworld.World, id string) (count int) {
	for _, o := range w.AllTenants() {
		if o.Spec.DistributionID == id {
			count++
		}
	}
	return count
}

// approveIfHeld approves what the guard holds, if anything.
func approveIfHeld(w *sourceworld.World) {
	if o, _ := w.Get("customers"); o.Status.HeldDeletions != nil {
		w.Annotate("customers", v1alpha1.AnnotationApproveDeletions, o.Status.HeldDeletions.PlanHash)
	}
}

// Once the moves are approved, their rollout can be paused and slowed down without another approval.
func TestAnApprovedMoveGoesOnAfterAnEditOfItsRollout(t *testing.T) {
	t.Parallel()
	const n = 12
	w, _ := settled(t, n, v1alpha1.SourceRollout{MaxConcurrent: 5})
	w.Edit("customers", func(o *v1alpha1.TenantSource) { o.Spec.DistributionID = "E2SECOND" })
	w.Advance(interval)
	expect(t, w, "Ready=False/DeletionHeld")
	approveIfHeld(w)
	for range 2 {
		w.Advance(2 * time.Second)
		w.Deploy("customers", nil)
	}
	moved := movedTo(w, "E2SECOND")
	if moved == 0 || moved == n {
		t.Fatalf("%d tenants moved before the edits", moved)
	}
	for _, edit := range []func(*v1alpha1.SourceRollout){
		func(r *v1alpha1.SourceRollout) { r.Paused = true },
		func(r *v1alpha1.SourceRollout) { r.MaxConcurrent = 2 },
		func(r *v1alpha1.SourceRollout) { r.Paused = false },
	} {
		w.Edit("customers", func(o *v1alpha1.TenantSource) { edit(o.Spec.Rollout) })
		w.Advance(2 * time.Second)
		w.Deploy("customers", nil)
		expect(t, w, "Ready=True/PollSucceeded")
	}
	for range 8 {
		w.Advance(2 * time.Second)
		w.Deploy("customers", nil)
	}
	w.Advance(2 * time.Second)
	rolledOut(t, w, "RolledOut=True/RolledOut")
	if got := movedTo(w, "E2SECOND"); got != n {
		t.Errorf("%d tenants moved\n%s", got, w.Describe("customers"))
	}
	if o, _ := w.Get("customers"); o.Status.ChangesInWindow != n {
		t.Errorf("%d harmful changes are counted, want each once", o.Status.ChangesInWindow)
	}
}

// Another distribution for all tenants: the guard is asked once, the tenants move in steps, and undo moves them back.
func TestTenantsMoveToAnotherDistribution(t *testing.T) {
	t.Parallel()
	const n = 12
	w, _ := settled(t, n, v1alpha1.SourceRollout{MaxConcurrent: 5})
	w.Edit("customers", func(o *v1alpha1.TenantSource) { o.Spec.DistributionID = "E2SECOND" })
	w.Advance(interval)
	expect(t, w, "Ready=False/DeletionHeld")
	if got := movedTo(w, "E2SECOND"); got != 0 {
		t.Errorf("%d tenants moved without approval", got)
	}
	approveIfHeld(w)
	w.Advance(time.Second)
	if got := movedTo(w, "E2SECOND"); got != 1 {
		t.Errorf("%d tenants moved at first\n%s", got, w.Describe("customers"))
	}
	for range 8 {
		w.Deploy("customers", nil)
		w.Advance(2 * time.Second)
	}
	rolledOut(t, w, "RolledOut=True/RolledOut")
	if got := movedTo(w, "E2SECOND"); got != n {
		t.Errorf("%d tenants moved", got)
	}
	w.Edit("customers", func(o *v1alpha1.TenantSource) { o.Spec.Rollout.Undo = true })
	w.Advance(2 * time.Second)
	approveIfHeld(w)
	for range 8 {
		w.Advance(2 * time.Second)
		w.Deploy("customers", nil)
	}
	w.Advance(2 * time.Second)
	rolledOut(t, w, "RolledOut=False/Undone")
	if got := movedTo(w, sourceworld.DistributionID); got != n {
		t.Errorf("%d tenants moved back: %s", got, fmt.Sprint(w.Describe("customers")))
	}
}
