package awsresource_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// failures are what can happen to a call that does not get its answer.
func failures() map[string]sim.Fault {
	throttle := &sim.FaultError{Status: http.StatusBadRequest, Code: "Throttling", Message: "Rate exceeded"}
	internal := &sim.FaultError{Status: http.StatusInternalServerError, Code: "InternalError", Message: "try again"}
	return map[string]sim.Fault{
		"is throttled":                              {Kind: sim.Instead, Error: throttle},
		"meets a network failure on its way":        {Kind: sim.BeforeCommit, Effect: sim.EffectReset},
		"is carried out, and its answer is lost":    {Kind: sim.AfterCommit, Effect: sim.EffectReset},
		"is carried out, and its answer is cut off": {Kind: sim.AfterCommit, Effect: sim.EffectTruncate},
		"is carried out, and answered with a 500":   {Kind: sim.AfterCommit, Effect: sim.EffectError, Error: internal},
	}
}

func TestADeletionGoesOnAfterACallThatFailed(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		for _, operation := range []string{k.read, "ListTagsForResource", "ListDistributionTenants", k.update, k.delete} {
			for how, f := range failures() {
				if f.Kind == sim.AfterCommit && operation != k.update && operation != k.delete {
					continue // a read carries nothing out
				}
				t.Run(operation+" "+how, func(t *testing.T) {
					t.Parallel()
					a := audited(t, k, world.Options{})
					w := a.w
					r := a.create(t)
					// The list is also read for other reasons: some more failures hit ours for sure.
					f.Operation, f.Times = operation, map[string]int{"ListDistributionTenants": 3}[operation]
					fault(t, w, f)
					before := w.Sim.Calls()
					remove(t, w, a.o)
					w.Advance(6 * time.Minute)
					k.gone(t, w, a.o)
					for _, operation := range []string{k.update, k.delete} {
						if n := w.Sim.Calls()[operation].Committed - before[operation].Committed; n != 1 {
							t.Errorf("%s was carried out %d times on %s", operation, n, r.ID)
						}
					}
					if left := w.Sim.Faults(); len(left) > 0 {
						t.Errorf("the fault has not struck: %+v", left)
					}
				})
			}
		}
	})
}

func TestAnOutageOnlyDelaysADeletion(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		for how, f := range failures() {
			if f.Kind == sim.AfterCommit {
				continue // what is carried out is no outage
			}
			t.Run("every call "+how, func(t *testing.T) {
				t.Parallel()
				a := audited(t, k, world.Options{})
				w := a.w
				r := a.create(t)
				remove(t, w, a.o)
				for range 2 {
					f.Times = -1
					id := fault(t, w, f)
					calls := w.Calls()
					w.Advance(5 * time.Minute)
					if n := world.Sum(world.Since(calls, w.Calls())); n > 150 {
						t.Errorf("%d calls in five minutes of outage", n)
					}
					if _, found := k.find(w, r.ID); !found || w.ParentStatus(a.o) == nil {
						t.Fatal("something is gone while nothing works")
					}
					w.Sim.RemoveFault(id)
					// In the second outage the disable is on its way.
					w.Advance(20 * time.Second)
				}
				w.Advance(10 * time.Minute)
				k.gone(t, w, a.o)
			})
		}
	})
}

// Something changes between any of our reads and the write that follows from it.
func TestADeletionCopesWithWhatSomebodyElseDoesMeanwhile(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		change := func(how func(*thing)) func(*testing.T, *audit, string) {
			return func(t *testing.T, a *audit, id string) {
				t.Helper()
				if _, found := k.find(a.w, id); found {
					k.change(t, a.w, id, how)
				}
			}
		}
		for what, meddle := range map[string]func(t *testing.T, a *audit, id string){
			"edits it":              change(marking),
			"disables it":           change(disable),
			"enables it again":      change(enable),
			"deletes it altogether": func(t *testing.T, a *audit, id string) { t.Helper(); k.destroy(t, a.w, id) },
		} {
			t.Run(what, func(t *testing.T) {
				t.Parallel()
				for n := 1; meddled(t, k, n, meddle); n++ {
					t.Logf("before call %d", n)
				}
			})
		}
	})
}

