package port

import (
	"context"
	"errors"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/loss"
)

// ErrStale is given by a store whose content was changed meanwhile.
var ErrStale = errors.New("the ConfigMap was changed meanwhile")

// Deletions are what the store of the deletion budget has.
type Deletions struct {
	Memory loss.Memory
	// Approved and Abandoned are the plans that an administrator has named.
	Approved, Abandoned []string
	// Version changes with every write.
	Version string
}

// DeletionStore keeps the memory of the deletion budget.
type DeletionStore interface {
	// Load reads it past every cache, and creates an empty one if there is none.
	Load(ctx context.Context) (Deletions, error)
	// Save replaces the memory of that version, or fails with ErrStale. It returns the new version.
	Save(ctx context.Context, m loss.Memory, version string) (string, error)
}
