package distributiontenant

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// at reads what the step names.
func (p look) at(ctx context.Context, s distributiontenant.Look) error {
	if p.in.Nudged {
		p.account.References.Forget(append(s.ARNs, p.in.Desired.DistributionID)...)
	}
	switch s.At {
	case distributiontenant.LookTenant:
		return p.tenant(ctx)
	case distributiontenant.LookTags:
		return p.tags(ctx)
	case distributiontenant.LookDistribution:
		d, err := p.account.References.Distribution(ctx, p.in.Desired.DistributionID)
		if err != nil {
			return err
		}
		p.in.World.Distribution = &d
		p.recallDistribution()
	case distributiontenant.LookCertificates:
		return p.certificates(ctx, s.ARNs)
	case distributiontenant.LookManaged:
		return p.managed(ctx)
	case distributiontenant.LookHolder:
		return p.holder(ctx)
	case distributiontenant.LookRouting:
		return p.routing(ctx)
	case distributiontenant.LookAccount:
		account, err := p.account.References.Account(ctx)
		if err != nil {
			return err
		}
		p.in.World.Account = account
	case distributiontenant.LookZones:
		return p.zones(ctx)
	case distributiontenant.LookIPv6:
		ipv6, err := p.account.References.IPv6(ctx, p.in.Group())
		if err != nil {
			return err
		}
		p.in.World.IPv6, p.in.World.IPv6Known = ipv6, true
	case distributiontenant.LookAddresses:
		addresses, err := p.account.References.Addresses(ctx, p.in.Group())
		if err != nil {
			return err
		}
		p.in.World.Addresses, p.in.World.AddressesKnown = addresses, true
	case distributiontenant.LookBudget:
		p.budget()
	case distributiontenant.LookTurn:
		asks, changes := p.in.ServiceChange()
		p.in.World.Turn, p.in.World.TurnKnown = p.Rollouts.Ask(ctx, p.object.Labels, asks, changes), true
	case distributiontenant.LookClaims:
		p.in.World.Unheld, p.in.World.UnheldKnown = p.DomainClaims.Unheld(claimKey(client.ObjectKeyFromObject(p.object)), s.Domains, p.ownDNS()), true
	case distributiontenant.LookVisible:
		p.visible(ctx)
	case distributiontenant.LookProofs:
		p.proofs(ctx, s.Domains)
	case distributiontenant.LookGiver:
		return p.giver(ctx, s.Distribution)
	case distributiontenant.LookWords:
		return p.words(ctx, s.Domains)
	case distributiontenant.LookRenewal:
		return p.renewal(ctx, s.ARNs[0])
	}
	return nil
}

// giver reads the aliases of a standard distribution, and whether the tenant's own one is enabled now.
func (p look) giver(ctx context.Context, id string) error {
	d, err := p.account.CloudFront.ReadDistribution(ctx, id)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	w := &p.in.World
	if w.Aliases == nil {
		w.Aliases = map[string][]string{}
		w.Distribution = nil
		p.account.References.Forget(p.in.Desired.DistributionID)
	}
	w.Aliases[id] = d.Aliases
	return nil
}

func (p look) routing(ctx context.Context) error {
	endpoint, err := p.account.References.Endpoint(ctx, p.in.Group())
	if err != nil {
		return err
	}
	p.in.World.RoutingEndpoint, p.in.World.RoutingKnown = endpoint, true
	p.in.Attempts.Routed(p.in.Generation, endpoint, p.account.References.Unlisted(), p.Clock.Now())
	p.watchDomains()
	return nil
}

// budget asks the breaker. Tenants that are in doubt are counted on their own: nothing is lost with them yet.
func (p look) budget() {
	harm, class := p.in.Harm(), convert.ClassDistributionTenant
	if harm == distributiontenant.LostOwnership {
		class = convert.ClassOwnership
	}
	item := convert.BudgetItem(class, p.object, convert.Customers(p.object), harm, p.in.Now)
	p.in.World.Budget, p.in.World.BudgetHarm, p.in.World.BudgetKnown = p.Breaker.Ask(item), harm, true
}

