package port

import (
	"context"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
)

// References reads what tenants refer to.
type References interface {
	// GetDistribution reads a distribution; an absent one is fault.NotFound.
	GetDistribution(ctx context.Context, id string) (distributiontenant.Distribution, error)
	// ListConnectionGroups reads all connection groups of the account.
	ListConnectionGroups(ctx context.Context) ([]ConnectionGroup, error)
	// GetConnectionGroup reads one connection group; an absent one is fault.NotFound.
	GetConnectionGroup(ctx context.Context, id string) (ConnectionGroup, error)
	// AnycastAddresses reads the addresses of an Anycast static IP list; an absent one is fault.NotFound.
	AnycastAddresses(ctx context.Context, listID string) ([]string, error)
}

// Dependents tells what uses a distribution or a connection group.
type Dependents interface {
	// TenantsOf reads the names of tenants of a distribution or of a connection group, whichever is
	// not empty: one page of them. more is true when there are others.
	TenantsOf(ctx context.Context, distributionID, groupID string) (names []string, more bool, err error)
}
