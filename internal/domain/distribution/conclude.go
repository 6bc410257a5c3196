package distribution

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// What these kinds say beside what tenants say. The api package carries the same words as its contract.
const (
	// DeletionStalled is True once a deletion takes longer than it should.
	DeletionStalled chain.ConditionType = "DeletionStalled"

	ReasonInUse           chain.Reason = "InUse"
	ReasonDeletionTimeout chain.Reason = "DeletionTimeout"
)

// Report is what status says after a pass.
type Report struct {
	// Resource is nil while none is known that is ours.
	Resource *Observed
	// Absent means that AWS shows none.
	Absent bool
	// Forget means that the resource in status is gone.
	Forget            bool
	AppliedGeneration int64
	AppliedTagKeys    []string
	Creations         int32
	Deletion          *Progress
	Drift             []resource.Difference
	Failure           *resource.Failure
	Conditions        []chain.Condition
}

// shownAfter is how many failures in a row, about which nothing is known but that they happened, it takes to
// say so in status.
const shownAfter = 2

// Conclude computes the report of a pass. It is pure: the same world gives the same report, so that an
// unchanged one is never written again.
func Conclude(in Input, out Outcome) Report {
	r := Report{
		AppliedGeneration: in.Memory.AppliedGeneration, AppliedTagKeys: in.Memory.AppliedTagKeys,
		Creations: in.Memory.Creations, Failure: in.Memory.Failure, Deletion: in.progress(),
		Absent: in.World.Knowledge == resource.Absent && !in.elsewhere(),
	}
	if in.mine() {
		observed := *in.World.Resource
		r.Resource = &observed
		if in.nowApplied() {
			r.AppliedGeneration = in.Generation
		}
		if in.World.TagsKnown {
			r.AppliedTagKeys = resource.AppliedKeys(in.Desired.Tags, in.World.Tags, in.Memory.AppliedTagKeys)
		}
	}
	kept := Rest{}
	if rest, ok := out.Decision.Step.(Rest); ok {
		kept = rest
	}
	switch {
	case kept.Lost:
		r.Forget, r.Creations, r.AppliedGeneration = true, in.Memory.Creations+1, 0
		r.Failure = nil
	case kept.Hold || out.Err != nil:
		r.Drift = in.reportedDrift(r)
		if in.moved() {
			r.Failure = nil
		}
		r.Conditions = in.stalled(in.unchanged(r, out.Err), r)
		return r
	default:
		r.Failure = in.failure(out.Decision.Problem)
	}
	r.Drift = append(in.reportedDrift(r), out.Decision.Drift...)
	r.Conditions = in.stalled(in.conditions(r, out.Decision), r)
	return r
}

// nowApplied reports whether the present generation has reached AWS. Every read compares the whole
// configuration: nothing differs, or what differs was sent and accepted.
func (in Input) nowApplied() bool {
	if in.applied() || in.deleting() {
		return in.applied()
	}
	if !in.World.TagsKnown || !in.tagChange().Empty() {
		return false
	}
	return len(in.World.Differences) == 0 || in.inheriting() || in.accepted()
}

// reportedDrift is what status lists as differing from a generation that was applied.
func (in Input) reportedDrift(r Report) []resource.Difference {
	if in.deleting() || !in.mine() || r.AppliedGeneration != in.Generation || in.Policy.Drift == resource.DriftSuspend {
		return nil
	}
	return append(slices.Clone(in.World.Differences), in.tagChange().Differences(in.World.Tags)...)
}

// progress is the step that the deletion is at, and since when.
func (in Input) progress() *Progress {
	switch step := in.deletionStep(); {
	case !in.deleting() || in.left():
		return nil
	case in.moved():
		return &Progress{Step: step, Since: in.Now.Truncate(time.Second)}
	}
	return in.Memory.Deletion
}

// left reports whether what AWS has outlives the object.
func (in Input) left() bool {
	return in.Policy.Retain || in.World.present() && (in.World.Resource.Default || in.World.TagsKnown && in.relation() != ownership.Ours)
}

