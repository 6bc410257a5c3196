package resource

import (
	"fmt"
	"slices"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/loss"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
)

// Act is what the verdict of a shared rule asks for.
type Act int

// The acts.
const (
	// Pass lets the next rule speak.
	Pass Act = iota
	// LookTags and LookAccount read the tags, or the account of the credentials.
	LookTags
	LookAccount
	// LookBudget asks the breaker.
	LookBudget
	// EnsureFinalizer puts our finalizer on the object.
	EnsureFinalizer
	// Adopt writes Tags, our owner tags, to a resource of the owner Previous.
	Adopt
	// Tag sets Tags, Untag removes Keys; Drift is what that corrects. Release removes the owner tags.
	Tag
	Untag
	Release
	// Announce ends the pass so that status has Keys before their tags are set.
	Announce
	// Tell says how the write of this pass was refused.
	Tell
	// Abandon lets the object go, and leaves the resource as it is.
	Abandon
	// Wait ends the pass with the conditions of the last one.
	Wait
	// Rest ends the pass with the Problem, if there is one, until After.
	Rest
)

// Verdict is the answer of a shared rule. Each kind turns it into its own step.
type Verdict struct {
	Do       Act
	Tags     map[string]string
	Keys     []string
	Previous ownership.Shown
	Drift    []Difference
	Problem  *chain.Problem
	After    time.Duration
}

func stuck(p chain.Problem) Verdict {
	p.Stuck = true
	return Verdict{Do: Rest, Problem: &p}
}

// Granted ends the pass of an object that has nothing in AWS, and asks for more than its namespace may have: nothing is
// looked up for it, so that it learns nothing of what others have. One that has something is stopped by the next rule.
func (v *View) Granted() Verdict {
	if !v.Frozen() || v.Memory.ID != "" {
		return Verdict{}
	}
	return Verdict{Do: Rest, Problem: &chain.Problem{Reason: v.Ungranted.Reason, Message: v.Ungranted.Message}}
}

// Stopped ends the pass of an object for which nothing may be changed.
func (v *View) Stopped() Verdict {
	if !v.Still() {
		return Verdict{}
	}
	return Verdict{Do: Rest}
}

// Readable ends the pass where something could not be read.
func (v *View) Readable() Verdict {
	if v.World.Unreadable == nil {
		return Verdict{}
	}
	return stuck(chain.Problem{Reason: ReasonOf(v.World.Unreadable.Kind), Message: v.World.Unreadable.Error()})
}

// SameAccount keeps a mistake in the operator's credentials from looking like the loss of the resource: it would be
// created again in the wrong account, or its object would lose its finalizer.
func (v *View) SameAccount() Verdict {
	switch {
	case v.Memory.Account == "", !v.Present && v.World.Knowledge != Absent:
		return Verdict{}
	case !v.Present && v.caller() == "":
		return Verdict{Do: LookAccount}
	case !v.Elsewhere():
		return Verdict{}
	}
	return stuck(chain.Problem{Reason: ReasonWrongAccount, Message: fmt.Sprintf(
		"The %s is in AWS account %s, but the operator's credentials belong to account %s. Nothing was changed. Give the operator credentials for account %s, or its namespace an EdgeGrant with that account.",
		v.Noun, v.Memory.Account, v.caller(), v.Memory.Account)})
}

// WithinBudget holds a deletion, and a change or a correction that does as much harm, until the breaker clears it.
func (v *View) WithinBudget() Verdict {
	switch {
	case !v.Budgeted():
		return Verdict{}
	case !v.asked():
		return Verdict{Do: LookBudget}
	}
	switch v.World.Budget.State {
	case loss.Go:
		return Verdict{}
	case loss.Stay:
		return Verdict{Do: Abandon}
	case loss.Held:
		return Verdict{Do: Rest, Problem: &chain.Problem{Reason: ReasonDeletionHeld, Message: v.World.Budget.Message}}
	case loss.Waiting:
	}
	return Verdict{Do: Wait}
}

// AskAgain is when the breaker is asked again by an object that waits for its answer, which wakes the object: in case
// that it can't answer.
const AskAgain = 20 * time.Second

