package operator

import (
	"errors"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/grants"
)

// guardRail is one of those that keep a single mistake from taking customers down.
type guardRail struct {
	name string
	on   bool
	// flag turns it on, and risk says what a mistake may do without it.
	flag, risk string
}

func (c Config) guardRails() []guardRail {
	return []guardRail{
		{"deletion_budget", c.Budget.Enabled, "--deletion-budget", "any number of tenants can be deleted or taken out of service at once"},
		{"cluster_check", c.ClusterCheck, "--cluster-check", "a copy of this cluster can change and delete what this one has in AWS"},
		{"domain_claims", c.DomainClaims.Enabled, "--domain-claims", "a namespace can take a domain that another one has just released"},
		{"rollout", c.Rollout.Enabled, "--rollout", "a change of what customers are served with reaches all of them at once"},
		{"grants", c.Grants == string(grants.Enforce), "--grants=Enforce", "every namespace can use every distribution, certificate, domain, DNS zone and database"},
	}
}

// showGuardRails says which guard rails are off: in the log at the start, and in a metric.
func showGuardRails(r prometheus.Registerer, c Config, log logr.Logger) error {
	rails := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: metricPrefix + "guard_rails",
		Help: "Whether a guard rail is on (1) or off (0): deletion_budget, cluster_check, domain_claims, rollout, grants (1 only with --grants=Enforce)."}, []string{"name"})
	for _, g := range c.guardRails() {
		value := 0.0
		if g.on {
			value = 1
		} else {
			log.Error(errors.New(g.risk), "A guard rail is off", "name", g.name, "flag", g.flag)
		}
		rails.WithLabelValues(g.name).Set(value)
	}
	return registerAll(r, rails)
}
