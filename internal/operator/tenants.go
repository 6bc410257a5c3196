package operator

import (
	"context"
	"math/rand/v2"

	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/config"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

// addDistributionTenants adds the inventory and the controller for DistributionTenant.
func addDistributionTenants(ctx context.Context, mgr ctrl.Manager, c config.Config, env *environment) (*distributiontenant.Controller, error) {
	wall := clock.RealClock{}
	var controller *distributiontenant.Controller
	dnsAccounts, err := addDNSAccounts(mgr, c, env, func() { controller.WakeAll(ctx) })
	if err != nil {
		return nil, err
	}
	zones, err := addZones(mgr, env, dnsProviders(env.Route53(), dnsAccounts), func(owners []dns.Owner) { controller.WakeOwners(ctx, owners) })
	if err != nil {
		return nil, err
	}
	env.moved = func(names []string) { controller.Wake(ctx, names) }
	rollouts, err := addRollouts(ctx, mgr, c, env, func(ctx context.Context, keys ...client.ObjectKey) { controller.WakeKeys(ctx, keys...) })
	if err != nil {
		return nil, err
	}
	env.rollouts = rollouts
	controller = distributiontenant.New(distributiontenant.Options{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Accounts: env.Accounts,
		Zones: zones, Resolver: c.Resolver(), Breaker: env.breaker, Halt: env.halt, Grants: env.grants, Clock: wall, ClusterID: c.ClusterID, Interval: c.SweepInterval, Observer: env.reconciles, Random: rand.Float64,
		Defaults: env.defaults, DomainClaims: env.domains, Rollouts: rollouts,
		Gone: func(tenant string) {
			for _, free := range env.freed {
				free(tenant)
			}
		},
	})
	AddLosses(env.breaker, mgr.GetClient(), controller.WakeKeys, convert.ClassDistributionTenant, convert.ClassOwnership)
	env.halt.OnChange(controller.WakeAll)
	env.grants.OnChange(controller.WakeNamespaces)
	env.domains.OnLearn(controller.LearnAll)
	env.claimants[""] = controller.WakeDomains
	if err := reconcile.Setup(mgr, drive(mgr, env, controller), controller.Watch(c.Workers)); err != nil {
		return nil, err
	}
	return controller, addAccounts(ctx, mgr, c, env, controller.Claims)
}
