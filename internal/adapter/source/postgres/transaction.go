package postgres

import (
	"fmt"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/sqldb"
)

// Begin implements sqldb.Server. All settings are local to the transaction, so that a pooler in between may give the
// connection to another client afterwards. Of them, the text of values depends on the encoding, the time zone and the
// style of dates.
func (srv *server) Begin(s *sqldb.Session) error {
	milliseconds := max(1, s.Timeout.Milliseconds())
	if err := s.Exec(fmt.Sprintf(`
		BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
		SET LOCAL statement_timeout = %d;
		SET LOCAL lock_timeout = %d;
		SET LOCAL idle_in_transaction_session_timeout = %d;
		SET LOCAL client_encoding = 'UTF8'; SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = 'ISO';
		SAVEPOINT standby`,
		milliseconds, min(milliseconds, sqldb.LockTimeout.Milliseconds()),
		// For a reader that died without a goodbye. One that only waits for processor time must not be mistaken for it.
		milliseconds+sqldb.Grace.Milliseconds())); err != nil {
		return err
	}
	status, err := s.Ask(standby)
	if err := s.RefuseLag(status, err, func(row map[string]string) string { return lags[row["state"]] }); err != nil {
		return err
	}
	return s.Exec("ROLLBACK TO SAVEPOINT standby; RELEASE SAVEPOINT standby")
}

// lags are the states of a standby that is not read.
var lags = map[string]string{"cut off": sqldb.CutOff, "behind": sqldb.Behind}

// standby answers with what is wrong with a standby. One without a walreceiver gets nothing from its primary any more;
// when it last got something is all that is known then. One that has more than it replayed is behind by the age of what
// it replayed last. The age alone says nothing: the primary may be idle. A user that may not see the receiver's status
// still sees that there is one. A replica of Aurora reads its primary's storage, and has none of these functions.
var standby = fmt.Sprintf(`
SELECT CASE
  WHEN NOT pg_catalog.pg_is_in_recovery() OR pg_catalog.to_regproc('aurora_version') IS NOT NULL THEN ''
  WHEN NOT EXISTS (SELECT FROM pg_catalog.pg_stat_wal_receiver WHERE coalesce(status, 'streaming') = 'streaming')
    AND coalesce(pg_catalog.clock_timestamp() - pg_catalog.pg_last_xact_replay_timestamp() > interval '%[1]d seconds', true) THEN 'cut off'
  WHEN pg_catalog.pg_last_wal_receive_lsn() > pg_catalog.pg_last_wal_replay_lsn()
    AND pg_catalog.clock_timestamp() - pg_catalog.pg_last_xact_replay_timestamp() > interval '%[1]d seconds' THEN 'behind'
  ELSE '' END AS state`, int(sqldb.MaxLag.Seconds()))
