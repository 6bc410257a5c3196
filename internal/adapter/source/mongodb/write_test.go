package mongodb_test

import (
	"fmt"
	"math"
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

// states returns the rows of a source by their keys.
func states(t *testing.T, to statetable.Target) map[string]mapping.Row {
	t.Helper()
	var found collected
	if err := mongodb.New(store.Config{}).Read(t.Context(), to.Reading(mapping.MongoDB), &found); err != nil {
		t.Fatal(err)
	}
	rows := map[string]mapping.Row{}
	for _, row := range found.rows {
		rows[statetable.KeyOf(row)] = row
	}
	return rows
}

func write(t *testing.T, to statetable.Target, changes ...statetable.Change) {
	t.Helper()
	refused, err := mongodb.New(store.Config{}).Write(t.Context(), to, changes)
	if err != nil || len(refused) != 0 {
		t.Fatalf("refused %v, error %v", refused, err)
	}
}

func TestStatesAreReadBackAsTheyWereWritten(t *testing.T) {
	_, to := stateTable(t)
	odd := state(`a "quoted" \ key.with$ 🙂 and 'more'`, math.MaxInt64)
	odd.Message, odd.Ready, odd.Domains, odd.Since = "line\nline\x00 é 🙂 \"'`\\ ☃", false, `[]`, time.Time{}
	empty := statetable.Row{Source: to.Source, Key: "empty"}
	strange := state("strange", 7)
	strange.Domains, strange.CertificateExpires, strange.Generation = "null", time.Unix(1_800_000_000, 0), math.MaxInt64
	want := []statetable.Row{state("plain", 1), odd, empty, strange}
	for range 2 {
		write(t, to, puts(want...)...)
	}
	found := states(t, to)
	if len(found) != len(want) {
		t.Errorf("%d rows, want %d", len(found), len(want))
	}
	for _, row := range want {
		if got := found[row.Key]; statetable.DigestOf(got) != row.Digest() || statetable.VersionOf(got) != row.Version {
			t.Errorf("%q was read back as %v", row.Key, got.Values)
		}
	}
}

func TestALaterStateStays(t *testing.T) {
	_, to := stateTable(t)
	other := to
	other.Source = "c2/shop/customers"
	foreign := state("a", 1)
	foreign.Source = other.Source
	write(t, other, puts(foreign)...)

	later := state("a", math.MaxInt64)
	write(t, to, puts(later, state("b", 5), state("c", 5))...)
	older, newer, same := state("a", math.MaxInt64-1), state("b", 6), state("c", 5)
	older.State, newer.State, same.State = "Older", "Newer", "Same"
	write(t, to, puts(older, newer, same)...)
	write(t, to,
		statetable.Change{Row: state("a", math.MaxInt64-1), Remove: true}, statetable.Change{Row: state("c", 5), Remove: true},
		statetable.Change{Row: state("none", 5), Remove: true})

	got := map[string]string{}
	for key, row := range states(t, to) {
		got[key] = row.Values["state"].(string)
	}
	if diff := cmp.Diff(map[string]string{"a": "Live", "b": "Newer"}, got); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
	if got := states(t, other); statetable.DigestOf(got["a"]) != foreign.Digest() {
		t.Errorf("the row of the other source is %v", got)
	}
}

func TestManyStates(t *testing.T) {
	_, to := stateTable(t)
	var rows []statetable.Row
	for i := range 40 {
		rows = append(rows, state(fmt.Sprint("t", i), int64(i+1)))
	}
	write(t, to, puts(rows...)...)
	slices.Reverse(rows)
	write(t, to, puts(rows...)...)
	if got := len(states(t, to)); got != len(rows) {
		t.Errorf("%d rows", got)
	}
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
	to.Source = ""
	if got := states(t, to); len(got) != 0 {
		t.Errorf("found %v", got)
	}
}

func TestACollectionIsMadeByTheFirstState(t *testing.T) {
	table, to := stateTable(t)
	if err := table.Drop(t.Context()); err != nil {
		t.Fatal(err)
	}
	write(t, to, puts(state("a", 1))...)
	if got := len(states(t, to)); got != 1 {
		t.Errorf("%d rows", got)
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
