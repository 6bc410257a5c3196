package tenantplan_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/rollout"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantplan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/plans"
)

// at are followers that have a generation, all of them well.
func at(generation int64, names ...string) []tenantplan.Follower {
	var out []tenantplan.Follower
	for _, name := range names {
		out = append(out, tenantplan.Follower{Name: name, UID: name, Generation: generation, Named: true, Able: true})
	}
	return out
}

// sick are followers that have a generation, and not all of it.
func sick(generation int64, names ...string) []tenantplan.Follower {
	out := at(generation, names...)
	for i := range out {
		out[i].Failure = "PartiallyApplied: no room"
	}
	return out
}

func TestAdvance(t *testing.T) {
	join := func(lists ...[]tenantplan.Follower) []tenantplan.Follower { return slices.Concat(lists...) }
	unable := at(1, "a")
	unable[0].Able = false
	former := at(2, "a")
	former[0].Named = false
	for name, tt := range map[string]struct {
		followers []tenantplan.Follower
		released  []string
		limits    rollout.Limits
		want      rollout.Rollout
	}{
		"no tenant follows": {want: rollout.Rollout{}},
		"all have it":       {followers: at(2, "a", "b"), want: rollout.Rollout{Tenants: 2, Applied: 2}},
		"a tenant of a recreated plan waits like the rest": {followers: at(tenantplan.Restored, "a", "b", "c"), want: rollout.Rollout{Tenants: 3, Waiting: 3, Release: []string{"c"}}},
		"a change begins with one":                         {followers: at(1, "c", "b", "a"), want: rollout.Rollout{Tenants: 3, Waiting: 3, Release: []string{"c"}}},
		"which is waited for":                              {followers: at(1, "a", "b", "c"), released: []string{"a"}, want: rollout.Rollout{Tenants: 3, Waiting: 3}},
		"then come two":                                    {followers: join(at(2, "a"), at(1, "b", "c", "d")), released: []string{"a"}, want: rollout.Rollout{Tenants: 4, Applied: 1, Waiting: 3, Release: []string{"c", "b"}}},
		"those on their way count":                         {followers: join(at(2, "a"), at(1, "b", "c", "d")), released: []string{"b"}, want: rollout.Rollout{Tenants: 4, Applied: 1, Waiting: 3, Release: []string{"c"}}},
		"never more than so many":                          {followers: join(at(2, "a", "b", "c", "d"), at(1, "e", "f", "g", "h")), want: rollout.Rollout{Tenants: 8, Applied: 4, Waiting: 4, Release: []string{"h", "f", "g"}}},
		"those that had trouble before come last":          {followers: join(sick(1, "a"), at(1, "b")), want: rollout.Rollout{Tenants: 2, Waiting: 2, Release: []string{"b"}}},
		"one that fails alone stops nothing":               {followers: join(sick(2, "a"), at(1, "b")), want: rollout.Rollout{Tenants: 2, Failed: 1, Waiting: 1, Release: []string{"b"}, First: `Tenant "a": PartiallyApplied: no room`}},
		"unless none may fail":                             {followers: join(sick(2, "a"), at(2, "b"), at(1, "c")), limits: rollout.Limits{MaxConcurrent: 3}, want: rollout.Rollout{Tenants: 3, Failed: 1, Applied: 1, Waiting: 1, Stopped: true, First: `Tenant "a": PartiallyApplied: no room`}},
		"two of three stop it":                             {followers: join(sick(2, "b", "a"), at(2, "c"), at(1, "d")), want: rollout.Rollout{Tenants: 4, Failed: 2, Applied: 1, Waiting: 1, Stopped: true, First: `Tenant "a": PartiallyApplied: no room`}},
		"two of four don't, where half may fail":           {followers: join(sick(2, "a", "b"), at(2, "c", "d"), at(1, "e")), limits: rollout.Limits{MaxConcurrent: 3, MaxFailedPercent: 50}, want: rollout.Rollout{Tenants: 5, Failed: 2, Applied: 2, Waiting: 1, Release: []string{"e"}, First: `Tenant "a": PartiallyApplied: no room`}},
		"with no tenant left there is nothing to stop":     {followers: sick(2, "a", "b"), want: rollout.Rollout{Tenants: 2, Failed: 2, First: `Tenant "a": PartiallyApplied: no room`}},
		"who has nothing of the plan does not wait":        {followers: at(0, "a", "b"), want: rollout.Rollout{Tenants: 2}},
		"nor who has no namespace":                         {followers: join(unable, at(1, "b")), want: rollout.Rollout{Tenants: 2, Waiting: 1, Release: []string{"b"}}},
		"who names another plan is not counted":            {followers: join(former, at(2, "b")), want: rollout.Rollout{Tenants: 1, Applied: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			released := map[string]bool{}
			for _, uid := range tt.released {
				released[uid] = true
			}
			before := slices.Clone(tt.followers)
			got := tenantplan.Advance(2, tt.followers, released, cmp.Or(tt.limits, rollout.Limits{MaxConcurrent: 3, MaxFailedPercent: 10}))
			if len(got.Release) == 0 {
				got.Release = nil
			}
			if d := gocmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if d := gocmp.Diff(before, tt.followers); d != "" {
				t.Errorf("the followers were changed:\n%s", d)
			}
		})
	}
}

// rollout plays a change from the first tenant to the last one that gets it.
type played struct {
	limits    rollout.Limits
	followers []tenantplan.Follower
	fails     map[string]bool
	released  map[string]bool
	order     []string
}

