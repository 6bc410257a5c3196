package awsresource_test

import (
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// An operator that gets the credentials of another account sees another cloud. It must neither fill it nor take
// the absence of what it knows for its end, also where something of the same name is there.
func TestCredentialsOfAnotherAccountChangeNothing(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		const theirs, key = "444455556666", "AKIAOTHER"
		seed := world.Seed()
		seed.Accounts = []sim.SeedAccount{{ID: sim.DefaultAccount, Default: true}, {ID: theirs, AccessKeys: []string{key}}}
		seed.ConnectionGroups = append(seed.ConnectionGroups, sim.SeedConnectionGroup{ID: "cg_theirs", Account: theirs, Name: "deleted"})
		w := world.NewOffline(t, world.Options{Seed: &seed})
		right := w.AccessKey
		kept, deleted, settling := k.ready(t, w, "kept"), k.ready(t, w, "deleted"), k.ready(t, w, "settling")
		remove(t, w, settling)
		w.Advance(10 * time.Second)
		w.AccessKey = key
		w.Restart()
		before, calls := k.all(w), w.Calls()
		remove(t, w, deleted)
		w.Advance(time.Hour)
		for _, o := range []client.Object{kept, deleted, settling} {
			is(t, w, o, "Ready=False/WrongAccount", "Synced=False/WrongAccount")
			says(t, w, o, "Ready", sim.DefaultAccount, theirs)
		}
		for _, r := range before {
			r.Status = "Deployed"
			k.untouched(t, w, r)
		}
		if spent := k.mutations(world.Since(calls, w.Calls())); len(spent) > 0 {
			t.Errorf("changes were tried: %v", spent)
		}
		w.AccessKey = right
		w.Restart()
		w.Advance(40 * time.Minute)
		is(t, w, kept, readyTrue, syncedTrue)
		released(t, w, deleted)
		released(t, w, settling)
		k.only(t, w)
		if g, found := w.Sim.ConnectionGroup(theirs, "deleted"); !found || !g.Enabled {
			t.Errorf("the other account's group is %+v", g)
		}
	})
}
