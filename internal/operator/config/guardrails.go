package config

import (
	"errors"

	"github.com/go-logr/logr"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/grants"
)

// guardRail is one of those that keep a single mistake from taking customers down.
type guardRail struct {
	name string
	on   bool
	// flag turns it on, and risk says what a mistake may do without it.
	flag, risk string
}

func (c *Config) guardRails() []guardRail {
	return []guardRail{
		{"deletion_budget", c.Budget.Enabled, "--deletion-budget", "any number of tenants can be deleted or taken out of service at once"},
		{"cluster_check", c.ClusterCheck.Enabled, "--cluster-check", "a copy of this cluster can change and delete what this one has in AWS"},
		{"domain_claims", c.DomainClaims.Enabled, "--domain-claims", "a namespace can take a domain that another one has just released"},
		{"rollout", c.Rollout.Enabled, "--rollout", "a change of what customers are served with reaches all of them at once"},
		{"grants", c.Grants.Mode == string(grants.Enforce), "--grants=Enforce", "every namespace can use every distribution, certificate, domain, DNS zone and database"},
	}
}

// GuardRails tells by its name whether a guard rail is on.
func (c *Config) GuardRails() map[string]bool {
	on := map[string]bool{}
	for _, g := range c.guardRails() {
		on[g.name] = g.on
	}
	return on
}

// TellGuardRails says in the log at the start which guard rails are off.
func (c *Config) TellGuardRails(log logr.Logger) {
	for _, g := range c.guardRails() {
		if !g.on {
			log.Error(errors.New(g.risk), "A guard rail is off", "name", g.name, "flag", g.flag)
		}
	}
}
