package distributiontenant

import (
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
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
	LookTenant       Subject = "tenant"
	LookTags         Subject = "tags"
	LookDistribution Subject = "distribution"
	LookCertificates Subject = "certificates"
	LookManaged      Subject = "managed certificate"
	LookHolder       Subject = "domain holder"
	LookRouting      Subject = "routing endpoint"
	LookAccount      Subject = "account"
	LookZones        Subject = "zones"
	LookIPv6         Subject = "IPv6"
	LookAddresses    Subject = "addresses"
	LookVisible      Subject = "public DNS"
	LookBudget       Subject = "deletion budget"
	LookTurn         Subject = "order of changes"
	LookClaims       Subject = "domain claims"
	LookProofs       Subject = "proofs of domains"
	LookWords        Subject = "AWS's word on domains"
	LookGiver        Subject = "distribution that gives a domain"
	LookRenewal      Subject = "renewal of the certificate"
)

// Look reads one more thing before the decision is made.
type Look struct {
	chain.Reads

	At Subject
	// ARNs names the certificates to read.
	ARNs []string
	// Domains are those whose claims or proofs are looked at, or of which AWS is asked.
	Domains []string
	// Distribution is the ID of the one that gives a domain.
	Distribution string
}

// EnsureFinalizer puts our finalizer on an object that lost it.
type EnsureFinalizer struct{ chain.Applies }

// Claim stores claims for domains that the next step takes out of AWS, so that no other namespace gets them at once.
type Claim struct {
	chain.Applies

	Domains []string
}

// Create announces the create (finalizer and mark in one write) and creates the tenant.
type Create struct {
	chain.Writes

	Tenant  Tenant
	Tags    map[string]string
	Request *certificate.Request
	// Partial is true when domains that are handed over are not in it yet.
	Partial bool
}

// Adopt writes our owner tags, and nothing else, to a tenant that is not ours yet.
type Adopt struct {
	chain.Writes

	ARN  string
	Tags map[string]string
	// Previous is who owned it, for the event. Empty: no owner.
	Previous ownership.Shown
}

// Update changes what the tenant has otherwise than it should, under the ETag with which it was seen.
type Update struct {
	chain.Writes

	ID, ETag string
	// Seen is the tenant under that ETag. Parts that Tenant has as well are not sent: AWS keeps what an update leaves
	// out.
	Seen   Tenant
	Tenant Tenant
	// Request asks for a managed certificate along with the update; nil when none is wanted.
	Request *certificate.Request
	// Partial is true when a change of domains has to wait and is not in it.
	Partial bool
	// Drift is what the update corrects; empty when the spec changed.
	Drift []resource.Difference
}

// Move takes a domain from another tenant, or from the distribution From, and gives it to this one, in one step.
type Move struct {
	chain.Writes

	ID, ETag, Domain, From string
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
	// Release is true when they are the owner tags of a tenant that is kept.
	Release bool
}

// Disable turns the tenant off, the first half of a deletion.
type Disable struct {
	chain.Writes

	ID, ETag string
	// Whole is the configuration to send along, all of it, where AWS refused a bare disable.
	Whole *Tenant
}

// Delete deletes the disabled tenant.
type Delete struct {
	chain.Writes

	ID, ETag string
}

// DeleteCertificate deletes a managed certificate whose tenant is gone.
type DeleteCertificate struct {
	chain.Writes

	ARN string
}

// LetGo drops the finalizer.
type LetGo struct {
	chain.Releases

	// Left names a tenant that stays in AWS because it isn't ours or is kept.
	Left string
	// Abandons is true when it stays ours, for an object of the same name.
	Abandons bool
}

// Rest ends the pass.
type Rest struct {
	chain.Rests

	// After is when to look again; zero leaves it to the sweep.
	After time.Duration
	// Follow asks the inventory to keep an eye on the tenant until it has settled.
	Follow bool
	// KeepConditions leaves the conditions of the last pass: nothing was tried in this one.
	KeepConditions bool
	// Store ends the pass so that what was learned is stored before the next step.
	Store bool
	// Keys lets the ledger of keys in key value stores advance: nothing else stands in the way of them.
	Keys bool
	// Announced are the keys of tags that the next step sets. Status has them before.
	Announced []string
	// Drift is what differs and is only reported.
	Drift []resource.Difference
}

func (Look) step()            {}
func (EnsureFinalizer) step() {}
func (Claim) step()           {}
func (Create) step()          {}
func (Adopt) step()           {}
func (Update) step()          {}
func (Move) step()            {}
func (Tag) step()             {}
func (Untag) step()           {}
func (Disable) step()         {}
func (Delete) step()          {}
func (LetGo) step()           {}
func (Rest) step()            {}

func (DeleteCertificate) step() {}

// Decision is the outcome of a chain.
type Decision = chain.Decision[Step]

// within ends a rest after that time at the latest; zero sets no such time.
func within(due time.Duration, d Decision) Decision {
	if r, rests := d.Step.(Rest); rests && due > 0 && (r.After == 0 || due < r.After) {
		r.After = due
		d.Step = r
	}
	return d
}
