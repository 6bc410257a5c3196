package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/resolver"
)

// PublicDNS counts the questions about the domains of customers.
type PublicDNS struct{ questions *prometheus.CounterVec }

// NewPublicDNS registers the metrics.
func NewPublicDNS(r prometheus.Registerer) (*PublicDNS, error) {
	in := &registrar{Registerer: r}
	m := &PublicDNS{questions: in.counter("dns_questions_total", "Questions to DNS servers about the domains of customers, by result: answered, also if there is no such name, or failed if no answer came in time or the server reports a failure.", "result")}
	// An alert needs a zero before the first of what it counts.
	m.questions.WithLabelValues(string(resolver.Answered))
	m.questions.WithLabelValues(string(resolver.Failed))
	return m, in.err
}

// Asked counts a question.
func (m *PublicDNS) Asked(r resolver.Result) { m.questions.WithLabelValues(string(r)).Inc() }
