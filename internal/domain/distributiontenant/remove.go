package distributiontenant

import (
	"fmt"
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
		chain.Ask("Located", "Absence is only believed after a read of this very tenant.", located),
		chain.Ask("Retracted", "No name may lead to CloudFront when its tenant goes: DNS comes first, and is in sync before anything else happens.", retracted),
		chain.Ask("CertificatesGone", "The managed certificates of a tenant that is gone are deleted, once nothing uses them.", certificatesGone),
		chain.Ask("Gone", "The object is let go once its tenant was positively not found, and no create can still be on its way.", gone),
		chain.Ask("Proven", "What the tags do not prove ours is left untouched.", provenOurs),
		chain.Ask("CertificatesLearned", "Which managed certificates are the tenant's own is stored while AWS can still tell.", certificatesLearned),
		chain.Ask("Retained", "A tenant that is kept loses the owner tags, nothing else.", retained),
		chain.Ask("Disabled", "An enabled tenant is disabled first.", disabled),
		chain.Ask("Deleted", "A disabled tenant is deleted; where AWS wants it settled before, once more when it is.", deleted),
	}
}

func gone(in Input) (Decision, bool) {
	if in.World.Knowledge != resource.Absent {
		return pass()
	}
	if d, waits := createPending(in); waits {
		return d, true
	}
	return do(LetGo{})
}

// createPending holds an object back while a create that was just sent may not show yet.
func createPending(in Input) (Decision, bool) {
	wait := in.CreateMark.Add(resource.GracePeriod).Sub(in.Now)
	if in.CreateMark.IsZero() || wait <= 0 {
		return pass()
	}
	return rest(chain.Problem{Reason: resource.ReasonDeleting,
		Message: "The distribution tenant is not found. Waiting until a create that was just sent can no longer appear."}, wait)
}

func located(in Input) (Decision, bool) {
	if in.World.Knowledge == resource.Nothing {
		return do(Look{At: LookTenant})
	}
	return pass()
}

func provenOurs(in Input) (Decision, bool) {
	if !in.proven() {
		return do(Look{At: LookTags})
	}
	if in.relation() == ownership.Ours {
		return pass()
	}
	// Where reads lag, a tenant that was deleted may still answer to the name of one that
	// was just created, and be remembered for a while: it is waited out and looked at anew.
	if d, waits := createPending(in); waits {
		return d, true
	}
	switch {
	case !in.World.TenantFresh:
		return do(Look{At: LookTenant})
	case !in.World.TagsFresh:
		return do(Look{At: LookTags})
	}
	return do(LetGo{Left: fmt.Sprintf("%s (%s)", in.World.Tenant.Name, in.World.Tenant.ID)})
}

// moment is how long tags prove enough for a step that can't be taken back: as long as it
// takes to get from one pass to the next, so that a disable and the delete that follows it
// share one proof.
const moment = 5 * time.Second

// certainly takes a step that can't be taken back: its proof was read a moment ago.
func certainly(in Input, s Step) (Decision, bool) {
	if !in.World.TagsFresh && in.Now.Sub(in.World.TagsRead) > moment {
		return do(Look{At: LookTags})
	}
	return do(s)
}

func retained(in Input) (Decision, bool) {
	if !in.Policy.Retain {
		return pass()
	}
	if in.World.Refused != nil {
		return in.refusal()
	}
	return certainly(in, Untag{ARN: in.World.Tenant.ARN, Keys: ownership.Keys(), Release: true})
}

func disabled(in Input) (Decision, bool) {
	t := in.World.Tenant
	if !t.Enabled {
		return pass()
	}
	switch {
	case in.World.Refused != nil:
		return in.refusal()
	case !in.Attempts.DisableRefused:
		return certainly(in, Disable{ID: t.ID, ETag: t.ETag})
	case in.World.Knowledge != resource.Whole:
		// Where AWS replaces instead of merging, a bare disable lacks the domains.
		return do(Look{At: LookTenant})
	}
	whole := t.Tenant
	whole.Enabled = false
	return certainly(in, Disable{ID: t.ID, ETag: t.ETag, Whole: &whole})
}

// redeletePause is how long a tenant may go on answering after its deletion was
// accepted before the deletion is sent once more.
const redeletePause = time.Minute

func deleted(in Input) (Decision, bool) {
	t := in.World.Tenant
	deleting := chain.Problem{Reason: resource.ReasonDeleting, Message: "The deletion was accepted; AWS still shows the distribution tenant."}
	disabling := chain.Problem{Reason: resource.ReasonDisabling, Message: "The distribution tenant is disabled; waiting for the change to be deployed before it can be deleted."}
	settled := t.Status == Deployed
	switch {
	case !in.Attempts.DeletedAt.IsZero() && in.Now.Sub(in.Attempts.DeletedAt) < redeletePause:
		return rest(deleting, retry.FollowEvery)
	case in.World.Refused != nil && !in.refusedWith(fault.NotDisabled):
		return in.refusal()
	case in.refusedWith(fault.NotDisabled) && settled:
		return stuck(resource.ReasonDisabling, in.World.Refused.Error())
	case !settled && (in.World.SettlesFirst || in.Attempts.DeleteRefused == t.ETag):
		return Decision{Step: Rest{Follow: true, After: 2 * retry.FollowEvery}, Problem: &disabling}, true
	}
	return certainly(in, Delete{ID: t.ID, ETag: t.ETag})
}
