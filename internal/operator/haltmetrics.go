package operator

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/halt"
)

// registerHalt adds why nothing is changed in AWS, computed when it is scraped.
func registerHalt(r prometheus.Registerer, s *halt.Switch) error {
	return registerAll(r, computed{prometheus.NewDesc(metricPrefix+"writes_halted",
		"1 for each reason for which nothing is changed in AWS: ClusterMoved while the cluster is another one than the operator was installed in, ClusterIDChanged while the cluster ID is another one, Frozen while an administrator has frozen the operator. There is no series while writes go on.",
		[]string{"reason"}, nil), func(emit emitter) error {
		for _, cause := range s.Causes() {
			emit(1, string(cause))
		}
		return nil
	}})
}
