// Package tenant gives customers their namespaces. All that is decided is decided in domain/tenant; here is how it is
// observed and done.
package tenant

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/tenantplan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/loss"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

// Options configure the controller.
type Options struct {
	Client   client.Client
	Children port.Children
	// Plans is what is known of the plans as they are now.
	Plans *tenantplan.Plans
	// Breaker clears deletions; nil clears all.
	Breaker *loss.Breaker
	// Namespaces says which namespaces tenants may have.
	Namespaces plan.Namespaces
	Clock      clock.PassiveClock
	// Ready waits until Children can be read from.
	Ready func(ctx context.Context) error
	// Active is closed once this replica is the one that works. Earlier changes are looked at then.
	Active <-chan struct{}
}

// IndexNamespace is the field of the cache's index of Tenants by the names of their namespaces.
const IndexNamespace = "namespace"

// Controller implements reconcile.Kind for Tenant.
type Controller struct {
	Options
	// The process remembers of a tenant what it has tried.
	*reconcile.Known[plan.Attempts]
}

// New makes a controller.
func New(o Options) *Controller {
	return &Controller{Options: o, Known: reconcile.NewKnown[plan.Attempts](o.Active)}
}

// New implements reconcile.Kind.
func (c *Controller) New() *kleffv1.Tenant { return &kleffv1.Tenant{} }

// Finalizer implements reconcile.Kind.
func (c *Controller) Finalizer() string { return kleffv1.NamespaceFinalizer }

// Status implements reconcile.Kind.
func (c *Controller) Status(o *kleffv1.Tenant) any { return &o.Status }

// Begin implements reconcile.Kind.
func (c *Controller) Begin(ctx context.Context, o *kleffv1.Tenant) (reconcile.Pass, error) {
	p := &pass{Controller: c, object: o, attempts: *c.Recall(o, func(*plan.Attempts) plan.Attempts { return plan.Attempts{} })}
	return p, p.observe(ctx)
}

// ChildChanged wakes the tenants that want the namespace that an object is, or is in. Its labels do not count: a
// customer writes them in their own namespace, and could keep the tenants of others awake.
func (c *Controller) ChildChanged(ctx context.Context, l plan.Live) {
	namespace := l.Namespace
	if l.Kind == plan.KindNamespace {
		namespace = l.Name
	}
	if namespace != "" && c.Waker.Active() {
		c.WakeNames(ctx, c.wanting(ctx, namespace)...)
	}
}

// wanting are the tenants whose namespace has that name.
func (c *Controller) wanting(ctx context.Context, namespace string) []string {
	tenants := c.tenants(ctx, client.MatchingFields{IndexNamespace: namespace})
	names := make([]string, len(tenants))
	for i := range tenants {
		names[i] = tenants[i].Name
	}
	return names
}

// tenants are those of the cache itself, which must not be changed.
func (c *Controller) tenants(ctx context.Context, options ...client.ListOption) []kleffv1.Tenant {
	var list kleffv1.TenantList
	if err := c.Client.List(ctx, &list, append(options, client.UnsafeDisableDeepCopy)...); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Listing the tenants from the cache failed")
		return nil
	}
	return list.Items
}

// Watch says what wakes the tenants: changes of their own, of the plans that they name and of the tenant that has their
// namespace, and Wake.
func (c *Controller) Watch(workers int) reconcile.Watch {
	return reconcile.Watch{
		Name: "tenant", Workers: workers, Wake: c.Queue(), Ready: c.Ready,
		Annotations: []string{v1alpha1.AnnotationApproveDeletions, v1alpha1.AnnotationAbandonDeletions},
		Related: []reconcile.Related{{
			Object:  &kleffv1.TenantPlan{},
			Wakes:   func(o client.Object) []types.NamespacedName { return c.concerned(context.Background(), o) },
			Matters: planMatters,
		}, {
			Object:  &kleffv1.Tenant{},
			Wakes:   func(o client.Object) []types.NamespacedName { return c.rivals(context.Background(), o) },
			Matters: movesOut,
		}},
	}
}

// rivals are the other tenants that want the namespace that a tenant has: the one that it leaves may be theirs.
func (c *Controller) rivals(ctx context.Context, o client.Object) []types.NamespacedName {
	t, ok := o.(*kleffv1.Tenant)
	if !ok || t.Status.Namespace == "" {
		return nil
	}
	var keys []types.NamespacedName
	for _, name := range c.wanting(ctx, t.Status.Namespace) {
		if name != t.Name {
			keys = append(keys, types.NamespacedName{Name: name})
		}
	}
	return keys
}

// movesOut reports whether a change of a tenant shows to those that want its namespace.
func movesOut(before, after client.Object) bool {
	a, okA := before.(*kleffv1.Tenant)
	b, okB := after.(*kleffv1.Tenant)
	return !okA || !okB || a.Status.Namespace != b.Status.Namespace
}

// concerned are the tenants that follow a plan, and those whose namespaces it takes as ingress namespaces.
func (c *Controller) concerned(ctx context.Context, o client.Object) []types.NamespacedName {
	keys := c.following(ctx, o.GetName())
	if p, ok := o.(*kleffv1.TenantPlan); ok {
		for _, namespace := range convert.IngressNamespaces(p) {
			for _, name := range c.wanting(ctx, namespace) {
				keys = append(keys, types.NamespacedName{Name: name})
			}
		}
	}
	return keys
}

// following are the tenants to which a plan that has changed matters: those that name it or have it, and those whose
// plan does not exist. The rules for them depend on whether the cluster has any plan.
func (c *Controller) following(ctx context.Context, name string) []types.NamespacedName {
	var keys []types.NamespacedName
	known := c.plans(ctx)
	tenants := c.tenants(ctx)
	for i := range tenants {
		if t := &tenants[i]; !known[t.Spec.Plan] || slices.Contains(tenantplan.PlansOf(t), name) {
			keys = append(keys, types.NamespacedName{Name: t.Name})
		}
	}
	return keys
}

// plans are the names of all plans; none where they can't be listed.
func (c *Controller) plans(ctx context.Context) map[string]bool {
	var list kleffv1.TenantPlanList
	if err := c.Client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Listing the plans from the cache failed")
	}
	names := make(map[string]bool, len(list.Items))
	for i := range list.Items {
		names[list.Items[i].Name] = true
	}
	return names
}

// planMatters reports whether a change of a plan shows to its tenants. Its figures don't, nor does the way of its rollouts.
func planMatters(before, after client.Object) bool {
	a, okA := before.(*kleffv1.TenantPlan)
	b, okB := after.(*kleffv1.TenantPlan)
	if !okA || !okB {
		return true
	}
	return a.UID != b.UID || convert.PlanGeneration(a) != convert.PlanGeneration(b) || a.DeletionTimestamp.IsZero() != b.DeletionTimestamp.IsZero() || policy(a) != policy(b)
}

// policy is the state of a plan's constraints.
func policy(p *kleffv1.TenantPlan) string {
	c := meta.FindStatusCondition(p.Status.Conditions, kleffv1.ConditionPolicyReady)
	if c == nil {
		return ""
	}
	return string(c.Status) + c.Reason + c.Message
}
