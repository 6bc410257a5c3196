package port

import (
	"context"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
)

// ChildReader finds what the operator made in the cluster for tenants and plans. It reads from a cache of all namespaces and,
// of other kinds, of what carries plan.LabelManagedBy, unless it says otherwise.
type ChildReader interface {
	// Served reports whether the cluster has the kind. Kinds come and go while the operator runs.
	Served(k plan.Kind) bool
	// List returns the objects of a kind in a namespace, or all of a kind that has none. The order is that of their names. A
	// kind that is not served has none. Its error is about the cache: nothing is known then.
	List(ctx context.Context, k plan.Kind, namespace string) ([]plan.Live, error)
	// Find returns one object of the cache, nil where it has none.
	Find(ctx context.Context, k plan.Kind, namespace, name string) (*plan.Live, error)
	// Read returns one object from the API server, past the cache, whether it is ours or not. fault.NotFound where
	// there is none.
	Read(ctx context.Context, k plan.Kind, namespace, name string) (plan.Live, error)
}

// ChildWriter changes them, by server-side apply under one field manager. They return the object as the API server has
// it then. Errors are classified: fault.Exists, Conflict (another version or another object than named), NotFound (the
// namespace or the kind is gone), Denied, Quota (a ResourceQuota has no room), Invalid, Throttled, Transient.
type ChildWriter interface {
	// Create applies an object that must not exist. fault.Exists where one of that name does.
	Create(ctx context.Context, o plan.Object) (plan.Live, error)
	// Apply applies an object over the one with that UID, and takes our fields from other managers that hold them.
	// Labels named in drop are removed, no matter who set them. fault.Conflict where the UID is another one.
	Apply(ctx context.Context, o plan.Object, uid string, drop ...string) (plan.Live, error)
	// Try asks the API server whether it would take the object, and changes nothing.
	Try(ctx context.Context, o plan.Object) error
	// Delete deletes the object with that UID. It is no error if it is gone already.
	Delete(ctx context.Context, l plan.Live) error
}

// Children is both.
type Children interface {
	ChildReader
	ChildWriter
}
