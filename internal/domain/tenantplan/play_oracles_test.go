package tenantplan_test

import (
	"slices"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenant"
)

// mayWrite checks what every write needs.
func (p *tenantPass) mayWrite() {
	p.t.held, p.in.HasFinalizer = true, true
	switch {
	case p.t.deleting && p.t.protected:
		p.fail("%T for a tenant that is protected", p.out.Decision.Step)
	case !p.t.deleting && p.in.Problem != "":
		p.fail("%T for a tenant whose names can't be: %s", p.out.Decision.Step, p.in.Problem)
	}
}

// mayHold checks that only who has a namespace, and no finalizer, is held.
func (p *tenantPass) mayHold() {
	n := p.in.World.Namespace
	if p.t.held || p.t.deleting || n == nil || n.Labels[plan.LabelTenantUID] != p.t.UID {
		p.fail("%s is held already: %t, or has no namespace: %+v", p.t.Name, p.t.held, n)
	}
	p.t.held, p.in.HasFinalizer = true, true
}

func (p *tenantPass) mayCreateNamespace(s tenant.CreateNamespace) {
	if p.t.deleting || !p.readPast || p.in.World.Namespace != nil {
		p.fail("a namespace is created without a look, or for a tenant that is being deleted")
	}
	k := p.followed(s.Memory, p.t)
	known := k != nil && k.tried || k == nil && s.Memory.Plan != "" && p.in.World.Follow.Former != nil
	if provisional := s.Object.Annotations[plan.AnnotationWithoutPlan] != ""; provisional == known {
		p.fail("what its plan gives the namespace is known: %t, and it is created with %v %v", known, s.Object.Labels, s.Object.Annotations)
	}
}

// owner is the living tenant, other than but, that has a namespace, or had it until its UID was removed.
func (w *world) owner(n *plan.Live, but *playedTenant) *playedTenant {
	for _, name := range sortedKeys(w.tenants) {
		if t := w.tenants[name]; t != but && t.Namespace == n.Name && (t.UID == n.Labels[plan.LabelTenantUID] || t.memory.Namespace == n.Name) {
			return t
		}
	}
	return nil
}

// mayChangeNamespace checks against what the pass has read of it.
func (p *tenantPass) mayChangeNamespace(s tenant.ApplyNamespace) {
	n := p.in.World.Namespace
	given := n.Annotations[plan.AnnotationAdoptBy] == p.t.Name && p.owner(n, p.t) == nil && p.readPast && !p.t.deleting && !n.Deleting
	switch mine := n.Labels[plan.LabelTenantUID] == p.t.UID; {
	case s.UID != n.UID || s.Object.Name != n.Name:
		p.fail("a change of another namespace than was seen: %+v", s)
	case !mine && !given:
		p.fail("a change of a namespace that is not the tenant's: %+v", n)
	case s.Adopts == mine && !p.t.deleting:
		p.fail("an adoption: %t, of %+v", s.Adopts, n)
	case p.t.deleting && !p.t.retain:
		p.fail("a change of a namespace that is to go: %+v", s)
	}
}

func (p *tenantPass) mayDelete(s tenant.DeleteNamespace) {
	n := p.in.World.Namespace
	if !p.t.deleting || p.t.retain || !p.readPast || n == nil || s.Live.UID != n.UID || n.Labels[plan.LabelTenantUID] != p.t.UID {
		p.fail("a deletion of %+v, seen as %+v, read past the cache: %t", s.Live, n, p.readPast)
	}
}

// mayApply checks that the plan says the object, and was accepted.
func (p *tenantPass) mayApply(o plan.Object) {
	if n := p.in.World.Namespace; p.t.deleting || o.Namespace != p.t.Namespace || n == nil || n.Deleting || n.Labels[plan.LabelTenantUID] != p.t.UID {
		p.fail("%s is applied in a namespace that is not the tenant's: %+v", o.Ref(), n)
	}
	p.isInOwnNamespace(o)
	want, _, accepted := p.due()
	switch said, known := want[o.Key()]; {
	case !known || said.Hash() != o.Hash():
		p.fail("%s is applied, and the plan does not have it", o.Ref())
	case o.Name != "kleff-suspended" && !accepted:
		p.fail("%s is applied for a plan that was not accepted", o.Ref())
	}
}

// isInOwnNamespace checks that the namespace is the tenant's in truth, whatever a cache shows.
func (p *tenantPass) isInOwnNamespace(o plan.Object) {
	if n := p.api.namespace(p.t.Namespace); !p.disturbed && (n == nil || n.Labels[plan.LabelTenantUID] != p.t.UID) {
		p.fail("%s is written in a namespace that is no longer the tenant's: %+v", o.Ref(), n)
	}
}

// isTenants checks that what is changed or deleted is a tenant's.
func (p *tenantPass) isTenants(o plan.Object, uid string) {
	if there := p.api.objects[placeOf(&o)]; there != nil && there.UID == uid && there.Labels[plan.LabelTenantUID] == "" && !p.disturbed && p.hung == nil {
		p.fail("%s is changed, and belongs to no tenant", o.Ref())
	}
}

func (p *tenantPass) mayPrune(l plan.Live) {
	p.isTenants(l.Object, l.UID)
	p.isInOwnNamespace(l.Object)
	if l.Labels[plan.LabelTenantUID] == "" || l.Namespace != p.t.Namespace || p.t.deleting || p.in.World.Namespace.Labels[plan.LabelTenantUID] != p.t.UID {
		p.fail("%s is removed, and is not the tenant's", l.Ref())
	}
	if l.Kind == plan.KindResourceQuota && l.Name == "kleff-suspended" && !p.t.Suspended {
		return
	}
	want, unknown, accepted := p.due()
	if !accepted {
		p.fail("%s is removed for a plan that was not accepted", l.Ref())
	}
	if want[l.Key()].Name != "" || slices.Contains(unknown, l.Kind) {
		p.fail("%s is removed, and the plan says it", l.Ref())
	}
}

