package parent

import (
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/edge"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/step"
)

// Step is the one thing that a decision asks for. The set of steps is closed.
//
//sumtype:decl
type Step interface {
	// Effect says what the step does to the world.
	Effect() step.Effect
	step()
}

// Subject is what a Look reads.
type Subject string

// The subjects.
const (
	// LookResource is the resource itself: by its ID, or else by what a create that was sent named it.
	LookResource   Subject = "resource"
	LookTags       Subject = "tags"
	LookDependents Subject = "dependents"
	LookAccount    Subject = "account"
)

// Look reads one thing more before the decision is made.
type Look struct{ At Subject }

// Hold puts our finalizer on an object that lost it.
type Hold struct{}

// Create announces the create (finalizer and mark in one write) and creates the resource.
type Create struct{ Tags map[string]string }

// Adopt writes our owner tags, and nothing else, to a resource that is not ours yet.
type Adopt struct {
	ARN  string
	Tags map[string]string
	// Previous is who owned it, for the event. Empty: nobody.
	Previous string
}

// Update sends the whole configuration under the ETag that was read.
type Update struct {
	// Drift is what the update corrects; empty when the spec changed.
	Drift []edge.Difference
}

// Tag sets tags.
type Tag struct {
	ARN  string
	Tags map[string]string
	// Drift is what the step corrects; empty when the spec changed.
	Drift []edge.Difference
}

// Untag removes tags that we had set.
type Untag struct {
	ARN  string
	Keys []string
}

// Disable turns the resource off, the first half of a deletion.
type Disable struct{}

// Delete deletes the disabled resource.
type Delete struct{}

// LetGo drops the finalizer.
type LetGo struct {
	// Left names a resource that stays in AWS because it isn't ours or is kept.
	Left string
}

// Rest ends the pass.
type Rest struct {
	// After is when to look again; zero leaves it to the interval of drift detection.
	After time.Duration
	// Hold keeps the conditions of the last pass: nothing was tried in this one.
	Hold bool
	// Lost ends the pass so that status forgets the resource, and takes the next caller reference,
	// before another one is created.
	Lost bool
}

func (Look) step()    {}
func (Hold) step()    {}
func (Create) step()  {}
func (Adopt) step()   {}
func (Update) step()  {}
func (Tag) step()     {}
func (Untag) step()   {}
func (Disable) step() {}
func (Delete) step()  {}
func (LetGo) step()   {}
func (Rest) step()    {}

// Effect implements Step.
func (Look) Effect() step.Effect { return step.Reads }

// Effect implements Step.
func (Hold) Effect() step.Effect { return step.Keeps }

// Effect implements Step.
func (Create) Effect() step.Effect { return step.Writes }

// Effect implements Step.
func (Adopt) Effect() step.Effect { return step.Writes }

// Effect implements Step.
func (Update) Effect() step.Effect { return step.Writes }

// Effect implements Step.
func (Tag) Effect() step.Effect { return step.Writes }

// Effect implements Step.
func (Untag) Effect() step.Effect { return step.Writes }

// Effect implements Step.
func (Disable) Effect() step.Effect { return step.Writes }

// Effect implements Step.
func (Delete) Effect() step.Effect { return step.Writes }

// Effect implements Step.
func (LetGo) Effect() step.Effect { return step.Releases }

// Effect implements Step.
func (Rest) Effect() step.Effect { return step.Rests }

// Decision is the outcome of a chain.
type Decision struct {
	// Rule is the name of the rule that fired.
	Rule string
	Step Step
	// Problem is what stands in the way of Ready, nil when nothing does.
	Problem *edge.Problem
	// Drift is what differs and is only reported.
	Drift []edge.Difference
}

// Outcome is how a pass ended.
type Outcome struct {
	Decision Decision
	// Done are the steps that were carried out, in their order.
	Done []Step
	// Err is what ended the pass before its decision could be carried out.
	Err error
}
