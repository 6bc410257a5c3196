package operator

import (
	"cmp"
	"context"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/rollout"
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
func registerStalled(r prometheus.Registerer, reader client.Reader, elected <-chan struct{}, controllers []string, rollouts *rollout.Rollouts) error {
	return registerAll(r, &stalled{
		reader: reader, elected: elected, controllers: controllers, rollouts: rollouts,
		desc: prometheus.NewDesc(metricPrefix+"stalled",
			"1 for each object for which a person has to act (condition Stalled), with the reason. Objects of a kind beyond the first 100 have no namespace, name and reason, and are counted together. Only the active replica exports it.",
			[]string{"kind", "namespace", "name", "reason"}, nil),
		stopped: prometheus.NewDesc(metricPrefix+"rollout_stopped",
			"1 for each TenantSource and TenantPlan whose rollout has stopped (condition RolledOut with the reason RolloutStopped), whatever else is wrong with it. With the kind DistributionTenant, and without namespace and name: how many changes of what customers are served with have stopped, outside of these. Objects of a kind beyond the first 100 have no namespace and name, and are counted together. Only the active replica exports it.",
			[]string{"kind", "namespace", "name"}, nil),
	})
}

// shownStalled is how many stalled objects of a kind have series of their own. A person can't work through more, and when a
// right is taken from the operator, every object stalls.
const shownStalled = 100

// stalled shows the objects for which a person has to act, one by one, and those whose rollout has stopped: Stalled has
// only one reason, which may be another one.
type stalled struct {
	reader        client.Reader
	elected       <-chan struct{}
	controllers   []string
	rollouts      *rollout.Rollouts
	desc, stopped *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (s *stalled) Describe(d chan<- *prometheus.Desc) {
	d <- s.desc
	d <- s.stopped
}

// Collect implements prometheus.Collector.
func (s *stalled) Collect(out chan<- prometheus.Metric) {
	select {
	case <-s.elected:
	default:
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	if n := stoppedGroups(s.rollouts); n > 0 {
		out <- prometheus.MustNewConstMetric(s.stopped, prometheus.GaugeValue, float64(n), "DistributionTenant", "", "")
	}
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
	first, more := longest(objects, func(c metav1.Condition) bool {
		return c.Type == v1alpha1.ConditionStalled && c.Status == metav1.ConditionTrue
	})
	for _, o := range first {
		out <- prometheus.MustNewConstMetric(s.desc, prometheus.GaugeValue, 1, kind, o.GetNamespace(), o.GetName(), o.is.Reason)
	}
	if more > 0 {
		out <- prometheus.MustNewConstMetric(s.desc, prometheus.GaugeValue, float64(more), kind, "", "", "")
	}
	first, more = longest(objects, func(c metav1.Condition) bool {
		return c.Type == v1alpha1.ConditionRolledOut && c.Reason == v1alpha1.ReasonRolloutStopped
	})
	for _, o := range first {
		out <- prometheus.MustNewConstMetric(s.stopped, prometheus.GaugeValue, 1, kind, o.GetNamespace(), o.GetName())
	}
	if more > 0 {
		out <- prometheus.MustNewConstMetric(s.stopped, prometheus.GaugeValue, float64(more), kind, "", "")
	}
}

// affected is an object with the condition that it is shown for.
type affected struct {
	parentObject

	is metav1.Condition
}

// longest are the first ones of the objects that have such a condition, and how many more there are. Those that have it the
// longest come first, and stay there.
func longest(objects []parentObject, such func(metav1.Condition) bool) (first []affected, more int) {
	for _, o := range objects {
		if at := slices.IndexFunc(o.conditions, such); at >= 0 {
			first = append(first, affected{o, o.conditions[at]})
		}
	}
	slices.SortFunc(first, func(a, b affected) int {
		return cmp.Or(a.is.LastTransitionTime.Compare(b.is.LastTransitionTime.Time), cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	})
	shown := min(len(first), shownStalled)
	return first[:shown], len(first) - shown
}
