package reconcile_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

func TestEnsureFinalizer(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change      func(*corev1.Pod)
		annotations map[string]string
		log         string
		want        map[string]string
	}{
		"a finalizer that lacks is added": {
			change: func(o *corev1.Pod) { o.Finalizers = nil },
			log:    "begin, perform apply, patch, conclude",
			want:   map[string]string{"example.com/mark": "now", "other.org/note": "hello"},
		},
		"with the annotations, in one write": {
			change:      func(o *corev1.Pod) { o.Finalizers, o.Annotations = nil, nil },
			annotations: map[string]string{"example.com/mark": "now"},
			log:         "begin, perform apply, patch, conclude",
			want:        map[string]string{"example.com/mark": "now"},
		},
		"an annotation that differs is changed, and the others stay": {
			annotations: map[string]string{"example.com/mark": "later"},
			log:         "begin, perform apply, patch, conclude",
			want:        map[string]string{"example.com/mark": "later", "other.org/note": "hello"},
		},
		"where all of them are there the object is read, and not written": {
			annotations: map[string]string{"example.com/mark": "now"},
			log:         "begin, perform apply, confirm, conclude",
			want:        map[string]string{"example.com/mark": "now", "other.org/note": "hello"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			change := tc.change
			if change == nil {
				change = func(*corev1.Pod) {}
			}
			r := newRig(t, pod(change))
			r.steps = []step{{effect: chain.Apply, do: ensures(tc.annotations)}}
			if _, err := r.reconcile(t.Context()); err != nil {
				t.Fatal(err)
			}
			r.wantLog(tc.log)
			if diff := cmp.Diff(tc.want, r.stored().Annotations); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff([]string{finalizer}, r.stored().Finalizers); diff != "" {
				t.Error(diff)
			}
			if r.patch != "" {
				r.wantLock()
			}
		})
	}
}

func TestEnsureFinalizerFails(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		refused error
		want    ctrl.Result
		text    string
	}{
		"the object has changed":        {refused: errConflict, want: ctrl.Result{RequeueAfter: time.Second}, text: "adding the finalizer: " + errConflict.Error()},
		"the object is gone":            {refused: errAbsent, text: "adding the finalizer: " + errAbsent.Error()},
		"the API server does not reply": {refused: errDown, text: "adding the finalizer: " + errDown.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, pod(func(o *corev1.Pod) { o.Finalizers = nil }))
			r.steps, r.refuse["patch"] = []step{{effect: chain.Write, do: ensures(nil)}}, tc.refused
			got, _ := r.reconcile(t.Context())
			if got != tc.want || r.concluded == nil || r.concluded.Error() != tc.text {
				t.Errorf("%v, %v, want %v, %s", got, r.concluded, tc.want, tc.text)
			}
		})
	}
}

// TestConfirm: an older spec must not undo a newer one, so that nothing is written for an object that the cache is
// behind.
func TestConfirm(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		live   func(*corev1.Pod)
		behind bool
	}{
		"the same":                          {live: func(*corev1.Pod) {}},
		"a new one of the same name":        {live: func(o *corev1.Pod) { o.UID = "uid-2" }, behind: true},
		"a newer spec":                      {live: func(o *corev1.Pod) { o.Generation++ }, behind: true},
		"one that was deleted":              {live: func(o *corev1.Pod) { o.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }, behind: true},
		"an annotation of ours has changed": {live: func(o *corev1.Pod) { o.Annotations["example.com/mark"] = "later" }, behind: true},
		"one of ours has come":              {live: func(o *corev1.Pod) { o.Annotations["example.com/paused"] = "true" }, behind: true},
		"one of ours is gone":               {live: func(o *corev1.Pod) { delete(o.Annotations, "example.com/mark") }, behind: true},
		"one of others does not count":      {live: func(o *corev1.Pod) { o.Annotations["other.org/note"] = "bye" }},
		"nor one whose domain begins so":    {live: func(o *corev1.Pod) { o.Annotations["example.company/mark"] = "x" }},
		"nor the status":                    {live: func(o *corev1.Pod) { o.Status.Message = "newer" }},
		"nor the labels":                    {live: func(o *corev1.Pod) { o.Labels = map[string]string{"a": "b"} }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, pod())
			r.steps, r.live, r.message = []step{{effect: chain.Write, do: ensures(nil)}}, tc.live, "a report"
			got, err := r.reconcile(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if tc.behind {
				if want := (ctrl.Result{RequeueAfter: 5 * time.Second}); got != want {
					t.Errorf("%v, want %v", got, want)
				}
				r.wantLog("begin, perform write, confirm")
				return
			}
			r.wantLog("begin, perform write, confirm, conclude, patch status")
		})
	}
	t.Run("one that is gone", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, pod())
		r.steps = []step{{effect: chain.Read, do: func(ctx context.Context, _ reconcile.Keeper) error {
			if err := r.store.Update(ctx, pod(func(o *corev1.Pod) { o.Finalizers, o.ResourceVersion = nil, r.object.ResourceVersion })); err != nil {
				return err
			}
			return r.store.Delete(ctx, pod())
		}}, {effect: chain.Write, do: ensures(nil)}}
		if got, err := r.reconcile(t.Context()); err != nil || !got.IsZero() {
			t.Errorf("%v, %v", got, err)
		}
		r.wantLog("begin, perform read, perform write, confirm, conclude")
		if r.concluded == nil {
			t.Error("the report knows nothing of it")
		}
	})
}
