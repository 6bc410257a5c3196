package mysql

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/sqldb"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// Begin implements sqldb.Server.
func (srv *server) Begin(s *sqldb.Session) error {
	if err := srv.prepare(s); err != nil {
		return err
	}
	return srv.start(s)
}

// prepare sets what the transactions of the session depend on.
func (srv *server) prepare(s *sqldb.Session) error {
	version, err := srv.identify(s)
	if err != nil {
		return err
	}
	return s.Exec(
		limit(version, s.Timeout.Milliseconds()),
		// A lock on a table that is being altered is waited for a day, or a year, by default.
		fmt.Sprintf("SET SESSION lock_wait_timeout = %d", max(1, min(int(s.Timeout.Seconds()), int(sqldb.LockTimeout.Seconds())))),
		// Both cut what is read without an error: the one the table, the other the list of a tenant's domains.
		"SET SESSION sql_select_limit = 18446744073709551615",
		"SET SESSION group_concat_max_len = 16777216",
		// What the text of a TIMESTAMP depends on.
		"SET SESSION time_zone = '+00:00'",
		// Only REPEATABLE READ has a snapshot. For the session, so that also whatever came after the transaction could
		// not write.
		"SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY",
	)
}

// identify asks for the version of the server, and for its number for the connection.
func (srv *server) identify(s *sqldb.Session) (version string, err error) {
	about, err := s.Ask("SELECT VERSION() AS version, CONNECTION_ID() AS id")
	if err != nil {
		return "", err
	}
	if len(about) != 1 {
		return "", s.Fault(errors.New("the server does not report its version"))
	}
	srv.id, _ = strconv.ParseUint(about[0]["id"], 10, 64)
	return about[0]["version"], nil
}

// start opens a transaction, on a server that is known not to lag. To ask takes a right (REPLICATION CLIENT, REPLICA
// MONITOR) that readers seldom have.
func (srv *server) start(s *sqldb.Session) error {
	status, err := s.Ask("SHOW REPLICA STATUS")
	if fault.CodeOf(err) == syntaxError {
		// Older servers know the older word only.
		status, err = s.Ask("SHOW SLAVE STATUS")
	}
	if err := s.RefuseLag(status, err, lag); err != nil {
		return err
	}
	return s.Exec("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
}

func isMariaDB(version string) bool { return strings.Contains(strings.ToLower(version), "mariadb") }

// limit is the statement that limits the statements after it. MySQL counts milliseconds, MariaDB seconds.
func limit(version string, milliseconds int64) string {
	milliseconds = max(1, milliseconds)
	if isMariaDB(version) {
		return fmt.Sprintf("SET SESSION max_statement_time = %d.%03d", milliseconds/1000, milliseconds%1000)
	}
	return fmt.Sprintf("SET SESSION max_execution_time = %d", milliseconds)
}

// lag says what is wrong with a replica, by the words of all ages of both servers.
func lag(channel map[string]string) string {
	first := func(names ...string) string {
		for _, name := range names {
			if value, ok := channel[name]; ok {
				return value
			}
		}
		return ""
	}
	if first("Replica_IO_Running", "Slave_IO_Running") != "Yes" {
		return sqldb.CutOff
	}
	if first("Replica_SQL_Running", "Slave_SQL_Running") != "Yes" {
		return "does not apply the data that it receives from its primary"
	}
	seconds, err := strconv.ParseFloat(first("Seconds_Behind_Source", "Seconds_Behind_Master"), 64)
	if err == nil && seconds > sqldb.MaxLag.Seconds() {
		return sqldb.Behind
	}
	return ""
}
