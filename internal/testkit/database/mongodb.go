package database

import (
	"context"
	"errors"
	"maps"
	"net/url"
	"path/filepath"
	"strconv"
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

// mongoServer is a FerretDB, which speaks MongoDB's protocol. It checks no credentials, so the wires
// before it do; see mongodb_access.go.
type mongoServer struct {
	proxies
	address string
	owner   *mongo.Client
}

func (s *mongoServer) start(ctx context.Context, e *Engine) error {
	path, err := asset("ferretdb")
	if err != nil {
		return err
	}
	ports, err := e.processes.Ports(ctx, 1)
	if err != nil {
		return err
	}
	s.address = ports.Address(0)
	if s.owner, err = mongo.Connect(options.Client().ApplyURI(s.ownerURL() + "&serverSelectionTimeoutMS=500")); err != nil {
		return err
	}
	return e.run(ctx, func(ctx context.Context) error { return s.owner.Ping(ctx, nil) }, path,
		"-port", strconv.Itoa(ports[0]), "-dir", filepath.Clean(e.dir))
}

func (s *mongoServer) ownerURL() string {
	return "mongodb://" + s.address + "/?directConnection=true"
}

func (s *mongoServer) close() {
	s.proxies.close()
	if s.owner != nil {
		_ = s.owner.Disconnect(context.Background())
	}
}

func (s *mongoServer) newTable(ctx context.Context, t *Table) (store, error) {
	m := &mongoTable{t: t, database: s.owner.Database(canaryDatabase)}
	m.collection = m.database.Collection(t.name)
	m.allowed.Store(true)
	if err := s.open(ctx, t, s.address, m.filter); err != nil {
		return nil, err
	}
	return m, m.database.CreateCollection(ctx, t.name)
}

type mongoTable struct {
	t          *Table
	database   *mongo.Database
	collection *mongo.Collection
	allowed    atomic.Bool
	// stateRights are those on the state table, if there is one.
	stateRights atomic.Pointer[statesOf]
	changes     changes
}

func (m *mongoTable) query() mapping.Query {
	connection := url.URL{
		Scheme: "mongodb", User: url.UserPassword(m.t.user, m.t.password), Host: m.t.address, Path: "/",
		RawQuery: "authMechanism=PLAIN&directConnection=true",
	}
	return mapping.Query{
		Connection: mapping.NewSecret(connection.String()),
		MongoDB:    mapping.MongoDBQuery{Database: canaryDatabase, Collection: m.t.name},
	}
}

// document is a row with its name as the id, so that it is there once only.
func document(row map[string]any) bson.M {
	out := bson.M(maps.Clone(row))
	if id, ok := out["_key"]; ok {
		delete(out, "_key")
		out["_id"] = id
	} else if name, ok := out["name"]; ok {
		out["_id"] = name
	}
	return out
}

func (m *mongoTable) put(ctx context.Context, rows []map[string]any) error {
	if err := m.write(ctx, rows); err != nil {
		return err
	}
	for _, row := range rows {
		m.changes.tell("replace", document(row)["_id"])
	}
	return nil
}

func (m *mongoTable) write(ctx context.Context, rows []map[string]any) error {
	// The engine finds a document by its id quickly, and by a list of them slowly.
	const few = 100
	if len(rows) <= few {
		for _, row := range rows {
			if err := m.putOne(ctx, document(row)); err != nil {
				return err
			}
		}
		return nil
	}
	return chunks(rows, 5000, func(chunk []map[string]any) error {
		documents, ids := make([]bson.M, len(chunk)), make(bson.A, len(chunk))
		for i, row := range chunk {
			documents[i] = document(row)
			ids[i] = documents[i]["_id"]
		}
		there, err := m.collection.EstimatedDocumentCount(ctx)
		if err == nil && there > 0 {
			_, err = m.collection.DeleteMany(ctx, bson.M{"_id": bson.M{"$in": ids}})
		}
		if err != nil {
			return err
		}
		_, err = m.collection.InsertMany(ctx, documents)
		return err
	})
}

func (m *mongoTable) putOne(ctx context.Context, d bson.M) error {
	id, ok := d["_id"]
	if !ok {
		_, err := m.collection.InsertOne(ctx, d)
		return err
	}
	_, err := m.collection.ReplaceOne(ctx, bson.M{"_id": id}, d, options.Replace().SetUpsert(true))
	return err
}

func (m *mongoTable) remove(ctx context.Context, names []string) error {
	if _, err := m.collection.DeleteMany(ctx, bson.M{"_id": bson.M{"$in": names}}); err != nil {
		return err
	}
	for _, name := range names {
		m.changes.tell("delete", name)
	}
	return nil
}

func (m *mongoTable) truncate(ctx context.Context) error {
	_, err := m.collection.DeleteMany(ctx, bson.M{})
	return err
}

func (m *mongoTable) drop(ctx context.Context) error {
	defer m.changes.tell("drop", nil)
	return m.collection.Drop(ctx)
}

func (m *mongoTable) rename(ctx context.Context, from, to string) error {
	_, err := m.collection.UpdateMany(ctx, bson.M{}, bson.M{"$rename": bson.M{from: to}})
	return err
}

func (m *mongoTable) allow(_ context.Context, allowed bool) error {
	m.allowed.Store(allowed)
	return nil
}

// show shows the real collection, or an empty one instead of it.
func (m *mongoTable) show(ctx context.Context, visible bool) error {
	away := m.t.name + "_all"
	if visible {
		return errors.Join(m.collection.Drop(ctx), m.renameCollection(ctx, away, m.t.name))
	}
	if err := m.renameCollection(ctx, m.t.name, away); err != nil {
		return err
	}
	return m.database.CreateCollection(ctx, m.t.name)
}

func (m *mongoTable) renameCollection(ctx context.Context, from, to string) error {
	command := bson.D{{Key: "renameCollection", Value: canaryDatabase + "." + from}, {Key: "to", Value: canaryDatabase + "." + to}}
	return m.database.Client().Database("admin").RunCommand(ctx, command).Err()
}

func (m *mongoTable) exec(context.Context, string) error { return errNoSQL }

func (m *mongoTable) watch(context.Context) (mapping.Query, error) {
	m.changes.start()
	q := m.query()
	q.Watch = &mapping.Watch{}
	return q, nil
}
