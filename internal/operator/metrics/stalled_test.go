package metrics_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/metrics"
)

// gathered are the series of a registry, each with its labels and its value.
func gathered(t *testing.T, r prometheus.Gatherer) (out []string) {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			text := ""
			for _, l := range m.GetLabel() {
				text += l.GetValue() + "/"
			}
			out = append(out, fmt.Sprintf("%s %v", text, m.GetGauge().GetValue()))
		}
	}
	return out
}

func readerOf(t *testing.T, objects ...client.Object) client.Reader {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(v1alpha1.AddToScheme(scheme), kleffv1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	// The fake writes to what it is given, which another test may have at the same time.
	b := fake.NewClientBuilder().WithScheme(scheme)
	for _, o := range objects {
		b.WithObjects(o.DeepCopyObject().(client.Object))
	}
	return b.Build()
}

// stalled are conditions of which one is Stalled.
func stalled(status metav1.ConditionStatus, reason string, since time.Time) []metav1.Condition {
	return []metav1.Condition{
		{Type: "Ready", Status: "False", Reason: "Other"},
		{Type: "Stalled", Status: status, Reason: reason, LastTransitionTime: metav1.NewTime(since)},
	}
}

func named(n int) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprintf("o-%03d", n)}
}

// A rollout that has stopped is shown also where another problem is the reason of Stalled.
func TestStoppedRollouts(t *testing.T) {
	t.Parallel()
	elected := make(chan struct{})
	close(elected)
	now := time.Unix(100_000, 0)
	with := func(stalledBy, rolledOut string) []metav1.Condition {
		return append(stalled("True", stalledBy, now), metav1.Condition{Type: "RolledOut", Status: "False", Reason: rolledOut, LastTransitionTime: metav1.NewTime(now)})
	}
	objects := []client.Object{
		&v1alpha1.TenantSource{ObjectMeta: named(1), Status: v1alpha1.TenantSourceStatus{Conditions: with("DeletionHeld", "RolloutStopped")}},
		&v1alpha1.TenantSource{ObjectMeta: named(2), Status: v1alpha1.TenantSourceStatus{Conditions: with("Conflict", "RollingOut")}},
		&kleffv1.TenantPlan{ObjectMeta: metav1.ObjectMeta{Name: "acme"}, Status: kleffv1.TenantPlanStatus{Conditions: with("RolloutStopped", "RolloutStopped")}},
	}
	registry := prometheus.NewRegistry()
	gauges := metrics.Gauges{Reader: readerOf(t, objects...), Elected: elected, Controllers: []string{"tenantsource", "tenant"}}
	if err := gauges.RegisterOnly(registry, "stalled"); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, series := range gathered(t, registry) {
		if strings.Count(series, "/") == 3 { // those of Stalled have a reason, too
			got = append(got, series)
		}
	}
	if d := cmp.Diff([]string{"TenantPlan/acme// 1", "TenantSource/o-001/shop/ 1"}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestStalledObjects(t *testing.T) {
	t.Parallel()
	elected, waiting := make(chan struct{}), make(chan struct{})
	close(elected)
	long, now := time.Unix(1_000, 0), time.Unix(100_000, 0)
	cluster := metav1.ObjectMeta{Name: "acme"}
	objects := []client.Object{
		&v1alpha1.DistributionTenant{ObjectMeta: named(0)},
		&v1alpha1.DistributionTenant{ObjectMeta: named(1), Status: v1alpha1.DistributionTenantStatus{Conditions: stalled("True", "InvalidSpec", now)}},
		&v1alpha1.DistributionTenant{ObjectMeta: named(2), Status: v1alpha1.DistributionTenantStatus{Conditions: stalled("False", "Fine", now)}},
		&v1alpha1.Distribution{ObjectMeta: named(1), Status: v1alpha1.DistributionStatus{ResourceStatus: v1alpha1.ResourceStatus{Conditions: stalled("True", "AccessDenied", now)}}},
		&v1alpha1.Invalidation{ObjectMeta: named(1), Status: v1alpha1.InvalidationStatus{Conditions: stalled("True", "InvalidationFailed", now)}},
		&v1alpha1.TenantSource{ObjectMeta: named(1), Status: v1alpha1.TenantSourceStatus{Conditions: stalled("True", "InvalidConfig", now)}},
		&v1alpha1.EdgeGrant{ObjectMeta: cluster, Status: v1alpha1.EdgeGrantStatus{Conditions: stalled("True", "RoleRefused", now)}},
		&kleffv1.Tenant{ObjectMeta: cluster, Status: kleffv1.TenantStatus{Conditions: stalled("True", "NamespaceConflict", now)}},
		&kleffv1.TenantPlan{ObjectMeta: cluster, Status: kleffv1.TenantPlanStatus{Conditions: stalled("True", "RolloutStopped", now)}},
	}
	const tenant = "DistributionTenant/o-001/shop/InvalidSpec/ 1"
	all := []string{"distributiontenant", "distribution", "connectiongroup", "tenantsource", "tenant", "edgegrant", "invalidation"}
	for name, tt := range map[string]struct {
		elected     <-chan struct{}
		controllers []string
		want        []string
	}{
		"one of each kind": {elected, all, []string{
			"Distribution/o-001/shop/AccessDenied/ 1", tenant, "EdgeGrant/acme//RoleRefused/ 1", "Invalidation/o-001/shop/InvalidationFailed/ 1", "Tenant/acme//NamespaceConflict/ 1",
			"TenantPlan/acme//RolloutStopped/ 1", "TenantSource/o-001/shop/InvalidConfig/ 1",
		}},
		"without a controller, without its kinds": {elected, []string{"distributiontenant"}, []string{tenant}},
		"a replica that waits shows none":         {waiting, all, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			registry := prometheus.NewRegistry()
			gauges := metrics.Gauges{Reader: readerOf(t, objects...), Elected: tt.elected, Controllers: tt.controllers}
			if err := gauges.RegisterOnly(registry, "stalled"); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, gathered(t, registry)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
	t.Run("many are counted together, but for those that wait the longest", func(t *testing.T) {
		t.Parallel()
		var many []client.Object
		for n := range 250 {
			since := now
			if n == 249 {
				since = long
			}
			many = append(many, &v1alpha1.DistributionTenant{ObjectMeta: named(n), Status: v1alpha1.DistributionTenantStatus{Conditions: stalled("True", "AccessDenied", since)}})
		}
		registry := prometheus.NewRegistry()
		gauges := metrics.Gauges{Reader: readerOf(t, many...), Elected: elected, Controllers: all}
		if err := gauges.RegisterOnly(registry, "stalled"); err != nil {
			t.Fatal(err)
		}
		got := gathered(t, registry)
		want := []string{"DistributionTenant//// 150"}
		for n := range 99 {
			want = append(want, fmt.Sprintf("DistributionTenant/o-%03d/shop/AccessDenied/ 1", n))
		}
		if d := cmp.Diff(append(want, "DistributionTenant/o-249/shop/AccessDenied/ 1"), got); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	})
}

func TestPlanRollouts(t *testing.T) {
	t.Parallel()
	elected := make(chan struct{})
	close(elected)
	plan := func(name string, tenants, applied, failed *int32) client.Object {
		return &kleffv1.TenantPlan{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: kleffv1.TenantPlanStatus{Tenants: tenants, Applied: applied, Failed: failed}}
	}
	registry := prometheus.NewRegistry()
	reader := readerOf(t, plan("basic", new(int32(10)), new(int32(6)), new(int32(1))), plan("new", nil, nil, nil), plan("unused", new(int32(0)), nil, nil))
	gauges := metrics.Gauges{Reader: reader, Elected: elected, Controllers: []string{"tenant"}}
	if err := gauges.RegisterOnly(registry, "customers", "plan_tenants"); err != nil {
		t.Fatal(err)
	}
	want := []string{"basic/applied/ 6", "basic/failed/ 1", "basic/waiting/ 3", "unused/applied/ 0", "unused/failed/ 0", "unused/waiting/ 0"}
	if d := cmp.Diff(want, gathered(t, registry)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
