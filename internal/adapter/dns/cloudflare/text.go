package cloudflare

import (
	"fmt"
	"strings"
)

// longestString is how long one string of a TXT record can be. Longer texts are several strings, which readers join
// again.
const longestString = 255

// quote writes a text as the content of a TXT record, in the form of zone files.
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
			fmt.Fprintf(&b, `\%03d`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// unquote reads the content of a TXT record. It is not ok with one that is no series of quoted strings: Cloudflare took
// such a content once, and shows it as it is.
func unquote(content string) (text string, ok bool) {
	var b strings.Builder
	rest := strings.TrimSpace(content)
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
	return b.String(), content != ""
}

// unquoteString reads up to the quote that ends a string and returns how long that was, less than zero where none ends
// it.
func unquoteString(b *strings.Builder, text string) int {
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '"':
			return i + 1
		case text[i] != '\\':
			b.WriteByte(text[i])
		case i+1 == len(text):
			return -1
		default:
			c, digits := decimal(text[i+1:])
			b.WriteByte(c)
			i += digits
		}
	}
	return -1
}

// decimal reads what follows a backslash: three digits for any byte, or a character that stands for itself.
func decimal(text string) (c byte, length int) {
	if len(text) < 3 {
		return text[0], 1
	}
	n := 0
	for _, d := range []byte(text[:3]) {
		if d < '0' || d > '9' {
			return text[0], 1
		}
		n = n*10 + int(d-'0')
	}
	if n > 255 {
		return text[0], 1
	}
	return byte(n), 3
}
