package distributiontenant_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

func want(t *testing.T, w *world.World, name, condition, expected string) {
	t.Helper()
	if got := w.Condition(name, condition); got != expected {
		t.Errorf("%s: %s, want %s\n%s", name, got, expected, w.Describe(name))
	}
}

func TestCreateToReady(t *testing.T) {
	w := world.New(t, kubeConfig, world.Options{})
	w.Apply(w.Tenant("alpha", func(o *v1alpha1.DistributionTenant) {
		o.Spec.Parameters = []v1alpha1.Parameter{{Name: "tier", Value: "gold"}}
		o.Spec.Tags = []v1alpha1.Tag{{Key: "team", Value: "web"}}
	}))

	w.Advance(5 * time.Second)
	want(t, w, "alpha", "Ready", "Ready=False/Creating")
	want(t, w, "alpha", "Synced", "Synced=True/InSync")

	w.Advance(2 * time.Minute)
	want(t, w, "alpha", "Ready", "Ready=True/Deployed")
	want(t, w, "alpha", "DNSReady", "DNSReady=True/DNSNotConfigured")

	o, _ := w.Get("alpha")
	got, found := w.InAWS("alpha")
	if !found {
		t.Fatal("the tenant is not in AWS")
	}
	if got.ID != o.Status.ID || o.Status.ARN != got.ARN || o.Status.ETag != got.ETag {
		t.Errorf("status has %s %s %s, AWS %s %s %s", o.Status.ID, o.Status.ARN, o.Status.ETag, got.ID, got.ARN, got.ETag)
	}
	wantTags := w.Owner(o).Tags()
	wantTags["team"] = "web"
	if d := cmp.Diff(wantTags, got.Tags); d != "" {
		t.Errorf("tags (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"Created"}, w.Reasons("alpha")); d != "" {
		t.Errorf("events (-want +got):\n%s", d)
	}
	t.Logf("calls: %v, kube writes: %d", w.Calls(), w.KubeWrites())

	calls, writes := w.Calls(), w.Writes()
	w.Advance(30 * time.Minute)
	if d := cmp.Diff(map[string]int{"ListDistributionTenants": 6}, world.Since(calls, w.Calls())); d != "" {
		t.Errorf("a quiet half hour should cost six sweeps (-want +got):\n%s", d)
	}
	if got := w.Writes() - writes; got != 0 {
		t.Errorf("a quiet half hour made %d writes", got)
	}

	w.Delete("alpha")
	w.Advance(5 * time.Minute)
	if _, found := w.Get("alpha"); found {
		t.Errorf("the object is still there:\n%s", w.Describe("alpha"))
	}
	if left := w.AllInAWS(); len(left) != 0 {
		t.Errorf("AWS still has %d tenants", len(left))
	}
	t.Logf("calls: %v, kube writes: %d", w.Calls(), w.KubeWrites())
}
