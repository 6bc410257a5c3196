package operator

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/awsresource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/connectiongroup"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/distribution"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/claim"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/config"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

// resourceWorkers is how many objects of a kind that tenants refer to are reconciled at the same time. An account has a
// handful of them.
const resourceWorkers = 2

// addDistributionsAndGroups adds the controllers for Distribution and ConnectionGroup.
func addDistributionsAndGroups(ctx context.Context, mgr ctrl.Manager, c config.Config, env *environment, objectsOf func([]string) []types.NamespacedName) error {
	options := awsresource.Options{Shared: env.shared(mgr, c), Observer: env.reconciles, Objects: objectsOf}
	if slices.Contains(c.Controllers, config.Distribution) {
		distributions := awsresource.New(distribution.In, options)
		env.domains.OnLearn(func(ctx context.Context) error { return learnAliases(ctx, mgr.GetClient(), distributions.Learn) })
		env.claimants[claim.KindDistribution] = distributions.Wake
		AddLosses(env.breaker, mgr.GetClient(), distributions.Wake, convert.ClassDistribution, convert.ClassSharedDistribution)
		if err := addResource(ctx, mgr, env, config.Distribution, distributions); err != nil {
			return err
		}
	}
	if slices.Contains(c.Controllers, config.ConnectionGroup) {
		options.DomainClaims = nil // a group has no domains
		groups := awsresource.New(connectiongroup.In, options)
		AddLosses(env.breaker, mgr.GetClient(), groups.Wake, convert.ClassConnectionGroup)
		return addResource(ctx, mgr, env, config.ConnectionGroup, groups)
	}
	return nil
}

// learnAliases learns of the aliases of all distributions before the first domain is judged.
func learnAliases(ctx context.Context, kube client.Reader, learn func(*v1alpha1.Distribution)) error {
	var list v1alpha1.DistributionList
	if err := kube.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return err
	}
	for i := range list.Items {
		learn(&list.Items[i])
	}
	return nil
}

func addResource[O client.Object, R any](ctx context.Context, mgr ctrl.Manager, env *environment, name string, c *awsresource.Controller[O, R]) error {
	env.halt.OnChange(c.WakeAll)
	env.grants.OnChange(c.WakeNamespaces)
	env.freed = append(env.freed, func(tenant string) { c.Wake(ctx, c.Freed(tenant)...) })
	return reconcile.Setup(mgr, drive(mgr, env, c), c.Watch(name, resourceWorkers))
}
