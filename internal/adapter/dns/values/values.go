// Package values has how DNS services write the values of records, as far as several do it in the same way.
package values

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
)

// Writer writes a value of a type as a service takes it.
type Writer func(kind, value string) string

// Complete sorts the values of a set and the texts that the service shows for them, once all are there. Texts that are
// just as they would be written are left out.
func (w Writer) Complete(s *dns.RecordSet) {
	written := w.all(*s)
	slices.Sort(s.Values)
	slices.Sort(s.Exact)
	slices.Sort(written)
	if slices.Equal(written, s.Exact) {
		s.Exact = nil
	}
}

// Of are the values of a set as the service takes them: to the letter as it shows them, where that is not the usual
// form.
func (w Writer) Of(s dns.RecordSet) []string {
	if s.Exact != nil {
		return slices.Clone(s.Exact)
	}
	return w.all(s)
}

func (w Writer) all(s dns.RecordSet) (out []string) {
	for _, v := range s.Values {
		out = append(out, w(s.Type, v))
	}
	return out
}

// Text is a way to write the text of a TXT record: as strings in quotes, in which a backslash stands before a quote, a
// backslash, and the number of a byte that can't be printed.
type Text struct {
	number string
	base   int
}

var (
	// Decimal has numbers as in zone files.
	Decimal = Text{number: `\%03d`, base: 10}
	// Octal has those of Route 53.
	Octal = Text{number: `\%03o`, base: 8}
)

// longestString is how long one string of a TXT record can be. Longer texts are several strings, which readers join
// again.
const longestString = 255

// Strings are the strings of a text, without quotes around them.
func (t Text) Strings(text string) []string {
	out := []string{}
	for part := range slices.Chunk([]byte(text), longestString) {
		var b strings.Builder
		for _, c := range part {
			switch {
			case c == '"' || c == '\\':
				b.WriteByte('\\')
				b.WriteByte(c)
			case c < ' ' || c > '~':
				fmt.Fprintf(&b, t.number, c)
			default:
				b.WriteByte(c)
			}
		}
		out = append(out, b.String())
	}
	if len(out) == 0 {
		return []string{""}
	}
	return out
}

// Quote writes a text.
func (t Text) Quote(text string) string { return `"` + strings.Join(t.Strings(text), `" "`) + `"` }

// quoted matches the string at the beginning of a value.
var quoted = regexp.MustCompile(`(?s)^"((?:\\.|[^"\\])*)"[ \t]*`)

// Unquote reads a text, and is not ok with a value that is no series of strings in quotes: some services have taken
// such values, and show them as they are.
func (t Text) Unquote(value string) (text string, ok bool) {
	var b strings.Builder
	for rest := strings.TrimSpace(value); rest != ""; {
		found := quoted.FindStringSubmatch(rest)
		if found == nil {
			return "", false
		}
		b.WriteString(t.Unescape(found[1]))
		rest = rest[len(found[0]):]
	}
	return b.String(), value != ""
}

// Unescape reads a string without quotes around it.
func (t Text) Unescape(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			i++
			if c, err := strconv.ParseUint(text[i:min(i+3, len(text))], t.base, 8); err == nil && i+3 <= len(text) {
				b.WriteByte(byte(c))
				i += 2
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
