package reconcile_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

func TestWhatAWriteReplacedIsNotLookedAt(t *testing.T) {
	t.Parallel()
	const skipped, looked = "begin, conclude, patch status", "begin, conclude, patch status, begin, conclude"
	soon := ctrl.Result{RequeueAfter: 50 * time.Millisecond}
	for name, tc := range map[string]struct {
		// message is what the first pass reports; unfinished says that it stores the finalizer.
		message    string
		unfinished bool
		// then is what happens before the second pass, over what the cache shows.
		then func(r *rig, clock *clocktesting.FakePassiveClock, before *corev1.Pod)
		log  string
		want ctrl.Result
	}{
		"the version before the status was stored": {
			message: "new", then: func(r *rig, _ *clocktesting.FakePassiveClock, before *corev1.Pod) { r.cached = before },
			log: skipped, want: soon,
		},
		"the version before the finalizer was stored": {
			unfinished: true, then: func(r *rig, _ *clocktesting.FakePassiveClock, before *corev1.Pod) { r.cached = before },
			log: "begin, perform write, patch, conclude", want: soon,
		},
		"the version that was stored is looked at": {
			message: "new", then: func(*rig, *clocktesting.FakePassiveClock, *corev1.Pod) {}, log: looked,
		},
		"so is one that nothing was written to": {
			then: func(r *rig, _ *clocktesting.FakePassiveClock, before *corev1.Pod) { r.cached = before },
			log:  "begin, conclude, begin, conclude",
		},
		"so is another object of the name, whatever its version": {
			message: "new", then: func(r *rig, _ *clocktesting.FakePassiveClock, before *corev1.Pod) {
				before.UID = "uid-2"
				before.Status.Message = "new"
				r.cached = before
			},
			log: looked,
		},
		"nine seconds later it is still the one before": {
			message: "new", then: func(r *rig, clock *clocktesting.FakePassiveClock, before *corev1.Pod) {
				clock.SetTime(clock.Now().Add(9 * time.Second))
				r.cached = before
			},
			log: skipped, want: soon,
		},
		"a watch that hangs for longer hides the object from no pass": {
			message: "new", then: func(r *rig, clock *clocktesting.FakePassiveClock, before *corev1.Pod) {
				clock.SetTime(clock.Now().Add(20 * time.Second))
				before.Status.Message = "new"
				r.cached = before
			},
			log: looked,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, pod(func(o *corev1.Pod) {
				if tc.unfinished {
					o.Finalizers = nil
				}
			}))
			clock := clocktesting.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
			r.driver.Replaced = reconcile.NewReplaced(clock)
			if r.message = tc.message; tc.unfinished {
				r.steps = []step{{effect: chain.Write, do: ensures(nil)}}
			}
			before := r.stored()
			if _, err := r.reconcile(t.Context()); err != nil {
				t.Fatal(err)
			}
			tc.then(r, clock, before)
			got, err := r.reconcile(t.Context())
			if err != nil || got != tc.want {
				t.Errorf("%v, %v, want %v", got, err, tc.want)
			}
			r.wantLog(tc.log)
		})
	}
}

// The API server answers the patch that removes the last finalizer with the version that the object had. The cache shows
// that version until the watch brings the end of the object.
func TestWhatWasReleasedIsNotReleasedAgain(t *testing.T) {
	t.Parallel()
	for name, refused := range map[string]error{"the object goes": nil, "it was gone already": errAbsent} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, pod())
			r.driver.Replaced = reconcile.NewReplaced(clocktesting.NewFakePassiveClock(time.Now()))
			r.steps, r.idle, r.refuse["patch"] = []step{{effect: chain.Release}}, true, refused
			r.cached = r.stored()
			if _, err := r.reconcile(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got, err := r.reconcile(t.Context()); err != nil || got.RequeueAfter == 0 {
				t.Errorf("%v, %v, want another look", got, err)
			}
			r.wantLog("begin, perform release, patch, conclude")
		})
	}
}

// A patch that changes nothing leaves the version as it was, and must not hide it.
func TestAWriteThatChangesNothingReplacesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, pod())
	r.driver.Replaced = reconcile.NewReplaced(clocktesting.NewFakePassiveClock(time.Now()))
	r.message, r.idle = "new", true
	for range 2 {
		if _, err := r.reconcile(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	r.wantLog("begin, conclude, patch status, begin, conclude, patch status")
}
