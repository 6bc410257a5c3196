package statetable_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
)

var moment = time.Date(2026, 11, 29, 10, 20, 30, 0, time.UTC)

func row() statetable.Row {
	return statetable.Row{
		Source: "cluster/ns/source", Key: "acme", Namespace: "ns", Name: "acme", State: "Ready", Ready: true, Reason: "Ready", Message: "fine",
		Domains: `[{"domain":"a.example","ttl":300}]`, DNSTarget: "d1.cloudfront.net", TenantID: "dt_1", CertificateExpires: moment, Generation: 7,
		Revision: "7", Since: moment, Version: 1<<53 + 1, Updated: moment,
	}
}

// found is the row as a reader hands it out that changes nothing.
func found(r statetable.Row) mapping.Row {
	values := map[string]any{}
	for i, value := range r.Values() {
		values[statetable.Columns[i].Name] = value
	}
	return mapping.Row{Values: values}
}

func TestDigestsOfOneRow(t *testing.T) {
	for name, values := range map[string]map[string]any{
		"as it is":              {},
		"another version":       {"version": int64(3), "updated": moment.Add(time.Hour)},
		"a column of others":    {"mine": "x"},
		"true of MySQL":         {"ready": int64(1)},
		"true as a text":        {"ready": "1"},
		"a word for true":       {"ready": "true"},
		"numbers as texts":      {"generation": "7"},
		"a whole float":         {"generation": 7.0},
		"a document":            {"domains": []any{map[string]any{"ttl": int64(300), "domain": "a.example"}}},
		"a document of bson":    {"domains": []any{map[string]any{"ttl": 300.0, "domain": "a.example"}}},
		"a document in pieces":  {"domains": "[ {\"ttl\": 300,\n\"domain\": \"\\u0061.example\"} ]"},
		"times as texts":        {"since": "2026-11-29T10:20:30Z", "certificate_expires": "2026-11-29T15:20:30+05:00"},
		"times of another zone": {"since": moment.In(time.FixedZone("", 3600))},
		"parts of a second":     {"since": moment.Add(999 * time.Millisecond)},
	} {
		t.Run(name, func(t *testing.T) {
			written, read := row(), found(row())
			maps.Copy(read.Values, values)
			if statetable.DigestOf(read) != written.Digest() {
				t.Errorf("%v counts as a change", values)
			}
		})
	}
}

func TestNoTimeIsNull(t *testing.T) {
	written := row()
	written.Since, written.CertificateExpires = time.Time{}, time.Time{}
	for name, nothing := range map[string]any{"NULL": nil, "an empty text": "", "zero": time.Time{}} {
		read := found(written)
		read.Values["since"], read.Values["certificate_expires"] = nothing, nothing
		if statetable.DigestOf(read) != written.Digest() {
			t.Errorf("%s counts as a change", name)
		}
	}
}

func TestEachColumnCounts(t *testing.T) {
	for _, c := range statetable.Columns {
		read := found(row())
		read.Values[c.Name] = map[statetable.Kind]any{
			statetable.ID: "x", statetable.Text: "x", statetable.Bool: false, statetable.Number: int64(1), statetable.Time: moment.Add(time.Second), statetable.JSON: "[]",
		}[c.Kind]
		written := row()
		counts := c.Name != statetable.ColumnVersion && c.Name != statetable.ColumnUpdated
		if changed := statetable.DigestOf(read) != written.Digest(); changed != counts {
			t.Errorf("a change of %s counts: %v, want %v", c.Name, changed, counts)
		}
	}
}

// Two rows have one digest only if all their texts are the same: no text runs into the next.
func TestDigestsOfTwoRows(t *testing.T) {
	text := rapid.StringMatching(`[a:1 "é]{0,4}`)
	rapid.Check(t, func(t *rapid.T) {
		texts := func(label string) []string { return rapid.SliceOfN(text, 6, 6).Draw(t, label) }
		of := func(texts []string) statetable.Digest {
			r := row()
			r.Key, r.Name, r.State, r.Reason, r.Message, r.Revision = texts[0], texts[1], texts[2], texts[3], texts[4], texts[5]
			return r.Digest()
		}
		one, two := texts("one"), texts("two")
		if (of(one) == of(two)) != slices.Equal(one, two) {
			t.Errorf("%q and %q", one, two)
		}
	})
}

