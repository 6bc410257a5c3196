package dnssuite

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/bind"
)

// BIND is a server whose zones are written and read past any adapter.
type BIND struct {
	testing.TB

	Server *bind.Server
}

func (b BIND) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
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
func (b BIND) Put(zone string, set dns.RecordSet) {
	b.Helper()
	b.Remove(zone, set.Key)
	b.must(b.Server.AddByHand(b.Context(), zone, lines(set)...))
}

// Remove deletes the set of a key.
func (b BIND) Remove(zone string, k dns.Key) {
	b.Helper()
	for _, set := range b.Sets(zone) {
		if set.Key == k {
			b.must(b.Server.DeleteByHand(b.Context(), zone, lines(set)...))
		}
	}
}

// Sets are all that a zone has.
func (b BIND) Sets(zone string) (out []dns.RecordSet) {
	b.Helper()
	records, err := b.Server.Records(b.Context(), zone)
	b.must(err)
	for _, line := range records {
		fields := strings.SplitN(line, " ", 4)
		ttl, err := strconv.ParseInt(fields[1], 10, 64)
		b.must(err)
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
func (b BIND) Answers(name, kind string) (out []string) {
	b.Helper()
	_, values, err := b.Server.Query(b.Context(), name, kind)
	b.must(err)
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
