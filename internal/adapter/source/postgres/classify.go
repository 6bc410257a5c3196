package postgres

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/sqlrows"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// Codes that get a text of their own.
const (
	readOnly      = "25006"
	queryCanceled = "57014"
)

// kinds classifies failures by SQLSTATE, or by its class, which is the first two characters of it. A code that is not
// listed is fault.Transient.
var kinds = map[string]fault.Kind{
	"3D000":  fault.NotFound,  // invalid_catalog_name: no such database
	"3F000":  fault.NotFound,  // invalid_schema_name
	"42P01":  fault.NotFound,  // undefined_table
	"42703":  fault.NotFound,  // undefined_column
	"42704":  fault.NotFound,  // undefined_object
	"42501":  fault.Denied,    // insufficient_privilege
	"28":     fault.Denied,    // invalid authorization
	readOnly: fault.Invalid,   // read_only_sql_transaction
	"0A":     fault.Invalid,   // feature not supported
	"21":     fault.Invalid,   // cardinality violation: a subquery with more than one row
	"22":     fault.Invalid,   // data exception: a cast or a division that fails
	"25":     fault.Invalid,   // invalid transaction state: a query that wants another transaction
	"25P03":  fault.Transient, // idle_in_transaction_session_timeout
	"2D":     fault.Invalid,   // invalid transaction termination
	"26":     fault.Invalid,   // invalid statement name: an EXECUTE
	"2F":     fault.Invalid,   // a function that does what its declaration excludes
	"34":     fault.Invalid,   // invalid cursor name
	"39":     fault.Invalid,   // external routine violation
	"42":     fault.Invalid,   // syntax error or access rule violation
	"44":     fault.Invalid,   // with check option violation
	"54":     fault.Invalid,   // program limit exceeded: a statement too complex
	"P0":     fault.Invalid,   // a function that raises an error
	"53300":  fault.Throttled, // too_many_connections
}

// connecting has fixed texts for refusals at the door: those of the server name user and database.
var connecting = map[string]string{
	"28":    "the server rejects the login: check the user name and password, and that the server accepts connections from the operator's address",
	"28P01": "the password is wrong, or there is no such user",
	"3D000": "there is no database with this name",
	"42501": "the user is not allowed to connect to the database: GRANT CONNECT",
	"22":    badParameter,
	"42":    badParameter,
	"53300": "the connection limit of the server is reached",
	"57P03": "the server is starting up or shutting down",
}

const badParameter = "the server rejects a parameter of the connection string: check options and search_path"

// refusedTLS is the library's text for a server that answers the request for TLS with no. It has no value for it.
const refusedTLS = "server refused TLS connection"

// noTime is for calls that are not the query.
var noTime time.Time

// connectFault classifies a failure to connect.
func (s *session) connectFault(err error) error {
	f := &fault.Error{Kind: fault.Transient, Operation: sqlrows.Operation}
	text, unexplained := store.Unanswered(err), store.Unanswered(errors.New(""))
	switch server, answered := errors.AsType[*pgconn.PgError](err); {
	case s.caller.Err() != nil:
		f.Err, text = s.caller.Err(), store.Unanswered(s.caller.Err())
	case answered:
		f.Kind, f.Code = lookup(kinds, server.Code, fault.Transient), server.Code
		text = lookup(connecting, server.Code, "the server refused the connection")
	case text == unexplained && strings.Contains(err.Error(), refusedTLS):
		f.Kind, text = fault.Invalid, "the server does not support TLS, but the connection string requires it: enable it in the server, or use "+
			"sslmode=disable, which sends the user name, password and rows as plain text"
	case text == unexplained:
		text = "could not negotiate a connection: check that the server is PostgreSQL, the sslmode, and the authentication method"
	}
	f.Message = "connecting to " + s.target.endpoints + ": " + text
	return f
}

// queryFault classifies a failure after that. The start is that of the query.
func (s *session) queryFault(err error, started time.Time) error {
	f := &fault.Error{Kind: fault.Transient, Operation: sqlrows.Operation}
	server, answered := errors.AsType[*pgconn.PgError](err)
	switch {
	case s.caller.Err() != nil:
		f.Err, f.Message = s.caller.Err(), store.Unanswered(s.caller.Err())
	case s.ctx.Err() != nil:
		f.Err, f.Message = context.DeadlineExceeded, sqlrows.TookTooLong(s.timeout)
	case !answered:
		f.Message = s.target.endpoints + ": " + store.Unanswered(err)
	default:
		f.Kind, f.Code, f.Message = lookup(kinds, server.Code, fault.Transient), server.Code, s.text(server, started)
	}
	return f
}

func (s *session) text(server *pgconn.PgError, started time.Time) string {
	switch server.Code {
	case readOnly:
		return "only reads are allowed: the query, or a function that it calls, tries to write or to lock rows"
	case queryCanceled:
		// The text of the server would tell, in the language of the server.
		if started != noTime && time.Since(started) >= s.timeout {
			return sqlrows.TookTooLong(s.timeout)
		}
		return "the query was cancelled on the server"
	}
	text := server.Message
	// A hint is only useful in full: "Perhaps you meant … .plan" helps no one.
	if server.Hint != "" && !s.target.redact.Spoils(server.Hint) {
		text += " (" + server.Hint + ")"
	}
	return s.target.redact.Message(text)
}

// lookup finds a code, or else its class.
func lookup[V any](table map[string]V, code string, otherwise V) V {
	if value, ok := table[code]; ok {
		return value
	}
	if value, ok := table[code[:min(2, len(code))]]; ok {
		return value
	}
	return otherwise
}
