package dns

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// challengeLabel is the label of the TXT record that CloudFront requires next to an alias before it issues a
// certificate: unlike a CNAME, an alias does not show where it points.
const challengeLabel = "_cf-challenge."

// wildcardLabel starts a name that covers all names below one.
const wildcardLabel = "*."

// wire lets underscores and asterisks pass, which are no letters of a host's name but of a
// record's.
var wire = idna.New(idna.MapForLookup(), idna.StrictDomainName(false), idna.Transitional(false))

// Canonical returns a name as zones have it: in lower case, in punycode, without a dot at its end.
func Canonical(name string) (string, error) {
	ascii, err := wire.ToASCII(strings.TrimSuffix(strings.TrimSpace(name), "."))
	// ToASCII lets empty labels and characters of no name pass; of what is no UTF-8, it makes a name that it refuses itself.
	if err != nil || strings.Contains("."+ascii+".", "..") || strings.ContainsFunc(ascii, isBlank) || !utf8.ValidString(name) {
		return "", fmt.Errorf("%q is not a domain name: use labels of letters, digits and hyphens, separated by dots", name)
	}
	return strings.ToLower(ascii), nil
}

// Lower is Canonical for what is a name of a zone already, as services and servers show it.
func Lower(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }

// isBlank reports whether a character is a space or a control character.
func isBlank(c rune) bool { return c <= ' ' || c == 0x7f }

// Within reports whether a name is the zone's own or is below it.
func Within(name, zone string) bool {
	return name == zone || strings.HasSuffix(name, "."+zone)
}

// isWildcard reports whether a domain covers all names below one.
func isWildcard(domain string) bool { return strings.HasPrefix(domain, wildcardLabel) }

// Domain returns the domain that a record of that name serves.
func Domain(name string) string { return strings.TrimPrefix(name, challengeLabel) }
