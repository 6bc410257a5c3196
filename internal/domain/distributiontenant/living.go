package distributiontenant

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/retry"
)

// firstSweepWait is how long an object that is known to exist waits for the first list
// of the account before it looks again. A list answers for a hundred objects at once.
const firstSweepWait = 5 * time.Second

// livingRules is the chain for an object that lives.
func livingRules() []rule {
	return []rule{
		chain.Ask("Granted", "If the object asks for more than its EdgeGrant allows, nothing is looked up for it. An object that has a tenant is treated as if it were paused.", shared((*resource.View).Granted)),
		chain.Ask("Paused", "For a paused object, and while all writes to AWS are halted, nothing is read or written. Status shows what the account's list of tenants contains.", shared((*resource.View).Stopped)),
		chain.Ask("Readable", "If a read is not allowed, the condition reports it and nothing is assumed.", shared((*resource.View).Readable)),
		chain.Ask("SameAccount", "If the credentials belong to another AWS account, nothing is concluded from what they can see.", shared((*resource.View).SameAccount)),
		chain.Ask("LookedUp", "A resource that may exist is looked up before the operator treats it as missing.", lookedUp),
		chain.Ask("CertificateKnown", "The state of a managed certificate is read when it may have changed.", certificateKnown),
		chain.Ask("Fresh", "A tenant whose list entry has changed is read completely.", fresh),
		chain.Ask("Owned", "A tenant without the owner tags of this object is adopted or left alone, depending on the adoption policy.", owned),
		chain.Ask("Finalized", "An object with a tenant in AWS always has the finalizer.", shared((*resource.View).Finalized)),
		chain.Ask("Proven", "If the EdgeGrant demands a proof of a domain, its TXT record is looked for in public DNS. Without it, the domain is treated as if the spec did not have it.", proven),
		chain.Ask("Announced", "If a tenant without DNS records of its own has to wait for its domains or its references, the target for its domains is looked up before it is created.", announced),
		chain.Ask("Addressed", "For a domain at the apex of its zone that the operator does not publish, the addresses of the group's Anycast static IP list are looked up.", addressed),
		chain.Ask("Referenced", "Objects that the spec references must exist in AWS. Until then, a new tenant waits and an existing tenant is not changed.", referenced),
		chain.Ask("WithinBudget", "A change or a correction of drift that takes a tenant, a domain, its records or its key values out of service counts in the deletion budget, as a deletion does.", shared((*resource.View).WithinBudget)),
		chain.Ask("InTurn", "A change of what the customers of a live tenant are served with reaches tenants in steps. Until it is the turn of this one, the fields that change stay as they are. Everything else is applied.", inTurn),
		chain.Ask("Accompanied", "A tenant is created without the domains that a standard distribution hands over, and needs another one.", accompanied),
		chain.Ask("KeyValuesWritten", "A tenant is created, or changed for a new spec, once the key value store has what functions read for it.", keysWritten),
		chain.Ask("PublishedFirst", "If CloudFront validates the domains, their DNS records are published before the tenant is created.", publishedFirst),
		chain.Ask("Led", "If CloudFront validates domains that the operator does not publish, it is asked to create the tenant when the object is new, once public DNS leads them there, and every hour.", led),
		chain.Ask("TenantPresent", "A tenant that does not exist is created once everything it needs exists.", tenantPresent),
		chain.Ask("InSync", "Differences between AWS and the spec are corrected, reported or ignored, depending on the drift policy. An issued certificate is attached. A domain that is handed over is moved, and one that is dropped is claimed for its namespace first.", inSync),
		chain.Ask("TagsInSync", "Tags that differ are set. Tags that the operator set earlier and that are no longer wanted are removed.", shared((*resource.View).TagsInSync)),
		chain.Ask("Routed", "The target of the DNS records is looked up once.", routed),
		chain.Ask("ZonesKnown", "The hosted zones of the domains are looked up before records are published.", zonesKnown),
		chain.Ask("Settled", "A deployment in progress is followed until it ends, unless domains wait for the next try of what AWS refused.", settled),
		chain.Ask("TakenOff", "A domain that a standard distribution hands over is moved once CloudFront would answer for it here: the tenant is deployed, it and its distribution are enabled, and its certificate covers the domain.", takenOff),
		chain.Ask("DomainsHeld", "A domain is added when it can be validated, and removed when its DNS record is deleted.", domainsHeld),
		chain.Ask("Explained", "If CloudFront has not served a domain for half an hour, it is asked what it thinks of the domain's DNS.", explained),
		chain.Ask("CertificateUsable", "A requested managed certificate must be issued and attached.", certificateUsable),
		chain.Ask("DistributionEnabled", "A distribution that was seen disabled is looked at again. Until it is enabled, CloudFront serves none of its tenants.", distributionEnabled),
		chain.Ask("Renewed", "If the tenant's own certificate ends within 45 days, ACM is asked once a day which domains keep its renewal up.", renewed),
		chain.Ask("Serving", "CloudFront must serve every domain.", serving),
	}
}

