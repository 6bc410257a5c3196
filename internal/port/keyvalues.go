package port

import (
	"context"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/keyvalue"
)

// KeyValues are the key value stores of an AWS account. fault.NotFound: there is no store of that ARN.
type KeyValues interface {
	// DescribeStore reads the version and the size of a store.
	DescribeStore(ctx context.Context, arn string) (keyvalue.Info, error)
	// ListKeys reads one page of the keys of a store. next is empty on the last.
	ListKeys(ctx context.Context, arn, marker string) (page []keyvalue.Pair, next string, err error)
	// UpdateKeys makes all changes or none. fault.Conflict: the store has another version by now, or can't be changed.
	// fault.Invalid, fault.Quota: AWS refuses at least one of the changes as it stands.
	UpdateKeys(ctx context.Context, arn string, u keyvalue.Update) (keyvalue.Info, error)
}
