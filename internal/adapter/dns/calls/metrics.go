package calls

import (
	"cmp"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

const metricPrefix = "cloudfront_tenant_operator_dns_"

// The values of the label code for what has no code of the service's own.
const (
	codeOK       = "OK"
	codeNoAnswer = "NoAnswer"
)

// Metrics counts and times what the operator asks of DNS services.
type Metrics struct {
	duration *prometheus.HistogramVec
	calls    *prometheus.CounterVec
}

// NewMetrics creates the metrics and registers them.
func NewMetrics(registerer prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    metricPrefix + "api_call_duration_seconds",
			Help:    "Duration of a call to a DNS service other than Route 53, by provider, account and operation.",
			Buckets: []float64{0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20},
		}, []string{"provider", "account", "operation"}),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: metricPrefix + "api_calls_total",
			Help: "Calls to DNS services other than Route 53, by provider, account, operation and result: OK, the service's error code, or NoAnswer (no response).",
		}, []string{"provider", "account", "operation", "code"}),
	}
	for _, c := range []prometheus.Collector{m.duration, m.calls} {
		if err := registerer.Register(c); err != nil {
			return nil, fmt.Errorf("registering metrics of calls to DNS services: %w", err)
		}
	}
	return m, nil
}

func (m *Metrics) called(p dns.Provider, operation string, err error, took time.Duration) {
	code := codeOK
	if err != nil {
		code = cmp.Or(fault.CodeOf(err), codeNoAnswer)
	}
	m.duration.WithLabelValues(p.Service.String(), p.Account, operation).Observe(took.Seconds())
	m.calls.WithLabelValues(p.Service.String(), p.Account, operation, code).Inc()
}
