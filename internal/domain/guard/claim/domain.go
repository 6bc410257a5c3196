// Package claim judges who may have a domain: among the claims for it, and the objects of all namespaces that have it or
// want it. It knows nothing of AWS, which is the lock on what is live; it knows what AWS does not.
package claim

import (
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
)

const (
	// wildcardLabel starts a domain that covers the names below another.
	wildcardLabel = "*."
	// wildcardName starts the name of a claim for such a domain: an object's name has no asterisk.
	wildcardName = "0wildcard."
	// longestName is what the name of an object may have.
	longestName = 253
)

// Canonical is the one form in which domains are compared. A text that is not a domain is only put into lower case.
func Canonical(domain string) string {
	name, err := dns.Canonical(domain)
	if err != nil {
		return strings.ToLower(strings.TrimSuffix(strings.TrimSpace(domain), "."))
	}
	return name
}

// Name is that of the claim for a domain in its canonical form. Empty: its wildcard is too long for a name.
func Name(domain string) string {
	if isWildcard(domain) {
		domain = wildcardName + strings.TrimPrefix(domain, wildcardLabel)
	}
	if len(domain) > longestName {
		return ""
	}
	return domain
}

func isWildcard(domain string) bool { return strings.HasPrefix(domain, wildcardLabel) }

// parent is what is left of a domain without its first label.
func parent(domain string) string {
	_, rest, _ := strings.Cut(domain, ".")
	return rest
}

// covers reports whether a wildcard serves that name, which is no wildcard.
func covers(wildcard, name string) bool {
	return isWildcard(wildcard) && !isWildcard(name) && certificate.Covers([]string{wildcard}, name)
}

// meet reports whether two domains can't belong to two namespaces.
func meet(a, b string) bool { return a == b || covers(a, b) || covers(b, a) }
