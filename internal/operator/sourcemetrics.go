package operator

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/rollout"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantsource"
)

// sourceMetrics implements tenantsource.Observer.
type sourceMetrics struct {
	polls    *prometheus.CounterVec
	duration prometheus.Histogram
	changes  *prometheus.CounterVec
	rows     *prometheus.GaugeVec
	held     *prometheus.GaugeVec
	complete *prometheus.GaugeVec
	rollout  *prometheus.GaugeVec
	listens  *prometheus.GaugeVec

	mu    sync.Mutex
	named map[client.ObjectKey]struct{}
}

// shows reports whether a source has series of its own. The polls and changes of those beyond the first ones are counted
// together by namespace: whoever may create sources must not be able to fill Prometheus.
func (m *sourceMetrics) shows(key client.ObjectKey) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.named[key]; known {
		return true
	}
	if len(m.named) >= shownObjects {
		return false
	}
	m.named[key] = struct{}{}
	return true
}

func newSourceMetrics(r prometheus.Registerer) (*sourceMetrics, error) {
	which := []string{"namespace", "name"}
	m := &sourceMetrics{
		named: map[client.ObjectKey]struct{}{},
		polls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: metricPrefix + "source_polls_total",
			Help: "Polls of a TenantSource, by the reason of its Ready condition after the poll. Sources beyond the first 1,000 have no name, and no other series.",
		}, append(which, "reason")),
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    metricPrefix + "source_poll_duration_seconds",
			Help:    "Duration of a poll, from the start of the read until the last object was written.",
			Buckets: []float64{0.1, 0.5, 1, 5, 15, 60, 300, 900},
		}),
		changes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: metricPrefix + "source_changes_total",
			Help: "Tenants that a TenantSource has created, updated, deleted or disabled.",
		}, append(which, "action")),
		rows: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: metricPrefix + "source_rows",
			Help: "Rows in the last complete read of a TenantSource, by state: tenant or rejected.",
		}, append(which, "state")),
		held: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: metricPrefix + "source_held_deletions",
			Help: "Deletions and harmful changes of a TenantSource that are waiting for approval.",
		}, which),
		rollout: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: metricPrefix + "source_rollout_tenants",
			Help: "Tenants of a TenantSource with spec.rollout whose change is on its way, by state: applied, failed or waiting.",
		}, append(which, "state")),
		listens: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: metricPrefix + "source_listening",
			Help: "1 while the database reports changes to a TenantSource with spec.watch, 0 while it does not and the table is only read every spec.pollInterval.",
		}, which),
		complete: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: metricPrefix + "source_last_complete_timestamp_seconds",
			Help: "Start time of the last poll of a TenantSource that read the table completely.",
		}, which),
	}
	return m, registerAll(r, m.polls, m.duration, m.changes, m.rows, m.held, m.complete, m.rollout, m.listens)
}

// Polled implements tenantsource.Observer.
func (m *sourceMetrics) Polled(key client.ObjectKey, r tenantsource.Report, d time.Duration) {
	ns, name := key.Namespace, key.Name
	shown := m.shows(key)
	if !shown {
		name = ""
	}
	for _, c := range r.Conditions {
		if c.Type == chain.Ready {
			m.polls.WithLabelValues(ns, name, string(c.Reason)).Inc()
		}
	}
	m.duration.Observe(d.Seconds())
	if r.Unrolled {
		m.rollout.DeletePartialMatch(prometheus.Labels{"namespace": ns, "name": name})
	}
	if res := r.Result; res != nil {
		if shown {
			m.complete.WithLabelValues(ns, name).Set(float64(r.Polled.Unix()))
			m.rows.WithLabelValues(ns, name, "tenant").Set(float64(res.Tenants))
			m.rows.WithLabelValues(ns, name, "rejected").Set(float64(res.RejectedTotal))
		}
		m.changes.WithLabelValues(ns, name, "create").Add(float64(res.Created))
		m.changes.WithLabelValues(ns, name, "update").Add(float64(res.Updated))
		m.changes.WithLabelValues(ns, name, "delete").Add(float64(res.Deleted))
	}
}

// Held implements tenantsource.Observer.
func (m *sourceMetrics) Held(key client.ObjectKey, deletions int) {
	if m.shows(key) {
		m.held.WithLabelValues(key.Namespace, key.Name).Set(float64(deletions))
	}
}

// RolledOut implements tenantsource.Observer.
func (m *sourceMetrics) RolledOut(key client.ObjectKey, r rollout.Rollout) {
	if !m.shows(key) {
		return
	}
	for state, n := range map[string]int{"applied": r.Applied, "failed": r.Failed, "waiting": r.Waiting} {
		m.rollout.WithLabelValues(key.Namespace, key.Name, state).Set(float64(n))
	}
}

// Watched implements tenantsource.Observer.
func (m *sourceMetrics) Watched(key client.ObjectKey, w *tenantsource.Watch) {
	switch {
	case w == nil:
		m.listens.DeleteLabelValues(key.Namespace, key.Name)
	case m.shows(key):
		value := 0.0
		if w.Listening {
			value = 1
		}
		m.listens.WithLabelValues(key.Namespace, key.Name).Set(value)
	}
}

// Forgotten implements tenantsource.Observer.
func (m *sourceMetrics) Forgotten(key client.ObjectKey) {
	labels := prometheus.Labels{"namespace": key.Namespace, "name": key.Name}
	for _, v := range []interface {
		DeletePartialMatch(prometheus.Labels) int
	}{m.polls, m.changes, m.rows, m.held, m.complete, m.rollout, m.listens} {
		v.DeletePartialMatch(labels)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.named, key)
}
