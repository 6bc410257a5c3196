package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

var (
	pods        = schema.GroupResource{Resource: "pods"}
	errConflict = apierrors.NewConflict(pods, key.Name, errors.New("it has changed"))
	errAbsent   = apierrors.NewNotFound(pods, key.Name)
	errDown     = errors.New("the API server is away")
)

func TestEffects(t *testing.T) {
	t.Parallel()
	report := reconcile.Conclusion{After: time.Minute, Events: []reconcile.Event{{Reason: "Told"}}}
	for name, tc := range map[string]struct {
		steps []step
		log   string
		want  ctrl.Result
	}{
		"a pass that has nothing to do only reports": {
			log: "begin, conclude, event Told", want: rest(time.Minute),
		},
		"after a read it is decided again": {
			steps: []step{{effect: chain.Read}, {effect: chain.Read}},
			log:   "begin, perform read, perform read, conclude, event Told", want: rest(time.Minute),
		},
		"after a write as well, so that what it has done is looked at": {
			steps: []step{{effect: chain.Write}, {effect: chain.Read}},
			log:   "begin, perform write, perform read, conclude, event Told", want: rest(time.Minute),
		},
		"a second write is left to the next pass, which comes at once": {
			steps: []step{{effect: chain.Write}, {effect: chain.Read}, {effect: chain.Write}},
			log:   "begin, perform write, perform read, conclude, event Told", want: ctrl.Result{RequeueAfter: 10 * time.Millisecond},
		},
		"changes of the cluster are not counted": {
			steps: []step{{effect: chain.Apply}, {effect: chain.Write}, {effect: chain.Apply}},
			log:   "begin, perform apply, perform write, perform apply, conclude, event Told", want: rest(time.Minute),
		},
		"a release takes the finalizer off, and has no status to report in": {
			steps: []step{{effect: chain.Read}, {effect: chain.Release}},
			log:   "begin, perform read, perform release, patch, conclude, event Told",
		},
		"a release that can't be prepared leaves the finalizer": {
			steps: []step{{effect: chain.Release, do: fails(&fault.Error{Kind: fault.Throttled})}},
			log:   "begin, perform release, conclude, event Told", want: turn(5 * time.Second),
		},
		"a step that fails ends the pass": {
			steps: []step{{effect: chain.Read, do: fails(&fault.Error{Kind: fault.Throttled})}, {effect: chain.Write}},
			log:   "begin, perform read, conclude, event Told", want: turn(5 * time.Second),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, pod())
			r.steps, r.conclusion = tc.steps, report
			got, err := r.reconcile(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			r.wantLog(tc.log)
		})
	}
}

func (r *rig) wantLog(want string) {
	r.t.Helper()
	if diff := cmp.Diff(want, strings.Join(r.log, ", ")); diff != "" {
		r.t.Error(diff)
	}
}

func TestReleased(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		refused error
		want    ctrl.Result
		log     string
	}{
		"an object that is gone already was released":    {refused: errAbsent, log: "begin, perform release, patch, conclude"},
		"one that has changed is decided upon once more": {refused: errConflict, want: ctrl.Result{RequeueAfter: time.Second}, log: "begin, perform release, patch, conclude, patch status"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, pod())
			r.steps, r.message, r.refuse["patch"] = []step{{effect: chain.Release}}, "a report", tc.refused
			got, err := r.reconcile(t.Context())
			if err != nil || !cmp.Equal(got, tc.want) {
				t.Errorf("%v, %v, want %v", got, err, tc.want)
			}
			r.wantLog(tc.log)
		})
	}
	t.Run("nothing but our finalizer is taken off, and only from the version that was seen", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, pod(func(o *corev1.Pod) { o.Finalizers = append(o.Finalizers, "other.org/finalizer") }))
		r.steps = []step{{effect: chain.Release}}
		if _, err := r.reconcile(t.Context()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"other.org/finalizer"}, r.stored().Finalizers); diff != "" {
			t.Error(diff)
		}
		r.wantLock()
	})
}

