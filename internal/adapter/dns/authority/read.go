package authority

import (
	"cmp"
	"context"
	"slices"
	"strings"

	wire "github.com/miekg/dns"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/query"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// Serve reports whether the servers, each a host with a port, have a zone: fault.Denied where one says that it does not, and
// fault.Transient where none responds.
func Serve(ctx context.Context, servers []string, zone string) error {
	var failure error
	for _, server := range servers {
		answer, err := query.Ask(ctx, server, query.Question{Name: zone, Kind: wire.TypeSOA})
		switch {
		case err != nil:
			failure = err
		case query.SOA(answer.Msg, zone) != nil:
			return nil
		case answer.Rcode == wire.RcodeServerFailure:
			failure = answer.Refusal()
		default:
			return fault.New(fault.Denied, operation, "the name server %s does not have the zone %s: correct the account's nameServers or its domains", server, zone)
		}
	}
	return silent(servers, failure)
}

// kinds are what a name is asked for, after its addresses: all that names commonly have.
var kinds = []uint16{
	wire.TypeAAAA, wire.TypeTXT, wire.TypeMX, wire.TypeCAA, wire.TypeSRV, wire.TypeHTTPS, wire.TypeSVCB, wire.TypePTR, wire.TypeNAPTR, wire.TypeTLSA,
}

// At returns what a name of the zone has at any of the servers, as far as questions tell: a CNAME, addresses, texts and other
// common sets, but nothing that a wildcard shows there. Where the zone leaves the name to other servers it is the NS set that
// does so, which may be that of a name above. A server that does not answer has no say, unless none answers.
func At(ctx context.Context, servers []string, zone, name string) (sets []dns.RecordSet, err error) {
	answered, failure := false, error(nil)
	for _, server := range servers {
		found, err := at(ctx, server, zone, name)
		if err != nil {
			failure = err
			continue
		}
		answered = true
		for _, f := range found {
			if !slices.ContainsFunc(sets, func(s dns.RecordSet) bool {
				return s.Key == f.Key && s.TTL == f.TTL && slices.Equal(s.Values, f.Values)
			}) {
				sets = append(sets, f)
			}
		}
	}
	if !answered {
		return nil, silent(servers, failure)
	}
	return sets, nil
}

func at(ctx context.Context, server, zone, name string) ([]dns.RecordSet, error) {
	answer, err := query.Ask(ctx, server, query.Question{Name: name, Kind: wire.TypeA})
	if err != nil {
		return nil, err
	}
	if cut := referral(answer, zone); cut != nil {
		return []dns.RecordSet{*cut}, nil
	}
	if err := answer.NoAuthority(); err != nil || answer.Rcode == wire.RcodeNameError {
		return nil, err
	}
	sets := standing(ctx, server, answer, name)
	if len(answer.Values(name, dns.CNAME)) > 0 {
		return sets, nil // it, or the wildcard that shows it, leaves no room for anything else
	}
	for _, kind := range kinds {
		if answer, err = ask(ctx, server, name, kind); err != nil {
			return nil, err
		}
		sets = append(sets, standing(ctx, server, answer, name)...)
	}
	return sets, nil
}

// referral is the NS set with which a server leaves a name below the zone's own to others, nil where it does not. A server
// that has the zone below as well answers for that one instead, and tells its SOA where the name has nothing.
func referral(answer query.Answer, zone string) *dns.RecordSet {
	if len(answer.Answer) > 0 {
		return nil
	}
	var cut *dns.RecordSet
	for _, r := range answer.Ns {
		name, server := dns.Lower(r.Header().Name), ""
		switch r := r.(type) {
		case *wire.NS:
			if !answer.Authoritative && answer.Rcode == wire.RcodeSuccess {
				server = r.Ns
			}
		case *wire.SOA:
			if answer.Authoritative {
				server = r.Ns
			}
		}
		if server == "" || !strings.HasSuffix(name, "."+zone) {
			continue
		}
		if cut == nil {
			cut = &dns.RecordSet{Key: dns.Key{Name: name, Type: wire.TypeToString[wire.TypeNS]}, TTL: int64(r.Header().Ttl)}
		}
		cut.Values = append(cut.Values, dns.Lower(server))
	}
	if cut != nil {
		slices.Sort(cut.Values)
	}
	return cut
}

// standing are the sets in an answer that stand at the very name.
func standing(ctx context.Context, server string, answer query.Answer, name string) (sets []dns.RecordSet) {
	for _, r := range answer.Answer {
		kind := r.Header().Rrtype
		key := dns.Key{Name: name, Type: wire.TypeToString[kind]}
		if dns.Lower(r.Header().Name) != name || slices.ContainsFunc(sets, func(s dns.RecordSet) bool { return s.Key == key }) {
			continue
		}
		set := dns.RecordSet{Key: key, TTL: int64(r.Header().Ttl), Values: answer.Values(name, key.Type)}
		slices.Sort(set.Values)
		if !covered(ctx, server, set, kind) {
			sets = append(sets, set)
		}
	}
	slices.SortFunc(sets, func(a, b dns.RecordSet) int { return cmp.Compare(a.Type, b.Type) })
	return sets
}
