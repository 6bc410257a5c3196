// Package sqlrows is what the adapters for SQL databases share: how a connection string is taken apart
// without a look at anything of the operator's own machine, and what is the same in all results.
package sqlrows

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

const (
	// Program is the name by which a database knows the operator.
	Program = "cloudfront-tenant-operator"
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
)

// Operation is the name of the one thing that these adapters do.
const Operation = "Read"

// BadConnection refuses a connection string. The problem is a fixed text: nothing of the string may reach it.
func BadConnection(problem string) error {
	return &fault.Error{
		Kind: fault.Invalid, Operation: Operation, Code: mapping.CodeConnectionString,
		Message: "the connection string " + problem,
	}
}

// NotSent is the failure of a query that no server is asked about.
func NotSent(problem string) error {
	return &fault.Error{Kind: fault.Invalid, Operation: Operation, Code: mapping.CodeQuery, Message: problem}
}

// Refused is the failure of a query whose result can't be used.
func Refused(format string, args ...any) error {
	return &fault.Error{Kind: fault.Invalid, Operation: Operation, Message: fmt.Sprintf(format, args...)}
}

// TookTooLong is the text for a query that ran into the timeout.
func TookTooLong(timeout time.Duration) string {
	return fmt.Sprintf("the query took longer than the read timeout of %s: make it faster, for example with an index, "+
		"or raise the operator's read timeout", timeout)
}

// Lagging is the failure of a read from a replica.
func Lagging(problem string) error {
	return &fault.Error{
		Kind: fault.Transient, Operation: Operation,
		Message: "the database is a replica that " + problem + ": connect to the primary, or repair the replication",
	}
}

// UniqueNames refuses a result in which two columns have the same name: it would not be clear which of them is meant.
func UniqueNames(columns []mapping.Column) error {
	seen := make(map[string]bool, len(columns))
	for _, c := range columns {
		if seen[c.Name] {
			return Refused("the query returns two columns named %q: rename one of them with AS", c.Name)
		}
		seen[c.Name] = true
	}
	return nil
}

// Wanted tells for each column whether the query uses it.
func Wanted(columns []mapping.Column, used []string) []bool {
	names := make(map[string]bool, len(used))
	for _, name := range used {
		names[name] = true
	}
	wanted := make([]bool, len(columns))
	for i, c := range columns {
		wanted[i] = used == nil || names[c.Name]
	}
	return wanted
}

// Text is the value of a textual column, unless it is no text after all.
func Text(text, typeName string) any {
	if !utf8.ValidString(text) {
		return mapping.Unsupported(typeName + " that is not UTF-8")
	}
	return text
}

// JSON is the value of a JSON document. What is none stays a text.
func JSON(text string) any {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return text
	}
	if _, err := decoder.Token(); err != io.EOF {
		return text
	}
	return exact(value)
}

func exact(value any) any {
	switch v := value.(type) {
	case json.Number:
		return store.Number(v.String())
	case []any:
		for i := range v {
			v[i] = exact(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = exact(v[key])
		}
	}
	return value
}

// Redactor cuts out of a server's text what the connection string says.
type Redactor struct {
	names    []*regexp.Regexp
	password string
}

// NewRedactor makes one that replaces the names, such as those of user and database, and drops a text with
// the password.
func NewRedactor(password string, names ...string) Redactor {
	r := Redactor{password: password}
	for _, name := range names {
		if name != "" {
			r.names = append(r.names, regexp.MustCompile(`(?i)`+edge(name, utf8.DecodeRuneInString)+regexp.QuoteMeta(name)+edge(name, utf8.DecodeLastRuneInString)))
		}
	}
	return r
}

// edge keeps a user named app from spoiling the table named applications.
func edge(name string, end func(string) (rune, int)) string {
	if r, _ := end(name); r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_') {
		return `\b`
	}
	return ""
}

// Message makes the text of a server fit for a status.
func (r Redactor) Message(text string) string {
	for _, name := range r.names {
		text = name.ReplaceAllLiteralString(text, "…")
	}
	return store.Message(text, r.password)
}

// Spoils reports whether a text would lose a piece.
func (r Redactor) Spoils(text string) bool { return r.Message(text) != store.Message(text) }

// Named is the query for some rows of a query, those whose key fulfils the condition. The query ends before a line that it
// did not write, be its last one a comment or not.
func Named(query, condition string) string {
	return "SELECT * FROM (\n" + strings.TrimRight(query, "; \t\r\n") + "\n) AS tenant_rows WHERE " + condition
}
