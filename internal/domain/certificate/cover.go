// Package certificate knows which names a certificate covers and what the states of a
// managed certificate mean.
package certificate

import "strings"

// Covers reports whether one of the certificate's names covers the domain. A wildcard
// name covers exactly one label, and a wildcard domain is covered by the same wildcard
// only. Names are compared without regard to case.
func Covers(names []string, domain string) bool {
	domain = strings.ToLower(domain)
	for _, name := range names {
		name = strings.ToLower(name)
		if name == domain {
			return true
		}
		parent, isWildcard := strings.CutPrefix(name, "*.")
		if !isWildcard {
			continue
		}
		label, rest, ok := strings.Cut(domain, ".")
		if ok && rest == parent && label != "" && label != "*" {
			return true
		}
	}
	return false
}

// Uncovered returns the domains, in their order, that none of the names covers.
func Uncovered(names, domains []string) []string {
	var missing []string
	for _, d := range domains {
		if !Covers(names, d) {
			missing = append(missing, d)
		}
	}
	return missing
}
