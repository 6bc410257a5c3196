package tenantsource_test

import (
	"maps"
	"math"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/sourceworld"
)

// rolling is a world in memory whose n tenants are ready with the first version.
func rolling(t *testing.T, n int, o sourceworld.Options, r v1alpha1.SourceRollout, change ...func(*v1alpha1.TenantSource)) (*sourceworld.World, *memoryTable) {
	t.Helper()
	w, table := inMemory(t, n, o, append(change, gently(r), stamped("one"))...)
	deploys(w, nil)
	rolledOut(t, w, "RolledOut=True/RolledOut")
	return w, table
}

// deploys lets all tenants become what their specs say, but those that fail, and the source look at them.
func deploys(w *sourceworld.World, fails func(*v1alpha1.DistributionTenant) bool) {
	w.Advance(2 * time.Second)
	w.Deploy("customers", fails)
	w.Advance(2 * time.Second)
}

// named reports whether it is one of these.
func named(list []string) func(*v1alpha1.DistributionTenant) bool {
	return func(o *v1alpha1.DistributionTenant) bool { return slices.Contains(list, o.Name) }
}

// A read without the rows of waiting tenants ends no rollout: when the rows are back, the rest waits as before.
func TestRowsThatAreMissingDoNotEndARollout(t *testing.T) {
	t.Parallel()
	for _, policy := range []v1alpha1.SourceDeletionPolicy{v1alpha1.SourceDeletionPolicyDelete, v1alpha1.SourceDeletionPolicyDisable, v1alpha1.SourceDeletionPolicyRetain} {
		for name, spoil := range map[string]func(rows []map[string]any) []map[string]any{
			"an empty table":       func([]map[string]any) []map[string]any { return nil },
			"every row twice":      func(rows []map[string]any) []map[string]any { return slices.Concat(rows, rows) },
			"rows without domains": func(rows []map[string]any) []map[string]any { return without(rows, "domain") },
		} {
			t.Run(string(policy)+", "+name, func(t *testing.T) {
				t.Parallel()
				w, table := rolling(t, 10, sourceworld.Options{}, v1alpha1.SourceRollout{Canary: &v1alpha1.RolloutCanary{Count: 2}, MaxConcurrent: 4},
					func(o *v1alpha1.TenantSource) { o.Spec.DeletionPolicy = policy })
				w.Edit("customers", stamped("two"))
				w.Advance(2 * time.Second)
				canaries := having(w, "two")
				ill := named(canaries)
				deploys(w, ill)
				rolledOut(t, w, "RolledOut=False/RolloutStopped")
				rows := table.rows
				table.rows = spoil(rows)
				w.Advance(2 * interval)
				table.rows = rows
				w.Advance(2 * interval)
				deploys(w, ill)
				w.Advance(2 * interval)
				rolledOut(t, w, "RolledOut=False/RolloutStopped")
				if d := cmp.Diff(canaries, having(w, "two")); d != "" {
					t.Errorf("who has the change (-before +after):\n%s", d)
				}
			})
		}
	}
}

// without are the rows without a value in that column.
func without(rows []map[string]any, column string) []map[string]any {
	out := make([]map[string]any, len(rows))
	for i, row := range rows {
		out[i] = maps.Clone(row)
		out[i][column] = ""
	}
	return out
}

// Tenants that stay without a row are left out; once their rows are back, they are a rollout of their own.
func TestTenantsWithoutARowAreLeftOut(t *testing.T) {
	t.Parallel()
	w, table := rolling(t, 10, sourceworld.Options{}, v1alpha1.SourceRollout{MaxConcurrent: 2}, func(o *v1alpha1.TenantSource) {
		o.Spec.DeletionPolicy = v1alpha1.SourceDeletionPolicyRetain
	})
	rows := table.rows
	table.rows = rows[:4]
	w.Advance(interval)
	w.Edit("customers", stamped("two"))
	for range 4 {
		deploys(w, nil)
	}
	rolledOut(t, w, "RolledOut=True/RolledOut")
	if o, _ := w.Get("customers"); o.Status.Rollout.Left != 6 || !o.Status.Rollout.Complete {
		t.Errorf("status says %+v", o.Status.Rollout)
	}
	w.Restart()
	table.rows = rows
	w.Advance(2 * interval)
	rolledOut(t, w, "RolledOut=False/RollingOut")
	if got := having(w, "two"); len(got) != 5 {
		t.Errorf("%v have the change\n%s", got, w.Describe("customers"))
	}
	for range 6 {
		deploys(w, nil)
	}
	rolledOut(t, w, "RolledOut=True/RolledOut")
	if got := having(w, "two"); len(got) != 10 {
		t.Errorf("%v have the change\n%s", got, w.Describe("customers"))
	}
}

