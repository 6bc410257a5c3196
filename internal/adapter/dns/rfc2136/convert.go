package rfc2136

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	wire "github.com/miekg/dns"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/values"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
)

// The sets by which a server signs a zone come and go with what they sign. They may share their name with any other, even a
// CNAME. Those that RFC 2535 had before are among them.
func signs(kind uint16) bool {
	switch kind {
	case wire.TypeRRSIG, wire.TypeNSEC, wire.TypeNSEC3, wire.TypeSIG, wire.TypeNXT:
		return true
	}
	return false
}

// sets gathers the record sets of a zone.
type sets map[dns.Key][]wire.RR

func (s sets) take(rr wire.RR) {
	if signs(rr.Header().Rrtype) {
		return
	}
	key := dns.Key{Name: dns.Lower(rr.Header().Name), Type: wire.Type(rr.Header().Rrtype).String()}
	s[key] = append(s[key], rr)
}

// list returns the sets in order, but for our own notes.
func (s sets) list() []dns.RecordSet {
	keys := slices.SortedFunc(maps.Keys(s), func(a, b dns.Key) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Type, b.Type))
	})
	out := make([]dns.RecordSet, 0, len(keys))
	for _, key := range keys {
		if set := recordSet(key, s[key]); !isNote(set) {
			out = append(out, set)
		}
	}
	return out
}

func recordSet(key dns.Key, rrs []wire.RR) dns.RecordSet {
	out := dns.RecordSet{Key: key, TTL: int64(rrs[0].Header().Ttl), Routed: key.Type == "SOA"}
	for _, rr := range rrs {
		out.Values = append(out.Values, readValue(rr))
		out.Exact = append(out.Exact, rdata(rr))
	}
	written.Complete(&out)
	return out
}

// rdata is the value of a record as a zone file has it.
func rdata(rr wire.RR) string {
	if unknown, ok := rr.(*wire.RFC3597); ok { // whose text does not begin with that of its header
		return fmt.Sprintf(`\# %d %s`, len(unknown.Rdata)/2, unknown.Rdata)
	}
	return strings.TrimPrefix(rr.String(), rr.Header().String())
}

// readValue brings a value into the form in which values are compared.
func readValue(rr wire.RR) string {
	switch rr := rr.(type) {
	case *wire.CNAME:
		return dns.Lower(rr.Target)
	case *wire.TXT:
		return values.Decimal.Unescape(strings.Join(rr.Txt, ""))
	}
	return rdata(rr)
}

// written is the way back, to what a zone file has.
var written values.Writer = func(kind, value string) string {
	switch kind {
	case dns.CNAME:
		return wire.Fqdn(value)
	case dns.TXT:
		return values.Decimal.Quote(value)
	}
	return value
}

// records renders a set.
func records(s dns.RecordSet) ([]wire.RR, error) {
	switch _, valid := wire.IsDomainName(s.Name); {
	case s.Routed || s.Alias != "":
		return nil, impossible("the operator never writes a %s record such as that of %s", s.Type, s.Name)
	case !valid:
		return nil, impossible("%q is not the name of a record", s.Name)
	case s.TTL < 0 || s.TTL > math.MaxInt32:
		return nil, impossible("the TTL of %s is not between 0 and %d", s.Name, math.MaxInt32)
	case len(s.Values) == 0 || s.Type == dns.CNAME && len(s.Values) != 1:
		return nil, impossible("the %s record of %s has no value, or too many", s.Type, s.Name)
	}
	var out []wire.RR
	for _, v := range written.Of(s) {
		rr, err := record(s, v)
		if err != nil {
			return nil, err
		}
		out = append(out, rr)
	}
	return out, nil
}

// record reads one value as a line of a zone file. The name is no part of that line: it can't be more than a name then. A line may
// have no value, as some have in updates; here that is none of its type.
func record(s dns.RecordSet, value string) (wire.RR, error) {
	rr, err := wire.NewRR(fmt.Sprintf(". %d IN %s %s", s.TTL, s.Type, value))
	if err != nil || rr == nil || rdata(rr) == "" || strings.ContainsAny(value, "\r\n") || wire.Type(rr.Header().Rrtype).String() != s.Type {
		return nil, impossible("a value of the %s record of %s is not one of that type", s.Type, s.Name)
	}
	rr.Header().Name = wire.Fqdn(s.Name)
	return rr, nil
}
