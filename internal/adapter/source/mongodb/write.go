package mongodb

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
)

const opUpdate = "update"

// sample is how many documents are looked at to see whether a collection is that of a source: a look at all of them would cost
// more than the write.
const sample = 1000

// perCommand is how many changes one command makes. FerretDB 1 keeps a connection to its own database for each of them until
// the command ends, has 100 of those, and waits for itself when they are used up.
const perCommand = 25

const codeDuplicateKey = 11000

// answer is what a code means for a write.
type answer struct {
	kind fault.Kind
	text string
}

// answers are for codes that mean something else for a write than for a read. Those of the kind fault.Invalid are about
// one row, the others about all.
var answers = map[int32]answer{
	codeUnauthorized: {fault.Denied, "the user is not allowed to write the collection: grant it find, insert, update and remove on it, " +
		"as \"kubectl cfdt source ddl\" prints"},
	8000:  {fault.Quota, "the service refuses to write, as it does when its storage is full"}, // AtlasError
	12501: {fault.Quota, "the quota of the database is used up"},
	14031: {fault.Quota, "the disk of the server is full"}, // OutOfDiskSpace

	91:    {fault.Transient, stepped}, // ShutdownInProgress
	189:   {fault.Transient, stepped}, // PrimarySteppedDown
	10058: {fault.Transient, stepped}, // LegacyNotPrimary
	10107: {fault.Transient, stepped}, // NotWritablePrimary
	11602: {fault.Transient, stepped}, // InterruptedDueToReplStateChange
	13435: {fault.Transient, stepped}, // NotPrimaryNoSecondaryOk

	64:  {fault.Transient, unacknowledged}, // WriteConcernTimeout
	79:  {fault.Transient, unacknowledged}, // UnknownReplWriteConcern
	100: {fault.Transient, unacknowledged}, // UnsatisfiableWriteConcern

	121:              {fault.Invalid, "the validator of the collection refuses the document: remove it, or let it allow the documents of the operator"},
	166:              {fault.Invalid, "it is a view: use a collection"}, // CommandNotSupportedOnView
	codeDuplicateKey: {fault.Invalid, "a unique index of the collection refuses the document: remove the index"},
	10334:            {fault.Invalid, "the document is too large"}, // BSONObjectTooLarge
}

const (
	stepped        = "the server is not the primary: connect to the primary, or name all members and the replicaSet in the connection string"
	unacknowledged = "a majority of the servers did not acknowledge the write"
)

// Write implements port.States. A majority acknowledges what is written.
func (c *Collections) Write(ctx context.Context, to statetable.Target, changes []statetable.Change) ([]statetable.Refusal, error) {
	ctx, cancel := context.WithTimeout(ctx, store.WriteTimeout)
	defer cancel()
	r, disconnect, err := c.connect(ctx, to.Reading(mapping.MongoDB))
	if err != nil {
		return nil, err
	}
	defer disconnect()
	w := writing{read: r, states: r.database.Collection(to.Table, options.Collection().SetWriteConcern(writeconcern.Majority()))}
	if err := w.check(ctx); err != nil {
		return nil, err
	}
	if err := w.put(ctx, changes); err != nil {
		return nil, err
	}
	return store.Refused(w.refused, len(changes))
}

// writing is one call of Write.
type writing struct {
	read

	states  *mongo.Collection
	refused []statetable.Refusal
}

// check refuses a collection with documents of others. One that is not there is made by the first write.
func (w *writing) check(ctx context.Context) error {
	isNot := func(kind string) bson.D { return bson.D{{Key: "$not", Value: bson.D{{Key: "$type", Value: kind}}}} }
	cursor, err := w.states.Aggregate(ctx, mongo.Pipeline{
		{{Key: "$limit", Value: int64(sample)}},
		{{Key: "$match", Value: bson.D{{Key: "$or", Value: bson.A{
			bson.D{{Key: statetable.ColumnSource, Value: isNot("string")}},
			bson.D{{Key: statetable.ColumnKey, Value: isNot("string")}},
			bson.D{{Key: statetable.ColumnVersion, Value: isNot("number")}},
		}}}}},
		{{Key: "$limit", Value: int64(1)}},
		{{Key: "$project", Value: bson.D{{Key: idField, Value: 1}}}},
	})
	if err != nil {
		return w.failed(opFind, err)
	}
	defer leave(ctx, cursor.Close)
	if cursor.Next(ctx) {
		return fault.New(fault.Invalid, opFind, "the collection %q has documents that are not of the operator: use a collection of its own", w.collection)
	}
	if err := cursor.Err(); err != nil {
		return w.failed(opFind, err)
	}
	return nil
}

// put makes changes, and notes those that are refused. An upsert fails with a duplicate key where a later row is there, or where
// another writer was quicker to insert one: only the row that is there now tells which, so the second try inserts nothing.
func (w *writing) put(ctx context.Context, changes []statetable.Change) error {
	taken, err := w.all(ctx, changes, true)
	if err != nil {
		return err
	}
	_, err = w.all(ctx, taken, false)
	return err
}