// One tenant that is never ready does not take the version from the others to which undo returns, and reads of single rows
// go on.
func TestATenantThatIsNeverReadyDoesNotKeepARolloutOpen(t *testing.T) {
	t.Parallel()
	w, _ := rolling(t, 3, sourceworld.Options{}, v1alpha1.SourceRollout{MaxFailedPercent: new(int32(50))})
	ill := named([]string{name(1)})
	for _, version := range []string{"two", "three"} {
		w.Edit("customers", stamped(version))
		for range 4 {
			deploys(w, ill)
		}
		rolledOut(t, w, "RolledOut=False/TenantsFailed")
	}
	if o, _ := w.Get("customers"); !o.Status.Rollout.Complete || *o.Status.Rollout.Failed != 1 {
		t.Errorf("status says %+v", o.Status.Rollout)
	}
	w.Restart()
	w.Edit("customers", stamped("four"))
	deploys(w, ill)
	w.Edit("customers", func(o *v1alpha1.TenantSource) { o.Spec.Rollout.Undo = true })
	for range 3 {
		deploys(w, ill)
	}
	rolledOut(t, w, "RolledOut=False/Undone")
	if got := having(w, "three"); len(got) != 3 {
		t.Errorf("%v have the version that all had before\n%s", got, w.Describe("customers"))
	}
	// Once it is ready, the last rollout has gone well.
	w.Edit("customers", func(o *v1alpha1.TenantSource) { o.Spec.Rollout.Undo = false; stamped("three")(o) })
	deploys(w, nil)
	rolledOut(t, w, "RolledOut=True/RolledOut")
}

// Undo does not wait for tenants that never had the change and are not ready for reasons of their own.
func TestUndoDoesNotWaitForThoseThatNeverHadTheChange(t *testing.T) {
	t.Parallel()
	w, _ := rolling(t, 8, sourceworld.Options{}, v1alpha1.SourceRollout{MaxConcurrent: 2})
	w.Edit("customers", stamped("two"))
	for range 6 {
		deploys(w, nil)
	}
	rolledOut(t, w, "RolledOut=True/RolledOut")
	w.Edit("customers", stamped("three"))
	w.Advance(2 * time.Second)
	first := having(w, "three")
	unready := func(o *v1alpha1.DistributionTenant) {
		meta.SetStatusCondition(&o.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonDomainValidationPending, ObservedGeneration: o.Generation})
	}
	for _, o := range w.AllTenants() {
		if !slices.Contains(first, o.Name) {
			unready(&o)
			must(t, w.Kube.Status().Update(t.Context(), &o))
		}
	}
	w.Edit("customers", func(o *v1alpha1.TenantSource) { o.Spec.Rollout.Undo = true })
	w.Advance(5 * time.Second)
	if got := having(w, "three"); len(got) > 0 {
		t.Errorf("%v still have what is undone\n%s", got, w.Describe("customers"))
	}
}

// What the API server has refused is still refused after the next poll: the rollout stays stopped, and goes on once it is
// accepted.
func TestRefusedChangesKeepARolloutStopped(t *testing.T) {
	t.Parallel()
	changed, refuses := map[string]bool{}, math.MaxInt
	var mu sync.Mutex
	w, _ := rolling(t, 30, sourceworld.Options{Funcs: applying(func(name string) error {
		mu.Lock()
		defer mu.Unlock()
		if !changed[name] && len(changed) >= refuses {
			return deniedByWebhook(http.StatusForbidden, metav1.StatusReasonForbidden)
		}
		changed[name] = true
		return nil
	})}, v1alpha1.SourceRollout{MaxFailedPercent: new(int32(20))})
	clear(changed)
	refuses = 8
	w.Edit("customers", stamped("two"))
	for range 6 {
		deploys(w, nil)
	}
	rolledOut(t, w, "RolledOut=False/RolloutStopped")
	o, _ := w.Get("customers")
	failed := *o.Status.Rollout.Failed
	w.Advance(10 * interval)
	rolledOut(t, w, "RolledOut=False/RolloutStopped")
	if o, _ = w.Get("customers"); *o.Status.Rollout.Failed != failed {
		t.Errorf("%d tenants were tried and refused after the stop\n%s", *o.Status.Rollout.Failed-failed, w.Describe("customers"))
	}
	refuses = math.MaxInt
	for range 8 {
		w.Advance(interval)
		deploys(w, nil)
	}
	rolledOut(t, w, "RolledOut=True/RolledOut")
}

// A tenant that a version left as it was has that version all the same: its row goes on being followed while the next
// change waits.
func TestATenantThatAVersionLeftAsItWasIsFollowed(t *testing.T) {
	t.Parallel()
	// The mapping is what it is without one.
	mapped := func(o *v1alpha1.TenantSource) {
		o.Spec.Mapping = []v1alpha1.FieldMapping{{Column: "name", Field: "name"}, {Column: "domain", Field: "domains"}, {Column: "enabled", Field: "enabled"}}
	}
	w, table := rolling(t, 4, sourceworld.Options{}, v1alpha1.SourceRollout{})
	w.Edit("customers", stamped("two"))
	for range 4 {
		deploys(w, nil)
	}
	w.Edit("customers", mapped)
	w.Advance(interval)
	rolledOut(t, w, "RolledOut=True/RolledOut")
	w.Edit("customers", func(o *v1alpha1.TenantSource) { stamped("three")(o); o.Spec.Rollout.Paused = true })
	w.Advance(interval)
	table.rows[2] = map[string]any{"name": name(2), "domain": "new.example.com", "enabled": true}
	w.Advance(2 * interval)
	for _, o := range w.AllTenants() {
		if o.Name == name(2) && (o.Spec.Domains[0].Domain != "new.example.com" || versionOf(&o) != "two") {
			t.Errorf("the tenant has the domain %s and version %s\n%s", o.Spec.Domains[0].Domain, versionOf(&o), w.Describe("customers"))
		}
	}
}
