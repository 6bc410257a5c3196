package distribution

import (
	"fmt"
	"slices"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// The reports of these kinds that tenants do not have. The api package has the same words as its contract.
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
	// Targets are the ledgers of targets to store next, by name.
	Targets map[string][]dns.Entry
	// Details are for the log of the operator only.
	Details []string
}

// Conclude computes the report of a pass. It is pure: the same world gives the same report, so that an
// unchanged one is never written again.
func Conclude(in Input, out Outcome) Report {
	r := in.report(out)
	r.Details = chain.Details(out.Decision.Problem, r.Conditions)
	for _, s := range out.Done {
		if a, ok := s.(Adopt); ok && a.Previous.Detail != "" {
			r.Details = append(r.Details, "The "+in.Desired.Words.Noun+" was adopted from "+a.Previous.Detail+".")
		}
	}
	return r
}

func (in Input) report(out Outcome) Report {
	v := in.view()
	end, _ := out.Decision.Step.(Rest)
	r := Report{
		AppliedGeneration: in.Memory.AppliedGeneration, AppliedTagKeys: v.Tags().Keys(end.Announced),
		Creations: in.Memory.Creations, Failure: in.Memory.Failure, Deletion: in.progress(),
		Absent: in.World.Knowledge == resource.Absent && !v.Elsewhere(),
	}
	if v.Mine() {
		observed := *in.World.Resource
		r.Resource = &observed
		if in.nowApplied() {
			r.AppliedGeneration = in.Generation
		}
	}
	r.Targets, _ = in.targetLedgers()
	switch {
	case end.Lost:
		r.Forget, r.Creations, r.AppliedGeneration = true, in.Memory.Creations+1, 0
		r.Failure = nil
	case end.KeepConditions || out.Err != nil:
		r.Drift = in.reportedDrift(r)
		if in.moved() {
			r.Failure = nil
		}
		standing := in.Memory.Standing()
		if in.moved() {
			// Those of a step that the deletion has left behind are no longer true.
			standing = in.conditions(r, Decision{})
		}
		r.Conditions = in.stalled(v.Interrupted(standing, out.Err), r)
		return r
	default:
		r.Failure = in.failure(out.Decision.Problem)
	}
	r.Drift = append(in.reportedDrift(r), end.Drift...)
	r.Conditions = in.stalled(in.conditions(r, out.Decision), r)
	return r
}

// nowApplied reports whether the present generation has reached AWS. Every read compares the whole
// configuration: nothing differs, or what differs was sent and accepted.
func (in Input) nowApplied() bool {
	if in.applied() || in.deleting() {
		return in.applied()
	}
	if !in.World.TagsKnown || !in.view().Tags().Change().Empty() {
		return false
	}
	return len(in.World.Differences) == 0 || in.inheriting() || in.view().Accepted()
}

// reportedDrift is what status lists as differing from a generation that was applied.
func (in Input) reportedDrift(r Report) []resource.Difference {
	if in.deleting() || !in.view().Mine() || r.AppliedGeneration != in.Generation || in.Policy.Drift == resource.DriftSuspend {
		return nil
	}
	return append(slices.Clone(in.World.Differences), in.view().Tags().Differences()...)
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
	v := in.view()
	return v.Retain || v.Present && v.World.TagsKnown && v.Relation() != ownership.Ours
}

// moved reports whether the deletion is at another step than status says. A failure at the previous step does not delay
// this one.
func (in Input) moved() bool {
	step, before := in.deletionStep(), in.Memory.Deletion
	return in.deleting() && step != "" && (before == nil || before.Step != step)
}

// deletionStep is the step that the deletion is at, empty while this pass can't tell.
func (in Input) deletionStep() DeletionStep {
	w := in.World
	switch {
	case !w.Fresh || in.view().Elsewhere():
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

// failure remembers the problem, and since when this generation has been failing.
func (in Input) failure(p *chain.Problem) *resource.Failure {
	v := in.view()
	f := v.NextFailure(p)
	if p != nil && p.Stuck && p.Reason == resource.ReasonCreating && !v.Failing(resource.ReasonCreating) {
		// How long AWS has been saying that there is one already counts from when it first said so: from then on the
		// next caller reference is used, and no earlier failure may bring that forward.
		f.Since = in.Now
	}
	return f
}

func (in Input) conditions(r Report, d Decision) []chain.Condition {
	list := in.view().Stamped(r.AppliedGeneration, in.readyCondition(d), in.syncedCondition(r, d))
	if _, targets := in.targetLedgers(); targets != nil {
		// It speaks of the generation that was judged.
		list = append(list, *targets)
		resource.Sort(list)
	}
	return chain.Sentences(list)
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
	case in.Halt != nil && in.Halt.Alone && !in.view().Mine():
		return no(in.Halt.Reason, in.Halt.Message)
	case !in.view().Mine() && in.Still():
		return no(resource.ReasonCreating, in.view().MissingText()+" "+in.StillText())
	case !in.view().Mine():
		return no(resource.ReasonCreating, in.view().MissingText())
	}
	// A pass that writes, or must not, ends before the chain asks these.
	for _, rule := range []func(Input) (Decision, bool){settled, serving} {
		if d, fires := rule(in); fires {
			return no(d.Problem.Reason, d.Problem.Message)
		}
	}
	if !in.World.Resource.Enabled {
		return no(resource.ReasonDisabled, "Deployed and disabled, as the spec requests: it does not answer requests. To enable it, set spec.enabled to true."+in.reach())
	}
	return chain.Condition{Type: chain.Ready, Status: true, Reason: resource.ReasonDeployed, Message: "Deployed to CloudFront's edge locations."}
}

// deletingCondition says how far the deletion is when no rule named a problem.
func (in Input) deletingCondition() chain.Condition {
	c := chain.Condition{Type: chain.Ready, Reason: resource.ReasonDeleting, Message: fmt.Sprintf("The %s is being deleted.", in.Desired.Words.Noun)}
	switch {
	case in.Still():
		c.Message = "The deletion is on hold. " + in.StillText()
	case in.left():
		c.Message = fmt.Sprintf("The object is being deleted. The %s stays in AWS.", in.Desired.Words.Noun)
	case in.World.present() && in.World.Resource.Enabled && in.view().Relation() == ownership.Ours:
		c.Reason, c.Message = resource.ReasonDisabling, fmt.Sprintf("The %s is being disabled.", in.Desired.Words.Noun)
	}
	return c
}

func (in Input) syncedCondition(r Report, d Decision) chain.Condition {
	v := in.view()
	end, _ := d.Step.(Rest)
	if c, told := v.Unsynced(d.Problem, len(end.Drift) > 0 || r.Forget && in.Memory.ID != ""); told {
		return c
	}
	switch {
	case !v.Mine():
		return resource.Pending(in.view().MissingText())
	case r.AppliedGeneration != in.Generation:
		return resource.Pending(resource.PendingText(append(slices.Clone(in.World.Differences), v.Tags().Differences()...)))
	}
	return v.Synced(r.Drift, in.inheriting())
}
