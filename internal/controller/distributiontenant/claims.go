package distributiontenant

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/claim"
)

func claimKey(key client.ObjectKey) claim.Key {
	return claim.Key{Namespace: key.Namespace, Name: key.Name}
}

func claimant(o *v1alpha1.DistributionTenant) claim.Object {
	return claim.Object{Key: claimKey(client.ObjectKeyFromObject(o)), UID: string(o.UID), Created: o.CreationTimestamp.Time}
}

// ownDNS reports whether the records of the domains are the operator's: otherwise they may lead to CloudFront for long
// after the domains have left it.
func (p *pass) ownDNS() bool { return p.object.Spec.DNS != nil }

// judgeDomains stops an object that may not have its domains. One that is being deleted is not asked.
func (p *pass) judgeDomains() {
	p.in.Policy.Holds = p.DomainClaims.Holds(p.ownDNS())
	p.observeDomains()
	key := claimKey(client.ObjectKeyFromObject(p.object))
	if p.in.Halt == nil && !p.in.Deleting {
		p.in.Halt = p.DomainClaims.Judge(key)
	}
	p.in.World.Moves, p.in.World.Givers = p.DomainClaims.Moves(key)
	p.in.World.Inherits = p.DomainClaims.Inherits(key)
}

// observeDomains tells which domains the object has now.
func (p *pass) observeDomains() { p.DomainClaims.Observe(claimant(p.object), p.in.Stakes()) }

// claim stores claims. The chain reports a failure.
func (p act) claim(ctx context.Context, s distributiontenant.Claim) {
	err := p.DomainClaims.HoldDomains(ctx, claimKey(client.ObjectKeyFromObject(p.object)), s.Domains, p.ownDNS())
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "A domain is not released, because it can't be claimed for its namespace")
		p.in.World.Unstored = convert.StoreFailure(err)
		return
	}
	p.in.World.Unheld = nil
}

// LearnAll learns of the domains of all objects before the first of them is judged.
func (c *Controller) LearnAll(ctx context.Context) error {
	var list v1alpha1.DistributionTenantList
	if err := c.Client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return err
	}
	for n := range list.Items {
		c.Learn(&list.Items[n])
	}
	return nil
}

// Learn takes over the domains of an object, as its spec and its status have them, unless it had a pass already.
func (c *Controller) Learn(o *v1alpha1.DistributionTenant) {
	if c.DomainClaims == nil || c.DomainClaims.Known(claimKey(client.ObjectKeyFromObject(o))) {
		return
	}
	in := distributiontenant.Input{
		Deleting: !o.DeletionTimestamp.IsZero(), Desired: convert.Desired(o, c.Defaults), Memory: convert.Memory(&o.Status),
	}
	c.DomainClaims.Observe(claimant(o), in.Stakes())
}