func lookedUp(in judged) (Decision, bool) {
	switch {
	case in.World.Knowledge != resource.Nothing:
		return pass()
	case in.World.RefusedWith(fault.Exists):
		return do(Look{At: LookTenant})
	case in.Memory.ID == "" && (in.CreateMark.IsZero() || !in.Attempts.MayAppear(in.CreateMark)):
		// Nothing was ever sent, or AWS has refused it. It refuses to create a duplicate, too.
		return pass()
	case in.Memory.ID != "" && !in.World.Swept && !in.Nudged:
		return do(Rest{After: firstSweepWait, KeepConditions: true})
	}
	return do(Look{At: LookTenant})
}

func fresh(in judged) (Decision, bool) {
	if in.Unresolved() && !in.Nudged && in.resource.Mine() {
		// The list tells enough of a tenant that nothing is compared with.
		return pass()
	}
	nudged := in.Nudged && !in.World.TenantFresh && in.World.present()
	if nudged || in.publication.Doubted && in.Attempts.DoubtedFor(in.Now) == 0 || in.World.Knowledge == resource.Listed && !in.trusted() && !in.attachesUnread() {
		return do(Look{At: LookTenant})
	}
	return pass()
}

// trusted reports whether the list alone proves that nothing has moved since AWS was last seen to equal the spec, apart
// from domains that are not proven.
func (in judged) trusted() bool {
	synced := in.Memory.Conditions[chain.Synced]
	equal := in.resource.Applied && (synced.Status || in.Memory.waitedForReference()) || in.stillUnproven()
	return equal && in.World.Knowledge == resource.Listed && in.Memory.ETag != "" &&
		in.World.Tenant.ETag == in.Memory.ETag && in.World.Tenant.ID == in.Memory.ID && synced.Generation == in.Generation
}

func owned(in judged) (Decision, bool) {
	v := in.resource.Owned(in.adoptionAdvice)
	if v.Do == resource.Adopt {
		if d, fires := referenced(in); fires {
			return d, true
		}
	}
	return in.answer(v)
}

func (in judged) adoptionAdvice(relation ownership.Relation) string {
	t, previous := in.World.Tenant, in.resource.PreviousOwner().Named()
	what := fmt.Sprintf("A distribution tenant named %q already exists (%s)", t.Name, t.ID)
	const other = "The operator does not change it. To create a different tenant, delete this object, which does not affect that tenant, and create one with another spec.tenantName."
	switch {
	case relation == ownership.Foreign && in.World.OwnerAlive:
		return fmt.Sprintf("%s and belongs to %s. That object exists. %s", what, previous, other)
	case relation == ownership.Foreign:
		return fmt.Sprintf("%s and belongs to %s. %s To adopt it, set spec.adoptionPolicy to Force.", what, previous, other)
	case relation == ownership.Former:
		return fmt.Sprintf("%s and belongs to an earlier object of this name (%s). The operator does not change it. To adopt it, set spec.adoptionPolicy to IfUnowned.", what, previous)
	default:
		return fmt.Sprintf("%s and has no owner tags. %s To adopt it, set spec.adoptionPolicy to IfUnowned.", what, other)
	}
}

func tenantPresent(in judged) (Decision, bool) {
	v := in.resource
	switch {
	case in.World.present():
		return pass()
	case in.World.Refused != nil:
		return in.refusal()
	case v.Tries.CreatedLately(v.Now):
		return follow(v.Unseen())
	case in.Memory.ID != "" && in.resource.Applied && in.Policy.Drift != resource.DriftEnforce:
		lost := v.Lost(strconv.Quote(in.Desired.Name))
		return Decision{Step: Rest{Drift: []resource.Difference{{Field: "tenantName", Desired: in.Desired.Name}}}, Problem: &lost}, true
	}
	if d, fires := preflight(in); fires {
		return d, true
	}
	target, waits := in.createdWithout(in.aim.target)
	if waits != nil {
		return *waits, true
	}
	return do(Create{
		Tenant: target, Tags: v.Tags().Wanted, Request: in.certificate.Next, Partial: len(target.Domains) < len(in.aim.target.Domains) || in.partial(),
	})
}

