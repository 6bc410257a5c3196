package distribution

import (
	"fmt"
	"strings"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/retry"
)

// removeRules is the chain for an object that is being deleted.
func removeRules() []rule {
	return []rule{
		chain.Ask("Paused", "A paused object is not torn down.", paused),
		chain.Ask("Readable", "What may not be read is said, not guessed.", readable),
		chain.Ask("SameAccount", "Credentials of another account see another world, from which nothing is concluded.", sameAccount),
		chain.Ask("Located", "Every step of a deletion begins with a fresh read of the resource.", located),
		chain.Ask("Gone", "The object is let go once its resource was positively not found, and no create can still be on its way.", gone),
		chain.Ask("Proven", "What the tags do not prove ours is left untouched.", provenOurs),
		chain.Ask("Retained", "A resource that is kept loses the owner tags, nothing else; so does the account's default group, which can't be deleted.", retained),
		chain.Ask("Unused", "A resource with tenants is not disabled: it would take them offline.", unused),
		chain.Ask("Disabled", "An enabled resource is disabled first.", disabled),
		chain.Ask("SettledFirst", "A disable has to be deployed everywhere before AWS takes the deletion.", settledFirst),
		chain.Ask("Deleted", "A disabled and settled resource is deleted with the ETag that was just read.", deleted),
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
	// What this process has deleted is what the create made, and a reference is not taken twice. A name is free
	// again: a create that another process was about to send would succeed.
	made := in.Desired.Numbered && !in.Attempts.DeletedAt.IsZero()
	if in.createFresh() && !made {
		return in.awaitCreate("is not found")
	}
	return do(LetGo{})
}

// awaitCreate waits until reads can no longer lag behind the last create.
func (in Input) awaitCreate(what string) (Decision, bool) {
	wait := in.CreateMark.Add(resource.GracePeriod).Sub(in.Now)
	return rest(chain.Problem{Reason: resource.ReasonDeleting, Message: fmt.Sprintf(
		"%s %s. Waiting until a create that was just sent can no longer appear.", in.Desired.Words.the(), what)}, max(wait, time.Second))
}

func provenOurs(in Input) (Decision, bool) {
	if !in.proven() {
		return do(Look{At: LookTags})
	}
	switch {
	case in.relation() == ownership.Ours:
		return pass()
	case !in.World.TagsFresh:
		return do(Look{At: LookTags})
	case in.createFresh() && in.Desired.Adopts == "" && !in.released():
		// It may be one of that name that was deleted, and reads lag behind that, too.
		return in.awaitCreate("that AWS shows is not this object's")
	}
	return do(LetGo{Left: in.World.Resource.label()})
}

// released reports whether it is our own resource that carries our tags no more, because it stays.
func (in Input) released() bool {
	r := in.World.Resource
	return in.Memory.ID == r.ID && (in.Policy.Retain || r.Default)
}

// certainly takes a step that can't be taken back: its proof was read in this pass.
func certainly(in Input, s Step) (Decision, bool) {
	if !in.World.TagsFresh {
		return do(Look{At: LookTags})
	}
	return do(s)
}

func retained(in Input) (Decision, bool) {
	if !in.Policy.Retain && !in.World.Resource.Default {
		return pass()
	}
	if in.World.Refused != nil {
		return in.refusal()
	}
	return certainly(in, Untag{ARN: in.World.Resource.ARN, Keys: ownership.Keys()})
}

func unused(in Input) (Decision, bool) {
	d := in.World.Dependents
	switch {
	case d == nil && !in.World.Resource.Enabled && !in.refusedWith(fault.InUse) && !in.wasInUse():
		// It answers nobody any more. AWS itself refuses to delete it while it has tenants.
		return pass()
	case d == nil:
		return do(Look{At: LookDependents})
	case d.Count > 0:
		return rest(chain.Problem{Reason: ReasonInUse, Message: in.inUseText(*d)}, in.followIn(in.DeletedAt))
	}
	return pass()
}

// wasInUse reports whether there were tenants when somebody last looked.
func (in Input) wasInUse() bool {
	return in.Memory.Deletion != nil && in.Memory.Deletion.Step == StepInUse
}

// someNames is how many tenants a message names.
const someNames = 5

func (in Input) inUseText(d Dependents) string {
	count := fmt.Sprint(d.Count)
	if d.More {
		count = "more than " + count
	}
	plural := "s"
	if d.Count == 1 && !d.More {
		plural = ""
	}
	text := fmt.Sprintf("The %s has %s distribution tenant%s and stays as it is until they are gone.", in.Desired.Words.Noun, count, plural)
	if n := len(d.Ours); n > 0 {
		names := strings.Join(d.Ours[:min(n, someNames)], ", ")
		if n > someNames {
			names += fmt.Sprintf(" and %d more", n-someNames)
		}
		text += " Objects of this cluster among them: " + names + "."
	} else {
		text += " None of them belongs to an object of this cluster."
	}
	return text + " Delete them, or move them to another " + in.Desired.Words.Noun + "."
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
		"The %s is disabled; waiting until that is deployed to every edge location, before which AWS does not delete it.", in.Desired.Words.Noun)},
		in.followIn(r.Modified))
}

// redeletePause is how long a resource may go on answering after its deletion was accepted before the deletion
// is sent once more.
const redeletePause = time.Minute

func deleted(in Input) (Decision, bool) {
	switch {
	case !in.Attempts.DeletedAt.IsZero() && in.Now.Sub(in.Attempts.DeletedAt) < redeletePause:
		return rest(chain.Problem{Reason: resource.ReasonDeleting, Message: fmt.Sprintf(
			"The deletion was accepted; AWS still shows the %s.", in.Desired.Words.Noun)}, retry.FollowEvery)
	case in.refusedWith(fault.NotDisabled):
		// AWS goes by what its own deployment knows, which may lag behind what it shows.
		return stuck(resource.ReasonDisabling, in.World.Refused.Error())
	case in.World.Refused != nil:
		return in.refusal()
	}
	return certainly(in, Delete{})
}