// wantLock wants the last patch to name the version that it changes.
func (r *rig) wantLock() {
	r.t.Helper()
	if !strings.Contains(r.patch, `"resourceVersion":`) {
		r.t.Errorf("the patch meets any version: %s", r.patch)
	}
}

func TestAPassThatSpins(t *testing.T) {
	t.Parallel()
	r := newRig(t, pod())
	r.endless = true
	if _, err := r.reconcile(t.Context()); fault.KindOf(err) != fault.Transient || !strings.Contains(fmt.Sprint(err), "not finished after 16 steps") {
		t.Errorf("%v, want it to be stopped", err)
	}
	r.wantLog("begin, conclude, failed Transient")
}

func TestObjectsWithoutAPass(t *testing.T) {
	t.Parallel()
	t.Run("one that is gone is forgotten", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		if got, err := r.reconcile(t.Context()); err != nil || !got.IsZero() {
			t.Errorf("%v, %v", got, err)
		}
		r.wantLog("forget shop/web")
	})
	t.Run("one that can't be read is not", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, pod())
		r.refuse["get"] = errDown
		if _, err := r.reconcile(t.Context()); !errors.Is(err, errDown) {
			t.Errorf("%v", err)
		}
		r.wantLog("")
	})
	t.Run("one that is deleted, and waits for others alone, is forgotten and left to them", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, pod(func(o *corev1.Pod) { o.Finalizers = []string{"other.org/finalizer"} }))
		if err := r.store.Delete(t.Context(), pod()); err != nil {
			t.Fatal(err)
		}
		if got, err := r.reconcile(t.Context()); err != nil || !got.IsZero() {
			t.Errorf("%v, %v", got, err)
		}
		r.wantLog("forget shop/web")
	})
	t.Run("one that is deleted, and has our finalizer, has a pass", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, pod())
		if err := r.store.Delete(t.Context(), pod()); err != nil {
			t.Fatal(err)
		}
		if _, err := r.reconcile(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.wantLog("begin, conclude")
	})
}

func TestBeginFails(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		err    error
		want   ctrl.Result
		fails  bool
		failed string
	}{
		"what is unknown is tried again with growing delay": {err: errDown, fails: true, failed: ", failed Transient"},
		"what is throttled when there is room":              {err: &fault.Error{Kind: fault.Throttled, RetryAfter: time.Minute}, want: turn(time.Minute)},
		"what has changed soon":                             {err: errConflict, want: ctrl.Result{RequeueAfter: time.Second}},
		"what the cache does not show yet later":            {err: reconcile.ErrBehind, want: ctrl.Result{RequeueAfter: 5 * time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, pod())
			r.begin, r.message = func(context.Context) error { return fmt.Errorf("observing: %w", tc.err) }, "a report"
			got, err := r.reconcile(t.Context())
			if !cmp.Equal(got, tc.want) || tc.fails != errors.Is(err, tc.err) {
				t.Errorf("%v, %v, want %v", got, err, tc.want)
			}
			r.wantLog("begin" + tc.failed)
		})
	}
}

// rest is the result of a pass after which there is nothing to do for long.
func rest(pause time.Duration) ctrl.Result {
	return ctrl.Result{RequeueAfter: pause, Priority: new(-10)}
}

// turn is the result of a pass that has to wait for the rate limit.
func turn(after time.Duration) ctrl.Result { return ctrl.Result{RequeueAfter: after, Priority: new(0)} }

