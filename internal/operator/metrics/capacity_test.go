package metrics_test

import (
	"net/http"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
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
	c.override("tenant-0", "shop")
	c.override("tenant-1", "shop")
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
		"quota_used quota=associations_per_web_acl": 2, "quota_limit quota=associations_per_web_acl source=documented": 100,
		"quota_used quota=invalidation_paths": 2, "quota_limit quota=invalidation_paths source=default": 3_000,
		"quota_used quota=invalidation_wildcards": 2, "quota_limit quota=invalidation_wildcards source=default": 15,
	}
	c.want("before the certificates were listed", want)
	c.look()
	want["quota_used quota=certificates"] = 3
	c.want("afterwards, with one that no tenant has", want)
}

// override gives a tenant a web ACL of its own.
func (c *certificates) override(tenant, acl string) {
	c.t.Helper()
	front := cloudfront.New(cloudfront.Options{
		Region: "us-east-1", BaseEndpoint: awssdk.String("http://aws.test"), HTTPClient: &http.Client{Transport: c.sim.Transport()},
		Credentials: credentials.NewStaticCredentialsProvider("AKIATEST", "secret", ""),
	})
	got, err := front.GetDistributionTenant(c.t.Context(), &cloudfront.GetDistributionTenantInput{Identifier: &tenant})
	if err != nil {
		c.t.Fatal(err)
	}
	changed := *got.DistributionTenant.Customizations
	changed.WebAcl = &types.WebAclCustomization{Action: types.CustomizationActionTypeOverride, Arn: awssdk.String("arn:aws:wafv2:us-east-1:111122223333:global/webacl/" + acl + "/1")}
	if _, err := front.UpdateDistributionTenant(c.t.Context(), &cloudfront.UpdateDistributionTenantInput{
		Id: got.DistributionTenant.Id, IfMatch: got.ETag, Customizations: &changed,
	}); err != nil {
		c.t.Fatal(err)
	}
}

// inProgress is an object with a tenant that AWS is at work for, and others that it is not.
func inProgress(name string, paths ...string) *v1alpha1.Invalidation {
	o := &v1alpha1.Invalidation{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}, Spec: v1alpha1.InvalidationSpec{Paths: paths}}
	for _, state := range []v1alpha1.InvalidationState{v1alpha1.InvalidationPending, v1alpha1.InvalidationInProgress, v1alpha1.InvalidationCompleted, v1alpha1.InvalidationFailed} {
		o.Status.Tenants = append(o.Status.Tenants, v1alpha1.InvalidatedTenant{Name: string(state), TenantID: "dt_1", State: state})
	}
	return o
}
