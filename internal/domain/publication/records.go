package publication

import (
	"errors"
	"slices"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
)

// The order of DNS and tenant depends on how a domain is proven.
//
//	a certificate covers it:  tenant, domain active, deployed, then DNS
//	CloudFront validates it:  DNS, in sync, then the tenant; withdrawn when AWS refuses that for good
//	the user's host does:     tenant, issued, attached, deployed, then DNS
//
// The first and the last are one rule: what CloudFront answers for is published. On the
// way back there is one order: out of DNS, in sync, and only then out of the tenant.

// ofDomain reports whether an entry of the ledger belongs to the domain.
func ofDomain(e dns.Entry, domain string) bool { return dns.Domain(e.Name) == domain }

// entries are the records of the domain that are in the ledger to stay.
func (j *judge) entries(domain string) []dns.Entry {
	var out []dns.Entry
	for _, e := range j.Ledger {
		if e.State != dns.Retracting && ofDomain(e, domain) {
			out = append(out, e)
		}
	}
	return out
}

// mayPublish reports whether the domain may lead to CloudFront now.
func (j *judge) mayPublish(domain string) bool {
	switch {
	case j.InDoubt:
		return len(j.entries(domain)) > 0
	case j.Unresolved:
		return len(j.entries(domain)) > 0 && j.Tenant.mayHave(domain)
	case !j.Publishes, j.withdrawn(domain), j.doubted(domain):
		return false
	case len(j.entries(domain)) > 0, j.First:
		return true
	}
	return j.Tenant.serves(domain) && j.Tenant.Settled
}

// doubted reports whether the tenant may have lost the domain although it is seen to have it. The records of a domain
// that it loses have left the ledger before.
func (j *judge) doubted(domain string) bool {
	return j.Publishes && j.Tenant.Doubted && j.Tenant.has(domain) && len(j.entries(domain)) == 0
}

// withdrawn reports whether the tenant can't be given the domain for a while: AWS has refused
// that, or works on another certificate first, which may take days. Until then the name must not
// lead to CloudFront, where a stranger could claim it.
func (j *judge) withdrawn(domain string) bool {
	if j.Tenant.has(domain) {
		return false
	}
	return j.Refused || j.First && (j.Tenant.Ours && j.Underway || j.outwaits(domain))
}

// outwaits reports whether the domain would wait in DNS, with no end in sight, for another one
// that has to lead to CloudFront as well and can't. That one stays wanted: or it would not be seen
// when it can.
func (j *judge) outwaits(domain string) bool {
	return j.others && !j.obstructed[domain]
}

// isObstructed reports whether something has to happen outside before the domain can be published.
func (j *judge) isObstructed(domain string) bool {
	if j.ZonesKnown && j.Endpoint != "" {
		if _, problem := j.rendered(domain); problem != nil {
			return true
		}
	}
	return slices.ContainsFunc(j.wanted(domain), func(r dns.Record) bool {
		switch s := j.View.Of(r); s.Phase {
		case dns.Occupied, dns.Refused, dns.NoZone:
			return true
		case dns.Blocked:
			return s.Fixed || !j.Spec.Takeover && !slices.Contains(j.Inherits, domain)
		case dns.Unknown, dns.Absent, dns.Coming, dns.There, dns.Leaving:
		}
		return false
	})
}

// due are the records that are due now.
func (j *judge) due() []dns.Record {
	if j.Unresolved || j.InDoubt {
		return j.standing()
	}
	var out []dns.Record
	for _, d := range slices.Concat(j.bound, j.Domains) {
		if j.mayPublish(d) {
			out = append(out, j.wanted(d)...)
		}
	}
	return out
}

// standing are the records that stay while it is unknown what the spec asks for: those of domains that the tenant has.
// A name that leads to CloudFront without a tenant is taken back, and nothing new is published. While it is in doubt
// whose the tenant is, all of them stay: it serves them as before.
func (j *judge) standing() []dns.Record {
	var out []dns.Record
	for _, e := range j.Ledger {
		if e.State != dns.Retracting && (j.InDoubt || j.Tenant.mayHave(dns.Domain(e.Name))) {
			out = append(out, e.Record)
		}
	}
	return out
}

// wanted are the records of a domain as they should be, or as they are while that can't be
// told.
func (j *judge) wanted(domain string) []dns.Record {
	if j.ZonesKnown && j.Endpoint != "" {
		records, problem := j.rendered(domain)
		told := j.IPv6Known || !slices.ContainsFunc(records, dns.Record.IsAlias)
		if problem == nil && told {
			return records
		}
	}
	return j.entered(domain)
}

// entered are the records of a domain that are in the ledger to stay.
func (j *judge) entered(domain string) (out []dns.Record) {
	for _, e := range j.entries(domain) {
		out = append(out, e.Record)
	}
	return out
}

