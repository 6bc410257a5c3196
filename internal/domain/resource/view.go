// Package resource knows what all things in AWS have in common of which tags prove that they are ours: what is known
// and remembered of them, the rules that ask about it, and what status says.
package resource

import (
	"slices"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/loss"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
)

// Object is what is known of the Kubernetes object of an AWS resource.
type Object struct {
	Now time.Time
	// Me is the owner that our tags name.
	Me         ownership.Owner
	Generation int64
	// Paused stops every write for this object, Halt every write for all objects. Nil: writes continue.
	Paused bool
	// PausedNote is what there is to say of the value of the annotation; usually nothing.
	PausedNote string
	Halt       *chain.Halt
	// Ungranted is set while the object asks for more than its namespace may have. Audited means that nothing is held
	// for it.
	Ungranted *chain.Halt
	Audited   bool
	// HasFinalizer is true while our finalizer is on the object.
	HasFinalizer bool
	// CreateMark is when a create was last announced. Zero: never.
	CreateMark time.Time
	// AdoptedGeneration is the generation of the spec for which a resource was adopted. While it is the present
	// one, what the spec does not speak of stays as it is.
	AdoptedGeneration int64
	// Guarded means that the breaker has to clear what takes something out of service.
	Guarded bool
	// Rescued means that an object of that name was deleted a while ago, and left its resource for the next.
	Rescued bool
	// Nudged is true when a user asked to look again at once, with that Token.
	Nudged bool
	Token  string
}

// Still reports whether nothing may be changed in AWS for the object.
func (o Object) Still() bool { return o.Paused || o.Halt != nil || o.Frozen() }

// Frozen reports whether the object keeps what it has in AWS and gets nothing new, because it asks for too much.
func (o Object) Frozen() bool { return o.Ungranted != nil && !o.Audited }

// StillText says why nothing is changed. Empty: it may be.
func (o Object) StillText() string {
	switch {
	case o.Halt != nil:
		return o.Halt.Message
	case o.Paused:
		return "The operator changes nothing while the object is paused."
	case o.Frozen():
		return o.Ungranted.Message
	}
	return ""
}

// markFresh is how long a create mark may be reused for another try. It has to be much shorter than GracePeriod, which
// counts from the mark.
const markFresh = 10 * time.Second

// MarkCreate sets the mark of a create that is about to be sent, and returns the one before.
func (o *Object) MarkCreate(now time.Time) (before time.Time) {
	before = o.CreateMark
	if now.Sub(before) > markFresh {
		o.CreateMark = now
	}
	return before
}

// Policy is what the user allows, whatever the kind.
type Policy struct {
	Drift    DriftPolicy
	Adoption AdoptionPolicy
	// Granted means that a grant may limit the adoption. AdoptFrom are the clusters from which it allows to adopt with
	// Force.
	Granted   bool
	AdoptFrom []string
	// Retain keeps the resource in AWS when the object is deleted.
	Retain bool
}

// Memory is what status of every kind remembers because it can't be observed cheaply or at all.
type Memory struct {
	// ID is the resource's ID in AWS. Empty: no known resource.
	ID string
	// Account is the AWS account of the resource. Empty: none was ever seen.
	Account string
	// AppliedGeneration is the generation that AWS was last made equal to.
	AppliedGeneration int64
	// AppliedTagKeys are the keys of users' tags that we set.
	AppliedTagKeys []string
	Failure        *Failure
	// Conditions are those that are in status now.
	Conditions map[chain.ConditionType]chain.Condition
}

// World is what was observed of a resource of any kind.
type World struct {
	Knowledge Knowledge
	// Tags are the resource's tags if TagsKnown. TagsDue asks for a fresh look.
	Tags      map[string]string
	TagsKnown bool
	TagsDue   bool
	// TagsFresh is true when they were read in this pass, TagsRead when that last was.
	TagsFresh bool
	TagsRead  time.Time
	// OwnerAlive is true when the foreign owner in the tags is a live object of this cluster.
	OwnerAlive bool
	// Account is the AWS account of the operator's credentials, empty until it was looked up.
	Account string
	// Budget is what the breaker answers to a deletion, or to the loss of that BudgetHarm, if BudgetKnown.
	Budget      loss.Answer
	BudgetHarm  string
	BudgetKnown bool
	// Unreadable is why something could not be read that a decision needs.
	Unreadable *fault.Error
	// Refused is how the last write of this pass was refused, nil when it was not.
	Refused *fault.Error
}

// RefusedWith reports whether this pass's write was refused with one of those kinds.
func (w World) RefusedWith(kinds ...fault.Kind) bool {
	return w.Refused != nil && slices.Contains(kinds, w.Refused.Kind)
}

// RefusedKind is the kind of the read or write that AWS refused in this pass, None where it refused none.
func (w World) RefusedKind() fault.Kind {
	for _, refusal := range []*fault.Error{w.Refused, w.Unreadable} {
		if refusal != nil {
			return refusal.Kind
		}
	}
	return fault.None
}

