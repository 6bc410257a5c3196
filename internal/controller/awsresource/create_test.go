package awsresource_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// A create whose answer is lost must neither be made twice nor be forgotten.
func TestACreateHappensOnceWhateverBecomesOfItsCall(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		for how, f := range failures() {
			for lag, delay := range map[string]time.Duration{"": 0, ", while reads lag": 40 * time.Second} {
				t.Run("it "+how+lag, func(t *testing.T) {
					t.Parallel()
					a := audited(t, k, world.Options{})
					w := a.w
					w.Sim.ChangeSwitches(func(s *sim.Switches) { s.GetLag, s.ListLag = delay, delay })
					f.Operation = k.create
					fault(t, w, f)
					apply(t, w, a.o)
					w.Advance(15 * time.Minute)
					is(t, w, a.o, readyTrue, syncedTrue)
					if r := k.only(t, w); status(t, w, a.o).ID != r.ID {
						t.Errorf("status has %s, AWS %s", status(t, w, a.o).ID, r.ID)
					}
					if n := w.Sim.Calls()[k.create].Committed; n != 1 {
						t.Errorf("%d creates were carried out", n)
					}
					if n := w.Calls()[k.create]; n > 6 {
						t.Errorf("%d creates were sent", n)
					}
				})
			}
		}
	})
}

// AWS takes a caller reference once, also after what it made is gone.
func TestACallerReferenceThatWasUsedLeadsToTheNextOne(t *testing.T) {
	t.Parallel()
	k := distributions()
	a := audited(t, k, world.Options{})
	w := a.w
	// The create is carried out and its answer lost; then the distribution is deleted by hand, before the operator
	// looks.
	fault(t, w, sim.Fault{Operation: k.create, Kind: sim.AfterCommit, Effect: sim.EffectReset})
	quickly(w, func() {
		apply(t, w, a.o)
		w.Advance(100 * time.Millisecond)
	})
	first := k.only(t, w)
	k.destroy(t, w, first.ID)
	calls := w.Calls()
	w.Advance(time.Minute)
	is(t, w, a.o, "Ready=False/Creating")
	says(t, w, a.o, "Ready", "already exists", "does not return it yet")
	k.none(t, w)
	w.Advance(10 * time.Minute)
	is(t, w, a.o, readyTrue, syncedTrue)
	if r := k.only(t, w); r.Name != string(a.o.GetUID())+"-1" || a.o.(*v1alpha1.Distribution).Status.Creations != 1 {
		t.Errorf("the reference is %s, status %+v", r.Name, a.o)
	}
	if n := world.Since(calls, w.Calls())[k.create]; n > 10 {
		t.Errorf("%d creates", n)
	}
	remove(t, w, a.o)
	w.Advance(settle)
	k.gone(t, w, a.o)
}

// The object lost its status and its annotations: what it has is found by its reference or its name.
func TestAnObjectThatForgotFindsItsResource(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		for name, keepMark := range map[string]bool{"the status": true, "the status and the annotations": false} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				a := audited(t, k, world.Options{}, tags("team", "web"))
				w := a.w
				r := a.create(t)
				w.Advance(time.Hour)
				editStatus(t, w, a.o, func(s *v1alpha1.ResourceStatus) { *s = v1alpha1.ResourceStatus{} })
				if !keepMark {
					edit(t, w, a.o, func(o client.Object) { o.SetAnnotations(nil) })
				}
				w.Restart()
				w.Advance(10 * time.Minute)
				is(t, w, a.o, readyTrue, syncedTrue)
				k.untouched(t, w, r)
				s := status(t, w, a.o)
				if s.ID != r.ID || !slices.Equal(s.AppliedTagKeys, []string{"team"}) {
					t.Errorf("status: %+v", s)
				}
				k.only(t, w)
			})
		}
	})
}

