package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/rollout"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantsource"
)

// Sources counts what the sources do, and shows each. It implements tenantsource.Observer.
type Sources struct {
	polls    *prometheus.CounterVec
	duration prometheus.Observer
	changes  *prometheus.CounterVec
	rows     *prometheus.GaugeVec
	held     *prometheus.GaugeVec
	complete *prometheus.GaugeVec
	rollout  *prometheus.GaugeVec
	listens  *prometheus.GaugeVec
	written  *prometheus.CounterVec
	waiting  *prometheus.GaugeVec
	oldest   *prometheus.GaugeVec

	mu    sync.Mutex
	named map[client.ObjectKey]struct{}
}

// name gives a source series of its own while there is room for it, and reports whether it has some. The polls and
// changes of the others are counted together by namespace: a user who may create sources must not be able to fill
// Prometheus.
func (m *Sources) name(key client.ObjectKey) bool {
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

// NewSources registers the metrics.
func NewSources(r prometheus.Registerer) (*Sources, error) {
	in := &registrar{Registerer: r}
	m := &Sources{
		named:    map[client.ObjectKey]struct{}{},
		polls:    in.counter("source_polls_total", "Polls of a TenantSource, by the reason of its Ready condition after the poll. Sources beyond the first 1,000 have no name, and no other series.", "namespace", "name", "reason"),
		duration: in.histogram("source_poll_duration_seconds", "Duration of a poll, from the start of the read until the last object was written.", []float64{0.1, 0.5, 1, 5, 15, 60, 300, 900}).WithLabelValues(),
		changes:  in.counter("source_changes_total", "Tenants that a TenantSource has created, updated, deleted or disabled.", "namespace", "name", "action"),
		rows:     in.gauge("source_rows", "Rows in the last complete read of a TenantSource, by state: tenant or rejected.", "namespace", "name", "state"),
		held:     in.gauge("source_held_deletions", "Deletions and harmful changes of a TenantSource that are waiting for approval.", "namespace", "name"),
		rollout:  in.gauge("source_rollout_tenants", "Tenants of a TenantSource with spec.rollout whose change is on its way, by state: applied, failed or waiting.", "namespace", "name", "state"),
		listens:  in.gauge("source_listening", "1 while the database reports changes to a TenantSource with spec.watch, 0 while it does not and the table is only read every spec.pollInterval.", "namespace", "name"),
		written:  in.counter("source_state_rows_written_total", "Rows that were written to the state table of a TenantSource with spec.writeBack.", "namespace", "name"),
		waiting:  in.gauge("source_state_rows_waiting", "Rows of the state table of a TenantSource that may not say yet what the status of their tenants says.", "namespace", "name"),
		oldest:   in.gauge("source_state_waiting_since_timestamp_seconds", "Time since which the oldest row of the state table of a TenantSource has been waiting to be written; 0 if none is.", "namespace", "name"),
		complete: in.gauge("source_last_complete_timestamp_seconds", "Start time of the last poll of a TenantSource that read the table completely.", "namespace", "name"),
	}
	return m, in.err
}

// Polled implements tenantsource.Observer.
func (m *Sources) Polled(key client.ObjectKey, r tenantsource.Report, d time.Duration) {
	ns, name := key.Namespace, key.Name
	shown := m.name(key)
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
func (m *Sources) Held(key client.ObjectKey, deletions int) {
	if m.name(key) {
		m.held.WithLabelValues(key.Namespace, key.Name).Set(float64(deletions))
	}
}

// RolledOut implements tenantsource.Observer.
func (m *Sources) RolledOut(key client.ObjectKey, r rollout.Rollout) {
	if !m.name(key) {
		return
	}
	for state, n := range map[string]int{"applied": r.Applied, "failed": r.Failed, "waiting": r.Waiting} {
		m.rollout.WithLabelValues(key.Namespace, key.Name, state).Set(float64(n))
	}
}

// Watched implements tenantsource.Observer.
func (m *Sources) Watched(key client.ObjectKey, w *tenantsource.Watch) {
	switch {
	case w == nil:
		m.listens.DeleteLabelValues(key.Namespace, key.Name)
	case m.name(key):
		m.listens.WithLabelValues(key.Namespace, key.Name).Set(one(w.Listening))
	}
}

// Wrote implements tenantsource.Observer.
func (m *Sources) Wrote(key client.ObjectKey, rows int) {
	name := ""
	if m.name(key) {
		name = key.Name
	}
	m.written.WithLabelValues(key.Namespace, name).Add(float64(rows))
}

// Written implements tenantsource.Observer.
func (m *Sources) Written(key client.ObjectKey, v *statetable.Verdict) {
	if v == nil {
		m.waiting.DeleteLabelValues(key.Namespace, key.Name)
		m.oldest.DeleteLabelValues(key.Namespace, key.Name)
		return
	}
	if !m.name(key) {
		return
	}
	since := 0.0
	if !v.Since.IsZero() {
		since = float64(v.Since.Unix())
	}
	m.waiting.WithLabelValues(key.Namespace, key.Name).Set(float64(v.Waiting))
	m.oldest.WithLabelValues(key.Namespace, key.Name).Set(since)
}

// Forgotten implements tenantsource.Observer.
func (m *Sources) Forgotten(key client.ObjectKey) {
	labels := prometheus.Labels{"namespace": key.Namespace, "name": key.Name}
	for _, v := range []interface {
		DeletePartialMatch(prometheus.Labels) int
	}{m.polls, m.changes, m.rows, m.held, m.complete, m.rollout, m.listens, m.written, m.waiting, m.oldest} {
		v.DeletePartialMatch(labels)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.named, key)
}
