// Package postgres reads tables of customers from PostgreSQL, and from what speaks its protocol.
//
// A read is one transaction that can't write (REPEATABLE READ, READ ONLY), on a connection of its own. The query goes over in the
// extended protocol, which takes exactly one statement, so that nothing behind a semicolon ends the transaction and
// writes outside it. It is described before it runs: what returns no columns is not run at all.
//
// Values arrive in the server's text form. Integers and numeric become numbers; float4 and float8 always a float64 (NaN and the infinities
// their name); boolean, timestamps (without a zone: taken as UTC), json, jsonb and arrays what they are; bytea is unsupported. All
// else is its text: a date is 2026-11-21, and uuid, enumerations, citext, ranges and money are as psql shows them.
package postgres

import (
	"context"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/sqlrows"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

// farewell bounds what is still said to a server after a read was given up: the request to cancel its query.
const farewell = time.Second

// Config configures Rows.
type Config struct {
	// Timeout is how long a query may take. 0 is sqlrows.DefaultTimeout.
	Timeout time.Duration
	// Guard is asked before each connection; nil allows all.
	Guard *store.Guard
}

// Rows is a port.Rows for PostgreSQL.
type Rows struct {
	timeout time.Duration
	guard   *store.Guard
}

// New makes Rows. The process must not have PG* variables in its environment, from which the library would take what a
// connection string leaves out: a reader has none.
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
	// statement_timeout does not see a network that swallows everything, nor a reader that is too slow.
	bounded, cancel := context.WithTimeout(ctx, time.Duration(target.count)*sqlrows.ConnectTimeout+r.timeout+sqlrows.Grace)
	defer cancel()

	s := &session{ctx: bounded, caller: ctx, target: target, timeout: r.timeout, wires: wires{guard: r.guard}}
	defer s.close()
	if err := s.connect(); err != nil {
		return err
	}
	if err := s.begin(); err != nil {
		return err
	}
	return s.read(q, sink)
}

// session is one read.
//
//nolint:containedctx // a session lives as long as one call, whose contexts these are
type session struct {
	// ctx is the caller's with an end of our own.
	ctx, caller context.Context
	target      target
	timeout     time.Duration
	conn        *pgconn.PgConn
	wires       wires
	// listening is set where the connection waits for notifications.
	listening bool
}

func (s *session) connect() error {
	config := s.target.config
	config.DialFunc = s.wires.dial
	// The guard has to see the name. Dialing resolves it.
	config.LookupFunc = func(_ context.Context, host string) ([]string, error) { return []string{host}, nil }
	if !s.listening { // a wait that ends has no query to cancel, and the request could meet the next one
		config.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler {
			// Closing the connection would leave the server busy until it next sends something.
			return &pgconn.CancelRequestContextWatcherHandler{Conn: conn, DeadlineDelay: farewell}
		}
	}
	var err error
	if s.conn, err = pgconn.ConnectConfig(s.ctx, config); err != nil {
		return s.connectFault(err)
	}
	return nil
}

// close ends the connection, and what the library does about it in the background.
func (s *session) close() {
	if s.conn == nil {
		s.wires.close()
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), farewell)
	defer cancel()
	if !s.conn.IsClosed() {
		_, _ = s.conn.Exec(ctx, "ROLLBACK").ReadAll()
		_ = s.conn.Close(ctx)
	}
	s.wires.close()
	<-s.conn.CleanupDone()
}

// read describes the query, then runs it.
func (s *session) read(q mapping.Query, sink mapping.Sink) error {
	query, keys := named(q)
	statement, err := s.conn.Prepare(s.ctx, "", query, nil)
	if err != nil {
		return s.queryFault(err, time.Time{})
	}
	if len(statement.ParamOIDs) > len(keys) {
		return sqlrows.Refused("the query has a placeholder like $1, but placeholders are not supported: write the value itself")
	}
	if len(statement.Fields) == 0 {
		return sqlrows.Refused("the query returns no columns and was not run: use one SELECT that returns a row for each tenant")
	}
	kinds, err := s.kinds(statement.Fields)
	if err != nil {
		return err
	}
	columns := make([]mapping.Column, len(kinds))
	for i, field := range statement.Fields {
		columns[i] = mapping.Column{Name: field.Name, Type: kinds[i].column()}
	}
	if err := sqlrows.UniqueNames(columns); err != nil {
		return err
	}
	if err := sink.Columns(columns); err != nil {
		return err
	}
	wanted := sqlrows.Wanted(columns, q.Columns)
	return s.stream(query, keys, func(values [][]byte) error {
		row := mapping.Row{Values: make(map[string]any, len(columns))}
		for i, c := range columns {
			if wanted[i] {
				row.Values[c.Name] = kinds[i].value(values[i])
			}
		}
		return sink.Row(row)
	})
}

// named is the query for the rows of the keys, and what it has in place of its placeholders. The server takes the keys for
// what the column is, so that an index serves.
func named(q mapping.Query) (query string, params [][]byte) {
	if q.Keys == nil {
		return q.SQL.Query, nil
	}
	keys := make([]string, len(q.Keys))
	for i, key := range q.Keys {
		keys[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(key) + `"`
	}
	return sqlrows.Named(q.SQL.Query, identifier(q.SQL.Key)+" = ANY($1)"), [][]byte{[]byte("{" + strings.Join(keys, ",") + "}")}
}

// stream hands out rows as they arrive. It returns nil only after the server's word that these were all.
func (s *session) stream(query string, params [][]byte, row func([][]byte) error) error {
	ctx, stop := context.WithCancel(s.ctx)
	defer stop()
	started := time.Now()
	result := s.conn.ExecParams(ctx, query, params, nil, nil, nil)
	for result.NextRow() {
		if err := row(result.Values()); err != nil {
			// Without this the rest of the table would be read, only to end the query.
			stop()
			_, _ = result.Close()
			return err
		}
	}
	if _, err := result.Close(); err != nil {
		return s.queryFault(err, started)
	}
	return nil
}

// wires are the network connections of a session. The library leaves some to be closed in the background, for up to 15 seconds.
type wires struct {
	guard  *store.Guard
	mu     sync.Mutex
	conns  []net.Conn
	closed bool
}

func (w *wires) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := w.guard.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		_ = conn.Close()
		return nil, net.ErrClosed
	}
	w.conns = append(w.conns, conn)
	return conn, nil
}

func (w *wires) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for _, conn := range slices.Backward(w.conns) {
		_ = conn.Close()
	}
}
