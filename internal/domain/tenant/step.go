package tenant

import (
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
)

// Step is the one thing that a decision asks for. The set of steps is closed.
//
//sumtype:decl
type Step interface {
	chain.Step
	step()
}

// EnsureFinalizer adds our finalizer to an object that does not have it.
type EnsureFinalizer struct{ chain.Applies }

// Look reads the namespace from the API server.
type Look struct{ chain.Reads }

// AskBudget asks the breaker.
type AskBudget struct{ chain.Reads }

// HoldPlan adds the finalizer to the plan.
type HoldPlan struct{ chain.Applies }

// CreateNamespace makes the namespace. Its UID label is there from the first moment.
type CreateNamespace struct {
	chain.Applies

	Object plan.Object
	// Memory is what status remembers of a tenant with this namespace.
	Memory Memory
}

// ApplyNamespace gives the namespace of that UID its labels and annotations, and takes those in Drop from it.
type ApplyNamespace struct {
	chain.Applies

	Object plan.Object
	UID    string
	Drop   []string
	// Adopts says that it was not the tenant's before.
	Adopts bool
}

// Try asks the API server whether it would take these objects.
type Try struct {
	chain.Reads

	Objects []plan.Object
}

// Apply changes the children.
type Apply struct {
	chain.Applies
	plan.Changes
}

// DeleteNamespace asks for the deletion of the namespace, with all that is in it.
type DeleteNamespace struct {
	chain.Applies

	Live plan.Live
}

// LetGo drops the finalizer.
type LetGo struct{ chain.Releases }

// Rest ends the pass.
type Rest struct {
	chain.Rests

	// After is when to look again; zero leaves it to events.
	After time.Duration
	// KeepConditions leaves the conditions of the last pass: nothing was tried in this one.
	KeepConditions bool
}

func (EnsureFinalizer) step() {}
func (Look) step()            {}
func (AskBudget) step()       {}
func (HoldPlan) step()        {}
func (CreateNamespace) step() {}
func (ApplyNamespace) step()  {}
func (Try) step()             {}
func (Apply) step()           {}
func (DeleteNamespace) step() {}
func (LetGo) step()           {}
func (Rest) step()            {}

// Decision is the outcome of a chain.
type Decision = chain.Decision[Step]
