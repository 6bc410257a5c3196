package stack

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/client-go/rest"
)

// Metrics are samples in the text format, by series: the name with its labels.
type Metrics map[string]float64

// Metrics scrapes the operator.
func (o *Operator) Metrics(ctx context.Context) (Metrics, error) {
	return Scrape(ctx, o.metrics)
}

// Scrape reads the metrics that a process serves at a host and port without TLS.
func Scrape(ctx context.Context, address string) (Metrics, error) {
	return scrape(ctx, http.DefaultClient, "http://"+address+"/metrics")
}

// APIServerMetrics scrapes the API server.
func (h *Host) APIServerMetrics(ctx context.Context) (Metrics, error) {
	config := h.RESTConfig()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("creating a client: %w", err)
	}
	return scrape(ctx, client, config.Host+"/metrics")
}

// EtcdMetrics scrapes etcd.
func (h *Host) EtcdMetrics(ctx context.Context) (Metrics, error) {
	return scrape(ctx, http.DefaultClient, h.ControlPlane.EtcdURL()+"/metrics")
}

// scrapeTimeout is generous: a scrape counts every object.
const scrapeTimeout = 30 * time.Second

func scrape(ctx context.Context, client *http.Client, url string) (Metrics, error) {
	ctx, cancel := context.WithTimeout(ctx, scrapeTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("reading metrics: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("reading metrics: %s answers %s", url, response.Status)
	}
	out := Metrics{}
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		cut := strings.LastIndexByte(lines.Text(), ' ')
		if cut < 0 || strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		value, err := strconv.ParseFloat(lines.Text()[cut+1:], 64)
		if err != nil {
			return nil, fmt.Errorf("reading metrics: %q is no sample: %w", lines.Text(), err)
		}
		out[lines.Text()[:cut]] = value
	}
	return out, lines.Err()
}

// Series are those of a metric whose labels contain all the texts, such as operation="ListDistributionTenants".
func (m Metrics) Series(name string, labels ...string) Metrics {
	out := maps.Clone(m)
	maps.DeleteFunc(out, func(series string, _ float64) bool {
		base, rest, _ := strings.Cut(series, "{")
		return base != name || slices.ContainsFunc(labels, func(label string) bool { return !strings.Contains(rest, label) })
	})
	return out
}

// Sum adds those series up.
func (m Metrics) Sum(name string, labels ...string) float64 {
	total := 0.0
	for _, value := range m.Series(name, labels...) {
		total += value
	}
	return total
}

// Has reports whether there is a sample of the metric: of its name, or of a histogram's.
func (m Metrics) Has(name string) bool {
	for series := range m {
		base, _, _ := strings.Cut(series, "{")
		if base == name || base == name+"_count" {
			return true
		}
	}
	return false
}
