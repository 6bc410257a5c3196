package metrics

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/calls"
)

// Metric describes a metric for the reference.
type Metric struct {
	Name, Kind, Help string
	Labels           []string
}

// descText takes apart what a prometheus.Desc prints: it has no getters.
var descText = regexp.MustCompile(`fqName: "([^"]*)", help: "((?:[^"\\]|\\.)*)", unit: "[^"]*", constLabels: \{[^}]*\}, variableLabels: \{([^}]*)\}`)

// Reference lists the operator's own metrics.
func Reference() ([]Metric, error) {
	r := &recorder{}
	_, ofAWS := aws.NewMetrics(r)
	_, ofDNS := calls.NewMetrics(r)
	_, ofReconciles := NewReconciles(r)
	_, ofZones := NewZones(r, nil)
	_, ofPublicDNS := NewPublicDNS(r)
	_, ofSources := NewSources(r)
	_, ofInvalidations := NewInvalidations(r)
	_, ofWebhook := NewWebhook(r)
	ofGauges := new(Gauges).Register(r)
	slices.SortFunc(r.metrics, func(a, b Metric) int { return strings.Compare(a.Name, b.Name) })
	return r.metrics, errors.Join(ofAWS, ofDNS, ofReconciles, ofZones, ofPublicDNS, ofSources, ofInvalidations, ofWebhook, ofGauges)
}

// recorder is a registry that writes down what is registered.
type recorder struct {
	prometheus.Registerer

	metrics []Metric
}

// Register implements prometheus.Registerer.
func (r *recorder) Register(c prometheus.Collector) error {
	descs := make(chan *prometheus.Desc, 8)
	c.Describe(descs)
	close(descs)
	for d := range descs {
		m := descText.FindStringSubmatch(d.String())
		if m == nil {
			return fmt.Errorf("the client library describes a metric in another way: %s", d)
		}
		var labels []string
		for l := range strings.SplitSeq(m[3], ",") {
			if l != "" {
				labels = append(labels, l)
			}
		}
		r.metrics = append(r.metrics, Metric{Name: m[1], Kind: kindOf(c), Help: m[2], Labels: labels})
	}
	return nil
}

func kindOf(c prometheus.Collector) string {
	switch c.(type) {
	case *prometheus.CounterVec, prometheus.Counter:
		if _, gauge := c.(prometheus.Gauge); !gauge {
			return "counter"
		}
	case *prometheus.HistogramVec, prometheus.Histogram:
		return "histogram"
	}
	return "gauge"
}