// all makes changes in as many commands as it takes, and returns those whose _id was taken. FerretDB 1 stops at the first
// failure of a command that is not ordered, so what follows the last failure is always sent once more.
func (w *writing) all(ctx context.Context, changes []statetable.Change, insert bool) (taken []statetable.Change, err error) {
	for len(changes) > 0 {
		some := changes[:min(len(changes), perCommand)]
		failures, err := w.bulk(ctx, some, insert)
		if err != nil {
			return nil, err
		}
		last := len(some) - 1
		for _, failure := range failures {
			change := changes[failure.Index]
			last = failure.Index
			if isOfKey(failure.WriteError) {
				taken = append(taken, change)
			} else if err := w.refuse(change, failure.WriteError); err != nil {
				return nil, err
			}
		}
		changes = changes[last+1:]
	}
	return taken, nil
}

// bulk makes changes in one command, and returns what went wrong with single ones.
func (w *writing) bulk(ctx context.Context, changes []statetable.Change, insert bool) ([]mongo.BulkWriteError, error) {
	models := make([]mongo.WriteModel, len(changes))
	for i := range changes {
		models[i] = model(&changes[i], insert)
	}
	_, err := w.states.BulkWrite(ctx, models, options.BulkWrite().SetOrdered(false))
	var partial mongo.BulkWriteException
	switch {
	case err == nil:
		return nil, nil
	case !errors.As(err, &partial):
		return nil, w.failed(opUpdate, err)
	case partial.WriteConcernError != nil:
		return nil, w.failed(opUpdate, mongo.CommandError{Code: int32(partial.WriteConcernError.Code), Message: partial.WriteConcernError.Message})
	}
	slices.SortFunc(partial.WriteErrors, func(a, b mongo.BulkWriteError) int { return a.Index - b.Index })
	return partial.WriteErrors, nil
}

// refuse notes that a row is refused. The error is that of a failure that is not about the row.
func (w *writing) refuse(change statetable.Change, said mongo.WriteError) error {
	failure := w.failed(opUpdate, mongo.CommandError{Code: int32(said.Code), Message: said.Message})
	if answer, known := answers[int32(said.Code)]; known && answer.kind != fault.Invalid || failure.Kind == fault.Throttled {
		return failure
	}
	w.refused = append(w.refused, statetable.Refusal{Key: change.Row.Key, Failure: failure})
	return nil
}

// isOfKey reports whether a document with the _id is there, and not one that shares the value of another unique index. A
// server that does not tell which index it was has no other as a rule.
func isOfKey(refusal mongo.WriteError) bool {
	if refusal.Code != codeDuplicateKey {
		return false
	}
	pattern, told := refusal.Raw.Lookup("keyPattern").DocumentOK()
	if !told {
		return true
	}
	_, err := pattern.LookupErr(idField)
	return err == nil
}

// failed turns an error of the driver into a *fault.Error with the words of writes.
func (w *writing) failed(operation string, err error) *fault.Error {
	failure, _ := errors.AsType[*fault.Error](w.read.failed(operation, err))
	var command mongo.CommandError
	if asCommand(causeOf(err), &command) {
		if answer, known := answers[command.Code]; known {
			failure.Kind, failure.Message = answer.kind, w.hosts+": "+answer.text
		}
	}
	return failure
}

// model is a change that the driver makes unless a later row is there.
func model(change *statetable.Change, insert bool) mongo.WriteModel {
	row := &change.Row
	filter := bson.D{
		{Key: idField, Value: bson.D{{Key: statetable.ColumnSource, Value: row.Source}, {Key: statetable.ColumnKey, Value: row.Key}}},
		{Key: statetable.ColumnVersion, Value: bson.D{{Key: "$lte", Value: row.Version}}},
	}
	if change.Remove {
		return mongo.NewDeleteOneModel().SetFilter(filter)
	}
	return mongo.NewUpdateOneModel().SetFilter(filter).SetUpsert(insert).SetUpdate(bson.D{{Key: "$set", Value: fieldsOf(row)}})
}

// fieldsOf are all fields of a row's document but its _id.
func fieldsOf(row *statetable.Row) bson.D {
	fields := make(bson.D, len(statetable.Columns))
	for i, value := range row.Values() {
		switch v := value.(type) {
		case time.Time:
			if v.IsZero() {
				value = nil
			}
		case string:
			if statetable.Columns[i].Kind == statetable.JSON {
				value = structured(v)
			}
		}
		fields[i] = bson.E{Key: statetable.Columns[i].Name, Value: value}
	}
	return fields
}

// structured is a JSON text as the array or document that it is. Any other stays a text.
func structured(text string) any {
	switch value := store.JSON(text).(type) {
	case []any, map[string]any:
		return ordered(value)
	}
	return text
}

// ordered gives documents an order, so that the same text is the same document.
func ordered(value any) any {
	switch v := value.(type) {
	case []any:
		for i := range v {
			v[i] = ordered(v[i])
		}
	case map[string]any:
		document := make(bson.D, 0, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			document = append(document, bson.E{Key: key, Value: ordered(v[key])})
		}
		return document
	}
	return value
}
