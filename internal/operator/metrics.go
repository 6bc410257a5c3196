package operator

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

const metricPrefix = "cloudfront_tenant_operator_"

// metrics counts what the controllers see. It implements distributiontenant.Observer.
type metrics struct {
	errors *prometheus.CounterVec
	drift  prometheus.Counter
	ready  prometheus.Histogram
}

func newMetrics(r prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		errors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: metricPrefix + "reconcile_errors_total",
			Help: "Reconciles that ended with an error or a rejected request, and failed batches of DNS changes, by type: " + strings.Join(errorTypes(), ", ") + ". Waiting for the operator's own rate limit does not count as an error.",
		}, []string{"error_type"}),
		drift: prometheus.NewCounter(prometheus.CounterOpts{
			Name: metricPrefix + "drift_detected_total",
			Help: "Number of times that a tenant, distribution or connection group was found changed in AWS, whether corrected or not.",
		}),
		ready: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    metricPrefix + "time_to_ready_seconds",
			Help:    "Time from the creation of an object until it is Ready for the first time.",
			Buckets: []float64{5, 15, 30, 60, 120, 300, 600, 1800, 3600, 14400},
		}),
	}
	return m, registerAll(r, m.errors, m.drift, m.ready)
}

func registerAll(r prometheus.Registerer, all ...prometheus.Collector) error {
	for _, c := range all {
		if err := r.Register(c); err != nil {
			return fmt.Errorf("registering metrics: %w", err)
		}
	}
	return nil
}

func (m *metrics) failed(kind fault.Kind)      { m.errors.WithLabelValues(errorType(kind)).Inc() }
func (m *metrics) dnsFailed(kind fault.Kind)   { m.errors.WithLabelValues(dnsErrorType(kind)).Inc() }
func (m *metrics) DriftDetected()              { m.drift.Inc() }
func (m *metrics) BecameReady(d time.Duration) { m.ready.Observe(d.Seconds()) }

// registerDistributionTenants adds what is computed when it is scraped.
func registerDistributionTenants(r prometheus.Registerer, reader client.Reader, elected <-chan struct{}) error {
	return registerAll(r, computed{prometheus.NewDesc(metricPrefix+"tenants_total",
		"DistributionTenant objects by namespace and reason of their Ready condition (Deployed if Ready). Only the active replica exports it.",
		[]string{"namespace", "status"}, nil), func(emit emitter) error { return emitTenants(elected, reader, emit) }})
}

// computed is a gauge whose series are computed when it is scraped.
type computed struct {
	desc   *prometheus.Desc
	series func(emit emitter) error
}

// emitter takes a series with the values of its labels.
type emitter func(value float64, labels ...string)

// Describe implements prometheus.Collector.
func (c computed) Describe(d chan<- *prometheus.Desc) { d <- c.desc }

// Collect implements prometheus.Collector.
func (c computed) Collect(out chan<- prometheus.Metric) {
	err := c.series(func(value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(c.desc, prometheus.GaugeValue, value, labels...)
	})
	if err != nil {
		out <- prometheus.NewInvalidMetric(c.desc, err)
	}
}

// scrapeTimeout bounds the wait for a cache that is not filled yet.
const scrapeTimeout = 5 * time.Second

// cached lists objects from the cache without copying them. Only the active replica has any to show.
func cached(elected <-chan struct{}, reader client.Reader, list client.ObjectList) (listed bool, err error) {
	select {
	case <-elected:
	default:
		return false, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	if err := reader.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return false, fmt.Errorf("listing %T: %w", list, err)
	}
	return true, nil
}

// emitTenants counts the objects in the cache.
func emitTenants(elected <-chan struct{}, reader client.Reader, emit emitter) error {
	var list v1alpha1.DistributionTenantList
	if listed, err := cached(elected, reader, &list); !listed {
		return err
	}
	type key struct{ namespace, status string }
	counts := map[key]int{}
	for n := range list.Items {
		status := "Unknown"
		if c := meta.FindStatusCondition(list.Items[n].Status.Conditions, v1alpha1.ConditionReady); c != nil {
			status = c.Reason
		}
		counts[key{list.Items[n].Namespace, status}]++
	}
	for k, n := range counts {
		emit(float64(n), k.namespace, k.status)
	}
	return nil
}
