package route53

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// escape matches a byte as Route 53 writes those that no host's name has: \052 is the star.
var escape = regexp.MustCompile(`\\[0-7]{3}`)

// backslash matches an escape, and a backslash that begins none, which Route 53 does not write.
var backslash = regexp.MustCompile(`\\([0-7]{3})?`)

// readName brings a name into the form of the domain: in lower case, without a dot at its
// end, and without escapes but for those that can't be left out. A dot inside a label is
// another name than a dot between two.
func readName(wire string) string {
	name := backslash.ReplaceAllStringFunc(wire, func(text string) string {
		if text == `\` {
			return `\134` // or it would make an escape of the digits that follow
		}
		c, err := strconv.ParseUint(text[1:], 8, 8)
		if err != nil || c <= ' ' || c > '~' || c == '.' || c == '\\' {
			return text
		}
		return string(rune(c))
	})
	return strings.ToLower(strings.TrimSuffix(name, "."))
}

// writeName is the way back. Letters, digits, hyphens, underscores and stars stand for
// themselves; an escape that readName has left is one already.
func writeName(name string) string {
	var b strings.Builder
	for _, c := range []byte(name) {
		if isPlain(c) || strings.IndexByte(`.*_-\`, c) >= 0 {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, `\%03o`, c)
	}
	return b.String() + "."
}

func isPlain(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// longestString is how long one string of a TXT record can be. Longer texts are several strings, which readers join
// again.
const longestString = 255

// quote writes a text as the value of a TXT record.
func quote(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i, c := range []byte(text) {
		if i > 0 && i%longestString == 0 {
			b.WriteString(`" "`)
		}
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// unquote reads the text of the value of a TXT record, and is not ok with a value that is no
// series of quoted strings.
func unquote(value string) (text string, ok bool) {
	var b strings.Builder
	rest := strings.TrimSpace(value)
	for rest != "" {
		if rest[0] != '"' {
			return "", false
		}
		n := unquoteString(&b, rest[1:])
		if n < 0 {
			return "", false
		}
		rest = strings.TrimLeft(rest[1+n:], " \t")
	}
	return b.String(), value != ""
}

// unquoteString reads up to the quote that ends a string and returns how long that was, less
// than zero where none ends it.
func unquoteString(b *strings.Builder, text string) int {
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '"':
			return i + 1
		case text[i] != '\\':
			b.WriteByte(text[i])
		case i+1 == len(text):
			return -1
		case escape.MatchString(text[i:min(i+4, len(text))]):
			c, err := strconv.ParseUint(text[i+1:i+4], 8, 8)
			if err != nil {
				return -1
			}
			b.WriteByte(byte(c))
			i += 3
		default:
			i++
			b.WriteByte(text[i])
		}
	}
	return -1
}
