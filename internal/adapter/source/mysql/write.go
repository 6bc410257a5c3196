package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/sqldb"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
)

// Write implements port.States.
func (r *Rows) Write(ctx context.Context, to statetable.Target, changes []statetable.Change) ([]statetable.Refusal, error) {
	return r.Reader.Write(ctx, mapping.MySQL, to, changes)
}

// Dialect implements sqldb.Writer.
func (srv *server) Dialect() statetable.Dialect { return statetable.MySQL }

// BeginWrites implements sqldb.Writer.
func (srv *server) BeginWrites(s *sqldb.Session) error {
	version, err := srv.identify(s)
	if err != nil {
		return err
	}
	seconds := max(1, int(store.RowLockTimeout.Seconds()))
	if err := s.Exec(
		limit(version, s.Timeout.Milliseconds()),
		fmt.Sprintf("SET SESSION lock_wait_timeout = %[1]d, innodb_lock_wait_timeout = %[1]d", seconds),
		"SET SESSION time_zone = '+00:00'",
		// Any other mode may cut a text that is too long, and call that a success.
		"SET SESSION sql_mode = 'STRICT_ALL_TABLES'",
		"SET SESSION TRANSACTION READ WRITE",
		"SET SESSION autocommit = 1",
	); err != nil {
		return err
	}
	// A replica may let a user with many rights write, and would then differ from its primary. Aurora's have the second variable.
	return s.RefuseReadOnly("SELECT @@global.read_only AS a, @@global.innodb_read_only AS b")
}

// Describe implements sqldb.Writer. An INSERT would replace a row that any index makes equal, so that it tells of all of them. A
// key has a type of its own where the server compares letters in some other way than byte by byte.
func (srv *server) Describe(table string) string {
	named := func(text string) string { return "CONVERT(" + literal(text) + " USING utf8mb3)" } // as the catalogue's names are
	schema, name := "DATABASE()", table
	if before, after, ok := strings.Cut(table, "."); ok {
		schema, name = named(before), after
	}
	return fmt.Sprintf(`
SELECT c.column_name AS name, COALESCE(k.kind, '') AS %[3]s,
  IF(k.kind IS NULL OR c.collation_name IS NULL OR c.collation_name LIKE '%%bin', c.data_type, CONCAT(c.data_type, ' COLLATE ', c.collation_name)) AS type
FROM information_schema.columns c
LEFT JOIN (
  SELECT column_name, MAX(IF(index_name = 'PRIMARY' AND sub_part IS NULL, '%[4]s', '%[5]s')) AS kind
  FROM information_schema.statistics WHERE table_schema = %[1]s AND table_name = %[2]s AND non_unique = 0 GROUP BY column_name
) k ON k.column_name = c.column_name
WHERE c.table_schema = %[1]s AND c.table_name = %[2]s`, schema, named(name), "`key`", statetable.PrimaryKey, statetable.OtherKey)
}

// Run implements sqldb.Writer. Each statement is a transaction.
func (srv *server) Run(ctx context.Context, statement string, parameters []*string) error {
	preparer, ok := srv.conn.(driver.ConnPrepareContext)
	if !ok {
		return errors.New("the driver prepares no statements")
	}
	prepared, err := preparer.PrepareContext(ctx, statement)
	if err != nil {
		return err
	}
	defer func() { _ = prepared.Close() }()
	run, ok := prepared.(driver.StmtExecContext)
	if !ok {
		return errors.New("the driver runs no statements")
	}
	values := make([]driver.NamedValue, len(parameters))
	for i, p := range parameters {
		values[i].Ordinal = i + 1
		if p != nil {
			values[i].Value = *p
		}
	}
	_, err = run.ExecContext(ctx, values)
	return err
}

// literal writes a text as a number, which no mode of the server reads in another way.
func literal(text string) string { return fmt.Sprintf("_utf8mb4 0x%x", text) }
