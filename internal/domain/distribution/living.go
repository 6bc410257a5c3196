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
		chain.Ask("Readable", "What may not be read is said, not guessed.", shared((*resource.View).Readable)),
		chain.Ask("SameAccount", "Credentials of another account see another world, from which nothing is concluded.", shared((*resource.View).SameAccount)),
		chain.Ask("Informed", "What may exist is looked up before anything is concluded from its absence.", informed),
		chain.Ask("Owned", "A resource that the tags do not prove ours is adopted or left alone, as the policy says.", owned),
		chain.Ask("Paused", "A paused object is looked at and never written for.", shared((*resource.View).Stopped)),
		chain.Ask("Finalized", "A resource in AWS never stands behind an object without our finalizer.", shared((*resource.View).Finalized)),
		chain.Ask("Present", "A resource that does not exist is created, exactly once.", present),
		chain.Ask("Faithful", "What AWS has otherwise than the spec is updated, reported or ignored.", faithful),
		chain.Ask("TagsFaithful", "Tags that differ are set; those that we had set and nobody wants any more are removed.", shared((*resource.View).TagsFaithful)),
		chain.Ask("Settled", "A deployment in progress is followed.", settled),
		chain.Ask("Serving", "What somebody disabled outside is not ready.", serving),
	}
}

func informed(in Input) (Decision, bool) {
	neverSent := in.Memory.ID == "" && in.CreateMark.IsZero() && in.Desired.Adopts == ""
	switch {
	case in.World.Knowledge != resource.Nothing:
		return pass()
	case neverSent && !in.World.RefusedWith(fault.Exists):
		// AWS refuses to create a second one by itself.
		return pass()
	}
	return do(Look{At: LookResource})
}

func owned(in Input) (Decision, bool) { return in.answer(in.view().Owned(in.adoptionAdvice)) }

func (in Input) adoptionAdvice(relation ownership.Relation) string {
	what := fmt.Sprintf("%s %s exists already", in.Desired.Words.the(), in.World.Resource.label())
	previous := in.view().PreviousOwner()
	const untouched = "Nothing was changed."
	switch {
	case relation == ownership.Foreign && in.World.OwnerAlive:
		return fmt.Sprintf("%s and belongs to the object %s, which is alive. %s %s", what, previous, untouched, in.replaceText())
	case relation == ownership.Foreign:
		return fmt.Sprintf("%s and belongs to %s. %s Set spec.adoptionPolicy to Force to take it over. %s", what, previous, untouched, in.replaceText())
	case relation == ownership.Former:
		return fmt.Sprintf("%s and belongs to an earlier object of this name (%s). %s Set spec.adoptionPolicy to IfUnowned to take it over.", what, previous, untouched)
	default:
		return fmt.Sprintf("%s and has no owner tags. %s Set spec.adoptionPolicy to IfUnowned to take it over. %s", what, untouched, in.replaceText())
	}
}

// replaceText is the cure that takes nothing over: the field that names the resource can't be changed.
func (in Input) replaceText() string {
	return fmt.Sprintf("If another %s is meant, delete this object, which leaves this one untouched, and create one with another spec.%s.",
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
			"spec.%s %s: AWS knows no such %s in the account of the operator's credentials. Delete this object and create one with the right ID, or with none to have one created.",
			in.Desired.Words.Field, in.Desired.Adopts, in.Desired.Words.Noun))
	case in.Memory.ID == "":
		return in.create()
	case in.view().CreateFresh():
		return rest(in.view().Unseen(), retry.FollowEvery)
	case in.applied() && in.Policy.Drift != resource.DriftEnforce:
		d, _ := rest(in.view().Lost(in.Memory.ID), 0)
		d.Drift = []resource.Difference{{Field: "id", Desired: in.Memory.ID}}
		return d, true
	}
	return do(Rest{Lost: true})
}

// create sends the create, or waits for one that was accepted.
func (in Input) create() (Decision, bool) {
	v := in.view()
	if v.Created() {
		return rest(v.Unseen(), retry.FollowEvery)
	}
	return do(Create{Tags: v.WantedTags()})
}

// usedUp is for a create that AWS refused because there is, or was, one already, when none is found. Where
// reads lag it appears in a moment. A caller reference stays used after its distribution is gone: what does
// not appear for as long as a read may lag never will, and the next reference is taken.
func (in Input) usedUp() (Decision, bool) {
	f := in.Memory.Failure
	if in.Desired.Numbered && in.view().Failing(resource.ReasonCreating) && in.Now.Sub(f.Since) >= resource.GracePeriod {
		return do(Rest{Lost: true})
	}
	return stuck(resource.ReasonCreating, fmt.Sprintf(
		"AWS says that the %s %s was created already, but does not show it yet. Looking again. AWS: %s",
		in.Desired.Words.Noun, in.Desired.Words.Object, in.World.Refused.Message))
}

func faithful(in Input) (Decision, bool) {
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
	case in.view().Accepted() && !in.view().TagChange().Empty():
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
	return do(Update{Drift: drift})
}

func settled(in Input) (Decision, bool) {
	r := in.World.Resource
	if r.Settled() {
		return pass()
	}
	isNew := in.AdoptedID != r.ID && (in.Memory.ID == "" || in.Memory.Conditions[chain.Ready].Reason == resource.ReasonCreating)
	return rest(in.view().Deploying(isNew), in.followIn(r.Modified))
}

func serving(in Input) (Decision, bool) {
	if in.World.Resource.Enabled || !in.Desired.Enabled {
		return pass()
	}
	return rest(chain.Problem{Reason: resource.ReasonAWSError, Of: chain.Ready, Message: in.Desired.Words.the() +
		" is disabled in AWS although spec.enabled is true: it answers no viewer. Enable it there, or set spec.enabled to false if that is meant. " + in.leftText()}, 0)
}

// leftText says why the operator does not set back what it sees.
func (in Input) leftText() string {
	switch {
	case in.Paused:
		return "The operator writes nothing while the object is paused."
	case in.inheriting():
		return fmt.Sprintf("The operator leaves an adopted %s as it is until the spec changes.", in.Desired.Words.Noun)
	case in.Policy.Drift != resource.DriftEnforce:
		return fmt.Sprintf("With spec.driftPolicy %s the operator leaves it so; enforce would enable it.", in.Policy.Drift)
	}
	return "The operator goes on enabling it."
}
