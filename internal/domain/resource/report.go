package resource

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

// queueWait is the delay from which on a new object says that it waits for its turn. With a shorter one, the next
// status comes before a user notices.
const queueWait = 20 * time.Second

// shownAfter is how many failures in a row, about which nothing else is known, are needed before status reports them.
const shownAfter = 2

// Standing are the conditions of the last pass.
func (m Memory) Standing() []chain.Condition {
	list := slices.Collect(maps.Values(m.Conditions))
	Sort(list)
	return list
}

// Sort puts conditions into the order of their types.
func Sort(list []chain.Condition) {
	slices.SortFunc(list, func(a, b chain.Condition) int { return strings.Compare(string(a.Type), string(b.Type)) })
}

// Stamped puts the conditions in order, with the generation that they speak of. A resource that is ready with what was
// applied before is Ready for that generation: a client that waits for a change of the spec must not take it for done.
func (v *View) Stamped(applied int64, list ...chain.Condition) []chain.Condition {
	if v.Ungranted != nil && v.Audited {
		list = append(list, chain.Audited(*v.Ungranted))
	}
	for i := range list {
		list[i].Generation = v.Generation
		if list[i].Type == chain.Ready && list[i].Status {
			list[i].Generation = applied
		}
	}
	Sort(list)
	return chain.Sentences(list)
}

// Interrupted are the conditions after a pass that ended before its decision could be carried out: the present ones,
// apart from what the error itself says.
func (v *View) Interrupted(standing []chain.Condition, err error) []chain.Condition {
	ready, known := v.Memory.Conditions[chain.Ready]
	say := func(reason chain.Reason, message string) []chain.Condition {
		rest := slices.DeleteFunc(standing, func(c chain.Condition) bool { return c.Type == chain.Ready })
		return append(rest, chain.Condition{Type: chain.Ready, Reason: reason, Message: prose.Sentence(message), Generation: v.Generation})
	}
	switch {
	case err == nil:
	case fault.Is(err, fault.Throttled):
		if !known && fault.RetryAfter(err) > queueWait {
			return say(ReasonCreating, "Waiting: the operator's AWS request rate limit is used up for now.")
		}
	case fault.Classified(err) && v.Tries.Transients >= shownAfter && (!ready.Status || !v.Applied):
		return say(ReasonAWSUnavailable, err.Error())
	}
	return standing
}

// NextFailure is what has to be remembered of the problem that the pass ended with, and since when this generation has
// been failing.
func (v *View) NextFailure(p *chain.Problem) *Failure {
	if p == nil || !p.Stuck {
		// A correction that was undone before counts only after it has lasted for a while: if someone changes it back
		// again and again, the pauses grow.
		if f := v.Memory.Failure.notConverging(v.Generation); f != nil && v.Now.Sub(v.Tries.LastCorrection) < StableFor {
			return f
		}
		return nil
	}
	f := Failure{Reason: p.Reason, Generation: v.Generation, Since: v.Now}
	if old := v.Memory.Failure.of(v.Generation); old != nil {
		f.Since = old.Since
	}
	return &f
}

// Unsynced is the condition Synced where it can be told without a comparison. lost means that the resource was deleted
// outside.
func (v *View) Unsynced(p *chain.Problem, lost bool) (chain.Condition, bool) {
	switch {
	case v.Halt != nil:
		c := unsynced(v.Halt.Reason, v.Halt.Message)
		c.Detail = v.Halt.Detail
		return c, true
	case v.Paused:
		return unsynced(ReasonPaused, "The operator changes nothing for this object until its paused annotation is removed."+v.PausedNote), true
	case v.Frozen():
		return unsynced(v.Ungranted.Reason, v.Ungranted.Message), true
	case p != nil && (p.Of == chain.Synced || p.Reason == ReasonWrongAccount):
		return unsynced(p.Reason, p.Message), true
	case v.Deleting:
		return Pending("The object is being deleted."), true
	case lost:
		return unsynced(ReasonDriftDetected, fmt.Sprintf("The %s was deleted outside of Kubernetes.", v.Noun)), true
	}
	return chain.Condition{}, false
}

func unsynced(reason chain.Reason, message string) chain.Condition {
	return chain.Condition{Type: chain.Synced, Reason: reason, Message: message}
}

// Pending is the condition Synced while what is asked for has not reached AWS.
func Pending(message string) chain.Condition { return unsynced(ReasonUpdatePending, message) }

// MissingText says what there is while no resource is the object's own. It never denies what another condition says of the
// same resource.
func (v *View) MissingText() string {
	switch {
	case v.World.Unreadable != nil:
		return fmt.Sprintf("The state of the %s in AWS is unknown because it could not be read.", v.Noun)
	case v.Present:
		return fmt.Sprintf("The %s in AWS does not belong to this object.", v.Noun)
	case v.Tries.CreatedLately(v.Now), v.World.RefusedWith(fault.Exists):
		return fmt.Sprintf("AWS does not return the %s yet.", v.Noun)
	case v.Memory.ID != "" && v.World.Knowledge == Absent:
		return fmt.Sprintf("The %s %s was not found in AWS.", v.Noun, v.Memory.ID)
	}
	return fmt.Sprintf("The %s does not exist yet.", v.Noun)
}

// PendingText says what is not in AWS yet.
func PendingText(diff []Difference) string {
	if len(diff) == 0 {
		return "The spec has not been compared with AWS yet."
	}
	return "Not applied in AWS yet: " + SomeFields(diff) + "."
}

// Synced is the condition once the generation was applied. inherited means that what differs is left as it was adopted.
func (v *View) Synced(drift []Difference, inherited bool) chain.Condition {
	switch {
	case len(drift) > 0 && inherited:
		return unsynced(ReasonDriftDetected, fmt.Sprintf("Not changed on the adopted %s until the spec changes: %s.", v.Noun, SomeFields(drift)))
	case len(drift) > 0 && v.Policy.Drift == DriftReport:
		return unsynced(ReasonDriftDetected, fmt.Sprintf("Changed outside of Kubernetes and not reverted (driftPolicy report): %s.", SomeFields(drift)))
	case len(drift) > 0:
		return unsynced(ReasonDriftDetected, fmt.Sprintf("Changed outside of Kubernetes: %s.", SomeFields(drift)))
	}
	c := chain.Condition{Type: chain.Synced, Status: true, Reason: ReasonInSync, Message: "AWS matches the spec."}
	if v.Policy.Drift == DriftSuspend {
		c.Message = "The spec was applied. With driftPolicy suspend, later changes in AWS are not detected."
	}
	return c
}
