// Package mysql reads tables of customers from MySQL, MariaDB, and what speaks their protocol, and writes tables of states.
//
// A read is one transaction that can't write, with a consistent snapshot, on a connection of its own. Tables of engines without
// transactions, such as MyISAM, are read as they are at each moment. The server takes one statement at a time. A procedure or a block of
// statements could still end the transaction and write outside it, so that only a query is sent that begins with
// SELECT, WITH, VALUES or TABLE; functions that these call can't commit. No transaction covers SELECT ... INTO OUTFILE
// and the like: the user of the connection should not have the right FILE.
//
// Values: integers and DECIMAL become numbers, FLOAT and DOUBLE always a float64. TINYINT(1), which is what BOOL and BOOLEAN are, and
// BIT(1) become a boolean; a TINYINT(1) that is neither 0 nor 1 stays a number, and so do wider TINYINT and BIT. TIMESTAMP and DATETIME
// are taken as UTC. JSON is what it is (MariaDB calls its JSON text, and so it arrives as text). DATE is text, as in 2026-11-21,
// and so are TIME, ENUM, SET and all texts. A date of zeros, which stands for none, is NULL. Bytes are unsupported.
package mysql

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/sqldb"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

// Rows is a port.Rows and a port.Hints for MySQL and MariaDB.
type Rows struct{ sqldb.Reader }

// New makes Rows.
func New(c store.Config) *Rows {
	return &Rows{sqldb.NewReader(c, func(q mapping.Query) (sqldb.Server, error) {
		srv, err := parse(q.Connection.Reveal())
		return srv, cmp.Or(err, onlyReads(q.SQL.Query))
	})}
}

// conn is what the driver's connections can do. It is used without database/sql, whose pool would only be in the way:
// it keeps connections, and retries on its own.
type conn interface {
	driver.Conn
	driver.QueryerContext
}

// server is a sqldb.Server.
type server struct {
	config *mysql.Config
	redact sqldb.Redactor

	conn conn
	// id is the server's number for the connection.
	id uint64
	// unread is set as long as there is more of a result.
	unread bool
}

// Endpoints implements sqldb.Server.
func (srv *server) Endpoints() []string { return []string{srv.config.Addr} }

// Connect implements sqldb.Server.
func (srv *server) Connect(ctx context.Context, dial sqldb.Dial) (err error) {
	ctx, cancel := context.WithTimeout(ctx, sqldb.ConnectTimeout)
	defer cancel()
	srv.config.DialFunc = dial
	srv.conn, err = srv.open(ctx)
	return err
}

func (srv *server) open(ctx context.Context) (conn, error) {
	connector, err := mysql.NewConnector(srv.config)
	if err != nil {
		return nil, err
	}
	opened, err := connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	answers, ok := opened.(conn)
	if !ok {
		_ = opened.Close()
		return nil, errors.New("the driver runs no queries")
	}
	return answers, nil
}

// Close implements sqldb.Server. The driver would read what is unread to send anything else.
func (srv *server) Close(ctx context.Context) {
	switch {
	case srv.unread:
	case ctx.Err() != nil && srv.id != 0:
		srv.kill(ctx)
	default:
		_, _ = srv.Ask(ctx, "ROLLBACK")
	}
	_ = srv.conn.Close()
}

// kill ends the query on the server, which would otherwise run until it next sends something: the protocol has no other
// way than a second connection.
func (srv *server) kill(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sqldb.Farewell)
	defer cancel()
	if second, err := srv.open(ctx); err == nil {
		_, _ = ask(ctx, second, "KILL "+strconv.FormatUint(srv.id, 10))
		_ = second.Close()
	}
}

// Ask implements sqldb.Server.
func (srv *server) Ask(ctx context.Context, statement string) ([]map[string]string, error) {
	return ask(ctx, srv.conn, statement)
}

