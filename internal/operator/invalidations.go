package operator

import (
	"errors"
	"flag"
	"fmt"
	"math"
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

// invalidationWorkers is how many Invalidations are reconciled at the same time. Their requests are few by themselves.
const invalidationWorkers = 2

// Invalidations says how fast and how many paths may be invalidated.
type Invalidations struct {
	Rate        float64
	Burst       int
	PathsPerDay int
}

func (c *Config) bindInvalidations(f *flag.FlagSet) {
	i := &c.Invalidations
	f.Float64Var(&i.Rate, "invalidation-rate", 0.5, "Average number of invalidations requested per second. AWS allows 0.5 per account unless it has raised the limit.")
	f.IntVar(&i.Burst, "invalidation-burst", 5, "Number of invalidations that may be requested in a burst.")
	f.IntVar(&i.PathsPerDay, "invalidation-paths-per-day", 1000, "Number of paths that the Invalidations of one namespace may request in 24 hours. AWS charges for each path after the first 1,000 of an account in a month. 0: any number.")
}

func (c *Config) validateInvalidations() error {
	switch i := c.Invalidations; {
	case !(i.Rate > 0) || math.IsInf(i.Rate, 0): // NaN is not above 0 either
		return fmt.Errorf("--invalidation-rate=%g: use a number above 0", i.Rate)
	case i.Burst < 2:
		return fmt.Errorf("--invalidation-burst=%d: use at least 2", i.Burst)
	case i.PathsPerDay < 0:
		return fmt.Errorf("--invalidation-paths-per-day=%d: use a number that is not negative", i.PathsPerDay)
	}
	return nil
}

// addInvalidations adds the controller for Invalidation, and says whether it runs. An operator that was upgraded without its
// CRDs goes on without it.
func addInvalidations(mgr ctrl.Manager, c Config, env *environment) (runs bool, err error) {
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
		ClusterID: c.ClusterID, PathsPerDay: c.Invalidations.PathsPerDay, Observer: observer,
	})
	env.halt.OnChange(controller.WakeAll)
	env.grants.OnChange(controller.WakeNamespaces)
	return true, reconcile.Setup(mgr, drive(mgr, env, controller), controller.Watch(invalidationWorkers))
}
