package postgres

import (
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/sqlrows"
)

// begin opens the transaction, on a server that is known not to lag. All settings are local to it, so that a pooler in
// between may give the connection to another client afterwards.
func (s *session) begin() error {
	milliseconds := max(1, s.timeout.Milliseconds())
	if err := s.exec(
		"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
		fmt.Sprintf("SET LOCAL statement_timeout = %d", milliseconds),
		fmt.Sprintf("SET LOCAL lock_timeout = %d", min(milliseconds, sqlrows.LockTimeout.Milliseconds())),
		// For a reader that died without a word. One that only waits for processor time must not be taken for it.
		fmt.Sprintf("SET LOCAL idle_in_transaction_session_timeout = %d", milliseconds+sqlrows.Grace.Milliseconds()),
		// What the text of values depends on.
		"SET LOCAL client_encoding = 'UTF8'", "SET LOCAL TimeZone = 'UTC'", "SET LOCAL DateStyle = 'ISO'",
		"SAVEPOINT standby",
	); err != nil {
		return err
	}
	if err := s.checkStandby(); err != nil {
		return err
	}
	return s.exec("ROLLBACK TO SAVEPOINT standby", "RELEASE SAVEPOINT standby")
}

func (s *session) exec(statements ...string) error {
	if _, err := s.conn.Exec(s.ctx, strings.Join(statements, "; ")).ReadAll(); err != nil {
		return s.queryFault(err, noTime)
	}
	return nil
}

// standby answers with what is wrong with a standby. One without a walreceiver gets nothing from its primary any more; when
// it last got something is all that is known then. One that has more than it replayed is behind by the age of what it
// replayed last. The age alone says nothing: the primary may be idle. Who may not see the receiver's
// status still sees that there is one. A replica of Aurora reads its primary's storage, and has none of these functions.
const standby = `
SELECT CASE
  WHEN NOT pg_catalog.pg_is_in_recovery() OR pg_catalog.to_regproc('aurora_version') IS NOT NULL THEN ''
  WHEN NOT EXISTS (SELECT FROM pg_catalog.pg_stat_wal_receiver WHERE coalesce(status, 'streaming') = 'streaming')
    AND coalesce(pg_catalog.clock_timestamp() - pg_catalog.pg_last_xact_replay_timestamp() > $1::interval, true) THEN 'cut off'
  WHEN pg_catalog.pg_last_wal_receive_lsn() > pg_catalog.pg_last_wal_replay_lsn()
    AND pg_catalog.clock_timestamp() - pg_catalog.pg_last_xact_replay_timestamp() > $1::interval THEN 'behind'
  ELSE '' END`

// checkStandby refuses a standby that is known to lag. A server that can't tell is taken at its word.
func (s *session) checkStandby() error {
	maxLag := fmt.Appendf(nil, "%d seconds", int(sqlrows.MaxLag.Seconds()))
	result := s.conn.ExecParams(s.ctx, standby, [][]byte{maxLag}, nil, nil, nil).Read()
	if result.Err != nil {
		if _, answered := errors.AsType[*pgconn.PgError](result.Err); answered && s.ctx.Err() == nil {
			return nil
		}
		return s.queryFault(result.Err, noTime)
	}
	for _, row := range result.Rows {
		switch string(row[0]) {
		case "cut off":
			return sqlrows.Lagging("receives no data from its primary")
		case "behind":
			return sqlrows.Lagging(fmt.Sprintf("is more than %s behind its primary", sqlrows.MaxLag))
		}
	}
	return nil
}
