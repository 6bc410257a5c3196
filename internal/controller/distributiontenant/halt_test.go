package distributiontenant_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// clusterMoved is a cause that halts all writes.
const clusterMoved = "ClusterMoved"

// While all writes are halted, AWS stays as it is, whatever is asked for, drifts or is deleted. Everything continues
// when the cause is cleared.
func TestWhileHaltedNothingIsWritten(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{served: true})
	for _, name := range []string{"alpha", "beta", "gamma"} {
		r.serving(name, withDNS())
	}
	r.Halt.Set(t.Context(), clusterMoved, "This is another cluster.")
	writes := r.KubeWrites()
	r.Advance(aSweep)
	if n := r.KubeWrites() - writes; n != 3 {
		t.Errorf("%d writes to the status of 3 objects", n)
	}
	is(t, r.World, "alpha", "Synced=False/ClusterMoved", readyTrue, dnsReady)
	says(t, r.World, "alpha", "Synced", "This is another cluster.")

	calls := r.Calls()
	r.Edit("alpha", all(domains("alpha.example.com", "more.example.com"), withDNS(withTTL(60)), params("tier", "silver")))
	r.Delete("beta")
	r.Apply(r.Tenant("delta", withDNS()))
	recordDrifts()["deleted"].change(r)
	theirs := r.Calls()
	nudge(r.World, "gamma", "look")
	r.Advance(time.Hour)
	r.Restart()
	r.Advance(time.Hour)
	if d := cmp.Diff(mutations(world.Since(calls, theirs)), mutations(world.Since(calls, r.Calls()))); d != "" {
		t.Errorf("changes while halted (-want +got):\n%s", d)
	}
	is(t, r.World, "beta", "Synced=False/ClusterMoved", "Ready=False/Deleting")
	says(t, r.World, "beta", "Ready", "This is another cluster.")
	is(t, r.World, "delta", "Synced=False/ClusterMoved", "Ready=False/Creating")

	r.Halt.Clear(t.Context(), clusterMoved)
	r.Advance(30 * time.Minute)
	for _, name := range []string{"alpha", "gamma", "delta"} {
		is(t, r.World, name, readyTrue, syncedTrue, dnsReady)
	}
	gone(t, r.World, "beta")
	if s := inAWS(t, r.World, "alpha"); s.Parameters["tier"] != "silver" {
		t.Errorf("after the release AWS has %+v", s)
	}
}

// A change that was on its way to a zone when the halt came is not sent either.
func TestAHaltStopsRecordsThatAreOnTheirWay(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	r.serving("alpha", withDNS())
	r.Edit("alpha", withDNS(withTTL(60)))
	for range 20 {
		if r.Zones().Waiting > 0 {
			break
		}
		r.Advance(100 * time.Millisecond)
	}
	if r.Zones().Waiting == 0 {
		t.Fatal("no change waits in the zone")
	}
	batches := r.Calls()["ChangeResourceRecordSets"]
	r.Halt.Set(t.Context(), clusterMoved, "This is another cluster.")
	r.Advance(time.Hour)
	if n := r.Calls()["ChangeResourceRecordSets"] - batches; n != 0 {
		t.Errorf("%d batches while halted", n)
	}
	r.Halt.Clear(t.Context(), clusterMoved)
	r.Advance(15 * time.Minute)
	is(t, r.World, "alpha", readyTrue, syncedTrue, dnsReady)
	r.removed("alpha")
}
