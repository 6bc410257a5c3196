// Package publication decides which names lead to CloudFront: which records a tenant wants, which of its domains have
// to wait for them, and which it has to keep until they are gone.
package publication

import (
	"slices"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// Spec says where and how the records of the domains are published.
type Spec struct {
	// Provider is the service that the zones are at.
	Provider dns.Provider
	Zone     dns.Selector
	// Type chooses between CNAME and alias records.
	Type dns.RecordType
	// TTL is in seconds, for records that have one.
	TTL int64
	// RoleARN is the role to assume; empty for the operator's own identity.
	RoleARN string
	// Takeover lets records be replaced that are not ours.
	Takeover bool
}

// Case is what is known of the records of one object.
type Case struct {
	// Spec is nil when no records are asked for. Domains are those that the spec of the object names.
	Spec    *Spec
	Domains []string
	// Unproven are further ones that are not published before they are proven.
	Unproven []string
	// Namespace is the object's own.
	Namespace string
	// Generation is the present one. Before is the condition that stands; nil where there is none.
	Generation int64
	Before     *chain.Condition

	Deleting bool
	// Still means that nothing may be changed for the object.
	Still bool
	// Held means that the breaker has not cleared what the object asks for.
	Held bool
	// InDoubt means that the tags of the tenant that was ours no longer say so, and no live object owns it.
	InDoubt bool
	// Reclaims means that equal records were left by an object of this name.
	Reclaims bool
	// Inherits are the domains that are handed over to the object, with their records.
	Inherits []string
	// HasFinalizer is true while our finalizer is on the object.
	HasFinalizer bool
	// Abandoned lets the object go although its records stay.
	Abandoned bool
	// Retained means that the tenant stays when the object goes, as far as is known of it.
	Retained bool
	Drift    resource.DriftPolicy
	// DeniedRole is a role that the object needs and the administrator has not granted.
	DeniedRole string
	// Unresolved means that it is unknown what the spec asks for, Blind that too little is known to change anything.
	Unresolved, Blind bool

	// Stays means that domains that are published stay in their zone, although the spec names another one.
	Stays bool
	// Publishes means that records are asked for and may be written. First means that they come before the tenant:
	// CloudFront itself proves the domains, and takes none that does not lead to it.
	Publishes, First bool
	// Requests means that a managed certificate is asked for, Underway that AWS is at work on one.
	Requests, Underway bool
	// Refused means that AWS has refused what the spec asks for, and it is not time for the next try.
	Refused bool
	Tenant  Tenant

	// Zones are those of the provider if ZonesKnown; Unlisted is why they can't be read.
	Zones      []dns.Zone
	ZonesKnown bool
	Unlisted   *fault.Error
	// Endpoint is where the records have to lead, empty while unknown; EndpointText names it. EndpointKnown means that
	// nothing has to be looked up for it, Routed that it was looked up, found or not.
	Endpoint, EndpointText string
	EndpointKnown, Routed  bool
	// IPv6 says whether the connection group has it, if IPv6Known.
	IPv6, IPv6Known bool

	Ledger []dns.Entry
	View   dns.View
}

// Tenant is what is known of the tenant that the names lead to.
type Tenant struct {
	// Domains are those that it has, Ours says that it is our own, and Served which domains CloudFront answers for.
	Domains []string
	Ours    bool
	Served  []string
	Present bool
	Settled bool
	// Doubted means that this may be from before an update that has taken domains from it.
	Doubted bool
	// Unknown means that it was not looked for yet, Perhaps that there may be one, and Remembered that there was.
	Unknown, Perhaps, Remembered bool
}

// has reports whether it is ours and has the domain.
func (t Tenant) has(domain string) bool { return t.Ours && slices.Contains(t.Domains, domain) }

// mayHave reports whether it is ours and has the domain, or may have it as far as is known.
func (t Tenant) mayHave(domain string) bool {
	if t.Unknown {
		return t.Perhaps
	}
	return t.has(domain)
}

// serves reports whether CloudFront answers for the domain.
func (t Tenant) serves(domain string) bool { return slices.Contains(t.Served, domain) }

// Fact is what follows for the records of one object.
type Fact struct {
	// Wants are the records that are due now, and those that may stay in DNS after a deletion: the zone is asked about both.
	Wants []dns.Record
	// Ledger is the one to store next. It alone decides what is published and what is deleted.
	Ledger []dns.Entry
	// Lacks is what has to be looked up before anything is published.
	Lacks Lack
	// Placed says that it is known where the records belong and lead, as far as that matters now. Until then Wants
	// names less than what is wanted, and no place should be given up for that.
	Placed bool
	// Where the records come first, Published means that public DNS, as far as the provider tells, leads every domain
	// to where it should lead, Proven that it does so for each that CloudFront does not answer for.
	Published, Proven bool
	// domains has what is known of each domain.
	domains map[string]Domain
	// Returns means that records which were about to be deleted are to stay, and will count as published once the ledger
	// is stored. No zone tells when.
	Returns bool
	// Waiting are the domains that the tenant can't be given yet, Leaving those that can't be taken from it yet, and
	// Bound those among them that a pending request for a certificate is for.
	Waiting, Leaving, Bound []string
	// Alone means that nothing but the tenant keeps DNS back.
	Alone bool
	// Doubted means that names wait until it is certain which domains the tenant has.
	Doubted bool
	// Ready is the condition of the records. Its generation is the one that was judged.
	Ready chain.Condition
	// Awaits is what a deletion waits for until no record is left, nil for nothing.
	Awaits *chain.Problem
	// Left are the records that stay in DNS although the tenant goes. They are told once: with the condition that comes
	// with them, no later fact has any.
	Left []dns.Record
	// Drift are the published records that were changed or deleted outside.
	Drift []resource.Difference
}

// Lack is what has to be looked up.
type Lack int

// The lacks.
const (
	LacksNothing Lack = iota
	LacksZones
	LacksEndpoint
	LacksIPv6
)

// judge is a case with what several answers are made of.
type judge struct {
	Case

	obstructed map[string]bool
	// others says that some domain that the tenant does not have is obstructed.
	others bool
	bound  []string
	ledger []dns.Entry
	wants  []dns.Record
	// domains is what the condition has found of each domain.
	domains map[string]Domain
}

// Domain is what is known of the records of one domain.
type Domain struct {
	// Records are those in the ledger or, before there are any, those that will be.
	Records   []dns.Entry
	Condition chain.Condition
}

// Of is what is known of the records of a domain; judged is false while the condition that stands was only kept.
func (f Fact) Of(domain string) (d Domain, judged bool) {
	if d, judged = f.domains[domain]; !judged {
		d.Condition = f.Ready
	}
	return d, judged
}

// Judge says what follows.
func Judge(c Case) Fact {
	j := &judge{Case: c, obstructed: map[string]bool{}}
	if j.First {
		for _, d := range c.Domains {
			j.obstructed[d] = j.isObstructed(d)
			j.others = j.others || j.obstructed[d] && !j.Tenant.has(d)
		}
	}
	j.bound = j.boundDomains()
	j.wants = j.due()
	j.ledger = j.nextLedger()
	perhaps := j.perhapsLeft()
	f := Fact{
		Wants: append(j.wants, perhaps...), Ledger: j.ledger, Lacks: j.lacks(), Placed: j.placed(), Bound: j.bound,
		Drift:   j.drift(),
		Doubted: slices.ContainsFunc(slices.Concat(j.bound, c.Domains), j.doubted),
		Alone:   j.Publishes && !j.First && !slices.ContainsFunc(c.Domains, j.mayPublish),
	}
	if c.First {
		f.Published, f.Proven = j.published(c.Domains), j.published(slices.DeleteFunc(slices.Clone(c.Domains), j.Tenant.serves))
		f.Returns = j.returns()
	}
	f.Waiting, f.Leaving = j.waitingDomains()
	f.Ready, f.domains = j.condition(), j.domains
	f.Left = j.left(perhaps, f.Ready)
	f.Awaits = j.awaits()
	f.Ready.Generation = c.Generation
	if c.Before != nil && (c.Stays || j.unjudged()) {
		f.Ready.Generation = c.Before.Generation
	}
	return f
}
