// Package rollout decides how a change goes through many objects: which get it first, how many more follow and when,
// and when it stops. Callers know what the change is, and what became of it in each object.
package rollout

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"
)

// State is how far the change has come in one object.
type State int

// The states.
const (
	// Exempt: it belongs to the fleet, and the rollout has nothing to do with it.
	Exempt State = iota
	// Waiting: it does not have the change.
	Waiting
	// Held: it does not have the change, and can't be given it yet, for a reason that is not the rollout's.
	Held
	// InFlight: it was released, and what becomes of it is not known yet.
	InFlight
	// Applied: it has the change.
	Applied
	// Failed: it was tried, and has not become what the change says.
	Failed
	// Unfit: it can't be what the change says, which is known without a try.
	Unfit
)

// Member is one object of the fleet.
type Member struct {
	Name, UID string
	State     State
	// Failure is why it failed, or is unfit. Lacks says that it does not have the change all the same.
	Failure string
	Lacks   bool
	// Canary says that it is one of those that the spec selects by their labels to be first.
	Canary bool
	// Uneasy says that it had trouble before. It comes last: it would say nothing about the change.
	Uneasy bool
}

// Limits are how gently the change goes through the fleet.
type Limits struct {
	// MaxConcurrent is how many are in flight at the same time.
	MaxConcurrent int
	// MaxFailedPercent is the share of failed ones among those tried, and of unfit ones in the fleet, above which no more are
	// released.
	MaxFailedPercent int
	// Canaries is how many come first; zero for those that are marked as Canary and are not unfit, and for one if there are
	// none.
	Canaries int
	// Strict says that canaries were asked for: none of them may fail, or be unfit, unnoticed.
	Strict bool
	// Step is how many more come in each step after the canaries, StepPercent the same as a share of the fleet. With
	// neither, as many more as have succeeded.
	Step, StepPercent int
	// Pause is the time after the canaries, and after each step, in which nothing is released.
	Pause time.Duration
	// Paused stops the release of all others.
	Paused bool
	// Swift releases as many as may be in flight, whatever became of the others. It is for undoing a change.
	Swift bool
}

// Stepwise reports whether the rollout waits between steps. Otherwise each success makes room for more at once.
func (l Limits) Stepwise() bool { return l.Step > 0 || l.StepPercent > 0 || l.Pause > 0 }

// Progress is what has to be remembered of a rollout. If it is lost, the pause begins again.
type Progress struct {
	// Step counts from 1, which are the canaries. Target is how many objects the steps so far reach.
	Step, Target int
	// Settled is since when all of them have been tried; zero while that is not so.
	Settled time.Time
}

// Rollout is how far a change has come.
type Rollout struct {
	// Tenants are all of the fleet. Applied and Failed are those that were tried, Waiting those that are still to be, of which
	// InFlight were released. Unfit are among the failed, without a try. Lacking are all that have failed without the change.
	Tenants, Applied, Failed, Waiting, InFlight, Unfit, Lacking int
	// UnfitCanaries are those of the unfit ones that are marked as canaries.
	UnfitCanaries int
	// Release are the UIDs of those that come next.
	Release []string
	// Stopped says that too many have failed, Paused that the spec pauses it.
	Stopped, Paused bool
	// First is the failure of the first one that failed, for messages.
	First    string
	Progress Progress
	// Again is when to look again, if nothing happens before; zero for never.
	Again time.Duration
}

// Done reports whether nothing is left to do, and all has gone well.
func (r Rollout) Done() bool { return r.Waiting == 0 && r.Failed == 0 }

// Reached reports whether all have the change, however they are with it.
func (r Rollout) Reached() bool { return r.Waiting == 0 && r.Lacking == 0 }

// Tried are those of which it is known what the change makes of them, Broken those of them that failed.
func (r Rollout) Tried() int { return r.Applied + r.Broken() }

// Broken are those that were tried and failed.
func (r Rollout) Broken() int { return r.Failed - r.Unfit }

// NextStep says when the next step begins, as the end of a message, while the rollout pauses.
func (r Rollout) NextStep(now time.Time) string {
	if r.Again == 0 {
		return ""
	}
	return ", and pauses until " + now.Add(r.Again).UTC().Format(time.RFC3339)
}