func TestAResourceDeletedOutside(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		t.Run("is created again under enforce", func(t *testing.T) {
			t.Parallel()
			a := audited(t, k, world.Options{}, tags("team", "web"))
			w := a.w
			for n := range 3 {
				var before thing
				if n == 0 {
					before = a.create(t)
				} else {
					before = k.only(t, w)
				}
				k.destroy(t, w, before.ID)
				w.Advance(aLook)
				is(t, w, a.o, readyTrue, syncedTrue)
				after := k.only(t, w)
				if after.ID == before.ID || status(t, w, a.o).ID != after.ID {
					t.Errorf("AWS has %s after %s, status %s", after.ID, before.ID, status(t, w, a.o).ID)
				}
				if d, ok := a.o.(*v1alpha1.Distribution); ok {
					if want := fmt.Sprintf("%s-%d", d.UID, n+1); after.Name != want || int(d.Status.Creations) != n+1 {
						t.Errorf("the reference is %s, want %s; status counts %d", after.Name, want, d.Status.Creations)
					}
				}
			}
			if n := len(slices.DeleteFunc(w.Reasons("shop"), func(r string) bool { return r != "ExternalDeletion" })); n != 3 {
				t.Errorf("events: %v", w.Reasons("shop"))
			}
			if n := w.Calls()[k.create]; n != 4 {
				t.Errorf("%d creates", n)
			}
			remove(t, w, a.o)
			w.Advance(settle)
			k.gone(t, w, a.o)
		})
		for _, policy := range []v1alpha1.DriftPolicy{v1alpha1.DriftPolicyReport, v1alpha1.DriftPolicySuspend} {
			t.Run("is only reported under "+string(policy), func(t *testing.T) {
				t.Parallel()
				a := audited(t, k, world.Options{}, drift(policy))
				w := a.w
				r := a.create(t)
				k.destroy(t, w, r.ID)
				w.Advance(30 * time.Minute)
				k.none(t, w)
				is(t, w, a.o, "Ready=False/AWSError", "Synced=False/DriftDetected")
				says(t, w, a.o, "Ready", r.ID, "deleted outside", "driftPolicy")
				if n := w.Calls()[k.create]; n != 1 {
					t.Errorf("%d creates", n)
				}
				kube := w.KubeWrites()
				w.Advance(time.Hour)
				if n := w.KubeWrites() - kube; n > 0 {
					t.Errorf("%d writes to Kubernetes in an hour", n)
				}
				edit(t, w, a.o, func(o client.Object) { k.setMark(o, true) })
				w.Advance(settle)
				is(t, w, a.o, readyTrue, syncedTrue)
				if !k.only(t, w).Marked {
					t.Errorf("AWS has %+v", k.only(t, w))
				}
			})
			t.Run("can be deleted under "+string(policy), func(t *testing.T) {
				t.Parallel()
				a := audited(t, k, world.Options{}, drift(policy))
				w := a.w
				r := a.create(t)
				k.destroy(t, w, r.ID)
				w.Advance(10 * time.Minute)
				remove(t, w, a.o)
				w.Advance(3 * time.Minute)
				k.gone(t, w, a.o)
			})
		}
	})
}

// refused is how AWS refuses a create, until it is fixed in the spec.
type refused struct {
	fault  sim.FaultError
	reason string
}

// A failure that only a user can fix is reported, and retried less and less often; a change of the spec is tried at
// once.
func TestARefusedCreateBacksOffAndRecovers(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		for name, c := range map[string]refused{
			"denied":              {denied(k.create), "AccessDenied"},
			"too many":            {sim.FaultError{Status: http.StatusBadRequest, Code: "EntityLimitExceeded", Message: "The account has reached its quota."}, "QuotaExceeded"},
			"too many by name":    {sim.FaultError{Status: http.StatusBadRequest, Code: "TooManyDistributions", Message: "quota"}, "QuotaExceeded"},
			"an illegal argument": {sim.FaultError{Status: http.StatusBadRequest, Code: "InvalidArgument", Message: "The parameter is not to our taste. Request ID: 0b1c"}, "InvalidSpec"},
			"what it refers to":   {sim.FaultError{Status: http.StatusNotFound, Code: "EntityNotFound", Message: "no such list"}, "InvalidSpec"},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				a := audited(t, k, world.Options{})
				w := a.w
				allow := refusing(t, w, k.create, c.fault)
				apply(t, w, a.o)
				w.Advance(time.Minute)
				is(t, w, a.o, "Ready=False/"+c.reason, "Synced=False/UpdatePending")
				says(t, w, a.o, "Ready", k.create, c.fault.Code)
				first, said := w.Calls()[k.create], status(t, w, a.o)
				counted := 0
				for _, n := range w.Failures {
					counted += n
				}
				if counted != first {
					t.Errorf("%d creates were refused, and %v counted", first, w.Failures)
				}
				w.Advance(time.Hour)
				w.Restart()
				w.Advance(time.Hour)
				if n := w.Calls()[k.create]; first > 6 || n-first > 12 || n-first < 3 {
					t.Errorf("%d creates in the first minute, %d in the next two hours", first, n-first)
				}
				if d := cmp.Diff(said, status(t, w, a.o)); d != "" {
					t.Errorf("the status of what stands still moves (-before +after):\n%s", d)
				}
				if events := w.Reasons("shop"); len(events) != 1 {
					t.Errorf("events: %v", events)
				}
				allow()
				edit(t, w, a.o, func(o client.Object) { k.setMark(o, true) })
				w.Advance(5 * time.Second)
				is(t, w, a.o, "Ready=False/Creating")
				w.Advance(2 * time.Minute)
				is(t, w, a.o, readyTrue, syncedTrue)
				if r := k.only(t, w); !r.Marked {
					t.Errorf("AWS has %+v", r)
				}
			})
		}
	})
}

