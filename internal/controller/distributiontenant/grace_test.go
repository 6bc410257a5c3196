package distributiontenant_test

import (
	"testing"
	"time"

	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// An object that is deleted a moment after its create stays until no create can appear any more. Where the answers to
// all creates are known, none can.
func TestAnObjectStaysOnlyWhileACreateMayAppear(t *testing.T) {
	t.Parallel()
	create := func(w *world.World) {
		w.Apply(w.Tenant("alpha"))
		w.Advance(10 * time.Second)
	}
	for name, tt := range map[string]struct {
		begin func(*testing.T, *world.World)
		stays bool
	}{
		"a create that was answered": {begin: func(_ *testing.T, w *world.World) { create(w) }},
		"a create that AWS has refused": {begin: func(t *testing.T, w *world.World) {
			t.Helper()
			refusing(t, w, "CreateDistributionTenant", 400, "InvalidArgument", "refused")
			create(w)
		}},
		"a create whose answer was lost": {stays: true, begin: func(t *testing.T, w *world.World) {
			t.Helper()
			fault(t, w, sim.Fault{Operation: "CreateDistributionTenant", Times: -1, Effect: sim.EffectReset})
			create(w)
		}},
		"a create of another process": {stays: true, begin: func(_ *testing.T, w *world.World) {
			create(w)
			w.Restart()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.NewOffline(t, world.Options{})
			w.Clock.Step(time.Hour)
			tt.begin(t, w)
			w.Delete("alpha")
			w.Advance(world.DeployDelay + 20*time.Second)
			tenants(t, w)
			if _, found := w.Get("alpha"); found != tt.stays {
				t.Errorf("the object is there: %t, want %t\n%s", found, tt.stays, w.Describe("alpha"))
			}
			w.Advance(2 * time.Minute)
			gone(t, w, "alpha")
		})
	}
}