// meddled plays a deletion in which someone else acts just before the n-th call of the operator. It is false when there
// is no such call.
func meddled(t *testing.T, k kind, n int, meddle func(t *testing.T, a *audit, id string)) (acted bool) {
	t.Helper()
	a := audited(t, k, world.Options{})
	w := a.w
	r := a.create(t)
	from := a.calls
	a.before = func(call int, _ *http.Request) {
		if call-from == n {
			acted = true
			meddle(t, a, r.ID)
		}
	}
	remove(t, w, a.o)
	w.Advance(10 * time.Minute)
	k.gone(t, w, a.o)
	if len(a.wrong) > 0 || t.Failed() {
		t.Errorf("that was at call %d", n)
	}
	if writes := k.mutations(w.Calls()); writes[k.update] > 3 || writes[k.delete] > 2 {
		t.Errorf("at call %d: it took %v", n, writes)
	}
	return acted
}

// A write that was refused because of another writer must not take that one's change back.
func TestADisableChangesNothingElse(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		a := audited(t, k, world.Options{})
		w := a.w
		r := a.create(t)
		edited := false
		a.before = func(_ int, request *http.Request) {
			if request.Method == http.MethodPut && !edited {
				edited = true
				k.change(t, w, r.ID, marking)
			}
		}
		remove(t, w, a.o)
		w.Advance(10 * time.Second)
		atStep(t, w, a.o, v1alpha1.DeletionStepSettling)
		if after := k.only(t, w); after.Enabled || !after.Marked || !cmp.Equal(after.Tags, r.Tags) {
			t.Errorf("AWS has %+v", after)
		}
		if d := cmp.Diff(map[string]int{k.update + ": PreconditionFailed": 1}, k.refusals(w)); d != "" {
			t.Errorf("refusals (-want +got):\n%s", d)
		}
		w.Advance(settle)
		k.gone(t, w, a.o)
	})
}

func TestADeniedDisableIsSaidAndGoesOn(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		// A user may have rights that the operator lacks.
		byHand := func(t *testing.T, a *audit, allow func(), do func()) {
			t.Helper()
			allow()
			do()
			refusing(t, a.w, k.update, denied(k.update))
		}
		for how, goOn := range map[string]func(t *testing.T, a *audit, id string, allow func()) (within time.Duration){
			"when a person disables it by hand": func(t *testing.T, a *audit, id string, allow func()) time.Duration {
				t.Helper()
				byHand(t, a, allow, func() { k.change(t, a.w, id, disable) })
				return 4 * time.Minute
			},
			"when a person disabled it by hand, and that has settled before anybody looks": func(t *testing.T, a *audit, id string, allow func()) time.Duration {
				t.Helper()
				byHand(t, a, allow, func() { k.change(t, a.w, id, disable) })
				a.w.Clock.Step(2 * world.DeployDelay)
				return 2 * time.Minute
			},
			"when a person deletes it by hand": func(t *testing.T, a *audit, id string, allow func()) time.Duration {
				t.Helper()
				byHand(t, a, allow, func() { k.destroy(t, a.w, id) })
				return 2 * time.Minute
			},
			"by the schedule when it is allowed": func(_ *testing.T, _ *audit, _ string, allow func()) time.Duration {
				allow()
				return 40 * time.Minute
			},
			"at once when it is allowed and a person asks": func(t *testing.T, a *audit, _ string, allow func()) time.Duration {
				t.Helper()
				allow()
				nudge(t, a.w, a.o, "now")
				return 2 * time.Minute
			},
		} {
			t.Run(how, func(t *testing.T) {
				t.Parallel()
				a := audited(t, k, world.Options{})
				w := a.w
				r := a.create(t)
				allow := refusing(t, w, k.update, denied(k.update))
				remove(t, w, a.o)
				w.Advance(5 * time.Minute)
				is(t, w, a.o, "Ready=False/AccessDenied", "Synced=False/UpdatePending")
				says(t, w, a.o, "Ready", k.update, "is not authorized to perform")
				atStep(t, w, a.o, v1alpha1.DeletionStepDisabling)
				calls := w.Calls()
				w.Advance(45 * time.Minute)
				if n := world.Since(calls, w.Calls())[k.update]; n > 4 || n == 0 {
					t.Errorf("%d tries in 45 minutes", n)
				}
				once(t, w, a.o, "AccessDenied", "Disabling")
				k.untouched(t, w, r)
				within := goOn(t, a, r.ID, allow)
				w.Advance(within)
				k.gone(t, w, a.o)
			})
		}
	})
}

