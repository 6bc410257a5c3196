package distribution

import (
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/retry"
)

// Input is everything that a decision is based on.
type Input struct {
	resource.Object

	// DeletedAt is the deletion timestamp, zero while the object lives.
	DeletedAt time.Time
	// AdoptedID is the resource that was adopted for AdoptedGeneration, the one that stays as it is.
	AdoptedID string

	Desired  Desired
	Policy   Policy
	Memory   Memory
	Attempts resource.Tries
	World    World
}

// Desired is what an object's spec asks for, as far as both kinds have it.
type Desired struct {
	Words Words
	// Adopts is the ID of the resource that is to be adopted. Empty: one is created.
	Adopts  string
	Enabled bool
	// Direct means that the resource serves viewers itself, so that no tenant keeps it from being deleted.
	Direct bool
	// Numbered means that AWS knows a create by a reference that it takes only once, so that the next create needs
	// another one. Where it knows it by a name, there is only that one.
	Numbered bool
	// Tags are the user's tags, the operator's default tags included, owner tags not.
	Tags map[string]string
	// Aliases are the domains that the resource is to serve itself.
	Aliases []string
	// Targets are the names of the platform's own that lead to the resource.
	Targets []Target
}

// Policy is what the user allows.
type Policy struct {
	resource.Policy

	// Holds means that aliases are held for the namespace when they leave AWS.
	Holds bool
	// AbandonDNS lets the object go although records of its targets stay.
	AbandonDNS bool
	// Timeout is how long a deletion may take before someone should look at it.
	Timeout time.Duration
}

// Memory is what status remembers because it can't be observed cheaply or at all.
type Memory struct {
	resource.Memory

	// Creations counts the resources that were created and then lost. It makes the next caller
	// reference.
	Creations int32
	// Deletion is how far the deletion had come.
	Deletion *Progress
	// Targets are the records of targets, by name.
	Targets map[string][]dns.Entry
}

// Progress is how far a deletion has come.
type Progress struct {
	Step  DeletionStep
	Since time.Time
}

// DeletionStep is a step of a deletion.
type DeletionStep string

// The steps of a deletion, in their order. The api package carries the same words as its contract.
const (
	StepInUse     DeletionStep = "InUse"
	StepDisabling DeletionStep = "Disabling"
	StepSettling  DeletionStep = "Settling"
	StepDeleting  DeletionStep = "Deleting"
)

// World is what was observed.
type World struct {
	// World knows Nothing, Absent or Whole.
	resource.World

	// Resource is set when Knowledge is Whole.
	Resource *Observed
	// Fresh is true when it was looked for in this pass.
	Fresh bool
	// Differences are those between the configuration in the spec and that in AWS.
	Differences []resource.Difference

	// Aliases are those that an earlier pass has seen in AWS. Nil: none has.
	Aliases []string
	// Unheld are those of the aliases that are about to leave AWS for which a claim has to be stored first, if
	// UnheldKnown. Unstored is why that failed.
	Unheld      []string
	UnheldKnown bool
	Unstored    string
	// Dependents are the tenants that use the resource, nil until they were listed. Serving is how many tenants serve through
	// it, as the account was last listed.
	Dependents *Dependents
	Serving    int
	// Targets is what is known of targets, by name.
	Targets map[string]Sight
}

// Dependents are tenants that use a resource.
type Dependents struct {
	// Count is how many there are, at least that many if More.
	Count int
	More  bool
	// Ours are the objects of this cluster among them.
	Ours []ownership.Owner
}

// deleting reports whether the object is being deleted.
func (in Input) deleting() bool { return !in.DeletedAt.IsZero() }

// present reports whether the resource is known to exist.
func (w World) present() bool { return w.Resource != nil }

// view is what the shared rules are asked about.
func (in Input) view() *resource.View {
	v := &resource.View{
		Object: in.Object, Policy: in.Policy.Policy, Memory: in.Memory.Memory, World: in.World.World, Tries: in.Attempts,
		Noun: in.Desired.Words.Noun, Present: in.World.present(), Desired: in.Desired.Tags, Deleting: in.deleting(),
		Applied: in.applied(), Retain: in.Policy.Retain,
	}
	if r := in.World.Resource; r != nil {
		v.ID, v.ARN, v.Retain = r.ID, r.ARN, v.Retain || r.Default
	}
	v.Weighs = in.Desired.Direct && (in.Memory.ID != "" || !in.CreateMark.IsZero())
	v.Harm = in.harm(v)
	return v
}

// applied reports whether the present generation was the last that AWS was made equal to.
func (in Input) applied() bool { return in.Memory.AppliedGeneration == in.Generation }

// inheriting reports whether an adopted resource is left as it is.
func (in Input) inheriting() bool {
	v := in.view()
	return v.Inheriting() && v.Present && v.ID == in.AdoptedID
}

// waiting is how long a failure of this generation is not due for its next try.
func (in Input) waiting() time.Duration { return in.view().Pausing(resource.Failure.NextTry) }

// followIn is the pause before the next look at something that has been in progress since then.
func (in Input) followIn(since time.Time) time.Duration {
	return retry.FollowDelay(in.Now.Sub(since), 0, maxFollow)
}

// maxFollow bounds the pause between two looks at a deployment or a deletion.
const maxFollow = time.Minute
