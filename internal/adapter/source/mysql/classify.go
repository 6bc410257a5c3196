package mysql

import (
	"cmp"
	"errors"
	"strconv"

	"github.com/go-sql-driver/mysql"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/sqldb"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

const syntaxError = "1064"

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

// writing classifies failures of writes, before classes.
var writing = map[uint16]class{
	1044: {fault.Denied, noRights}, // ER_DBACCESS_DENIED_ERROR
	1142: {fault.Denied, noRights}, // ER_TABLEACCESS_DENIED_ERROR
	1143: {fault.Denied, noRights}, // ER_COLUMNACCESS_DENIED_ERROR

	1290: {fault.Denied, sqldb.ReadOnly}, // ER_OPTION_PREVENTS_STATEMENT
	1792: {fault.Denied, sqldb.ReadOnly}, // ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION
	1836: {fault.Denied, sqldb.ReadOnly}, // ER_READ_ONLY_MODE

	1021: {fault.Quota, sqldb.NoRoom}, // ER_DISK_FULL
	1114: {fault.Quota, sqldb.NoRoom}, // ER_RECORD_FILE_FULL
	3675: {fault.Quota, sqldb.NoRoom}, // ER_DISK_FULL_NOWAIT

	1205: {fault.Transient, sqldb.RowHeld}, // ER_LOCK_WAIT_TIMEOUT
	1213: {fault.Transient, sqldb.RowHeld}, // ER_LOCK_DEADLOCK

	1364: {fault.Invalid, ""}, // ER_NO_DEFAULT_FOR_FIELD
	1366: {fault.Invalid, ""}, // ER_TRUNCATED_WRONG_VALUE_FOR_FIELD
	1644: {fault.Invalid, ""}, // ER_SIGNAL_EXCEPTION
	3819: {fault.Invalid, ""}, // ER_CHECK_CONSTRAINT_VIOLATED

	1317: {fault.Transient, "the write was cancelled on the server"}, // ER_QUERY_INTERRUPTED
	1927: {fault.Transient, "the write was cancelled on the server"}, // ER_CONNECTION_KILLED
}

const noRights = "the user is not allowed to write the table: " + sqldb.Rights

// states classifies failures by the first two characters of the SQLSTATE. Others are fault.Transient.
var states = map[string]fault.Kind{
	"21": fault.Invalid, // cardinality violation
	"22": fault.Invalid, // data exception
	"23": fault.Invalid, // integrity constraint violation
	"28": fault.Denied,  // invalid authorization
	"42": fault.Invalid, // syntax error or access rule violation
}

// timeouts are the numbers for a query that ran into the timeout, of MySQL and of MariaDB.
var timeouts = map[uint16]bool{3024: true, 1969: true}

// Classify implements sqldb.Server.
func (srv *server) Classify(s *sqldb.Session, err error) fault.Error {
	text, unexplained := store.Unanswered(err), store.Unanswered(errors.New(""))
	switch server, answered := errors.AsType[*mysql.MySQLError](err); {
	case answered:
		c := classes[server.Number]
		if other, ok := writing[server.Number]; ok && s.Writes && !s.Connecting() {
			c = other
		}
		switch {
		case timeouts[server.Number] && !s.Connecting():
			c.text = s.TookTooLong()
		case c.text == "" && s.Connecting():
			c.text = "the server refused the connection"
		case c.text == "":
			c.text = srv.redact.Message(server.Message)
		}
		kind := cmp.Or(c.kind, states[string(server.SQLState[:2])], fault.Transient)
		return fault.Error{Kind: kind, Code: strconv.Itoa(int(server.Number)), Message: c.text}
	case text != unexplained:
		return fault.Error{Kind: fault.Transient, Message: text}
	case !s.Connecting():
		// The driver has errors of its own for what the network did.
		return fault.Error{Kind: fault.Transient, Message: "the connection was lost"}
	case errors.Is(err, mysql.ErrNoTLS):
		return fault.Error{Kind: fault.Invalid, Message: "the server does not support TLS, but the connection string requires it"}
	case errors.Is(err, mysql.ErrCleartextPassword), errors.Is(err, mysql.ErrOldPassword), errors.Is(err, mysql.ErrUnknownPlugin),
		errors.Is(err, mysql.ErrNativePassword):
		return fault.Error{Kind: fault.Denied, Message: "the server requires an authentication method that is not allowed here, such as a clear-text password"}
	}
	return fault.Error{Kind: fault.Transient, Message: "the connection was lost before the login: check that the server is MySQL or MariaDB"}
}
