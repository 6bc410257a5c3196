// Package sqldb is what the adapters for SQL databases share: a connection string is taken apart without a look at
// anything of the operator's own machine, and a session uses a connection of its own, whose failures are told in
// the same words. A database's own part is its Server.
package sqldb

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

const (
	// DefaultTimeout is the read timeout where none is configured.
	DefaultTimeout = time.Minute
	// ConnectTimeout bounds the way to one server, its handshake included.
	ConnectTimeout = 10 * time.Second
	// Grace is what a read may take longer than its query before it is given up from our side: the database should be
	// the first to say that the time is over.
	Grace = 10 * time.Second
	// LockTimeout bounds the wait for a table that is being altered.
	LockTimeout = 10 * time.Second
	// MaxLag is how far a replica may be behind before it is not read.
	MaxLag = time.Minute
	// Farewell bounds the last message to a server after a read was given up: the order to end its query.
	Farewell = time.Second
)

// The names of what these adapters do.
const (
	operation      = "Read"
	operationWrite = "Write"
)

// Server is a database to which a checked connection string leads.
type Server interface {
	// Endpoints are host:port of all its servers, which is all that texts tell of the connection string.
	Endpoints() []string
	// Connect opens the connection, and Close ends it. The context of Close may have ended, and a query with it.
	Connect(ctx context.Context, dial Dial) error
	Close(ctx context.Context)
	// Begin opens a transaction that can't write, on a server that is known not to lag.
	Begin(s *Session) error
	// Ask runs a statement of the adapter's own, whose answer is short. NULL is an empty text.
	Ask(ctx context.Context, statement string) ([]map[string]string, error)
	// Query returns the columns of a query, and its rows as they arrive. Their end is the server's word that these were
	// all.
	Query(ctx context.Context, q mapping.Query) ([]mapping.Column, iter.Seq2[Row, error], error)
	// Classify says what an error of the library means. It has a code if the server has answered.
	Classify(s *Session, err error) fault.Error
}

// Row returns the value of a column, as long as it is the current row.
type Row func(column int) any

// Reader reads tables of one kind of database.
type Reader struct {
	store.Config

	server func(mapping.Query) (Server, error)
}

// NewReader makes a reader of the servers to which queries lead.
func NewReader(c store.Config, server func(mapping.Query) (Server, error)) Reader {
	if c.Timeout <= 0 {
		c.Timeout = DefaultTimeout
	}
	return Reader{c, server}
}

// Read implements port.Rows.
func (r *Reader) Read(ctx context.Context, q mapping.Query, sink mapping.Sink) error {
	server, err := r.server(q)
	if err != nil {
		return err
	}
	// The server's own timeout does not see a network that swallows everything, nor a reader that is too slow.
	bound := time.Duration(len(server.Endpoints()))*ConnectTimeout + r.Timeout + Grace
	s, cancel := r.Session(ctx, server).Within(bound)
	defer cancel()
	defer s.Close()
	if err := s.Connect(); err != nil {
		return err
	}
	if err := server.Begin(s); err != nil {
		return err
	}
	return s.read(q, sink)
}

// read hands out the rows of the query as they arrive.
func (s *Session) read(q mapping.Query, sink mapping.Sink) error {
	s.began = time.Now()
	columns, rows, err := s.server.Query(s.Ctx, q)
	if err != nil {
		return s.Fault(err)
	}
	wanted := make([]bool, len(columns))
	for i, c := range columns {
		if slices.ContainsFunc(columns[:i], func(other mapping.Column) bool { return other.Name == c.Name }) {
			return Refused("the query returns two columns named %q: rename one of them with AS", c.Name)
		}
		wanted[i] = q.Columns == nil || slices.Contains(q.Columns, c.Name)
	}
	if err := sink.Columns(columns); err != nil {
		return err
	}
	for value, err := range rows {
		if err != nil {
			return s.Fault(err)
		}
		row := mapping.Row{Values: make(map[string]any, len(columns))}
		for i, c := range columns {
			if wanted[i] {
				row.Values[c.Name] = value(i)
			}
		}
		if err := sink.Row(row); err != nil {
			return err
		}
	}
	return nil
}

// Named is the query for some rows of a query, those whose key fulfils the condition. The query ends before a line that
// it did not write, whether its last line is a comment or not.
func Named(query, condition string) string {
	return "SELECT * FROM (\n" + strings.TrimRight(query, "; \t\r\n") + "\n) AS tenant_rows WHERE " + condition
}

// Refused is the failure of a query whose result can't be used.
func Refused(format string, args ...any) error {
	return &fault.Error{Kind: fault.Invalid, Operation: operation, Message: fmt.Sprintf(format, args...)}
}

// NotSent is the failure of a query that no server is asked about.
func NotSent(problem string) error {
	return &fault.Error{Kind: fault.Invalid, Operation: operation, Code: mapping.CodeQuery, Message: problem}
}
