// Package mongodb reads collections of customers from MongoDB, and from what speaks its protocol, and writes tables of states.
package mongodb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

const (
	opHello = "hello"
	opList  = "listCollections"
)

const (
	// batchSize is the number of documents that come at once, if they have less than 16 MiB.
	batchSize = 1000
	// farewell is how long the connection may take to close.
	farewell = time.Second
)

// Collections reads and writes collections. It is safe for concurrent use.
type Collections struct{ store.Config }

var (
	_ port.Rows   = (*Collections)(nil)
	_ port.Hints  = (*Collections)(nil)
	_ port.States = (*Collections)(nil)
)

// New returns a reader of collections. It makes no call.
func New(c store.Config) *Collections { return &Collections{c} }

// Read implements port.Rows. It reads documents that a majority has acknowledged, so that they are not rolled back.
// They are not of one moment: a document that is changed during the read may be seen as it was or as it is.
func (c *Collections) Read(ctx context.Context, q mapping.Query, sink mapping.Sink) error {
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.Timeout)
		defer cancel()
	}
	filter, err := parseFilter(q.MongoDB.Filter)
	if err != nil {
		return err
	}
	filter, err = named(filter, q.Keys)
	if err != nil {
		return err
	}
	r, disconnect, err := c.connect(ctx, q)
	if err != nil {
		return err
	}
	defer disconnect()
	if err := r.documents(ctx, find(q, filter), sink); err != nil {
		return err
	}
	return r.exists(ctx)
}

// connect connects to the primary.
func (c *Collections) connect(ctx context.Context, q mapping.Query) (r read, disconnect func(), err error) {
	to, err := parseConnection(ctx, q.Connection.Reveal())
	if err != nil {
		return read{}, nil, err
	}
	client, err := mongo.Connect(to.options.SetDialer(c.Guard))
	if err != nil {
		return read{}, nil, invalid("is not accepted by the driver; " + example)
	}
	disconnect = func() { leave(ctx, client.Disconnect) }
	r = read{connection: to, database: client.Database(q.MongoDB.Database), collection: q.MongoDB.Collection}
	if err := r.onPrimary(ctx); err != nil {
		disconnect()
		return read{}, nil, err
	}
	return r, disconnect, nil
}

// leave takes leave of the server also when the read was cancelled, but not for long.
func leave(ctx context.Context, from func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	// Nothing depends on how it goes: all rows were read, or the read has failed already.
	_ = from(ctx)
}

// read is one read of a collection.
type read struct {
	connection
	database   *mongo.Database
	collection string
}

// onPrimary refuses a member that may lag behind: with directConnection the driver reads from whatever it was
// pointed at.
func (r read) onPrimary(ctx context.Context) error {
	var answer struct {
		Primary *bool `bson:"isWritablePrimary"`
	}
	if err := r.database.RunCommand(ctx, bson.D{{Key: opHello, Value: 1}}).Decode(&answer); err != nil {
		return r.failed(opHello, err)
	}
	if answer.Primary != nil && !*answer.Primary {
		return &fault.Error{
			Kind: fault.Transient, Operation: opHello, Code: "NotWritablePrimary",
			Message: r.hosts + ": the server is not the primary and may return old data",
		}
	}
	return nil
}

// find is the command. The driver's own method would leave out the time limit for the server, which
// the driver adds to commands from the deadline of the context.
func find(q mapping.Query, filter bson.D) bson.D {
	command := bson.D{
		{Key: opFind, Value: q.MongoDB.Collection}, {Key: "filter", Value: filter}, {Key: "batchSize", Value: int32(batchSize)},
	}
	if fields := projection(q.Columns); len(fields) > 0 {
		command = append(command, bson.E{Key: "projection", Value: fields})
	}
	return command
}

// projection asks for the columns only; the _id always comes. A name with a dot would be taken for a path, so it needs
// whole documents.
func projection(columns []string) bson.D {
	var fields bson.D
	for _, column := range slices.Compact(slices.Sorted(slices.Values(columns))) {
		if column == "" || strings.ContainsAny(column, ".$\x00") {
			return nil
		}
		fields = append(fields, bson.E{Key: column, Value: 1})
	}
	return fields
}

// documents gives all documents to the sink.
func (r read) documents(ctx context.Context, command bson.D, sink mapping.Sink) error {
	cursor, err := r.open(ctx, command)
	if err != nil {
		return r.failed(opFind, err)
	}
	defer leave(ctx, cursor.Close)
	cursor.SetBatchSize(batchSize)
	for cursor.Next(ctx) {
		next, err := row(cursor.Current)
		if err != nil {
			return &fault.Error{Kind: fault.Transient, Operation: opFind, Message: r.hosts + ": the response could not be read"}
		}
		if err := sink.Row(next); err != nil {
			return err
		}
	}
	if err := cursor.Err(); err != nil {
		return r.failed("getMore", err)
	}
	// The end of the rows is the end of the collection only if the server has closed the cursor.
	if cursor.ID() != 0 {
		return &fault.Error{Kind: fault.Transient, Operation: opFind, Message: r.hosts + ": the response is not complete"}
	}
	return nil
}

// open begins to read what a majority of the servers has. A server without that reports it before there is any row.
func (r read) open(ctx context.Context, command bson.D) (*mongo.Cursor, error) {
	majority := append(slices.Clone(command), bson.E{Key: "readConcern", Value: bson.D{{Key: "level", Value: "majority"}}})
	cursor, err := r.database.RunCommandCursor(ctx, majority)
	var refusal mongo.CommandError
	if errors.As(err, &refusal) && slices.Contains([]int32{codeNoMajority, codeNotImplemented, codeUnsupported}, refusal.Code) {
		return r.database.RunCommandCursor(ctx, command)
	}
	return cursor, err
}

// exists tells an empty collection from one that isn't there, for which MongoDB finds nothing either. It looks
// after the read, so that one that was dropped meanwhile is noticed. A user sees the collections that it
// may read; one that may not even ask is believed.
func (r read) exists(ctx context.Context) error {
	found, err := r.database.ListCollectionNames(ctx, bson.D{{Key: "name", Value: r.collection}},
		options.ListCollections().SetAuthorizedCollections(true))
	if err != nil {
		if err = r.failed(opList, err); fault.Is(err, fault.Denied, fault.Invalid) {
			return nil
		}
		return err
	}
	if !slices.Contains(found, r.collection) {
		return &fault.Error{
			Kind: fault.NotFound, Operation: opFind, Code: "NamespaceNotFound",
			Message: fmt.Sprintf("there is no collection %q in the database: check spec.mongodb.database and spec.mongodb.collection", r.collection),
		}
	}
	return nil
}
