package importing_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// large is a multi-tenant distribution with many origins and behaviors, each with real-time logs of its own.
func large(origins, behaviors int) v1alpha1.DistributionConfig {
	setting := func(n int) v1alpha1.CacheBehaviorSettings {
		return v1alpha1.CacheBehaviorSettings{
			TargetOriginID: fmt.Sprint("origin-", n%origins), ViewerProtocolPolicy: "https-only", CachePolicyID: "658327ea-f89d-4fab-a63d-7e88639e58f6",
			RealtimeLogConfigARN: new(fmt.Sprint("arn:aws:cloudfront::111122223333:realtime-log-config/log-", n)),
		}
	}
	c := v1alpha1.DistributionConfig{
		DefaultCacheBehavior: new(setting(0)), CacheTagConfig: &v1alpha1.CacheTagConfig{HeaderName: "cache-tag"},
		TenantConfig: &v1alpha1.TenantConfig{ParameterDefinitions: []v1alpha1.ParameterDefinition{{
			Name: "tenant", Definition: &v1alpha1.ParameterSchema{StringSchema: &v1alpha1.StringSchema{Required: new(true)}},
		}}},
	}
	for n := range origins {
		c.Origins = append(c.Origins, v1alpha1.Origin{
			ID: fmt.Sprint("origin-", n), DomainName: fmt.Sprintf("{{tenant}}.o%d.example.net", n), CustomOriginConfig: &v1alpha1.CustomOriginConfig{},
		})
	}
	for n := range behaviors {
		c.CacheBehaviors = append(c.CacheBehaviors, v1alpha1.CacheBehavior{PathPattern: fmt.Sprintf("/p%d/*", n), CacheBehaviorSettings: setting(n)})
	}
	return c
}

// A distribution of which AWS takes as much is adopted as it is, and only its tags change.
func TestALargeDistributionIsAdoptedAndNotChanged(t *testing.T) {
	t.Parallel()
	const origins, behaviors = 80, 60
	w := world.New(t, kubeConfig, world.Options{Shared: true})
	d, err := clientOf(t, w.Sim.Transport(), unlimited).CreateDistribution(t.Context(), "by-hand",
		convert.NormalizeDistribution(large(origins, behaviors)), map[string]string{"Name": "large"})
	if err != nil {
		t.Fatal(err)
	}
	w.Advance(2 * world.DeployDelay)
	m := &made{World: w, t: t, distribution: d.ID}
	before, since := w.Sim.State(), lastSeq(w.Sim)
	for _, o := range manifests(t, write(t, imported(t, m.importing()))) {
		if err := w.Kube.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	w.Advance(30 * time.Minute)

	if diff := cmp.Diff(map[string]int{"TagResource": 1}, m.writes(since)); diff != "" {
		t.Errorf("calls that change something (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before.Accounts, w.Sim.State().Accounts, withoutTags); diff != "" {
		t.Errorf("AWS has changed (-before +after):\n%s", diff)
	}
	o := w.Distribution("large")
	if got := w.ParentConditions(o); len(o.Spec.Origins) != origins || len(o.Spec.CacheBehaviors) != behaviors || !strings.HasPrefix(got, "Ready=True/Deployed") {
		t.Errorf("%d origins, %d behaviors, %s", len(o.Spec.Origins), len(o.Spec.CacheBehaviors), got)
	}
}