func TestWhatIsReadOfARow(t *testing.T) {
	for _, version := range []any{int64(1<<53 + 1), "9007199254740993"} {
		r := mapping.Row{Values: map[string]any{"version": version, "row_key": "acme", "state": "Gone"}}
		if statetable.VersionOf(r) != 1<<53+1 || statetable.KeyOf(r) != "acme" || !statetable.IsGone(r) {
			t.Errorf("%v: %d %s %v", version, statetable.VersionOf(r), statetable.KeyOf(r), statetable.IsGone(r))
		}
	}
	for _, version := range []any{nil, "x", true, []any{}} {
		if n := statetable.VersionOf(mapping.Row{Values: map[string]any{"version": version}}); n != 0 {
			t.Errorf("the version of %v is %d, want 0", version, n)
		}
	}
	if r := (mapping.Row{}); statetable.KeyOf(r) != "" || statetable.IsGone(r) {
		t.Error("a row without columns has a key or a state")
	}
}

// A row that was condensed compares as the row does.
func TestCondense(t *testing.T) {
	full := mapping.Row{Values: map[string]any{}}
	row := statetable.Row{Source: "c/n/s", Key: "k", Name: "acme", State: statetable.Gone, Version: 7, Message: strings.Repeat("long", 1<<20), Domains: "[]"}
	for i, value := range row.Values() {
		full.Values[statetable.Columns[i].Name] = value
	}
	var got keeps
	if err := statetable.Condense(&got).Row(full); err != nil {
		t.Fatal(err)
	}
	want := statetable.Found{Key: "k", Name: "acme", Version: 7, Gone: true, Digest: row.Digest()}
	for _, r := range []mapping.Row{full, got.row} {
		if diff := cmp.Diff(want, statetable.FoundIn(r)); diff != "" {
			t.Error(diff)
		}
	}
	if size := len(fmt.Sprint(got.row)); size > 300 {
		t.Errorf("a condensed row has %d bytes", size)
	}
}

// keeps is a sink for one row.
type keeps struct{ row mapping.Row }

func (k *keeps) Columns([]mapping.Column) error { return nil }
func (k *keeps) Row(row mapping.Row) error      { k.row = row; return nil }

func TestReading(t *testing.T) {
	to := statetable.Target{Table: "edge[1]", Source: "c/n/s*"}
	to.Columns, to.Keys, to.Watch = []string{"x"}, []string{"y"}, &mapping.Watch{}
	for provider, want := range map[mapping.Provider]string{
		mapping.Redis: `edge\[1\]:c/n/s\*:*`, mapping.MongoDB: `edge[1] {"source": "c/n/s*"}`, mapping.DynamoDB: "edge[1] #source = :source map[:source:c/n/s*] map[#source:source]",
		mapping.Postgres: `source [c/n/s*] ` + statetable.Postgres.Select("edge[1]"), mapping.MySQL: `source [c/n/s*] ` + statetable.MySQL.Select("edge[1]"),
	} {
		q := to.Reading(provider)
		got := map[mapping.Provider]string{
			mapping.Redis: q.Redis.KeyPattern, mapping.MongoDB: q.MongoDB.Collection + " " + q.MongoDB.Filter,
			mapping.DynamoDB: fmt.Sprint(q.DynamoDB.TableName, " ", q.DynamoDB.Filter, " ", q.DynamoDB.Values, " ", q.DynamoDB.Names),
			mapping.Postgres: fmt.Sprint(q.SQL.Key, " ", q.Keys, " ", q.SQL.Query), mapping.MySQL: fmt.Sprint(q.SQL.Key, " ", q.Keys, " ", q.SQL.Query),
		}[provider]
		if got != want || q.Watch != nil || q.Columns != nil {
			t.Errorf("%s: got %s, want %s; %v %v", provider, got, want, q.Watch, q.Columns)
		}
	}
}