// due is what the tenant is to have: by its plan, or by the one that it had. Only what was accepted counts.
func (p *tenantPass) due() (objects map[string]plan.Object, unknown []plan.Kind, accepted bool) {
	t, compiled := *p.t, p.in.World.Follow.Former
	n := p.in.World.Namespace
	switch k := p.followed(p.in.Memory, p.t); {
	case k != nil:
		compiled, accepted = k.plan, k.tried
	case n != nil && n.Annotations[plan.AnnotationWithoutPlan] != "":
		compiled, accepted = plan.Floor(), true
	default:
		t.Plan, accepted = p.in.Memory.Plan, compiled != nil
	}
	objects, unknown = wantedOf(&t, compiled)
	return objects, unknown, accepted
}

// truthful checks what a report says against the cluster.
func (p *tenantPass) truthful(r tenant.Report) {
	t, w := p.t, p.world
	n := w.api.namespace(t.Namespace)
	mine := n != nil && n.Labels[plan.LabelTenantUID] == t.UID && !n.Deleting
	for _, c := range r.Conditions {
		if c.Message == "" || c.Reason == "" {
			w.fail("a condition without words: %+v", c)
		}
		if !c.Status {
			continue
		}
		if !mine {
			w.fail("%s of %s is True, and the namespace is %+v", c.Type, t.Name, n)
		}
		if t.deleting {
			w.fail("%s of %s is True, and it is going", c.Type, t.Name)
		}
		switch string(c.Type) {
		case plan.ConditionPlanApplied:
			w.isApplied(p.in.Memory, t, c, plan.KindResourceQuota, plan.KindLimitRange, plan.KindNetworkPolicy, plan.KindRoleBinding)
			w.isLabelled(p.in.Memory, t)
		case plan.ConditionMeshReady:
			w.isApplied(p.in.Memory, t, c, plan.MeshKinds()...)
		case plan.ConditionEdgeReady:
			w.isApplied(p.in.Memory, t, c, plan.KindDistributionTenant)
		case plan.ConditionTenantReady:
			p.isReady(r, c)
		}
	}
	if r.Settled {
		w.isApplied(p.in.Memory, t, chain.Condition{Type: "Settled"}, plan.ChildKinds()...)
	}
}

// isReady checks the sum: all others are True, and a tenant that waits is suspended if it reports that.
func (p *tenantPass) isReady(r tenant.Report, c chain.Condition) {
	for _, other := range stored(p.t.conditions, r.Conditions) {
		if !other.Status {
			p.fail("TenantReady is True, and %s is %s", other.Type, other.Reason)
		}
	}
	if p.followed(p.in.Memory, p.t) != nil {
		p.isApplied(p.in.Memory, p.t, c, plan.ChildKinds()...)
		return
	}
	there := p.api.objects[place(plan.KindResourceQuota, p.t.Namespace, "kleff-suspended")]
	if (there != nil && !there.Deleting && there.Labels[plan.LabelTenantUID] != "") != p.t.Suspended && !p.api.unreadable[plan.KindResourceQuota] {
		p.fail("TenantReady is True of %s, suspended %t, and the quota is %+v", p.t.Name, p.t.Suspended, there)
	}
}

// isApplied checks that of these kinds the namespace has all that the plan says, and no more.
func (w *world) isApplied(m tenant.Memory, t *playedTenant, c chain.Condition, kinds ...plan.Kind) {
	k := w.followed(m, t)
	if k == nil {
		w.fail("%s of %s is True, and there is no plan to follow", c.Type, t.Name)
		return
	}
	want, unknown := wantedOf(t, k.plan)
	for _, o := range want {
		if !slices.Contains(kinds, o.Kind) {
			continue
		}
		if there := w.api.objects[placeOf(&o)]; there == nil || there.Deleting || !there.UpToDate(o) || there.Labels[plan.LabelTenantUID] == "" {
			w.fail("%s of %s is True (%s), and %s is %+v", c.Type, t.Name, c.Message, o.Ref(), there)
		}
	}
	if len(unknown) > 0 && slices.ContainsFunc(unknown, func(k plan.Kind) bool { return slices.Contains(kinds, k) }) {
		w.fail("%s of %s is True, and it is unknown what it should have", c.Type, t.Name)
	}
	for _, o := range w.api.objects {
		owned := o.Namespace == t.Namespace && o.Labels[plan.LabelTenantUID] != "" && o.Labels[plan.LabelManagedBy] == plan.ManagedBy
		if owned && slices.Contains(kinds, o.Kind) && !o.Deleting && want[o.Key()].Name == "" && !w.api.unreadable[o.Kind] && !w.api.missing[o.Kind] {
			w.fail("%s of %s is True (%s), and %s exists, which is not wanted", c.Type, t.Name, c.Message, o.Ref())
		}
	}
}

// isLabelled checks the namespace itself.
func (w *world) isLabelled(m tenant.Memory, t *playedTenant) {
	n, k := w.api.namespace(t.Namespace), w.followed(m, t)
	if k == nil {
		return
	}
	o, drop := plan.BuildNamespace(t.Tenant, k.plan)
	if !n.UpToDate(o.Marked()) {
		w.fail("the namespace of %s has %v %v, want %v %v", t.Name, n.Labels, n.Annotations, o.Labels, o.Annotations)
	}
	for _, key := range drop {
		if value, there := n.Labels[key]; there {
			w.fail("the namespace of %s has %s=%s in addition to the label of its plan", t.Name, key, value)
		}
	}
}
