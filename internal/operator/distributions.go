package operator

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
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
		options.Claimant = claim.KindDistribution
		distributions := awsresource.New(distribution.In, options)
		env.domains.OnLearn(func(ctx context.Context) error {
			return learn(ctx, mgr.GetClient(), &v1alpha1.DistributionList{}, distributions.Learn)
		})
		env.claimants[options.Claimant] = distributions.Wake
		AddLosses(env.breaker, mgr.GetClient(), distributions.Wake, convert.ClassDistribution, convert.ClassSharedDistribution)
		if err := addResource(ctx, mgr, env, config.Distribution, distributions); err != nil {
			return err
		}
	}
	if slices.Contains(c.Controllers, config.ConnectionGroup) {
		options.Claimant, options.Zones = claim.KindConnectionGroup, env.zones
		groups := awsresource.New(connectiongroup.In, options)
		env.domains.OnLearn(func(ctx context.Context) error {
			return learn(ctx, mgr.GetClient(), &v1alpha1.ConnectionGroupList{}, groups.Learn)
		})
		env.claimants[options.Claimant] = groups.Wake
		env.publish = append(env.publish, groups.WakeAll)
		AddLosses(env.breaker, mgr.GetClient(), groups.Wake, convert.ClassConnectionGroup)
		return addResource(ctx, mgr, env, config.ConnectionGroup, groups)
	}
	return nil
}

// learn learns of the domains of all objects of a kind before the first domain is judged.
func learn[O client.Object](ctx context.Context, kube client.Reader, list client.ObjectList, learn func(O)) error {
	if err := kube.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return err
	}
	return meta.EachListItem(list, func(o runtime.Object) error {
		learn(o.(O)) //nolint:forcetypeassert // a list has objects of one kind
		return nil
	})
}

func addResource[O client.Object, R any](ctx context.Context, mgr ctrl.Manager, env *environment, name string, c *awsresource.Controller[O, R]) error {
	env.halt.OnChange(c.WakeAll)
	env.grants.OnChange(c.WakeNamespaces)
	env.freed = append(env.freed, func(tenant string) { c.Wake(ctx, c.Freed(tenant)...) })
	return reconcile.Setup(mgr, drive(mgr, env, c), c.Watch(name, resourceWorkers))
}
