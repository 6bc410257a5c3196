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
		chain.Ask("Paused", "While the object is paused, or all writes to AWS are halted, its resource is not deleted.", shared((*resource.View).Stopped)),
		chain.Ask("Readable", "If a read is not allowed, the condition reports it and nothing is assumed.", shared((*resource.View).Readable)),
		chain.Ask("SameAccount", "If the credentials belong to another AWS account, nothing is concluded from what they can see.", shared((*resource.View).SameAccount)),
		chain.Ask("WithinBudget", "A deletion waits for its burst to end, and for approval if the burst exceeds the deletion budget.", shared((*resource.View).WithinBudget)),
		chain.Ask("Located", "The tenant counts as missing only after a direct read of it, or after AWS has confirmed its deletion.", located),
		chain.Ask("DNSRemoved", "DNS records are deleted first, on every server of the DNS service, so that no name points to CloudFront without a tenant.", dnsRemoved),
		chain.Ask("KeyValuesDeleted", "The keys in key value stores are deleted after the tenant.", keysDeleted),
		chain.Ask("CertificatesGone", "After the tenant is deleted, its managed certificates are deleted once nothing uses them.", certificatesGone),
		chain.Ask("Gone", "The finalizer is removed after AWS has confirmed the deletion, or a read that the tenant does not exist, and no create request can still take effect.", gone),
		chain.Ask("Proven", "A resource without the owner tags of this object is not touched.", removalProven),
		chain.Ask("CertificatesLearned", "The list of the tenant's own managed certificates is stored while AWS can still provide it.", certificatesLearned),
		chain.Ask("Retained", "If the tenant is retained, only the owner tags are removed.", shared((*resource.View).Retained)),
		chain.Ask("Claimed", "The domains are claimed for the namespace before they leave AWS, so that no other namespace gets them at once.", claimed),
		chain.Ask("Disabled", "An enabled tenant is disabled first.", disabled),
		chain.Ask("Deleted", "A disabled tenant is deleted. If AWS first requires the deployment to end, the deletion is sent again after that.", deleted),
	}
}

func gone(in judged) (Decision, bool) {
	if in.World.Knowledge != resource.Absent {
		return pass()
	}
	if d, waits := in.answer(in.resource.AwaitCreate(resource.Missing)); waits {
		return d, true
	}
	return do(LetGo{})
}

func located(in judged) (Decision, bool) {
	if in.World.Knowledge == resource.Nothing {
		return do(Look{At: LookTenant})
	}
	return pass()
}

func removalProven(in judged) (Decision, bool) {
	v := in.resource
	if !v.Proven() {
		return do(Look{At: LookTags})
	}
	if v.Relation() == ownership.Ours {
		return pass()
	}
	// Where reads lag, a deleted tenant may still be returned for the name of one that was just created, and be
	// remembered for a while: wait, then look again.
	if d, waits := in.answer(v.AwaitCreate(resource.Strange)); waits {
		return d, true
	}
	switch {
	case !in.World.TenantFresh:
		return do(Look{At: LookTenant})
	case !in.World.TagsFresh:
		return do(Look{At: LookTags})
	}
	if !in.Policy.Retain {
		if d, waits := in.withoutKeys(); waits {
			return d, true
		}
	}
	return do(LetGo{Left: fmt.Sprintf("%s (%s)", in.World.Tenant.Name, in.World.Tenant.ID)})
}

func disabled(in judged) (Decision, bool) {
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
		// Where AWS replaces instead of merging, a bare disable would drop the domains.
		return do(Look{At: LookTenant})
	}
	whole := t.Tenant
	whole.Enabled = false
	return certainly(in, Disable{ID: t.ID, ETag: t.ETag, Whole: &whole})
}

func deleted(in judged) (Decision, bool) {
	t := in.World.Tenant
	deleting, accepted := in.resource.AwaitDelete()
	disabling := chain.Problem{Reason: resource.ReasonDisabling, Message: "The distribution tenant is disabled. It can be deleted after the change is deployed."}
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