// View is what the rules that all kinds share need to know. Each kind builds it from its own Input.
type View struct {
	Object

	Policy Policy
	Memory Memory
	World  World
	Tries  Tries

	// Noun is what messages call the resource.
	Noun string
	// Present is true while the resource is known to exist, with that ID and ARN then.
	Present bool
	ID, ARN string
	// Desired are the user's tags, the operator's default tags included, owner tags not.
	Desired map[string]string
	// Deleting is true from the deletion timestamp on.
	Deleting bool
	// Applied is true when AWS was last made equal to what is asked for now.
	Applied bool
	// Retain is true when the resource outlives the object.
	Retain bool
	// TrustsID means that the ID in status proves whose the resource is until something asks for its tags.
	TrustsID bool
	// TrustsMark is true where the mark on the object alone tells of a create that may not show yet, whatever this process
	// remembers: without the mark nothing is waited for.
	TrustsMark bool
	// Weighs is true while the deletion of the object would take something away that is its own.
	Weighs bool
	// Harm says what the next write takes away from the customers that are served, whatever caused it. Empty: nothing.
	Harm string
	// Moment is how long tags that an earlier pass read prove enough for a step that can't be taken back.
	Moment time.Duration
}

// Relation says whose the resource is, Unknown while its tags were not read.
func (v *View) Relation() ownership.Relation {
	if !v.World.TagsKnown {
		return ownership.Unknown
	}
	return ownership.Relate(v.Me, v.World.Tags)
}

// Mine reports whether the resource that is known is the one that status may speak of.
func (v *View) Mine() bool {
	if !v.Present || v.Elsewhere() {
		return false
	}
	relation := v.Relation()
	return relation == ownership.Ours || relation == ownership.Unknown && v.Memory.ID == v.ID
}

// InDoubt reports whether the tags of the resource that status has no longer prove it ours, and do not prove it another live
// object's either: they were removed or replaced, or the object or the cluster ID is another one. Nothing that depends on the
// resource is taken away for that.
func (v *View) InDoubt() bool {
	if !v.Present || v.Elsewhere() || v.Memory.ID != v.ID {
		return false
	}
	switch v.Relation() {
	case ownership.Unowned, ownership.Former:
		return true
	case ownership.Foreign:
		return !v.World.OwnerAlive
	case ownership.Unknown, ownership.Ours:
	}
	return false
}

// Proven reports whether the tags were read lately enough to write on the strength of them.
func (v *View) Proven() bool { return v.World.TagsKnown && v.Now.Sub(v.World.TagsRead) <= ProofAge }

// caller is the account of the operator's credentials, empty while it is not known.
func (v *View) caller() string {
	if v.Present {
		return AccountOf(v.ARN)
	}
	return v.World.Account
}

// Elsewhere reports whether the credentials are of another account than the resource.
func (v *View) Elsewhere() bool {
	caller := v.caller()
	return v.Memory.Account != "" && caller != "" && caller != v.Memory.Account
}

// Budgeted reports whether the object asks for something that the breaker has to clear.
func (v *View) Budgeted() bool {
	return v.Guarded && (v.Deleting && v.Weighs && !v.Retain || !v.Deleting && v.Harm != "")
}

// Held reports whether the breaker has not cleared it.
func (v *View) Held() bool {
	return v.Budgeted() && (!v.asked() || v.World.Budget.State != loss.Go)
}

// asked reports whether the breaker has answered what the object asks for now.
func (v *View) asked() bool { return v.World.BudgetKnown && v.World.BudgetHarm == v.Harm }

// Inheriting reports whether the spec is still the one for which the resource was adopted.
func (v *View) Inheriting() bool {
	return v.AdoptedGeneration != 0 && v.AdoptedGeneration == v.Generation
}

// Accepted reports whether AWS has accepted the configuration of the present generation.
func (v *View) Accepted() bool {
	return v.Tries.AcceptedFor == v.Generation && v.Tries.Accepted&WroteConfig != 0
}

// PreviousOwner is who the tags name, empty where they name none.
func (v *View) PreviousOwner() ownership.Shown {
	if owner, ok := ownership.FromTags(v.World.Tags); ok {
		return owner.ShownTo(v.Me)
	}
	return ownership.Shown{}
}

// createWait is how long it takes until reads can no longer lag behind the last create; not positive when none was
// sent.
func (v *View) createWait() time.Duration {
	sent := v.CreateMark
	if !v.TrustsMark && v.Tries.CreatedAt.After(sent) {
		sent = v.Tries.CreatedAt
	}
	if sent.IsZero() {
		return 0
	}
	return sent.Add(GracePeriod).Sub(v.Now)
}

// CreateFresh reports whether a create was sent so lately that AWS may not show its outcome.
func (v *View) CreateFresh() bool { return v.createWait() > 0 }

// Failing reports whether that is what fails of this generation.
func (v *View) Failing(reason chain.Reason) bool {
	f := v.Memory.Failure.of(v.Generation)
	return f != nil && f.Reason == reason
}

// Pausing is how long the failure of this generation is not due for its next try, which next names for the time of the
// last one. A fresh process keeps to the schedule of the one before it. A request of a user is due at once.
func (v *View) Pausing(next func(Failure, time.Time) time.Time) time.Duration {
	if v.Memory.Failure.of(v.Generation) == nil || v.Nudged || v.Tries.Asked {
		return 0
	}
	return max(v.DueIn(next), 0)
}

// DueIn is how long the failure in status still has to wait for its next try, whatever a user asks for.
func (v *View) DueIn(next func(Failure, time.Time) time.Time) time.Duration {
	last := v.Tries.Last
	if last.IsZero() {
		last = v.Now
	}
	return next(*v.Memory.Failure, last).Sub(v.Now)
}

// Fruitless reports whether this generation was corrected often enough to know that AWS does not keep it, or that
// something else keeps changing it back.
func (v *View) Fruitless() bool {
	return v.Tries.fruitless(v.Generation, v.Memory.Failure, v.Nudged, v.Now)
}
