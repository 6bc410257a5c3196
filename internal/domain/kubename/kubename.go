// Package kubename tells which texts the API server takes as names. Its own library for that can't be had without its clients.
package kubename

import "strings"

// The longest that the API server takes.
const (
	LongestLabel = 63
	LongestName  = 253
)

// isLabel reports whether the text is one label of a name: lower-case letters, digits and inner hyphens, however many.
func isLabel(s string) bool {
	if s == "" || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}

// IsNamespace reports whether the text is the name of a namespace, which is a label in DNS.
func IsNamespace(s string) bool { return len(s) <= LongestLabel && isLabel(s) }

// IsSubdomain reports whether the text is the name of an object of most kinds: labels with dots between them.
func IsSubdomain(s string) bool { return isDotted(s, isLabel) }

// IsDomain reports whether the text is a name in DNS, in lower case: a subdomain whose labels are none too long for it.
func IsDomain(s string) bool { return isDotted(s, IsNamespace) }

func isDotted(s string, isLabel func(string) bool) bool {
	if len(s) > LongestName {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if !isLabel(label) {
			return false
		}
	}
	return true
}

// IsLabelValue reports whether the text is the value of a label. The empty one is.
func IsLabelValue(s string) bool {
	if len(s) > LongestLabel {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case i > 0 && i < len(s)-1 && (c == '-' || c == '_' || c == '.'):
		default:
			return false
		}
	}
	return true
}

// IsQualified reports whether the text is a valid label key, annotation key or resource name: a label value, optionally
// after a subdomain and a slash.
func IsQualified(s string) bool {
	prefix, name, prefixed := strings.Cut(s, "/")
	if !prefixed {
		name = s
	}
	return name != "" && IsLabelValue(name) && (!prefixed || IsSubdomain(prefix))
}
