package awsresource_test

import (
	"testing"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// While all writes are halted, everything is looked at and nothing is written, created or deleted.
func TestNothingIsWrittenWhileHalted(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		a := audited(t, k, world.Options{}, tags("team", "web"))
		w := a.w
		r := a.create(t)
		w.Halt.Set(t.Context(), "ClusterMoved", "This is another cluster.")
		writes := w.KubeWrites()
		w.Advance(aLook)
		if n := w.KubeWrites() - writes; n != 1 {
			t.Errorf("%d writes to the status of one object", n)
		}
		is(t, w, a.o, readyTrue, "Synced=False/ClusterMoved")
		calls := w.Calls()
		editPolicies(t, w, a.o, tags("team", "api"))
		w.Advance(30 * time.Minute)
		remove(t, w, a.o)
		w.Advance(30 * time.Minute)
		says(t, w, a.o, "Ready", "This is another cluster.")
		k.untouched(t, w, r)
		if spent := k.mutations(world.Since(calls, w.Calls())); len(spent) > 0 {
			t.Errorf("changes were tried: %v", spent)
		}
		w.Halt.Clear(t.Context(), "ClusterMoved")
		w.Advance(30 * time.Minute)
		k.gone(t, w, a.o)
	})
}