func ask(ctx context.Context, c conn, statement string) ([]map[string]string, error) {
	rows, err := c.QueryContext(ctx, statement, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var all []map[string]string
	for values, err := range results(rows) {
		if err != nil {
			return nil, err
		}
		row := map[string]string{}
		for i, name := range rows.Columns() {
			row[name] = text(values[i])
		}
		all = append(all, row)
	}
	return all, nil
}

// results are the rows of a result. Their values are the driver's, until the next row.
func results(rows driver.Rows) iter.Seq2[[]driver.Value, error] {
	values := make([]driver.Value, len(rows.Columns()))
	return func(yield func([]driver.Value, error) bool) {
		for {
			err := rows.Next(values)
			if err == io.EOF { //nolint:errorlint // the driver's contract: exactly this, and a wrapped one is another error
				return
			}
			if !yield(values, err) || err != nil {
				return
			}
		}
	}
}

// Query implements sqldb.Server.
func (srv *server) Query(ctx context.Context, q mapping.Query) ([]mapping.Column, iter.Seq2[sqldb.Row, error], error) {
	rows, err := srv.conn.QueryContext(ctx, named(q), nil)
	if err != nil {
		return nil, nil, err
	}
	names := rows.Columns()
	if len(names) == 0 {
		return nil, nil, sqldb.Refused("the query returns no columns: use one SELECT without INTO that returns a row for each tenant")
	}
	srv.unread = true
	kinds := kinds(rows, len(names))
	columns := make([]mapping.Column, len(names))
	for i, name := range names {
		columns[i] = mapping.Column{Name: name, Type: kinds[i].column()}
	}
	return columns, func(yield func(sqldb.Row, error) bool) {
		for values, err := range results(rows) {
			srv.unread = err == nil
			if !yield(func(i int) any { return kinds[i].value(values[i]) }, err) {
				return
			}
		}
		if srv.unread {
			srv.unread = false
			if err := cmp.Or(rows.Close(), srv.warned(ctx)); err != nil {
				yield(nil, err)
			}
		}
	}, nil
}

// named is the query for the rows of the keys. Their text is written as a number, which no mode of the server reads in another way, and
// compared as the column is: it may also fit keys that differ in case or in accents, whose rows are read for nothing.
func named(q mapping.Query) string {
	if q.Keys == nil {
		return q.SQL.Query
	}
	keys := make([]string, len(q.Keys))
	for i, key := range q.Keys {
		keys[i] = literal(key)
	}
	column := "`" + strings.ReplaceAll(q.SQL.Key, "`", "``") + "`"
	return sqldb.Named(q.SQL.Query, column+" IN ("+strings.Join(keys, ", ")+")")
}

// warned refuses a result that the server cut while it called the query a success.
func (srv *server) warned(ctx context.Context) error {
	warnings, err := srv.Ask(ctx, "SHOW WARNINGS")
	for _, warning := range warnings {
		if problem, ok := cuts[warning["Code"]]; ok {
			return sqldb.Refused("%s", problem)
		}
	}
	return err
}

// cuts are the warnings for a result that is not all there is.
var cuts = map[string]string{
	"1260": "GROUP_CONCAT or JSON_ARRAYAGG produced more than 16 MiB, and the server truncated it: aggregate less data",
	"1931": "LIMIT ROWS EXAMINED ended the query before it had read all rows: remove it",
}

// readers are the words with which a statement begins that returns rows and can't end the transaction.
var readers = map[string]bool{"SELECT": true, "WITH": true, "VALUES": true, "TABLE": true}

// onlyReads checks the beginning of a query.
func onlyReads(query string) error {
	rest, ok := trimComments(query)
	if !ok {
		return sqldb.NotSent("the query starts with a comment that the server would execute, or that does not end: remove it")
	}
	end := strings.IndexFunc(rest, func(r rune) bool { return (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') })
	if end < 0 {
		end = len(rest)
	}
	if !readers[strings.ToUpper(rest[:end])] {
		return sqldb.NotSent("the query does not start with SELECT, WITH, VALUES or TABLE, and no other statements are allowed: " +
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
