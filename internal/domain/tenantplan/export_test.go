package tenantplan

import (
	"strconv"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/rollout"
)

// Advance is how far a generation has come, without what is only remembered.
func Advance(generation int64, followers []Follower, released map[string]bool, l rollout.Limits) rollout.Rollout {
	r := rollout.Advance(time.Time{}, strconv.FormatInt(generation, 10), members(generation, followers, released), l, rollout.Progress{})
	r.InFlight, r.Progress = 0, rollout.Progress{}
	return r
}
