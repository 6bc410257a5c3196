package mongodb_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/mongodb"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
)

func read(ctx context.Context, q mapping.Query) (*collected, error) {
	var got collected
	err := mongodb.New(store.Config{}).Read(ctx, q, &got)
	return &got, err
}

// checkFailure looks at what all failures have in common.
func checkFailure(t *testing.T, err error, kind fault.Kind, says string) {
	t.Helper()
	if !fault.Is(err, kind) || err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("got %v (%v), want %v that says %q", fault.KindOf(err), err, kind, says)
	}
	for e := err; e != nil; e = errors.Unwrap(e) {
		if strings.Contains(fmt.Sprintf("%v %+v", e, e), "canary") {
			t.Errorf("a secret is in %v", e)
		}
	}
}

func newTable(t *testing.T, rows ...map[string]any) *database.Table {
	t.Helper()
	table, err := database.Shared(t, mapping.MongoDB).NewTable(t.Context(), database.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := table.Put(t.Context(), rows...); err != nil {
		t.Fatal(err)
	}
	return table
}

func TestWhatIsFound(t *testing.T) {
	table := newTable(t, map[string]any{"name": "a", "plan": "pro", "slug": "x"}, map[string]any{"name": "b", "plan": "free", "slug": "y"})
	for name, tt := range map[string]struct {
		filter  string
		columns []string
		want    []mapping.Row
	}{
		"a filter": {`{"plan": {"$in": ["pro"]}}`, nil, []mapping.Row{{Key: "a", Values: map[string]any{"_id": "a", "name": "a", "plan": "pro", "slug": "x"}}}},
		"some columns": {`{"plan": "free"}`, []string{"slug", "name", "slug", "absent"}, []mapping.Row{
			{Key: "b", Values: map[string]any{"_id": "b", "name": "b", "slug": "y"}},
		}},
		"a column that no projection can name": {`{"plan": "free"}`, []string{"a.b"}, []mapping.Row{
			{Key: "b", Values: map[string]any{"_id": "b", "name": "b", "plan": "free", "slug": "y"}},
		}},
		"nothing": {`{"plan": "none"}`, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			q := table.Query()
			q.MongoDB.Filter, q.Columns = tt.filter, tt.columns
			got, err := read(t.Context(), q)
			if diff := cmp.Diff(tt.want, got.rows); diff != "" || err != nil {
				t.Errorf("error %v, rows (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestFailuresOfARealServer(t *testing.T) {
	table := newTable(t, map[string]any{"name": "a"})
	for name, tt := range map[string]struct {
		change func(*mapping.Query)
		want   fault.Kind
		says   string
	}{
		"another collection": {func(q *mapping.Query) { q.MongoDB.Collection = "absent" }, fault.NotFound, `no collection "absent"`},
		"another database":   {func(q *mapping.Query) { q.MongoDB.Database = "absent" }, fault.NotFound, "no collection"},
		"an operator that is none": {
			func(q *mapping.Query) { q.MongoDB.Filter = `{"plan": {"$nosuch": 1}}` }, fault.Invalid, "$nosuch",
		},
		"a wrong password": {func(q *mapping.Query) {
			text := q.Connection.Reveal()
			q.Connection = mapping.NewSecret(strings.Replace(text, "@", "x@", 1))
		}, fault.Denied, "rejects the user name or password"},
	} {
		t.Run(name, func(t *testing.T) {
			q := table.Query()
			tt.change(&q)
			_, err := read(t.Context(), q)
			checkFailure(t, err, tt.want, tt.says)
		})
	}
}

func TestFailures(t *testing.T) {
	always := func(which string, answer bson.D) script {
		return func(command string, _ bson.Raw) bson.D {
			if command == which {
				return answer
			}
			return nil
		}
	}
	// endless is a cursor whose next batch is something else.
	endless := func(next bson.D) script {
		return func(command string, _ bson.Raw) bson.D {
			switch command {
			case "find":
				return cursor("firstBatch", 7, bson.D{{Key: "_id", Value: "a"}})
			case "getMore":
				return next
			}
			return nil
		}
	}
	for name, tt := range map[string]struct {
		answer script
		want   fault.Kind
		says   string
	}{
		"a secondary that is named alone": {func(command string, body bson.Raw) bson.D {
			if command == "hello" || command == "isMaster" {
				return hello(false)
			}
			return nil
		}, fault.Transient, "not the primary"},
		"a user that may not read":                {always("find", refuse(13, "Unauthorized")), fault.Denied, "grant it the role read"},
		"a cursor that was killed":                {endless(refuse(43, "CursorNotFound")), fault.Transient, "getMore: CursorNotFound"},
		"a collection that was dropped meanwhile": {endless(refuse(175, "QueryPlanKilled")), fault.Transient, "QueryPlanKilled"},
		"a user that lost its rights meanwhile":   {endless(refuse(13, "Unauthorized")), fault.Denied, "getMore"},
		"a connection that is lost":               {endless(hangUp), fault.Transient, "the connection was lost"},
		"a read that takes too long":              {always("find", refuse(50, "MaxTimeMSExpired")), fault.Transient, "MaxTimeMSExpired"},
		"a collection that is gone in the end":    {always("listCollections", cursor("firstBatch", 0)), fault.NotFound, "no collection"},
		"too many requests":                       {always("find", refuse(16500, "TooManyRequests")), fault.Throttled, "temporarily unavailable"},
		"a query whose refusal tells a secret":    {always("find", refuse(2, "BadValue")), fault.Invalid, "rejects the query"},
		"a feature that DocumentDB lacks":         {always("find", refuse(303, "Location303")), fault.Invalid, "rejects the query"},
		"a server that is too old": {func(command string, _ bson.Raw) bson.D {
			if command == "hello" || command == "isMaster" {
				return spoken(hello(true), 7)
			}
			return nil
		}, fault.Invalid, "wire version 7: MongoDB 4.4 or later, or DocumentDB 5.0 or later, is required"},
		"a code that is none": {always("find", refuse(4711, "ca nary")), fault.Transient, "Code4711"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := read(t.Context(), newServer(t, tt.answer).query(t, ""))
			checkFailure(t, err, tt.want, tt.says)
		})
	}
}

// A server that does not know what a majority has reports it, and is then asked for what it has.
func TestReadConcern(t *testing.T) {
	for name, tt := range map[string]struct {
		refusal bson.D
		finds   []string
	}{
		"a server with majorities":    {nil, []string{"majority"}},
		"a server without the engine": {refuse(148, "ReadConcernMajorityNotEnabled"), []string{"majority", ""}},
		"a server that has none":      {refuse(238, "NotImplemented"), []string{"majority", ""}},
		"a DocumentDB":                {refuse(303, "Location303"), []string{"majority", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			var levels []string
			s := newServer(t, func(command string, body bson.Raw) bson.D {
				if command != "find" {
					return nil
				}
				level, _ := body.Lookup("readConcern", "level").StringValueOK()
				levels = append(levels, level)
				if level == "majority" {
					return tt.refusal
				}
				return nil
			})
			got, err := read(t.Context(), s.query(t, ""))
			if diff := cmp.Diff(tt.finds, levels); diff != "" || err != nil || len(got.rows) != 1 {
				t.Errorf("%d rows, error %v, finds (-want +got):\n%s", len(got.rows), err, diff)
			}
		})
	}
}

// The server learns how long it may take, and nothing that would let it answer in part.
func TestWhatIsAsked(t *testing.T) {
	var names []string
	s := newServer(t, func(command string, body bson.Raw) bson.D {
		if command != "find" {
			return nil
		}
		elements, err := body.Elements()
		if err != nil {
			t.Error(err)
		}
		for _, e := range elements {
			names = append(names, e.Key())
		}
		if limit := body.Lookup("maxTimeMS").AsInt64(); limit <= 0 || limit > 60_000 {
			t.Errorf("maxTimeMS %d", limit)
		}
		return nil
	})
	err := mongodb.New(store.Config{Timeout: time.Minute}).Read(t.Context(), s.query(t, ""), &collected{})
	if err != nil || slices.Contains(names, "allowPartialResults") || slices.Contains(names, "limit") {
		t.Errorf("error %v, asked with %v", err, names)
	}
}

// A user that may not list collections is believed.
func TestWhoMayNotList(t *testing.T) {
	for name, refusal := range map[string]bson.D{
		"a user without the right":          refuse(13, "Unauthorized"),
		"a DocumentDB that knows no option": refuse(303, "Location303"),
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, func(command string, _ bson.Raw) bson.D {
				if command == "listCollections" {
					return refusal
				}
				return nil
			})
			if got, err := read(t.Context(), s.query(t, "")); err != nil || len(got.rows) != 1 {
				t.Errorf("%d rows, error %v", len(got.rows), err)
			}
		})
	}
}

func many(n int) []map[string]any {
	rows := make([]map[string]any, n)
	for i := range rows {
		rows[i] = map[string]any{"name": fmt.Sprintf("tenant-%05d", i)}
	}
	return rows
}

func TestAReadThatIsCut(t *testing.T) {
	table := newTable(t, many(3000)...)
	sink := &collected{}
	sink.each = func() {
		if len(sink.rows) == 1 {
			table.Wire().CutAfter(100)
		}
	}
	err := mongodb.New(store.Config{}).Read(t.Context(), table.Query(), sink)
	checkFailure(t, err, fault.Transient, "the connection was lost")
}

func TestACancelledReadEndsAtOnce(t *testing.T) {
	table := newTable(t, many(3000)...)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	sink := &collected{}
	sink.each = func() {
		if len(sink.rows) == 1 {
			table.Wire().HangAfter(100)
			time.AfterFunc(50*time.Millisecond, cancel)
		}
	}
	err := mongodb.New(store.Config{}).Read(ctx, table.Query(), sink)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	checkFailure(t, err, fault.Transient, "cancelled")
}

func TestTheSinkEndsTheRead(t *testing.T) {
	sink := &collected{refuse: errors.New("enough"), after: 1}
	err := mongodb.New(store.Config{}).Read(t.Context(), newTable(t, many(5)...).Query(), sink)
	if !errors.Is(err, sink.refuse) || len(sink.rows) != 1 {
		t.Errorf("error %v after %d rows", err, len(sink.rows))
	}
}

func TestNobodyListens(t *testing.T) {
	s := newServer(t, nil)
	if err := s.listener.Close(); err != nil {
		t.Fatal(err)
	}
	q := s.query(t, "")
	q.Connection = mapping.NewSecret(strings.Replace(q.Connection.Reveal(), "://", "://"+canaryUser+":"+canaryPassword+"@", 1))
	begin := time.Now()
	_, err := read(t.Context(), q)
	checkFailure(t, err, fault.Transient, "refused the connection")
	if took := time.Since(begin); took > 15*time.Second {
		t.Errorf("took %v", took)
	}
}
