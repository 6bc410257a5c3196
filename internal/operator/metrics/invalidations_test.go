package metrics_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/metrics"
)

// Finished objects are counted, and have no age: a failed object stays for a day, and nothing is late about it.
func TestInvalidationObjects(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_000_000, 0)
	var objects []client.Object
	add := func(namespace, reason string, age time.Duration, finished bool) {
		o := &v1alpha1.Invalidation{ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: fmt.Sprintf("o-%d", len(objects)), CreationTimestamp: metav1.NewTime(now.Add(-age)),
		}}
		if reason != "" {
			o.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "False", Reason: reason}}
		}
		if finished {
			o.Status.CompletionTime = new(metav1.NewTime(now))
		}
		objects = append(objects, o)
	}
	add("blue", "InProgress", time.Minute, false)
	add("blue", "InProgress", 3*time.Minute, false)
	add("blue", "Completed", time.Hour, true)
	add("green", "PathLimitReached", 5*time.Hour, false)
	add("green", "InvalidationFailed", time.Hour, true)
	add("green", "", 0, false)
	elected, waiting := make(chan struct{}), make(chan struct{})
	close(elected)
	for name, tt := range map[string]struct {
		elected <-chan struct{}
		want    []string
	}{
		"the active replica": {elected, []string{
			"blue/InProgress/ 180", "green/PathLimitReached/ 18000", "green/Unknown/ 0",
			"blue/Completed/ 1", "blue/InProgress/ 2", "green/InvalidationFailed/ 1", "green/PathLimitReached/ 1", "green/Unknown/ 1",
		}},
		"a replica that waits shows none": {waiting, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			registry := prometheus.NewRegistry()
			gauges := metrics.Gauges{Reader: readerOf(t, objects...), Elected: tt.elected, Controllers: []string{"invalidation"}, Clock: clocktesting.NewFakePassiveClock(now)}
			if err := gauges.RegisterOnly(registry, "invalidation_objects"); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, gathered(t, registry)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
