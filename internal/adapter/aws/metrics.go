package aws

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const metricPrefix = "cloudfront_tenant_operator_aws_"

// Metrics counts and times what the operator asks of AWS.
type Metrics struct {
	duration *prometheus.HistogramVec
	calls    *prometheus.CounterVec
	waits    *prometheus.HistogramVec
	rates    *rateCollector

	mu sync.Mutex
	// denied are the operations whose last answer was a denial. A throttled call was not answered.
	denied map[string]bool
}

// NewMetrics creates the metrics and registers them.
func NewMetrics(registerer prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{
		denied: map[string]bool{},
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: metricPrefix + "api_call_duration_seconds",
			Help: "Duration of one attempt of an AWS call, from sending the request to the parsed response.",
			// The last bound is the timeout of an attempt.
			Buckets: []float64{0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20},
		}, []string{"operation"}),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: metricPrefix + "api_calls_total",
			Help: "Attempts of AWS calls by operation and result: OK, the service's error code, or NoAnswer (no response).",
		}, []string{"operation", "code"}),
		waits: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    metricPrefix + "limiter_wait_seconds",
			Help:    "Delays imposed by the rate limiter, by API and priority class.",
			Buckets: []float64{0.1, 0.5, 1, 5, 15, 60, 300, 1800},
		}, []string{"api", "class"}),
		rates: &rateCollector{desc: prometheus.NewDesc(metricPrefix+"rate",
			"Calls per second that the rate limiter currently allows, by API, and by api/account for accounts other than the operator's own.", []string{"api"}, nil)},
	}
	for _, c := range []prometheus.Collector{m.duration, m.calls, m.waits, m.rates} {
		if err := registerer.Register(c); err != nil {
			return nil, fmt.Errorf("registering metrics of AWS calls: %w", err)
		}
	}
	return m, nil
}

func (m *Metrics) attempt(operation, code string, took time.Duration) {
	m.duration.WithLabelValues(operation).Observe(took.Seconds())
	m.calls.WithLabelValues(operation, code).Inc()
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case denials[code]:
		m.denied[operation] = true
	case code != codeNoAnswer && !throttles[code]:
		delete(m.denied, operation)
	}
}

// Denied are the operations that AWS denied when they were last called, sorted.
func (m *Metrics) Denied() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.denied))
}

// rateCollector asks the limiters when it is scraped: a rate recovers while there are no calls, and a stored value
// would not show it.
type rateCollector struct {
	desc *prometheus.Desc

	mu      sync.Mutex
	sources []rateSource
}

type rateSource struct {
	api  string
	rate func() float64
}

func (c *rateCollector) add(api string, rate func() float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sources = append(c.sources, rateSource{api: api, rate: rate})
}

// Describe implements prometheus.Collector.
func (c *rateCollector) Describe(descs chan<- *prometheus.Desc) { descs <- c.desc }

// Collect implements prometheus.Collector.
func (c *rateCollector) Collect(metrics chan<- prometheus.Metric) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.sources {
		metrics <- prometheus.MustNewConstMetric(c.desc, prometheus.GaugeValue, s.rate(), s.api)
	}
}
