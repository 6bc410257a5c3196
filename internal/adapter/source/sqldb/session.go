package sqldb

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// Dial opens a network connection, if the guard allows it.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// Session is what is done on one connection.
//
//nolint:containedctx // a session lives as long as one call, whose contexts these are
type Session struct {
	// Ctx is the caller's with an end of our own.
	Ctx context.Context

	// Timeout is how long a query may take.
	Timeout time.Duration

	// Writes is set where rows are written, and not read.
	Writes bool

	// Dial is what the server connects with.
	Dial Dial

	caller context.Context
	server Server
	// connected is set behind the handshake, and began when the query of the customer is sent.
	connected bool
	began     time.Time
}

// Session makes a session with a server.
func (r *Reader) Session(ctx context.Context, server Server) *Session {
	return &Session{Ctx: ctx, caller: ctx, server: server, Dial: r.Guard.DialContext, Timeout: r.Timeout}
}

// Within is the session for a part of it that may take so long.
func (s *Session) Within(bound time.Duration) (*Session, context.CancelFunc) {
	part := *s
	var cancel context.CancelFunc
	part.Ctx, cancel = context.WithTimeout(s.Ctx, bound)
	return &part, cancel
}

// Soon gives a server that does not answer no longer than it has to connect.
func (s *Session) Soon(do func(*Session) error) error {
	part, cancel := s.Within(ConnectTimeout)
	defer cancel()
	err := do(part)
	if err != nil && part.Ctx.Err() != nil {
		return s.Fault(part.Ctx.Err()) // no query took too long
	}
	return err
}

// Connect opens the connection.
func (s *Session) Connect() error {
	if err := s.server.Connect(s.Ctx, s.Dial); err != nil {
		return s.Fault(err)
	}
	s.connected = true
	return nil
}

// Close ends the connection. Rows that were not taken are not read first.
func (s *Session) Close() {
	if s.connected {
		s.server.Close(s.Ctx)
	}
}

// Ask runs a statement of the adapter's own.
func (s *Session) Ask(statement string) ([]map[string]string, error) {
	rows, err := s.server.Ask(s.Ctx, statement)
	if err != nil {
		return nil, s.Fault(err)
	}
	return rows, nil
}

// Exec runs statements of the adapter's own that return nothing.
func (s *Session) Exec(statements ...string) error {
	for _, statement := range statements {
		if _, err := s.Ask(statement); err != nil {
			return err
		}
	}
	return nil
}

// RefuseLag fails if one of the rows with the server's status says that it is a replica which lags. A server that can't
// tell is taken at its word.
func (s *Session) RefuseLag(status []map[string]string, err error, lag func(map[string]string) string) error {
	if fault.CodeOf(err) != "" {
		return nil
	}
	for _, row := range status {
		if problem := lag(row); problem != "" {
			return &fault.Error{
				Kind: fault.Transient, Operation: operation,
				Message: "the database is a replica that " + problem + ": connect to the primary, or repair the replication",
			}
		}
	}
	return err
}

// RefuseReadOnly fails if the answer to the question whether the server only reads has a yes. A server that can't tell is taken
// at its word.
func (s *Session) RefuseReadOnly(question string) error {
	answers, err := s.Ask(question)
	if fault.CodeOf(err) != "" {
		return nil
	}
	for _, answer := range answers {
		for _, word := range answer {
			if !slices.Contains([]string{"0", "OFF", "f", "false", ""}, word) {
				return &fault.Error{Kind: fault.Denied, Operation: operationWrite, Message: ReadOnly}
			}
		}
	}
	return err
}

// What is said about writes that fail.
const (
	ReadOnly = "the server is read-only, as a replica is: connect to the primary"
	NoRoom   = "the server has no room left on its disk: free some, or add some"
	RowHeld  = "another session holds a lock on the row, or on the table"
	// Rights ends the text of a server that denies a write.
	Rights = "GRANT SELECT, INSERT, UPDATE, DELETE on the table, and the use of its schema, to the user"
)

// What is wrong with a replica.
var (
	CutOff = "receives no data from its primary"
	Behind = fmt.Sprintf("is more than %s behind its primary", MaxLag)
)

// Connecting reports whether the server has not let us in yet.
func (s *Session) Connecting() bool { return !s.connected }

// RanOut reports whether the query of the customer has run for as long as it may.
func (s *Session) RanOut() bool { return !s.began.IsZero() && time.Since(s.began) >= s.Timeout }

// TookTooLong is the text for a query that ran into the timeout.
func (s *Session) TookTooLong() string {
	if s.Writes {
		return fmt.Sprintf("writing took longer than %s: check what else the server does, and which locks others hold on the table", s.Timeout)
	}
	return fmt.Sprintf("the query took longer than the read timeout of %s: make it faster, for example with an index, "+
		"or raise the operator's read timeout", s.Timeout)
}

// Fault classifies a failure of the connection, unless it is that already.
func (s *Session) Fault(err error) error {
	if fault.Classified(err) {
		return err
	}
	f, endpoints := s.server.Classify(s, err), strings.Join(s.server.Endpoints(), ", ")
	switch {
	case s.caller.Err() != nil:
		f = fault.Error{Kind: fault.Transient, Message: store.Unanswered(s.caller.Err()), Err: s.caller.Err()}
	case s.Connecting():
	case s.Ctx.Err() != nil:
		f = fault.Error{Kind: fault.Transient, Message: s.TookTooLong(), Err: context.DeadlineExceeded}
	case f.Code == "":
		f.Message = endpoints + ": " + f.Message
	}
	if s.Connecting() {
		f.Message = "connecting to " + endpoints + ": " + f.Message
	}
	if f.Operation = operation; s.Writes {
		f.Operation = operationWrite
	}
	return &f
}
