package operator

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/account"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/inventory"
)

// newOrphans is the search for tenants that were left behind in an account.
func newOrphans(live client.Reader, a *account.Account, claimed func(tenant string) bool, clusterID string) *inventory.Orphans {
	log := ctrl.Log.WithName("orphans")
	return inventory.NewOrphans(inventory.OrphansOptions{
		Inventory: a.Inventory, Clock: clock.RealClock{}, ClusterID: clusterID, Claimed: claimed, Alive: ownerAlive(live),
		OnFound: func(o inventory.Orphan) {
			log.Info("Found an orphaned distribution tenant: its object no longer exists. Create the object again with adoptionPolicy IfUnowned, or delete the tenant in AWS",
				"tenant", o.Name, "id", o.ID, "object", o.Owner.Namespace+"/"+o.Owner.Name, "account", a.ID)
		},
	})
}

// registerOrphans counts what the searches have found.
func registerOrphans(r prometheus.Registerer, list func() []watch) error {
	return registerAll(r, computed{prometheus.NewDesc(metricPrefix+"orphans",
		"Orphaned tenants by AWS account: created by this cluster, but their objects no longer exist. The log names them. Only the active replica exports it.",
		[]string{accountLabel}, nil), func(emit emitter) error {
		for _, w := range list() {
			emit(float64(len(w.orphans.List())), w.account)
		}
		return nil
	}})
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
