package operator

import (
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/inventory"
)

// addOrphans adds the search for tenants that were left behind.
func addOrphans(mgr ctrl.Manager, r prometheus.Registerer, inv *inventory.Inventory, c *distributiontenant.Controller, clusterID string) error {
	log := ctrl.Log.WithName("orphans")
	search := inventory.NewOrphans(inventory.OrphansOptions{
		Inventory: inv, Clock: clock.RealClock{}, ClusterID: clusterID, Claimed: c.Claims, Alive: ownerAlive(mgr.GetAPIReader()),
		OnFound: func(o inventory.Orphan) {
			log.Info("Found an orphaned distribution tenant: its object no longer exists. Create the object again with adoptionPolicy IfUnowned, or delete the tenant in AWS",
				"tenant", o.Name, "id", o.ID, "object", o.Owner.Namespace+"/"+o.Owner.Name)
		},
	})
	if err := mgr.Add(search); err != nil {
		return fmt.Errorf("adding the search for orphaned tenants: %w", err)
	}
	return registerOrphans(r, search)
}

func registerOrphans(r prometheus.Registerer, search *inventory.Orphans) error {
	return registerAll(r, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: metricPrefix + "orphans",
		Help: "Orphaned tenants: created by this cluster, but their objects no longer exist. The log names them. Only the active replica exports it.",
	}, func() float64 { return float64(len(search.List())) }))
}

// ownerAlive asks the API server itself whether an object exists: a cache knows only some
// namespaces, and may be behind.
func ownerAlive(reader client.Reader) func(context.Context, ownership.Owner) (bool, error) {
	return func(ctx context.Context, owner ownership.Owner) (bool, error) {
		o := &metav1.PartialObjectMetadata{}
		o.SetGroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind("DistributionTenant"))
		err := reader.Get(ctx, client.ObjectKey{Namespace: owner.Namespace, Name: owner.Name}, o)
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return string(o.UID) == owner.UID, err
	}
}