func TestHowAPassEnds(t *testing.T) {
	t.Parallel()
	classified := func(k fault.Kind) error { return &fault.Error{Kind: k, Operation: "Asking"} }
	for name, tc := range map[string]struct {
		err    error
		after  time.Duration
		want   ctrl.Result
		failed string
		// calm means that what is counted is no error of the pass.
		calm    bool
		refused fault.Kind
	}{
		"well, with a refusal that status tells of": {after: time.Hour, refused: fault.Denied, want: rest(time.Hour), failed: "Denied", calm: true},
		"well":                            {after: time.Hour, want: rest(time.Hour)},
		"well, and left to events":        {},
		"as the object is gone":           {err: errAbsent, after: time.Hour},
		"as the object has changed":       {err: errConflict, after: time.Hour, want: ctrl.Result{RequeueAfter: time.Second}},
		"throttled, for as long as asked": {err: &fault.Error{Kind: fault.Throttled, RetryAfter: 42 * time.Second}, after: time.Hour, want: turn(42 * time.Second)},
		"throttled by the service itself": {err: &fault.Error{Kind: fault.Throttled, Code: "Throttling"}, want: turn(5 * time.Second), failed: "Throttled", calm: true},
		"throttled, for an unknown time":  {err: classified(fault.Throttled), want: turn(5 * time.Second)},
		"as the world has changed":        {err: classified(fault.Conflict), want: ctrl.Result{RequeueAfter: time.Second}},
		"as something there is gone":      {err: classified(fault.NotFound), want: ctrl.Result{RequeueAfter: time.Second}},
		"as it keeps changing":            {err: classified(fault.Conflict), after: time.Minute, want: ctrl.Result{RequeueAfter: time.Minute}},
		"with an answer that is lost":     {err: classified(fault.Transient), after: time.Hour, failed: "Transient"},
		"with an error of no kind":        {err: errDown, after: time.Hour, failed: "Transient"},
		"with a refusal":                  {err: classified(fault.Denied), failed: "Denied"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, pod())
			r.conclusion.After, r.conclusion.Refused = tc.after, tc.refused
			log := "begin, conclude"
			if tc.err != nil {
				r.steps, log = []step{{effect: chain.Read, do: fails(tc.err)}}, "begin, perform read, conclude"
			}
			got, err := r.reconcile(t.Context())
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			if r.concluded != tc.err { //nolint:errorlint // the very error
				t.Errorf("the report was made of %v", r.concluded)
			}
			if tc.failed != "" {
				log += ", failed " + tc.failed
			}
			r.wantLog(log)
			if returned := err != nil; returned != (tc.failed != "" && !tc.calm) {
				t.Errorf("the error %v", err)
			}
		})
	}
	t.Run("with a failure that nothing counts", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, pod())
		r.driver.Failed, r.steps = nil, []step{{effect: chain.Read, do: fails(errDown)}}
		if _, err := r.reconcile(t.Context()); !errors.Is(err, errDown) {
			t.Errorf("%v", err)
		}
	})
}

func TestStatus(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		before, message string
		refused         error
		want            ctrl.Result
		wantErr         error
		log             string
	}{
		"what has changed is stored, then those who care are told": {
			before: "old", message: "new", want: rest(time.Minute),
			log: "begin, conclude, patch status, stored, event Told",
		},
		"what stands there is not stored again": {
			before: "same", message: "same", want: rest(time.Minute),
			log: "begin, conclude, stored, event Told",
		},
		"another one has written meanwhile: it is decided again": {
			before: "old", message: "new", refused: errConflict, want: ctrl.Result{RequeueAfter: time.Second},
			log: "begin, conclude, patch status",
		},
		"the object is gone meanwhile": {
			before: "old", message: "new", refused: errAbsent, log: "begin, conclude, patch status",
		},
		"what can't be stored is tried again": {
			before: "old", message: "new", refused: errDown, wantErr: errDown, log: "begin, conclude, patch status, failed Transient",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, pod(func(o *corev1.Pod) { o.Status.Message = tc.before }))
			r.message, r.refuse["patch status"] = tc.message, tc.refused
			r.conclusion = reconcile.Conclusion{
				After: time.Minute, Events: []reconcile.Event{{Reason: "Told"}}, Stored: func() { r.note("stored") },
			}
			got, err := r.reconcile(t.Context())
			if !cmp.Equal(got, tc.want) || !errors.Is(err, tc.wantErr) {
				t.Errorf("%v, %v, want %v", got, err, tc.want)
			}
			r.wantLog(tc.log)
			want := tc.message
			if tc.refused != nil {
				want = tc.before
			}
			if got := r.stored().Status.Message; got != want {
				t.Errorf("status says %q, want %q", got, want)
			}
			if r.patch != "" {
				r.wantLock()
			}
		})
	}
}

