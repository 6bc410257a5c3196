package operator

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/claim"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/publication"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/config"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/metrics"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/zone"
)

// addZones adds the workers that keep DNS zones.
func addZones(ctx context.Context, mgr ctrl.Manager, c config.Config, env *environment) error {
	if !slices.Contains(c.Controllers, config.DistributionTenant) && !slices.Contains(c.Controllers, config.ConnectionGroup) {
		return nil
	}
	dnsAccounts, err := addDNSAccounts(mgr, c, env, func() {
		for _, wakeAll := range env.publish {
			wakeAll(ctx)
		}
	})
	if err != nil {
		return err
	}
	counted, err := metrics.NewZones(ctrlmetrics.Registry, env.reconciles.DNSFailed)
	if err != nil {
		return err
	}
	observer := zoneObserver{Zones: counted, log: ctrl.Log.WithValues("controller", "distributiontenant"), publish: env.publisher.publish}
	env.zones = zone.New(zone.Options{
		Providers: dnsProviders(env.Route53(), dnsAccounts), Clock: clock.RealClock{}, Random: rand.Float64, Observer: observer,
		OnChange: func(owners []dns.Owner) {
			keys := make([]claim.Key, len(owners))
			for i, o := range owners {
				keys[i] = OwnerKey(o)
			}
			env.wakeClaimants(ctx, keys)
		},
	})
	if err := mgr.Add(env.zones); err != nil {
		return fmt.Errorf("adding the zones: %w", err)
	}
	env.gauges.DNSZones = env.zones
	return nil
}

// OwnerKey is the object that a ledger belongs to.
func OwnerKey(o dns.Owner) claim.Key {
	k := claim.Key{Namespace: o.Namespace, Name: o.Name}
	if o.Target != "" {
		k.Kind = claim.KindConnectionGroup
	}
	return k
}

// zoneObserver also accounts for what the zones do without a pass of the object.
type zoneObserver struct {
	*metrics.Zones

	log     logr.Logger
	publish func(o client.Object, e reconcile.Event)
}

// Corrected implements zone.Observer.
func (o zoneObserver) Corrected(corrections []dns.Correction) {
	deeds := make([]deed, len(corrections))
	for i, c := range corrections {
		object := client.Object(&v1alpha1.DistributionTenant{})
		if c.Owner.Target != "" {
			object = &v1alpha1.ConnectionGroup{}
		}
		object.SetUID(types.UID(c.Owner.UID))
		deeds[i] = deed{object: named(object, c.Owner.Namespace, c.Owner.Name), event: reconcile.Event(publication.Corrected(c))}
	}
	tell(o.log, o.publish, deeds)
}

// deed is something that a worker did for an object without a pass of it.
type deed struct {
	object client.Object
	event  reconcile.Event
}

func named(o client.Object, namespace, name string) client.Object {
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

// tell writes deeds to the log and publishes their events, for which the worker does not wait.
func tell(log logr.Logger, publish func(client.Object, reconcile.Event), deeds []deed) {
	for _, d := range deeds {
		reconcile.LogAct(log.WithValues("namespace", d.object.GetNamespace(), "name", d.object.GetName()), d.event)
	}
	go func() {
		for _, d := range deeds {
			publish(d.object, d.event)
		}
	}()
}
