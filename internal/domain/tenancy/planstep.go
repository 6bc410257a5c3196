package tenancy

import (
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
)

// PlanStep is the one thing that a decision about a plan asks for. The set of steps is closed.
//
//sumtype:decl
type PlanStep interface {
	// Effect says what the step does to the world.
	Effect() chain.Effect
	planStep()
}

// PlanEnsureFinalizer stores the finalizer, and the kinds of a plan's constraints with it, so that none is forgotten when the
// plan no longer names it.
type PlanEnsureFinalizer struct{ chain.Applies }

// PlanApply changes the constraints.
type PlanApply struct {
	chain.Applies
	Changes
}

// PlanRelease lets tenants have the present generation of the plan.
type PlanRelease struct {
	chain.Applies

	UIDs []string
}

// PlanLetGo removes the finalizer.
type PlanLetGo struct{ chain.Releases }

// PlanRest ends the pass.
type PlanRest struct {
	chain.Rests

	// After is when to look again; zero leaves it to events.
	After time.Duration
}

func (PlanEnsureFinalizer) planStep() {}
func (PlanApply) planStep()           {}
func (PlanRelease) planStep()         {}
func (PlanLetGo) planStep()           {}
func (PlanRest) planStep()            {}

// PlanDecision is the outcome of a chain.
type PlanDecision struct {
	// Rule is the name of the rule that fired.
	Rule string
	Step PlanStep
	// Problem is what stands in the way of the plan, nil when nothing does.
	Problem *chain.Problem
}

// PlanOutcome is how a pass ended.
type PlanOutcome struct {
	Decision PlanDecision
	// Err is what ended the pass before its decision could be carried out.
	Err error
}

// planRest ends the pass with a problem.
func planRest(reason chain.Reason, message string, after time.Duration) (PlanDecision, bool) {
	return PlanDecision{Step: PlanRest{After: after}, Problem: &chain.Problem{Reason: reason, Message: message}}, true
}

// planDo asks for a step.
func planDo(s PlanStep) (PlanDecision, bool) { return PlanDecision{Step: s}, true }

// planPass lets the next rule speak.
func planPass() (PlanDecision, bool) { return PlanDecision{}, false }
