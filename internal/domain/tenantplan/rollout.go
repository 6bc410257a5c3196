package tenantplan

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
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
}

// Restored is the generation of objects of a plan that were deleted and recreated; they roll out as gradually as the
// plan itself.
const Restored int64 = -1

// Limits are how gently a change goes through the tenants.
type Limits struct {
	// MaxConcurrent is how many tenants change at the same time.
	MaxConcurrent int
	// MaxFailedPercent is the share of failed tenants among those tried, above which no more are changed.
	MaxFailedPercent int
}

// Rollout is how far a generation of a plan has come.
type Rollout struct {
	// Tenants name the plan. Applied and Failed are those that were tried, Waiting those that are still to be.
	Tenants, Applied, Failed, Waiting int
	// Release are the UIDs of those that come next.
	Release []string
	// Stopped says that too many have failed.
	Stopped bool
	// First is the failure of the first tenant that failed, for people.
	First string
}

// Advance counts where the tenants are, and picks those that come next. It begins with one, and then takes as many more
// at a time as have succeeded, so that a plan that does not work reaches only one or two tenants.
func Advance(generation int64, followers []Follower, released map[string]bool, l Limits) Rollout {
	followers = slices.Clone(followers)
	slices.SortFunc(followers, func(a, b Follower) int { return strings.Compare(a.Name, b.Name) })
	var r Rollout
	inFlight := 0
	var next []Follower
	for _, f := range followers {
		if !f.Named {
			continue
		}
		r.Tenants++
		switch {
		case f.Generation == generation && f.Failure == "":
			r.Applied++
		case f.Generation == generation:
			r.Failed++
			if r.First == "" {
				r.First = fmt.Sprintf("Tenant %q: %s", f.Name, f.Failure)
			}
		case f.Generation == 0 || !f.Able: // these don't wait for the roll-out
		case released[f.UID]:
			r.Waiting++
			inFlight++
		default:
			r.Waiting++
			next = append(next, f)
		}
	}
	r.Stopped = r.Failed > 0 && r.Waiting > 0 && tooMany(r, l)
	if r.Stopped {
		return r
	}
	slices.SortFunc(next, func(a, b Follower) int {
		// Those that had trouble before come last: they would say nothing about the change.
		return cmp.Or(cmp.Compare(min(len(a.Failure), 1), min(len(b.Failure), 1)), cmp.Compare(turn(generation, a), turn(generation, b)))
	})
	room := min(l.MaxConcurrent, r.Applied+1) - inFlight
	for _, f := range next[:max(0, min(room, len(next)))] {
		r.Release = append(r.Release, f.UID)
	}
	return r
}

// turn is a place in the order of a rollout that can't be chosen: otherwise the first tenants could let every change
// fail that they don't like.
func turn(generation int64, f Follower) string {
	sum := sha256.Sum256([]byte(fmt.Sprint(generation, f.UID)))
	return string(sum[:])
}

// tooMany leaves out one failure alone, which may be the tenant's own trouble, unless none is to be left out.
func tooMany(r Rollout, l Limits) bool {
	if r.Failed == 1 && l.MaxFailedPercent > 0 {
		return false
	}
	return r.Failed*100 > l.MaxFailedPercent*(r.Failed+r.Applied)
}
