package mysql_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/mysql"
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
	table, err := database.Shared(t, mapping.MySQL).NewTable(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	// Rights on the whole database: without them a table that is missing is one that may not be read, and there are no sequences.
	if err := table.Exec(t.Context(), "GRANT SELECT ON * TO "+user(table)); err != nil {
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
	err := mysql.New(store.Config{Timeout: 20 * time.Second}).Read(t.Context(), query(table, statement), s)
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
	instant := time.Date(2026, 11, 21, 11, 28, 40, 123456000, time.UTC)
	for name, tt := range map[string]struct {
		column, value string
		kind          mapping.Type
		want          any
	}{
		"text":                        {"varchar(20)", "'é 😀'", mapping.TypeString, "é 😀"},
		"text in another encoding":    {"varchar(20) CHARACTER SET latin1", "'é'", mapping.TypeString, "é"},
		"binary order":                {"varchar(20) COLLATE utf8mb4_bin", "'a'", mapping.TypeString, "a"},
		"longtext":                    {"longtext", "'a'", mapping.TypeString, "a"},
		"nothing":                     {"text", "NULL", mapping.TypeString, nil},
		"true":                        {"boolean", "true", mapping.TypeBoolean, true},
		"false":                       {"tinyint(1)", "0", mapping.TypeBoolean, false},
		"neither":                     {"tinyint(1)", "7", mapping.TypeBoolean, int64(7)},
		"no boolean":                  {"boolean", "NULL", mapping.TypeBoolean, nil},
		"a small number":              {"tinyint", "1", mapping.TypeNumber, int64(1)},
		"a small number without sign": {"tinyint unsigned", "255", mapping.TypeNumber, int64(255)},
		"one bit":                     {"bit(1)", "b'1'", mapping.TypeBoolean, true},
		"more bits":                   {"bit(10)", "b'1000000001'", mapping.TypeNumber, int64(513)},
		"a number":                    {"bigint", "-9223372036854775808", mapping.TypeNumber, int64(-9223372036854775808)},
		"a number that is too great":  {"bigint unsigned", "18446744073709551615", mapping.TypeNumber, "18446744073709551615"},
		"a decimal":                   {"decimal(10,2)", "1.10", mapping.TypeNumber, 1.1},
		"a whole decimal":             {"decimal(10,2)", "7", mapping.TypeNumber, int64(7)},
		"a long decimal":              {"decimal(40,20)", "12345678901234567890.1", mapping.TypeNumber, "12345678901234567890.10000000000000000000"},
		"a float":                     {"float", "1.1", mapping.TypeNumber, 1.1},
		"a double":                    {"double", "5", mapping.TypeNumber, 5.0},
		"a year":                      {"year", "2026", mapping.TypeNumber, int64(2026)},
		"a time stamp":                {"timestamp(6) NULL", "'2026-11-21 11:28:40.123456'", mapping.TypeTime, instant},
		"date and time":               {"datetime(6)", "'2026-11-21 11:28:40.123456'", mapping.TypeTime, instant},
		"a date of zeros":             {"datetime", "'0000-00-00'", mapping.TypeTime, nil},
		"a date":                      {"date", "'2026-11-21'", mapping.TypeString, "2026-11-21"},
		"no date":                     {"date", "'0000-00-00'", mapping.TypeString, nil},
		"a time":                      {"time", "'-11:28'", mapping.TypeString, "-11:28:00"},
		"an enumeration":              {"enum('free','pro')", "'pro'", mapping.TypeString, "pro"},
		"a set":                       {"set('a','b')", "'a,b'", mapping.TypeString, "a,b"},
		"MariaDB's JSON":              {"json", "'[1]'", mapping.TypeString, "[1]"},
		"bytes":                       {"blob", "x'ff'", mapping.TypeOther, mapping.Unsupported("blob")},
		"bytes of a fixed length":     {"binary(2)", "'ab'", mapping.TypeOther, mapping.Unsupported("binary")},
		"bytes of a variable length":  {"varbinary(2)", "'ab'", mapping.TypeOther, mapping.Unsupported("varbinary")},
	} {
		t.Run(name, func(t *testing.T) {
			values := table.Name() + "_values"
			if err := table.Exec(t.Context(), fmt.Sprintf(`SET sql_mode = '', time_zone = '+00:00'; CREATE OR REPLACE TABLE %[1]s (v %[2]s);
				INSERT INTO %[1]s VALUES (%[3]s); GRANT SELECT ON %[1]s TO %[4]s`, values, tt.column, tt.value, user(table))); err != nil {
				t.Fatal(err)
			}
			got, err := read(t, table, "SELECT v FROM "+values)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]mapping.Column{{Name: "v", Type: tt.kind}}, got.columns); diff != "" {
				t.Errorf("columns (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]mapping.Row{{Values: map[string]any{"v": tt.want}}}, got.rows); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
		})
	}
}

// user is the table's reader, in the words of a GRANT.
func user(table *database.Table) string {
	name, _, _ := strings.Cut(table.Query().Connection.Reveal(), ":")
	return name + "@127.0.0.1"
}

// The reader of this table may write; the adapter does not.
func TestNothingIsWritten(t *testing.T) {
	table := newTable(t, database.TableOptions{Writable: true})
	name := table.Name()
	if err := table.Exec(t.Context(), fmt.Sprintf(`
		CREATE FUNCTION %[1]s_empty() RETURNS int MODIFIES SQL DATA BEGIN DELETE FROM %[1]s; RETURN 1; END;
		CREATE PROCEDURE %[1]s_commit() BEGIN COMMIT; SET SESSION TRANSACTION READ WRITE; DELETE FROM %[1]s; SELECT 1 AS a; END;
		GRANT EXECUTE ON FUNCTION %[1]s_empty TO %[2]s; GRANT EXECUTE ON PROCEDURE %[1]s_commit TO %[2]s`, name, user(table))); err != nil {
		t.Fatal(err)
	}
	if err := table.Put(t.Context(), map[string]any{"name": "a"}); err != nil {
		t.Fatal(err)
	}
	for what, statement := range map[string]string{
		"a second statement":              "SELECT name FROM %s; DELETE FROM %[1]s",
		"the end of the transaction":      "COMMIT; DELETE FROM %s",
		"only the end of the transaction": "COMMIT",
		"a deletion":                      "DELETE FROM %s",
		"a deletion that returns rows":    "DELETE FROM %s RETURNING name",
		"a deletion behind a comment":     "/*!DELETE FROM*/ %s",
		"a function that deletes":         "SELECT %s_empty()",
		"a procedure that commits":        "CALL %s_commit()",
		"the same behind a comment":       "/* SELECT */ CALL %s_commit()",
		"a block":                         "BEGIN NOT ATOMIC COMMIT; SET SESSION TRANSACTION READ WRITE; DELETE FROM %s; SELECT 1 AS a; END",
		"a statement in a text":           "EXECUTE IMMEDIATE 'DELETE FROM %s'",
		"a truncation":                    "TRUNCATE %s",
		"a file of the operator":          "LOAD DATA LOCAL INFILE '/etc/hostname' INTO TABLE %s",
		"a file of the server":            "SELECT name FROM %s INTO OUTFILE '/tmp/%[1]s'",
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
	good := table.Query().Connection.Reveal()
	for name, tt := range map[string]struct {
		connection, query string
		kind              fault.Kind
		code, want        string
	}{
		"no such table":    {good, "SELECT a FROM nowhere", fault.NotFound, "1146", "Table '….nowhere' doesn't exist"},
		"no such column":   {good, "SELECT nam FROM " + table.Name(), fault.NotFound, "1054", "Unknown column 'nam'"},
		"no right":         {good, "SELECT user FROM mysql.global_priv", fault.Denied, "1142", "GRANT SELECT"},
		"a syntax error":   {good, "SELECT FROM WHERE", fault.Invalid, "1064", "syntax"},
		"no query":         {good, " ", fault.Invalid, mapping.CodeQuery, "does not start with SELECT"},
		"nothing returned": {good, "SELECT 1 INTO @a", fault.Invalid, "", "returns no columns"},
		"a name twice":     {good, "SELECT 1 AS a, 2 AS b, 3 AS a", fault.Invalid, "", `two columns named "a"`},
		"a result that is cut by a limit on work": {
			good, "SELECT seq AS a FROM seq_1_to_100000 LIMIT ROWS EXAMINED 10", fault.Invalid, "", "LIMIT ROWS EXAMINED",
		},
		"a text that is cut": {
			good, "SELECT GROUP_CONCAT(REPEAT('x', 1000)) AS a FROM seq_1_to_20000", fault.Invalid, "", "16 MiB",
		},
		"a wrong password": {strings.Replace(good, "@", "x@", 1), "SELECT 1", fault.Denied, "1045", "rejects the login"},
		"no such database": {good + "_not", "SELECT 1", fault.Denied, "1044", "GRANT SELECT"},
		"TLS that the server has not": {
			good + "?tls=skip-verify", "SELECT 1", fault.Invalid, "", "does not support TLS",
		},
	} {
		t.Run(name, func(t *testing.T) {
			q := query(table, tt.query)
			q.Connection = mapping.NewSecret(tt.connection)
			err := mysql.New(store.Config{}).Read(t.Context(), q, &sink{})
			expectNoSecret(t, err)
			got, ok := errors.AsType[*fault.Error](err)
			if !ok || got.Kind != tt.kind || got.Code != tt.code || !strings.Contains(got.Message, tt.want) {
				t.Errorf("got %v of kind %s", err, fault.KindOf(err))
			}
		})
	}
}

// MySQL's default would cut the list at 1,024 bytes, and with it a tenant's domains.
func TestALongListIsWhole(t *testing.T) {
	table := newTable(t, database.TableOptions{})
	got, err := read(t, table, "SELECT GROUP_CONCAT(REPEAT('x', 1000)) AS a FROM seq_1_to_2000")
	if err != nil || len(got.rows) != 1 || len(got.rows[0].Values["a"].(string)) != 2000*1001-1 {
		t.Errorf("got %d rows, %v", len(got.rows), err)
	}
}

// patience is far above what anything here takes, and far below a wait that would never end.
const patience = 2 * time.Minute

// A key is compared as its column is, whatever its type and collation.
func TestKeysOfAnyColumn(t *testing.T) {
	for column, keys := range map[string][]string{
		"varchar(64) COLLATE utf8mb4_unicode_ci":        {"42", "7"},
		"varchar(64) CHARACTER SET latin1":              {"42", "7"},
		"char(8) CHARACTER SET ascii COLLATE ascii_bin": {"42", "7"},
		"int":             {"42", "7"},
		"bigint unsigned": {"42", "7"},
		"decimal(10,2)":   {"42.00", "7"},
	} {
		t.Run(column, func(t *testing.T) {
			table := newTable(t, database.TableOptions{})
			for _, change := range []string{"INSERT INTO %s (name) VALUES ('7'), ('42'), ('421')", "ALTER TABLE %s MODIFY name " + column} {
				if err := table.Exec(t.Context(), fmt.Sprintf(change, table.Name())); err != nil {
					t.Fatal(err)
				}
			}
			q := table.Query()
			q.Keys = keys
			var got sink
			if err := mysql.New(store.Config{}).Read(t.Context(), q, &got); err != nil || len(got.rows) != 2 {
				t.Errorf("%d rows, want 2: %v, %v", len(got.rows), got.rows, err)
			}
		})
	}
}

// A replica that has lost its primary reports it to users with the right to ask; a reader without it is let in.
func TestAReplicaThatIsCutOffIsNotRead(t *testing.T) {
	table := newTable(t, database.TableOptions{})
	if err := table.Exec(t.Context(), "CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT=1, MASTER_USER='a'"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := table.Exec(context.WithoutCancel(t.Context()), "RESET SLAVE ALL"); err != nil {
			t.Error(err)
		}
	})
	if _, err := read(t, table, "SELECT 1"); err != nil {
		t.Errorf("a reader that can't know: %v", err)
	}
	if err := table.Exec(t.Context(), "GRANT REPLICA MONITOR ON *.* TO "+user(table)); err != nil {
		t.Fatal(err)
	}
	_, err := read(t, table, "SELECT 1")
	if !fault.Is(err, fault.Transient) || !strings.Contains(err.Error(), "receives no data from its primary") {
		t.Errorf("got %v", err)
	}
}
