package rowsuite

import (
	"strings"
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
)

// writing are queries that would change TABLE, or are none.
var writing = map[mapping.Provider]map[string]string{
	mapping.Postgres: {
		"a deletion that returns rows":     "DELETE FROM TABLE RETURNING name, domain",
		"a deletion inside a query":        "WITH gone AS (DELETE FROM TABLE RETURNING name, domain) SELECT * FROM gone",
		"an insertion that returns rows":   "INSERT INTO TABLE (name) VALUES ('x') RETURNING name",
		"an update that returns rows":      "UPDATE TABLE SET plan = 'x' RETURNING name",
		"a second statement":               "SELECT name, domain FROM TABLE; DELETE FROM TABLE",
		"a statement outside":              "COMMIT; DELETE FROM TABLE",
		"a statement outside, with a look": "SELECT 1 AS name; COMMIT; BEGIN; DELETE FROM TABLE; COMMIT; SELECT 2 AS name",
		"a truncation":                     "TRUNCATE TABLE",
		"a lock":                           "SELECT name, domain FROM TABLE FOR UPDATE",
		"the right to write by a function": "SELECT set_config('transaction_read_only', 'off', true) AS name",
		"a plan that is carried out":       "EXPLAIN (ANALYZE) DELETE FROM TABLE",
		"a statement without rows":         "SET search_path = 'x'",
		"no SQL":                           "this is no SQL",
		"nothing":                          "",
		"only a comment":                   "-- nothing",
	},
	mapping.MySQL: {
		"a deletion that returns rows":     "DELETE FROM TABLE RETURNING name, domain",
		"an insertion that returns rows":   "INSERT INTO TABLE (name) VALUES ('x') RETURNING name",
		"a replacement that returns rows":  "REPLACE INTO TABLE (name) VALUES ('x') RETURNING name",
		"an update":                        "UPDATE TABLE SET plan = 'x'",
		"a second statement":               "SELECT name, domain FROM TABLE; DELETE FROM TABLE",
		"a statement outside":              "COMMIT; DELETE FROM TABLE",
		"a truncation":                     "TRUNCATE TABLE TABLE",
		"a statement that commits":         "DROP TABLE TABLE",
		"a plan that is carried out":       "ANALYZE DELETE FROM TABLE",
		"a file":                           "SELECT name FROM TABLE INTO OUTFILE '/tmp/canary.txt'",
		"a variable":                       "SELECT name FROM TABLE LIMIT 1 INTO @x",
		"a statement without rows":         "SET @x = 1",
		"a transaction of its own":         "START TRANSACTION READ WRITE",
		"a block of statements":            "BEGIN NOT ATOMIC COMMIT; DELETE FROM TABLE; SELECT 'x' AS name; END",
		"a comment that hides a statement": "SELECT 'x' AS name /*! INTO @x */",
		"no SQL":                           "this is no SQL",
		"nothing":                          "",
		"only a comment":                   "-- nothing",
	},
}

func (s *suite) readOnly() map[string]func(*testing.T) {
	tests := map[string]func(*testing.T){}
	for name, query := range writing[s.engine.Provider()] {
		tests[name] = func(t *testing.T) { s.testWrite(t, query) }
	}
	return tests
}

// testWrite has a reader that may write, so that nothing but the adapter keeps it from that.
func (s *suite) testWrite(t *testing.T, query string) {
	rows := customers(5)
	table := s.newTable(t, database.TableOptions{Writable: true}, rows...)
	before := s.mustRead(t, table, table.Query())
	q := table.Query()
	// TRUNCATE and DROP have the word TABLE themselves.
	head, tail, ddl := strings.Cut(query, "TABLE TABLE")
	if ddl {
		q.SQL.Query = head + "TABLE " + table.Name() + tail
	} else {
		q.SQL.Query = strings.ReplaceAll(query, "TABLE", table.Name())
	}
	_, err := s.read(t, table, q)
	wantFault(t, err, fault.Invalid, fault.Denied)
	after := s.mustRead(t, table, table.Query())
	exactlyOnce(t, after, rows)
	if len(after.rows) != len(before.rows) || len(after.values("plan")) != len(before.values("plan")) || after.values("plan")["customer-00000"] != "pro" {
		t.Errorf("the table was changed: %v", after.rows)
	}
}
