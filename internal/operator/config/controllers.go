package config

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
