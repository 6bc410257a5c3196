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
	return registerAll(r, &fleet{reader: reader, elected: elected, desc: prometheus.NewDesc(metricPrefix+"tenants_total",
		"DistributionTenant objects by namespace and reason of their Ready condition (Deployed if Ready). Only the active replica exports it.",
		[]string{"namespace", "status"}, nil)})
}

// fleet counts the objects in the cache without copying them.
type fleet struct {
	reader  client.Reader
	elected <-chan struct{}
	desc    *prometheus.Desc
}

// scrapeTimeout bounds the wait for a cache that is not filled yet.
const scrapeTimeout = 5 * time.Second

// cached lists objects from the cache without copying them. Only the active replica has any to show.
func cached(out chan<- prometheus.Metric, elected <-chan struct{}, reader client.Reader, desc *prometheus.Desc, list client.ObjectList) bool {
	select {
	case <-elected:
	default:
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	if err := reader.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		out <- prometheus.NewInvalidMetric(desc, fmt.Errorf("listing %T: %w", list, err))
		return false
	}
	return true
}

// Describe implements prometheus.Collector.
func (f *fleet) Describe(d chan<- *prometheus.Desc) { d <- f.desc }

// Collect implements prometheus.Collector.
func (f *fleet) Collect(out chan<- prometheus.Metric) {
	var list v1alpha1.DistributionTenantList
	if !cached(out, f.elected, f.reader, f.desc, &list) {
		return
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
		out <- prometheus.MustNewConstMetric(f.desc, prometheus.GaugeValue, float64(n), k.namespace, k.status)
	}
}
