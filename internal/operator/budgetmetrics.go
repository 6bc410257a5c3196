package operator

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/loss"
)

// registerBudget adds what the deletion budget holds, computed when it is scraped.
func registerBudget(r prometheus.Registerer, b *loss.Breaker) error {
	return registerAll(r, &heldDeletions{breaker: b, desc: prometheus.NewDesc(metricPrefix+"deletions_held",
		"Deletions, and changes that take objects out of service, that the deletion budget holds until they are approved, by kind and namespace. The namespace is empty for a plan of the whole cluster. Only the active replica exports it.",
		[]string{"kind", "namespace"}, nil)})
}

// heldDeletions implements prometheus.Collector.
type heldDeletions struct {
	breaker *loss.Breaker
	desc    *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (h *heldDeletions) Describe(d chan<- *prometheus.Desc) { d <- h.desc }

// Collect implements prometheus.Collector.
func (h *heldDeletions) Collect(out chan<- prometheus.Metric) {
	for _, plan := range h.breaker.Holds() {
		out <- prometheus.MustNewConstMetric(h.desc, prometheus.GaugeValue, float64(plan.Count), string(plan.Class), plan.Namespace)
	}
}
