package tenancy

import (
	"time"

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

// Look reads the namespace from the API server.
type Look struct{}

// CreateNamespace makes the namespace. Its UID label is there from the first moment.
type CreateNamespace struct{ Object Object }

// ApplyNamespace gives the namespace of that UID its labels and annotations, and takes those in Drop from it.
type ApplyNamespace struct {
	Object Object
	UID    string
	Drop   []string
	// Adopts says that it was not the tenant's before.
	Adopts bool
}

// Try asks the API server whether it would take these objects.
type Try struct{ Objects []Object }

// Apply brings the children to what is wanted. Each stands for itself: one that fails stops no other.
type Apply struct {
	Create []Object
	Update []Update
	// Replace are those that differ in what can't be changed: they are deleted and made anew.
	Replace []Update
	Prune   []Live
}

// Update is an object over the one of that UID.
type Update struct {
	Object

	UID string
}

func (a *Apply) empty() bool { return len(a.Create)+len(a.Update)+len(a.Replace)+len(a.Prune) == 0 }

// DeleteNamespace asks for the deletion of the namespace, with all that is in it.
type DeleteNamespace struct{ Live Live }

// LetGo drops the finalizer.
type LetGo struct{}

// Rest ends the pass.
type Rest struct {
	// After is when to look again; zero leaves it to events.
	After time.Duration
}

func (Look) step()            {}
func (CreateNamespace) step() {}
func (ApplyNamespace) step()  {}
func (Try) step()             {}
func (Apply) step()           {}
func (DeleteNamespace) step() {}
func (LetGo) step()           {}
func (Rest) step()            {}

// Effect implements Step.
func (Look) Effect() step.Effect { return step.Reads }

// Effect implements Step.
func (CreateNamespace) Effect() step.Effect { return step.Keeps }

// Effect implements Step.
func (ApplyNamespace) Effect() step.Effect { return step.Keeps }

// Effect implements Step.
func (Try) Effect() step.Effect { return step.Reads }

// Effect implements Step.
func (Apply) Effect() step.Effect { return step.Keeps }

// Effect implements Step.
func (DeleteNamespace) Effect() step.Effect { return step.Keeps }

// Effect implements Step.
func (LetGo) Effect() step.Effect { return step.Releases }

// Effect implements Step.
func (Rest) Effect() step.Effect { return step.Rests }

// Decision is the outcome of a chain.
type Decision struct {
	// Rule is the name of the rule that fired.
	Rule string
	Step Step
	// Problem is what stands in the way of the namespace, nil when nothing does.
	Problem *Problem
}

// Problem is what stands in the way.
type Problem struct {
	Reason  Reason
	Message string
}
