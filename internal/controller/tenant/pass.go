package tenant

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/tenantplan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

// pass implements reconcile.Pass.
type pass struct {
	*Controller

	object   *kleffv1.Tenant
	attempts plan.Attempts

	// confirmed says that the finalizer is stored, and the object as the pass knows it.
	confirmed bool
	in        tenant.Input
	decision  tenant.Decision
	// acts tell of the namespace, and account of what is in it. The objects of a namespace that was created in this
	// pass are not reported.
	acts    []reconcile.Event
	account plan.Account
	fresh   bool
}

// Decide implements reconcile.Pass.
func (p *pass) Decide() chain.Effect {
	p.decision = tenant.Decide(p.in)
	return p.decision.Step.Effect()
}

// observe reads what the decision is based on, all of it from caches.
func (p *pass) observe(ctx context.Context) error {
	customer := convert.Tenant(p.object)
	customer.MinPodSecurity = p.Namespaces.MinPodSecurity
	ingressOf, err := p.ingressOf(ctx, customer.Namespace)
	if err != nil {
		return err
	}
	p.in = tenant.Input{
		Now: p.Clock.Now(), Tenant: customer, Problem: customer.Problem(p.Namespaces, ingressOf),
		Deleting: !p.object.DeletionTimestamp.IsZero(), Protected: p.object.Spec.DeletionProtection,
		Retain: p.object.Spec.DeletionPolicy == kleffv1.DeletionRetain, HasFinalizer: controllerutil.ContainsFinalizer(p.object, kleffv1.NamespaceFinalizer),
		Guarded: p.Breaker.Watches(convert.ClassTenant), Rescued: p.Breaker.Rescued(convert.ClassTenant, "", p.object.Name),
		Memory: convert.TenantMemory(&p.object.Status), Attempts: p.attempts,
	}
	namespace, err := p.Children.Find(ctx, plan.KindNamespace, "", customer.Namespace)
	if err != nil {
		return fmt.Errorf("looking for the namespace in the cache: %w", err)
	}
	if err := p.sawNamespace(ctx, namespace); err != nil {
		return err
	}
	p.in.World.Follow, err = p.follow(ctx)
	return err
}

// ingressOf is the first of the plans that have the namespace as an ingress namespace; empty if there is none.
func (p *pass) ingressOf(ctx context.Context, namespace string) (string, error) {
	var plans kleffv1.TenantPlanList
	if err := p.Client.List(ctx, &plans, client.UnsafeDisableDeepCopy); err != nil {
		return "", fmt.Errorf("looking for plans with the namespace as an ingress namespace: %w", err)
	}
	first := ""
	for i := range plans.Items {
		o := &plans.Items[i]
		if (first == "" || o.Name < first) && slices.Contains(convert.IngressNamespaces(o), namespace) {
			first = o.Name
		}
	}
	return first, nil
}

// sawNamespace takes what was found of the namespace, and reads the children if it is the tenant's and stays.
func (p *pass) sawNamespace(ctx context.Context, n *plan.Live) error {
	w := &p.in.World
	w.Namespace, w.Owner = n, ""
	if n == nil {
		return nil
	}
	owner, err := p.owner(ctx, n)
	if err != nil {
		return err
	}
	w.Owner = owner
	// A deletion needs only the namespace, and each deleted child wakes the tenant.
	if n.Labels[plan.LabelTenantUID] == p.in.Tenant.UID && !p.in.Deleting {
		p.readChildren(ctx)
	}
	return nil
}

// owner is the living tenant that owns the namespace, if it is another one: the namespace has that tenant's UID, or else had
// it until it was removed.
func (p *pass) owner(ctx context.Context, n *plan.Live) (string, error) {
	var wanting kleffv1.TenantList
	if err := p.Client.List(ctx, &wanting, client.MatchingFields{IndexNamespace: n.Name}); err != nil {
		return "", fmt.Errorf("looking for the owner of the namespace: %w", err)
	}
	others := slices.DeleteFunc(wanting.Items, func(t kleffv1.Tenant) bool { return t.UID == p.object.UID })
	i := slices.IndexFunc(others, func(t kleffv1.Tenant) bool { return string(t.UID) == n.Labels[plan.LabelTenantUID] })
	if i < 0 {
		i = slices.IndexFunc(others, func(t kleffv1.Tenant) bool { return t.Status.Namespace == n.Name })
	}
	if i < 0 {
		return "", nil
	}
	return others[i].Name, nil
}

