package mapping

import (
	"fmt"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/kubename"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

// canonicalDomain returns a domain as a DistributionTenant has it: in lower case, in punycode, without
// a dot at its end. Or it says what is wrong, and what to do.
func canonicalDomain(s string) (name, problem string) {
	name = strings.ToLower(strings.TrimSuffix(strings.TrimSpace(s), "."))
	if !isASCII(name) {
		punycode, err := dns.Canonical(name)
		if err != nil {
			return "", domainProblem(s, "can't be written in punycode")
		}
		name = punycode
	}
	if len(name) > longestDomain {
		return "", domainProblem(s, fmt.Sprintf("has %d characters, but at most %d are allowed", len(name), longestDomain))
	}
	host := strings.TrimPrefix(name, "*.")
	if strings.Contains(host, "*") {
		return "", domainProblem(s, "has a wildcard that is not the entire leftmost label")
	}
	if !isHost(host) {
		return "", domainProblem(s, "is not a domain name")
	}
	return name, ""
}

func domainProblem(s, reason string) string {
	return fmt.Sprintf("%s %s: write names like shop.example.com or *.example.com, without scheme, port, path, underscore or brackets", prose.Quote(s), reason)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// isHost reports whether a name has two labels or more, the last of which starts with a letter: an
// address has only digits there.
func isHost(name string) bool {
	last := name[strings.LastIndex(name, ".")+1:]
	return kubename.IsDomain(name) && last != name && 'a' <= last[0] && last[0] <= 'z'
}
