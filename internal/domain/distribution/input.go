package distribution

import (
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/retry"
)

// Input is everything that a decision is made from.
type Input struct {
	Now time.Time
	// Me is the owner that our tags name.
	Me         ownership.Owner
	Generation int64
	// DeletedAt is the deletion timestamp, zero while the object lives.
	DeletedAt time.Time
	// Paused stops every write for this object.
	Paused bool
	// Held is true while our finalizer is on the object.
	Held bool
	// CreateMark is when a create was last announced. Zero: never.
	CreateMark time.Time
	// AdoptedGeneration is the generation of the spec for which the resource AdoptedID was adopted. While it is
	// the present one, that resource stays as it is.
	AdoptedGeneration int64
	AdoptedID         string
	// Nudged is true when a person asked to look again at once.
	Nudged bool

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
	// Numbered means that AWS knows a create by a reference that it takes only once, so that the next create needs
	// another one. Where it knows it by a name, there is only that one.
	Numbered bool
	// Tags are the user's tags, the operator's default tags included, owner tags not.
	Tags map[string]string
}

// Policy is what the user allows.
type Policy struct {
	Drift    resource.DriftPolicy
	Adoption resource.AdoptionPolicy
	// Retain keeps the resource in AWS when the object goes.
	Retain bool
	// Timeout is how long a deletion may take before somebody should look.
	Timeout time.Duration
}

// Memory is what status remembers because it can't be observed cheaply or at all.
type Memory struct {
	// ID is the resource's id in AWS. Empty: there is none that is known.
	ID string
	// Account is the AWS account of the resource. Empty: none was ever seen.
	Account string
	// AppliedGeneration is the generation that AWS was last made equal to.
	AppliedGeneration int64
	// AppliedTagKeys are the keys of users' tags that we set.
	AppliedTagKeys []string
	// Creations counts the resources that were created and then lost. It makes the next caller
	// reference.
	Creations int32
	// Deletion is how far the deletion had come.
	Deletion *Progress
	Failure  *resource.Failure
	// Conditions are those that stand in status now.
	Conditions map[chain.ConditionType]chain.Condition
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
	// Knowledge is Nothing, Absent or Whole.
	Knowledge resource.Knowledge
	// Resource is set when Knowledge is Whole.
	Resource *Observed
	// Fresh is true when it was looked for in this pass.
	Fresh bool
	// Differences are those between the configuration in the spec and that in AWS.
	Differences []resource.Difference

	// Tags are the resource's tags if TagsKnown. TagsDue asks for a fresh look.
	Tags      map[string]string
	TagsKnown bool
	TagsDue   bool
	// TagsFresh is true when they were read in this pass, TagsRead when that last was.
	TagsFresh bool
	TagsRead  time.Time
	// OwnerAlive is true when the foreign owner in the tags is a live object of this cluster.
	OwnerAlive bool

	// Dependents are the tenants that hang on the resource, nil until they were asked for.
	Dependents *Dependents
	// Account is the AWS account of the operator's credentials, empty until it was looked up.
	Account string

	// Unreadable is why something could not be read that a decision needs.
	Unreadable *fault.Error
	// Refused is how the last write of this pass was refused, nil when it was not.
	Refused *fault.Error
}

// Dependents are tenants that hang on a resource.
type Dependents struct {
	// Count is how many there are, at least that many if More.
	Count int
	More  bool
	// Ours are the objects of this cluster among them, as namespace/name.
	Ours []string
}

// deleting reports whether the object is being deleted.
func (in Input) deleting() bool { return !in.DeletedAt.IsZero() }

// present reports whether the resource is known to exist.
func (w World) present() bool { return w.Resource != nil }

// relation says whose the resource is, Unknown while its tags were not read.
func (in Input) relation() ownership.Relation {
	if !in.World.TagsKnown {
		return ownership.Unknown
	}
	return ownership.Relate(in.Me, in.World.Tags)
}

// mine reports whether the resource that is known is the one that status may speak of.
func (in Input) mine() bool {
	if !in.World.present() || in.elsewhere() {
		return false
	}
	relation := in.relation()
	return relation == ownership.Ours || relation == ownership.Unknown && in.Memory.ID == in.World.Resource.ID
}

// proven reports whether the tags were read lately enough to write on the strength of them.
func (in Input) proven() bool {
	return in.World.TagsKnown && in.Now.Sub(in.World.TagsRead) <= resource.ProofAge
}

// applied reports whether the present generation was the last that AWS was made equal to.
func (in Input) applied() bool { return in.Memory.AppliedGeneration == in.Generation }

// accepted reports whether AWS has accepted the configuration of the present generation.
func (in Input) accepted() bool {
	return in.Attempts.AcceptedFor == in.Generation && in.Attempts.Accepted&resource.WroteConfig != 0
}

// inheriting reports whether an adopted resource is left as it is.
func (in Input) inheriting() bool {
	return in.AdoptedGeneration != 0 && in.AdoptedGeneration == in.Generation &&
		in.World.present() && in.World.Resource.ID == in.AdoptedID
}

// wantedTags are the user's tags and ours.
func (in Input) wantedTags() map[string]string { return ownership.Merge(in.Desired.Tags, in.Me) }

// tagChange is what has to change in the tags, empty while they were not read.
func (in Input) tagChange() resource.TagChange {
	if !in.World.TagsKnown {
		return resource.TagChange{}
	}
	return resource.DiffTags(in.wantedTags(), in.World.Tags, in.Memory.AppliedTagKeys)
}

// createFresh reports whether a create was sent so lately that AWS may not show its outcome.
func (in Input) createFresh() bool {
	sent := in.CreateMark
	if in.Attempts.CreatedAt.After(sent) {
		sent = in.Attempts.CreatedAt
	}
	return !sent.IsZero() && in.Now.Sub(sent) < resource.GracePeriod
}

// failing reports whether that is what fails of this generation.
func (in Input) failing(reason chain.Reason) bool {
	f := in.Memory.Failure
	return f != nil && f.Generation == in.Generation && f.Reason == reason
}

// waiting reports whether a failure of this generation is not due for its next try.
func (in Input) waiting() bool {
	f := in.Memory.Failure
	return f != nil && f.Generation == in.Generation && !in.Nudged && !in.Attempts.Asked && in.dueIn(f) > 0
}

// dueIn is how long the failure still has to wait for its next try. A fresh process keeps to the
// schedule of the one before it.
func (in Input) dueIn(f *resource.Failure) time.Duration {
	last := in.Attempts.Last
	if last.IsZero() {
		last = in.Now
	}
	return f.NextTry(last).Sub(in.Now)
}

// followIn is the pause before the next look at something that has been going on since then.
func (in Input) followIn(since time.Time) time.Duration {
	return retry.FollowDelay(in.Now.Sub(since), 0, maxFollow)
}

// maxFollow bounds the pause between two looks at a deployment or a deletion.
const maxFollow = time.Minute
