package operator

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/config"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

// addDistributionTenants adds the inventory and the controller for DistributionTenant.
func addDistributionTenants(ctx context.Context, mgr ctrl.Manager, c config.Config, env *environment) (*distributiontenant.Controller, error) {
	var controller *distributiontenant.Controller
	env.moved = func(names []string) { controller.WakeTenants(ctx, names) }
	rollouts, err := addRollouts(ctx, mgr, c, env, func(ctx context.Context, keys ...client.ObjectKey) { controller.Wake(ctx, keys...) })
	if err != nil {
		return nil, err
	}
	env.rollouts = rollouts
	if env.watcher, err = addWatcher(mgr, c, func(ctx context.Context, keys ...client.ObjectKey) { controller.Wake(ctx, keys...) }); err != nil {
		return nil, err
	}
	if err := addKeyValues(ctx, mgr, env); err != nil {
		return nil, err
	}
	options := distributiontenant.Options{
		Shared: env.shared(mgr, c), Live: mgr.GetAPIReader(), Zones: env.zones, KeyValues: env.stores, Resolver: c.Resolver(), Observer: env.reconciles, Rollouts: rollouts,
		Gone: func(tenant string) {
			for _, free := range env.freed {
				free(tenant)
			}
		},
	}
	if env.watcher != nil {
		options.Watcher = env.watcher
	}
	controller = distributiontenant.New(options)
	AddLosses(env.breaker, mgr.GetClient(), controller.Wake, convert.ClassDistributionTenant, convert.ClassOwnership)
	env.halt.OnChange(controller.WakeAll)
	env.grants.OnChange(controller.WakeNamespaces)
	env.domains.OnLearn(controller.LearnAll)
	env.claimants[""] = controller.Wake
	env.publish = append(env.publish, controller.WakeAll)
	if err := reconcile.Setup(mgr, drive(mgr, env, controller), controller.Watch(c.Workers)); err != nil {
		return nil, err
	}
	return controller, addAccounts(ctx, mgr, c, env, controller.Claims)
}
