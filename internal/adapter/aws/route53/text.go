package route53

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
)

// backslash matches a byte as Route 53 writes those that no host's name has, \052 for the star, and a backslash that
// begins none of these, which Route 53 does not write.
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
	return dns.Lower(name)
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
