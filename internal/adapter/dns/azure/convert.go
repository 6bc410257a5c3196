package azure

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"unicode/utf8"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/dns/armdns"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/values"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// The note next to a record says who wrote it, for people. Nothing depends on it but that it is no one else's metadata.
const (
	noteKey    = "owner"
	notePrefix = "cloudfront-tenant-operator "
	// longestNote fits into a tag, whose limits metadata has at least.
	longestNote = 256
)

func note(cluster string, o dns.Owner) string {
	text := fmt.Sprintf("%scluster=%s object=%s/%s", notePrefix, cluster, o.Namespace, o.Name)
	return text[:min(len(text), longestNote)]
}

// recordSet reads a record set of the zone.
func (p place) recordSet(operation string, s *armdns.RecordSet) (dns.RecordSet, error) {
	if s == nil || s.Name == nil || s.Type == nil || s.Properties == nil {
		return dns.RecordSet{}, unreadable(operation, "a record set with its name, its type and its properties")
	}
	kind := strings.ToUpper((*s.Type)[strings.LastIndex(*s.Type, "/")+1:])
	out := dns.RecordSet{
		Key: dns.Key{Name: p.full(*s.Name), Type: kind}, TTL: value(s.Properties.TTL),
		Routed: kind == string(armdns.RecordTypeSOA) || isForeign(s.Properties),
	}
	for _, wire := range wireValues(kind, s.Properties) {
		out.Values = append(out.Values, readValue(kind, wire))
		out.Exact = append(out.Exact, wire)
	}
	written.Complete(&out)
	return out, nil
}

// isForeign reports whether a set has something that we never write: it leads to an Azure resource, or has metadata that
// is not our note.
func isForeign(p *armdns.RecordSetProperties) bool {
	if p.TargetResource != nil && value(p.TargetResource.ID) != "" {
		return true
	}
	for k, v := range p.Metadata {
		if k != noteKey || !strings.HasPrefix(value(v), notePrefix) {
			return true
		}
	}
	return false
}

// wireValues are the values of a set as one text each, those of TXT as a list of strings in JSON.
func wireValues(kind string, p *armdns.RecordSetProperties) (out []string) {
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	switch armdns.RecordType(kind) {
	case armdns.RecordTypeCNAME:
		if p.CnameRecord != nil {
			add("%s", strings.TrimSuffix(value(p.CnameRecord.Cname), "."))
		}
	case armdns.RecordTypeSOA:
		if s := p.SoaRecord; s != nil {
			add("%s %s %d", value(s.Host), value(s.Email), value(s.SerialNumber))
		}
	case armdns.RecordTypeA:
		each(p.ARecords, func(r armdns.ARecord) { add("%s", value(r.IPv4Address)) })
	case armdns.RecordTypeAAAA:
		each(p.AaaaRecords, func(r armdns.AaaaRecord) { add("%s", value(r.IPv6Address)) })
	case armdns.RecordTypeTXT:
		each(p.TxtRecords, func(r armdns.TxtRecord) { add("%s", list(pieces(r))) })
	case armdns.RecordTypeNS:
		each(p.NsRecords, func(r armdns.NsRecord) { add("%s", value(r.Nsdname)) })
	case armdns.RecordTypePTR:
		each(p.PtrRecords, func(r armdns.PtrRecord) { add("%s", value(r.Ptrdname)) })
	case armdns.RecordTypeMX:
		each(p.MxRecords, func(r armdns.MxRecord) { add("%d %s", value(r.Preference), value(r.Exchange)) })
	case armdns.RecordTypeSRV:
		each(p.SrvRecords, func(r armdns.SrvRecord) {
			add("%d %d %d %s", value(r.Priority), value(r.Weight), value(r.Port), value(r.Target))
		})
	case armdns.RecordTypeCAA:
		each(p.CaaRecords, func(r armdns.CaaRecord) { add("%d %s %q", value(r.Flags), value(r.Tag), value(r.Value)) })
	}
	return out
}

func each[T any](all []*T, do func(T)) {
	for _, one := range all {
		if one != nil {
			do(*one)
		}
	}
}

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func pieces(r armdns.TxtRecord) (out []string) {
	each(r.Value, func(s string) { out = append(out, s) })
	return out
}

func list(texts []string) string {
	out, err := json.Marshal(texts)
	if err != nil {
		return "" // texts can always be rendered
	}
	return string(out)
}

// readValue brings a value into the form in which values are compared.
func readValue(kind, wire string) string {
	switch kind {
	case dns.CNAME, string(armdns.RecordTypeNS):
		return dns.Lower(wire)
	case dns.AAAA:
		if a, err := netip.ParseAddr(wire); err == nil {
			return a.String()
		}
	case dns.TXT:
		var texts []string
		if json.Unmarshal([]byte(wire), &texts) == nil {
			return strings.Join(texts, "")
		}
	}
	return wire
}

// written is the way back.
var written values.Writer = func(kind, v string) string {
	if kind == dns.TXT {
		return list(split(v))
	}
	return v
}

// The most that Azure takes of a TXT set: of one string, and of all.
const (
	longestString = 255
	longestText   = 4096
)

// split cuts a text into strings, at the ends of characters.
func split(text string) []string {
	var out []string
	for len(text) > longestString {
		end := longestString
		for !utf8.RuneStart(text[end]) {
			end--
		}
		out, text = append(out, text[:end]), text[end:]
	}
	return append(out, text)
}

// properties renders a set that is to be created. Other types, and aliases to Azure resources, are never written.
func (d *DNS) properties(c dns.Change) (*armdns.RecordSetProperties, error) {
	s := c.Set
	if s.Alias != "" {
		return nil, invalid("%s can't be an alias: Azure has aliases for resources in Azure only, not for CloudFront", s.Name)
	}
	out := &armdns.RecordSetProperties{TTL: new(s.TTL)}
	if isOurs(s) {
		out.Metadata = map[string]*string{noteKey: new(note(d.config.ClusterID, c.Owner))}
	}
	all := written.Of(s)
	if s.Type == dns.CNAME && len(all) > 1 {
		return nil, invalid("%s can't have %d CNAME records: use one", s.Name, len(all))
	}
	for _, v := range all {
		switch s.Type {
		case dns.CNAME:
			out.CnameRecord = &armdns.CnameRecord{Cname: new(v)}
		case dns.A:
			out.ARecords = append(out.ARecords, &armdns.ARecord{IPv4Address: new(v)})
		case dns.AAAA:
			out.AaaaRecords = append(out.AaaaRecords, &armdns.AaaaRecord{IPv6Address: new(v)})
		case dns.TXT:
			var texts []string
			if json.Unmarshal([]byte(v), &texts) != nil {
				return nil, invalid("the TXT record %s has a value that is no list of strings", s.Name)
			}
			out.TxtRecords = append(out.TxtRecords, &armdns.TxtRecord{Value: to.SliceOfPtrs(texts...)})
		default:
			return nil, invalid("%s can't have a record of type %s from the operator", s.Name, s.Type)
		}
	}
	return out, nil
}

// isOurs reports whether the set is one that the operator publishes, and none that it puts back for its owner.
func isOurs(s dns.RecordSet) bool {
	return len(s.Values) == 1 && dns.Record{Name: s.Name, Type: s.Type, Value: s.Values[0]}.Plausible()
}

func invalid(format string, args ...any) error {
	return fault.New(fault.Invalid, opPutRecord, format, args...)
}
