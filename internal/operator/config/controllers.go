package config

import "slices"

// Names of the controllers, as --controllers takes them.
const (
	DistributionTenant = "distributiontenant"
	TenantSource       = "tenantsource"
	Distribution       = "distribution"
	ConnectionGroup    = "connectiongroup"
	Invalidation       = "invalidation"
	// Tenant stands for the two of tenants and plans, of which none is of use without the other.
	Tenant = "tenant"
	// EdgeGrant stands for the controller of grants, which no flag names.
	EdgeGrant = "edgegrant"
)

// defaultControllers are those of what is in AWS, controllers all of them. Tenants' namespaces need rights in the whole
// cluster, which an administrator should not have to grant without using them.
var (
	defaultControllers = List{DistributionTenant, TenantSource, Distribution, ConnectionGroup, Invalidation}
	controllers        = append(slices.Clone(defaultControllers), Tenant)
)
