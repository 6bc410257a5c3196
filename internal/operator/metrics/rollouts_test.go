package metrics_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	domain "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/rollout"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/rollout"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/metrics"
)

// A change that is on its way is counted, and one that has stopped raises the alert of all rollouts.
func TestFiguresOfChanges(t *testing.T) {
	t.Parallel()
	clock := clocktesting.NewFakeClock(time.Unix(100_000, 0))
	r := rollout.New(rollout.Options{Clock: clock, Default: domain.Limits{MaxFailedPercent: 10}, Wake: func(context.Context, ...types.NamespacedName) {}})
	registry, elected := prometheus.NewRegistry(), make(chan struct{})
	close(elected)
	gauges := metrics.Gauges{Reader: readerOf(t), Elected: elected, Rollouts: r}
	if err := gauges.RegisterOnly(registry, "rollout_tenants", "stalled"); err != nil {
		t.Fatal(err)
	}
	ask := func(n int) {
		r.Ask(t.Context(), nil, domain.Ask{UID: fmt.Sprint(n), Namespace: "shop", Name: fmt.Sprint(n), Fields: []string{"parameters"}, Values: []string{"v"}}, nil)
	}
	for n := range 4 {
		ask(n)
	}
	r.Step(t.Context())
	if d := cmp.Diff([]string{"failed/ 0", "in_flight/ 1", "waiting/ 3"}, gathered(t, registry)); d != "" {
		t.Errorf("on its way (-want +got):\n%s", d)
	}
	for n := range 4 {
		r.Tell(fmt.Sprint(n), domain.Outcome{Failure: "x"})
		r.Step(t.Context())
	}
	for n := range 4 {
		r.Tell(fmt.Sprint(n), domain.Outcome{Failure: "x"})
	}
	r.Step(t.Context())
	if d := cmp.Diff([]string{"DistributionTenant/// 1", "failed/ 2", "in_flight/ 0", "waiting/ 2"}, gathered(t, registry)); d != "" {
		t.Errorf("stopped (-want +got):\n%s", d)
	}
}
