package mysql

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/sqlrows"
)

// begin opens the transaction, on a server that is known not to lag.
func (s *session) begin() error {
	if err := s.prepare(); err != nil {
		return err
	}
	return s.start()
}

// prepare sets what the transactions of the session depend on.
func (s *session) prepare() error {
	about, err := query(s.ctx, s.conn, "SELECT VERSION() AS version, CONNECTION_ID() AS id")
	if err != nil {
		return s.queryFault(err)
	}
	if len(about) != 1 {
		return s.queryFault(errors.New("the server does not report its version"))
	}
	s.id, _ = strconv.ParseUint(about[0]["id"], 10, 64)
	if err := s.exec(
		limit(about[0]["version"], s.timeout.Milliseconds()),
		// A lock on a table that is being altered is waited for a day, or a year, by default.
		fmt.Sprintf("SET SESSION lock_wait_timeout = %d", max(1, min(int(s.timeout.Seconds()), int(sqlrows.LockTimeout.Seconds())))),
		// Both cut what is read without an error: the one the table, the other the list of a tenant's domains.
		"SET SESSION sql_select_limit = 18446744073709551615",
		"SET SESSION group_concat_max_len = 16777216",
		// What the text of a TIMESTAMP depends on.
		"SET SESSION time_zone = '+00:00'",
	); err != nil {
		return err
	}
	// Only REPEATABLE READ has a snapshot. For the session, so that also whatever came after the transaction could not write.
	return s.exec("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
}

// start opens a transaction, on a server that is known not to lag.
func (s *session) start() error {
	if err := s.checkReplica(); err != nil {
		return err
	}
	return s.exec("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
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

// checkReplica refuses a replica that is known to lag. It takes a right (REPLICATION CLIENT, REPLICA MONITOR) that readers
// seldom have: a server that won't tell is taken at its word.
func (s *session) checkReplica() error {
	status, err := query(s.ctx, s.conn, "SHOW REPLICA STATUS")
	if errNumber(err) == syntaxError {
		// Older servers know the older word only.
		status, err = query(s.ctx, s.conn, "SHOW SLAVE STATUS")
	}
	if err != nil {
		if errNumber(err) != 0 && s.ctx.Err() == nil {
			return nil
		}
		return s.queryFault(err)
	}
	for _, channel := range status {
		if problem := lag(channel); problem != "" {
			return sqlrows.Lagging(problem)
		}
	}
	return nil
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
		return "receives no data from its primary"
	}
	if first("Replica_SQL_Running", "Slave_SQL_Running") != "Yes" {
		return "does not apply the data that it receives from its primary"
	}
	seconds, err := strconv.ParseFloat(first("Seconds_Behind_Source", "Seconds_Behind_Master"), 64)
	if err == nil && seconds > sqlrows.MaxLag.Seconds() {
		return fmt.Sprintf("is more than %s behind its primary", sqlrows.MaxLag)
	}
	return ""
}

// checkWarnings refuses a result that the server cut while it called the query a success.
func (s *session) checkWarnings() error {
	warnings, err := query(s.ctx, s.conn, "SHOW WARNINGS")
	if err != nil {
		return s.queryFault(err)
	}
	for _, warning := range warnings {
		if problem, ok := cuts[warning["Code"]]; ok {
			return sqlrows.Refused("%s", problem)
		}
	}
	return nil
}

// cuts are the warnings for a result that is not all there is.
var cuts = map[string]string{
	"1260": "GROUP_CONCAT or JSON_ARRAYAGG produced more than 16 MiB, and the server truncated it: aggregate less data",
	"1931": "LIMIT ROWS EXAMINED ended the query before it had read all rows: remove it",
}
