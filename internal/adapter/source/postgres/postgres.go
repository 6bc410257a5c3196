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
	"iter"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/sqldb"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

// Rows is a port.Rows and a port.Hints for PostgreSQL.
type Rows struct{ sqldb.Reader }

// New makes Rows. The process must not have PG* variables in its environment, from which the library would take what a
// connection string leaves out: a reader has none.
func New(c store.Config) *Rows {
	return &Rows{sqldb.NewReader(c, func(q mapping.Query) (sqldb.Server, error) { return parse(q.Connection.Reveal()) })}
}

// server is a sqldb.Server.
type server struct {
	config    *pgconn.Config
	endpoints []string
	redact    sqldb.Redactor

	conn *pgconn.PgConn
	// hangUp closes the network connections, of which the library leaves some to be closed in the background, for up to 15
	// seconds.
	hangUp context.CancelFunc
}

// Endpoints implements sqldb.Server.
func (srv *server) Endpoints() []string { return srv.endpoints }

// Connect implements sqldb.Server.
func (srv *server) Connect(ctx context.Context, dial sqldb.Dial) (err error) {
	var life context.Context
	life, srv.hangUp = context.WithCancel(context.WithoutCancel(ctx))
	srv.config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		wire, err := dial(ctx, network, address)
		if err == nil {
			context.AfterFunc(life, func() { _ = wire.Close() })
		}
		return wire, err
	}
	// The guard has to see the name. Dialing resolves it.
	srv.config.LookupFunc = func(_ context.Context, host string) ([]string, error) { return []string{host}, nil }
	if srv.config.OnNotification == nil { // a wait that ends has no query to cancel, and the request could meet the next one
		srv.config.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler {
			// Closing the connection would leave the server busy until it next sends something.
			return &pgconn.CancelRequestContextWatcherHandler{Conn: conn, DeadlineDelay: sqldb.Farewell}
		}
	}
	if srv.conn, err = pgconn.ConnectConfig(ctx, srv.config); err != nil {
		srv.hangUp()
	}
	return err
}

// Close implements sqldb.Server. It also ends the library's work on it in the background.
func (srv *server) Close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sqldb.Farewell)
	defer cancel()
	if !srv.conn.IsClosed() {
		_, _ = srv.Ask(ctx, "ROLLBACK")
		_ = srv.conn.Close(ctx)
	}
	srv.hangUp()
	<-srv.conn.CleanupDone()
}

// Ask implements sqldb.Server, also for several statements at once.
func (srv *server) Ask(ctx context.Context, statements string) ([]map[string]string, error) {
	results, err := srv.conn.Exec(ctx, statements).ReadAll()
	var rows []map[string]string
	for _, result := range results {
		for _, values := range result.Rows {
			row := map[string]string{}
			for i, field := range result.FieldDescriptions {
				row[field.Name] = string(values[i])
			}
			rows = append(rows, row)
		}
	}
	return rows, err
}

// Query implements sqldb.Server. It describes the query, which runs when its rows are asked for.
func (srv *server) Query(ctx context.Context, q mapping.Query) ([]mapping.Column, iter.Seq2[sqldb.Row, error], error) {
	query, keys := named(q)
	statement, err := srv.conn.Prepare(ctx, "", query, nil)
	if err != nil {
		return nil, nil, err
	}
	if len(statement.ParamOIDs) > len(keys) {
		return nil, nil, sqldb.Refused("the query has a placeholder like $1, but placeholders are not supported: write the value itself")
	}
	if len(statement.Fields) == 0 {
		return nil, nil, sqldb.Refused("the query returns no columns and was not run: use one SELECT that returns a row for each tenant")
	}
	kinds, err := srv.kindsOf(ctx, statement.Fields)
	if err != nil {
		return nil, nil, err
	}
	columns := make([]mapping.Column, len(kinds))
	for i, field := range statement.Fields {
		columns[i] = mapping.Column{Name: field.Name, Type: kinds[i].column}
	}
	return columns, func(yield func(sqldb.Row, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		result := srv.conn.ExecParams(ctx, query, keys, nil, nil, nil)
		for result.NextRow() {
			values := result.Values()
			if !yield(func(i int) any { return kinds[i].of(values[i]) }, nil) {
				// Without this the rest of the table would be read, only to end the query.
				stop()
				_, _ = result.Close()
				return
			}
		}
		if _, err := result.Close(); err != nil {
			yield(nil, err)
		}
	}, nil
}

// named is the query for the rows of the keys, and what it has in place of its placeholders. The server gives the keys
// the column's type, so that it can use an index.
func named(q mapping.Query) (query string, params [][]byte) {
	if q.Keys == nil {
		return q.SQL.Query, nil
	}
	keys := make([]string, len(q.Keys))
	for i, key := range q.Keys {
		keys[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(key) + `"`
	}
	return sqldb.Named(q.SQL.Query, identifier(q.SQL.Key)+" = ANY($1)"), [][]byte{[]byte("{" + strings.Join(keys, ",") + "}")}
}
