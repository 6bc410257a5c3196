package port

import (
	"context"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
)

// Fleet reads a distribution with all that belongs to it, for an import.
type Fleet interface {
	// ListTenantsOf reads one page of the tenants of a distribution, on the terms of TenantReader.ListTenants.
	ListTenantsOf(ctx context.Context, distributionID, marker string) (page []distributiontenant.Observed, next string, err error)
	// Unmanaged names what the distribution has in AWS and the kind has no field for, in the words of AWS and in their
	// order. Every update keeps it.
	Unmanaged(d Distribution) []string
}
