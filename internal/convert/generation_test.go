package convert_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distribution"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantsource"
)

// generations are those of a status: observed, and applied with -1 for an absent field.
type generations struct{ Observed, Applied int64 }

func told(observed int64, applied *int64) generations {
	g := generations{observed, -1}
	if applied != nil {
		g.Applied = *applied
	}
	return g
}

// An old status has one generation, which tells which one was applied. A new one tells both apart.
func TestGenerations(t *testing.T) {
	t.Parallel()
	ready := func(status bool, generation int64) []chain.Condition {
		return []chain.Condition{{Type: chain.Ready, Status: status, Reason: "X", Generation: generation}, {Type: chain.Synced, Reason: "X", Generation: generation}}
	}
	served := func(applied, present int64) []chain.Condition {
		return []chain.Condition{{Type: chain.Ready, Status: true, Reason: "X", Generation: applied}, {Type: chain.Synced, Reason: "X", Generation: present}}
	}
	absent := int64(-1)
	for name, tt := range map[string]struct {
		before     generations
		remembered int64
		conditions []chain.Condition
		applied    int64
		want       generations
	}{
		"nothing is said of an object that waits for its turn": {generations{-1, absent}, 0, nil, 0, generations{-1, absent}},
		"what is about to be created was seen":                 {generations{-1, absent}, 0, ready(false, 1), 0, generations{1, 0}},
		"what was created is applied":                          {generations{1, 0}, 0, ready(false, 1), 1, generations{1, 1}},
		"a change that is refused was seen":                    {generations{1, 1}, 1, ready(false, 2), 1, generations{2, 1}},
		"a change that waits while the former one serves is not judged": {
			generations{1, 1}, 1, served(1, 2), 1, generations{1, 1},
		},
		"also if it was refused before": {
			generations{2, 1}, 1, served(1, 2), 1, generations{1, 1},
		},
		"and if nothing was ever applied": {
			generations{-1, absent}, 0, served(0, 1), 0, generations{-1, absent},
		},
		"until it is applied": {generations{1, 1}, 1, ready(true, 2), 2, generations{2, 2}},
		"a pass that keeps what was said of the generation before keeps that": {generations{1, 1}, 1, ready(false, 1), 1, generations{1, 1}},
		"one that only Ready speaks of is not judged": {
			generations{1, 1}, 1, []chain.Condition{{Type: chain.Ready, Generation: 2}, {Type: chain.Synced, Status: true, Generation: 1}}, 1, generations{1, 1},
		},
		"a resource that was lost is applied no more": {generations{2, 2}, 2, ready(false, 2), 0, generations{2, 0}},

		"an old status was applied":                        {generations{3, absent}, 3, ready(true, 3), 3, generations{3, absent}},
		"and is not written to only for the field":         {generations{3, absent}, 3, nil, 3, generations{3, absent}},
		"a change that an old status has not is refused":   {generations{3, absent}, 3, ready(false, 4), 3, generations{4, 3}},
		"a change that it has not is applied":              {generations{3, absent}, 3, ready(true, 4), 4, generations{4, absent}},
		"an old one that has lost its resource says so":    {generations{3, absent}, 3, ready(false, 3), 0, generations{3, 0}},
		"what is adopted as it should be has both at once": {generations{-1, absent}, 0, ready(true, 1), 1, generations{1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := func(observed *int64, applied **int64) {
				*observed = tt.before.Observed
				if tt.before.Applied != absent {
					*applied = &tt.before.Applied
				}
			}
			var tenant v1alpha1.DistributionTenantStatus
			set(&tenant.ObservedGeneration, &tenant.AppliedGeneration)
			if got := convert.Memory(&tenant).AppliedGeneration; got != tt.remembered {
				t.Errorf("a tenant remembers %d, want %d", got, tt.remembered)
			}
			convert.Status(&tenant, "alpha", distributiontenant.Report{AppliedGeneration: tt.applied, Conditions: tt.conditions}, time.Unix(1000, 0))
			if d := cmp.Diff(tt.want, told(tenant.ObservedGeneration, tenant.AppliedGeneration)); d != "" {
				t.Errorf("a tenant (-want +got):\n%s", d)
			}
			var parent v1alpha1.ResourceStatus
			set(&parent.ObservedGeneration, &parent.AppliedGeneration)
			if got := convert.ResourceMemory(&parent).AppliedGeneration; got != tt.remembered {
				t.Errorf("a distribution remembers %d, want %d", got, tt.remembered)
			}
			convert.ResourceReport(&parent, distribution.Report{AppliedGeneration: tt.applied, Conditions: tt.conditions}, time.Unix(1000, 0))
			if d := cmp.Diff(tt.want, told(parent.ObservedGeneration, parent.AppliedGeneration)); d != "" {
				t.Errorf("a distribution (-want +got):\n%s", d)
			}
		})
	}
}

// A source that can't be polled as it is was seen all the same, and what is remembered of the last poll stays.
func TestGenerationsOfASource(t *testing.T) {
	t.Parallel()
	polled := time.Unix(1000, 0)
	var status v1alpha1.TenantSourceStatus
	for _, step := range []struct {
		about      string
		generation int64
		report     tenantsource.Report
		want       generations
		remembered int64
	}{
		{"nothing is known", 1, tenantsource.Report{}, generations{0, -1}, 0},
		{"what can't be polled was seen", 1, tenantsource.Report{Conditions: []chain.Condition{no("Ready", "InvalidConfig")}}, generations{1, 0}, 0},
		{"a poll", 1, tenantsource.Report{Polled: &polled, Generation: 1, Conditions: []chain.Condition{yes("Ready", "PollSucceeded")}}, generations{1, 1}, 1},
		{"an edit that can't be polled", 2, tenantsource.Report{Conditions: []chain.Condition{no("Ready", "InvalidConfig")}}, generations{2, 1}, 1},
		{"a poll that began before the next edit", 3, tenantsource.Report{Polled: &polled, Generation: 2, Conditions: []chain.Condition{yes("Ready", "PollSucceeded")}}, generations{2, 2}, 2},
	} {
		convert.SourceStatus(&status, step.generation, step.report, polled)
		if d := cmp.Diff(step.want, told(status.ObservedGeneration, status.AppliedGeneration)); d != "" {
			t.Errorf("%s (-want +got):\n%s", step.about, d)
		}
		if got := convert.SourceMemory(&status).Generation; got != step.remembered {
			t.Errorf("%s: generation %d is remembered, want %d", step.about, got, step.remembered)
		}
		for _, c := range status.Conditions {
			if c.ObservedGeneration != status.ObservedGeneration {
				t.Errorf("%s: %s speaks of generation %d, want %d", step.about, c.Type, c.ObservedGeneration, status.ObservedGeneration)
			}
		}
	}
}
