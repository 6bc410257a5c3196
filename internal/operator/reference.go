package operator

import (
	"errors"
	"flag"
	"regexp"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/calls"
)

// Flag describes a flag for the reference.
type Flag struct{ Name, Default, Usage string }

// Flags lists the operator's own flags, without those of the logger.
func Flags() []Flag {
	var c Config
	set := flag.NewFlagSet("operator", flag.ContinueOnError)
	c.Bind(set)
	var out []Flag
	set.VisitAll(func(f *flag.Flag) { out = append(out, Flag{Name: f.Name, Default: f.DefValue, Usage: f.Usage}) })
	return out
}

// Metric describes a metric for the reference.
type Metric struct {
	Name, Kind, Help string
	Labels           []string
}

// descText takes apart what a prometheus.Desc prints: it has no getters.
var descText = regexp.MustCompile(`fqName: "([^"]*)", help: "((?:[^"\\]|\\.)*)", constLabels: \{[^}]*\}, variableLabels: \{([^}]*)\}`)

// Metrics lists the operator's own metrics.
func Metrics() ([]Metric, error) {
	r := &recorder{}
	if _, err := aws.NewMetrics(r); err != nil {
		return nil, err
	}
	if _, err := newMetrics(r); err != nil {
		return nil, err
	}
	if err := registerDistributionTenants(r, nil, nil); err != nil {
		return nil, err
	}
	if err := registerDistributionsAndGroups(r, nil, nil, nil); err != nil {
		return nil, err
	}
	if err := errors.Join(showGuardRails(r, Config{}, logr.Discard()), registerRollouts(r, nil)); err != nil {
		return nil, err
	}
	if err := registerStalled(r, nil, nil, nil, nil); err != nil {
		return nil, err
	}
	if err := registerTenants(r, nil, nil); err != nil {
		return nil, err
	}
	if _, err := newZoneMetrics(r, nil); err != nil {
		return nil, err
	}
	if _, err := calls.NewMetrics(r); err != nil {
		return nil, err
	}
	if err := registerAll(r, newAccountCollector(nil)); err != nil {
		return nil, err
	}
	if _, err := newSourceMetrics(r); err != nil {
		return nil, err
	}
	if _, err := newInvalidationMetrics(r); err != nil {
		return nil, err
	}
	if err := registerInvalidations(r, nil, nil, nil); err != nil {
		return nil, err
	}
	if err := registerZones(r, nil); err != nil {
		return nil, err
	}
	if err := registerBudget(r, nil); err != nil {
		return nil, err
	}
	if err := registerDomainClaims(r, nil); err != nil {
		return nil, err
	}
	if err := registerGrants(r, nil); err != nil {
		return nil, err
	}
	if err := registerHalt(r, nil); err != nil {
		return nil, err
	}
	if _, err := newWebhookMetrics(r); err != nil {
		return nil, err
	}
	if err := registerWatches(r, nil, nil, nil); err != nil {
		return nil, err
	}
	slices.SortFunc(r.metrics, func(a, b Metric) int { return strings.Compare(a.Name, b.Name) })
	return r.metrics, nil
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
			continue
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
