package distributiontenant

import (
	"errors"
	"slices"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// The order of DNS and tenant depends on how a domain is proven.
//
//	a certificate covers it:  tenant, domain active, deployed, then DNS
//	CloudFront validates it:  DNS, in sync, then the tenant; withdrawn when AWS refuses that for good
//	the user's host does:     tenant, issued, attached, deployed, then DNS
//
// The first and the last are one rule: what CloudFront answers for is published. On the
// way back there is one order: out of DNS, in sync, and only then out of the tenant.

// publishes reports whether DNS records are asked for.
func (in Input) publishes() bool {
	return in.Desired.DNS != nil && in.Policy.DeniedRole == "" && !in.Deleting
}

// provesByDNS reports whether DNS comes before the tenant: CloudFront itself proves the
// domains, and takes none that does not lead to it.
func (in Input) provesByDNS() bool {
	r := in.facts.certificate.Request
	return r != nil && r.ValidationTokenHost != SelfHosted && in.publishes()
}

// endpoint is where the records have to lead; empty while unknown.
func (in Input) endpoint() string {
	if in.World.RoutingEndpoint != "" || in.World.RoutingKnown || !in.applied() {
		return in.World.RoutingEndpoint
	}
	return in.Memory.RoutingEndpoint
}

// ofDomain reports whether an entry of the ledger belongs to the domain.
func ofDomain(e dns.Entry, domain string) bool { return dns.Domain(e.Name) == domain }

// entries are the records of the domain that are in the ledger to stay.
func (in Input) entries(domain string) []dns.Entry {
	var out []dns.Entry
	for _, e := range in.Memory.Ledger {
		if e.State != dns.Retracting && ofDomain(e, domain) {
			out = append(out, e)
		}
	}
	return out
}

// mayPublish reports whether the domain may lead to CloudFront now.
func (in Input) mayPublish(domain string) bool {
	switch {
	case in.Unresolved():
		return len(in.entries(domain)) > 0 && in.mayHold(domain)
	case !in.publishes() || in.withdrawn(domain):
		return false
	case len(in.entries(domain)) > 0, in.provesByDNS():
		return true
	}
	return in.serves(domain) && in.World.Tenant.Status == Deployed
}

// withdrawn reports whether the tenant can't be given the domain for a while: AWS has refused
// that, or works on another certificate first, which may take days. Until then the name must not
// lead to CloudFront, where a stranger could claim it.
func (in Input) withdrawn(domain string) bool {
	if in.holds(domain) {
		return false
	}
	return in.refused() || in.provesByDNS() && (in.facts.resource.Mine() && in.facts.certificate.Stage == certificate.Underway || in.outwaits(domain))
}

// outwaits reports whether the domain would wait in DNS, with no end in sight, for another one
// that has to lead to CloudFront beside it and can't. That one stays wanted: or nobody would see
// when it can.
func (in Input) outwaits(domain string) bool {
	return !in.obstructed(domain) && slices.ContainsFunc(in.Desired.Domains, func(d string) bool {
		return !in.holds(d) && in.obstructed(d)
	})
}

// obstructed reports whether something has to happen outside before the domain can be published.
func (in Input) obstructed(domain string) bool {
	if in.World.ZonesKnown && in.endpoint() != "" {
		if _, problem := in.rendered(domain); problem != nil {
			return true
		}
	}
	return slices.ContainsFunc(in.wanted(domain), func(r dns.Record) bool {
		switch s := in.World.DNS.Of(r); s.Phase {
		case dns.Held, dns.Refused, dns.NoZone:
			return true
		case dns.Blocked:
			return s.Fixed || !in.Desired.DNS.Takeover
		case dns.Unknown, dns.Absent, dns.Coming, dns.There, dns.Leaving:
		}
		return false
	})
}

// refused reports whether AWS has refused what the spec asks for, other than for a domain that
// it does not see yet, and it is not time for the next try.
func (in Input) refused() bool {
	return in.waiting() && in.Memory.Failure.Reason != resource.ReasonDomainValidationPending
}

// Wants are the records that are due now.
func (in Input) Wants() []dns.Record { return in.judged().wants() }

func (in Input) wants() []dns.Record {
	if in.Unresolved() {
		return in.standing()
	}
	var out []dns.Record
	for _, d := range append(in.requestedDomains(), in.Desired.Domains...) {
		if in.mayPublish(d) {
			out = append(out, in.wanted(d)...)
		}
	}
	return out
}

// standing are the records that stay while it is unknown what the spec asks for: those of domains that the
// tenant has. A name that leads to CloudFront without a tenant is taken back, and nothing new is published.
func (in Input) standing() []dns.Record {
	var out []dns.Record
	for _, e := range in.Memory.Ledger {
		if e.State != dns.Retracting && in.mayHold(dns.Domain(e.Name)) {
			out = append(out, e.Record)
		}
	}
	return out
}

// wanted are the records of a domain as they should be, or as they are while that can't be
// told.
func (in Input) wanted(domain string) []dns.Record {
	if in.World.ZonesKnown && in.endpoint() != "" {
		records, problem := in.rendered(domain)
		told := in.World.IPv6Known || !slices.ContainsFunc(records, dns.Record.IsAlias)
		if problem == nil && told {
			return records
		}
	}
	var out []dns.Record
	for _, e := range in.entries(domain) {
		out = append(out, e.Record)
	}
	return out
}

// rendered are the records of a domain in the zone that it belongs to.
func (in Input) rendered(domain string) ([]dns.Record, *chain.Problem) {
	spec := in.Desired.DNS
	problem := func(reason chain.Reason, err error) *chain.Problem {
		return &chain.Problem{Reason: reason, Message: "spec.dns: " + err.Error() + ".", Of: DNSReady}
	}
	zone, err := spec.Zone.Match(domain, in.World.Zones)
	if mismatch, ok := errors.AsType[*dns.MatchError](err); ok && mismatch.Mismatch == dns.Ambiguous {
		return nil, problem(ReasonZoneAmbiguous, err)
	}
	if err != nil {
		return nil, problem(ReasonZoneNotFound, err)
	}
	records, err := dns.Wanted(domain, zone, dns.Options{Target: in.endpoint(), IPv6: in.World.IPv6, TTL: spec.TTL, Type: spec.Type})
	if err != nil {
		return nil, problem(ReasonDNSError, err)
	}
	return records, nil
}

// zonesKnown finds out which zones the domains of a tenant belong to.
func zonesKnown(in Input) (Decision, bool) {
	if !in.World.present() {
		return pass()
	}
	return in.placed()
}

// placed finds out which zones the domains belong to, and whether the connection group has IPv6,
// unless the ledger tells enough.
func (in Input) placed() (Decision, bool) {
	switch {
	case !in.publishes() || in.ledgerSuffices():
		return pass()
	case !in.World.ZonesKnown:
		return do(Look{At: LookZones})
	case !in.World.RoutingKnown && in.World.RoutingEndpoint == "":
		return do(Look{At: LookRouting})
	case !in.World.IPv6Known && in.wantsAlias():
		return do(Look{At: LookIPv6})
	}
	return pass()
}

func (in Input) wantsAlias() bool {
	return slices.ContainsFunc(in.Desired.Domains, func(d string) bool {
		records, _ := in.rendered(d)
		return slices.ContainsFunc(records, dns.Record.IsAlias)
	})
}

// ledgerSuffices reports whether all that the present spec asks for is published as it
// should be, so that no zone has to be looked up: the ledger of a quiet object.
func (in Input) ledgerSuffices() bool {
	c := in.Memory.Conditions[DNSReady]
	if !c.Status || c.Generation != in.Generation || c.Reason != ReasonDNSReady {
		return false
	}
	endpoint := in.endpoint()
	for _, d := range in.Desired.Domains {
		entries := in.entries(d)
		moved := func(e dns.Entry) bool { return endpoint != "" && e.Value != endpoint }
		if len(entries) == 0 || slices.ContainsFunc(entries, moved) {
			return false
		}
	}
	return true
}

// published reports whether public DNS, as far as the provider tells, leads all those
// domains to where they should lead.
func (in Input) published(domains []string) bool {
	for _, d := range domains {
		records := in.wanted(d)
		if len(records) == 0 || !in.mayPublish(d) {
			return false
		}
		for _, r := range records {
			if in.World.DNS.Of(r).Phase != dns.There {
				return false
			}
		}
	}
	return true
}

// publishedFirst holds a tenant back whose domains CloudFront would refuse, until they lead
// to it. What else AWS could refuse is asked before.
func publishedFirst(in Input) (Decision, bool) {
	if in.roleStopsCreate() {
		return rest(chain.Problem{Reason: ReasonRoleNotAllowed, Message: in.roleText(), Of: DNSReady}, 0)
	}
	if in.World.present() || !in.provesByDNS() || in.waiting() || in.World.Refused != nil {
		return pass()
	}
	if d, fires := preflight(in); fires {
		return d, true
	}
	if d, fires := in.placed(); fires {
		return d, true
	}
	if !in.Held {
		// The ledger of an object that could go without being asked would be no ledger.
		return do(Hold{})
	}
	if !in.published(in.Desired.Domains) {
		return in.awaitPublished()
	}
	return in.awaitVisible()
}

// awaitPublished waits for the records that come before the tenant.
func (in Input) awaitPublished() (Decision, bool) {
	c := in.dnsCondition()
	if c.Status {
		c.Reason, c.Message = ReasonDNSRecordCreating, "The DNS records are looked at before the distribution tenant is created."
	}
	if in.retrying() && severity(c.Reason) <= severity(ReasonDNSRecordCreating) {
		return do(Rest{Hold: true})
	}
	return rest(chain.Problem{Reason: c.Reason, Message: c.Message, Of: DNSReady}, 0)
}

// retrying reports whether DNS is only made ready for another try of what was refused: that stays
// the thing to say.
func (in Input) retrying() bool {
	f := in.Memory.Failure
	return f != nil && f.Generation == in.Generation && f.Reason != resource.ReasonCertificateFailed
}

// roleStopsCreate reports whether CloudFront would refuse the tenant for domains that the
// operator may not lead to it.
func (in Input) roleStopsCreate() bool {
	r := in.facts.certificate.Request
	return !in.World.present() && r != nil && r.ValidationTokenHost != SelfHosted && in.Desired.DNS != nil && in.Policy.DeniedRole != ""
}

// visibleEvery is the pause between two questions to public DNS, VisiblePatience how long its
// answer is waited for.
const (
	visibleEvery    = 10 * time.Second
	VisiblePatience = 5 * time.Minute
)

// awaitVisible asks public resolvers, where that was set up, whether they see the records
// that the provider says are in sync. It saves creates that AWS would refuse, and only ever
// delays: a resolver that lags for minutes must not keep a tenant from being created.
func (in Input) awaitVisible() (Decision, bool) {
	switch {
	case !in.World.AsksResolvers, in.World.Visible:
		return pass()
	case !in.World.VisibleKnown:
		return do(Look{At: LookVisible})
	}
	return rest(chain.Problem{Reason: ReasonDNSPropagating, Of: DNSReady, Message: "The DNS records are in sync; waiting until public resolvers show them."}, visibleEvery)
}