func TestADeniedDeletionOfADisabledOneIsSaidAndGoesOn(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		a := audited(t, k, world.Options{})
		w := a.w
		r := a.create(t)
		allow := refusing(t, w, k.delete, denied(k.delete))
		remove(t, w, a.o)
		w.Advance(10 * time.Minute)
		is(t, w, a.o, "Ready=False/AccessDenied")
		says(t, w, a.o, "Ready", k.delete)
		atStep(t, w, a.o, v1alpha1.DeletionStepDeleting)
		calls := w.Calls()
		w.Advance(45 * time.Minute)
		if n := world.Since(calls, w.Calls())[k.delete]; n > 4 || n == 0 {
			t.Errorf("%d tries in 45 minutes", n)
		}
		t.Run("a person enables it again meanwhile", func(t *testing.T) {
			k.change(t, w, r.ID, enable)
			w.Advance(10 * time.Minute)
			atStep(t, w, a.o, v1alpha1.DeletionStepDeleting)
			if k.only(t, w).Enabled {
				t.Error("it is still enabled")
			}
		})
		allow()
		w.Advance(40 * time.Minute)
		k.gone(t, w, a.o)
	})
}

// AWS's deployment state may lag behind what it shows.
func TestADeletionThatIsToldNotDisabledTriesAgain(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		code := map[string]string{"distribution": "DistributionNotDisabled", "connection group": "ResourceNotDisabled"}[k.name]
		a := audited(t, k, world.Options{})
		w := a.w
		a.create(t)
		fault(t, w, sim.Fault{Operation: k.delete, Nth: 1, Times: 4, Kind: sim.Instead, Error: &sim.FaultError{
			Status: http.StatusConflict, Code: code, Message: "The resource you are trying to delete has not been disabled.",
		}})
		remove(t, w, a.o)
		w.Advance(90 * time.Second)
		is(t, w, a.o, "Ready=False/Disabling")
		says(t, w, a.o, "Ready", code)
		w.Advance(10 * time.Minute)
		k.gone(t, w, a.o)
		if n := w.Calls()[k.delete]; n != 5 {
			t.Errorf("%d deletions were tried", n)
		}
	})
}

// A disable that is deployed slowly is followed without a call that AWS would refuse.
func TestASlowDeploymentIsWaitedFor(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		a := audited(t, k, world.Options{})
		w := a.w
		a.create(t)
		w.Sim.ChangeSwitches(func(s *sim.Switches) { s.DeployDelay = 25 * time.Minute })
		calls, kube := w.Calls(), w.KubeWrites()
		remove(t, w, a.o)
		w.Advance(24 * time.Minute)
		atStep(t, w, a.o, v1alpha1.DeletionStepSettling)
		is(t, w, a.o, "Ready=False/Disabling")
		if n := w.KubeWrites() - kube; n != 1 {
			t.Errorf("%d writes to Kubernetes", n)
		}
		w.Advance(5 * time.Minute)
		k.gone(t, w, a.o)
		spent := world.Since(calls, w.Calls())
		if spent[k.update] != 1 || spent[k.delete] != 1 || spent[k.read] > 45 || len(k.refusals(w)) > 0 {
			t.Errorf("calls %v, refusals %v", spent, k.refusals(w))
		}
		t.Logf("calls: %v, writes to Kubernetes: %d", spent, w.KubeWrites()-kube)
	})
}