// moved reports whether the deletion is at another step than status says. What failed at the former one does not
// hold back this one.
func (in Input) moved() bool {
	step, before := in.deletionStep(), in.Memory.Deletion
	return in.deleting() && step != "" && (before == nil || before.Step != step)
}

// deletionStep is the step that the deletion is at, empty while this pass can't tell.
func (in Input) deletionStep() DeletionStep {
	w := in.World
	switch {
	case !w.Fresh || in.elsewhere():
		return ""
	case !w.present():
		return StepDeleting
	case w.Dependents != nil && w.Dependents.Count > 0:
		return StepInUse
	case w.Dependents == nil && (in.wasInUse() || in.Memory.Deletion == nil && w.Resource.Enabled):
		// Whether it has tenants could not be read.
		return ""
	case w.Resource.Enabled:
		return StepDisabling
	case !w.Resource.Settled():
		return StepSettling
	}
	return StepDeleting
}

// unchanged keeps the conditions of the last pass, but for what the failure itself says. Those of a step that the
// deletion has left behind are no longer true.
func (in Input) unchanged(r Report, err error) []chain.Condition {
	out := slices.SortedFunc(maps.Values(in.Memory.Conditions), byType)
	if in.moved() {
		out = in.conditions(r, Decision{})
	}
	ready, known := in.Memory.Conditions[chain.Ready]
	say := func(reason chain.Reason, message string) []chain.Condition {
		out = slices.DeleteFunc(out, func(c chain.Condition) bool { return c.Type == chain.Ready })
		return append(out, chain.Condition{Type: chain.Ready, Reason: reason, Message: message, Generation: in.Generation})
	}
	switch {
	case err == nil:
		return out
	case fault.Is(err, fault.Throttled):
		if !known {
			return say(resource.ReasonCreating, "Waiting for a turn: the operator's share of the AWS request rate is in use.")
		}
	case fault.Classified(err) && in.Attempts.Transients >= shownAfter && (!ready.Status || !in.applied()):
		return say(resource.ReasonAWSError, err.Error())
	}
	return out
}

// failure remembers the problem, and since when this generation has been failing.
func (in Input) failure(p *chain.Problem) *resource.Failure {
	if p == nil || !p.Stuck {
		// What did not take before has not taken until it has stayed for a while.
		if f := in.Memory.Failure.NotConverging(in.Generation); f != nil && in.Now.Sub(in.Attempts.LastCorrection) < resource.StableFor {
			return f
		}
		return nil
	}
	f := resource.Failure{Reason: p.Reason, Generation: in.Generation, Since: in.Now}
	// How long AWS has been saying that there is one already counts from when it first said so: from then on
	// the next caller reference is taken, which nothing else that failed before may hasten.
	anew := p.Reason == resource.ReasonCreating && !in.failing(resource.ReasonCreating)
	if old := in.Memory.Failure; old != nil && old.Generation == in.Generation && !anew {
		f.Since = old.Since
	}
	return &f
}

func byType(a, b chain.Condition) int { return strings.Compare(string(a.Type), string(b.Type)) }

func (in Input) conditions(r Report, d Decision) []chain.Condition {
	list := []chain.Condition{in.readyCondition(d), in.syncedCondition(r, d)}
	for i := range list {
		list[i].Generation = in.Generation
	}
	slices.SortFunc(list, byType)
	return list
}

func (in Input) readyCondition(d Decision) chain.Condition {
	no := func(reason chain.Reason, message string) chain.Condition {
		return chain.Condition{Type: chain.Ready, Reason: reason, Message: message}
	}
	p := d.Problem
	switch {
	case p != nil && p.Of != chain.Synced:
		return no(p.Reason, p.Message)
	case in.deleting():
		return in.deletingCondition()
	case !in.mine() && in.Paused:
		return no(resource.ReasonCreating, in.missingText()+" Nothing is done about it while the object is paused.")
	case !in.mine():
		return no(resource.ReasonCreating, in.missingText())
	}
	// A pass that writes, or must not, ends before the chain asks these.
	for _, rule := range []func(Input) (Decision, bool){settled, serving} {
		if d, fires := rule(in); fires {
			return no(d.Problem.Reason, d.Problem.Message)
		}
	}
	message := "Deployed to CloudFront's edge locations."
	if !in.World.Resource.Enabled {
		message = "Deployed and, as the spec asks, disabled: it answers no viewer."
	}
	return chain.Condition{Type: chain.Ready, Status: true, Reason: resource.ReasonDeployed, Message: message}
}