// rendered are the records of a domain in the zone that it belongs to.
func (j *judge) rendered(domain string) ([]dns.Record, *chain.Problem) {
	spec := j.Spec
	problem := func(reason chain.Reason, err error) *chain.Problem {
		return &chain.Problem{Reason: reason, Message: "spec.dns: " + err.Error() + ".", Of: Ready}
	}
	if have := j.entered(domain); j.Stays && len(have) > 0 {
		return have, nil
	}
	zone, err := j.zoneOf(domain)
	if mismatch, ok := errors.AsType[*dns.MatchError](err); ok {
		mismatch.Provider = spec.Provider
		if mismatch.Mismatch == dns.Ambiguous {
			return nil, problem(ReasonZoneAmbiguous, err)
		}
		return nil, problem(ReasonZoneNotFound, err)
	}
	records, err := dns.Wanted(domain, zone, dns.Options{Target: j.Endpoint, IPv6: j.IPv6, TTL: spec.TTL, Type: spec.Type})
	if err != nil {
		return nil, problem(ReasonDNSError, err)
	}
	return records, nil
}

// zoneOf is the zone that a domain belongs to. Where the spec names none, a domain that is published in a zone above the
// nearest one stays there until that zone delegates it: resolvers do not see a new zone before. Where the new zone has the
// very name of the domain, records above it would prevent that.
func (j *judge) zoneOf(domain string) (dns.Zone, error) {
	nearest, err := j.Spec.Zone.Match(domain, j.Zones)
	if err != nil || j.Spec.Zone != (dns.Selector{}) || domain == nearest.Name || j.stands(domain, nearest, nearest) {
		return nearest, err
	}
	zone := nearest
	for _, z := range j.Zones {
		above := z.Name != nearest.Name && dns.Within(nearest.Name, z.Name)
		if above && j.stands(domain, z, nearest) && (zone == nearest || len(z.Name) > len(zone.Name)) {
			zone = z
		}
	}
	return zone, nil
}

// stands reports whether the domain is published in the zone, or its record there is being replaced, and the zone does not
// leave it to the nearest one.
func (j *judge) stands(domain string, zone, nearest dns.Zone) bool {
	stays, came := false, false
	for _, e := range j.Ledger {
		if !ofDomain(e, domain) || e.Zone() != zone.Key() {
			continue
		}
		s := j.View.Of(e.Record)
		switch {
		case s.Delegated != "" && dns.Within(nearest.Name, s.Delegated), s.Phase == dns.NoZone, s.Phase == dns.Occupied:
			return false
		case s.Phase == dns.Unknown && zone != nearest && j.moves(domain, nearest):
			// It was delegated before this process, which has not read it yet.
			return false
		}
		stays = stays || e.State != dns.Retracting
		came = came || e.State != dns.Intended || s.Phase == dns.There || s.Phase == dns.Coming
	}
	return stays && came
}

// moves reports whether the domain has, or is about to have, records in the nearest zone.
func (j *judge) moves(domain string, nearest dns.Zone) bool {
	return slices.ContainsFunc(j.entries(domain), func(e dns.Entry) bool { return e.Zone() == nearest.Key() })
}

// lacks is what has to be looked up to tell which zones the domains belong to, and whether the connection group has
// IPv6, unless the ledger tells enough.
func (j *judge) lacks() Lack {
	switch {
	case !j.Publishes || j.ledgerSuffices():
	case !j.ZonesKnown:
		return LacksZones
	case !j.EndpointKnown:
		return LacksEndpoint
	case !j.IPv6Known && j.wantsAlias():
		return LacksIPv6
	}
	return LacksNothing
}

func (j *judge) wantsAlias() bool {
	return slices.ContainsFunc(j.Domains, func(d string) bool {
		records, _ := j.rendered(d)
		return slices.ContainsFunc(records, dns.Record.IsAlias)
	})
}

// ledgerSuffices reports whether all that the present spec asks for is published as it
// should be, so that no zone has to be looked up: the ledger of a quiet object.
func (j *judge) ledgerSuffices() bool {
	c := j.Before
	if c == nil || !c.Status || c.Generation != j.Generation || c.Reason != ReasonDNSReady {
		return false
	}
	endpoint := j.Endpoint
	for _, d := range j.Domains {
		entries := j.entries(d)
		moved := func(e dns.Entry) bool {
			return endpoint != "" && e.Value != endpoint || j.View.Of(e.Record).Delegated != ""
		}
		if len(entries) == 0 || slices.ContainsFunc(entries, moved) {
			return false
		}
	}
	return true
}

// published reports whether public DNS, as far as the provider tells, leads all those
// domains to where they should lead, and will continue to.
func (j *judge) published(domains []string) bool {
	for _, d := range domains {
		records := j.wanted(d)
		if len(records) == 0 || !j.mayPublish(d) {
			return false
		}
		for _, r := range records {
			if j.View.Of(r).Phase != dns.There || j.retracts(r) {
				return false
			}
		}
	}
	return true
}

// retracts reports whether the record is about to be deleted. It may be there until then, and a deletion that is on its
// way is not stopped by what is wanted meanwhile.
func (j *judge) retracts(r dns.Record) bool {
	return slices.ContainsFunc(j.Ledger, func(e dns.Entry) bool { return e.Record == r && e.State == dns.Retracting })
}

// returns reports whether a record that was about to be deleted, and is still there, is to stay after all.
func (j *judge) returns() bool {
	return slices.ContainsFunc(j.ledger, func(e dns.Entry) bool {
		return e.State != dns.Retracting && j.retracts(e.Record) && j.View.Of(e.Record).Phase == dns.There
	})
}
