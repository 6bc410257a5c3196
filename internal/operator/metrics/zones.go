package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// Zones counts what the zones do. It implements zone.Observer, except for what they correct.
type Zones struct {
	batches     *prometheus.CounterVec
	changes     *prometheus.HistogramVec
	conflicts   *prometheus.CounterVec
	propagation *prometheus.HistogramVec
	failed      func(fault.Kind)
}

// NewZones registers the metrics. Each failed batch is told as well.
func NewZones(r prometheus.Registerer, failed func(fault.Kind)) (*Zones, error) {
	in := &registrar{Registerer: r}
	m := &Zones{
		failed:    failed,
		batches:   in.counter("dns_batches_total", "Batches of DNS changes sent, by provider and result: None (accepted) or the type of error. A rejected batch is split into two halves that are sent again.", "provider", "result"),
		changes:   in.histogram("dns_batch_changes", "Number of changes in each accepted batch, by provider.", []float64{1, 2, 5, 10, 25, 50, 100, 250, 500, 1000}, "provider"),
		conflicts: in.counter("dns_conflicts_total", "Number of times that an object found another record in place of its DNS record, by provider.", "provider"),
		propagation: in.histogram("dns_propagation_seconds", "Time until a change has reached every server of the DNS service, by provider.",
			[]float64{1, 5, 10, 20, 30, 60, 120, 300, 900}, "provider"),
	}
	// An alert needs a zero before the first of what it counts.
	route53 := dns.Provider{}.String()
	m.changes.WithLabelValues(route53)
	m.conflicts.WithLabelValues(route53)
	m.propagation.WithLabelValues(route53)
	return m, in.err
}

// Batch implements zone.Observer.
func (m *Zones) Batch(at dns.Provider, changes int, result fault.Kind) {
	m.batches.WithLabelValues(at.String(), result.String()).Inc()
	if result == fault.None {
		m.changes.WithLabelValues(at.String()).Observe(float64(changes))
		return
	}
	m.failed(result)
}

// Conflict implements zone.Observer.
func (m *Zones) Conflict(at dns.Provider) { m.conflicts.WithLabelValues(at.String()).Inc() }

// Propagated implements zone.Observer.
func (m *Zones) Propagated(at dns.Provider, d time.Duration) {
	m.propagation.WithLabelValues(at.String()).Observe(d.Seconds())
}