func TestADeletionSurvivesARestartAtAnyTime(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		a := audited(t, k, world.Options{})
		w := a.w
		a.create(t)
		w.Advance(resource.GracePeriod)
		w.Restart()
		remove(t, w, a.o)
		for range 30 {
			w.Restart()
			w.Advance(5 * time.Second)
		}
		k.gone(t, w, a.o)
		if d := cmp.Diff(map[string]int{k.create: 1, k.update: 1, k.delete: 1}, k.mutations(w.Calls())); d != "" {
			t.Errorf("changes in AWS (-want +got):\n%s", d)
		}
		want := []v1alpha1.DeletionStep{v1alpha1.DeletionStepSettling}
		if d := cmp.Diff(want, a.steps); d != "" {
			t.Errorf("steps (-want +got):\n%s", d)
		}
	})
}

// A resource that the spec disables needs no disable.
func TestADisabledResourceIsDeletedAtOnce(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		a := audited(t, k, world.Options{})
		w := a.w
		k.setEnabled(a.o, false)
		r := a.createAs(t, disabledAsAsked)
		if r.Enabled {
			t.Fatalf("AWS has %+v", r)
		}
		says(t, w, a.o, "Ready", "disabled")
		w.Advance(resource.GracePeriod) // a group is held while its create could still be on its way
		remove(t, w, a.o)
		w.Advance(time.Second)
		k.gone(t, w, a.o)
		if n := w.Calls()[k.update]; n > 0 {
			t.Errorf("%d updates", n)
		}
	})
}

// The chain must not act on what was true before the object was deleted.
func TestADeletionRightAfterAWriteIsOrderly(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		for _, after := range []time.Duration{0, time.Second, 30 * time.Second, 61 * time.Second} {
			t.Run(fmt.Sprintf("%s after the create", after), func(t *testing.T) {
				t.Parallel()
				a := audited(t, k, world.Options{})
				w := a.w
				apply(t, w, a.o)
				w.Advance(after)
				remove(t, w, a.o)
				w.Advance(6 * time.Minute)
				k.gone(t, w, a.o)
				if n := w.Sim.Calls()[k.create].Committed; n > 1 {
					t.Errorf("%d creates", n)
				}
			})
		}
		t.Run("after an edit", func(t *testing.T) {
			t.Parallel()
			a := audited(t, k, world.Options{})
			w := a.w
			a.create(t)
			edit(t, w, a.o, func(o client.Object) { k.setMark(o, true) })
			w.Advance(10 * time.Second)
			remove(t, w, a.o)
			w.Advance(5 * time.Minute)
			k.gone(t, w, a.o)
		})
	})
}

func TestEventsOfADeletionTellItsSteps(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		a := audited(t, k, world.Options{})
		w := a.w
		r := a.create(t)
		k.tenant(t, w, r.ID, "first")
		told := len(w.Events)
		remove(t, w, a.o)
		w.Advance(5 * time.Minute)
		noTenant(t, w, "first")
		w.Advance(5 * time.Minute)
		k.gone(t, w, a.o)
		var reasons []string
		for _, e := range w.Events[told:] {
			reasons = append(reasons, e.Reason)
			if !strings.Contains(e.Message, k.name) {
				t.Errorf("%s does not say what it is about: %s", e.Reason, e.Message)
			}
		}
		if d := cmp.Diff([]string{"InUse", "Disabled", "Settling", "Deleted"}, reasons); d != "" {
			t.Errorf("events (-want +got):\n%s", d)
		}
	})
}

// It is unknown how AWS answers a list of the tenants of a standard distribution, so the operator does not list them.
func TestAStandardDistributionIsDeletedWithoutAskingForTenants(t *testing.T) {
	t.Parallel()
	k := distributions()
	w := world.NewOffline(t, world.Options{})
	o := w.Distribution("shop", func(o *v1alpha1.Distribution) { o.Spec.ConnectionMode = v1alpha1.ConnectionModeDirect })
	apply(t, w, o)
	w.Advance(settle)
	is(t, w, o, readyTrue, syncedTrue)
	refusing(t, w, "ListDistributionTenants", sim.FaultError{Status: 400, Code: "InvalidArgument", Message: "Not of a standard distribution."})
	remove(t, w, o)
	w.Advance(settle)
	k.gone(t, w, o)
}
