package operator

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
)

// controllerEdgeGrant stands for the controller of grants, which no flag names.
const controllerEdgeGrant = "edgegrant"

// stallingKinds are the kinds whose objects can be Stalled, by their controllers.
var stallingKinds = []struct {
	controller, name string
	list             func(ctx context.Context, r client.Reader) ([]parentObject, error)
}{
	{controllerDistributionTenant, "DistributionTenant", func(ctx context.Context, r client.Reader) ([]parentObject, error) {
		var list v1alpha1.DistributionTenantList
		err := r.List(ctx, &list, client.UnsafeDisableDeepCopy)
		return shown(list.Items, err, func(o *v1alpha1.DistributionTenant) parentObject { return parentObject{o, o.Status.Conditions} })
	}},
	{controllerInvalidation, "Invalidation", func(ctx context.Context, r client.Reader) ([]parentObject, error) {
		var list v1alpha1.InvalidationList
		err := r.List(ctx, &list, client.UnsafeDisableDeepCopy)
		return shown(list.Items, err, func(o *v1alpha1.Invalidation) parentObject { return parentObject{o, o.Status.Conditions} })
	}},
	{controllerDistribution, "Distribution", distributionObjects},
	{controllerConnectionGroup, "ConnectionGroup", groupObjects},
	{controllerTenantSource, "TenantSource", func(ctx context.Context, r client.Reader) ([]parentObject, error) {
		var list v1alpha1.TenantSourceList
		err := r.List(ctx, &list, client.UnsafeDisableDeepCopy)
		return shown(list.Items, err, func(o *v1alpha1.TenantSource) parentObject { return parentObject{o, o.Status.Conditions} })
	}},
	{controllerTenant, "Tenant", func(ctx context.Context, r client.Reader) ([]parentObject, error) {
		var list kleffv1.TenantList
		err := r.List(ctx, &list, client.UnsafeDisableDeepCopy)
		return shown(list.Items, err, func(o *kleffv1.Tenant) parentObject { return parentObject{o, o.Status.Conditions} })
	}},
	{controllerTenant, "TenantPlan", func(ctx context.Context, r client.Reader) ([]parentObject, error) {
		var list kleffv1.TenantPlanList
		err := r.List(ctx, &list, client.UnsafeDisableDeepCopy)
		return shown(list.Items, err, func(o *kleffv1.TenantPlan) parentObject { return parentObject{o, o.Status.Conditions} })
	}},
	{controllerEdgeGrant, "EdgeGrant", func(ctx context.Context, r client.Reader) ([]parentObject, error) {
		var list v1alpha1.EdgeGrantList
		err := r.List(ctx, &list, client.UnsafeDisableDeepCopy)
		return shown(list.Items, err, func(o *v1alpha1.EdgeGrant) parentObject { return parentObject{o, o.Status.Conditions} })
	}},
}

// registerStalled adds what is computed when it is scraped. A kind whose controller does not run is not read: the operator
// may not have the right to.
func registerStalled(r prometheus.Registerer, reader client.Reader, elected <-chan struct{}, controllers []string) error {
	return registerAll(r, &stalled{reader: reader, elected: elected, controllers: controllers, desc: prometheus.NewDesc(metricPrefix+"stalled",
		"1 for each object for which a person has to act (condition Stalled), with the reason. Objects of a kind beyond the first 100 have no namespace, name and reason, and are counted together. Only the active replica exports it.",
		[]string{"kind", "namespace", "name", "reason"}, nil)})
}

// shownStalled is how many stalled objects of a kind have series of their own. A person can't work through more, and when a
// right is taken from the operator, every object stalls.
const shownStalled = 100

// stalled shows the objects for which a person has to act, one by one.
type stalled struct {
	reader      client.Reader
	elected     <-chan struct{}
	controllers []string
	desc        *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (s *stalled) Describe(d chan<- *prometheus.Desc) { d <- s.desc }

// Collect implements prometheus.Collector.
func (s *stalled) Collect(out chan<- prometheus.Metric) {
	select {
	case <-s.elected:
	default:
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	for _, kind := range stallingKinds {
		if !slices.Contains(s.controllers, kind.controller) {
			continue
		}
		objects, err := kind.list(ctx, s.reader)
		if err != nil {
			out <- prometheus.NewInvalidMetric(s.desc, err)
			continue
		}
		s.show(out, kind.name, objects)
	}
}

func (s *stalled) show(out chan<- prometheus.Metric, kind string, objects []parentObject) {
	objects = slices.DeleteFunc(objects, func(o parentObject) bool { return !meta.IsStatusConditionTrue(o.conditions, v1alpha1.ConditionStalled) })
	slices.SortFunc(objects, func(a, b parentObject) int {
		return cmp.Or(since(a).Compare(since(b)), cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	})
	for _, o := range objects[:min(len(objects), shownStalled)] {
		reason := meta.FindStatusCondition(o.conditions, v1alpha1.ConditionStalled).Reason
		out <- prometheus.MustNewConstMetric(s.desc, prometheus.GaugeValue, 1, kind, o.GetNamespace(), o.GetName(), reason)
	}
	if more := len(objects) - shownStalled; more > 0 {
		out <- prometheus.MustNewConstMetric(s.desc, prometheus.GaugeValue, float64(more), kind, "", "", "")
	}
}

// since is when the object was stalled. Those that are so the longest come first, and stay there.
func since(o parentObject) time.Time {
	return meta.FindStatusCondition(o.conditions, v1alpha1.ConditionStalled).LastTransitionTime.Time
}
