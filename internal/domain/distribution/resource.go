// Package distribution decides about the resources that distribution tenants use: distributions and connection groups.
// Comparing their configuration happens elsewhere; this package decides the next step.
package distribution

import (
	"time"
)

// Deployed is the deployment status of a resource whose last change has reached every edge location.
const Deployed = "Deployed"

// Observed is a distribution or connection group as AWS shows it.
type Observed struct {
	ID, ARN string
	// Name is that of a connection group. A distribution has none.
	Name string
	ETag string
	// Status is InProgress or Deployed.
	Status  string
	Enabled bool
	// Default is true for the account's default connection group, which can't be deleted.
	Default  bool
	Modified time.Time
	// Aliases are the domains that it serves itself. A connection group has none.
	Aliases []string
	// Endpoint is where the DNS of a connection group's tenants has to point, IPv6 whether that has addresses of both kinds.
	Endpoint string
	IPv6     bool
}

// Settled reports whether the last change has reached every edge location.
func (o Observed) Settled() bool { return o.Status == Deployed }
