package config

import (
	"flag"
	"fmt"
	"time"

	domain "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/rollout"
)

// Rollout is how changes of what customers are served with reach tenants whose source says nothing of it.
type Rollout struct {
	Enabled                    bool
	Canaries, MaxFailedPercent int
	Pause                      time.Duration
}

func (r *Rollout) bind(f *flag.FlagSet) {
	f.BoolVar(&r.Enabled, "rollout", true, "Let a change of what customers are served with reach a few tenants first, and the others in steps, whatever the cause of the change. A TenantSource can have its own rollout.")
	f.IntVar(&r.Canaries, "rollout-canaries", 0, "Number of tenants that a change reaches first. 0 means one where all get the same value, and up to five where each gets its own.")
	f.DurationVar(&r.Pause, "rollout-pause", 0, "Time after each step of a change in which it reaches no other tenant.")
	f.IntVar(&r.MaxFailedPercent, "rollout-max-failed-percent", 10, "Percentage of the tenants that a change has reached so far that may fail before it stops. A single tenant that fails stops nothing, unless it is 0.")
}

func (r *Rollout) validate() error {
	switch {
	case r.Canaries < 0 || r.Canaries > 1_000_000:
		return fmt.Errorf("--rollout-canaries=%d: use a number from 0 to 1000000", r.Canaries)
	case r.MaxFailedPercent < 0 || r.MaxFailedPercent > 100:
		return fmt.Errorf("--rollout-max-failed-percent=%d: use a number from 0 to 100", r.MaxFailedPercent)
	case r.Pause < 0:
		return fmt.Errorf("--rollout-pause=%s: use a time that is not negative", r.Pause)
	}
	return nil
}

// Limits are those of changes without a source.
func (r *Rollout) Limits() domain.Limits {
	return domain.Limits{Canaries: r.Canaries, Strict: r.Canaries > 0, Pause: r.Pause, MaxFailedPercent: r.MaxFailedPercent}
}