// mayAdopt reports whether the resource of that owner may be taken over.
func (v *View) mayAdopt(relation ownership.Relation) bool {
	if relation == ownership.Foreign && v.Policy.Granted && !slices.Contains(v.Policy.AdoptFrom, v.World.Tags[ownership.ClusterKey]) {
		return false
	}
	return v.Rescued && relation == ownership.Former || v.Policy.Adoption.Allows(relation, v.World.OwnerAlive)
}

// Adoptable reports whether the resource is not the object's, and may become it.
func (v *View) Adoptable() bool { return v.Present && !v.Mine() && v.mayAdopt(v.Relation()) }

// Owned adopts a resource that the tags do not prove ours, or leaves it alone with that advice.
func (v *View) Owned(advice func(ownership.Relation) string) Verdict {
	if !v.Present {
		return Verdict{}
	}
	unproven := !v.World.TagsKnown && !(v.TrustsID && v.Memory.ID == v.ID)
	if unproven || v.World.TagsDue || v.Nudged && !v.World.TagsFresh {
		return Verdict{Do: LookTags}
	}
	relation := v.Relation()
	switch {
	case relation == ownership.Unknown, relation == ownership.Ours:
		return Verdict{}
	case !v.World.TagsFresh:
		// No list shows when the tags are changed, and nothing is taken from an owner who came meanwhile.
		return Verdict{Do: LookTags}
	case v.Still():
		return Verdict{Do: Rest}
	case v.Held():
		return v.doubted(relation)
	case !v.mayAdopt(relation):
		return stuck(chain.Problem{Reason: ReasonAdoptionRequired, Message: advice(relation) + v.grantText(relation), Detail: previousText(v.PreviousOwner())})
	case v.World.Refused != nil && !v.World.RefusedWith(fault.Exists):
		return Verdict{Do: Tell}
	}
	return Verdict{Do: Adopt, Tags: v.Me.Tags(), Previous: v.PreviousOwner()}
}

// doubted counts a resource that is no longer tagged as the object's, before anything is done about it: many of them at
// a time are one mistake.
func (v *View) doubted(relation ownership.Relation) Verdict {
	held := v.WithinBudget()
	if held.Problem == nil {
		return held
	}
	state, policy := "are gone", AdoptIfUnowned
	switch relation {
	case ownership.Former:
		state = "name an earlier object of this name (" + v.PreviousOwner().Named() + ")"
	case ownership.Foreign:
		state, policy = "name "+v.PreviousOwner().Named(), AdoptForce
	default:
	}
	granted := ""
	if !v.mayAdopt(relation) {
		granted = v.grantText(relation)
	}
	return stuck(chain.Problem{
		Reason: ReasonAdoptionRequired, Detail: previousText(v.PreviousOwner()),
		Message: fmt.Sprintf("The owner tags of the %s %s %s. The operator does not change it or its DNS records. To adopt it again takes spec.adoptionPolicy %s, and an approval of the plan.%s %s",
			v.Noun, v.ID, state, policy, granted, v.World.Budget.Message),
	})
}

// grantText says that the policy of the object alone does not decide.
func (v *View) grantText(relation ownership.Relation) string {
	if !v.Policy.Granted || relation == ownership.Foreign && v.World.OwnerAlive {
		return ""
	}
	return " The grant of the namespace does not allow adopting this one: ask an administrator of the platform for an EdgeGrant whose spec.adopt does."
}

// previousText says whose the resource is, or was, where no message may.
func previousText(s ownership.Shown) string {
	if s.Detail == "" {
		return ""
	}
	return "The resource belongs to " + s.Detail + "."
}

// Finalized keeps our finalizer on an object with a resource behind it.
func (v *View) Finalized() Verdict {
	if v.Present && !v.HasFinalizer {
		return Verdict{Do: EnsureFinalizer}
	}
	return Verdict{}
}

// TagsInSync sets tags that differ, and removes those that we had set and that are wanted no more. Status has the key
// of a tag before it is set.
func (v *View) TagsInSync() Verdict {
	switch {
	case !v.Present, !v.World.TagsKnown && v.Applied:
		return Verdict{}
	case !v.World.TagsKnown:
		return Verdict{Do: LookTags}
	}
	tags := v.Tags()
	change := tags.Change()
	if change.Empty() || v.Applied && v.Policy.Drift != DriftEnforce {
		return Verdict{}
	}
	diff := tags.Differences()
	var drift []Difference
	if v.Applied {
		drift = diff
	}
	switch {
	case v.Fruitless():
		return NotConverging(diff)
	case !v.Proven():
		return Verdict{Do: LookTags}
	case len(tags.unannounced()) > 0:
		return Verdict{Do: Announce, Keys: tags.unannounced()}
	case len(change.Set) > 0:
		return Verdict{Do: Tag, Tags: change.Set, Drift: drift}
	}
	return Verdict{Do: Untag, Keys: change.Remove}
}

