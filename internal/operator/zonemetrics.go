package operator

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/zone"
)

// zoneMetrics counts what the zones do. It implements zone.Observer.
type zoneMetrics struct {
	batches     *prometheus.CounterVec
	changes     *prometheus.HistogramVec
	conflicts   *prometheus.CounterVec
	propagation *prometheus.HistogramVec
	failed      func(fault.Kind)
}

func newZoneMetrics(r prometheus.Registerer, failed func(fault.Kind)) (*zoneMetrics, error) {
	m := &zoneMetrics{
		failed: failed,
		batches: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: metricPrefix + "dns_batches_total",
			Help: "Batches of DNS changes sent, by provider and result: None (accepted) or the type of error. A rejected batch is split into two halves that are sent again.",
		}, []string{"provider", "result"}),
		changes: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: metricPrefix + "dns_batch_changes", Help: "Number of changes in each accepted batch, by provider.",
			Buckets: []float64{1, 2, 5, 10, 25, 50, 100, 250, 500, 1000},
		}, []string{"provider"}),
		conflicts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: metricPrefix + "dns_conflicts_total", Help: "Number of times that an object found another record in place of its DNS record, by provider.",
		}, []string{"provider"}),
		propagation: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: metricPrefix + "dns_propagation_seconds", Help: "Time until a change has reached every server of the DNS service, by provider.",
			Buckets: []float64{1, 5, 10, 20, 30, 60, 120, 300, 900},
		}, []string{"provider"}),
	}
	// An alert needs a zero before the first of what it counts.
	route53 := dns.Provider{}.String()
	m.changes.WithLabelValues(route53)
	m.conflicts.WithLabelValues(route53)
	m.propagation.WithLabelValues(route53)
	return m, registerAll(r, m.batches, m.changes, m.conflicts, m.propagation)
}

// Batch implements zone.Observer.
func (m *zoneMetrics) Batch(at dns.Provider, changes int, result fault.Kind) {
	m.batches.WithLabelValues(at.String(), result.String()).Inc()
	if result == fault.None {
		m.changes.WithLabelValues(at.String()).Observe(float64(changes))
		return
	}
	m.failed(result)
}

// Conflict implements zone.Observer.
func (m *zoneMetrics) Conflict(at dns.Provider) { m.conflicts.WithLabelValues(at.String()).Inc() }

// Propagated implements zone.Observer.
func (m *zoneMetrics) Propagated(at dns.Provider, d time.Duration) {
	m.propagation.WithLabelValues(at.String()).Observe(d.Seconds())
}

// registerZones adds what is computed when it is scraped.
func registerZones(r prometheus.Registerer, zones *zone.Zones) error {
	gauge := func(name, help string, value func(zone.Stats) int) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: metricPrefix + name, Help: help}, func() float64 {
			return float64(value(zones.Stats()))
		})
	}
	return registerAll(r,
		gauge("dns_zones", "DNS zones in which objects have records.", func(s zone.Stats) int { return s.Zones }),
		gauge("dns_zone_records", "Records in these zones, including those that the operator does not own.", func(s zone.Stats) int { return s.Records }),
		gauge("dns_names_waiting", "Names with pending changes of DNS records.", func(s zone.Stats) int { return s.Waiting }),
		gauge("dns_batches_propagating", "Accepted batches of DNS changes that have not reached every server yet.", func(s zone.Stats) int { return s.Propagating }),
	)
}
