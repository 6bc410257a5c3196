// Package mapping makes an object of each row of a table of customers, as a compiled config says: fields, conversions,
// expressions, and the bounds of all of them. A row that can't become one is rejected with a reason.
package mapping

import "fmt"

// Row is one row, document, item or hash of a table of customers.
type Row struct {
	// Key names the row for people, where the store has its own key in addition to the columns: the key of Redis, the
	// _id of MongoDB. Empty where it has none.
	Key string
	// Values are the columns by name. A value is nil, bool, int64, float64, string, time.Time, []any or
	// map[string]any of these, or Unsupported. Numbers that fit no int64 and no float64 exactly are strings.
	Values map[string]any
}

// Unsupported is a value that no field can take, such as bytes that are no text. It names the
// type in the words of the store. A row is rejected only when it is used.
type Unsupported string

// Type is what is known of the values of a column, coarse enough that a harmless change of the
// table (a longer text, a wider number) does not change it.
type Type string

// The types.
const (
	TypeString  Type = "string"
	TypeNumber  Type = "number"
	TypeBoolean Type = "boolean"
	TypeTime    Type = "time"
	TypeList    Type = "list"
	TypeObject  Type = "object"
	TypeOther   Type = "other"
	// TypeMixed is that of a column that different rows fill differently, or whose type the store does not tell.
	TypeMixed Type = "mixed"
)

// Column is one column that was seen.
type Column struct {
	Name string
	Type Type
}

// Sink takes what a read finds. An error that it returns ends the read, which returns it.
// It is not safe for concurrent use.
type Sink interface {
	// Columns takes all columns of the result, before the first row. Stores without a schema
	// don't call it.
	Columns(columns []Column) error
	// Row takes one row. The row is the sink's from then on.
	Row(row Row) error
}

// Provider is a kind of store.
type Provider string

// The providers.
const (
	DynamoDB Provider = "dynamodb"
	Postgres Provider = "postgres"
	MySQL    Provider = "mysql"
	MongoDB  Provider = "mongodb"
	Redis    Provider = "redis"
)

// Query says what to read, and as whom.
type Query struct {
	// Namespace is that of the source; roles are assumed on its behalf.
	Namespace string
	// Connection is the connection string of a database. DynamoDB has none, and with a Login it is made for each call.
	Connection Secret
	// Login is set where a token of AWS IAM replaces the password.
	Login *Login
	// Columns are those that are used; the others may be left out of the rows. Nil means all.
	Columns []string
	// Hosts are those that may be read from, each with or without a port, and with stars. Nil means all.
	Hosts []string
	// Keys are those of the only rows to read, in a form that only the store knows. Nil means all rows. Such a read
	// proves nothing about rows that are missing from it.
	Keys []string
	// Condensed is set where only a comparison of the rows is wanted. See statetable.Condense.
	Condensed bool
	// Watch says how changes are told, nil if they are not.
	Watch *Watch

	SQL      SQLQuery
	DynamoDB DynamoDBQuery
	MongoDB  MongoDBQuery
	Redis    RedisQuery
}

// Watch is how a store tells of changes. DynamoDB, MongoDB and Redis need no more than that there is one.
type Watch struct {
	// Channel is what PostgreSQL is told to LISTEN to.
	Channel string
	// Query is what MySQL and MariaDB are asked every second.
	Query string
}

// SQLQuery is for PostgreSQL, MySQL and MariaDB.
type SQLQuery struct {
	// Query is one statement that returns rows.
	Query string
	// Key is the column that Query.Keys are values of; empty where there is none.
	Key string
}

// DynamoDBQuery is a scan of a table.
type DynamoDBQuery struct {
	TableName string
	// Region is empty for that of the operator.
	Region         string
	ConsistentRead bool
	// Segments are read at the same time, 1 or more.
	Segments int
	// AssumeRoleARN is empty for the operator's own identity.
	AssumeRoleARN string
	// Filter is a filter expression, empty for all items. It refers to Names (#x) and Values (:x).
	Filter string
	Names  map[string]string
	// Values are bool, string, or Number.
	Values map[string]any
}

// Number is a decimal number as it is written.
type Number string

// MongoDBQuery finds documents.
type MongoDBQuery struct {
	Database, Collection string
	// Filter is a filter document in extended JSON, empty for all documents.
	Filter string
}

// RedisQuery reads the hashes or JSON values whose keys match.
type RedisQuery struct {
	// KeyPattern is a pattern of SCAN, for example customer:*.
	KeyPattern string
}

// Codes of failures that no store sends: they come from the adapter, before or instead of a call.
const (
	// CodeConnectionString: the connection string can't be used as it is. Kind fault.Invalid.
	CodeConnectionString = "InvalidConnectionString"
	// CodeQuery: the query or filter can't be sent. Kind fault.Invalid.
	CodeQuery = "InvalidQuery"
	// CodeRoleNotAllowed: the administrator has not allowed the role. Kind fault.Denied.
	CodeRoleNotAllowed = "RoleNotAllowed"
)

// Secret is a text that is never shown: not in logs, errors or JSON.
type Secret struct{ text string }

// NewSecret hides the text.
func NewSecret(text string) Secret { return Secret{text: text} }

// Reveal returns the text, for the one that connects with it.
func (s Secret) Reveal() string { return s.text }

const redacted = "[redacted]"

// String implements fmt.Stringer.
func (s Secret) String() string { return redacted }

// Format implements fmt.Formatter, for every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redacted)) }

// MarshalText implements encoding.TextMarshaler, and with it that of JSON.
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }
