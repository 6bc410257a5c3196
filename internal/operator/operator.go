// Package operator puts the operator together: AWS clients, the inventory, the guards and the controllers. It is the
// only package that knows them all.
package operator

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/config"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/rights"
)

// Run runs the operator until the context ends.
func Run(ctx context.Context, c config.Config, kube *rest.Config) error {
	log := ctrl.Log.WithName("operator")
	mgr, lease, err := assemble(ctx, &c, kube)
	if err != nil && ctx.Err() != nil {
		log.Info("Asked to end before the start", "error", err.Error())
		return nil //nolint:nilerr // the process was asked to end, and does
	}
	if err != nil {
		return err
	}
	log.Info("Starting", "version", Version, "clusterID", c.ClusterID, "driftPolicy", c.DriftPolicy, "sweepInterval", c.SweepInterval.String())
	if err := lease.await(func() error { return mgr.Start(ctx) }); err != nil {
		return fmt.Errorf("running the manager: %w", err)
	}
	return nil
}

// assemble makes the manager with all that it runs, and the lease that it needs. It finds out the cluster's ID if the configuration has none.
func assemble(ctx context.Context, c *config.Config, kube *rest.Config) (ctrl.Manager, *leadership, error) {
	if err := c.Validate(); err != nil {
		return nil, nil, err
	}
	saveMemory(*c)
	scheme, err := Scheme()
	if err != nil {
		return nil, nil, err
	}
	if err := rights.Check(ctx, *c, kube); err != nil {
		return nil, nil, err
	}
	lease, err := newLeadership(*c, kube)
	if err != nil {
		return nil, nil, err
	}
	options := managerOptions(*c, scheme)
	lease.elects(&options)
	mgr, err := ctrl.NewManager(lease.fence(kube), options)
	if err != nil {
		return nil, nil, fmt.Errorf("creating the manager: %w", err)
	}
	lease.tell(mgr)
	if c.ClusterID, err = clusterID(ctx, mgr.GetAPIReader(), c.ClusterID); err != nil {
		return nil, nil, err
	}
	if err := addProbes(mgr); err != nil {
		return nil, nil, err
	}
	env, err := newEnvironment(ctx, mgr, *c, lease)
	if err != nil {
		return nil, nil, err
	}
	if err := addClusterCheck(ctx, mgr, *c, env); err != nil {
		return nil, nil, err
	}
	if err := addControllers(ctx, mgr, *c, env); err != nil {
		return nil, nil, err
	}
	return mgr, lease, addWebhook(ctx, mgr, *c, env)
}

// addControllers adds those that --controllers names.
func addControllers(ctx context.Context, mgr ctrl.Manager, c config.Config, env *environment) error {
	if err := addGrants(ctx, mgr, c, env); err != nil {
		return err
	}
	if err := addDomainClaims(ctx, mgr, c, env); err != nil {
		return err
	}
	if err := addZones(ctx, mgr, c, env); err != nil {
		return err
	}
	// Without the controller of tenants it is not known which objects belong to them.
	objectsOf := func([]string) []types.NamespacedName { return nil }
	if slices.Contains(c.Controllers, config.DistributionTenant) {
		tenants, err := addDistributionTenants(ctx, mgr, c, env)
		if err != nil {
			return err
		}
		objectsOf = tenants.ObjectsOf
	}
	if slices.Contains(c.Controllers, config.TenantSource) {
		if err := addSources(ctx, mgr, c, env); err != nil {
			return err
		}
	}
	if slices.Contains(c.Controllers, config.Tenant) {
		if err := addTenantsAndPlans(ctx, mgr, c, env); err != nil {
			return err
		}
	}
	invalidates, err := addInvalidations(mgr, c, env)
	if err != nil {
		return err
	}
	if err := addDistributionsAndGroups(ctx, mgr, c, env, objectsOf); err != nil {
		return err
	}
	g := &env.gauges
	g.Reader, g.Elected, g.Clock, g.Controllers = mgr.GetCache(), mgr.Elected(), clock.RealClock{}, runningControllers(c, env, invalidates)
	g.Breaker, g.Claims, g.Grants, g.Halt, g.Rollouts = env.breaker, env.domains, env.grants, env.halt, env.rollouts
	g.Watcher = env.watcher
	return g.Register(ctrlmetrics.Registry)
}

// runningControllers are those that run: what --controllers names, without a kind that is not installed, and that of
// grants.
func runningControllers(c config.Config, env *environment, invalidates bool) []string {
	running := slices.DeleteFunc(slices.Clone(c.Controllers), func(name string) bool { return name == config.Invalidation && !invalidates })
	if env.grants != nil {
		running = append(running, config.EdgeGrant)
	}
	return running
}
