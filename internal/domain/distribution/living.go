package distribution

import (
	"fmt"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/retry"
)

// livingRules is the chain for an object that lives.
func livingRules() []rule {
	return []rule{
		chain.Ask("Granted", "If the object asks for more than its EdgeGrant allows, nothing is looked up for it. An object that has a resource is treated as if it were paused.", shared((*resource.View).Granted)),
		chain.Ask("Readable", "If a read is not allowed, the condition reports it and nothing is assumed.", shared((*resource.View).Readable)),
		chain.Ask("SameAccount", "If the credentials belong to another AWS account, nothing is concluded from what they can see.", shared((*resource.View).SameAccount)),
		chain.Ask("LookedUp", "A resource that may exist is looked up before the operator treats it as missing.", lookedUp),
		chain.Ask("Owned", "A resource without the owner tags of this object is adopted or left alone, depending on the adoption policy.", owned),
		chain.Ask("Paused", "For a paused object, and while all writes to AWS are halted, the operator reads from AWS but changes nothing.", shared((*resource.View).Stopped)),
		chain.Ask("Finalized", "An object with a resource in AWS always has the finalizer.", shared((*resource.View).Finalized)),
		chain.Ask("Counted", "Before a shared resource is disabled, or loses what its tenants live on, they are counted.", counted),
		chain.Ask("WithinBudget", "A change or a correction that takes customers out of service counts in the deletion budget, as a deletion does. A resource with tenants is not taken from them without an approval.", shared((*resource.View).WithinBudget)),
		chain.Ask("Present", "A resource that does not exist is created exactly once.", present),
		chain.Ask("InSync", "Differences between AWS and the spec are corrected, reported or ignored, depending on the drift policy.", inSync),
		chain.Ask("TagsInSync", "Tags that differ are set. Tags that the operator set earlier and that are no longer wanted are removed.", shared((*resource.View).TagsInSync)),
		chain.Ask("TargetsPlaced", "The hosted zones of customer targets are looked up before their records are published.", targetsPlaced),
		chain.Ask("Settled", "A deployment in progress is followed until it ends.", settled),
		chain.Ask("Serving", "A resource that was disabled outside of Kubernetes is not Ready.", serving),
	}
}

func lookedUp(in Input) (Decision, bool) {
	neverSent := in.Memory.ID == "" && in.CreateMark.IsZero() && in.Desired.Adopts == ""
	switch {
	case in.World.Knowledge != resource.Nothing:
		return pass()
	case neverSent && !in.World.RefusedWith(fault.Exists):
		// AWS refuses to create a second one.
		return pass()
	}
	return do(Look{At: LookResource})
}

func owned(in Input) (Decision, bool) { return in.answer(in.view().Owned(in.adoptionAdvice)) }

func (in Input) adoptionAdvice(relation ownership.Relation) string {
	what := fmt.Sprintf("%s %s already exists", in.Desired.Words.the(), in.World.Resource.label())
	previous := in.view().PreviousOwner().Named()
	const untouched = "The operator does not change it."
	switch {
	case relation == ownership.Foreign && in.World.OwnerAlive:
		return fmt.Sprintf("%s and belongs to %s. That object exists. %s %s", what, previous, untouched, in.replaceText())
	case relation == ownership.Foreign:
		return fmt.Sprintf("%s and belongs to %s. %s To adopt it, set spec.adoptionPolicy to Force. %s", what, previous, untouched, in.replaceText())
	case relation == ownership.Former:
		return fmt.Sprintf("%s and belongs to an earlier object of this name (%s). %s To adopt it, set spec.adoptionPolicy to IfUnowned.", what, previous, untouched)
	default:
		return fmt.Sprintf("%s and has no owner tags. %s To adopt it, set spec.adoptionPolicy to IfUnowned. %s", what, untouched, in.replaceText())
	}
}

// replaceText is the fix that takes nothing over: the field that names the resource can't be changed.
func (in Input) replaceText() string {
	return fmt.Sprintf("To use a different %s, delete this object, which does not affect the existing resource, and create a new object with another spec.%s.",
		in.Desired.Words.Noun, in.Desired.Words.Field)
}

