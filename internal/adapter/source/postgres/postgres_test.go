package postgres_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/postgres"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
)

func TestMain(m *testing.M) { os.Exit(database.RunTests(m)) }

// sink keeps what it is given.
type sink struct {
	columns []mapping.Column
	rows    []mapping.Row
}

func (s *sink) Columns(columns []mapping.Column) error {
	s.columns = columns
	return nil
}

func (s *sink) Row(row mapping.Row) error {
	s.rows = append(s.rows, row)
	return nil
}

func newTable(t *testing.T, o database.TableOptions) *database.Table {
	t.Helper()
	table, err := database.Shared(t, mapping.Postgres).NewTable(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func query(table *database.Table, statement string) mapping.Query {
	q := table.Query()
	q.SQL.Query = statement
	return q
}

func read(t *testing.T, table *database.Table, statement string) (*sink, error) {
	t.Helper()
	s := &sink{}
	err := postgres.New(store.Config{Timeout: 20 * time.Second}).Read(t.Context(), query(table, statement), s)
	expectNoSecret(t, err)
	return s, err
}

func expectNoSecret(t *testing.T, err error) {
	t.Helper()
	for ; err != nil; err = errors.Unwrap(err) {
		if text := fmt.Sprintf("%v %+v %#v", err, err, err); strings.Contains(strings.ToLower(text), database.Canary) {
			t.Errorf("the failure tells a secret: %s", text)
		}
	}
}

func TestValues(t *testing.T) {
	table := newTable(t, database.TableOptions{})
	types := table.Name()
	if err := table.Exec(t.Context(), fmt.Sprintf(`
		CREATE TYPE %[1]s_plan AS ENUM ('free', 'pro');
		CREATE DOMAIN %[1]s_slug AS text CHECK (VALUE <> '');
		CREATE DOMAIN %[1]s_level AS int;
		CREATE TYPE %[1]s_pair AS (a int, b text)`, types)); err != nil {
		t.Fatal(err)
	}
	instant := time.Date(2026, 11, 21, 11, 28, 40, 123456000, time.UTC)
	for expression, want := range map[string]struct {
		kind  mapping.Type
		value any
	}{
		"NULL":                          {mapping.TypeString, nil},
		"'é 😀'::text":                   {mapping.TypeString, "é 😀"},
		"'a'::char(3)":                  {mapping.TypeString, "a  "},
		"'x'::name":                     {mapping.TypeString, "x"},
		"true":                          {mapping.TypeBoolean, true},
		"false":                         {mapping.TypeBoolean, false},
		"NULL::bool":                    {mapping.TypeBoolean, nil},
		"1::smallint":                   {mapping.TypeNumber, int64(1)},
		"-9223372036854775808":          {mapping.TypeNumber, int64(-9223372036854775808)},
		"9223372036854775807":           {mapping.TypeNumber, int64(9223372036854775807)},
		"9223372036854775808::numeric":  {mapping.TypeNumber, "9223372036854775808"},
		"7.00::numeric":                 {mapping.TypeNumber, int64(7)},
		"1.10::numeric":                 {mapping.TypeNumber, 1.1},
		"'NaN'::numeric":                {mapping.TypeNumber, "NaN"},
		"1.1::float4":                   {mapping.TypeNumber, 1.1},
		"5::float8":                     {mapping.TypeNumber, 5.0},
		"'-Infinity'::float8":           {mapping.TypeNumber, "-Infinity"},
		"'3.50'::money":                 {mapping.TypeString, "$3.50"},
		"'{\"a\":[1,0.5,null]}'::jsonb": {mapping.TypeObject, map[string]any{"a": []any{int64(1), 0.5, nil}}},
		"'[1]'::json":                   {mapping.TypeObject, []any{int64(1)}},
		"'null'::json":                  {mapping.TypeObject, nil},
		"'{}'::text[]":                  {mapping.TypeList, []any{}},
		"ARRAY['a,b','\"',NULL]":        {mapping.TypeList, []any{"a,b", `"`, nil}},
		"ARRAY[[1,2],[3,4]]":            {mapping.TypeList, []any{[]any{int64(1), int64(2)}, []any{int64(3), int64(4)}}},
		"ARRAY[true]":                   {mapping.TypeList, []any{true}},
		"ARRAY['{\"a\":1}'::jsonb]":     {mapping.TypeList, []any{map[string]any{"a": int64(1)}}},
		"ARRAY['\\x00'::bytea]":         {mapping.TypeList, []any{mapping.Unsupported("bytea")}},
		"'1 2'::int2vector":             {mapping.TypeString, "1 2"},
		"'2026-11-21 12:28:40.123456+01'::timestamptz": {mapping.TypeTime, instant},
		"'2026-11-21 11:28:40.123456'::timestamp":      {mapping.TypeTime, instant},
		"'infinity'::timestamptz":                      {mapping.TypeTime, "infinity"},
		"'2026-11-21'::date":                           {mapping.TypeString, "2026-11-21"},
		"'11:28'::time":                                {mapping.TypeString, "11:28:00"},
		"'1 day'::interval":                            {mapping.TypeString, "1 day"},
		"'\\xff'::bytea":                               {mapping.TypeOther, mapping.Unsupported("bytea")},
		"'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid": {mapping.TypeString, "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"},
		"'10.0.0.1'::inet":                             {mapping.TypeString, "10.0.0.1"},
		"'[1,3)'::int4range":                           {mapping.TypeString, "[1,3)"},
		"'pro'::" + types + "_plan":                    {mapping.TypeString, "pro"},
		"ARRAY['pro'::" + types + "_plan]":             {mapping.TypeList, []any{"pro"}},
		"'acme'::" + types + "_slug":                   {mapping.TypeString, "acme"},
		"3::" + types + "_level":                       {mapping.TypeNumber, int64(3)},
		"ARRAY[3::" + types + "_level]":                {mapping.TypeList, []any{int64(3)}},
		"(1, 'a')::" + types + "_pair":                 {mapping.TypeString, "(1,a)"},
	} {
		t.Run(expression, func(t *testing.T) {
			got, err := read(t, table, "SELECT "+expression+" AS v")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]mapping.Column{{Name: "v", Type: want.kind}}, got.columns); diff != "" {
				t.Errorf("columns (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]mapping.Row{{Values: map[string]any{"v": want.value}}}, got.rows); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
		})
	}
}

// The reader of this table may write; the adapter does not.
func TestNothingIsWritten(t *testing.T) {
	table := newTable(t, database.TableOptions{Writable: true})
	name := table.Name()
	if err := table.Exec(t.Context(), fmt.Sprintf(`
		CREATE FUNCTION %[1]s_empty() RETURNS int LANGUAGE sql AS 'DELETE FROM %[1]s; SELECT 1';
		CREATE FUNCTION %[1]s_definer() RETURNS int LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN DELETE FROM %[1]s; RETURN 1; END $$;
		CREATE FUNCTION %[1]s_unlock() RETURNS int LANGUAGE plpgsql AS $$ BEGIN
			PERFORM set_config('transaction_read_only', 'off', false); DELETE FROM %[1]s; RETURN 1; END $$;
		CREATE PROCEDURE %[1]s_commit(INOUT a int) LANGUAGE plpgsql AS $$ BEGIN COMMIT; DELETE FROM %[1]s; END $$;
		CREATE SEQUENCE %[1]s_sequence`, name)); err != nil {
		t.Fatal(err)
	}
	if err := table.Put(t.Context(), map[string]any{"name": "a"}); err != nil {
		t.Fatal(err)
	}
	for what, statement := range map[string]string{
		"a second statement":                     "SELECT name FROM %s; DELETE FROM %[1]s",
		"the end of the transaction":             "COMMIT; DELETE FROM %s",
		"only the end of the transaction":        "COMMIT",
		"a deletion":                             "DELETE FROM %s",
		"a deletion that returns rows":           "DELETE FROM %s RETURNING name",
		"a common table expression that deletes": "WITH d AS (DELETE FROM %s RETURNING name) SELECT name FROM d",
		"a function that deletes":                "SELECT %s_empty()",
		"one with the rights of its owner":       "SELECT %s_definer()",
		"one that wants to write":                "SELECT %s_unlock()",
		"a procedure that commits":               "CALL %s_commit(1)",
		"a block":                                "DO $$ BEGIN COMMIT; DELETE FROM %s; END $$",
		"locks on rows":                          "SELECT name FROM %s FOR UPDATE",
		"a sequence":                             "SELECT nextval('%s_sequence')",
		"a copy":                                 "COPY %s TO STDOUT",
		"a truncation":                           "TRUNCATE %s",
		"a table":                                "SELECT 1 AS a INTO %s_new",
		"a statement that is explained":          "EXPLAIN ANALYZE DELETE FROM %s",
	} {
		t.Run(what, func(t *testing.T) {
			if strings.Contains(statement, "%") {
				statement = fmt.Sprintf(statement, name)
			}
			_, err := read(t, table, statement)
			if !fault.Is(err, fault.Invalid, fault.Denied) {
				t.Errorf("got %v", err)
			}
			left, err := read(t, table, "SELECT name FROM "+name)
			if err != nil || len(left.rows) != 1 {
				t.Errorf("%d rows are left, %v", len(left.rows), err)
			}
		})
	}
}

func TestFailures(t *testing.T) {
	table := newTable(t, database.TableOptions{})
	other := newTable(t, database.TableOptions{})
	if err := other.Revoke(t.Context()); err != nil {
		t.Fatal(err)
	}
	good := table.Query().Connection.Reveal()
	for name, tt := range map[string]struct {
		connection, query string
		kind              fault.Kind
		code, want        string
	}{
		"no such table":         {good, "SELECT a FROM nowhere", fault.NotFound, "42P01", `relation "nowhere" does not exist`},
		"no such column":        {good, "SELECT nam FROM " + table.Name(), fault.NotFound, "42703", `column "nam" does not exist (Perhaps you meant`},
		"no right":              {good, "SELECT name FROM " + other.Name(), fault.Denied, "42501", "permission denied for table " + other.Name()},
		"a syntax error":        {good, "SELEC 1", fault.Invalid, "42601", "syntax error"},
		"a cast that fails":     {good, "SELECT 'x'::int AS a", fault.Invalid, "22P02", "invalid input syntax"},
		"no query":              {good, " ", fault.Invalid, "", "returns no columns"},
		"nothing to return":     {good, "SET a.b = 1", fault.Invalid, "", "returns no columns"},
		"a placeholder":         {good, "SELECT $1::text AS a", fault.Invalid, "", "$1"},
		"a name twice":          {good, "SELECT 1 AS a, 2 AS b, 3 AS a", fault.Invalid, "", `two columns named "a"`},
		"a message with a name": {good, "SELECT current_user::int AS a", fault.Invalid, "22P02", "invalid input syntax"},
		"a wrong password": {
			strings.Replace(good, "sslmode", "password=wrong&sslmode", 1), "SELECT 1 AS a", fault.Denied, "28P01", "password is wrong",
		},
		"no such database": {
			strings.Replace(good, "sslmode", "dbname="+database.Canary+"&sslmode", 1), "SELECT 1 AS a", fault.NotFound, "3D000", "no database",
		},
		"TLS that the server has not": {
			strings.Replace(good, "disable", "require", 1), "SELECT 1 AS a", fault.Invalid, "", "the server does not support TLS",
		},
		"a parameter that the server refuses": {
			good + "&search_path=" + database.Canary + "%00", "SELECT 1 AS a", fault.Invalid, mapping.CodeConnectionString, "NUL",
		},
		"an option that the server refuses": {
			good + "&options=-c%20" + database.Canary + "=1", "SELECT 1 AS a", fault.NotFound, "42704", "check options",
		},
	} {
		t.Run(name, func(t *testing.T) {
			q := query(table, tt.query)
			q.Connection = mapping.NewSecret(tt.connection)
			s := &sink{}
			err := postgres.New(store.Config{}).Read(t.Context(), q, s)
			expectNoSecret(t, err)
			got, ok := errors.AsType[*fault.Error](err)
			if !ok || got.Kind != tt.kind || got.Code != tt.code || !strings.Contains(got.Message, tt.want) {
				t.Errorf("got %v of kind %s", err, fault.KindOf(err))
			}
			if len(s.rows) > 0 {
				t.Error("there are rows")
			}
		})
	}
}
