package operator

import (
	"fmt"
	"math/rand/v2"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/publication"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/metrics"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/zone"
)

// addZones adds the workers that keep DNS zones.
func addZones(mgr ctrl.Manager, env *environment, providers func() zone.Providers, onChange func([]dns.Owner)) (*zone.Zones, error) {
	counted, err := metrics.NewZones(ctrlmetrics.Registry, env.reconciles.DNSFailed)
	if err != nil {
		return nil, err
	}
	observer := zoneObserver{Zones: counted, log: ctrl.Log.WithValues("controller", "distributiontenant"), publish: env.publisher.publish}
	zones := zone.New(zone.Options{
		Providers: providers, Clock: clock.RealClock{}, Random: rand.Float64, Observer: observer, OnChange: onChange,
		Confirm: env.halt.Confirm(env.lease.confirm()),
	})
	if err := mgr.Add(zones); err != nil {
		return nil, fmt.Errorf("adding the zones: %w", err)
	}
	env.gauges.DNSZones = zones
	return zones, nil
}

// zoneObserver also accounts for what the zones do without a pass of the object.
type zoneObserver struct {
	*metrics.Zones

	log     logr.Logger
	publish func(o client.Object, e reconcile.Event)
}

// Corrected implements zone.Observer. The zone does not wait for the events.
func (o zoneObserver) Corrected(corrections []dns.Correction) {
	for _, c := range corrections {
		reconcile.LogAct(o.log.WithValues("namespace", c.Owner.Namespace, "name", c.Owner.Name), reconcile.Event(publication.Corrected(c)))
	}
	go func() {
		for _, c := range corrections {
			object := &v1alpha1.DistributionTenant{}
			object.Namespace, object.Name, object.UID = c.Owner.Namespace, c.Owner.Name, types.UID(c.Owner.UID)
			o.publish(object, reconcile.Event(publication.Corrected(c)))
		}
	}()
}