// Details that no status may name are logged when the status changes, and not on every pass.
func TestDetailsAreLogged(t *testing.T) {
	t.Parallel()
	for before, want := range map[string]int{"old": 1, "new": 0} {
		t.Run("after "+before, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, pod(func(o *corev1.Pod) { o.Status.Message = before }))
			r.message, r.conclusion = "new", reconcile.Conclusion{Details: []string{"pay/checkout has it"}}
			lines := 0
			sink := funcr.New(func(_, args string) {
				if strings.Contains(args, "pay/checkout has it") {
					lines++
				}
			}, funcr.Options{})
			if _, err := r.reconcile(log.IntoContext(t.Context(), sink)); err != nil {
				t.Fatal(err)
			}
			if lines != want {
				t.Errorf("%d lines, want %d", lines, want)
			}
			if strings.Contains(r.patch, "checkout") {
				t.Errorf("the status has it: %s", r.patch)
			}
		})
	}
}

// TestAStoppedOperatorFinishesItsPasses: a shutdown must not cut a call in the middle.
func TestAStoppedOperatorFinishesItsPasses(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		timeout, want time.Duration
	}{
		"within the usual time":   {0, 45 * time.Second},
		"within that of its kind": {time.Hour, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, pod())
			r.driver.Timeout = tc.timeout
			bound := func(ctx context.Context, _ reconcile.Keeper) error {
				deadline, bounded := ctx.Deadline()
				if left := time.Until(deadline); !bounded || left > tc.want || left < tc.want-30*time.Second {
					t.Errorf("the step has %s, want about %s", left, tc.want)
				}
				return ctx.Err()
			}
			r.steps, r.message = []step{{effect: chain.Write, do: bound}}, "a report"
			stopped, stop := context.WithCancel(t.Context())
			stop()
			if _, err := r.reconcile(stopped); err != nil {
				t.Fatal(err)
			}
			r.wantLog("begin, perform write, conclude, patch status")
		})
	}
}

// A change outside is reported once in the log and once as an event, even if the status can't be stored.
func TestActs(t *testing.T) {
	t.Parallel()
	const (
		created   = `"level"=0 "msg"="Changed" "what"="Created" "change"="Created it." "id"="dt_1"`
		published = `"level"=0 "msg"="Changed" "what"="Published" "change"="Published it."`
	)
	for name, tc := range map[string]struct {
		refused error
		log     string
		lines   []string
	}{
		"the status is stored":       {log: "begin, conclude, patch status, event Created, event Published, event Told", lines: []string{created, published}},
		"another has changed it":     {refused: errConflict, log: "begin, conclude, patch status, event Created", lines: []string{created}},
		"the object is gone already": {refused: errAbsent, log: "begin, conclude, patch status, event Created", lines: []string{created}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, pod())
			r.message, r.refuse["patch status"] = "new", tc.refused
			r.conclusion = reconcile.Conclusion{
				Acts:   []reconcile.Event{{Reason: "Created", Message: "Created it.", ID: "dt_1"}},
				Noted:  []reconcile.Event{{Reason: "Published", Message: "Published it."}},
				Events: []reconcile.Event{{Reason: "Told"}},
			}
			var lines []string
			logger := funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{})
			if _, err := r.reconcile(logr.NewContext(t.Context(), logger)); err != nil {
				t.Fatalf("reconciling: %v", err)
			}
			r.wantLog(tc.log)
			if diff := cmp.Diff(tc.lines, lines); diff != "" {
				t.Errorf("log (-want +got):\n%s", diff)
			}
		})
	}
}
