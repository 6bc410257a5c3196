package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/sqldb"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
)

// Write implements port.States.
func (r *Rows) Write(ctx context.Context, to statetable.Target, changes []statetable.Change) ([]statetable.Refusal, error) {
	return r.Reader.Write(ctx, mapping.Postgres, to, changes)
}

// Dialect implements sqldb.Writer.
func (srv *server) Dialect() statetable.Dialect { return statetable.Postgres }

// writes opens a transaction. Its settings are local to it: a pooler in between may give the connection to another client
// afterwards. One that is read-only by default is still a primary's.
var writes = fmt.Sprintf(`
	BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
	SET LOCAL statement_timeout = %d;
	SET LOCAL lock_timeout = %d;
	SET LOCAL idle_in_transaction_session_timeout = %d;
	SET LOCAL client_encoding = 'UTF8'`,
	store.StatementTimeout.Milliseconds(), store.RowLockTimeout.Milliseconds(), sqldb.Grace.Milliseconds())

// BeginWrites implements sqldb.Writer.
func (srv *server) BeginWrites(s *sqldb.Session) error {
	return s.RefuseReadOnly("SELECT pg_catalog.pg_is_in_recovery() AS standby")
}

// Describe implements sqldb.Writer.
func (srv *server) Describe(table string) string {
	// In this form backslashes are escapes whatever the settings of the server are.
	name := "E'" + strings.NewReplacer(`\`, `\\`, "'", "''").Replace(statetable.Postgres.Table(table)) + "'"
	return fmt.Sprintf(`
SELECT a.attname AS name, pg_catalog.format_type(a.atttypid, NULL) AS type,
  CASE WHEN a.attnum = ANY (i.indkey::pg_catalog.int2[]) THEN '%s' ELSE '' END AS key
FROM pg_catalog.pg_attribute a
LEFT JOIN pg_catalog.pg_index i ON i.indrelid = a.attrelid AND i.indisprimary
WHERE a.attrelid = pg_catalog.to_regclass(%s) AND a.attnum > 0 AND NOT a.attisdropped`, statetable.PrimaryKey, name)
}

// Run implements sqldb.Writer.
func (srv *server) Run(ctx context.Context, statement string, parameters []*string) error {
	if _, err := srv.conn.Exec(ctx, writes).ReadAll(); err != nil {
		return err
	}
	values := make([][]byte, len(parameters))
	for i, p := range parameters {
		if p != nil {
			values[i] = []byte(*p)
		}
	}
	if err := srv.finish(ctx, statement, values); err != nil {
		_, _ = srv.Ask(ctx, "ROLLBACK")
		return err
	}
	return nil
}

// finish runs the statement of a transaction, and commits it.
func (srv *server) finish(ctx context.Context, statement string, values [][]byte) error {
	if _, err := srv.conn.ExecParams(ctx, statement, values, nil, nil, nil).Close(); err != nil {
		return err
	}
	_, err := srv.conn.Exec(ctx, "COMMIT").ReadAll()
	return err
}
