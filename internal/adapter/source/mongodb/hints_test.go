package mongodb_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/mongodb"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/rowsuite"
)

// streamID is the cursor of a change stream.
const streamID = int64(7)

// change is an event of a document; nil is one of the whole collection.
func change(operation string, id any) bson.D {
	event := bson.D{{Key: "_id", Value: bson.D{{Key: "_data", Value: "1"}}}, {Key: "operationType", Value: operation}}
	if id != nil {
		event = append(event, bson.E{Key: "documentKey", Value: bson.D{{Key: "_id", Value: id}}})
	}
	return event
}

func TestListenRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		answer script
		kind   fault.Kind
		says   string
	}{
		"a server without a replica set": {refusing("aggregate", 40573, "Location40573"), fault.Invalid, "make it a replica set (the setting replication.replSetName"},
		"a server that knows no streams": {refusing("aggregate", 238, "NotImplemented"), fault.Invalid, "has no change streams"},
		"a DocumentDB whose streams are off": {
			refusing("aggregate", 136, ""), fault.Invalid,
			`run db.adminCommand({modifyChangeStreams: 1, database: "shop", collection: "customers", enable: true})`,
		},
		"a user without the right":          {refusing("aggregate", 13, "Unauthorized"), fault.Denied, "grant it the role read"},
		"a stream that has no memory of it": {refusing("aggregate", 286, "ChangeStreamHistoryLost"), fault.Transient, "could not finish"},
		"a member that is not the primary": {func(command string, _ bson.Raw) bson.D {
			if command == "hello" || command == "isMaster" {
				return hello(false)
			}
			return nil
		}, fault.Transient, "not the primary"},
		"a collection that was dropped": {func(command string, _ bson.Raw) bson.D {
			switch command {
			case "aggregate":
				return cursor("firstBatch", streamID)
			case "getMore":
				return cursor("nextBatch", 0)
			}
			return nil
		}, fault.Transient, "dropped or renamed"},
		"a user whose right is taken away": {func(command string, body bson.Raw) bson.D {
			if command == "aggregate" {
				return cursor("firstBatch", streamID)
			}
			return refusing("getMore", 13, "Unauthorized")(command, body)
		}, fault.Denied, "grant it the role read"},
	} {
		t.Run(name, func(t *testing.T) {
			q := newServer(t, tt.answer).query(t, "")
			q.MongoDB.Database = "shop" // as the spec says, which is no secret
			checkFailure(t, mongodb.New(store.Config{}).Listen(t.Context(), q, rowsuite.NewHinted()), tt.kind, tt.says)
		})
	}
}

// refusing refuses a command.
func refusing(refused string, code int32, name string) script {
	return func(command string, _ bson.Raw) bson.D {
		if command == refused {
			return refuse(code, name)
		}
		return nil
	}
}

// A stream that breaks off is taken up where it was, and what it tells then is a hint.
func TestListenGoesOn(t *testing.T) {
	var opened, resumed atomic.Int64
	s := newServer(t, func(command string, body bson.Raw) bson.D {
		switch command {
		case "aggregate":
			opened.Add(1)
			if _, err := body.LookupErr("pipeline", "0", "$changeStream", "resumeAfter"); err == nil {
				resumed.Add(1)
			}
			return cursor("firstBatch", streamID, change("insert", "before-"+string(rune('0'+opened.Load()))))
		case "getMore":
			if opened.Load() == 1 {
				return hangUp
			}
			return cursor("nextBatch", streamID, change("rename", nil))
		}
		return nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	sink := rowsuite.Listen(ctx, mongodb.New(store.Config{}), s.query(t, ""))
	for told := false; !told; {
		select {
		case keys := <-sink.Keys:
			told = len(keys) == 0
		case err := <-sink.Ended:
			t.Fatalf("the listener ended: %v", err)
		}
	}
	if opened.Load() != 2 || resumed.Load() != 1 {
		t.Errorf("the stream was opened %d times, and taken up %d times, want 2 and 1", opened.Load(), resumed.Load())
	}
	cancel()
	if err := <-sink.Ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the listener ended with %v", err)
	}
}

// An engine that is no replica set says so.
func TestListenToAnEngineWithoutStreams(t *testing.T) {
	err := mongodb.New(store.Config{}).Listen(t.Context(), newTable(t).Query(), rowsuite.NewHinted())
	checkFailure(t, err, fault.Invalid, "replica set")
}

// Every kind of _id is read by the key that the stream tells.
func TestKeysOfEveryKind(t *testing.T) {
	for name, id := range map[string]any{
		"a text": "a", "a text that looks like another kind": `{"$oid": "x"}`, "an object ID": bson.NewObjectID(), "an integer": int32(7),
		"a long integer": int64(7), "a double": 7.5, "a UUID": bson.Binary{Subtype: bson.TypeBinaryUUID, Data: make([]byte, 16)},
		"a document": bson.D{{Key: "b", Value: int32(1)}, {Key: "a", Value: "x"}}, "a truth": true,
	} {
		t.Run(name, func(t *testing.T) {
			var asked bson.RawValue
			s := newServer(t, func(command string, body bson.Raw) bson.D {
				switch command {
				case "aggregate":
					return cursor("firstBatch", streamID, change("update", id))
				case "getMore":
					return cursor("nextBatch", streamID)
				case "find":
					asked = body.Lookup("filter", "$and", "1", "_id", "$in", "0")
				}
				return nil
			})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			sink := rowsuite.Listen(ctx, mongodb.New(store.Config{}), s.query(t, ""))
			q := s.query(t, "")
			q.Keys = <-sink.Keys
			cancel()
			if err := <-sink.Ended; err == nil {
				t.Error("a listener that was told to stop has reported no error")
			}
			if err := mongodb.New(store.Config{}).Read(t.Context(), q, &collected{}); err != nil {
				t.Fatal(err)
			}
			kind, data, err := bson.MarshalValue(id)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(bson.RawValue{Type: kind, Value: data}.String(), asked.String()); diff != "" || asked.Type != kind {
				t.Errorf("the read asked for (-want +got):\n%s", diff)
			}
		})
	}
	q := newServer(t, func(string, bson.Raw) bson.D { return nil }).query(t, "")
	for _, key := range []string{"", "a", "{}", `{"_id": }`, `{"name": "a"}`} {
		q.Keys = []string{key}
		if err := mongodb.New(store.Config{}).Read(t.Context(), q, &collected{}); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q is a key: %v", key, err)
		}
	}
}
