package mongodb_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/mongodb"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
)

// stateTable is an empty collection of the real server that its user may write.
func stateTable(t *testing.T) (*database.Table, statetable.Target) {
	t.Helper()
	table, err := database.Shared(t, mapping.MongoDB).NewTable(t.Context(), database.TableOptions{Writable: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(table.Close)
	return table, statetable.Target{Query: table.Query(), Table: table.Name(), Source: "c1/shop/customers"}
}

func state(key string, version int64) statetable.Row {
	return statetable.Row{
		Source: "c1/shop/customers", Key: key, Namespace: "shop", Name: key, State: "Live", Ready: true, Version: version,
		Domains: `[{"domain": "a.example", "records": [{"ttl": 300, "ok": true, "none": null}]}]`, Since: time.Unix(1_700_000_000, 0), Updated: time.Unix(1_700_000_001, 5e8),
	}
}

func puts(rows ...statetable.Row) []statetable.Change {
	changes := make([]statetable.Change, len(rows))
	for i := range rows {
		changes[i].Row = rows[i]
	}
	return changes
}

func TestACollectionOfOthersIsNotWritten(t *testing.T) {
	table, to := stateTable(t)
	if err := table.Put(t.Context(), map[string]any{"name": "acme"}); err != nil {
		t.Fatal(err)
	}
	refused, err := mongodb.New(store.Config{}).Write(t.Context(), to, puts(state("a", 1)))
	if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "use a collection of its own") || refused != nil {
		t.Errorf("got %v, %v", refused, err)
	}
}

func TestACollectionIsMadeByTheFirstState(t *testing.T) {
	table, to := stateTable(t)
	if err := table.Drop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if refused, err := mongodb.New(store.Config{}).Write(t.Context(), to, puts(state("a", 1))); err != nil || len(refused) != 0 {
		t.Fatalf("refused %v, error %v", refused, err)
	}
	var found collected
	if err := mongodb.New(store.Config{}).Read(t.Context(), to.Reading(mapping.MongoDB), &found); err != nil || len(found.rows) != 1 {
		t.Errorf("error %v, rows %v", err, found.rows)
	}
}

// bulkAnswer is that of a server which refused some of the updates of a command.
func bulkAnswer(refusals ...bson.D) bson.D {
	all := bson.A{}
	for _, r := range refusals {
		all = append(all, r)
	}
	return bson.D{{Key: "ok", Value: 1.0}, {Key: "n", Value: int32(0)}, {Key: "nModified", Value: int32(0)}, {Key: "writeErrors", Value: all}}
}

func refusal(index, code int32, more ...bson.E) bson.D {
	return append(bson.D{{Key: "index", Value: index}, {Key: "code", Value: code}, {Key: "errmsg", Value: "text of canaryuser"}}, more...)
}

func TestWritesThatAreRefused(t *testing.T) {
	ofIndex := func(field string) bson.E {
		return bson.E{Key: "keyPattern", Value: bson.D{{Key: field, Value: int32(1)}}}
	}
	for name, tt := range map[string]struct {
		answer  bson.D
		want    fault.Kind
		text    string
		refused []string
	}{
		"a validator refuses one":        {bulkAnswer(refusal(1, 121)), fault.None, "validator", []string{"b"}},
		"a later row is there":           {bulkAnswer(refusal(0, 11000, ofIndex("_id"))), fault.None, "", nil},
		"a later row is there, in brief": {bulkAnswer(refusal(0, 11000)), fault.None, "", nil},
		"a unique index of others":       {bulkAnswer(refusal(0, 11000, ofIndex("name"))), fault.None, "unique index", []string{"a"}},
		"an unknown code":                {bulkAnswer(refusal(0, 4711)), fault.None, "", []string{"a"}},
		"a primary that steps down":      {bulkAnswer(refusal(0, 11602)), fault.Transient, "connect to the primary", nil},
		"a full disk":                    {bulkAnswer(refusal(0, 14031)), fault.Quota, "disk", nil},
		"too many requests":              {bulkAnswer(refusal(0, 16500)), fault.Throttled, "", nil},
		"a secondary":                    {refuse(10107, "NotWritablePrimary"), fault.Transient, "connect to the primary", nil},
		"no right":                       {refuse(13, "Unauthorized"), fault.Denied, "find, insert, update and remove", nil},
		"a view":                         {refuse(166, "CommandNotSupportedOnView"), fault.Invalid, "use a collection", nil},
		"a lost connection":              {hangUp, fault.Transient, "", nil},
		"a majority that is not there": {bson.D{
			{Key: "ok", Value: 1.0},
			{Key: "n", Value: int32(2)},
			{Key: "writeConcernError", Value: bson.D{{Key: "code", Value: int32(64)}, {Key: "errmsg", Value: "waiting"}}},
		}, fault.Transient, "majority", nil},
	} {
		t.Run(name, func(t *testing.T) {
			var updates int
			s := newServer(t, func(command string, _ bson.Raw) bson.D {
				switch {
				case command == "aggregate":
					return cursor("firstBatch", 0)
				case command != "update":
					return nil
				case updates > 0: // what lost against another row is tried once more
					return bson.D{{Key: "ok", Value: 1.0}, {Key: "n", Value: int32(0)}}
				}
				updates++
				return tt.answer
			})
			to := statetable.Target{Query: s.query(t, ""), Table: "states", Source: "c1/shop/customers"}
			refused, err := mongodb.New(store.Config{}).Write(t.Context(), to, puts(state("a", 1), state("b", 1)))
			if fault.KindOf(err) != tt.want {
				t.Fatalf("got %v (%v), want %v", fault.KindOf(err), err, tt.want)
			}
			told := fmt.Sprint(err)
			var keys []string
			for _, r := range refused {
				keys = append(keys, r.Key)
				told += r.Failure.Error()
			}
			if diff := cmp.Diff(tt.refused, keys); diff != "" || !strings.Contains(told, tt.text) {
				t.Errorf("%s, refused (-want +got):\n%s", told, diff)
			}
			if strings.Contains(told, "canary") {
				t.Errorf("a secret is told: %s", told)
			}
		})
	}
}
