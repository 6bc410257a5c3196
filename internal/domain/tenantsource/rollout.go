package tenantsource

import (
	"fmt"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/rollout"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

// RolledOut is the condition of a source with a rollout.
const RolledOut chain.ConditionType = "RolledOut"

// The reasons of RolledOut.
const (
	AllRolledOut   chain.Reason = "RolledOut"
	RollingOut     chain.Reason = "RollingOut"
	RolloutPaused  chain.Reason = "RolloutPaused"
	RolloutStopped chain.Reason = "RolloutStopped"
	TenantsFailed  chain.Reason = "TenantsFailed"
)

// CountsEvery is how often figures of a rollout that change are stored, while nothing else changes.
const CountsEvery = 10 * time.Second

// LooksBehind reports whether it has to be known how many tenants are behind: no change is known to be on its way, and
// the current spec is not known to have reached all of them.
func (in Input) LooksBehind() bool {
	return in.Rollout != nil && !in.DryRun && in.Progress.Done() && in.Memory.RolledOut != in.Generation
}

// concludeRollout reports how far changes of the tenants have come; nil where there is nothing new to say.
func (in Input) concludeRollout() (*rollout.Rollout, []chain.Condition) {
	if in.Rollout == nil || in.DryRun {
		return nil, nil
	}
	a := in.Progress
	switch {
	case a.Done() && (in.Behind > 0 || !in.State.followed(in.View)):
		return nil, nil
	case !a.Done() && in.Memory.RolledOut > 0 && a.Failed == 0 && a.Waiting == a.InFlight:
		// Each has its turn at once. To report it would cost two writes for each row that changes.
		return nil, nil
	}
	return &a, []chain.Condition{rolledOut(a, in.Rollout.Pause)}
}

// followed reports whether all objects are what the current spec makes of their rows. Status may be older than the last poll
// of this process, and tells of the last one of the process before.
func (s State) followed(v View) bool {
	m := v.Memory
	polled := s.Generation == v.Generation && s.Failures == 0
	if s.LastRead.IsZero() {
		polled = m.Generation == v.Generation && m.Complete.Equal(m.LastPoll)
	}
	return polled && s.Refusals == 0 && m.PendingHash == ""
}

func rolledOut(a rollout.Rollout, pause time.Duration) chain.Condition {
	say := func(reason chain.Reason, format string, args ...any) chain.Condition {
		return chain.Condition{Type: RolledOut, Status: reason == AllRolledOut, Reason: reason, Message: fmt.Sprintf(format, args...)}
	}
	switch {
	case a.Done():
		return say(AllRolledOut, "no change waits for its turn")
	case a.Stopped:
		return say(RolloutStopped, "%d of the first %d tenants failed with the change, so the rollout is stopped. %s", a.Failed, a.Applied+a.Failed, a.First)
	case a.Paused:
		return say(RolloutPaused, "spec.rollout.paused is set, so the change reaches no more tenants. Remove it to continue")
	case a.Waiting > 0:
		return say(RollingOut, "a change is being rolled out%s", pauses(a, pause))
	}
	return say(TenantsFailed, "%s failed with the change. %s", prose.Count(a.Failed, "tenant", "tenants"), a.First)
}

// pauses is the end of a message that says when the next step begins, while a rollout pauses.
func pauses(a rollout.Rollout, pause time.Duration) string {
	if a.Again == 0 || a.Progress.Settled.IsZero() {
		return ""
	}
	// The delay is that of a moment ago, and would be another second each time.
	return ", and pauses until " + a.Progress.Settled.Add(pause).UTC().Format(time.RFC3339)
}
