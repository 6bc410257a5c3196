package awsresource

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distribution"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/claim"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

func (c *Controller[O, R]) claimKey(key client.ObjectKey) claim.Key {
	return claim.Key{Kind: c.Claimant, Namespace: key.Namespace, Name: key.Name}
}

func (c *Controller[O, R]) claimant(o client.Object) claim.Object {
	return claim.Object{Key: c.claimKey(client.ObjectKeyFromObject(o)), UID: string(o.GetUID()), Created: o.GetCreationTimestamp().Time}
}

// ownDNS is false: a distribution has no DNS records of the operator, so its customers' may lead to CloudFront for long after
// its aliases have left it.
const ownDNS = false

// judgeAliases tells which domains the object has now, and stops one that may not have its domains. One that is being
// deleted is not asked.
func (p *pass[O, R]) judgeAliases() {
	if p.DomainClaims == nil {
		return
	}
	p.in.Policy.Holds = p.DomainClaims.Holds(ownDNS)
	p.DomainClaims.Observe(p.claimant(p.object), p.in.Stakes())
	if p.in.World.Knowledge != resource.Nothing {
		p.memory.aliases = append([]string{}, p.in.Aliases()...)
	}
	if p.in.DeletedAt.IsZero() && (p.in.Halt == nil || p.in.Halt.Alone) {
		p.in.Halt = p.DomainClaims.Judge(p.claimKey(client.ObjectKeyFromObject(p.object)))
	}
}

// hold stores claims. The chain reports a failure.
func (p *pass[O, R]) hold(ctx context.Context, s distribution.Claim) {
	if err := p.DomainClaims.HoldDomains(ctx, p.claimKey(client.ObjectKeyFromObject(p.object)), s.Domains, ownDNS); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "An alias is not released, because it can't be claimed for its namespace")
		p.in.World.Unstored = convert.StoreFailure(err)
		return
	}
	p.in.World.Unheld = nil
}

// Learn takes over the domains of an object, as its spec and its status have them, unless it had a pass already.
func (c *Controller[O, R]) Learn(o O) {
	if c.DomainClaims == nil || c.DomainClaims.Known(c.claimKey(client.ObjectKeyFromObject(o))) {
		return
	}
	spec, status := c.kind.Spec(o), c.kind.Status(o)
	in := distribution.Input{
		Object:  resource.Object{Generation: o.GetGeneration()},
		Desired: distribution.Desired{Aliases: spec.Aliases, Targets: spec.Targets}, Memory: convert.ResourceMemory(status.Common),
	}
	if status.Targets != nil {
		in.Memory.Targets = convert.TargetLedgers(*status.Targets)
	}
	if t := o.GetDeletionTimestamp(); t != nil {
		in.DeletedAt = t.Time
	}
	c.DomainClaims.Observe(c.claimant(o), in.Stakes())
}
