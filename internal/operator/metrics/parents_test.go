package metrics_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/metrics"
)

func TestConditionsOfParentsAreShown(t *testing.T) {
	t.Parallel()
	elected, waiting := make(chan struct{}), make(chan struct{})
	close(elected)
	shop := &v1alpha1.Distribution{ObjectMeta: metav1.ObjectMeta{Namespace: "edge", Name: "shop"}}
	shop.Status.Conditions = []metav1.Condition{
		{Type: "DeletionStalled", Status: "True", Reason: "DeletionTimeout"}, {Type: "Ready", Status: "False", Reason: "InUse"},
	}
	group := &v1alpha1.ConnectionGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "edge", Name: "europe"}}
	group.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "True", Reason: "Deployed"}}
	const (
		stalled = "condition=DeletionStalled kind=Distribution name=shop namespace=edge reason=DeletionTimeout status=True"
		inUse   = "condition=Ready kind=Distribution name=shop namespace=edge reason=InUse status=False"
		ofGroup = "condition=Ready kind=ConnectionGroup name=europe namespace=edge reason=Deployed status=True"
	)
	for name, tt := range map[string]struct {
		elected     <-chan struct{}
		controllers []string
		want        []string
	}{
		"both kinds, object by object":       {elected, []string{"distribution", "connectiongroup"}, []string{stalled, ofGroup, inUse}},
		"without a controller, without kind": {elected, []string{"distributiontenant", "connectiongroup"}, []string{ofGroup}},
		"a replica that waits shows nothing": {waiting, []string{"distribution", "connectiongroup"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			registry := prometheus.NewRegistry()
			gauges := metrics.Gauges{Reader: readerOf(t, shop, group), Elected: tt.elected, Controllers: tt.controllers}
			if err := gauges.RegisterOnly(registry, "parent_condition"); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, series(t, registry, "cloudfront_tenant_operator_parent_condition")); diff != "" {
				t.Errorf("series (-want +got):\n%s", diff)
			}
		})
	}
}

// Beyond a thousand, objects are counted together, and those that are not Ready are shown first.
func TestManyParentsAreCounted(t *testing.T) {
	t.Parallel()
	elected := make(chan struct{})
	close(elected)
	var objects []client.Object
	for n := range 1500 {
		o := &v1alpha1.ConnectionGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "edge", Name: fmt.Sprintf("g-%04d", n)}}
		o.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "True", Reason: "Deployed"}}
		if n == 1499 {
			o.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "False", Reason: "AccessDenied"}}
		}
		objects = append(objects, o)
	}
	registry := prometheus.NewRegistry()
	gauges := metrics.Gauges{Reader: readerOf(t, objects...), Elected: elected, Controllers: []string{"connectiongroup"}}
	if err := gauges.RegisterOnly(registry, "parent_condition"); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil || len(families) != 1 {
		t.Fatalf("%d families, %v", len(families), err)
	}
	total, shown, failing := 0.0, 0, 0
	for _, m := range families[0].GetMetric() {
		total += m.GetGauge().GetValue()
		labels := map[string]string{}
		for _, l := range m.GetLabel() {
			labels[l.GetName()] = l.GetValue()
		}
		if labels["name"] != "" {
			shown++
		}
		if labels["reason"] == "AccessDenied" && labels["name"] == "g-1499" {
			failing++
		}
	}
	if total != 1500 || shown != 1000 || failing != 1 {
		t.Errorf("%g conditions in all, %d objects by name, %d of them the one that fails; want 1500, 1000, 1", total, shown, failing)
	}
}

// series lists the labels of a gauge's series, each of which has to be 1.
func series(t *testing.T, r prometheus.Gatherer, name string) []string {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			out = append(out, strings.Join(labels, " "))
			if f.GetName() != name || m.GetGauge().GetValue() != 1 {
				t.Errorf("%s{%s} is %v", f.GetName(), strings.Join(labels, " "), m.GetGauge().GetValue())
			}
		}
	}
	return out
}