func present(in Input) (Decision, bool) {
	switch {
	case in.World.present():
		return pass()
	case in.World.RefusedWith(fault.Exists):
		return in.usedUp()
	case in.World.Refused != nil:
		return in.refusal()
	case in.Desired.Adopts != "":
		return stuck(resource.ReasonValidationFailed, fmt.Sprintf(
			"spec.%s %s: there is no such %s in the operator's AWS account. Delete this object and create one with the correct ID, or without an ID to have the operator create the resource.",
			in.Desired.Words.Field, in.Desired.Adopts, in.Desired.Words.Noun))
	case in.Memory.ID == "":
		return in.create()
	case in.view().CreateFresh():
		return rest(in.view().Unseen(), retry.FollowEvery)
	case in.applied() && in.Policy.Drift != resource.DriftEnforce:
		lost := in.view().Lost(in.Memory.ID)
		return Decision{Step: Rest{Drift: []resource.Difference{{Field: "id", Desired: in.Memory.ID}}}, Problem: &lost}, true
	}
	return do(Rest{Lost: true})
}

// create sends the create, or waits for one that was accepted.
func (in Input) create() (Decision, bool) {
	v := in.view()
	if v.Tries.CreatedLately(v.Now) {
		return rest(v.Unseen(), retry.FollowEvery)
	}
	return do(Create{Tags: v.Tags().Wanted})
}

// usedUp is for a create that AWS refused because there is, or was, one already, when none is found. Where
// reads lag it appears in a moment. A caller reference stays used after its distribution is gone: a distribution that
// does not appear for as long as a read may lag never will, and the next reference is taken.
func (in Input) usedUp() (Decision, bool) {
	f := in.Memory.Failure
	if in.Desired.Numbered && in.view().Failing(resource.ReasonCreating) && in.Now.Sub(f.Since) >= resource.GracePeriod {
		return do(Rest{Lost: true})
	}
	return stuck(resource.ReasonCreating, fmt.Sprintf(
		"AWS reports that the %s %s already exists, but does not return it yet. The operator keeps checking. AWS: %s",
		in.Desired.Words.Noun, in.Desired.Words.Object, in.World.Refused.Message))
}

func inSync(in Input) (Decision, bool) {
	diff := in.World.Differences
	if in.World.Refused != nil && !in.World.RefusedWith(fault.Exists) {
		return in.refusal()
	}
	if len(diff) == 0 || in.inheriting() {
		return pass()
	}
	var drift []resource.Difference
	switch {
	case in.applied() && in.Policy.Drift != resource.DriftEnforce:
		return pass()
	case in.applied():
		drift = diff
	case in.view().Accepted() && !in.view().Tags().Change().Empty():
		// The generation counts as applied once the tags are there as well, and only then does what AWS did not
		// keep count as drift. To send it again before them would never come to an end.
		return pass()
	}
	if in.view().Fruitless() {
		return in.answer(resource.NotConverging(diff))
	}
	if !in.view().Proven() {
		return do(Look{At: LookTags})
	}
	if d, fires := in.claimFirst(in.leaving()); fires {
		return d, true
	}
	return do(Update{Drift: drift, Changes: diff})
}

func settled(in Input) (Decision, bool) {
	r := in.World.Resource
	if r.Settled() {
		return pass()
	}
	isNew := in.AdoptedID != r.ID && (in.Memory.ID == "" || in.Memory.Conditions[chain.Ready].Reason == resource.ReasonCreating)
	p := in.view().Deploying(isNew)
	p.Message += in.reach()
	return rest(p, in.followIn(r.Modified))
}

func serving(in Input) (Decision, bool) {
	if in.World.Resource.Enabled || !in.Desired.Enabled {
		return pass()
	}
	return rest(chain.Problem{Reason: resource.ReasonAWSError, Of: chain.Ready, Message: in.Desired.Words.the() +
		" is disabled in AWS although spec.enabled is true, so it does not answer requests. Enable it in AWS, or set spec.enabled to false if this is intended. " + in.leftText()}, 0)
}

// leftText says why the operator does not set back what it sees.
func (in Input) leftText() string {
	switch {
	case in.Still():
		return in.StillText()
	case in.inheriting():
		return fmt.Sprintf("The operator does not change an adopted %s until the spec changes.", in.Desired.Words.Noun)
	case in.Policy.Drift != resource.DriftEnforce:
		return fmt.Sprintf("With driftPolicy %s the operator does not enable it; with enforce it would.", in.Policy.Drift)
	}
	return "The operator keeps trying to enable it."
}
