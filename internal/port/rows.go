package port

import (
	"context"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

// Rows reads tables of customers from one kind of store.
type Rows interface {
	// Read gives every row to the sink, one after the other, as it arrives. Only a nil error means that
	// the table was read completely: to the end marker of the store, in one consistent view where the
	// store has such a thing, from a place that is not known to lag behind. The rows that a read
	// gave before it failed mean nothing. Nothing is ever written, and no connection outlives the
	// call. An error carries nothing of the connection string but host and port.
	//
	// fault.Transient, fault.Throttled: more tries may succeed. fault.Denied: the credentials are refused, or a right
	// is missing. fault.NotFound: there is no such database, table, collection or column. fault.Invalid: the store
	// refuses the query, source.CodeConnectionString, or source.CodeQuery.
	Read(ctx context.Context, q mapping.Query, sink mapping.Sink) error
}
