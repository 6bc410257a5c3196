package operator

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

// resourceKinds tells by their controller the kinds that tenants refer to, and how their objects are read.
var resourceKinds = []struct {
	controller, name string
	list             func(ctx context.Context, r client.Reader) ([]parentObject, error)
}{
	{controllerDistribution, "Distribution", distributionObjects},
	{controllerConnectionGroup, "ConnectionGroup", groupObjects},
}

// parentObject is what is shown of one object.
type parentObject struct {
	metav1.Object

	conditions []metav1.Condition
}

func distributionObjects(ctx context.Context, r client.Reader) ([]parentObject, error) {
	var list v1alpha1.DistributionList
	err := r.List(ctx, &list, client.UnsafeDisableDeepCopy)
	return shown(list.Items, err, func(o *v1alpha1.Distribution) parentObject { return parentObject{o, o.Status.Conditions} })
}

func groupObjects(ctx context.Context, r client.Reader) ([]parentObject, error) {
	var list v1alpha1.ConnectionGroupList
	err := r.List(ctx, &list, client.UnsafeDisableDeepCopy)
	return shown(list.Items, err, func(o *v1alpha1.ConnectionGroup) parentObject { return parentObject{o, o.Status.Conditions} })
}

func shown[T any](items []T, err error, as func(*T) parentObject) ([]parentObject, error) {
	if err != nil {
		return nil, fmt.Errorf("listing %T: %w", items, err)
	}
	out := make([]parentObject, len(items))
	for i := range items {
		out[i] = as(&items[i])
	}
	return out, nil
}

// registerDistributionsAndGroups adds what is computed when it is scraped. A kind whose controller does not run is not read:
// the operator may not have the right to.
func registerDistributionsAndGroups(r prometheus.Registerer, reader client.Reader, elected <-chan struct{}, controllers []string) error {
	return registerAll(r, &parentConditions{reader: reader, elected: elected, controllers: controllers, desc: prometheus.NewDesc(metricPrefix+"parent_condition",
		"1 for each condition of each Distribution and ConnectionGroup, with its current status and reason. Objects of a kind beyond the first 1,000, of which those that are not Ready come first, have no namespace and name, and are counted together. Only the active replica exports it.",
		[]string{"kind", "namespace", "name", "condition", "status", "reason"}, nil)})
}

// shownObjects is how many objects of a kind have series of their own. Usually there are few, and a person who is paged wants
// to know which; but whoever may create objects must not be able to fill Prometheus.
const shownObjects = 1000

// parentConditions shows the objects one by one.
type parentConditions struct {
	reader      client.Reader
	elected     <-chan struct{}
	controllers []string
	desc        *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (p *parentConditions) Describe(d chan<- *prometheus.Desc) { d <- p.desc }

// Collect implements prometheus.Collector.
func (p *parentConditions) Collect(out chan<- prometheus.Metric) {
	select {
	case <-p.elected:
	default:
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	for _, kind := range resourceKinds {
		if !slices.Contains(p.controllers, kind.controller) {
			continue
		}
		objects, err := kind.list(ctx, p.reader)
		if err != nil {
			out <- prometheus.NewInvalidMetric(p.desc, err)
			continue
		}
		p.show(out, kind.name, objects)
	}
}

func (p *parentConditions) show(out chan<- prometheus.Metric, kind string, objects []parentObject) {
	if len(objects) > shownObjects {
		slices.SortFunc(objects, func(a, b parentObject) int {
			return cmp.Or(cmp.Compare(a.order(), b.order()), cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
		})
	}
	type state struct{ condition, status, reason string }
	others := map[state]int{}
	for i, o := range objects {
		for _, c := range o.conditions {
			if i >= shownObjects {
				others[state{c.Type, string(c.Status), c.Reason}]++
				continue
			}
			out <- prometheus.MustNewConstMetric(p.desc, prometheus.GaugeValue, 1, kind, o.GetNamespace(), o.GetName(), c.Type, string(c.Status), c.Reason)
		}
	}
	for s, count := range others {
		out <- prometheus.MustNewConstMetric(p.desc, prometheus.GaugeValue, float64(count), kind, "", "", s.condition, s.status, s.reason)
	}
}

// order puts what a person has to look at first.
func (o parentObject) order() int {
	if meta.IsStatusConditionTrue(o.conditions, v1alpha1.ConditionReady) {
		return 1
	}
	return 0
}
