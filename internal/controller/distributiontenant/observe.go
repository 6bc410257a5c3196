package distributiontenant

import (
	"context"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/awsresource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/grants"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// observe gathers what is known without a call, in stages: each needs what those before it have found.
func (c *Controller) observe(ctx context.Context, o *v1alpha1.DistributionTenant) (*pass, error) {
	p := &pass{Controller: c, object: o}
	p.recallObject()
	var err error
	if p.account, err = c.Place(ctx, o, o.Status.ARN); err != nil {
		return nil, err
	}
	c.placed(o, p.account.ID)
	if err = p.judge(ctx); err != nil {
		return nil, err
	}
	p.recallTenant()
	p.resolve(ctx)
	p.recallSurroundings(ctx)
	if err = p.recallTargets(ctx); err != nil {
		return nil, err
	}
	p.watchDomains()
	p.recallServed()
	p.judgeDomains()
	p.tellStores()
	p.tellZones()
	return p, nil
}

// recallObject takes over what the object says, and what is remembered of it.
func (p *pass) recallObject() {
	o := p.object
	p.in = distributiontenant.Input{
		Deleting: !o.DeletionTimestamp.IsZero(),
		Spreads:  p.Rollouts.Spreads(),
		Desired:  convert.Desired(o, p.Defaults),
		Policy:   convert.Policy(o, p.Defaults),
		Memory:   convert.Memory(&o.Status),
		Attempts: p.recall(o),
	}
	p.in.Object = p.Object(o, convert.ClassDistributionTenant, &p.in.Attempts.Tries, p.in.Memory.Memory, o.Status.ReconcileToken)
	p.in.AdoptedGeneration = convert.AdoptedGeneration(o)
}

// recallTenant takes over what the inventory knows of the tenant, and what the process knows of AWS.
func (p *pass) recallTenant() {
	known := p.account.Inventory.Known(p.in.Desired.Name)
	p.in.World = distributiontenant.World{
		World: resource.World{
			Knowledge: known.Knowledge, Tags: known.Tags, TagsKnown: known.TagsKnown, TagsRead: known.TagsRead, TagsDue: known.TagsDue,
		},
		Tenant: known.Tenant, Swept: known.Swept, SettlesFirst: p.settlesFirst.Load(),
		CertificateUnusable: known.CertificateUnusable, CertificateMovesETag: p.certificateMovesETag.Load(), AsksResolvers: p.Resolver != nil,
	}
	w := &p.in.World
	w.Turn, w.TurnKnown = p.Rollouts.Going(string(p.object.UID))
	p.in.Attempts.Wrote = p.in.Unstored()
	if t := known.Tenant; t != nil && p.in.Outdated(*t) {
		// It counts as not looked for yet.
		w.World, w.Tenant, w.CertificateUnusable = resource.World{}, nil, false
	}
	if known.Knowledge == resource.Nothing && p.in.Attempts.Removed(p.in.CreateMark) {
		w.Knowledge = resource.Absent
	}
}

// recallSurroundings takes over what is known of the tenant's connection group, distribution, zones and owner.
func (p *pass) recallSurroundings(ctx context.Context) {
	w := &p.in.World
	// As long as it is unknown which group a tenant will be in, that of all others is not its own.
	if w.Tenant != nil || !p.in.Unresolved() || p.in.Desired.DNS == nil && p.in.KnowsGroup() {
		w.RoutingEndpoint = p.knownEndpoint()
	}
	w.Addresses, w.AddressesKnown = p.account.References.KnownAddresses(p.in.Group())
	p.recallDistribution()
	w.Zones, w.ZonesKnown = p.knownZones()
	w.OwnerAlive = p.ownerAlive(ctx)
}

// knownEndpoint is where DNS has to point, as far as that was read or an object tells it.
func (p *pass) knownEndpoint() string {
	endpoint := p.account.References.KnownEndpoint(p.in.Group())
	if r := p.in.World.References.Group(); endpoint == "" && r != nil && r.ID == p.in.Group() {
		endpoint = r.Endpoint
	}
	return endpoint
}

// recallDistribution takes over what was last seen of the tenant's distribution. Nothing is read for it.
func (p *pass) recallDistribution() {
	if t := p.in.World.Tenant; t != nil {
		p.in.World.DistributionDisabled, p.in.World.DistributionSeen = p.account.References.Disabled(t.DistributionID)
	}
}

// judge asks whether the namespace may have what the object wants. An object that is being deleted wants nothing any
// more.
func (p *pass) judge(ctx context.Context) error {
	if p.in.Deleting {
		p.Grants.Forget(string(p.object.UID))
		return nil
	}
	asker := grants.Asker{Namespace: p.object.Namespace, UID: string(p.object.UID), Wants: convert.TenantWants(p.object)}
	if p.in.Memory.AppliedGeneration != p.in.Generation {
		asker.Adds = convert.TenantUsage(p.object)
	}
	v, err := p.Grants.Judge(ctx, asker)
	if err != nil {
		return err
	}
	p.in.Ungranted, p.in.Audited, p.granted = v.Refused, !v.Enforced, v.Grant
	if p.account.Wrong != nil {
		p.in.Ungranted, p.in.Audited = p.account.Wrong, false
	}
	p.in.Policy.Policy = p.in.Policy.Within(v.Grant, p.in.Desired.Name, p.in.Now)
	p.in.Policy.Proofs = p.demandedProofs()
	return nil
}

// ownerAlive reports whether another object of this cluster owns the tenant.
func (p *pass) ownerAlive(ctx context.Context) bool {
	w := p.in.World
	return w.TagsKnown && awsresource.OwnerAlive(ctx, p.Client, p.in.Me, w.Tags, p.New())
}

// Decide implements reconcile.Pass.
func (p *pass) Decide() chain.Effect {
	p.out.Decision = distributiontenant.Decide(p.in)
	return p.out.Decision.Step.Effect()
}

// class says how urgent the pass's calls are.
func (p *pass) class() port.Class {
	if look, ok := p.out.Decision.Step.(distributiontenant.Look); ok && look.At == distributiontenant.LookManaged && !p.in.Nudged && !p.in.Deleting && !p.in.CertificateMoved() {
		return port.Poll
	}
	if p.in.Deleting || p.in.Pending() {
		return port.Change
	}
	return port.Correct
}
