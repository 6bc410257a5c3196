package operator

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/invalidation"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/config"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/metrics"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

// invalidationWorkers is how many Invalidations are reconciled at the same time. They make few requests anyway.
const invalidationWorkers = 2

// addInvalidations adds the controller for Invalidation, and says whether it runs. An operator that was upgraded
// without its CRDs runs without it.
func addInvalidations(mgr ctrl.Manager, c config.Config, env *environment) (runs bool, err error) {
	if !slices.Contains(c.Controllers, config.Invalidation) {
		return false, nil
	}
	_, err = mgr.GetRESTMapper().RESTMapping(v1alpha1.SchemeGroupVersion.WithKind("Invalidation").GroupKind(), v1alpha1.SchemeGroupVersion.Version)
	if meta.IsNoMatchError(err) {
		ctrl.Log.WithName("operator").Error(errors.New("the CustomResourceDefinition invalidations.cloudfront-tenant-operator.io is not installed"),
			"There are no Invalidations. Install the CRD and restart the operator, or remove invalidation from --controllers")
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("looking for the kind Invalidation: %w", err)
	}
	observer, err := metrics.NewInvalidations(ctrlmetrics.Registry)
	if err != nil {
		return false, err
	}
	controller := invalidation.New(invalidation.Options{
		Client: mgr.GetClient(), Accounts: env.Accounts, Halt: env.halt, Grants: env.grants, Clock: clock.RealClock{},
		ClusterID: c.ClusterID, PathsPerDay: c.Invalidations.PathsPerDay, Rate: c.Invalidations.Rate, Observer: observer,
	})
	env.halt.OnChange(controller.WakeAll)
	env.grants.OnChange(controller.WakeNamespaces)
	return true, reconcile.Setup(mgr, drive(mgr, env, controller), controller.Watch(invalidationWorkers))
}
