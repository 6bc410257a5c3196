package distribution

import (
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// Step is the one thing that a decision asks for. The set of steps is closed.
//
//sumtype:decl
type Step interface {
	chain.Step
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
	LookBudget     Subject = "deletion budget"
	// LookClaims asks for which of the Domains a claim has to be stored.
	LookClaims Subject = "claims"
	// LookZones asks for the zones of the target that Domains names.
	LookZones Subject = "zones"
)

// Look reads one more thing before the decision is made.
type Look struct {
	chain.Reads

	At Subject
	// Domains are those that LookClaims and LookZones are about.
	Domains []string
}

// Claim stores claims for domains that are about to leave AWS.
type Claim struct {
	chain.Applies

	Domains []string
}

// EnsureFinalizer puts our finalizer on an object that lost it.
type EnsureFinalizer struct{ chain.Applies }

// Create announces the create (finalizer and mark in one write) and creates the resource.
type Create struct {
	chain.Writes

	Tags map[string]string
}

// Adopt writes our owner tags, and nothing else, to a resource that is not ours yet.
type Adopt struct {
	chain.Writes

	ARN  string
	Tags map[string]string
	// Previous is who owned it, for the event. Empty: no owner.
	Previous ownership.Shown
}

// Update sends the whole configuration under the ETag that was read.
type Update struct {
	chain.Writes

	// Drift is what the update corrects; empty when the spec changed. Changes are all differences, for the event.
	Drift, Changes []resource.Difference
}

// Tag sets tags.
type Tag struct {
	chain.Writes

	ARN  string
	Tags map[string]string
	// Drift is what the step corrects; empty when the spec changed.
	Drift []resource.Difference
}

// Untag removes tags that we had set.
type Untag struct {
	chain.Writes

	ARN  string
	Keys []string
}

// Disable turns the resource off, the first half of a deletion.
type Disable struct{ chain.Writes }

// Delete deletes the disabled resource.
type Delete struct{ chain.Writes }

// LetGo drops the finalizer.
type LetGo struct {
	chain.Releases

	// Left names a resource that stays in AWS because it isn't ours or is kept.
	Left string
	// Abandons is true when it stays ours, for an object of the same name.
	Abandons bool
}

// Rest ends the pass.
type Rest struct {
	chain.Rests

	// After is when to look again; zero leaves it to the interval of drift detection.
	After time.Duration
	// KeepConditions leaves the conditions of the last pass: nothing was tried in this one.
	KeepConditions bool
	// Lost ends the pass so that status forgets the resource, and takes the next caller reference,
	// before another one is created.
	Lost bool
	// Store ends the pass so that what was learned is stored before the next step.
	Store bool
	// Announced are the keys of tags that the next step sets. Status has them before.
	Announced []string
	// Drift is what differs and is only reported.
	Drift []resource.Difference
}

func (Look) step()            {}
func (Claim) step()           {}
func (EnsureFinalizer) step() {}
func (Create) step()          {}
func (Adopt) step()           {}
func (Update) step()          {}
func (Tag) step()             {}
func (Untag) step()           {}
func (Disable) step()         {}
func (Delete) step()          {}
func (LetGo) step()           {}
func (Rest) step()            {}

// Decision is the outcome of a chain.
type Decision = chain.Decision[Step]

// Outcome is how a pass ended.
type Outcome struct {
	Decision Decision
	// Done are the steps that were carried out, in their order.
	Done []Step
	// Err is what ended the pass before its decision could be carried out.
	Err error
}
