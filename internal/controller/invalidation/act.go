package invalidation

import (
	"context"
	"fmt"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/account"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/invalidation"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

// Decide implements reconcile.Pass.
func (p *pass) Decide() chain.Effect {
	p.in.Now = p.Clock.Now()
	p.out.Decision = invalidation.Decide(p.in)
	return p.out.Decision.Step.Effect()
}

// Perform implements reconcile.Pass.
func (p *pass) Perform(ctx context.Context, _ reconcile.Keeper) error {
	switch s := p.out.Decision.Step.(type) {
	case invalidation.Choose:
		p.choose(s)
	case invalidation.Refill:
		p.in.Refill(s)
	case invalidation.GiveUp:
		p.in.GiveUp(s)
	case invalidation.Fail:
		p.out.Failed = &s
		p.in.Fail()
	case invalidation.Request:
		return p.request(ctx, s.Tenant)
	case invalidation.Follow:
		return p.follow(ctx, s.Tenant)
	case invalidation.Expire:
		return p.expire(ctx)
	case invalidation.Rest:
	}
	return nil
}

// choose takes the tenants over if the paths still fit: another object may have taken the room meanwhile.
func (p *pass) choose(s invalidation.Choose) {
	known := 0
	for _, other := range p.in.World.Spent {
		known += other.Paths
	}
	spend := invalidation.SpentBy(p.in.Now, s.Total, p.in.Paths)
	if !p.spent.reserve(p.object.Namespace, p.object.UID, spend, known) {
		p.in.World.Spent = p.spent.others(p.object.Namespace, p.object.UID, p.in.Now)
		return
	}
	p.in.Choose(s)
}

// request asks for permission first: tags that are read before there is room for the request would be read for nothing.
// The reference is the same in every try, so that a request whose answer was lost is answered with what it has made.
func (p *pass) request(ctx context.Context, t invalidation.Tenant) error {
	place, err := p.place(ctx, t.Name)
	if err != nil {
		return err
	}
	ctx = p.call(ctx, place, port.Change)
	admitted, delay := place.InvalidationRate.Admit(ctx)
	if delay > 0 {
		return &fault.Error{Kind: fault.Throttled, Operation: "Invalidating", Message: "waiting for the operator's own rate limit", RetryAfter: delay}
	}
	switch owned, err := p.owned(ctx, place, t); {
	case fault.Is(err, fault.NotFound):
		return p.in.Requested(t.Name, invalidation.Answer{}, err)
	case err != nil:
		return err
	case !owned:
		p.in.Disowned(t.Name)
		return nil
	}
	answer, err := place.Invalidations.CreateInvalidation(admitted, t.TenantID, p.reference(t), convert.InvalidatedItems(p.object))
	return p.in.Requested(t.Name, answer, err)
}

// owned proves that the tenant belongs to its object. Status alone proves nothing: a user who may write it could name any tenant.
func (p *pass) owned(ctx context.Context, place account.Place, t invalidation.Tenant) (bool, error) {
	o := p.tenants[t.Name]
	if o == nil || !strings.HasSuffix(o.Status.ARN, "/"+t.TenantID) {
		return false, nil
	}
	tags, err := place.CloudFront.ListTags(ctx, o.Status.ARN)
	me := ownership.Owner{Cluster: p.ClusterID, Namespace: o.Namespace, Name: o.Name, UID: string(o.UID)}
	return err == nil && ownership.Relate(me, tags) == ownership.Ours, err
}

// reference is that of the invalidation of one tenant, for ever.
func (p *pass) reference(t invalidation.Tenant) string {
	return fmt.Sprintf("%s-%s", p.object.UID, t.TenantID)
}

func (p *pass) follow(ctx context.Context, t invalidation.Tenant) error {
	place, err := p.place(ctx, t.Name)
	if err != nil {
		return err
	}
	answer, err := place.Invalidations.GetInvalidation(p.call(ctx, place, port.Follow), t.TenantID, t.InvalidationID)
	return p.in.Followed(t, answer, err)
}

// call marks the calls of this pass.
func (p *pass) call(ctx context.Context, place account.Place, class port.Class) context.Context {
	return port.WithCall(ctx, port.Call{
		Key: "invalidation/" + p.object.Namespace + "/" + p.object.Name, Namespace: p.object.Namespace, Grant: place.Grant, Class: class,
	})
}

// expire deletes the object, if it is still the one that was looked at.
func (p *pass) expire(ctx context.Context) error {
	uid, version := p.object.UID, p.object.ResourceVersion
	err := p.Client.Delete(ctx, p.object, client.Preconditions{UID: &uid, ResourceVersion: &version})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("deleting the finished Invalidation: %w", err)
	}
	p.in.World.Deleted = true
	return nil
}