func TestARefusedCreateRecoversByItselfOrAtOnceWhenAsked(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		for name, asked := range map[string]bool{"by the schedule": false, "when asked": true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				a := audited(t, k, world.Options{})
				w := a.w
				allow := refusing(t, w, k.create, denied(k.create))
				apply(t, w, a.o)
				w.Advance(time.Hour)
				allow()
				if asked {
					nudge(t, w, a.o, "now")
					w.Advance(2 * time.Minute)
					if token := status(t, w, a.o).ReconcileToken; token != "now" {
						t.Errorf("the token is %q", token)
					}
				} else {
					w.Advance(40 * time.Minute)
				}
				is(t, w, a.o, readyTrue, syncedTrue)
			})
		}
	})
}

// A refused update leaves the resource as it is, and is reported.
func TestARefusedUpdateLeavesTheResourceAsItIs(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		a := audited(t, k, world.Options{})
		w := a.w
		r := a.create(t)
		allow := refusing(t, w, k.update, sim.FaultError{Status: http.StatusBadRequest, Code: "InvalidArgument", Message: "Not to our taste."})
		edit(t, w, a.o, func(o client.Object) { k.setMark(o, true) })
		w.Advance(30 * time.Minute)
		is(t, w, a.o, "Ready=False/InvalidSpec", "Synced=False/UpdatePending")
		says(t, w, a.o, "Ready", "Not to our taste.")
		says(t, w, a.o, "Synced", k.field)
		k.untouched(t, w, r)
		edit(t, w, a.o, func(o client.Object) { k.setMark(o, false) })
		w.Advance(time.Minute)
		is(t, w, a.o, readyTrue, syncedTrue)
		allow()
		w.Advance(40 * time.Minute)
		k.untouched(t, w, r)
	})
}

// Two objects of one name for a group: the first has it, and the second reports that until the first is gone.
func TestTwoObjectsOfOneGroupName(t *testing.T) {
	t.Parallel()
	for name, together := range map[string]bool{"one after the other": false, "at the same time": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := groups()
			w := world.NewOffline(t, world.Options{})
			named := func(object string) client.Object {
				return w.ConnectionGroup(object, func(o *v1alpha1.ConnectionGroup) { o.Spec.Name = "shared" })
			}
			first, second := named("first"), named("second")
			apply(t, w, first)
			if !together {
				w.Advance(settle)
			}
			apply(t, w, second)
			w.Advance(10 * time.Minute)
			is(t, w, first, readyTrue, syncedTrue)
			is(t, w, second, "Ready=False/AdoptionRequired")
			says(t, w, second, "Ready", w.Namespace+"/first", "That object exists", "spec.name")
			r := k.only(t, w)
			w.Advance(2 * time.Hour)
			k.untouched(t, w, r)
			remove(t, w, first)
			w.Advance(40 * time.Minute)
			is(t, w, second, readyTrue, syncedTrue)
			if after := k.only(t, w); after.ID == r.ID || after.Name != "shared" {
				t.Errorf("AWS has %+v", after)
			}
			remove(t, w, second)
			w.Advance(settle)
			k.none(t, w)
		})
	}
}

// A name that is taken, and that no read shows, stays the name: there is no next one.
func TestAGroupNameThatIsTakenUnseenIsSaidOnce(t *testing.T) {
	t.Parallel()
	k := groups()
	a := audited(t, k, world.Options{})
	w := a.w
	free := refusing(t, w, k.create, sim.FaultError{Status: http.StatusConflict, Code: "EntityAlreadyExists", Message: "A connection group with the name shop already exists."})
	apply(t, w, a.o)
	w.Advance(5 * time.Minute)
	is(t, w, a.o, "Ready=False/Creating", "Synced=False/UpdatePending")
	says(t, w, a.o, "Ready", "shop", "already exists", "already exists")
	said, kube, calls := status(t, w, a.o), w.KubeWrites(), w.Calls()
	w.Advance(time.Hour)
	if d := cmp.Diff(said, status(t, w, a.o)); d != "" {
		t.Errorf("the status of what stands still moves (-before +after):\n%s", d)
	}
	// Each try announces itself with a mark.
	if tries := world.Since(calls, w.Calls())[k.create]; tries > 6 || w.KubeWrites()-kube > tries {
		t.Errorf("%d creates, %d writes to Kubernetes", tries, w.KubeWrites()-kube)
	}
	free()
	nudge(t, w, a.o, "now")
	w.Advance(2 * time.Minute)
	is(t, w, a.o, readyTrue, syncedTrue)
}
