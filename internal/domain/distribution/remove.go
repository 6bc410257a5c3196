package distribution

import (
	"fmt"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/retry"
)

// removeRules is the chain for an object that is being deleted.
func removeRules() []rule {
	return []rule{
		chain.Ask("Paused", "While the object is paused, or all writes to AWS are halted, its resource is not deleted.", shared((*resource.View).Stopped)),
		chain.Ask("Readable", "If a read is not allowed, the condition reports it and nothing is assumed.", shared((*resource.View).Readable)),
		chain.Ask("SameAccount", "If the credentials belong to another AWS account, nothing is concluded from what they can see.", shared((*resource.View).SameAccount)),
		chain.Ask("WithinBudget", "A deletion waits for its burst to end, and for approval if the burst exceeds the deletion budget. What has tenants is not deleted anyway, and does not count.", shared((*resource.View).WithinBudget)),
		chain.Ask("Located", "Every step of a deletion starts with a fresh read of the resource.", located),
		chain.Ask("Gone", "The finalizer is removed after a read has confirmed that the resource does not exist and no create request can still take effect.", gone),
		chain.Ask("Proven", "A resource without the owner tags of this object is not touched.", proven),
		chain.Ask("Retained", "If the resource is retained, only the owner tags are removed. The same applies to the account's default connection group, which can't be deleted.", shared((*resource.View).Retained)),
		chain.Ask("Unused", "A resource that still has tenants is not disabled, because that would take them offline.", unused),
		chain.Ask("TargetsRemoved", "The records of customer targets are deleted once no tenant is left, and before anything else is, so that no name points to CloudFront without a connection group.", targetsRemoved),
		chain.Ask("Disabled", "An enabled resource is disabled first.", disabled),
		chain.Ask("SettledFirst", "The disabled state must be deployed to every edge location before AWS accepts the deletion.", settledFirst),
		chain.Ask("Claimed", "The aliases of a resource are held for the namespace before it is deleted.", claimed),
		chain.Ask("Deleted", "A disabled and deployed resource is deleted, with the ETag that was just read.", deleted),
	}
}

func located(in Input) (Decision, bool) {
	if in.World.Fresh {
		return pass()
	}
	// Also where neither status nor a mark tells of a create: our finalizer does, and the rest may be lost.
	return do(Look{At: LookResource})
}

func gone(in Input) (Decision, bool) {
	if in.World.present() {
		return pass()
	}
	if d, waits := targetsRemoved(in); waits {
		return d, true
	}
	// This process has deleted the resource that the create made, and AWS does not take a reference twice. A name is
	// free again: a create that another process was about to send would succeed.
	made := in.Desired.Numbered && !in.Attempts.DeletedAt.IsZero()
	if d, waits := in.answer(in.view().AwaitCreate(resource.Missing)); waits && !made {
		return d, true
	}
	return do(LetGo{})
}

func proven(in Input) (Decision, bool) {
	v := in.view()
	switch {
	case !v.Proven():
		return do(Look{At: LookTags})
	case v.Relation() == ownership.Ours:
		return pass()
	case !v.World.TagsFresh:
		return do(Look{At: LookTags})
	case in.Desired.Adopts == "" && !in.released():
		// It may be one of that name that was deleted, and reads lag behind that, too.
		if d, waits := in.answer(v.AwaitCreate(resource.Strange)); waits {
			return d, true
		}
	}
	if d, waits := targetsRemoved(in); waits {
		return d, true
	}
	return do(LetGo{Left: in.World.Resource.label()})
}

// released reports whether it is our own resource that carries our tags no more, because it stays.
func (in Input) released() bool {
	r := in.World.Resource
	return in.Memory.ID == r.ID && in.view().Retain
}

func unused(in Input) (Decision, bool) {
	d := in.World.Dependents
	switch {
	case d == nil && !in.World.Resource.Enabled && !in.World.RefusedWith(fault.InUse) && !in.wasInUse():
		// It serves no requests any more. AWS refuses to delete it while it has tenants.
		return pass()
	case d == nil:
		return do(Look{At: LookDependents})
	case d.Count > 0:
		return rest(chain.Problem{Reason: ReasonInUse, Message: in.inUseText(*d), Detail: in.inUseDetail(*d)}, in.followIn(in.DeletedAt))
	}
	return pass()
}

// wasInUse reports whether there were tenants at the last look.
func (in Input) wasInUse() bool {
	return in.Memory.Deletion != nil && in.Memory.Deletion.Step == StepInUse
}

func (in Input) inUseText(d Dependents) string {
	count := fmt.Sprint(d.Count)
	if d.More {
		count = "more than " + count
	}
	plural := "s"
	if d.Count == 1 && !d.More {
		plural = ""
	}
	text := fmt.Sprintf("The %s still has %s distribution tenant%s, so it is neither disabled nor deleted.", in.Desired.Words.Noun, count, plural)
	near, elsewhere := in.dependents(d)
	if len(near) > 0 {
		text += " Objects in this namespace: " + prose.List(near) + "."
	}
	switch {
	case len(elsewhere) > 0:
		text += fmt.Sprintf(" Objects in other namespaces: %d. Ask the platform team: the operator's log has their names.", len(elsewhere))
	case len(near) == 0:
		text += " None of them belongs to an object in this cluster."
	}
	return text + " Delete the tenants, or move them to another " + in.Desired.Words.Noun + "."
}

// dependents parts the objects behind the tenants by whether the object's namespace has them.
func (in Input) dependents(d Dependents) (near, elsewhere []string) {
	for _, o := range d.Ours {
		if o.Namespace == in.view().Me.Namespace {
			near = append(near, o.Namespace+"/"+o.Name)
		} else {
			elsewhere = append(elsewhere, o.Namespace+"/"+o.Name)
		}
	}
	return near, elsewhere
}

// inUseDetail names the objects that the message leaves out.
func (in Input) inUseDetail(d Dependents) string {
	_, elsewhere := in.dependents(d)
	if len(elsewhere) == 0 {
		return ""
	}
	return "Objects in other namespaces that have its tenants: " + prose.List(elsewhere) + "."
}

func disabled(in Input) (Decision, bool) {
	switch {
	case !in.World.Resource.Enabled:
		return pass()
	case in.World.Refused != nil:
		return in.refusal()
	}
	return certainly(in, Disable{})
}

func settledFirst(in Input) (Decision, bool) {
	r := in.World.Resource
	if r.Settled() {
		return pass()
	}
	return rest(chain.Problem{Reason: resource.ReasonDisabling, Message: fmt.Sprintf(
		"The %s is disabled. AWS deletes it only after the change is deployed to every edge location.", in.Desired.Words.Noun)},
		in.followIn(r.Modified))
}

func deleted(in Input) (Decision, bool) {
	deleting, accepted := in.view().AwaitDelete()
	switch {
	case accepted:
		return rest(deleting, retry.FollowEvery)
	case in.World.RefusedWith(fault.NotDisabled):
		// AWS relies on its own deployment state, which may lag behind what it shows.
		return stuck(resource.ReasonDisabling, in.World.Refused.Error())
	case in.World.Refused != nil:
		return in.refusal()
	}
	return certainly(in, Delete{})
}
