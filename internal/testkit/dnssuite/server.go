package dnssuite

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/nameserver"
)

// Server is a name server whose zones are written and read past any adapter.
type Server struct {
	testing.TB

	Server *nameserver.Server
}

func (s Server) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// lines are those of a zone file that has the set.
func lines(set dns.RecordSet) (out []string) {
	for _, v := range set.Values {
		switch set.Type {
		case dns.CNAME, "NS", "MX":
			v += "."
		case dns.TXT:
			var parts []string
			for part := range slices.Chunk([]byte(v), 255) {
				parts = append(parts, `"`+strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(string(part))+`"`)
			}
			v = strings.Join(parts, " ")
		}
		out = append(out, fmt.Sprintf("%s. %d IN %s %s", set.Name, set.TTL, set.Type, v))
	}
	return out
}

// Put writes a set in place of the one of its key.
func (s Server) Put(zone string, set dns.RecordSet) {
	s.Helper()
	s.Remove(zone, set.Key)
	s.must(s.Server.AddByHand(s.Context(), zone, lines(set)...))
}

// Remove deletes the set of a key.
func (s Server) Remove(zone string, k dns.Key) {
	s.Helper()
	for _, set := range s.Sets(zone) {
		if set.Key == k {
			s.must(s.Server.DeleteByHand(s.Context(), zone, lines(set)...))
		}
	}
}

// signs are the types of sets by which a server signs a zone.
var signs = []string{"RRSIG", "NSEC", "NSEC3", "NSEC3PARAM", "DNSKEY", "CDS", "CDNSKEY", "TYPE65534"}

// Sets are all that a zone has, but for those by which the server signs it.
func (s Server) Sets(zone string) (out []dns.RecordSet) {
	s.Helper()
	records, err := s.Server.Records(s.Context(), zone)
	s.must(err)
	for _, line := range records {
		fields := strings.SplitN(line, " ", 4)
		if slices.Contains(signs, fields[2]) {
			continue
		}
		ttl, err := strconv.ParseInt(fields[1], 10, 64)
		s.must(err)
		k := dns.Key{Name: fields[0], Type: fields[2]}
		i := slices.IndexFunc(out, func(o dns.RecordSet) bool { return o.Key == k })
		if i < 0 {
			i = len(out)
			out = append(out, dns.RecordSet{Key: k, TTL: ttl})
		}
		out[i].Values = append(out[i].Values, plain(k.Type, fields[3]))
	}
	return out
}

// Answers are the values that the server shows for a name, in the form of the domain.
func (s Server) Answers(name, kind string) (out []string) {
	s.Helper()
	_, values, err := s.Server.Query(s.Context(), name, kind)
	s.must(err)
	for _, v := range values {
		out = append(out, plain(kind, v))
	}
	return out
}

// plain is a value without dots at its end, quotes and escapes.
func plain(kind, value string) string {
	switch kind {
	case dns.CNAME, "NS", "MX":
		return strings.TrimSuffix(value, ".")
	case dns.TXT:
		value = strings.TrimSuffix(strings.TrimPrefix(value, `"`), `"`)
		return strings.NewReplacer(`\\`, `\`, `\"`, `"`, `" "`, ``).Replace(value)
	}
	return value
}
