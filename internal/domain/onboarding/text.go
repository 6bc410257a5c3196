package onboarding

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

// seenText says where DNS leads the domain, as the end of a sentence.
func (f Facts) seenText() string {
	seen := prose.List(f.Sight.Seen)
	switch f.Sight.Way {
	case Nowhere:
		return "public DNS has no record for it."
	case Elsewhere:
		if f.addressed() {
			return fmt.Sprintf("public DNS leads it to %s without the TXT record %s%s that CloudFront requires with addresses.", seen, challengeLabel, f.Domain)
		}
		return fmt.Sprintf("public DNS leads it to %s.", seen)
	case Edge:
		if len(f.Targets) == 0 {
			return fmt.Sprintf("public DNS leads it to %s.", seen)
		}
		return fmt.Sprintf("public DNS leads it to another endpoint of CloudFront (%s).", seen)
	case Circle:
		return "its CNAME records lead back to themselves, or are too many to follow."
	case Partly:
		return "some DNS resolvers lead it elsewhere."
	case Failing:
		return fmt.Sprintf("DNS lookups of it fail: the name servers of %s do not respond, or the zone's DNSSEC signatures are not valid.", f.zone())
	case Here:
		return "public DNS leads it to CloudFront."
	case Silent:
	}
	return "public DNS was not asked yet."
}

// addressed reports whether what was seen are addresses.
func (f Facts) addressed() bool {
	if len(f.Sight.Seen) == 0 {
		return false
	}
	_, err := netip.ParseAddr(f.Sight.Seen[0])
	return err == nil
}

// advice says which records the customer has to set.
func (f Facts) advice(records []Record, verb string) string {
	var texts []string
	for _, r := range records {
		if r.By == Customer && r.State != Present && (r.Purpose == Routing || r.Purpose == Challenge) {
			texts = append(texts, r.text())
		}
	}
	if len(texts) == 0 {
		return ""
	}
	what := "the record"
	if len(texts) > 1 {
		what = "the records"
	}
	return fmt.Sprintf("%s %s %s at the DNS provider of %s.", verb, what, prose.List(texts), f.zone())
}

// zone is the one in which the records of the domain probably are.
func (f Facts) zone() string { return cmp.Or(f.Place.Zone, f.Domain) }

// sentence starts a text with a capital letter.
func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// DNSAdvice says what DNS shows of a domain, and which records its customer has to set.
func DNSAdvice(f Facts) string {
	_, text := f.tellDNS(f.records())
	return text
}

// SeenText says what DNS shows of a domain.
func SeenText(f Facts) string { return sentence(f.seenText()) }

// join puts sentences together, and leaves out those that there are not.
func join(sentences ...string) string {
	return strings.Join(slices.DeleteFunc(sentences, func(s string) bool { return s == "" }), " ")
}