// Soonest is the shorter of two delays, of which zero is none.
func Soonest(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// Advance counts where the members are, and picks those that come next. It begins with the canaries, and continues with
// more at a time as they succeed, so that a change that does not work reaches only a few. The order of all others
// depends on the revision.
func Advance(now time.Time, revision string, members []Member, l Limits, p Progress) Rollout {
	a := advance{now: now, limits: l, Rollout: Rollout{Progress: p}}
	for _, m := range members {
		a.count(m)
	}
	if a.Failed > 0 {
		a.First = fmt.Sprintf("Tenant %q: %s", a.failed.Name, a.failed.Failure)
	}
	a.Stopped = !l.Swift && a.Waiting > 0 && a.tooMany()
	a.Paused = l.Paused && a.Waiting > 0
	if room := a.room(); room > 0 && !a.Stopped && !a.Paused {
		a.Release = next(revision, members, room)
	}
	return a.Rollout
}

// advance is one look at the fleet.
type advance struct {
	Rollout

	now    time.Time
	limits Limits
	// failed is the one that failed whose name is the first.
	failed Member
	// marked is how many canaries by their labels can be released, markedOpen how many are to be waited for otherwise, and
	// markedAll how many there are.
	marked, markedOpen, markedAll int
}

func (a *advance) count(m Member) {
	a.Tenants++
	if m.Canary && m.State != Exempt {
		a.markedAll++
	}
	switch m.State {
	case Exempt:
	case Held:
		a.Waiting++
		if m.Canary {
			a.markedOpen++
		}
	case Applied:
		a.Applied++
	case Failed, Unfit:
		a.fail(m)
	case InFlight:
		a.Waiting++
		a.InFlight++
		if m.Canary {
			a.markedOpen++
		}
	case Waiting:
		a.Waiting++
		if m.Canary {
			a.marked++
		}
	}
}

func (a *advance) fail(m Member) {
	if a.Failed++; a.Failed == 1 || m.Name < a.failed.Name {
		a.failed = m
	}
	if m.State == Unfit {
		a.Unfit++
		if m.Canary {
			a.UnfitCanaries++
		}
	}
	if m.State == Unfit || m.Lacks {
		a.Lacking++
	}
}

// out are all that the change has come to.
func (a *advance) out() int { return a.Tried() + a.InFlight }

// canaries is how many come first.
func (a *advance) canaries() int { return cmp.Or(a.limits.Canaries, a.markedAll-a.UnfitCanaries, 1) }

// tooMany reports whether too many have failed. Until the first step is over, no canary that was asked for may fail. One
// that is unfit is not tried, and another in its place would tell less.
func (a *advance) tooMany() bool {
	canary := a.limits.Strict && a.Progress.Step <= 1
	return a.above(a.Broken(), a.Tried(), canary) || a.above(a.Unfit, a.Tenants, false) ||
		canary && a.limits.Canaries == 0 && a.above(a.UnfitCanaries, a.markedAll, true)
}

// above leaves out one failure alone, which may be the tenant's own trouble, unless none is to be left out.
func (a *advance) above(failed, of int, none bool) bool {
	if failed == 0 || failed == 1 && a.limits.MaxFailedPercent > 0 && !none {
		return false
	}
	return failed*100 > a.limits.MaxFailedPercent*of
}

// room is how many may be released now. It keeps the progress.
func (a *advance) room() int {
	free := a.limits.MaxConcurrent - a.InFlight
	switch {
	case a.limits.Swift:
		return free
	case a.limits.Canaries == 0 && a.marked+a.markedOpen > 0 && a.Progress.Step <= 1:
		a.Progress = Progress{Step: 1, Target: a.out() + a.marked}
		return min(free, a.marked)
	case a.Tried() < a.canaries() && a.Progress.Step <= 1:
		a.Progress = Progress{Step: 1, Target: a.canaries()}
		return min(free, a.canaries()-a.out())
	case !a.limits.Stepwise() && (a.Stopped || a.Paused || a.limits.Strict && a.Progress.Step <= 1 && a.InFlight > 0):
		return 0
	case !a.limits.Stepwise():
		a.Progress = Progress{Step: 2}
		return min(a.limits.MaxConcurrent, a.Applied+1) - a.InFlight
	}
	a.settle()
	return min(free, a.Progress.Target-a.out())
}

// settle ends a step when all that it reaches were tried, and begins the next one after the pause.
func (a *advance) settle() {
	p := &a.Progress
	if p.Step == 0 || p.Target == 0 {
		*p = Progress{Step: max(p.Step, 1), Target: a.out()}
	}
	if p.Settled.IsZero() {
		if a.InFlight > 0 || a.Tried() < p.Target || a.Waiting == 0 {
			return
		}
		p.Settled = a.now
	}
	if a.Stopped || a.Paused || a.Waiting == 0 {
		return
	}
	if left := p.Settled.Add(a.limits.Pause).Sub(a.now); left > 0 {
		a.Again = left
		return
	}
	*p = Progress{Step: p.Step + 1, Target: a.out() + a.size()}
}

// size is how many more come in the next step.
func (a *advance) size() int {
	const whole = 100
	switch {
	case a.limits.Step > 0:
		return a.limits.Step
	case a.limits.StepPercent > 0:
		return max(1, (a.Tenants*a.limits.StepPercent+whole-1)/whole)
	}
	return max(1, a.Applied)
}

// candidate is a member that can be released, with its turn.
type candidate struct {
	Member

	turn uint64
}

// compare sorts canaries first, then those that had no trouble before, and all by their turn.
func (c candidate) compare(other candidate) int {
	return cmp.Or(before(c.Canary, other.Canary), before(other.Uneasy, c.Uneasy), cmp.Compare(c.turn, other.turn), strings.Compare(c.UID, other.UID))
}

// next are the UIDs of the n that come first. To sort a large fleet for a few of it takes too long.
func next(revision string, members []Member, n int) (uids []string) {
	var first []candidate
	for _, m := range members {
		if m.State != Waiting {
			continue
		}
		c := candidate{m, turn(revision, m)}
		if at, _ := slices.BinarySearchFunc(first, c, candidate.compare); at < n {
			first = slices.Insert(first[:min(len(first), n-1)], at, c)
		}
	}
	for _, c := range first {
		uids = append(uids, c.UID)
	}
	return uids
}

// before sorts what is first.
func before(x, y bool) int {
	switch {
	case x == y:
		return 0
	case x:
		return -1
	}
	return 1
}

// turn is a place in the order of a rollout that can't be chosen: otherwise the first tenants could let every change
// fail that they don't like.
func turn(revision string, m Member) uint64 {
	sum := sha256.Sum256([]byte(revision + m.UID))
	return binary.BigEndian.Uint64(sum[:])
}
