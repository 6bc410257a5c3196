package metrics

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// KeyValues counts what is sent to key value stores. It implements keyvalues.Observer, except for what is restored.
type KeyValues struct {
	batches *prometheus.CounterVec
	changes prometheus.Counter
}

// NewKeyValues registers the metrics.
func NewKeyValues(r prometheus.Registerer) (*KeyValues, error) {
	in := &registrar{Registerer: r}
	m := &KeyValues{
		batches: in.counter("key_value_batches_total", "Batches of changes sent to key value stores, by result: None (accepted) or the type of error. Conflict: others have changed the store, which is read again.", "result"),
		changes: in.counter("key_value_changes_total", "Keys that accepted batches have written or deleted.").WithLabelValues(),
	}
	return m, in.err
}

// Batch implements keyvalues.Observer.
func (m *KeyValues) Batch(changes int, result fault.Kind) {
	m.batches.WithLabelValues(result.String()).Inc()
	if result == fault.None {
		m.changes.Add(float64(changes))
	}
}

// keyValues tells what objects have in key value stores.
func (g *Gauges) keyValues(_ context.Context, emit emitter) error {
	if g.KeyValues == nil {
		return nil
	}
	s := g.KeyValues.Stats()
	emit("key_value_stores", float64(s.Stores))
	emit("key_values", float64(s.Keys))
	return nil
}
