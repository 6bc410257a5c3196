package dns

import (
	"cmp"
	"fmt"
	"slices"
)

// RecordType says how a domain is led to its target: Auto, CNAME or Alias.
type RecordType string

// The types in addition to CNAME.
const (
	// Auto is an alias at the apex of a zone, where no CNAME is allowed, and a CNAME elsewhere.
	Auto RecordType = "Auto"
	// Alias resolves to the addresses of the target.
	Alias RecordType = "Alias"
)

// Options are how domains are published.
type Options struct {
	// Target is the name that the domains lead to, in canonical form.
	Target string
	// IPv6 says that the target has addresses of both kinds.
	IPv6 bool
	// TTL is in seconds, for CNAME and TXT records.
	TTL int64
	// Type is Auto where it is empty.
	Type RecordType
}

// Wanted returns the records that publish a domain, which is in canonical form, in a zone.
func Wanted(domain string, zone Zone, o Options) ([]Record, error) {
	record := func(name, kind string, ttl int64) Record {
		return Record{Provider: zone.Provider, ZoneID: zone.ID, Name: name, Type: kind, Value: o.Target, TTL: ttl}
	}
	if !isEndpoint(o.Target) {
		return nil, fmt.Errorf("AWS returned the target %[2]q for %[1]s, which is not a CloudFront host name: check the connection group", domain, o.Target)
	}
	apex, aliases := domain == zone.Name, zone.Apex == AliasedApex
	switch {
	case o.Type == Alias && !aliases:
		return nil, fmt.Errorf("the DNS provider %s has no alias records for %s: use Auto or CNAME", zone.Provider.Service, domain)
	case apex && zone.Apex == NoApex:
		return nil, fmt.Errorf("%s is the apex of its zone, and the DNS provider %s can't lead an apex to CloudFront: use a name below it such as www.%[1]s, "+
			"or host the zone at a provider that can, for example route53 or cloudflare", domain, zone.Provider.Service)
	case apex && aliases && o.Type == CNAME:
		return nil, fmt.Errorf("a CNAME record is not possible for %s, the apex of the zone %s: use Auto or Alias", domain, zone.ID)
	case !apex && o.Type != Alias:
		return []Record{record(domain, CNAME, o.TTL)}, nil
	}
	// CloudFront can't see where the name leads if the records are aliases, or if the provider shows the addresses
	// only.
	var records []Record
	if !aliases {
		records = append(records, record(domain, CNAME, o.TTL))
	} else {
		records = append(records, record(domain, A, 0))
	}
	if aliases && o.IPv6 {
		records = append(records, record(domain, AAAA, 0))
	}
	if !isWildcard(domain) {
		records = append(records, record(challengeLabel+domain, TXT, o.TTL))
	}
	slices.SortFunc(records, compareRecords)
	return records, nil
}

func compareRecords(a, b Record) int {
	return cmp.Or(
		a.Zone().Compare(b.Zone()), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Type, b.Type),
		cmp.Compare(a.Value, b.Value), cmp.Compare(a.TTL, b.TTL),
	)
}
