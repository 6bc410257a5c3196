package sqldb

import (
	"regexp"
	"unicode"
	"unicode/utf8"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
)

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
