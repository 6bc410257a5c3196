package inventory_test

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

func names(from, to int) []string {
	var out []string
	for n := from; n < to; n++ {
		out = append(out, name(n))
	}
	return out
}

func wantWoken(t *testing.T, r *rig, want ...string) {
	t.Helper()
	if d := cmp.Diff(want, r.wokenNow()); d != "" {
		t.Errorf("woken (-want +got):\n%s", d)
	}
}

func wantKnowledge(t *testing.T, r *rig, n int, want resource.Knowledge) {
	t.Helper()
	if got := r.Known(name(n)).Knowledge; got != want {
		t.Errorf("knowledge of %s is %d, want %d", name(n), got, want)
	}
}

func TestSweepGoesPageByPage(t *testing.T) {
	r := newRig(t, options{tenants: 7, pageSize: 3})
	if r.Known(name(0)).Swept {
		t.Error("before the first call the account counts as listed")
	}
	for page, last := range []int{3, 6, 7} {
		if wait := r.Step(t.Context()); wait != 0 {
			t.Errorf("after page %d the next step waits %s", page, wait)
		}
		if got := r.Stats().Tenants; got != last {
			t.Errorf("after page %d there are %d tenants, want %d", page, got, last)
		}
		if got := r.calls()["ListDistributionTenants"]; got != page+1 {
			t.Errorf("%d calls for %d pages", got, page+1)
		}
	}
	wantWoken(t, r, names(0, 7)...)
	if wait := r.Step(t.Context()); wait != interval {
		t.Errorf("the next sweep is %s away, want %s", wait, interval)
	}
	if k := r.Known(name(6)); !k.Swept || k.Knowledge != resource.Listed || k.Tenant.ID != r.inAWS(6).ID {
		t.Errorf("got %+v", k)
	}
	if holder, ok := r.HolderOf(name(2) + ".example.com"); !ok || holder != name(2) {
		t.Errorf("the domain is held by %q", holder)
	}
	if got := r.Stats().LastSweep; !got.Equal(r.clock.Now()) {
		t.Errorf("the last sweep was at %s", got)
	}
}

// modes are the ways in which the ETags of lists and reads may go together.
func modes() map[string]func(*sim.Switches) {
	out := map[string]func(*sim.Switches){}
	for _, differs := range []bool{false, true} {
		for _, moves := range []bool{false, true} {
			for _, lag := range []time.Duration{0, 2 * time.Minute} {
				out[fmt.Sprintf("summary ETag differs %t, deploying moves it %t, lists lag %s", differs, moves, lag)] = func(s *sim.Switches) {
					s.SummaryETagDiffers, s.DeployMovesETag, s.ListLag = differs, moves, lag
				}
			}
		}
	}
	return out
}

// A tenant that stands still is neither read nor woken for, one that moves is woken for
// within a sweep, whatever ETags the lists show.
func TestMovedAndUnmoved(t *testing.T) {
	for mode, switches := range modes() {
		t.Run(mode, func(t *testing.T) {
			r := newRig(t, options{tenants: 3, switches: switches})
			r.clock.Step(time.Hour) // Seeded tenants are deployed, and every list shows them.
			// Where lists show another ETag than reads do, it takes a second look to know which go together.
			for range 2 {
				r.sweep()
				for n := range 3 {
					r.read(n)
				}
			}
			r.sweep()
			r.wokenNow()

			cost := r.cost(func() { r.run(30 * time.Minute) })
			if d := cmp.Diff(map[string]int{"ListDistributionTenants": 6}, cost); d != "" {
				t.Errorf("a quiet half hour (-want +got):\n%s", d)
			}
			wantWoken(t, r)
			for n := range 3 {
				wantKnowledge(t, r, n, resource.Whole)
			}

			r.edit(1)
			r.run(interval)
			wantKnowledge(t, r, 1, resource.Listed)
			wantKnowledge(t, r, 0, resource.Whole)
			woken := r.wokenNow()
			// A list that lags may show the change and its deployment at once, or one after the other.
			if d := cmp.Diff([]string{name(1)}, woken); d != "" {
				t.Errorf("woken (-want +got):\n%s", d)
			}
			r.read(1)
			r.run(2 * interval)
			if known := r.Known(name(1)); known.Tenant.Status != distributiontenant.Deployed {
				t.Errorf("the deployment is not shown: %+v", known.Tenant)
			}
			wantWholeAfterReading(t, r, 1)
		})
	}
}

// wantWholeAfterReading checks that a tenant that was read stays known as a whole while
// nothing moves.
func wantWholeAfterReading(t *testing.T, r *rig, n int) {
	t.Helper()
	r.read(n)
	r.run(interval)
	r.read(n)
	r.wokenNow()
	r.run(4 * interval)
	wantKnowledge(t, r, n, resource.Whole)
	wantWoken(t, r)
	if got, want := r.Known(name(n)).Tenant.ETag, r.inAWS(n).ETag; got != want {
		t.Errorf("known under %s, AWS has %s", got, want)
	}
}

