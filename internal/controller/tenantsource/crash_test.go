package tenantsource_test

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/sourceworld"
)

// A life in which a source creates, changes and deletes, up to its own end. Whatever write the process dies at,
// before it is made or after, the world ends the same, and no moment of it has more deletions than were allowed.
func TestStopAtEveryWrite(t *testing.T) {
	t.Parallel()
	const fleet, mostWrites = 6, 100
	left := stopAt(t, fleet, mostWrites, true)
	if left == 0 {
		t.Fatalf("the life has more than %d writes", mostWrites)
	}
	// Before a write the world is as after the one before it, but for what was read meanwhile: every third is enough.
	for after, step := range map[bool]int{true: 1, false: 3} {
		for n := 1; n <= mostWrites-left; n += step {
			t.Run(fmt.Sprintf("write %d, after %t", n, after), func(t *testing.T) {
				t.Parallel()
				if stopAt(t, fleet, n, after) > 0 {
					t.Error("the crash did not come")
				}
			})
		}
	}
}

// stopAt stops a lifecycle at the n-th write, and returns how many writes were missing to reach it.
func stopAt(t *testing.T, fleet, n int, after bool) (left int) {
	t.Helper()
	w, table := newWorld(t, fleet, func(o *v1alpha1.TenantSource) {
		three, none := int32(3), int32(0)
		o.Spec.DeletionGuard = &v1alpha1.DeletionGuard{Grace: &metav1.Duration{}, MaxDeletes: &three, MaxDeletePercent: &none}
	})
	w.CrashAt(n, after)
	w.Advance(time.Minute)
	living(t, w, names(fleet))

	must(t, table.Put(t.Context(), map[string]any{"name": name(0), "domain": "new.example.com", "enabled": true}))
	must(t, table.Remove(t.Context(), name(1), name(2)))
	// Confirmations don't survive a crash, so that a deletion may come some polls later.
	w.Advance(4 * interval)
	living(t, w, append(names(1), names(fleet)[3:]...))
	if o := w.AllTenants()[0]; o.Spec.Domains[0].Domain != "new.example.com" {
		t.Errorf("the change is lost: %+v", o.Spec)
	}

	// The budget is used up: one more is held, also by a process that has seen none of it.
	must(t, table.Remove(t.Context(), name(3)))
	w.Advance(4 * interval)
	living(t, w, append(names(1), names(fleet)[3:]...))
	expect(t, w, "Ready=False/DeletionHeld")

	approve(t, w)
	w.Advance(4 * interval)
	living(t, w, append(names(1), names(fleet)[4:]...))
	w.Bury()

	w.Delete("customers")
	w.Advance(interval)
	living(t, w, append(names(1), names(fleet)[4:]...))
	approve(t, w)
	for range 4 {
		// The rest after a crash is another plan, and needs another approval.
		w.Advance(interval)
		if o, found := w.Get("customers"); !found || o.Status.HeldDeletions == nil {
			break
		}
		approve(t, w)
	}
	living(t, w, []string{})
	if _, found := w.Get("customers"); found {
		t.Errorf("the source is still there\n%s", w.Describe("customers"))
	}
	return w.WritesToCrash()
}

// approve approves the plan that is held.
func approve(t *testing.T, w *sourceworld.World) {
	t.Helper()
	o, _ := w.Get("customers")
	if o.Status.HeldDeletions == nil {
		t.Fatalf("nothing is held\n%s", w.Describe("customers"))
	}
	w.Annotate("customers", v1alpha1.AnnotationApproveDeletions, o.Status.HeldDeletions.PlanHash)
}