func inSync(in judged) (Decision, bool) {
	if in.World.blocked() {
		return in.refusal()
	}
	v := in.resource
	if !v.Present {
		return pass()
	}
	if d, fires := in.takenOver(); fires {
		return d, true
	}
	diff, request, attach := in.aim.diff, in.requestDue(), in.certificate.Attach
	if len(diff) == 0 && request == nil && !attach {
		return pass()
	}
	if request != nil && !in.stored {
		// Afterwards AWS only tells of the new one.
		return do(Rest{Store: true})
	}
	want := in.aim.effective
	var drift []resource.Difference
	if in.resource.Applied {
		drift = withoutAttaching(diff, attach)
		switch {
		case in.Policy.Drift != resource.DriftEnforce && request == nil && !attach:
			return pass()
		case in.World.Knowledge != resource.Whole && (in.Policy.Drift != resource.DriftEnforce || v.Inheriting()):
			// Values that stay as they are have to be known, because they are sent again.
			return do(Look{At: LookTenant})
		case in.Policy.Drift != resource.DriftEnforce:
			// Facts that were learned are written under every policy, and nothing else with them.
			want, drift = in.World.Tenant.Tenant, nil
			want.Customizations.CertificateARN = in.aim.target.Customizations.CertificateARN
		case (attach || len(drift) > 0) && v.Fruitless():
			return in.answer(resource.NotConverging(orAttaching(diff)))
		}
	}
	if d, fires := preflight(in); fires {
		return d, true
	}
	if !v.Proven() {
		return do(Look{At: LookTags})
	}
	t := in.World.Tenant
	if want.ConnectionGroupID == "" {
		want.ConnectionGroupID = t.ConnectionGroupID
	}
	u := Update{ID: t.ID, ETag: t.ETag, Seen: t.Tenant, Tenant: want, Request: request, Partial: in.partial(), Drift: drift}
	if in.World.Knowledge != resource.Whole {
		// The list does not tell them. The answer will, and what differs then is corrected.
		u.Seen.Parameters = want.Parameters
	}
	u = u.apart(v.Fruitless())
	if d, fires := in.claimFirst(dropped(u)); fires {
		return d, true
	}
	return do(u)
}

// apart keeps a request for a certificate and a change of customizations in updates of their own: nothing says that AWS
// takes a certificate and a request for another one together. The customizations come first, and nothing else with them. A
// new domain, which comes with the request, is then never served without the web ACL and the restrictions that it is to
// have, and an issued certificate is attached before AWS only tells of the next one. Customizations that AWS does not
// keep delay the request only for as long as any value that AWS does not keep is sent again. Those that are all taken
// away name no certificate, and an empty block that AWS does not take must not delay the request.
func (u Update) apart(fruitless bool) Update {
	customizations := u.Tenant.Customizations
	if u.Request == nil || customizations.Equals(u.Seen.Customizations) || customizations.Equals(Customizations{}) {
		return u
	}
	if fruitless {
		u.Tenant.Customizations = u.Seen.Customizations
		return u
	}
	u.Tenant, u.Request, u.Partial = u.Seen, nil, false
	u.Tenant.Customizations = customizations
	u.Drift = slices.DeleteFunc(slices.Clone(u.Drift), func(d resource.Difference) bool { return !strings.HasPrefix(d.Field, customizationsField) })
	return u
}

// withoutAttaching leaves out the certificate where it differs because one was issued.
func withoutAttaching(diff []resource.Difference, attach bool) []resource.Difference {
	var out []resource.Difference
	for _, d := range diff {
		if !attach || d.Field != certificateField {
			out = append(out, d)
		}
	}
	return out
}

// orAttaching names the certificate where the list alone shows that it was not kept.
func orAttaching(diff []resource.Difference) []resource.Difference {
	if len(diff) == 0 {
		return []resource.Difference{{Field: certificateField}}
	}
	return diff
}

