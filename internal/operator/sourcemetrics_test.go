package operator_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantsource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator"
)

// A thousand sources have series of their own. The others are counted by namespace, until one of the thousand is gone.
func TestSeriesOfSourcesAreBounded(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	m, err := operator.NewSourceMetrics(registry)
	if err != nil {
		t.Fatal(err)
	}
	key := func(n int) client.ObjectKey {
		return client.ObjectKey{Namespace: "edge", Name: fmt.Sprintf("s-%04d", n)}
	}
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	poll := func(n int) {
		m.Held(key(n), 1)
		m.Polled(key(n), tenantsource.Report{
			Conditions: []chain.Condition{{Type: chain.Ready, Reason: tenantsource.PollSucceeded}}, Result: &tenantsource.Result{Tenants: 1}, Polled: &noon,
		}, 0)
	}
	for n := range 1200 {
		poll(n)
	}
	expect := func(when string, want map[string]int) {
		t.Helper()
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]int{}
		for _, f := range families {
			got[f.GetName()] = len(f.GetMetric())
		}
		for name, n := range want {
			if got[name] != n {
				t.Errorf("%s: %s has %d series, want %d", when, name, got[name], n)
			}
		}
	}
	const polls, held, rows = "cloudfront_tenant_operator_source_polls_total", "cloudfront_tenant_operator_source_held_deletions", "cloudfront_tenant_operator_source_rows"
	expect("with 1,200 sources", map[string]int{polls: 1001, held: 1000, rows: 2000})
	m.Forgotten(key(0))
	expect("without the first", map[string]int{polls: 1000, held: 999, rows: 1998})
	poll(1100)
	expect("when another has its place", map[string]int{polls: 1001, held: 1000, rows: 2000})
}
