package reconcile_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

func TestWhatWakesAnObject(t *testing.T) {
	t.Parallel()
	watch := reconcile.Watch{Annotations: []string{"example.com/paused", "example.com/mark"}}
	for name, tc := range map[string]struct {
		before, after func(*corev1.Pod)
		wakes         bool
	}{
		"nothing has changed":                     {wakes: false},
		"its spec has":                            {after: func(o *corev1.Pod) { o.Generation++ }, wakes: true},
		"another one of its name has come":        {after: func(o *corev1.Pod) { o.UID = "u2" }, wakes: true},
		"it was deleted":                          {after: func(o *corev1.Pod) { o.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }, wakes: true},
		"our finalizer was taken off":             {after: func(o *corev1.Pod) { o.Finalizers = nil }, wakes: true},
		"we have added it":                        {before: func(o *corev1.Pod) { o.Finalizers = nil }, wakes: false},
		"another one was taken off":               {before: func(o *corev1.Pod) { o.Finalizers = append(o.Finalizers, "other.org/finalizer") }, wakes: false},
		"a named annotation was changed":          {after: func(o *corev1.Pod) { o.Annotations["example.com/mark"] = "later" }, wakes: true},
		"a named annotation was added":            {after: func(o *corev1.Pod) { o.Annotations["example.com/paused"] = "true" }, wakes: true},
		"a named annotation was added, and empty": {after: func(o *corev1.Pod) { o.Annotations["example.com/paused"] = "" }, wakes: true},
		"a named annotation was taken off":        {after: func(o *corev1.Pod) { delete(o.Annotations, "example.com/mark") }, wakes: true},
		"another annotation was changed":          {after: func(o *corev1.Pod) { o.Annotations["other.org/note"] = "bye" }, wakes: false},
		"we have reported":                        {after: func(o *corev1.Pod) { o.Status.Message, o.ResourceVersion = "new", "9" }, wakes: false},
		"its labels were changed":                 {after: func(o *corev1.Pod) { o.Labels = map[string]string{"a": "b"} }, wakes: false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, after := pod(), pod()
			if tc.before != nil {
				tc.before(before)
			}
			if tc.after != nil {
				tc.after(after)
			}
			if got := watch.Wakes(finalizer, before, after); got != tc.wakes {
				t.Errorf("%v, want %v", got, tc.wakes)
			}
		})
	}
}

func TestWaker(t *testing.T) {
	t.Parallel()
	other := types.NamespacedName{Namespace: "shop", Name: "db"}
	t.Run("nothing is queued before this replica works", func(t *testing.T) {
		t.Parallel()
		active := make(chan struct{})
		w := reconcile.NewWaker(active)
		w.Wake(t.Context(), key)
		if w.Active() || len(w.Queue()) != 0 {
			t.Errorf("%d objects are queued", len(w.Queue()))
		}
		close(active)
		w.Wake(t.Context(), key)
		if !w.Active() || len(w.Queue()) != 1 {
			t.Errorf("%d objects are queued, want one", len(w.Queue()))
		}
	})
	t.Run("all are queued, in their order", func(t *testing.T) {
		t.Parallel()
		w := reconcile.NewWaker(nil)
		w.Wake(t.Context(), key, other)
		for _, want := range []types.NamespacedName{key, other} {
			o := (<-w.Queue()).Object
			if got := (types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
	})
	t.Run("it waits for room, until the operator stops", func(t *testing.T) {
		t.Parallel()
		w := reconcile.NewWaker(nil)
		for range cap(w.Queue()) {
			w.Wake(t.Context(), key)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			w.Wake(ctx, other)
		}()
		stop()
		<-done
		if len(w.Queue()) != cap(w.Queue()) {
			t.Errorf("%d objects are queued", len(w.Queue()))
		}
	})
}
