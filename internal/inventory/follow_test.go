package inventory_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/retry"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

// flying has tenants, of which the first few are being deployed and followed.
func flying(t *testing.T, tenants, inFlight int) *rig {
	t.Helper()
	r := newRig(t, options{tenants: tenants})
	r.clock.Step(time.Hour)
	r.sweep()
	for n := range inFlight {
		r.update(n, true)
		r.Follow(name(n))
	}
	r.wokenNow()
	return r
}

// Following costs the cheaper of one read for each tenant that is due, and one sweep.
func TestFollowingIsCheap(t *testing.T) {
	tests := map[string]struct {
		tenants, inFlight int
		want              map[string]int
	}{
		"one in flight is read":                                   {5, 1, map[string]int{"GetDistributionTenant": 1}},
		"two of a few are cheaper to list":                        {5, 2, map[string]int{"ListDistributionTenants": 1}},
		"three of three hundred are read":                         {300, 3, map[string]int{"GetDistributionTenant": 3}},
		"five of three hundred are cheaper to list, page by page": {300, 5, map[string]int{"ListDistributionTenants": 3}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := flying(t, test.tenants, test.inFlight)
			cost := r.cost(func() { r.run(retry.FollowEvery) })
			if d := cmp.Diff(test.want, cost); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// A flight ends when the tenant is deployed, and its object is woken for that once.
func TestFlightsEndWhenDeployed(t *testing.T) {
	r := flying(t, 5, 1)
	r.Follow(name(0)) // Following twice is following once.
	cost := r.cost(func() { r.run(deployDelay - time.Second) })
	if got, want := cost["GetDistributionTenant"], 5; got != want {
		t.Errorf("%d reads in the first minute, want %d", got, want)
	}
	wantWoken(t, r)
	r.run(2 * time.Second)
	wantWoken(t, r, name(0))
	if got := r.Stats().InFlight; got != 0 {
		t.Errorf("%d are still in flight", got)
	}
	cost = r.cost(func() { r.run(4 * time.Minute) })
	if got := cost["GetDistributionTenant"]; got != 0 {
		t.Errorf("%d reads after the landing", got)
	}
}

func TestAFlightEndsInASweepAsWell(t *testing.T) {
	r := flying(t, 5, 2)
	r.run(deployDelay + retry.FollowEvery)
	wantWoken(t, r, name(0), name(1))
	if got := r.Stats().InFlight; got != 0 {
		t.Errorf("%d are still in flight", got)
	}
}

// A tenant that is deleted meanwhile is not followed any longer, and its object has to know.
func TestAFlightEndsWhenTheTenantIsGone(t *testing.T) {
	r := flying(t, 5, 1)
	r.remove(0)
	r.run(retry.FollowEvery)
	wantWoken(t, r, name(0))
	wantKnowledge(t, r, 0, resource.Nothing)
	if got := r.Stats().InFlight; got != 0 {
		t.Errorf("%d are still in flight", got)
	}
}

// The longer a deployment takes, the more rarely it is looked at.
func TestFollowingSlowsDown(t *testing.T) {
	r := newRig(t, options{tenants: 5})
	r.clock.Step(time.Hour)
	r.sweep()
	r.update(0, true)
	r.Follow(name(0))
	var gaps []time.Duration
	last := r.clock.Now()
	r.after = func(operation string, body []byte) []byte {
		if operation == "Get" || operation == "List" {
			gaps = append(gaps, r.clock.Now().Sub(last))
			last = r.clock.Now()
		}
		// It never comes to an end.
		return []byte(replaceAll(string(body), "<Status>Deployed</Status>", "<Status>InProgress</Status>"))
	}
	r.run(time.Hour)
	if len(gaps) == 0 || len(gaps) > 40 {
		t.Errorf("%d looks in an hour: %v", len(gaps), gaps)
	}
	if longest := slices.Max(gaps); longest > interval {
		t.Errorf("for %s there was no read", longest)
	}
}

// A limiter that says later delays a look, and ends no flight.
func TestTheLimiterPostponesALook(t *testing.T) {
	r := newRig(t, options{tenants: 1, rate: 0.2, burst: 10})
	r.clock.Step(time.Hour)
	r.sweep()
	r.update(0, true)
	r.Follow(name(0))
	r.run(deployDelay + 2*time.Minute)
	if got := r.Stats().InFlight; got != 0 {
		t.Errorf("%d are still in flight", got)
	}
	wantWoken(t, r, name(0))
}

// An operator that may not list the account can still follow what it changes, and does not ask for the list all the
// time.
func TestFollowingNeedsNoList(t *testing.T) {
	r := flying(t, 5, 3)
	if _, err := r.sim.AddFault(sim.Fault{
		Operation: "ListDistributionTenants", Kind: sim.Instead, Effect: sim.EffectError, Probability: 1,
		Error: &sim.FaultError{Status: 403, Code: "AccessDenied", Message: "not you"},
	}); err != nil {
		t.Fatal(err)
	}
	cost := r.cost(func() { r.run(deployDelay + 3*retry.FollowEvery) })
	wantWoken(t, r, name(0), name(1), name(2))
	if got := cost["ListDistributionTenants"]; got > 5 {
		t.Errorf("the list was asked for %d times in a minute and a half", got)
	}
}

// A sweep that waits for more urgent calls does not delay following.
func TestAWaitingSweepDoesNotHoldFollowingBack(t *testing.T) {
	r := newRig(t, options{tenants: 60, pageSize: 1, rate: 0.3, burst: 2})
	r.clock.Step(time.Hour)
	r.update(0, true)
	r.Follow(name(0))
	r.run(deployDelay + 3*retry.FollowEvery)
	if got := r.Stats(); got.InFlight != 0 || !got.LastSweep.IsZero() {
		t.Errorf("%d in flight and the last sweep at %s, want none and no sweep that has ended", got.InFlight, got.LastSweep)
	}
}

// A wave of many is listed when it can have landed, not before, and the last of it is seen soon.
func TestFollowingAWave(t *testing.T) {
	const fleet, launches = 300, 10 * time.Second
	r := flying(t, fleet, 1)
	r.run(deployDelay + retry.FollowEvery) // how long a flight takes is known from now on
	r.wokenNow()
	landed := time.Duration(0)
	start := r.clock.Now()
	cost := r.cost(func() {
		for n := range fleet {
			r.update(n, true)
			r.Follow(name(n))
			r.run(launches / fleet)
		}
		for r.Stats().InFlight > 0 {
			r.run(100 * time.Millisecond)
		}
		landed = r.clock.Now().Sub(start)
	})
	if late := landed - launches - deployDelay; late > 3*time.Second {
		t.Errorf("the last was seen %s after it had landed", late)
	}
	delete(cost, "UpdateDistributionTenant")
	// The quiet sweep comes in between, and two or three listings find them all.
	if n := cost["ListDistributionTenants"]; n > 7*4 || len(cost) > 1 {
		t.Errorf("following %d cost %v", fleet, cost)
	}
}
