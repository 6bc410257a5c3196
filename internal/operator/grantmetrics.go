package operator

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/grants"
)

// registerGrants adds what grants do not allow, computed when it is scraped.
func registerGrants(r prometheus.Registerer, g *grants.Registry) error {
	open := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: metricPrefix + "default_grant_open",
		Help: "1 while there are EdgeGrants and every namespace that none of them selects has the default grant: a namespace that loses its EdgeGrant may then use more than before."}, func() float64 {
		if g.Open(context.Background()) {
			return 1
		}
		return 0
	})
	return registerAll(r, open, computed{prometheus.NewDesc(metricPrefix+"grant_violations",
		"Objects that ask for more than their grant allows. The label is (default) for the default grant, and empty for namespaces without a grant.",
		[]string{"grant"}, nil), func(emit emitter) error {
		for name, n := range g.Violations() {
			emit(float64(n), name)
		}
		return nil
	}})
}
