package port

import (
	"context"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

// Hints listen for changes of tables of customers in one kind of store.
type Hints interface {
	// Listen follows the changes of what a query reads until the context ends, or the stream is lost. It calls Ready
	// once every later change will be told, and then Hint for changes. Nothing is ever written, but what the store
	// itself keeps for a listener. It always returns an error: of the kinds of Rows.Read. fault.Invalid also means that
	// the server has no such stream (MongoDB without a replica set, Redis without keyspace notifications, a table
	// without a stream): the message names the setting that turns it on.
	Listen(ctx context.Context, q mapping.Query, sink HintSink) error
}

// HintSink takes what a stream tells.
type HintSink interface {
	// Ready says that the stream tells of every change from now on. Earlier changes have to be read.
	Ready()
	// Hint names the rows that may have changed, by keys that Rows.Read understands in Query.Keys. No keys: any row
	// may have changed.
	Hint(keys ...string)
}