// NotConverging says that AWS does not keep what is sent.
func NotConverging(diff []Difference) Verdict {
	return stuck(chain.Problem{Reason: ReasonDriftNotConverging, Of: chain.Synced, Message: fmt.Sprintf(
		"AWS did not keep %s after %d corrections: either AWS does not accept the value, or something else keeps changing it. The operator retries with increasing delays.",
		SomeFields(diff), MaxCorrections)})
}

// Certain lets a step be taken that can't be taken back: its proof was read in this pass, or as lately as the kind
// asks.
func (v *View) Certain() Verdict {
	if v.World.TagsFresh || v.Moment > 0 && v.Now.Sub(v.World.TagsRead) <= v.Moment {
		return Verdict{}
	}
	return Verdict{Do: LookTags}
}

// Retained takes the owner tags from a resource that outlives its object.
func (v *View) Retained() Verdict {
	switch proof := v.Certain(); {
	case !v.Retain:
		return Verdict{}
	case v.World.Refused != nil:
		return Verdict{Do: Tell}
	case proof.Do != Pass:
		return proof
	}
	return Verdict{Do: Release, Keys: ownership.Keys()}
}

// AwaitCreate holds an object back while a create that was just sent may not show yet; what is how it looks instead.
// If this process has the answers to all creates, nothing can appear any more.
func (v *View) AwaitCreate(what string) Verdict {
	wait := v.createWait()
	if wait <= 0 || !v.Tries.MayAppear(v.CreateMark) {
		return Verdict{}
	}
	return Verdict{Do: Rest, After: wait, Problem: &chain.Problem{Reason: ReasonDeleting, Message: fmt.Sprintf(
		"The %s %s, but a create request with an unknown result may still take effect. The finalizer is removed at %s.",
		v.Noun, what, v.Now.Add(wait).UTC().Format(time.RFC3339))}}
}

// Strange and Missing are how AwaitCreate looks.
const (
	Missing = "is not found"
	Strange = "in AWS does not belong to this object"
)

// redeletePause is how long a resource may still answer after its deletion was accepted before the deletion is sent
// once more.
const redeletePause = time.Minute

// AwaitDelete waits while AWS still shows what it has agreed to delete. The kind knows when to look again.
func (v *View) AwaitDelete() (chain.Problem, bool) {
	deleted := !v.Tries.DeletedAt.IsZero() && v.Now.Sub(v.Tries.DeletedAt) < redeletePause
	return chain.Problem{Reason: ReasonDeleting, Message: fmt.Sprintf("AWS has accepted the deletion but still returns the %s.", v.Noun)}, deleted
}

// Unseen is the problem of a resource that AWS does not show after its create.
func (v *View) Unseen() chain.Problem {
	return chain.Problem{Reason: ReasonCreating, Message: fmt.Sprintf("The %s was created, but AWS does not return it yet.", v.Noun)}
}

// Lost is the problem of a resource that was deleted outside, and that the drift policy does not create again; name is
// what it was known by.
func (v *View) Lost(name string) chain.Problem {
	return chain.Problem{Reason: ReasonAWSError, Message: fmt.Sprintf(
		"The %s %s was deleted outside of Kubernetes. With driftPolicy %s it is not created again. Change the spec, or set spec.driftPolicy to enforce.",
		v.Noun, name, v.Policy.Drift)}
}

// Deploying is the problem of a resource whose last change, or which itself if it is new, is on its way to the edge.
func (v *View) Deploying(isNew bool) chain.Problem {
	reason, what := ReasonDeploying, "The change"
	if isNew {
		reason, what = ReasonCreating, "The new "+v.Noun
	}
	return chain.Problem{Reason: reason, Message: what + " is being deployed to CloudFront's edge locations."}
}
