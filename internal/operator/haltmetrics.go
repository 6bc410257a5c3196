package operator

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/halt"
)

// registerHalt adds why nothing is changed in AWS, computed when it is scraped.
func registerHalt(r prometheus.Registerer, s *halt.Switch) error {
	return registerAll(r, &halted{halt: s, desc: prometheus.NewDesc(metricPrefix+"writes_halted",
		"1 for each reason for which nothing is changed in AWS: ClusterMoved while the cluster is another one than the operator was installed in, ClusterIDChanged while the cluster ID is another one, Frozen while an administrator has frozen the operator. There is no series while writes go on.",
		[]string{"reason"}, nil)})
}

// halted implements prometheus.Collector.
type halted struct {
	halt *halt.Switch
	desc *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (h *halted) Describe(d chan<- *prometheus.Desc) { d <- h.desc }

// Collect implements prometheus.Collector.
func (h *halted) Collect(out chan<- prometheus.Metric) {
	for _, cause := range h.halt.Causes() {
		out <- prometheus.MustNewConstMetric(h.desc, prometheus.GaugeValue, 1, string(cause))
	}
}