// deletingCondition says how far the deletion is when no rule named a problem.
func (in Input) deletingCondition() chain.Condition {
	c := chain.Condition{Type: chain.Ready, Reason: resource.ReasonDeleting, Message: fmt.Sprintf("The %s is being deleted.", in.Desired.Words.Noun)}
	switch {
	case in.Paused:
		c.Message = "The deletion waits: the object is paused."
	case in.left():
		c.Message = fmt.Sprintf("The object is being deleted; the %s stays in AWS.", in.Desired.Words.Noun)
	case in.World.present() && in.World.Resource.Enabled && in.relation() == ownership.Ours:
		c.Reason, c.Message = resource.ReasonDisabling, fmt.Sprintf("The %s is being disabled.", in.Desired.Words.Noun)
	}
	return c
}

func (in Input) syncedCondition(r Report, d Decision) chain.Condition {
	no := func(reason chain.Reason, message string) chain.Condition {
		return chain.Condition{Type: chain.Synced, Reason: reason, Message: message}
	}
	noun := in.Desired.Words.Noun
	p := d.Problem
	switch {
	case in.Paused:
		return no(resource.ReasonPaused, "Nothing is written for this object until its paused annotation is removed.")
	case p != nil && (p.Of == chain.Synced || p.Reason == resource.ReasonWrongAccount):
		return no(p.Reason, p.Message)
	case in.deleting():
		return no(resource.ReasonUpdatePending, "The object is being deleted.")
	case len(d.Drift) > 0 || r.Forget && in.Memory.ID != "":
		return no(resource.ReasonDriftDetected, fmt.Sprintf("The %s was deleted outside of Kubernetes.", noun))
	case !in.mine():
		return no(resource.ReasonUpdatePending, in.missingText())
	case r.AppliedGeneration != in.Generation:
		return no(resource.ReasonUpdatePending, in.pendingText())
	case len(r.Drift) > 0:
		return no(resource.ReasonDriftDetected, in.driftText(r.Drift))
	case in.Policy.Drift == resource.DriftSuspend:
		return chain.Condition{Type: chain.Synced, Status: true, Reason: resource.ReasonInSync,
			Message: "The spec was applied. With driftPolicy suspend nothing is said about changes made in AWS since."}
	}
	return chain.Condition{Type: chain.Synced, Status: true, Reason: resource.ReasonInSync, Message: "AWS equals the spec."}
}

// missingText says what there is while no resource is ours.
func (in Input) missingText() string {
	noun := in.Desired.Words.Noun
	switch {
	case in.World.Unreadable != nil:
		return fmt.Sprintf("It is not known what AWS has of the %s: it could not be read.", noun)
	case in.World.present():
		return fmt.Sprintf("The %s that AWS has is not this object's.", noun)
	case in.Memory.ID != "" && in.World.Knowledge == resource.Absent:
		return fmt.Sprintf("AWS shows no %s %s.", noun, in.Memory.ID)
	}
	return fmt.Sprintf("The %s does not exist yet.", noun)
}

func (in Input) pendingText() string {
	diff := append(slices.Clone(in.World.Differences), in.tagChange().Differences(in.World.Tags)...)
	if len(diff) == 0 {
		return "The spec has not been compared with AWS yet."
	}
	return "Not in AWS yet: " + resource.SomeFields(diff) + "."
}

func (in Input) driftText(drift []resource.Difference) string {
	switch {
	case in.inheriting():
		return fmt.Sprintf("Left as the adopted %s has it until the spec changes: %s.", in.Desired.Words.Noun, resource.SomeFields(drift))
	case in.Policy.Drift == resource.DriftReport:
		return fmt.Sprintf("Changed in AWS and left so by driftPolicy report: %s.", resource.SomeFields(drift))
	}
	return fmt.Sprintf("Changed in AWS: %s.", resource.SomeFields(drift))
}
