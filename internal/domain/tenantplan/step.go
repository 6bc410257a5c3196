package tenantplan

import (
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/rollout"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
)

// Step is the one thing that a decision about a plan asks for. The set of steps is closed.
//
//sumtype:decl
type Step interface {
	chain.Step
	step()
}

// EnsureFinalizer stores the finalizer, and the kinds of a plan's constraints with it, so that none is forgotten when the
// plan no longer names it.
type EnsureFinalizer struct{ chain.Applies }

// Apply changes the constraints.
type Apply struct {
	chain.Applies
	plan.Changes
}

// Try asks the API server in a dry run whether it would take what the plan gives its tenants.
type Try struct {
	chain.Reads

	Objects []plan.Object
}

// Release lets tenants have the present generation of the plan.
type Release struct {
	chain.Applies

	UIDs []string
	// Progress is how far the roll-out comes with them.
	Progress rollout.Progress
}

// LetGo removes the finalizer.
type LetGo struct{ chain.Releases }

// Rest ends the pass.
type Rest struct {
	chain.Rests

	// After is when to look again; zero leaves it to events.
	After time.Duration
}

func (EnsureFinalizer) step() {}
func (Apply) step()           {}
func (Try) step()             {}
func (Release) step()         {}
func (LetGo) step()           {}
func (Rest) step()            {}

// Decision is the outcome of a chain.
type Decision = chain.Decision[Step]

// Outcome is how a pass ended.
type Outcome struct {
	Decision Decision
	// Err is what ended the pass before its decision could be carried out.
	Err error
}

// rest ends the pass with a problem.
func rest(reason chain.Reason, message string, after time.Duration) (Decision, bool) {
	return Decision{Step: Rest{After: after}, Problem: &chain.Problem{Reason: reason, Message: message}}, true
}

// do asks for a step.
func do(s Step) (Decision, bool) { return Decision{Step: s}, true }

// pass lets the next rule speak.
func pass() (Decision, bool) { return Decision{}, false }
