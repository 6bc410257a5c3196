package mongodb

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

const opWatch = "aggregate"

const (
	// awaitTime is how long the server waits for a change before it answers that there is none.
	awaitTime = 5 * time.Second
	// answerTimeout is how long it may take for that: a server that is silent for so long is not there any more.
	answerTimeout = awaitTime + 15*time.Second
	// askEvery is how often a server is asked that does not wait.
	askEvery = time.Second
)

// noStream are the codes of servers that have no change streams.
var noStream = map[int32]bool{
	40573:              true, // only supported on replica sets
	40324:              true, // Unrecognized pipeline stage name
	59:                 true, // CommandNotFound
	115:                true, // CommandNotSupported
	codeNotImplemented: true,
	codeUnsupported:    true,
}

// event is what is asked for of a change. Its _id, the place in the stream, is the driver's business.
type event struct {
	Operation string   `bson:"operationType"`
	Key       bson.Raw `bson:"documentKey"`
}

// keysOnly leaves out the documents: a hint needs their keys.
var keysOnly = mongo.Pipeline{{{Key: "$project", Value: bson.D{{Key: "operationType", Value: 1}, {Key: "documentKey._id", Value: 1}}}}}

// Listen implements port.Hints with a change stream. The driver takes it up again where it was after a failure that is
// over soon, such as an election.
func (c *Collections) Listen(ctx context.Context, q mapping.Query, sink port.HintSink) error {
	r, disconnect, err := c.connect(ctx, q)
	if err != nil {
		return err
	}
	defer disconnect()
	stream, err := r.watch(ctx)
	if err != nil {
		return err
	}
	defer leave(ctx, stream.Close)
	hinter := store.NewHinter(sink)
	defer hinter.Close()
	sink.Ready()
	return r.follow(ctx, stream, hinter)
}

// watch opens the stream.
func (r read) watch(ctx context.Context) (*mongo.ChangeStream, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	stream, err := r.database.Collection(r.collection).Watch(ctx, keysOnly, options.ChangeStream().SetMaxAwaitTime(awaitTime))
	if err == nil {
		return stream, nil
	}
	var refusal mongo.CommandError
	if asCommand(causeOf(err), &refusal) {
		if problem := r.unwatched(refusal.Code); problem != "" {
			return nil, &fault.Error{Kind: fault.Invalid, Operation: opWatch, Code: codeName(refusal), Message: r.hosts + ": " + problem + "; " + pollsDo}
		}
	}
	return nil, r.failed(opWatch, err)
}

const pollsDo = "without spec.watch, polls find the changes"

// unwatched says why a collection has no change stream; empty if the code means something else.
func (r read) unwatched(code int32) string {
	switch {
	case code == codeStreamsOff:
		return fmt.Sprintf("change streams are not turned on for the collection: run db.adminCommand({modifyChangeStreams: 1, database: %q, collection: %q, enable: true})",
			r.database.Name(), r.collection)
	case noStream[code]:
		return "the server has no change streams: make it a replica set (the setting replication.replSetName; one member is enough)"
	}
	return ""
}

// follow tells of the changes until the stream ends.
func (r read) follow(ctx context.Context, stream *mongo.ChangeStream, hinter *store.Hinter) error {
	for {
		asked := time.Now()
		found, err := next(ctx, stream)
		if err != nil {
			return r.failed("getMore", err)
		}
		if !found && stream.ID() == 0 {
			return &fault.Error{
				Kind: fault.Transient, Operation: "getMore",
				Message: r.hosts + ": the change stream has ended: the collection was dropped or renamed",
			}
		}
		if !found {
			select {
			case <-ctx.Done():
			case <-time.After(time.Until(asked.Add(askEvery))):
			}
			continue
		}
		var e event
		if err := stream.Decode(&e); err != nil {
			return &fault.Error{Kind: fault.Transient, Operation: "getMore", Message: r.hosts + ": the response could not be read"}
		}
		hinter.Add(keysOf(e)...)
	}
}

// next waits for a change for as long as an answer may take.
func next(ctx context.Context, stream *mongo.ChangeStream) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	return stream.TryNext(ctx), stream.Err()
}

// keysOf are those of a change: none if it is one of the whole collection.
func keysOf(e event) []string {
	if len(e.Key) == 0 {
		return nil
	}
	key, err := bson.MarshalExtJSON(e.Key, true, false)
	if err != nil {
		return nil
	}
	return []string{string(key)}
}

// named narrows a filter to the documents with these keys.
func named(filter bson.D, keys []string) (bson.D, error) {
	if keys == nil {
		return filter, nil
	}
	ids := make(bson.A, 0, len(keys))
	for _, key := range keys {
		var document struct {
			ID bson.RawValue `bson:"_id"`
		}
		if err := bson.UnmarshalExtJSON([]byte(key), true, &document); err != nil || document.ID.IsZero() {
			return nil, &fault.Error{Kind: fault.Invalid, Operation: opFind, Message: "a key to read is not the _id of a document"}
		}
		ids = append(ids, document.ID)
	}
	return bson.D{{Key: "$and", Value: bson.A{filter, bson.D{{Key: idField, Value: bson.D{{Key: "$in", Value: ids}}}}}}}, nil
}