func (p look) tenant(ctx context.Context) error {
	certain := p.in.Attempts.DoubtedFor(p.in.Now) == 0
	t, err := p.account.Inventory.Read(ctx, p.in.Desired.Name)
	if fault.Is(err, fault.NotFound) {
		p.in.World.Knowledge, p.in.World.Tenant = resource.Absent, nil
		return nil
	}
	if err != nil {
		return err
	}
	if p.in.Outdated(t) {
		return &fault.Error{Kind: fault.Conflict, Operation: "GetDistributionTenant", Message: "AWS returns the tenant as it was before its last change"}
	}
	if certain {
		p.in.Attempts.Doubted = time.Time{}
	}
	if old := p.in.World.Tenant; old == nil || old.ID != t.ID {
		p.recallTags()
	}
	p.in.World.Knowledge, p.in.World.Tenant, p.in.World.TenantFresh = resource.Whole, &t, true
	p.in.World.RoutingEndpoint = p.account.References.KnownEndpoint(t.ConnectionGroupID)
	return nil
}

func (p look) tags(ctx context.Context) error {
	tags, err := p.account.Inventory.ReadTags(ctx, *p.in.World.Tenant)
	if err != nil {
		return err
	}
	w := &p.in.World
	w.Tags, w.TagsKnown, w.TagsDue, w.TagsFresh, w.TagsRead = tags, true, false, true, p.Clock.Now()
	w.OwnerAlive = p.ownerAlive(ctx)
	return nil
}

func (p look) certificates(ctx context.Context, arns []string) error {
	if p.in.World.Certificates == nil {
		p.in.World.Certificates = map[string]distributiontenant.Certificate{}
	}
	if p.in.Deleting {
		// A tenant that is about to be deleted must be seen as it is now.
		p.account.References.Forget(arns...)
	}
	for _, arn := range arns {
		c, err := p.account.References.Certificate(ctx, arn)
		if err != nil {
			return err
		}
		p.in.World.Certificates[arn] = c
	}
	return nil
}

func (p look) managed(ctx context.Context) error {
	managed, err := p.account.Inventory.ReadManagedCertificate(ctx, p.in.World.Tenant.ID)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	before, known := p.in.Attempts.Certificate, !p.in.Attempts.CertificateSeen.IsZero()
	p.in.World.ManagedKnown, p.in.World.Managed = true, nil
	if err == nil {
		managed.Cause = p.causeOf(ctx, managed)
		p.in.World.Managed = &managed
		if p.in.CertificateMoved() && known && before != nil && before.State != managed.State {
			p.certificateMovesETag.Store(true)
		}
	}
	a := &p.in.Attempts
	a.CertificateSeen, a.Certificate, a.CertificateETag = p.Clock.Now(), p.in.World.Managed, p.in.World.Tenant.ETag
	return nil
}

// causeOf asks ACM why a certificate was not issued. If it can't tell, that hides nothing else.
func (p look) causeOf(ctx context.Context, managed certificate.Managed) string {
	if managed.State != certificate.Failed {
		return ""
	}
	if before := p.in.Attempts.Certificate; before != nil && before.ARN == managed.ARN && before.Cause != "" {
		return before.Cause
	}
	c, err := p.account.References.Certificate(ctx, managed.ARN)
	if err != nil {
		return ""
	}
	return c.FailureReason
}

// holder finds who holds a domain that AWS refused. The inventory answers for this
// account without a call; failing to find out never hides the refusal itself.
func (p look) holder(ctx context.Context) error {
	p.in.World.HolderKnown = true
	domains := p.in.ProvenDomains()
	for _, domain := range domains {
		name, ok := p.account.Inventory.HolderOf(domain)
		if ok && name != p.in.Desired.Name {
			known := p.account.Inventory.Known(name)
			return p.describe(ctx, domain, known.Tenant)
		}
	}
	for _, domain := range domains[:min(len(domains), 3)] {
		t, err := p.account.Inventory.ReadByDomain(ctx, domain)
		if err == nil && t.Name != p.in.Desired.Name {
			return p.describe(ctx, domain, &t)
		}
		if err != nil && !fault.Is(err, fault.NotFound, fault.Denied) {
			return err
		}
	}
	if len(domains) == 0 {
		return nil
	}
	return p.conflicts(ctx, domains[0])
}

func (p look) describe(ctx context.Context, domain string, t *distributiontenant.Observed) error {
	if t == nil {
		return nil
	}
	h := &distributiontenant.Holder{ID: t.ID, Name: t.Name, Domain: domain}
	p.in.World.Holder = h
	tags, err := p.account.Inventory.ReadTags(ctx, *t)
	if err != nil {
		if fault.Is(err, fault.NotFound, fault.Denied) {
			return nil
		}
		return err
	}
	h.Owner, _ = ownership.FromTags(tags)
	return nil
}
