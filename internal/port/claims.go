package port

import (
	"context"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/claim"
)

// DomainClaims stores the claims for domains that no object serves.
type DomainClaims interface {
	// Store stores a claim, unless there is one for the domain. It returns what is stored then.
	Store(ctx context.Context, c claim.Claim) (claim.Claim, error)
	// Extend sets when a stored claim ends. It fails if the claim has changed.
	Extend(ctx context.Context, c claim.Claim) (claim.Claim, error)
	// Report writes into the status of a stored claim what it is for.
	Report(ctx context.Context, c claim.Claim) error
	// Remove deletes the claim with that UID and version. It is no failure if there is none.
	Remove(ctx context.Context, c claim.Claim) error
}
