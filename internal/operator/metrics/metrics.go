// Package metrics is what the operator measures: counters of what happens, and gauges that are computed when they are
// scraped. Names, labels and help texts are a contract, and the reference page is generated from them.
package metrics

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// scrapeTimeout bounds the wait for a cache that is not filled yet.
const scrapeTimeout = 5 * time.Second

const prefix = "cloudfront_tenant_operator_"

// registrar makes metrics and registers them. Its error has all that could not be registered.
type registrar struct {
	prometheus.Registerer

	err error
}

func (r *registrar) add(c prometheus.Collector) {
	if err := r.Register(c); err != nil {
		r.err = errors.Join(r.err, fmt.Errorf("registering metrics: %w", err))
	}
}

func (r *registrar) counter(name, help string, labels ...string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: prefix + name, Help: help}, labels)
	r.add(c)
	return c
}

func (r *registrar) gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: prefix + name, Help: help}, labels)
	r.add(g)
	return g
}

func (r *registrar) histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: prefix + name, Help: help, Buckets: buckets}, labels)
	r.add(h)
	return h
}

// scraped are gauges that are computed together when they are scraped. It implements prometheus.Collector.
type scraped struct {
	compute func(ctx context.Context, emit emitter) error
	descs   map[string]*prometheus.Desc
	// first is the name of the gauge that an error tells of.
	first string
}

// emitter takes a series: the name of the gauge, its value, and the values of its labels.
type emitter func(name string, value float64, labels ...string)

// gauge is one of them. Its labels are separated by spaces.
type gauge struct{ name, labels, help string }

func scrape(compute func(ctx context.Context, emit emitter) error, gauges ...gauge) *scraped {
	s := &scraped{compute: compute, descs: map[string]*prometheus.Desc{}, first: gauges[0].name}
	for _, g := range gauges {
		s.descs[g.name] = prometheus.NewDesc(prefix+g.name, g.help, strings.Fields(g.labels), nil)
	}
	return s
}

// Describe implements prometheus.Collector.
func (s *scraped) Describe(out chan<- *prometheus.Desc) {
	for _, d := range s.descs {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (s *scraped) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	err := s.compute(ctx, func(name string, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(s.descs[name], prometheus.GaugeValue, value, labels...)
	})
	if err != nil {
		out <- prometheus.NewInvalidMetric(s.descs[s.first], err)
	}
}
