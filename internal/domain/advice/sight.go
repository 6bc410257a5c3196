package advice

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

// Question is what DNS is asked about a domain.
type Question struct {
	Domain string
	// Zone is the zone that has to exist for the domain; empty for the one that was registered.
	Zone string
	// Issuers asks which authorities may issue certificates.
	Issuers bool
}

// Sight is what DNS shows of a domain.
type Sight struct {
	Domain string
	// Followed means that it is known where the domain leads. End is the name at the end of its CNAMEs, which is its own
	// if it has none, and Addresses are those of End.
	Followed  bool
	End       string
	Addresses []string
	// Aliases are the texts that say to which endpoint the addresses lead.
	Aliases []string
	// NoZone is the zone that does not exist. It is only asked for if the domain has no records.
	NoZone string
	// IssuersAt is the name whose CAA records hold for the domain, and Issuers are the authorities in them; empty if any
	// may issue.
	IssuersAt string
	Issuers   []string
}

// cloudFront ends the name of each endpoint of CloudFront.
const cloudFront = ".cloudfront.net"

// amazon are the names by which CAA records allow Amazon's authority.
var amazon = []string{"amazon.com", "amazontrust.com", "awstrust.com", "amazonaws.com"}

func (s Sight) leadsToCloudFront() bool {
	return slices.ContainsFunc(append(slices.Clone(s.Aliases), s.End), func(name string) bool { return strings.HasSuffix(name, cloudFront) })
}

// unreachable says why the domain does not lead to CloudFront; empty if it does, or if it is not for this object to
// say. A domain without a record only matters where CloudFront looks at it before it creates the tenant: others get
// theirs later.
func (s Sight) unreachable(d Desired, target string) string {
	switch {
	case !s.Followed || s.leadsToCloudFront():
		return ""
	case s.NoZone != "":
		return fmt.Sprintf("spec.domains: %s can't be resolved, because public DNS has no zone %s. Register that name, or have its parent delegate it to the name servers of its zone.", s.Domain, s.NoZone)
	case d.Publishes:
		return ""
	case s.End != s.Domain:
		return fmt.Sprintf("spec.domains: %s points to %s, not to CloudFront. %s", s.Domain, s.End, record(s.Domain, target))
	case len(s.Addresses) > 0:
		return fmt.Sprintf("spec.domains: %s points to %s without the TXT record _cf-challenge.%s that CloudFront requires with addresses. %s",
			s.Domain, prose.List(s.Addresses), s.Domain, record(s.Domain, target))
	case d.Managed && d.Hosted:
		return fmt.Sprintf("spec.domains: %s has neither a CNAME nor an A record, so CloudFront can't validate the managed certificate. %s", s.Domain, record(s.Domain, target))
	}
	return ""
}

// record says which record is to be created.
func record(domain, target string) string {
	if target == "" {
		return fmt.Sprintf("Create a CNAME record for %s that points to the routing endpoint of the connection group, or set spec.dns.", domain)
	}
	return fmt.Sprintf("Create the record %s CNAME %s, or set spec.dns.", domain, target)
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