// readChildren lists what the tenant has. Everything with the UID of a tenant in the tenant's own namespace is its own:
// an adopted namespace brings that of its former tenant.
func (p *pass) readChildren(ctx context.Context) {
	w := &p.in.World
	w.Children, w.Missing, w.Unreadable = nil, nil, map[plan.Kind]*fault.Error{}
	for _, k := range plan.ChildKinds() {
		if !p.Children.Served(k) {
			w.Missing = append(w.Missing, k)
			continue
		}
		found, err := p.Children.List(ctx, k, p.in.Tenant.Namespace)
		if err != nil {
			w.Unreadable[k] = plan.Fault(err)
			continue
		}
		for _, l := range found {
			if l.Labels[plan.LabelTenantUID] != "" {
				w.Children = append(w.Children, l)
			}
		}
	}
}

// follow reads the plan.
func (p *pass) follow(ctx context.Context) (tenant.Follow, error) {
	var found kleffv1.TenantPlan
	former := p.Plans.At(p.in.Memory.PlanUID, p.in.Memory.PlanGeneration)
	if err := p.Client.Get(ctx, client.ObjectKey{Name: p.object.Spec.Plan}, &found); err != nil {
		if apierrors.IsNotFound(err) {
			var plans kleffv1.TenantPlanList
			if err := p.Client.List(ctx, &plans, client.Limit(1), client.UnsafeDisableDeepCopy); err != nil {
				return tenant.Follow{}, fmt.Errorf("looking for any plan: %w", err)
			}
			return tenant.Follow{Former: former, NoneAtAll: len(plans.Items) == 0}, nil
		}
		return tenant.Follow{}, fmt.Errorf("looking for the plan: %w", err)
	}
	state, generation := p.Plans.State(&found), convert.PlanGeneration(&found)
	f := tenant.Follow{
		Plan: state.Plan, UID: string(found.UID), Generation: generation, Invalid: state.Invalid, Tried: state.Tried, Held: tenantplan.Held(&found),
		Going: !found.DeletionTimestamp.IsZero(), Released: p.Plans.IsReleased(found.UID, generation, p.object.UID), Former: former,
	}
	for _, c := range convert.Conditions(found.Status.Conditions) {
		if c.Type == plan.ConditionPolicyReady {
			f.Policy = &c
		}
	}
	return f, nil
}

// Conclude implements reconcile.Pass.
func (p *pass) Conclude(err error) reconcile.Conclusion {
	if _, over := p.decision.Step.(tenant.LetGo); over {
		return p.farewell(err)
	}
	s := &p.object.Status
	before := s.DeepCopy().Conditions
	report := tenant.Conclude(p.in, tenant.Outcome{Decision: p.decision, Err: err}, convert.Conditions(before))
	convert.TenantStatus(s, p.object.Generation, report, p.Clock.Now())
	c := reconcile.Conclusion{Acts: p.acts, Events: transition(before, s.Conditions)}
	if !p.fresh {
		c.Acts = append(c.Acts, reconcile.Told(p.account.Events())...)
	}
	if rest, ok := p.decision.Step.(tenant.Rest); ok {
		c.After = rest.After
	}
	return c
}

// farewell sends the last events of an object that is being deleted; no status is left to write.
func (p *pass) farewell(err error) reconcile.Conclusion {
	switch {
	case err != nil:
	case p.in.Memory.Namespace != "" && p.in.World.Namespace == nil:
		p.tell(eventNamespaceDeleted, fmt.Sprintf("the namespace %q was deleted", p.in.Memory.Namespace))
	}
	return reconcile.Conclusion{Acts: p.acts}
}

// transition tells of TenantReady when its reason has changed.
func transition(before, after []metav1.Condition) []reconcile.Event {
	return reconcile.Turn(before, after, kleffv1.ConditionTenantReady, kleffv1.ReasonCreating, kleffv1.ReasonTerminating)
}
