package onboarding

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

// seenText says where public DNS leads the domain, which is named as who, as the end of a sentence.
func (f Facts) seenText(who string) string {
	seen := prose.List(f.Sight.Seen)
	switch f.Sight.Way {
	case Nowhere:
		return fmt.Sprintf("there is no DNS record for %s.", who)
	case Elsewhere:
		return fmt.Sprintf("%s points to %s%s.", who, seen, f.foreign())
	case Edge:
		if len(f.Targets) == 0 {
			return fmt.Sprintf("%s points to %s.", who, seen)
		}
		return fmt.Sprintf("%s points to another endpoint of CloudFront (%s).", who, seen)
	case Circle:
		return fmt.Sprintf("the CNAME records of %s form a loop, or are too many to follow.", who)
	case Partly:
		return fmt.Sprintf("some DNS resolvers return another record for %s.", who)
	case Failing:
		if seen != "" {
			return fmt.Sprintf("%s points to %s, and DNS lookups of that name fail.", who, seen)
		}
		return fmt.Sprintf("DNS lookups of %s fail: the name servers of %s do not respond, or the zone's DNSSEC signatures are not valid.", who, f.zone())
	case Here:
		return fmt.Sprintf("%s points to CloudFront.", who)
	case Silent:
	}
	return fmt.Sprintf("public DNS was not asked for %s yet.", who)
}

// foreign says why addresses that were seen are not enough.
func (f Facts) foreign() string {
	switch {
	case !f.addressed():
		return ""
	case f.Place.Apex:
		return fmt.Sprintf(" without the TXT record %s%s that CloudFront requires with addresses", challengeLabel, f.Domain)
	}
	return ", and no record says that this is CloudFront"
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
	return fmt.Sprintf("%s %s %s at the DNS provider of %s.", verb, what, strings.Join(texts, " and "), f.zone())
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
func SeenText(f Facts) string { return sentence(f.seenText("the domain")) }

// join puts sentences together, and leaves out those that there are not.
func join(sentences ...string) string {
	return strings.Join(slices.DeleteFunc(sentences, func(s string) bool { return s == "" }), " ")
}
