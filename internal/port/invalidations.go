package port

import (
	"context"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/invalidation"
)

// Invalidations removes paths from the caches of distribution tenants.
type Invalidations interface {
	// CreateInvalidation requests an invalidation of a tenant. With the reference and the paths of an earlier one, that is
	// answered and nothing else happens. fault.Quota: as many are in progress as the account may have. fault.Exists: the
	// reference belongs to other paths. fault.NotFound: there is no such tenant.
	CreateInvalidation(ctx context.Context, tenantID, reference string, paths []string) (invalidation.Answer, error)
	// GetInvalidation reads one. fault.NotFound: there is no such invalidation, or no such tenant.
	GetInvalidation(ctx context.Context, tenantID, id string) (invalidation.Answer, error)
}