// A page that was requested before an own write finished shows the world before it.
func TestOwnWritesAreNotOverwrittenByOldPages(t *testing.T) {
	for mode, switches := range modes() {
		t.Run(mode, func(t *testing.T) {
			r := newRig(t, options{tenants: 3, switches: switches})
			r.clock.Step(time.Hour)
			r.sweep()
			var wrote, made distributiontenant.Observed
			r.once("List", func() {
				wrote = r.update(1, false)
				made = r.create("newcomer")
			})
			r.sweep()
			known := r.Known(name(1))
			if known.Knowledge != resource.Whole || known.Tenant.ETag != wrote.ETag || known.Tenant.Enabled {
				t.Errorf("the page overwrote the update: %+v", known)
			}
			known = r.Known("newcomer")
			if known.Knowledge != resource.Whole || known.Tenant.ID != made.ID {
				t.Errorf("the page made the new tenant forgotten: %+v", known)
			}
			if d := cmp.Diff(map[string]string{"team": "web"}, known.Tags); d != "" || !known.TagsKnown {
				t.Errorf("tags of the new tenant (-want +got):\n%s", d)
			}
		})
	}
}

// A tenant that was deleted is not brought back by a page or a read from before.
func TestDeletedTenantsStayBuried(t *testing.T) {
	r := newRig(t, options{tenants: 3, switches: func(s *sim.Switches) {
		s.DeleteNeedsDeployed, s.DeleteLag, s.ListLag = false, 10*time.Minute, 7*time.Minute
	}})
	r.clock.Step(time.Hour)
	r.sweep()
	r.once("List", func() {
		off := r.update(1, false)
		if err := r.Delete(t.Context(), name(1), distributiontenant.Delete{ID: off.ID, ETag: off.ETag}); err != nil {
			t.Fatal(err)
		}
	})
	r.sweep()
	wantKnowledge(t, r, 1, resource.Nothing)
	r.sweep() // The list lags, and still shows it.
	wantKnowledge(t, r, 1, resource.Nothing)
	if o := r.read(1); o.ID == "" {
		t.Error("the read lags, and should have answered")
	}
	wantKnowledge(t, r, 1, resource.Nothing)
	if _, held := r.HolderOf(name(1) + ".example.com"); held {
		t.Error("its domain is still held")
	}
	r.run(3 * interval)
	again := r.create(name(1))
	if k := r.Known(name(1)); k.Knowledge != resource.Whole || k.Tenant.ID != again.ID {
		t.Errorf("another tenant of the name is not known: %+v", k)
	}
}

// Absence from a complete list wakes, and is no more than a hint: a read has to confirm it.
func TestAbsenceIsAHint(t *testing.T) {
	r := newRig(t, options{tenants: 5, pageSize: 2})
	r.sweep()
	r.wokenNow()
	r.remove(3)
	r.clock.Step(interval)
	r.Step(t.Context())
	wantWoken(t, r)
	wantKnowledge(t, r, 3, resource.Listed)
	r.sweep()
	wantWoken(t, r, name(3))
	wantKnowledge(t, r, 3, resource.Nothing)
}

// A page that could not be had ends the sweep, and nothing is concluded from the others.
func TestAFailedPageConcludesNothing(t *testing.T) {
	r := newRig(t, options{tenants: 9, pageSize: 3})
	r.sweep()
	first := r.Stats().LastSweep
	r.wokenNow()
	r.remove(1)
	r.remove(6)
	if _, err := r.sim.AddFault(sim.Fault{Operation: "ListDistributionTenants", Nth: 3, Times: 3, Kind: sim.Instead, Error: &sim.FaultError{Status: 403, Code: "AccessDenied"}}); err != nil {
		t.Fatal(err)
	}
	r.clock.Step(interval)
	// Two pages and a failure; then, with growing pauses, a failing first page each time.
	for i, pause := range []time.Duration{10 * time.Second, 20 * time.Second, 40 * time.Second} {
		wait := time.Duration(0)
		for wait == 0 {
			wait = r.Step(t.Context())
		}
		if wait != pause {
			t.Errorf("after failure %d the next try is %s away, want %s", i, wait, pause)
		}
		wantWoken(t, r)
		wantKnowledge(t, r, 1, resource.Listed)
		wantKnowledge(t, r, 6, resource.Listed)
		if !r.Stats().LastSweep.Equal(first) {
			t.Error("a sweep that failed counts")
		}
		r.clock.Step(wait)
	}
	r.sweep()
	wantWoken(t, r, name(1), name(6))
	if wait := r.Step(t.Context()); wait != interval {
		t.Errorf("after a success the next sweep is %s away", wait)
	}
}

