package metrics

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// Reconciles counts what the controllers see. It implements distributiontenant.Observer.
type Reconciles struct {
	errors *prometheus.CounterVec
	drift  prometheus.Counter
	ready  prometheus.Observer
}

// NewReconciles registers the metrics.
func NewReconciles(r prometheus.Registerer) (*Reconciles, error) {
	in := &registrar{Registerer: r}
	m := &Reconciles{
		errors: in.counter("reconcile_errors_total",
			"Reconciles that ended with an error or a rejected request, and failed batches of DNS changes, by type: "+strings.Join(errorTypes(), ", ")+". Waiting for the operator's own rate limit does not count as an error.", "error_type"),
		drift: in.counter("drift_detected_total", "Number of times that a tenant, distribution or connection group was found changed in AWS, whether corrected or not.").WithLabelValues(),
		ready: in.histogram("time_to_ready_seconds", "Time from the creation of a DistributionTenant until it is Ready for the first time.",
			[]float64{5, 15, 30, 60, 120, 300, 600, 1800, 3600, 14400}).WithLabelValues(),
	}
	return m, in.err
}

// Failed counts an error of a reconcile.
func (m *Reconciles) Failed(kind fault.Kind) { m.errors.WithLabelValues(errorType(kind)).Inc() }

// DNSFailed counts a failed batch of DNS changes.
func (m *Reconciles) DNSFailed(kind fault.Kind) { m.errors.WithLabelValues(dnsErrorType(kind)).Inc() }

// DriftDetected implements distributiontenant.Observer.
func (m *Reconciles) DriftDetected() { m.drift.Inc() }

// BecameReady implements distributiontenant.Observer.
func (m *Reconciles) BecameReady(d time.Duration) { m.ready.Observe(d.Seconds()) }