// announced finds out where DNS has to point before there is a tenant, if the tenant has to wait for that, or waits anyway.
// One list answers for all tenants, and what it does not have is not asked for again.
func announced(in judged) (Decision, bool) {
	w := in.World
	if w.present() || in.Desired.DNS != nil || !in.ledFirst() && !in.Unresolved() || w.RoutingEndpoint != "" || in.answered() || !in.KnowsGroup() {
		return pass()
	}
	return do(Look{At: LookRouting})
}

// addressed looks up what a domain is told where DNS allows no CNAME.
func addressed(in judged) (Decision, bool) {
	apex := slices.ContainsFunc(in.Desired.Domains, func(d string) bool { return in.World.Places[d].Apex })
	if !in.watches() || in.World.RoutingEndpoint == "" || in.World.AddressesKnown || !apex {
		return pass()
	}
	return do(Look{At: LookAddresses})
}

func routed(in judged) (Decision, bool) {
	w := in.World
	// A tenant that had to be read again may have been moved to another group.
	remembered := in.Memory.RoutingEndpoint != "" && in.resource.Applied && !w.TenantFresh
	known := w.RoutingKnown || w.RoutingEndpoint != "" || remembered
	if !w.present() || known {
		return pass()
	}
	return do(Look{At: LookRouting})
}

func settled(in judged) (Decision, bool) {
	t := in.World.Tenant
	if t == nil || t.Status == Deployed || in.retriesDomains() {
		return pass()
	}
	ready, untouched := in.Memory.Conditions[chain.Ready], !t.Created.IsZero() && t.Modified.Equal(t.Created)
	return follow(in.resource.Deploying(ready.Type == "" || ready.Reason == resource.ReasonCreating || untouched))
}

// follow ends the pass with a problem that ends when the inventory sees the tenant move.
func follow(p chain.Problem) (Decision, bool) {
	return Decision{Step: Rest{Follow: true, After: 2 * retry.FollowEvery}, Problem: &p}, true
}

// distributionEnabled looks once more at a distribution that was last seen disabled. One read answers for all its tenants,
// and their usual passes come often enough.
func distributionEnabled(in judged) (Decision, bool) {
	p := in.distributionDisabled()
	if p == nil {
		return pass()
	}
	t := in.World.Tenant
	if in.World.References.distribution(t.DistributionID) == nil && in.World.Distribution == nil && in.Desired.DistributionID == t.DistributionID {
		return do(Look{At: LookDistribution})
	}
	return rest(*p, 0)
}

// distributionDisabled says that CloudFront does not answer for the tenant because of its distribution; nil if it may.
func (in judged) distributionDisabled() *chain.Problem {
	t := in.World.Tenant
	if t == nil || !in.Desired.Enabled {
		return nil
	}
	disabled, fix := in.World.DistributionDisabled, "Enable it in AWS, or use another one."
	what := "spec.distributionId: the distribution " + t.DistributionID
	if !in.World.DistributionSeen {
		disabled = in.Memory.Conditions[chain.Ready].Reason == ReasonDistributionDisabled
	}
	if r := in.World.References.distribution(t.DistributionID); r != nil {
		what, disabled, fix = r.text(), r.Disabled, "Enable it, or reference another one."
	}
	if !disabled {
		return nil
	}
	return &chain.Problem{Reason: ReasonDistributionDisabled, Of: chain.Ready, Message: what + " is disabled, so CloudFront does not answer for the domains of its tenants. " + fix}
}

func serving(in judged) (Decision, bool) {
	t := in.World.Tenant
	switch {
	case t == nil || !in.Desired.Enabled:
		return pass()
	case !t.Enabled:
		return rest(chain.Problem{Reason: resource.ReasonAWSError, Of: chain.Ready,
			Message: "The distribution tenant was disabled outside of Kubernetes: CloudFront does not answer for its domains."}, 0)
	}
	missing, waiting := unserved(in.Desired.Domains, *t)
	if len(missing) > 0 {
		return rest(chain.Problem{Reason: resource.ReasonDomainValidationPending, Of: chain.Ready, Message: fmt.Sprintf(
			"The distribution tenant in AWS does not have %s.", prose.List(missing))}, 0)
	}
	if len(waiting) > 0 {
		return rest(chain.Problem{Reason: resource.ReasonDomainValidationPending, Of: chain.Ready, Message: fmt.Sprintf(
			"CloudFront does not answer for %s yet: no certificate covers the domain, or its DNS does not point at %s.%s",
			prose.List(waiting), in.endpointText(), in.words(waiting))}, 0)
	}
	return pass()
}
