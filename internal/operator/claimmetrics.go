package operator

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/claim"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/claims"
)

// registerDomainClaims adds the claims and those who are refused, computed when they are scraped.
func registerDomainClaims(r prometheus.Registerer, c *claims.Registry) error {
	return registerAll(r, &claimed{
		claims: c,
		stored: prometheus.NewDesc(metricPrefix+"domain_claims", "DomainClaims, by phase: Reserved, HandOver or Held.", []string{"phase"}, nil),
		refused: prometheus.NewDesc(metricPrefix+"domain_claims_refused",
			"Distribution tenants that are refused a domain that is taken or reserved outside of their namespace, or handed over within it (condition reason DomainClaimed).", nil, nil),
	})
}

// claimed implements prometheus.Collector.
type claimed struct {
	claims          *claims.Registry
	stored, refused *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (c *claimed) Describe(d chan<- *prometheus.Desc) { d <- c.stored; d <- c.refused }

// Collect implements prometheus.Collector.
func (c *claimed) Collect(out chan<- prometheus.Metric) {
	counts := map[string]int{}
	for _, stored := range c.claims.Claims() {
		counts[stored.Phase()]++
	}
	for _, phase := range []string{claim.Reserved, claim.HandOver, claim.Held} {
		out <- prometheus.MustNewConstMetric(c.stored, prometheus.GaugeValue, float64(counts[phase]), phase)
	}
	out <- prometheus.MustNewConstMetric(c.refused, prometheus.GaugeValue, float64(c.claims.Refused()))
}
