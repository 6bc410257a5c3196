package inventory_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// Start runs automatically what the other tests play step by step.
func TestStartSweepsAndFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, options{tenants: 5, pageSize: 2, clock: clock.RealClock{}})
		if !r.NeedLeaderElection() {
			t.Error("a replica that does not lead would spend the leader's rate")
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- r.Start(ctx) }()
		wait := func(d time.Duration) { <-time.NewTimer(d).C }

		synctest.Wait()
		if got := r.calls()["ListDistributionTenants"]; got != 3 {
			t.Errorf("%d pages at the start, want 3", got)
		}
		wait(interval + time.Second)
		if got := r.calls()["ListDistributionTenants"]; got != 6 {
			t.Errorf("%d pages after one interval, want 6", got)
		}

		// A new flight wakes the loop from its sleep until the next sweep.
		r.update(0, true)
		r.Follow(name(0))
		wait(deployDelay + 20*time.Second)
		if got := r.Stats().InFlight; got != 0 {
			t.Errorf("%d are still in flight", got)
		}
		if got := r.calls()["GetDistributionTenant"]; got < 5 || got > 8 {
			t.Errorf("%d reads for a flight of a minute", got)
		}
		if k := r.Known(name(0)); k.Tenant.Status != distributiontenant.Deployed {
			t.Errorf("got %+v", k.Tenant)
		}

		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the end was %v", err)
		}
	})
}

// Controllers ask and write while the inventory lists.
func TestConcurrentUse(t *testing.T) {
	r := newRig(t, options{tenants: 40, pageSize: 5, clock: clock.RealClock{}})
	var workers sync.WaitGroup
	for worker := range 4 {
		workers.Go(func() {
			for round := range 25 {
				n := (worker*10 + round) % 40
				o, err := r.Read(t.Context(), name(n))
				if err != nil {
					t.Errorf("reading: %v", err)
					return
				}
				r.Follow(o.Name)
				if _, err := r.ReadTags(t.Context(), o); err != nil {
					t.Errorf("reading tags: %v", err)
				}
				// Two workers may meet in a tenant; one of them is refused then.
				_, _ = r.Update(t.Context(), distributiontenant.Update{ID: o.ID, ETag: o.ETag, Tenant: o.Tenant})
				_ = r.Tag(t.Context(), o.Name, o.ARN, map[string]string{"round": "x"})
				for _, v := range r.Known(o.Name).Tags {
					_ = v
				}
				r.HolderOf(o.Name + ".example.com")
				r.Stats()
			}
		})
	}
	workers.Go(func() {
		for range 100 {
			r.Step(t.Context())
		}
	})
	workers.Wait()
	// The operator that was refused has forgotten the tenant; a read finds it as it is.
	for n := range 40 {
		r.read(n)
		if k := r.Known(name(n)); k.Knowledge != resource.Whole || k.Tenant.ETag != r.inAWS(n).ETag {
			t.Errorf("got %+v", k)
		}
	}
}