// The first list may fail as well: a caller that waits for it must not wait forever.
func TestAFailedFirstSweepIsAnAttempt(t *testing.T) {
	r := newRig(t, options{tenants: 1})
	if _, err := r.sim.AddFault(sim.Fault{Operation: "ListDistributionTenants", Kind: sim.Instead, Error: &sim.FaultError{Status: 403, Code: "AccessDenied"}}); err != nil {
		t.Fatal(err)
	}
	r.Step(t.Context())
	if !r.Known(name(0)).Swept {
		t.Error("a wait for the first list never ends")
	}
}

// A list that comes back to a page it has shown would never end.
func TestARepeatedMarkerEndsTheSweep(t *testing.T) {
	r := newRig(t, options{tenants: 9, pageSize: 3})
	r.sweep()
	first := r.Stats().LastSweep
	r.wokenNow()
	r.remove(8)
	marker := regexp.MustCompile(`<NextMarker>[^<]*</NextMarker>`)
	var seen []byte
	r.after = func(operation string, body []byte) []byte {
		switch {
		case operation != "List":
		case seen == nil:
			seen = marker.Find(body)
		default:
			// The second page leads to the third, and that leads back to the second.
			if marker.Match(body) && string(marker.Find(body)) != string(seen) {
				return body
			}
			return regexp.MustCompile(`<DistributionTenantList>`).ReplaceAll(body, append(seen, "<DistributionTenantList>"...))
		}
		return body
	}
	r.clock.Step(interval)
	cost := r.cost(func() {
		for r.Step(t.Context()) == 0 {
			continue
		}
	})
	if got := cost["ListDistributionTenants"]; got > 4 {
		t.Errorf("%d pages were listed", got)
	}
	wantWoken(t, r)
	wantKnowledge(t, r, 8, resource.Listed)
	if !r.Stats().LastSweep.Equal(first) {
		t.Error("a list that repeats itself counts as complete")
	}
}

// The operator's own limits postpone a page; the sweep continues where it was.
func TestTheLimiterOnlyPostpones(t *testing.T) {
	r := newRig(t, options{tenants: 9, pageSize: 3, rate: 1, burst: 2})
	cost := r.cost(r.sweep)
	if d := cmp.Diff(map[string]int{"ListDistributionTenants": 3}, cost); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if got := r.Stats().Tenants; got != 9 {
		t.Errorf("%d tenants", got)
	}
	if r.clock.Now().Equal(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)) {
		t.Error("three calls went at once with a burst of one for sweeps")
	}
}

// A page that fails is asked for again: of a hundred pages a few fail on any day.
func TestAFailedPageDoesNotEndTheSweep(t *testing.T) {
	for code, status := range map[string]int{"Throttling": 400, "InternalError": 500} {
		t.Run(code, func(t *testing.T) {
			r := newRig(t, options{tenants: 40, pageSize: 10})
			if _, err := r.sim.AddFault(sim.Fault{
				Operation: "ListDistributionTenants", Kind: sim.Instead, Effect: sim.EffectError, Nth: 3, Times: 2,
				Error: &sim.FaultError{Status: status, Code: code, Message: "not now"},
			}); err != nil {
				t.Fatal(err)
			}
			cost := r.cost(func() { r.run(30 * time.Second) })
			if r.Stats().LastSweep.IsZero() || r.Stats().Tenants != 40 {
				t.Errorf("after half a minute the sweep has seen %d tenants and ended at %s", r.Stats().Tenants, r.Stats().LastSweep)
			}
			if got := cost["ListDistributionTenants"]; got > 7 {
				t.Errorf("%d calls for four pages, two of which failed", got)
			}
		})
	}
}

// A list that lags for long can be taken for one whose ETags are of another kind. Even then
// it moves nothing back that was read since.
func TestALaggingListMovesNothingBack(t *testing.T) {
	r := newRig(t, options{tenants: 1, switches: func(s *sim.Switches) { s.ListLag = time.Hour }})
	r.clock.Step(2 * time.Hour)
	r.sweep()
	r.edit(0)
	r.clock.Step(2 * deployDelay)
	latest := r.read(0)
	for n := range 4 {
		r.sweep()
		r.read(0)
		r.sweep()
		known := r.Known(name(0)).Tenant
		if n > 1 && (!known.Modified.Equal(latest.Modified) || known.ETag != latest.ETag) {
			t.Errorf("round %d: modified %s, ETag %s, want %s and %s", n, known.Modified, known.ETag, latest.Modified, latest.ETag)
		}
	}
}
