package metrics_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/rollout"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantsource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/metrics"
)

// A thousand sources have series of their own. The others are counted by namespace, until one of the thousand is gone.
func TestSeriesOfSourcesAreBounded(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	m, err := metrics.NewSources(registry)
	if err != nil {
		t.Fatal(err)
	}
	key := func(n int) client.ObjectKey {
		return client.ObjectKey{Namespace: "edge", Name: fmt.Sprintf("s-%04d", n)}
	}
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	poll := func(n int) {
		m.Held(key(n), 1)
		m.Watched(key(n), &tenantsource.Watch{})
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
	const listening = "cloudfront_tenant_operator_source_listening"
	expect("with 1,200 sources", map[string]int{polls: 1001, held: 1000, rows: 2000, listening: 1000})
	m.Forgotten(key(0))
	expect("without the first", map[string]int{polls: 1000, held: 999, rows: 1998, listening: 999})
	poll(1100)
	expect("when another has its place", map[string]int{polls: 1001, held: 1000, rows: 2000, listening: 1000})
}

// A source whose table is watched says whether its database reports changes. Others have no such series.
func TestSourcesThatListen(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	m, err := metrics.NewSources(registry)
	if err != nil {
		t.Fatal(err)
	}
	key := client.ObjectKey{Namespace: "shop", Name: "customers"}
	for _, step := range []struct {
		what  string
		watch *tenantsource.Watch
		want  []string
	}{
		{"a table that is not watched", nil, nil},
		{"one whose stream is not there yet", &tenantsource.Watch{}, []string{"customers/shop/ 0"}},
		{"one whose changes are reported", &tenantsource.Watch{Listening: true}, []string{"customers/shop/ 1"}},
		{"one whose stream is lost", &tenantsource.Watch{Lost: "No answer"}, []string{"customers/shop/ 0"}},
		{"one that is not watched any more", nil, nil},
	} {
		m.Watched(key, step.watch)
		got := slices.DeleteFunc(gathered(t, registry), func(series string) bool { return !strings.Contains(series, "customers/") })
		if d := cmp.Diff(step.want, got, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%s (-want +got):\n%s", step.what, d)
		}
	}
}

// The figures of a rollout are gone once the spec wants none.
func TestFiguresOfRollouts(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	m, err := metrics.NewSources(registry)
	if err != nil {
		t.Fatal(err)
	}
	key := client.ObjectKey{Namespace: "shop", Name: "customers"}
	figures := func() []string {
		return slices.DeleteFunc(gathered(t, registry), func(series string) bool { return !strings.HasPrefix(series, "customers/") })
	}
	m.RolledOut(key, rollout.Rollout{Applied: 3, Failed: 1, Waiting: 6})
	want := []string{"customers/shop/applied/ 3", "customers/shop/failed/ 1", "customers/shop/waiting/ 6"}
	if d := cmp.Diff(want, figures()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	m.Polled(key, tenantsource.Report{Unrolled: true}, 0)
	if got := figures(); len(got) > 0 {
		t.Errorf("without spec.rollout there are %q", got)
	}
}
