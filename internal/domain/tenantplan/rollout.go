package tenantplan

import (
	"strconv"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/rollout"
)

// Follower is a tenant that names a plan, or still has what it gave.
type Follower struct {
	// Name and UID are those of the Tenant.
	Name, UID string
	// Generation is that of the plan that the tenant follows; zero where it has nothing of this plan yet, Restored where it has
	// what a plan of the same name gave it that is gone.
	Generation int64
	// Failure is why it does not have all that this generation says; empty where it has.
	Failure string
	// Named says that spec.plan is the plan.
	Named bool
	// Able says that nothing but the plan decides what becomes of it: its namespace is there, and stays.
	Able bool
	// Canary says that it has the labels of those that get a change first.
	Canary bool
}

// Restored is the generation of objects of a plan that were deleted and recreated; they roll out as gradually as the
// plan itself.
const Restored int64 = -1

// member is the follower as the rollout of that generation sees it.
func (f Follower) member(generation int64, released bool) rollout.Member {
	m := rollout.Member{Name: f.Name, UID: f.UID, Failure: f.Failure, Canary: f.Canary, Uneasy: f.Failure != "", State: rollout.Waiting}
	switch {
	case f.Generation == generation && f.Failure == "":
		m.State = rollout.Applied
	case f.Generation == generation:
		m.State = rollout.Failed
	case f.Generation == 0 || !f.Able: // these don't wait for the roll-out
		m.State = rollout.Exempt
	case released:
		m.State = rollout.InFlight
	}
	return m
}

// members are those that name the plan.
func members(generation int64, followers []Follower, released map[string]bool) []rollout.Member {
	var out []rollout.Member
	for _, f := range followers {
		if f.Named {
			out = append(out, f.member(generation, released[f.UID]))
		}
	}
	return out
}

// rollout is how far the change of the plan has come, and who comes next.
func (in *Input) rollout() rollout.Rollout {
	return rollout.Advance(in.Now, strconv.FormatInt(in.Generation, 10), members(in.Generation, in.Followers, in.Released), in.Limits, in.Progress)
}
