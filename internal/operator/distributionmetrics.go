package operator

import (
	"context"
	"fmt"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
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
		"1 for each condition of each Distribution and ConnectionGroup, with its current status and reason. Only the active replica exports it.",
		[]string{"kind", "namespace", "name", "condition", "status", "reason"}, nil)})
}

// parentConditions shows the objects one by one: there are few, and a person who is paged wants to know which.
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
		for _, o := range objects {
			for _, c := range o.conditions {
				out <- prometheus.MustNewConstMetric(p.desc, prometheus.GaugeValue, 1,
					kind.name, o.GetNamespace(), o.GetName(), c.Type, string(c.Status), c.Reason)
			}
		}
	}
}
