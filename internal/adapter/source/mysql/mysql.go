// Package mysql reads tables of customers from MySQL, MariaDB, and what speaks their protocol.
//
// A read is one transaction that can't write, with a consistent snapshot, on a connection of its own. Tables of engines without
// transactions, such as MyISAM, are read as they are at each moment. The server takes one statement at a time. A procedure or a block of
// statements could still end the transaction and write outside it, so that only a query is sent that begins with
// SELECT, WITH, VALUES or TABLE; functions that these call can't commit. What no transaction covers are
// SELECT ... INTO OUTFILE and its like: the user of the connection should not have the right FILE.
//
// Values: integers and DECIMAL become numbers, FLOAT and DOUBLE always a float64. TINYINT(1), which is what BOOL and BOOLEAN are, and
// BIT(1) become a boolean; a TINYINT(1) that is neither 0 nor 1 stays a number, and so do wider TINYINT and BIT. TIMESTAMP and DATETIME
// are taken as UTC. JSON is what it is (MariaDB calls its JSON text, and so it arrives as text). DATE is text, as in 2026-11-21,
// and so are TIME, ENUM, SET and all texts. A date of zeros, which stands for none, is NULL. Bytes are unsupported.
package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/sqlrows"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

// farewell bounds what is still said to a server after a read was given up: the order to end its query.
const farewell = time.Second

// Config configures Rows.
type Config struct {
	// Timeout is how long a query may take. 0 is sqlrows.DefaultTimeout.
	Timeout time.Duration
	// Guard is asked before each connection; nil allows all.
	Guard *store.Guard
}

// Rows is a port.Rows for MySQL and MariaDB.
type Rows struct {
	timeout time.Duration
	guard   *store.Guard
}

// New makes Rows.
func New(c Config) *Rows {
	if c.Timeout <= 0 {
		c.Timeout = sqlrows.DefaultTimeout
	}
	return &Rows{timeout: c.Timeout, guard: c.Guard}
}

// Read implements port.Rows.
func (r *Rows) Read(ctx context.Context, q mapping.Query, sink mapping.Sink) error {
	target, err := parse(q.Connection.Reveal())
	if err != nil {
		return err
	}
	target.config.DialFunc = r.guard.DialContext
	if err := onlyReads(q.SQL.Query); err != nil {
		return err
	}
	// The server's own timeout does not see a network that swallows everything, nor a reader that is too slow.
	bounded, cancel := context.WithTimeout(ctx, sqlrows.ConnectTimeout+r.timeout+sqlrows.Grace)
	defer cancel()

	s := &session{ctx: bounded, caller: ctx, target: target, timeout: r.timeout}
	defer s.close()
	if err := s.connect(); err != nil {
		return err
	}
	if err := s.begin(); err != nil {
		return err
	}
	if err := s.read(q, sink); err != nil {
		return err
	}
	return s.checkWarnings()
}

// conn is what the driver's connections can do. It is used without database/sql, whose pool would only be in the way:
// it keeps connections, and retries on its own.
type conn interface {
	driver.Conn
	driver.QueryerContext
}

// session is one read.
//
//nolint:containedctx // a session lives as long as one call, whose contexts these are
type session struct {
	// ctx is the caller's with an end of our own.
	ctx, caller context.Context
	target      target
	timeout     time.Duration
	conn        conn
	// id is the server's number for the connection.
	id uint64
}

func (s *session) connect() error {
	ctx, cancel := context.WithTimeout(s.ctx, sqlrows.ConnectTimeout)
	defer cancel()
	opened, err := s.open(ctx)
	if err != nil {
		return s.connectFault(err)
	}
	s.conn = opened
	return nil
}

func (s *session) open(ctx context.Context) (conn, error) {
	connector, err := mysql.NewConnector(s.target.config)
	if err != nil {
		return nil, err
	}
	opened, err := connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	queryer, ok := opened.(conn)
	if !ok {
		_ = opened.Close()
		return nil, driver.ErrSkip
	}
	return queryer, nil
}

// close ends the connection. Rows that were not taken are not read first.
func (s *session) close() {
	if s.conn == nil {
		return
	}
	if s.ctx.Err() != nil && s.id != 0 {
		s.kill()
	} else {
		_ = s.exec("ROLLBACK")
	}
	_ = s.conn.Close()
}

// kill ends the query on the server, which would otherwise go on until it next sends something: the protocol has no other way to
// say so than a second connection.
func (s *session) kill() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), farewell)
	defer cancel()
	second, err := s.open(ctx)
	if err != nil {
		return
	}
	defer func() { _ = second.Close() }()
	_, _ = query(ctx, second, "KILL "+strconv.FormatUint(s.id, 10))
}

func (s *session) exec(statements ...string) error {
	for _, statement := range statements {
		if _, err := query(s.ctx, s.conn, statement); err != nil {
			return s.queryFault(err)
		}
	}
	return nil
}

