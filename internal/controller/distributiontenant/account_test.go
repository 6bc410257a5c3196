package distributiontenant_test

import (
	"testing"
	"time"

	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// An operator that gets the credentials of another account sees an empty cloud. It must
// neither fill it nor take the emptiness for the end of its tenants.
func TestCredentialsOfAnotherAccountChangeNothing(t *testing.T) {
	t.Parallel()
	const theirs, key = "444455556666", "AKIAOTHER"
	seed := world.Seed()
	seed.Accounts = []sim.SeedAccount{{ID: sim.DefaultAccount, Default: true}, {ID: theirs, AccessKeys: []string{key}}}
	seed.Distributions = append(seed.Distributions, sim.SeedDistribution{
		ID: "ETHEIRS", Account: theirs, Parameters: seed.Distributions[0].Parameters,
	})
	// A tenant of the same name: for the wrong account that is a stranger's.
	seed.Tenants = append(seed.Tenants, sim.SeedTenant{
		Name: "both", Account: theirs, DistributionID: "ETHEIRS", Domains: []string{"both.example.net"},
	})
	w := world.NewOffline(t, world.Options{Seed: &seed})
	right := w.AccessKey
	for _, name := range []string{"kept", "deleted", "both"} {
		ready(t, w, name)
	}
	before, others := w.AllInAWS(), w.Sim.Tenants(theirs)

	w.AccessKey = key
	w.Restart()
	w.Delete("deleted")
	w.Delete("both")
	w.Advance(time.Hour)
	for _, name := range []string{"kept", "deleted", "both"} {
		is(t, w, name, "Ready=False/WrongAccount", "Synced=False/WrongAccount")
		says(t, w, name, "Ready", sim.DefaultAccount, theirs)
	}
	for _, s := range before {
		untouched(t, w, s)
	}
	if n := len(w.Sim.Tenants(theirs)); n != len(others) {
		t.Errorf("%d tenants in the other account, want %d", n, len(others))
	}

	w.AccessKey = right
	w.Restart()
	w.Advance(time.Hour)
	is(t, w, "kept", readyTrue, syncedTrue)
	gone(t, w, "deleted")
	gone(t, w, "both")
	tenants(t, w, "kept")
}
