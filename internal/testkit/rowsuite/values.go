package rowsuite

import (
	"encoding/json"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
)

// unsupported stands for whatever words an adapter finds.
const unsupported = mapping.Unsupported("any")

func (s *suite) values() map[string]func(*testing.T) {
	tests := map[string]func(*testing.T){
		"a row arrives with its values":           func(t *testing.T) { s.testRow(t, false) },
		"what is NULL or absent is nil or absent": func(t *testing.T) { s.testAbsent(t, false) },
		"all types arrive in their plain form":    func(t *testing.T) { s.testTypes(t, false) },
		"text arrives as it was written":          s.testText,
		"only the columns in use are needed":      s.testColumns,
	}
	if s.is(mapping.Redis) {
		tests["a JSON value arrives with its values"] = func(t *testing.T) { s.testRow(t, true) }
		tests["what is null or absent in a JSON value is nil or absent"] = func(t *testing.T) { s.testAbsent(t, true) }
		tests["all types of JSON arrive in their plain form"] = func(t *testing.T) { s.testTypes(t, true) }
	}
	return tests
}

func (s *suite) testRow(t *testing.T, json bool) {
	row := map[string]any{
		"name": "acme", "domain": "acme.example.net", "enabled": true, "connection_group_id": "cg_1", "plan": "pro", "slug": "a-c-m-e",
	}
	off := maps.Clone(row)
	off["name"], off["enabled"] = "off", false
	table := s.newTable(t, database.TableOptions{JSON: json}, row, off)
	got := s.mustRead(t, table, table.Query())

	want := map[string]map[string]any{"acme": maps.Clone(row), "off": maps.Clone(off)}
	if s.is(mapping.Redis) && !json { // a hash holds texts
		want["acme"]["enabled"], want["off"]["enabled"] = "true", "false"
	}
	have := map[string]map[string]any{}
	for _, r := range got.rows {
		values := maps.Clone(r.Values)
		delete(values, "_id") // a document's own
		name := fmt.Sprint(values["name"])
		have[name] = values
		wantKey := map[mapping.Provider]string{mapping.Redis: "customer:" + name, mapping.MongoDB: name}[s.engine.Provider()]
		if r.Key != wantKey {
			t.Errorf("the key of %s is %q, want %q", name, r.Key, wantKey)
		}
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if s.sql() {
		want := []mapping.Column{
			{Name: "name", Type: mapping.TypeString}, {Name: "domain", Type: mapping.TypeString}, {Name: "enabled", Type: mapping.TypeBoolean},
			{Name: "connection_group_id", Type: mapping.TypeString}, {Name: "plan", Type: mapping.TypeString}, {Name: "slug", Type: mapping.TypeString},
		}
		if diff := cmp.Diff(want, got.columns); diff != "" {
			t.Errorf("columns (-want +got):\n%s", diff)
		}
	}
}

func (s *suite) testAbsent(t *testing.T, json bool) {
	table := s.newTable(t, database.TableOptions{JSON: json}, map[string]any{"name": "acme", "domain": "acme.example.net", "plan": nil})
	got := s.mustRead(t, table, table.Query())
	if len(got.rows) != 1 {
		t.Fatalf("%d rows, want 1", len(got.rows))
	}
	for _, column := range []string{"enabled", "connection_group_id", "plan", "slug"} {
		if value := got.rows[0].Values[column]; value != nil {
			t.Errorf("%s is %#v, want nil", column, value)
		}
	}
}

func (s *suite) testText(t *testing.T) {
	texts := map[string]string{
		"umlaut": "Bücher & Söhne", "kanji": "顧客", "emoji": "🚀 and 👩‍👩‍👧", "combining": "e\u0301", "quotes": `'"` + "`" + `\%_;--`,
		"lines": "one\ntwo\r\n\tthree", "blanks": "  around  ", "empty": "", "null": "NULL", "number": "007", "rtl": "\u202eabc",
	}
	var rows []map[string]any
	want := map[string]any{}
	for name, text := range texts {
		rows = append(rows, map[string]any{"name": name, "domain": "d", "plan": text})
		want[name] = text
	}
	table := s.newTable(t, database.TableOptions{}, rows...)
	if diff := cmp.Diff(want, s.mustRead(t, table, table.Query()).values("plan")); diff != "" {
		t.Errorf("plan by name (-want +got):\n%s", diff)
	}
}

func (s *suite) testColumns(t *testing.T) {
	table := s.newTable(t, database.TableOptions{}, customers(3)...)
	q := table.Query()
	q.Columns = []string{"name", "plan"}
	got := s.mustRead(t, table, q)
	exactlyOnce(t, got, customers(3))
	if diff := cmp.Diff(map[string]any{"customer-00000": "pro", "customer-00001": "pro", "customer-00002": "pro"}, got.values("plan")); diff != "" {
		t.Errorf("plan by name (-want +got):\n%s", diff)
	}
}

// testTypes compares the values of one row.
func (s *suite) testTypes(t *testing.T, json bool) {
	table := s.newTable(t, database.TableOptions{JSON: json})
	q := table.Query()
	var want map[string]any
	switch {
	case json:
		want = s.putJSON(t, table)
	case s.is(mapping.Postgres):
		q.SQL.Query, want = postgresTypes()
	case s.is(mapping.MySQL):
		q.SQL.Query, want = mysqlTypes()
	case s.is(mapping.MongoDB):
		want = s.putDocument(t, table)
	case s.is(mapping.DynamoDB):
		want = s.putItem(t, table)
	default:
		want = map[string]any{"name": "n", "number": "12.50", "boolean": "true", "json": `{"a":1}`}
		must(t, table.Put(t.Context(), want))
	}
	got := s.mustRead(t, table, q)
	if len(got.rows) != 1 {
		t.Fatalf("%d rows, want 1", len(got.rows))
	}
	have := got.rows[0].Values
	delete(have, "_id")
	for name, value := range have {
		if _, ok := value.(mapping.Unsupported); ok {
			have[name] = unsupported
		}
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}

var moment = time.Date(2026, 11, 21, 10, 30, 0, 0, time.UTC)

func postgresTypes() (query string, want map[string]any) {
	return `SELECT 'n'::text AS name, 'v'::varchar(9) AS varying, 1::int2 AS small, 2::int8 AS big, 1.5::float8 AS float, 12.50::numeric AS decimal,
			3::numeric AS whole, 12345678901234567890::numeric AS huge, false AS boolean, NULL::text AS nothing,
			'2026-11-21 12:30:00+02'::timestamptz AS moment, '{"a": [1, "b", null, 2.5]}'::jsonb AS document,
			ARRAY['a', 'b'] AS list, ARRAY[1, 2]::int4[] AS numbers, '\x00ff'::bytea AS bytes,
			'0e37df36-f698-11e6-8dd4-cb9ced3df976'::uuid AS uuid`, map[string]any{
			"name": "n", "varying": "v", "small": int64(1), "big": int64(2), "float": 1.5, "decimal": 12.5, "whole": int64(3),
			"huge": "12345678901234567890", "boolean": false, "nothing": nil, "moment": moment,
			"document": map[string]any{"a": []any{int64(1), "b", nil, 2.5}}, "list": []any{"a", "b"}, "numbers": []any{int64(1), int64(2)},
			"bytes": unsupported, "uuid": "0e37df36-f698-11e6-8dd4-cb9ced3df976",
		}
}

func mysqlTypes() (query string, want map[string]any) {
	return `SELECT 'n' AS name, CAST(2 AS SIGNED) AS big, CAST(18446744073709551615 AS UNSIGNED) AS huge, 1.5e0 AS ` + "`float`" + `,
			CAST(12.50 AS DECIMAL(9,2)) AS ` + "`decimal`" + `, NULL AS nothing, CAST('2026-11-21 10:30:00' AS DATETIME) AS moment,
			CAST('2026-11-21' AS DATE) AS day, x'00ff' AS bytes`, map[string]any{
			"name": "n", "big": int64(2), "huge": "18446744073709551615", "float": 1.5, "decimal": 12.5, "nothing": nil,
			"moment": moment, "day": "2026-11-21", "bytes": unsupported,
		}
}

func (s *suite) putDocument(t *testing.T, table *database.Table) map[string]any {
	id := bson.NewObjectIDFromTimestamp(moment)
	must(t, table.Put(t.Context(), map[string]any{
		"name": "n", "small": int32(1), "big": int64(2), "double": 1.5, "boolean": false, "nothing": nil, "moment": bson.NewDateTimeFromTime(moment),
		"id": id, "list": bson.A{"a", int32(1), bson.M{"b": true}}, "document": bson.M{"a": bson.A{}}, "bytes": bson.Binary{Data: []byte{0, 255}},
	}))
	return map[string]any{
		"name": "n", "small": int64(1), "big": int64(2), "double": 1.5, "boolean": false, "nothing": nil, "moment": moment,
		"id": id.Hex(), "list": []any{"a", int64(1), map[string]any{"b": true}}, "document": map[string]any{"a": []any{}}, "bytes": unsupported,
	}
}

func (s *suite) putItem(t *testing.T, table *database.Table) map[string]any {
	text := func(value string) types.AttributeValue { return &types.AttributeValueMemberS{Value: value} }
	number := func(value string) types.AttributeValue { return &types.AttributeValueMemberN{Value: value} }
	must(t, table.Put(t.Context(), map[string]any{
		"name": "n", "whole": number("3"), "float": number("12.50"), "huge": number("12345678901234567890123"), "boolean": false,
		"nothing": &types.AttributeValueMemberNULL{Value: true},
		"list":    &types.AttributeValueMemberL{Value: []types.AttributeValue{text("a"), number("1")}},
		"object":  &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"b": text("c")}},
		"set":     &types.AttributeValueMemberSS{Value: []string{"only"}}, "numbers": &types.AttributeValueMemberNS{Value: []string{"7"}},
		"bytes": &types.AttributeValueMemberB{Value: []byte{0, 255}},
	}))
	return map[string]any{
		"name": "n", "whole": int64(3), "float": 12.5, "huge": "12345678901234567890123", "boolean": false, "nothing": nil,
		"list": []any{"a", int64(1)}, "object": map[string]any{"b": "c"}, "set": []any{"only"}, "numbers": []any{int64(7)}, "bytes": unsupported,
	}
}

func (s *suite) putJSON(t *testing.T, table *database.Table) map[string]any {
	must(t, table.Put(t.Context(), map[string]any{
		"name": "n", "whole": 3, "float": 12.5, "huge": json.Number("12345678901234567890123"), "boolean": false, "nothing": nil,
		"list": []any{"a", 1}, "object": map[string]any{"b": []any{}},
	}))
	return map[string]any{
		"name": "n", "whole": int64(3), "float": 12.5, "huge": "12345678901234567890123", "boolean": false, "nothing": nil,
		"list": []any{"a", int64(1)}, "object": map[string]any{"b": []any{}},
	}
}
