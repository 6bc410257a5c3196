package operator

import (
	"context"
	"fmt"

	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/kube"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/tenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/tenantplan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/loss"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/config"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

// planWorkers is how many plans are reconciled at the same time. A platform has a handful of them.
const planWorkers = 2

// addTenantsAndPlans adds the controllers for Tenant and TenantPlan.
func addTenantsAndPlans(ctx context.Context, mgr ctrl.Manager, c config.Config, env *environment) error {
	if err := indexTenants(ctx, mgr); err != nil {
		return err
	}
	namespaces, err := c.Tenancy.Rules()
	if err != nil {
		return err
	}
	var tenants *tenant.Controller
	var plans *tenantplan.Controller
	children, err := kube.New(kube.Options{
		Config: mgr.GetConfig(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(), Client: mgr.GetClient(), Live: mgr.GetAPIReader(),
		Watched: append(plan.ChildKinds(), plan.KindNamespace, plan.ConstraintKind("")),
		Changed: func(l plan.Live) {
			tenants.ChildChanged(ctx, l)
			plans.ChildChanged(ctx, l)
		},
		Appeared: func() {
			tenants.WakeAll(ctx)
			plans.WakeAll(ctx)
		},
		Clock: clock.RealClock{},
	})
	if err != nil {
		return err
	}
	known := tenantplan.NewPlans(namespaces.MinPodSecurity)
	tenants = tenant.New(tenant.Options{
		Client: mgr.GetClient(), Children: children, Plans: known, Namespaces: namespaces, Clock: clock.RealClock{}, Active: mgr.Elected(),
		Ready: children.WaitForSync, Breaker: env.breaker,
	})
	env.breaker.Add(loss.Class{Name: convert.ClassTenant, Words: budgetNamespaces, List: listNamespaces(mgr.GetClient(), children.Find), Wake: tenants.Wake})
	plans = tenantplan.New(tenantplan.Options{
		Client: mgr.GetClient(), Children: children, Plans: known, Clock: clock.RealClock{}, Active: mgr.Elected(), Next: tenants.WakeNames,
		Ready: children.WaitForSync,
	})
	if err := mgr.Add(children); err != nil {
		return fmt.Errorf("adding the cache of tenants' objects: %w", err)
	}
	if err := reconcile.Setup(mgr, drive(mgr, env, tenants), tenants.Watch(c.Workers)); err != nil {
		return err
	}
	return reconcile.Setup(mgr, drive(mgr, env, plans), plans.Watch(planWorkers))
}

// indexTenants lets tenants be found by their namespace and by their plan.
func indexTenants(ctx context.Context, mgr ctrl.Manager) error {
	for field, values := range map[string]func(*kleffv1.Tenant) []string{
		tenant.IndexNamespace: func(t *kleffv1.Tenant) []string { return []string{convert.TenantNamespace(t)} },
		tenantplan.IndexPlan:  tenantplan.PlansOf,
	} {
		err := mgr.GetFieldIndexer().IndexField(ctx, &kleffv1.Tenant{}, field, func(o client.Object) []string {
			if t, ok := o.(*kleffv1.Tenant); ok {
				return values(t)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("indexing the tenants by %s: %w", field, err)
		}
	}
	return nil
}
