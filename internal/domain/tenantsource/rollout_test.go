package tenantsource_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/rollout"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantsource"
)

// The reports of a source about changes that reach its tenants in steps. The spec has generation 2, and RolledOut is
// True for 1.
func TestHowARolloutIsTold(t *testing.T) {
	t.Parallel()
	const over = "True RolledOut: No change waits for its turn."
	for name, c := range map[string]struct {
		progress rollout.Rollout
		change   func(*tenantsource.Input)
		want     string
		looks    bool
	}{
		"the spec has reached all tenants":      {want: over, looks: true},
		"it has reached them before":            {change: func(in *tenantsource.Input) { in.Memory.RolledOut = 2 }, want: over},
		"some tenants do not have it yet":       {change: func(in *tenantsource.Input) { in.Behind = 1 }, looks: true},
		"the table was not read with this spec": {change: func(in *tenantsource.Input) { in.State.Generation = 1 }, looks: true},
		"the process before has read the table": {
			change: func(in *tenantsource.Input) { in.State.LastRead, in.State.Generation = time.Time{}, 0 }, want: over, looks: true,
		},
		"its last poll has failed": {
			change: func(in *tenantsource.Input) {
				in.State.LastRead, in.Memory.Complete = time.Time{}, noon.Add(-time.Hour)
			}, looks: true,
		},
		"the last poll has failed":                      {change: func(in *tenantsource.Input) { in.State.Failures = 1 }, looks: true},
		"the API server has refused changes":            {change: func(in *tenantsource.Input) { in.State.Refusals = 1 }, looks: true},
		"the guard holds changes":                       {change: func(in *tenantsource.Input) { in.Memory.PendingHash = "a-b" }, looks: true},
		"changes are only planned":                      {change: func(in *tenantsource.Input) { in.DryRun = true }},
		"the spec has no rollout":                       {progress: rollout.Rollout{Waiting: 2}, change: func(in *tenantsource.Input) { in.Rollout = nil }},
		"each tenant that changes has its turn at once": {progress: rollout.Rollout{Waiting: 2, InFlight: 2}},
		"one of them fails": {
			progress: rollout.Rollout{Failed: 1, Waiting: 1, InFlight: 1, First: `Tenant "acme": broken`}, want: "False RollingOut: A change is being rolled out.",
		},
		"some wait for their turn": {progress: rollout.Rollout{Waiting: 2, InFlight: 1}, want: "False RollingOut: A change is being rolled out."},
		"the last of those that waited have their turn": {
			progress: rollout.Rollout{Applied: 1, Waiting: 1, InFlight: 1}, change: func(in *tenantsource.Input) { in.Memory.RolledOut = 0 },
			want: "False RollingOut: A change is being rolled out.",
		},
		"the next step comes after a pause": {
			progress: rollout.Rollout{Applied: 1, Waiting: 2, Again: 20 * time.Minute, Progress: rollout.Progress{Step: 1, Settled: noon.Add(-10 * time.Minute)}},
			want:     "False RollingOut: A change is being rolled out, and pauses until " + noon.Add(20*time.Minute).Format(time.RFC3339) + ".",
		},
		"a person holds it": {
			progress: rollout.Rollout{Waiting: 2, Paused: true},
			want:     "False RolloutPaused: spec.rollout.paused is set, so the change reaches no more tenants. Remove it to continue.",
		},
		"too many have failed": {
			progress: rollout.Rollout{Applied: 3, Failed: 2, Waiting: 5, Stopped: true, Paused: true, First: `Tenant "acme": broken`},
			want:     `False RolloutStopped: 2 of the first 5 tenants failed with the change, so the rollout is stopped. Tenant "acme": broken.`,
		},
		"all were tried": {
			progress: rollout.Rollout{Applied: 9, Failed: 1, First: `Tenant "acme": broken`}, want: `False TenantsFailed: 1 tenant failed with the change. Tenant "acme": broken.`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := input(func(in *tenantsource.Input) {
				in.Generation, in.Memory.Generation, in.State.Generation, in.Memory.RolledOut = 2, 2, 2, 1
				in.State.LastRead, in.Memory.Complete = in.Memory.LastPoll, in.Memory.LastPoll
				in.Rollout, in.Progress = &rollout.Limits{Pause: 30 * time.Minute}, c.progress
			})
			if c.change != nil {
				c.change(&in)
			}
			r := tenantsource.Conclude(in, tenantsource.Decision{})
			got := ""
			for _, c := range r.Conditions {
				status := "False "
				if c.Status {
					status = "True "
				}
				got += status + string(c.Reason) + ": " + c.Message
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("it says (-want +got):\n%s", diff)
			}
			if (r.Rollout != nil) != (c.want != "") || in.LooksBehind() != c.looks {
				t.Errorf("figures: %v; asks for those that are behind: %t", r.Rollout, in.LooksBehind())
			}
		})
	}
}

// Tenants that get their spec wake no source, so it looks again, and forgets no poll over that.
func TestTenantsThatAreBehindAreLookedAtAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		behind int
		poll   time.Duration
		want   time.Duration
	}{
		"none is behind":               {poll: time.Minute, want: time.Minute},
		"some are":                     {behind: 3, poll: time.Minute, want: 10 * time.Second},
		"the next poll is before that": {behind: 3, poll: time.Second, want: time.Second},
	} {
		in := input(func(in *tenantsource.Input) {
			in.Behind, in.State.LastRegular = c.behind, noon.Add(c.poll-in.Guard.Interval)
		})
		if got := tenantsource.Decide(in).After; got != c.want {
			t.Errorf("%s: it rests for %s, want %s", name, got, c.want)
		}
	}
}
