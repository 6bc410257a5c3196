package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/advice"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/webhook"
)

// Webhook counts what the webhook answers. It implements webhook.Observer.
type Webhook struct{ requests, warnings, looks *prometheus.CounterVec }

// NewWebhook registers the metrics.
func NewWebhook(r prometheus.Registerer) (*Webhook, error) {
	in := &registrar{Registerer: r}
	m := &Webhook{
		requests: in.counter("webhook_requests_total", "Requests of the API server to the admission webhook, by result: allowed, warned, denied, or skipped if there was nothing to check.", "result"),
		warnings: in.counter("webhook_warnings_total", "Warnings and refusals of the admission webhook, by check: not-granted, domain-taken, unknown-distribution, parameters or dns.", "check"),
		looks:    in.counter("webhook_dns_lookups_total", "Objects whose domains the admission webhook looked up in DNS, by result: answered, failed if an answer is missing, or busy if too many others were being looked up and the check was left out.", "result"),
	}
	return m, in.err
}

// Answered implements webhook.Observer.
func (m *Webhook) Answered(r webhook.Result) { m.requests.WithLabelValues(string(r)).Inc() }

// Warned implements webhook.Observer.
func (m *Webhook) Warned(c advice.Check) { m.warnings.WithLabelValues(string(c)).Inc() }

// Looked implements webhook.Observer.
func (m *Webhook) Looked(l webhook.Look) { m.looks.WithLabelValues(string(l)).Inc() }