// next lets the plan release whom it will, and checks that.
func (r *played) next(t *rapid.T) rollout.Rollout {
	got := tenantplan.Advance(2, r.followers, r.released, r.limits)
	flying, failed, applied := 0, 0, 0
	for _, f := range r.followers {
		switch {
		case f.Generation == 2 && f.Failure == "":
			applied++
		case f.Generation == 2:
			failed++
		case r.released[f.UID]:
			flying++
		}
	}
	stops := failed > 0 && failed+applied < len(r.followers) && 100*failed > r.limits.MaxFailedPercent*(failed+applied) && (failed > 1 || r.limits.MaxFailedPercent == 0)
	if got.Stopped != stops || stops && len(got.Release) > 0 {
		t.Fatalf("stopped is %t, with %d failed and %d applied of %d, and %v are released", got.Stopped, failed, applied, len(r.followers), got.Release)
	}
	if got.Applied != applied || got.Failed != failed || got.Waiting != len(r.followers)-applied-failed {
		t.Fatalf("counted %+v of %+v", got, r.followers)
	}
	for _, uid := range got.Release {
		if r.released[uid] {
			t.Fatalf("%s is released twice", uid)
		}
		r.released[uid] = true
		r.order = append(r.order, uid)
		flying++
	}
	if most := min(r.limits.MaxConcurrent, applied+1); len(got.Release) > 0 && flying > most {
		t.Fatalf("%d are changed at the same time, and %d may be", flying, most)
	}
	return got
}

// lands gives one of those on their way the change, or its failure.
func (r *played) lands(t *rapid.T) bool {
	var flying []int
	for i, f := range r.followers {
		if r.released[f.UID] && f.Generation != 2 {
			flying = append(flying, i)
		}
	}
	if len(flying) == 0 {
		return false
	}
	f := &r.followers[rapid.SampledFrom(flying).Draw(t, "lands")]
	if f.Generation, f.Failure = 2, ""; r.fails[f.UID] {
		f.Failure = "it fails"
	}
	return true
}

// However tenants land and fail: the change continues one by one, not too many at a time, and not further than it may;
// where at most one fails, all are tried.
func TestEveryRolloutEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := &played{
			limits:   rollout.Limits{MaxConcurrent: rapid.IntRange(1, 6).Draw(t, "at a time"), MaxFailedPercent: rapid.SampledFrom([]int{0, 1, 10, 50, 100}).Draw(t, "may fail")},
			fails:    map[string]bool{},
			released: map[string]bool{},
		}
		failing := 0
		for i := range rapid.IntRange(0, 25).Draw(t, "tenants") {
			name := fmt.Sprintf("t%02d", i)
			f := at(1, name)[0]
			if rapid.IntRange(0, 5).Draw(t, "sick") == 0 {
				f.Failure = "it was sick before"
			}
			if rapid.IntRange(0, 7).Draw(t, "fails") == 0 {
				r.fails[name] = true
				failing++
			}
			r.followers = append(r.followers, f)
		}
		r.followers = rapid.Permutation(r.followers).Draw(t, "order")
		wellFirst := slices.Clone(r.followers)
		slices.SortFunc(wellFirst, func(a, b tenantplan.Follower) int {
			return cmp.Compare(a.Failure, b.Failure)
		})

		got := r.next(t)
		for r.lands(t) {
			got = r.next(t)
		}
		sickBefore := map[string]bool{}
		for _, f := range wellFirst {
			sickBefore[f.UID] = f.Failure != ""
		}
		for i, uid := range r.order {
			if sickBefore[uid] != (wellFirst[i].Failure != "") {
				t.Fatalf("%v were released, want the order of %+v", r.order, wellFirst)
			}
		}
		if !got.Stopped && got.Waiting > 0 {
			t.Fatalf("it stands still: %+v", got)
		}
		if spared := failing == 0 || failing == 1 && r.limits.MaxFailedPercent > 0 || r.limits.MaxFailedPercent == 100; spared && got.Waiting > 0 {
			t.Fatalf("%d of %d fail, and %d were never tried", failing, len(r.followers), got.Waiting)
		}
		// Those that failed succeed in the end, and a stopped rollout continues.
		clear(r.fails)
		for i := range r.followers {
			if r.followers[i].Generation == 2 {
				r.followers[i].Failure = ""
			}
		}
		got = r.next(t)
		for r.lands(t) {
			got = r.next(t)
		}
		if got.Waiting > 0 || got.Applied != len(r.followers) {
			t.Fatalf("no tenant fails any more, and it ends with %+v", got)
		}
	})
}

// A change that is refused in the namespaces of all tenants reaches one, also after a restart of the operator.
func TestARefusedNamespaceStopsTheRollout(t *testing.T) {
	w := &world{fail: t.Fatalf, api: newAPI(), now: plans.Now, plans: map[string]*playedPlan{}, tenants: map[string]*playedTenant{}}
	w.restart()
	passes := func() {
		for range 10 {
			w.everyone()
			w.now = w.now.Add(time.Minute)
		}
	}
	w.plan("basic", "small")
	w.plans["basic"].limits = rollout.Limits{MaxConcurrent: 2}
	for _, name := range []string{"ten0", "ten1", "ten3"} {
		w.joins(name, "basic")
	}
	passes()
	w.plan("basic", "large")
	w.api.writes = fault.Denied
	for range 2 {
		passes()
		if c := plans.ConditionOf(w.plans["basic"].conditions, plan.ConditionRolledOut); c.Reason != plan.ReasonRolloutStopped {
			t.Errorf("the rollout is %s: %s", c.Reason, c.Message)
		}
		tried := 0
		for _, tenant := range w.tenants {
			if tenant.memory.PlanGeneration == w.plans["basic"].generation {
				tried++
			}
		}
		if tried != 1 {
			t.Errorf("%d tenants were tried", tried)
		}
		w.restart()
	}
}
