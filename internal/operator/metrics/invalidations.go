package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Invalidations counts what becomes of invalidations. It implements invalidation.Observer.
type Invalidations struct {
	ended *prometheus.CounterVec
	paths prometheus.Counter
	took  prometheus.Observer
}

// NewInvalidations registers the metrics.
func NewInvalidations(r prometheus.Registerer) (*Invalidations, error) {
	in := &registrar{Registerer: r}
	m := &Invalidations{
		ended: in.counter("invalidations_total", "Tenants whose invalidation has ended, by result: completed or failed.", "result"),
		paths: in.counter("invalidation_paths_requested_total", "Paths of invalidations that AWS has accepted. AWS charges for each after the first 1,000 of an account in a month.").WithLabelValues(),
		took: in.histogram("invalidation_duration_seconds", "Time from the creation of an Invalidation object until all its tenants are completed.",
			[]float64{15, 30, 60, 120, 300, 600, 1800, 3600, 14400, 86400}).WithLabelValues(),
	}
	// Both are shown before anything has ended: a rate needs a zero to begin with.
	for _, result := range []string{"completed", "failed"} {
		m.ended.WithLabelValues(result)
	}
	return m, in.err
}

// PathsRequested implements invalidation.Observer.
func (m *Invalidations) PathsRequested(n int) { m.paths.Add(float64(n)) }

// InvalidationEnded implements invalidation.Observer.
func (m *Invalidations) InvalidationEnded(completed bool) {
	result := "failed"
	if completed {
		result = "completed"
	}
	m.ended.WithLabelValues(result).Inc()
}

// InvalidationTook implements invalidation.Observer.
func (m *Invalidations) InvalidationTook(d time.Duration) { m.took.Observe(d.Seconds()) }
