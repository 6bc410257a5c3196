package mysql

import (
	"context"
	"errors"
	"strconv"

	"github.com/go-sql-driver/mysql"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/sqlrows"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

const syntaxError = 1064

// class is what an error number means. A text is set where that of the server is worse: it names the user or the
// database, or it doesn't say how to fix the error.
type class struct {
	kind fault.Kind
	text string
}

const (
	onlyReading = "only reads are allowed: the query, or a function that it calls, tries to write"
	badLogin    = "the server rejects the login: check the user name and password, and that the server accepts this user from the operator's address"
	busy        = "the connection limit of this user is reached"
)

// classes classifies failures by the server's number. A number that is not listed is classified by its SQLSTATE.
var classes = map[uint16]class{
	1049: {fault.NotFound, "there is no database with this name"}, // ER_BAD_DB_ERROR
	1054: {fault.NotFound, ""},                                    // ER_BAD_FIELD_ERROR
	1109: {fault.NotFound, ""},                                    // ER_UNKNOWN_TABLE
	1146: {fault.NotFound, ""},                                    // ER_NO_SUCH_TABLE

	1044: {fault.Denied, "the user is not allowed to use the database: GRANT SELECT on its table"},                                  // ER_DBACCESS_DENIED_ERROR
	1045: {fault.Denied, badLogin},                                                                                                  // ER_ACCESS_DENIED_ERROR
	1130: {fault.Denied, badLogin},                                                                                                  // ER_HOST_NOT_PRIVILEGED
	1142: {fault.Denied, "the user is not allowed to read the table, or it does not exist: check its name, and GRANT SELECT on it"}, // ER_TABLEACCESS_DENIED_ERROR
	1143: {fault.Denied, "the user is not allowed to read a column of the table: GRANT SELECT on it"},                               // ER_COLUMNACCESS_DENIED_ERROR
	1227: {fault.Denied, ""},                                                                                                        // ER_SPECIFIC_ACCESS_DENIED_ERROR
	1356: {fault.NotFound, ""},                                                                                                      // ER_VIEW_INVALID: a table or column of a view is gone, or its right
	1370: {fault.Denied, ""},                                                                                                        // ER_PROCACCESS_DENIED_ERROR
	1698: {fault.Denied, badLogin},                                                                                                  // ER_ACCESS_DENIED_NO_PASSWORD_ERROR
	1820: {fault.Denied, "the password has expired"},                                                                                // ER_MUST_CHANGE_PASSWORD
	1862: {fault.Denied, "the password has expired"},                                                                                // ER_MUST_CHANGE_PASSWORD_LOGIN
	3118: {fault.Denied, "the account is locked"},                                                                                   // ER_ACCOUNT_HAS_BEEN_LOCKED
	4151: {fault.Denied, "the account is locked"},                                                                                   // the same of MariaDB

	1040: {fault.Throttled, "the connection limit of the server is reached"}, // ER_CON_COUNT_ERROR
	1203: {fault.Throttled, busy},                                            // ER_TOO_MANY_USER_CONNECTIONS
	1226: {fault.Throttled, busy},                                            // ER_USER_LIMIT_REACHED

	1290: {fault.Invalid, onlyReading}, // ER_OPTION_PREVENTS_STATEMENT
	1792: {fault.Invalid, onlyReading}, // ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION
	1836: {fault.Invalid, onlyReading}, // ER_READ_ONLY_MODE
	1235: {fault.Invalid, ""},          // ER_NOT_SUPPORTED_YET
	1267: {fault.Invalid, ""},          // ER_CANT_AGGREGATE_2COLLATIONS
	1525: {fault.Invalid, ""},          // ER_WRONG_VALUE
	1271: {fault.Invalid, ""},          // ER_CANT_AGGREGATE_NCOLLATIONS

	1317: {fault.Transient, "the query was cancelled on the server"}, // ER_QUERY_INTERRUPTED
	1927: {fault.Transient, "the query was cancelled on the server"}, // ER_CONNECTION_KILLED
}

// timeouts are the numbers for a query that ran into the timeout, of MySQL and of MariaDB.
var timeouts = map[uint16]bool{3024: true, 1969: true}

// states classifies by the first two characters of the SQLSTATE.
var states = map[string]fault.Kind{
	"21": fault.Invalid, // cardinality violation
	"22": fault.Invalid, // data exception
	"28": fault.Denied,  // invalid authorization
	"42": fault.Invalid, // syntax error or access rule violation
}

func classify(server *mysql.MySQLError) class {
	if c, ok := classes[server.Number]; ok {
		return c
	}
	if kind, ok := states[string(server.SQLState[:2])]; ok {
		return class{kind: kind}
	}
	return class{kind: fault.Transient}
}

// connectFault classifies a failure to connect.
func (s *session) connectFault(err error) error {
	f := &fault.Error{Kind: fault.Transient, Operation: sqlrows.Operation}
	text := store.Unanswered(err)
	switch server, answered := errors.AsType[*mysql.MySQLError](err); {
	case s.caller.Err() != nil:
		f.Err, text = s.caller.Err(), store.Unanswered(s.caller.Err())
	case answered:
		c := classify(server)
		f.Kind, f.Code, text = c.kind, strconv.Itoa(int(server.Number)), c.text
		if text == "" {
			text = "the server refused the connection"
		}
	case errors.Is(err, mysql.ErrNoTLS):
		f.Kind, f.Code, text = fault.Invalid, "", "the server does not support TLS, but the connection string requires it"
	case errors.Is(err, mysql.ErrCleartextPassword), errors.Is(err, mysql.ErrOldPassword), errors.Is(err, mysql.ErrUnknownPlugin),
		errors.Is(err, mysql.ErrNativePassword):
		f.Kind, text = fault.Denied, "the server requires an authentication method that is not allowed here, such as a clear-text password"
	case text == store.Unanswered(errors.New("")):
		text = "the connection was lost before the login: check that the server is MySQL or MariaDB"
	}
	f.Message = "connecting to " + s.target.endpoint + ": " + text
	return f
}

// queryFault classifies a failure after that.
func (s *session) queryFault(err error) error {
	f := &fault.Error{Kind: fault.Transient, Operation: sqlrows.Operation}
	server, answered := errors.AsType[*mysql.MySQLError](err)
	switch {
	case s.caller.Err() != nil:
		f.Err, f.Message = s.caller.Err(), store.Unanswered(s.caller.Err())
	case s.ctx.Err() != nil:
		f.Err, f.Message = context.DeadlineExceeded, sqlrows.TookTooLong(s.timeout)
	case !answered:
		text := store.Unanswered(err)
		if text == store.Unanswered(errors.New("")) {
			// The driver has errors of its own for what the network did.
			text = "the connection was lost"
		}
		f.Message = s.target.endpoint + ": " + text
	default:
		c := classify(server)
		f.Kind, f.Code, f.Message = c.kind, strconv.Itoa(int(server.Number)), c.text
		switch {
		case timeouts[server.Number]:
			f.Message = sqlrows.TookTooLong(s.timeout)
		case c.text == "":
			f.Message = s.target.redact.Message(server.Message)
		}
	}
	return f
}
