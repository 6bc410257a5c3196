package metrics_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/config"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/metrics"
)

func TestCustomersAreCounted(t *testing.T) {
	t.Parallel()
	elected, waiting := make(chan struct{}), make(chan struct{})
	close(elected)
	customer := func(n int, plan, reason string) *kleffv1.Tenant {
		o := &kleffv1.Tenant{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("tenant-%d", n)}, Spec: kleffv1.TenantSpec{Plan: plan}}
		if reason != "" {
			o.Status.Conditions = []metav1.Condition{{Type: kleffv1.ConditionPlanApplied, Reason: "Other"}, {Type: kleffv1.ConditionTenantReady, Reason: reason}}
		}
		return o
	}
	reader := readerOf(t,
		customer(1, "basic", "Ready"), customer(2, "basic", "Ready"), customer(3, "basic", "NamespaceConflict"), customer(4, "pro", "Ready"), customer(5, "pro", ""),
	)
	for name, tt := range map[string]struct {
		elected <-chan struct{}
		want    []string
	}{
		"by plan and reason, one without a status among them": {elected, []string{
			"cloudfront_tenant_operator_customers basic NamespaceConflict 1", "cloudfront_tenant_operator_customers basic Ready 2",
			"cloudfront_tenant_operator_customers pro Ready 1", "cloudfront_tenant_operator_customers pro Unknown 1",
		}},
		"a replica that waits counts none": {waiting, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			registry := prometheus.NewRegistry()
			gauges := metrics.Gauges{Reader: reader, Elected: tt.elected, Controllers: []string{config.Tenant}}
			if err := gauges.RegisterOnly(registry, "customers", "plan_tenants"); err != nil {
				t.Fatal(err)
			}
			families, err := registry.Gather()
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range families {
				for _, m := range f.GetMetric() {
					got = append(got, fmt.Sprintf("%s %s %s %v", f.GetName(), m.GetLabel()[0].GetValue(), m.GetLabel()[1].GetValue(), m.GetGauge().GetValue()))
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
