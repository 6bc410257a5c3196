package port

import (
	"context"
	"errors"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/cluster"
)

// ErrClusterStale is given by a ClusterStore that was changed meanwhile.
var ErrClusterStale = errors.New("the fingerprint of the cluster was changed meanwhile")

// ClusterStore keeps the identity of the cluster.
type ClusterStore interface {
	// Load reads it past every cache, nil if there is none. The version changes with every write.
	Load(ctx context.Context) (stored *cluster.Stored, version string, err error)
	// Save replaces that of the version, or fails with ErrClusterStale.
	Save(ctx context.Context, i cluster.Identity, version string) error
}
