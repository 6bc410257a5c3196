package operator

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/advice"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/webhook"
)

// webhookMetrics counts what the webhook answers. It implements webhook.Observer.
type webhookMetrics struct{ requests, warnings, looks *prometheus.CounterVec }

func newWebhookMetrics(r prometheus.Registerer) (*webhookMetrics, error) {
	m := &webhookMetrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: metricPrefix + "webhook_requests_total",
			Help: "Requests of the API server to the admission webhook, by result: allowed, warned, denied, or skipped if there was nothing to check.",
		}, []string{"result"}),
		warnings: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: metricPrefix + "webhook_warnings_total",
			Help: "Warnings and refusals of the admission webhook, by check: not-granted, domain-taken, unknown-distribution, parameters or dns.",
		}, []string{"check"}),
		looks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: metricPrefix + "webhook_dns_lookups_total",
			Help: "Objects whose domains the admission webhook looked up in DNS, by result: answered, failed if an answer is missing, or busy if too many others were being looked up and the check was left out.",
		}, []string{"result"}),
	}
	return m, registerAll(r, m.requests, m.warnings, m.looks)
}

func (m *webhookMetrics) Answered(r webhook.Result) { m.requests.WithLabelValues(string(r)).Inc() }
func (m *webhookMetrics) Warned(c advice.Check)     { m.warnings.WithLabelValues(string(c)).Inc() }
func (m *webhookMetrics) Looked(l webhook.Look)     { m.looks.WithLabelValues(string(l)).Inc() }
