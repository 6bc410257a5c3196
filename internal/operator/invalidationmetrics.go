package operator

import (
	"context"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
)

// invalidationMetrics implements invalidation.Observer.
type invalidationMetrics struct {
	ended *prometheus.CounterVec
	paths prometheus.Counter
	took  prometheus.Histogram
}

func newInvalidationMetrics(r prometheus.Registerer) (*invalidationMetrics, error) {
	m := &invalidationMetrics{
		ended: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: metricPrefix + "invalidations_total",
			Help: "Tenants whose invalidation has ended, by result: completed or failed.",
		}, []string{"result"}),
		paths: prometheus.NewCounter(prometheus.CounterOpts{
			Name: metricPrefix + "invalidation_paths_requested_total",
			Help: "Paths of invalidations that AWS has accepted. AWS charges for each after the first 1,000 of an account in a month.",
		}),
		took: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    metricPrefix + "invalidation_duration_seconds",
			Help:    "Time from the creation of an Invalidation object until all its tenants are completed.",
			Buckets: []float64{15, 30, 60, 120, 300, 600, 1800, 3600, 14400, 86400},
		}),
	}
	// Both are shown before anything has ended: a rate needs a zero to begin with.
	for _, result := range []string{"completed", "failed"} {
		m.ended.WithLabelValues(result)
	}
	return m, registerAll(r, m.ended, m.paths, m.took)
}

// PathsRequested implements invalidation.Observer.
func (m *invalidationMetrics) PathsRequested(n int) { m.paths.Add(float64(n)) }

// InvalidationEnded implements invalidation.Observer.
func (m *invalidationMetrics) InvalidationEnded(completed bool) {
	result := "failed"
	if completed {
		result = "completed"
	}
	m.ended.WithLabelValues(result).Inc()
}

// InvalidationTook implements invalidation.Observer.
func (m *invalidationMetrics) InvalidationTook(d time.Duration) { m.took.Observe(d.Seconds()) }

// registerInvalidations adds what is computed when it is scraped.
func registerInvalidations(r prometheus.Registerer, reader client.Reader, elected <-chan struct{}, clk clock.PassiveClock) error {
	return registerAll(r, &invalidationObjects{
		reader: reader, elected: elected, clock: clk,
		count: prometheus.NewDesc(metricPrefix+"invalidation_objects",
			"Invalidation objects by namespace and reason of their Ready condition (Completed if Ready). Only the active replica exports it.",
			[]string{"namespace", "reason"}, nil),
		age: prometheus.NewDesc(metricPrefix+"invalidation_age_seconds",
			"Age of the oldest Invalidation object that has not finished, by namespace and reason of its Ready condition. Only the active replica exports it.",
			[]string{"namespace", "reason"}, nil),
	})
}

// invalidationObjects counts the objects in the cache without copying them.
type invalidationObjects struct {
	reader     client.Reader
	elected    <-chan struct{}
	clock      clock.PassiveClock
	count, age *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (i *invalidationObjects) Describe(d chan<- *prometheus.Desc) { d <- i.count; d <- i.age }

// Collect implements prometheus.Collector.
func (i *invalidationObjects) Collect(out chan<- prometheus.Metric) {
	var list v1alpha1.InvalidationList
	if listed, err := cached(i.elected, i.reader, &list); !listed {
		if err != nil {
			out <- prometheus.NewInvalidMetric(i.count, err)
		}
		return
	}
	type key struct{ namespace, reason string }
	counts, oldest := map[key]int{}, map[key]time.Time{}
	for n := range list.Items {
		o := &list.Items[n]
		k := key{o.Namespace, noReason}
		if c := meta.FindStatusCondition(o.Status.Conditions, v1alpha1.ConditionReady); c != nil {
			k.reason = c.Reason
		}
		counts[k]++
		if first, has := oldest[k]; o.Status.CompletionTime == nil && (!has || o.CreationTimestamp.Time.Before(first)) {
			oldest[k] = o.CreationTimestamp.Time
		}
	}
	for k, n := range counts {
		out <- prometheus.MustNewConstMetric(i.count, prometheus.GaugeValue, float64(n), k.namespace, k.reason)
	}
	for k, created := range oldest {
		out <- prometheus.MustNewConstMetric(i.age, prometheus.GaugeValue, i.clock.Since(created).Seconds(), k.namespace, k.reason)
	}
}

// pathCount counts paths without and with a star, of which CloudFront has quotas of their own.
type pathCount struct{ plain, starred int }

// pathsInProgress are the paths that AWS is removing from caches for the objects in the cache, by the AWS account of their
// tenants. It is nil if they are not known.
func (env *environment) pathsInProgress() map[string]pathCount {
	if env.invalidations == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	return pathsInProgress(ctx, env.invalidations)
}

func pathsInProgress(ctx context.Context, reader client.Reader) map[string]pathCount {
	var list v1alpha1.InvalidationList
	if err := reader.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	out := map[string]pathCount{}
	for n := range list.Items {
		o := &list.Items[n]
		var each pathCount
		for _, path := range o.Spec.Paths {
			if strings.HasSuffix(path, "*") {
				each.starred++
			} else {
				each.plain++
			}
		}
		for _, t := range o.Status.Tenants {
			if t.State != v1alpha1.InvalidationInProgress {
				continue
			}
			account := accountOfTenant(ctx, reader, client.ObjectKey{Namespace: o.Namespace, Name: t.Name})
			out[account] = pathCount{out[account].plain + each.plain, out[account].starred + each.starred}
		}
	}
	return out
}

// accountOfTenant is empty for a tenant whose object is gone.
func accountOfTenant(ctx context.Context, reader client.Reader, key client.ObjectKey) string {
	var o v1alpha1.DistributionTenant
	if err := reader.Get(ctx, key, &o); err != nil {
		return ""
	}
	return convert.RecordedAccount(&o, o.Status.ARN)
}
