// Package tenantplan takes the changes of plans through their tenants, and keeps the plans' constraints. All that is decided
// is decided in domain/tenantplan; here is how it is observed and done.
package tenantplan

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/rollout"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

// Options configure the controller.
type Options struct {
	Client   client.Client
	Children port.Children
	Plans    *Plans
	Clock    clock.PassiveClock
	// Next wakes the tenants that a change has come to.
	Next func(ctx context.Context, tenants ...string)
	// Ready waits until Children can be read from.
	Ready func(ctx context.Context) error
	// Active is closed once this replica is the one that works. Earlier changes are looked at then.
	Active <-chan struct{}
}

// IndexPlan is the field of the cache's index of Tenants by the plans that they name or have.
const IndexPlan = "plan"

// PlansOf are the values of a Tenant in that index.
func PlansOf(t *kleffv1.Tenant) []string {
	plans := []string{t.Spec.Plan}
	if t.Status.Plan != "" && t.Status.Plan != t.Spec.Plan {
		plans = append(plans, t.Status.Plan)
	}
	return plans
}

// Controller implements reconcile.Kind for TenantPlan.
type Controller struct {
	Options
	*reconcile.Known[memory]
}

// memory is what the process remembers of one plan.
type memory struct {
	attempts plan.Attempts
	// tried is the generation that the API server was asked about.
	tried int64
	// unanswered is how many times in a row it did not answer.
	unanswered int
	// counted is when the figures in status were last stored.
	counted time.Time
	// progress is that of the roll-out of the generation.
	generation int64
	progress   rollout.Progress
}

// New makes a controller.
func New(o Options) *Controller {
	return &Controller{Options: o, Known: reconcile.NewKnown[memory](o.Active)}
}

// New implements reconcile.Kind.
func (c *Controller) New() *kleffv1.TenantPlan { return &kleffv1.TenantPlan{} }

// Finalizer implements reconcile.Kind.
func (c *Controller) Finalizer() string { return kleffv1.PlanFinalizer }

// Status implements reconcile.Kind.
func (c *Controller) Status(o *kleffv1.TenantPlan) any { return &o.Status }

// Forget implements reconcile.Kind.
func (c *Controller) Forget(key client.ObjectKey) {
	if uid, m := c.Drop(key); m != nil {
		c.Plans.Forget(uid)
	}
}

// Begin implements reconcile.Kind.
func (c *Controller) Begin(ctx context.Context, o *kleffv1.TenantPlan) (reconcile.Pass, error) {
	p := &pass{Controller: c, object: o, memory: c.Recall(o, func(*memory) memory { return memory{attempts: plan.Attempts{}} })}
	return p, p.observe(ctx)
}

// ChildChanged wakes the plan of a constraint. Anyone may set labels on other kinds: a pass over a plan looks at all
// its tenants, and a customer must not be able to cause one.
func (c *Controller) ChildChanged(ctx context.Context, l plan.Live) {
	if name := l.Labels[plan.LabelPlan]; name != "" && l.Kind == plan.ConstraintKind(l.Kind.Kind) {
		c.WakeNames(ctx, name)
	}
}

// Watch says what wakes the plans: changes of their own, what becomes of their tenants, and Wake.
func (c *Controller) Watch(workers int) reconcile.Watch {
	return reconcile.Watch{
		Name: "tenantplan", Workers: workers, Wake: c.Queue(), Ready: c.Ready,
		Related: []reconcile.Related{{
			Object: &kleffv1.Tenant{},
			Wakes: func(o client.Object) []types.NamespacedName {
				var keys []types.NamespacedName
				if t, ok := o.(*kleffv1.Tenant); ok {
					for _, plan := range PlansOf(t) {
						keys = append(keys, types.NamespacedName{Name: plan})
					}
				}
				return keys
			},
			Matters: follows,
		}},
	}
}

// follows reports whether a change of a tenant shows to its plans.
func follows(before, after client.Object) bool {
	a, okA := before.(*kleffv1.Tenant)
	b, okB := after.(*kleffv1.Tenant)
	if !okA || !okB {
		return true
	}
	return a.Spec.Plan != b.Spec.Plan || a.Status.Plan != b.Status.Plan || a.Status.PlanUID != b.Status.PlanUID ||
		a.Status.PlanGeneration != b.Status.PlanGeneration || a.DeletionTimestamp.IsZero() != b.DeletionTimestamp.IsZero() ||
		reasons(a) != reasons(b)
}

// reasons are those of the conditions that say how a plan is followed.
func reasons(t *kleffv1.Tenant) (out [4]string) {
	for i, kind := range []string{kleffv1.ConditionNamespaceReady, kleffv1.ConditionPlanApplied, kleffv1.ConditionMeshReady, kleffv1.ConditionEdgeReady} {
		for _, c := range t.Status.Conditions {
			if c.Type == kind {
				out[i] = string(c.Status) + c.Reason
			}
		}
	}
	return out
}
