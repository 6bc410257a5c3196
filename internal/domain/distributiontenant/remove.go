package distributiontenant

import (
	"fmt"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/retry"
)

// removeRules is the chain for an object that is being deleted.
func removeRules() []rule {
	return []rule{
		chain.Ask("Paused", "A paused object is not torn down.", shared((*resource.View).Stopped)),
		chain.Ask("Readable", "What may not be read is said, not guessed.", shared((*resource.View).Readable)),
		chain.Ask("SameAccount", "Credentials of another account see another world, from which nothing is concluded.", shared((*resource.View).SameAccount)),
		chain.Ask("Located", "Absence is only believed after a read of this very tenant.", located),
		chain.Ask("Retracted", "No name may lead to CloudFront when its tenant goes: DNS comes first, and is in sync before anything else happens.", retracted),
		chain.Ask("CertificatesGone", "The managed certificates of a tenant that is gone are deleted, once nothing uses them.", certificatesGone),
		chain.Ask("Gone", "The object is let go once its tenant was positively not found, and no create can still be on its way.", gone),
		chain.Ask("Proven", "What the tags do not prove ours is left untouched.", provenOurs),
		chain.Ask("CertificatesLearned", "Which managed certificates are the tenant's own is stored while AWS can still tell.", certificatesLearned),
		chain.Ask("Retained", "A tenant that is kept loses the owner tags, nothing else.", shared((*resource.View).Retained)),
		chain.Ask("Disabled", "An enabled tenant is disabled first.", disabled),
		chain.Ask("Deleted", "A disabled tenant is deleted; where AWS wants it settled before, once more when it is.", deleted),
	}
}

func gone(in Input) (Decision, bool) {
	if in.World.Knowledge != resource.Absent {
		return pass()
	}
	if d, waits := in.answer(in.facts.resource.AwaitCreate(resource.Missing)); waits {
		return d, true
	}
	return do(LetGo{})
}

func located(in Input) (Decision, bool) {
	if in.World.Knowledge == resource.Nothing {
		return do(Look{At: LookTenant})
	}
	return pass()
}

func provenOurs(in Input) (Decision, bool) {
	v := in.facts.resource
	if !v.Proven() {
		return do(Look{At: LookTags})
	}
	if v.Relation() == ownership.Ours {
		return pass()
	}
	// Where reads lag, a tenant that was deleted may still answer to the name of one that
	// was just created, and be remembered for a while: it is waited out and looked at anew.
	if d, waits := in.answer(v.AwaitCreate(resource.Strange)); waits {
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

func deleted(in Input) (Decision, bool) {
	t := in.World.Tenant
	deleting, accepted := in.facts.resource.AwaitDelete()
	disabling := chain.Problem{Reason: resource.ReasonDisabling, Message: "The distribution tenant is disabled; waiting for the change to be deployed before it can be deleted."}
	settled := t.Status == Deployed
	switch {
	case accepted:
		return rest(deleting, retry.FollowEvery)
	case in.World.Refused != nil && !in.World.RefusedWith(fault.NotDisabled):
		return in.refusal()
	case in.World.RefusedWith(fault.NotDisabled) && settled:
		return stuck(resource.ReasonDisabling, in.World.Refused.Error())
	case !settled && (in.World.SettlesFirst || in.Attempts.DeleteRefused == t.ETag):
		return follow(disabling)
	}
	return certainly(in, Delete{ID: t.ID, ETag: t.ETag})
}
