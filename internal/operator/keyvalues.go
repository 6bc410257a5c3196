package operator

import (
	"context"
	"fmt"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/claim"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/keyvalue"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/keyvalues"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/metrics"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

// addKeyValues adds the workers that keep key value stores. They make no call before an object has keys.
func addKeyValues(ctx context.Context, mgr ctrl.Manager, env *environment) error {
	counted, err := metrics.NewKeyValues(ctrlmetrics.Registry)
	if err != nil {
		return err
	}
	env.stores = keyvalues.New(keyvalues.Options{
		Of: env.Accounts.KeyValues, Clock: clock.RealClock{},
		Observer: keyObserver{KeyValues: counted, log: ctrl.Log.WithValues("controller", "distributiontenant"), publish: env.publisher.publish},
		OnChange: func(owners []keyvalue.Owner) {
			keys := make([]claim.Key, len(owners))
			for i, o := range owners {
				keys[i] = claim.Key{Namespace: o.Namespace, Name: o.Name}
			}
			env.wakeClaimants(ctx, keys)
		},
	})
	if err := mgr.Add(env.stores); err != nil {
		return fmt.Errorf("adding the key value stores: %w", err)
	}
	env.gauges.KeyValues = env.stores
	return nil
}

// keyObserver also accounts for what the stores do without a pass of the object.
type keyObserver struct {
	*metrics.KeyValues

	log     logr.Logger
	publish func(o client.Object, e reconcile.Event)
}

// Restored implements keyvalues.Observer.
func (o keyObserver) Restored(keys []keyvalue.Restored) {
	deeds := make([]deed, len(keys))
	for i, k := range keys {
		object := &v1alpha1.DistributionTenant{}
		object.SetUID(types.UID(k.Owner.UID))
		deeds[i] = deed{object: named(object, k.Owner.Namespace, k.Owner.Name), event: reconcile.Event(distributiontenant.KeyRestored(k))}
	}
	tell(o.log, o.publish, deeds)
}
