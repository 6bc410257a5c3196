package reconcile_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

// An annotation that changes in a loop causes a pass at once, and then one in ten seconds.
func TestNudgesAreBounded(t *testing.T) {
	now := clocktesting.NewFakePassiveClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	r := newRig(t, pod())
	r.driver.Nudges = reconcile.NewNudges(now, "example.com/now", "example.com/paused")
	passes := 0
	reconciled := func(change func(*corev1.Pod)) (after time.Duration) {
		t.Helper()
		o := r.stored()
		change(o)
		if err := r.store.Update(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		r.log = nil
		result, err := r.reconcile(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(r.log, "begin") {
			passes++
		}
		return result.RequeueAfter
	}
	annotate := func(name, value string) func(*corev1.Pod) {
		return func(o *corev1.Pod) { o.Annotations["example.com/"+name] = value }
	}
	for n := range 100 {
		reconciled(annotate("now", fmt.Sprint(n)))
		now.SetTime(now.Now().Add(100 * time.Millisecond))
	}
	if passes != 1 {
		t.Errorf("a hundred changes in ten seconds are %d passes, want 1", passes)
	}
	now.SetTime(now.Now().Add(time.Minute))
	passes = 0
	for n := range 100 {
		reconciled(annotate("now", fmt.Sprint("here ", n%2)))
		now.SetTime(now.Now().Add(100 * time.Millisecond))
	}
	if passes > 2 {
		t.Errorf("a hundred changes to and fro in ten seconds are %d passes, want 1 or 2", passes)
	}
	if reconciled(annotate("now", "later")); passes != 2 {
		t.Errorf("%d passes after the pause, want 2", passes)
	}
	if after := reconciled(annotate("paused", "true")); passes != 2 || after != reconcile.NudgePause {
		t.Errorf("%d passes, and the next one after %s; want 2 and %s", passes, after, reconcile.NudgePause)
	}
	if reconciled(func(o *corev1.Pod) { o.Generation++ }); passes != 3 {
		t.Error("a change of the spec has to wait")
	}
	if reconciled(func(*corev1.Pod) {}); passes != 4 {
		t.Error("a pass for another reason has to wait")
	}
}
