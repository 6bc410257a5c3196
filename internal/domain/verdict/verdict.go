// Package verdict is AWS's own word on a domain: whether its DNS leads to its tenant, and which other resources have it.
package verdict

// Status is AWS's word for where the DNS of a domain leads, in its own spelling.
type Status string

// The states of DNS.
const (
	// Valid means that DNS leads to the routing endpoint of the tenant's connection group.
	Valid Status = "valid-configuration"
	// Invalid means that there is no record, or one that leads elsewhere.
	Invalid Status = "invalid-configuration"
	// Unknown means that AWS could not find out.
	Unknown Status = "unknown-configuration"
)

// DNS is what AWS says of the DNS of one domain of a tenant.
type DNS struct {
	Domain string
	Status Status
	// Reason is AWS's explanation, fit for a message; empty if it gives none.
	Reason string
}

// The types of resources that can have a domain, in AWS's own spelling.
const (
	Distribution = "distribution"
	Tenant       = "distribution-tenant"
)

// Conflict is a resource that has a domain, or one that overlaps with it.
type Conflict struct {
	// Domain is the one that the resource has, such as a wildcard above the domain that was asked for.
	Domain string
	// Type is Distribution or Tenant.
	Type string
	// ID and Account are partly masked if the resource is in another account.
	ID, Account string
}
