package operator_test

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

func TestCapacityMetrics(t *testing.T) {
	c := newCertificates(t, 90, 10)
	c.registry = prometheus.NewRegistry()
	if err := operator.RegisterCapacity(c.registry, "", c.inv, c.watch, c.capacity); err != nil {
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
	}
	c.want("before the certificates were listed", want)
	c.look()
	want["quota_used quota=certificates"] = 3
	c.want("afterwards, with one that no tenant has", want)
}