// query is for the adapter's own statements, whose answers are short. NULL is an empty text.
func query(ctx context.Context, c conn, statement string) ([]map[string]string, error) {
	rows, err := c.QueryContext(ctx, statement, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var all []map[string]string
	names := rows.Columns()
	values := make([]driver.Value, len(names))
	for {
		switch err := rows.Next(values); {
		case err == io.EOF: //nolint:errorlint // the driver's contract: exactly this, and a wrapped one is another error
			return all, nil
		case err != nil:
			return nil, err
		}
		row := make(map[string]string, len(names))
		for i, name := range names {
			row[name] = text(values[i])
		}
		all = append(all, row)
	}
}

// read runs the query and hands out its rows as they arrive. It returns nil only after the server's word that these were all.
func (s *session) read(q mapping.Query, sink mapping.Sink) error {
	rows, err := s.conn.QueryContext(s.ctx, named(q), nil)
	if err != nil {
		return s.queryFault(err)
	}
	names := rows.Columns()
	if len(names) == 0 {
		return sqlrows.Refused("the query returns no columns: use one SELECT without INTO that returns a row for each tenant")
	}
	kinds := kinds(rows, len(names))
	columns := make([]mapping.Column, len(names))
	for i, name := range names {
		columns[i] = mapping.Column{Name: name, Type: kinds[i].column()}
	}
	if err := sqlrows.UniqueNames(columns); err != nil {
		return s.abandon(err)
	}
	if err := sink.Columns(columns); err != nil {
		return s.abandon(err)
	}
	wanted := sqlrows.Wanted(columns, q.Columns)
	values := make([]driver.Value, len(names))
	for {
		switch err := rows.Next(values); {
		case err == io.EOF: //nolint:errorlint // the driver's contract: exactly this, and a wrapped one is another error
			return s.closeRows(rows)
		case err != nil:
			return s.queryFault(err)
		}
		row := mapping.Row{Values: make(map[string]any, len(names))}
		for i, name := range names {
			if wanted[i] {
				row.Values[name] = kinds[i].value(values[i])
			}
		}
		if err := sink.Row(row); err != nil {
			return s.abandon(err)
		}
	}
}

// named is the query for the rows of the keys. Their text is written as a number, which no mode of the server reads in another way, and
// compared as the column is: it may also fit keys that differ in case or in accents, whose rows are read in vain.
func named(q mapping.Query) string {
	if q.Keys == nil {
		return q.SQL.Query
	}
	keys := make([]string, len(q.Keys))
	for i, key := range q.Keys {
		keys[i] = fmt.Sprintf("_utf8mb4 0x%x", key)
	}
	column := "`" + strings.ReplaceAll(q.SQL.Key, "`", "``") + "`"
	return sqlrows.Named(q.SQL.Query, column+" IN ("+strings.Join(keys, ", ")+")")
}

func (s *session) closeRows(rows driver.Rows) error {
	if err := rows.Close(); err != nil {
		return s.queryFault(err)
	}
	return nil
}

// abandon leaves the rest of a result unread. The driver would read all of it to send anything else, so the connection ends here.
func (s *session) abandon(err error) error {
	_ = s.conn.Close()
	s.conn = nil
	return err
}

// readers are the words with which a statement begins that returns rows and can't end the transaction.
var readers = map[string]bool{"SELECT": true, "WITH": true, "VALUES": true, "TABLE": true}

// onlyReads checks the beginning of a query.
func onlyReads(query string) error {
	rest, ok := trimComments(query)
	if !ok {
		return sqlrows.NotSent("the query starts with a comment that the server would execute, or that does not end: remove it")
	}
	end := strings.IndexFunc(rest, func(r rune) bool { return (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') })
	if end < 0 {
		end = len(rest)
	}
	if !readers[strings.ToUpper(rest[:end])] {
		return sqlrows.NotSent("the query does not start with SELECT, WITH, VALUES or TABLE, and no other statements are allowed: " +
			"use one SELECT that returns a row for each tenant")
	}
	return nil
}

// trimComments removes what may be in front of a statement, except for comments that the server executes (/*! and
// /*M!).
func trimComments(query string) (string, bool) {
	for {
		query = strings.TrimLeft(query, " \t\n\r\v\f(")
		switch {
		case strings.HasPrefix(query, "/*!"), strings.HasPrefix(query, "/*M!"), strings.HasPrefix(query, "/*m!"):
			return "", false
		case strings.HasPrefix(query, "/*"):
			_, rest, ok := strings.Cut(query[2:], "*/")
			if !ok {
				return "", false
			}
			query = rest
		case strings.HasPrefix(query, "#"), strings.HasPrefix(query, "-- "), strings.HasPrefix(query, "--\t"), strings.HasPrefix(query, "--\n"):
			_, query, _ = strings.Cut(query, "\n")
		default:
			return query, true
		}
	}
}

// errNumber is the server's number of an error, 0 if it sent none.
func errNumber(err error) uint16 {
	if server, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return server.Number
	}
	return 0
}
