package metrics_test

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/metrics"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

func TestCapacityMetrics(t *testing.T) {
	c := newCertificates(t, 90, 10)
	c.registry = prometheus.NewRegistry()
	gauges := metrics.Gauges{
		Accounts: c.accounts, Controllers: []string{"invalidation"}, Reader: readerOf(t, inProgress("shop", "/a", "/b/*", "/c"), inProgress("ghost", "/*")),
	}
	if err := gauges.RegisterOnly(c.registry, "quota_used"); err != nil {
		t.Fatal(err)
	}
	c.sim.SetQuotas(sim.Quotas{Tenants: 30_000})
	c.want("where nothing was looked at", map[string]float64{})
	for range 2 {
		c.inv.Step(t.Context())
	}
	for range 8 {
		c.capacity.Step(t.Context())
	}
	want := map[string]float64{
		"quota_used quota=distribution_tenants": 2, "quota_limit quota=distribution_tenants source=account": 30_000,
		"quota_used quota=multi_tenant_distributions": 1, "quota_limit quota=multi_tenant_distributions source=default": 20,
		"quota_used quota=connection_groups": 1, "quota_limit quota=connection_groups source=default": 100,
		"quota_limit quota=certificates source=default": 2_500,
		"quota_used quota=domains_per_tenant":           1, "quota_limit quota=domains_per_tenant source=default": 100,
		"quota_used quota=invalidation_paths": 2, "quota_limit quota=invalidation_paths source=default": 3_000,
		"quota_used quota=invalidation_wildcards": 2, "quota_limit quota=invalidation_wildcards source=default": 15,
	}
	c.want("before the certificates were listed", want)
	c.look()
	want["quota_used quota=certificates"] = 3
	c.want("afterwards, with one that no tenant has", want)
}

// inProgress is an object with a tenant that AWS is at work for, and others that it is not.
func inProgress(name string, paths ...string) *v1alpha1.Invalidation {
	o := &v1alpha1.Invalidation{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}, Spec: v1alpha1.InvalidationSpec{Paths: paths}}
	for _, state := range []v1alpha1.InvalidationState{v1alpha1.InvalidationPending, v1alpha1.InvalidationInProgress, v1alpha1.InvalidationCompleted, v1alpha1.InvalidationFailed} {
		o.Status.Tenants = append(o.Status.Tenants, v1alpha1.InvalidatedTenant{Name: string(state), TenantID: "dt_1", State: state})
	}
	return o
}
