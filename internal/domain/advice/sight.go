package advice

import (
	"fmt"
	"slices"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/onboarding"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

// Question is what DNS is asked about a domain.
type Question struct {
	Domain string
	// Targets are where the domain may lead, as far as they are known.
	Targets []string
	// Zone is the zone that has to exist for the domain; empty for the one that was registered.
	Zone string
	// Issuers asks which authorities may issue certificates.
	Issuers bool
}

// Sight is what DNS shows of a domain.
type Sight struct {
	Domain string
	Place  onboarding.Place
	onboarding.Sight
	// NoZone is the zone that does not exist. It is only asked for if the domain has no records.
	NoZone string
	// IssuersAt is the name whose CAA records hold for the domain, and Issuers are the authorities in them; empty if any
	// may issue.
	IssuersAt string
	Issuers   []string
}

// amazon are the names by which CAA records allow Amazon's authority.
var amazon = []string{"amazon.com", "amazontrust.com", "awstrust.com", "amazonaws.com"}

// Text says where the domain points. The target is empty if it is not known.
func (s Sight) Text(target string) string {
	if s.NoZone != "" {
		return "Public DNS has no zone " + s.NoZone + "."
	}
	return onboarding.SeenText(s.facts(target))
}

func (s Sight) facts(target string) onboarding.Facts {
	f := onboarding.Facts{Domain: s.Domain, Place: s.Place, Watched: true, Sight: s.Sight}
	if target != "" {
		f.Targets = []string{target}
	}
	return f
}

// unreachable says why the domain does not lead to CloudFront; empty if it does, or if it is not for this object to
// say. A domain without a record only matters where CloudFront looks at it before it creates the tenant: others get
// theirs later.
func (s Sight) unreachable(d Desired, target string) string {
	switch {
	case s.NoZone != "":
		return fmt.Sprintf("spec.domains: %s can't be resolved, because public DNS has no zone %s. Register that name, or have its parent delegate it to the name servers of its zone.", s.Domain, s.NoZone)
	case d.Publishes || !s.Way.Astray() || s.Way == onboarding.Edge || s.Way == onboarding.Nowhere && !(d.Managed && d.Hosted):
		return ""
	}
	text := s.Text(target)
	if target != "" {
		text = onboarding.DNSAdvice(s.facts(target))
	}
	return fmt.Sprintf("spec.domains: %s is not served before it points to CloudFront. %s", s.Domain, text)
}

// forbidden says that CAA records keep Amazon from issuing the certificate that is asked for.
func (s Sight) forbidden(d Desired) string {
	if !d.Managed || s.IssuersAt == "" || slices.ContainsFunc(s.Issuers, func(i string) bool { return slices.Contains(amazon, i) }) {
		return ""
	}
	allowed := "no authority"
	if named := slices.DeleteFunc(slices.Clone(s.Issuers), func(i string) bool { return i == "" }); len(named) > 0 {
		allowed = "only " + prose.List(named)
	}
	return fmt.Sprintf("spec.managedCertificateRequest: the CAA records of %s allow %s to issue a certificate for %s, so AWS can't. Add the record %s CAA 0 issue \"%s\".",
		s.IssuersAt, allowed, s.Domain, s.IssuersAt, amazon[0])
}
