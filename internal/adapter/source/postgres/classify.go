package postgres

import (
	"cmp"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/sqldb"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// Codes that get a text of their own.
const (
	readOnly      = "25006"
	queryCanceled = "57014"
	noPrivilege   = "42501"
)

// answer is what a code means.
type answer struct {
	kind fault.Kind
	// refusal is the text at the door, where those of the server name user and database.
	refusal string
}

// answers have SQLSTATEs, or their classes, which are the first two characters. A code that is not listed is
// fault.Transient.
var answers = map[string]answer{
	"3D000":     {fault.NotFound, "there is no database with this name"},                             // invalid_catalog_name
	"3F000":     {fault.NotFound, ""},                                                                // invalid_schema_name
	"42P01":     {fault.NotFound, ""},                                                                // undefined_table
	"42703":     {fault.NotFound, ""},                                                                // undefined_column
	"42704":     {fault.NotFound, ""},                                                                // undefined_object
	noPrivilege: {fault.Denied, "the user is not allowed to connect to the database: GRANT CONNECT"}, // insufficient_privilege
	"28":        {fault.Denied, "the server rejects the login: check the user name and password, and that the server accepts connections from the operator's address"},
	"28P01":     {fault.Denied, "the password is wrong, or there is no such user"},
	readOnly:    {fault.Invalid, ""},                                                // read_only_sql_transaction
	"0A":        {fault.Invalid, ""},                                                // feature not supported
	"21":        {fault.Invalid, ""},                                                // cardinality violation: a subquery with more than one row
	"22":        {fault.Invalid, badParameter},                                      // data exception: a cast or a division that fails
	"23":        {fault.Invalid, ""},                                                // integrity constraint violation
	"25":        {fault.Invalid, ""},                                                // invalid transaction state: a query that wants another transaction
	"25P03":     {fault.Transient, ""},                                              // idle_in_transaction_session_timeout
	"2D":        {fault.Invalid, ""},                                                // invalid transaction termination
	"26":        {fault.Invalid, ""},                                                // invalid statement name: an EXECUTE
	"2F":        {fault.Invalid, ""},                                                // a function that does what its declaration excludes
	"34":        {fault.Invalid, ""},                                                // invalid cursor name
	"39":        {fault.Invalid, ""},                                                // external routine violation
	"42":        {fault.Invalid, badParameter},                                      // syntax error or access rule violation
	"44":        {fault.Invalid, ""},                                                // with check option violation
	"54":        {fault.Invalid, ""},                                                // program limit exceeded: a statement too complex
	"P0":        {fault.Invalid, ""},                                                // a function that raises an error
	"53300":     {fault.Throttled, "the connection limit of the server is reached"}, // too_many_connections
	"57P03":     {fault.Transient, "the server is starting up or shutting down"},
}

const badParameter = "the server rejects a parameter of the connection string: check options and search_path"

func answerOf(code string) answer {
	exact, class := answers[code], answers[code[:min(2, len(code))]]
	return answer{cmp.Or(exact.kind, class.kind, fault.Transient), cmp.Or(exact.refusal, class.refusal, "the server refused the connection")}
}

// refusedTLS is the library's text for a server that answers the request for TLS with no. It has no value for it.
const refusedTLS = "server refused TLS connection"

// Classify implements sqldb.Server.
func (srv *server) Classify(s *sqldb.Session, err error) fault.Error {
	text, unexplained := store.Unanswered(err), store.Unanswered(errors.New(""))
	switch said, answered := errors.AsType[*pgconn.PgError](err); {
	case answered && s.Connecting():
		return fault.Error{Kind: answerOf(said.Code).kind, Code: said.Code, Message: answerOf(said.Code).refusal}
	case answered && s.Writes && writing[said.Code].refusal != "":
		return fault.Error{Kind: writing[said.Code].kind, Code: said.Code, Message: writing[said.Code].refusal}
	case answered:
		return fault.Error{Kind: answerOf(said.Code).kind, Code: said.Code, Message: srv.text(s, said)}
	case !s.Connecting() || text != unexplained:
		return fault.Error{Kind: fault.Transient, Message: text}
	case strings.Contains(err.Error(), refusedTLS):
		return fault.Error{Kind: fault.Invalid, Message: "the server does not support TLS, but the connection string requires it: enable it in the server, or use " +
			"sslmode=disable, which sends the user name, password and rows as plain text"}
	}
	return fault.Error{
		Kind:    fault.Transient,
		Message: "could not negotiate a connection: check that the server is PostgreSQL, the sslmode, and the authentication method",
	}
}

// writing are the answers to a write, before answers.
var writing = map[string]answer{
	readOnly: {fault.Denied, sqldb.ReadOnly},
	"40P01":  {fault.Transient, sqldb.RowHeld}, // deadlock_detected
	"53100":  {fault.Quota, sqldb.NoRoom},      // disk_full
	"55P03":  {fault.Transient, sqldb.RowHeld}, // lock_not_available
}

// text is that of an answer to a query.
func (srv *server) text(s *sqldb.Session, said *pgconn.PgError) string {
	switch {
	case said.Code == readOnly:
		return "only reads are allowed: the query, or a function that it calls, tries to write or to lock rows"
	// The text of the server would tell, in the language of the server.
	case said.Code == queryCanceled && s.RanOut():
		return s.TookTooLong()
	case said.Code == queryCanceled && s.Writes:
		return "the write was cancelled on the server"
	case said.Code == queryCanceled:
		return "the query was cancelled on the server"
	case said.Code == noPrivilege && s.Writes:
		return srv.redact.Message(said.Message + ": " + sqldb.Rights)
	}
	text := said.Message
	// A hint is only useful in full: "Perhaps you meant … .plan" helps no one.
	if said.Hint != "" && !srv.redact.Spoils(said.Hint) {
		text += " (" + said.Hint + ")"
	}
	return srv.redact.Message(text)
}
