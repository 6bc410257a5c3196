package invalidation

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/account"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/grant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/invalidation"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/grants"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

// pass is one reconcile of one object. It implements reconcile.Pass.
type pass struct {
	*Controller

	object *v1alpha1.Invalidation
	in     invalidation.Input
	out    invalidation.Outcome
	memory memory
	// before are the tenants as status had them, and totals their counts.
	before []invalidation.Tenant
	totals invalidation.Totals
	// tenants are the objects by their names, as far as they matter.
	tenants map[string]*v1alpha1.DistributionTenant
	granted grant.Access
}

// Begin implements reconcile.Kind. It gathers what is known without calling AWS.
func (c *Controller) Begin(ctx context.Context, o *v1alpha1.Invalidation) (reconcile.Pass, error) {
	p := &pass{Controller: c, object: o, memory: c.recall(o), in: convert.Invalidation(o), tenants: map[string]*v1alpha1.DistributionTenant{}}
	p.in.Now = c.Clock.Now()
	p.before, p.totals, p.in.Rate = append(p.before, p.in.Memory.Tenants...), p.in.Totals(), c.Rate
	p.in.World.PathsPerDay, p.in.World.Looks, p.in.World.FullUntil = c.PathsPerDay, p.memory.looks, p.memory.fullUntil
	if err := p.observeNamespace(ctx); err != nil {
		return nil, err
	}
	if !p.in.Memory.Finished.IsZero() {
		c.Grants.Forget(string(o.UID))
		return p, nil
	}
	// A halt wakes all remembered objects: this one is by now.
	p.in.World.Hold = c.Halt.Now()
	if err := p.observeTenants(ctx); err != nil {
		return nil, err
	}
	return p, p.judge(ctx)
}

// observeNamespace looks at the other objects: what they have requested, and which have finished later.
func (p *pass) observeNamespace(ctx context.Context) error {
	if p.in.Memory.Finished.IsZero() && !p.in.Memory.Started.IsZero() {
		return nil
	}
	var list v1alpha1.InvalidationList
	if err := p.Client.List(ctx, &list, client.InNamespace(p.object.Namespace)); err != nil {
		return err
	}
	for i := range list.Items {
		o := &list.Items[i]
		p.spent.note(o.Namespace, o.UID, convert.InvalidationSpend(o))
		if o.Status.CompletionTime != nil && later(o, p.object) {
			p.in.World.Newer++
		}
	}
	p.in.World.Spent = p.spent.others(p.object.Namespace, p.object.UID, p.in.Now)
	return nil
}

// later reports whether an object has finished after another one that has finished too.
func later(o, than *v1alpha1.Invalidation) bool {
	if than.Status.CompletionTime == nil || o.UID == than.UID {
		return false
	}
	if a, b := o.Status.CompletionTime.Time, than.Status.CompletionTime.Time; !a.Equal(b) {
		return a.After(b)
	}
	return o.Name > than.Name
}

// observeTenants looks at the tenants that the spec selects or, once they are chosen, at those that have not ended.
func (p *pass) observeTenants(ctx context.Context) error {
	if !p.in.Memory.Started.IsZero() {
		for _, t := range p.in.Memory.Tenants {
			if t.Ended() {
				continue
			}
			if err := p.observeTenant(ctx, t.Name); err != nil {
				return err
			}
		}
		if !p.in.Refills() {
			return nil
		}
		p.in.World.Listed = true
		return p.selected(ctx, func(o *v1alpha1.DistributionTenant) {
			if !o.CreationTimestamp.After(p.in.Memory.Started) {
				p.in.World.Next = append(p.in.World.Next, convert.InvalidationTarget(o))
			}
		})
	}
	if p.in.Tenant != "" {
		return p.observeTenant(ctx, p.in.Tenant)
	}
	return p.selected(ctx, p.target)
}

// selected looks at each tenant that the selector selects.
func (p *pass) selected(ctx context.Context, each func(*v1alpha1.DistributionTenant)) error {
	selector, err := metav1.LabelSelectorAsSelector(p.object.Spec.Selector)
	if err != nil {
		p.in.World.Invalid = err.Error()
		return nil //nolint:nilerr // it is told as a mistake in the spec
	}
	var list v1alpha1.DistributionTenantList
	if err := p.Client.List(ctx, &list, client.InNamespace(p.object.Namespace), client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return err
	}
	for i := range list.Items {
		each(&list.Items[i])
	}
	return nil
}

func (p *pass) observeTenant(ctx context.Context, name string) error {
	var o v1alpha1.DistributionTenant
	err := p.Client.Get(ctx, client.ObjectKey{Namespace: p.object.Namespace, Name: name}, &o)
	if err == nil {
		p.target(&o)
	}
	return client.IgnoreNotFound(err)
}

func (p *pass) target(o *v1alpha1.DistributionTenant) {
	p.tenants[o.Name] = o
	p.in.World.Targets = append(p.in.World.Targets, convert.InvalidationTarget(o))
}

// judge asks whether the namespace may invalidate, and in which account.
func (p *pass) judge(ctx context.Context) error {
	v, err := p.Grants.Judge(ctx, grants.Asker{Namespace: p.object.Namespace, UID: string(p.object.UID), Wants: convert.InvalidationWants()})
	if err != nil {
		return err
	}
	switch {
	case !v.Enforced:
		p.in.World.Audited = v.Refused
	case p.in.World.Hold == nil:
		p.in.World.Hold = v.Refused
	}
	if p.granted, err = p.Grants.Access(ctx, p.object.Namespace); err != nil || p.in.World.Hold != nil {
		return err
	}
	// All tenants of a namespace are in the account of its grant. One that is not stops the object.
	for _, t := range p.in.World.Targets {
		if t.TenantID == "" {
			continue
		}
		place, err := p.place(ctx, t.Name)
		if err != nil {
			return err
		}
		if place.Wrong != nil {
			p.in.World.Hold = place.Wrong
			return nil
		}
	}
	return nil
}

// place is the account of a tenant.
func (p *pass) place(ctx context.Context, name string) (account.Place, error) {
	recorded := ""
	if o := p.tenants[name]; o != nil {
		recorded = convert.RecordedAccount(o, o.Status.ARN)
	}
	return p.Accounts.Of(ctx, recorded, p.granted)
}
