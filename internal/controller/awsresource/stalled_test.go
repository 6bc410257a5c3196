package awsresource_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// timeout sets the deletion timeout.
func timeout(d time.Duration) policies {
	return func(s *v1alpha1.ResourcePolicies) { s.DeletionTimeout = &metav1.Duration{Duration: d} }
}

const stalled = "DeletionStalled=True/DeletionTimeout"

// The timeout only says that something takes long, and what can be done. The deletion continues, and ends.
func TestAStalledDeletionIsSaidOnceAndGoesOn(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		command := map[string]string{"distribution": "distribution", "connection group": "connection-group"}[k.name]
		for name, c := range map[string]struct {
			hinder func(t *testing.T, a *audit, r thing) (cure func())
			step   v1alpha1.DeletionStep
			reason string
			says   []string
		}{
			"it has tenants": {
				hinder: func(t *testing.T, a *audit, r thing) func() {
					t.Helper()
					k.tenant(t, a.w, r.ID, "left")
					return func() { noTenant(t, a.w, "left") }
				},
				step: v1alpha1.DeletionStepInUse, reason: "Ready=False/InUse", says: []string{"list-distribution-tenants"},
			},
			"the disable is denied": {
				hinder: func(t *testing.T, a *audit, _ thing) func() {
					t.Helper()
					return refusing(t, a.w, k.update, denied(k.update))
				},
				step: v1alpha1.DeletionStepDisabling, reason: "Ready=False/AccessDenied", says: []string{"update-" + command},
			},
			"the disable never settles": {
				hinder: func(_ *testing.T, a *audit, _ thing) func() {
					a.w.Sim.ChangeSwitches(func(s *sim.Switches) { s.DeployDelay = 80 * time.Minute })
					return func() {}
				},
				step: v1alpha1.DeletionStepSettling, reason: "Ready=False/Disabling", says: []string{"get-" + command},
			},
			"the deletion is denied": {
				hinder: func(t *testing.T, a *audit, _ thing) func() {
					t.Helper()
					return refusing(t, a.w, k.delete, denied(k.delete))
				},
				step: v1alpha1.DeletionStepDeleting, reason: "Ready=False/AccessDenied", says: []string{"delete-" + command},
			},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				a := audited(t, k, world.Options{}, timeout(20*time.Minute))
				w := a.w
				r := a.create(t)
				cure := c.hinder(t, a, r)
				remove(t, w, a.o)
				w.Advance(15 * time.Minute)
				is(t, w, a.o, c.reason)
				if got := w.ParentCondition(a.o, "DeletionStalled"); got != "DeletionStalled is not there" {
					t.Errorf("after 15 minutes: %s", got)
				}
				before := status(t, w, a.o)
				w.Advance(10 * time.Minute)
				is(t, w, a.o, stalled, c.reason)
				atStep(t, w, a.o, c.step)
				says(t, w, a.o, "DeletionStalled", append(c.says, "20m", string(c.step), "The operator keeps trying")...)
				if c.step != v1alpha1.DeletionStepDisabling {
					says(t, w, a.o, "DeletionStalled", r.ID)
				}
				after := status(t, w, a.o)
				if d := cmp.Diff(before.Deletion, after.Deletion); d != "" {
					t.Errorf("the step (-before +after):\n%s", d)
				}
				kube := w.KubeWrites()
				w.Restart()
				w.Advance(40 * time.Minute)
				if d := cmp.Diff(after, status(t, w, a.o)); d != "" || w.KubeWrites() != kube {
					t.Errorf("status is written again and again, %d times (-before +after):\n%s", w.KubeWrites()-kube, d)
				}
				once(t, w, a.o, "DeletionStalled")
				cure()
				w.Advance(45 * time.Minute)
				k.gone(t, w, a.o)
				once(t, w, a.o, "DeletionStalled")
			})
		}
	})
}

// Each step has its own message, and its own event is told once.
func TestAStalledDeletionFollowsTheSteps(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		a := audited(t, k, world.Options{}, timeout(10*time.Minute))
		w := a.w
		r := a.create(t)
		k.tenant(t, w, r.ID, "left")
		remove(t, w, a.o)
		w.Advance(15 * time.Minute)
		says(t, w, a.o, "DeletionStalled", "InUse", "list-distribution-tenants")
		w.Sim.ChangeSwitches(func(s *sim.Switches) { s.DeployDelay = time.Hour })
		allow := refusing(t, w, k.delete, denied(k.delete))
		w.Sim.ChangeSwitches(func(s *sim.Switches) { s.DeleteNeedsDeployed = false })
		noTenant(t, w, "left")
		w.Advance(5 * time.Minute)
		atStep(t, w, a.o, v1alpha1.DeletionStepSettling)
		says(t, w, a.o, "DeletionStalled", "Settling", "stays InProgress")
		w.Advance(time.Hour)
		atStep(t, w, a.o, v1alpha1.DeletionStepDeleting)
		says(t, w, a.o, "DeletionStalled", "Deleting", "--if-match")
		allow()
		w.Advance(time.Hour)
		k.gone(t, w, a.o)
		once(t, w, a.o, "DeletionStalled", "InUse", "Settling")
	})
}

// A pause holds at every step, and the deletion continues from there afterwards.
func TestAPausedDeletionWaits(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		for name, after := range map[string]time.Duration{"before it begins": 0, "while the disable settles": 10 * time.Second} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				a := audited(t, k, world.Options{}, timeout(30*time.Minute))
				w := a.w
				a.create(t)
				if after == 0 {
					pause(t, w, a.o, "true")
				}
				remove(t, w, a.o)
				w.Advance(after)
				pause(t, w, a.o, "true")
				w.Advance(time.Second)
				r, calls := k.only(t, w), w.Calls()
				is(t, w, a.o, "Synced=False/Paused")
				if after == 0 {
					is(t, w, a.o, "Ready=False/Deleting")
					says(t, w, a.o, "Ready", "paused")
				}
				w.Advance(10 * time.Minute)
				kube := w.KubeWrites()
				w.Advance(8 * time.Minute)
				if n := w.KubeWrites() - kube; n > 0 {
					t.Errorf("%d writes to Kubernetes", n)
				}
				if r.Status == "InProgress" {
					r.Status = "Deployed"
				}
				k.untouched(t, w, r)
				w.Advance(12 * time.Minute)
				is(t, w, a.o, stalled)
				if spent := k.mutations(world.Since(calls, w.Calls())); len(spent) > 0 {
					t.Errorf("changes were tried: %v", spent)
				}
				pause(t, w, a.o, "false")
				w.Advance(5 * time.Minute)
				k.gone(t, w, a.o)
			})
		}
	})
}
