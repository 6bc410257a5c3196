package operator

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/loss"
)

// registerBudget adds what the deletion budget holds, computed when it is scraped.
func registerBudget(r prometheus.Registerer, b *loss.Breaker) error {
	return registerAll(r, computed{prometheus.NewDesc(metricPrefix+"deletions_held",
		"Deletions, and changes that take objects out of service, that the deletion budget holds until they are approved, by kind and namespace. The namespace is empty for a plan of the whole cluster. Only the active replica exports it.",
		[]string{"kind", "namespace"}, nil), func(emit emitter) error {
		for _, plan := range b.Holds() {
			emit(float64(plan.Count), string(plan.Class), plan.Namespace)
		}
		return nil
	}})
}
