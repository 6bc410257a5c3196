package parent_test

import (
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// apply creates the object.
func apply(t *testing.T, w *world.World, o client.Object) {
	t.Helper()
	if err := w.Kube.Create(t.Context(), o); err != nil {
		t.Fatalf("creating %s: %v", o.GetName(), err)
	}
}

// remove deletes it.
func remove(t *testing.T, w *world.World, o client.Object) {
	t.Helper()
	if err := w.Kube.Delete(t.Context(), o); err != nil {
		t.Fatalf("deleting %s: %v", o.GetName(), err)
	}
}

func want(t *testing.T, w *world.World, o client.Object, condition, expected string) {
	t.Helper()
	if got := w.ParentCondition(o, condition); got != expected {
		t.Errorf("%s: %s, want %s\n%s", o.GetName(), got, expected, w.ParentConditions(o))
	}
}

func TestFromCreationToDeletion(t *testing.T) {
	for name, object := range map[string]func(*world.World) client.Object{
		"a distribution":     func(w *world.World) client.Object { return w.Distribution("shop") },
		"a connection group": func(w *world.World) client.Object { return w.ConnectionGroup("shop") },
	} {
		t.Run(name, func(t *testing.T) {
			w := world.New(t, kubeConfig, world.Options{})
			o := object(w)
			apply(t, w, o)
			w.Advance(5 * time.Second)
			want(t, w, o, "Ready", "Ready=False/Creating")
			w.Advance(2 * time.Minute)
			want(t, w, o, "Ready", "Ready=True/Deployed")
			want(t, w, o, "Synced", "Synced=True/InSync")
			t.Log(w.ParentConditions(o), w.Calls(), w.KubeWrites())

			calls, writes := w.Calls(), w.Writes()
			w.Advance(time.Hour)
			t.Log(world.Since(calls, w.Calls()))
			if n := w.Writes() - writes; n != 0 {
				t.Errorf("a quiet hour made %d writes", n)
			}
			remove(t, w, o)
			for range 12 {
				w.Advance(10 * time.Second)
				t.Log(w.ParentConditions(o))
			}
			if s := w.ParentStatus(o); s != nil {
				t.Errorf("the object is still there: %+v", s)
			}
			t.Log(w.Reasons(o.GetName()), w.Calls())
		})
	}
}
