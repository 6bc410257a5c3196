package azuredns

import (
	"fmt"
	"strconv"
	"strings"
)

// properties are those of a record set on the wire.
type properties struct {
	FQDN              string            `json:"fqdn,omitempty"`
	TTL               *int64            `json:"TTL,omitempty"`
	Metadata          map[string]string `json:"metadata,omitempty"`
	TargetResource    *target           `json:"targetResource"`
	ProvisioningState string            `json:"provisioningState,omitempty"`

	A     []map[string]string `json:"ARecords,omitempty"`
	AAAA  []map[string]string `json:"AAAARecords,omitempty"`
	CAA   []caa               `json:"caaRecords,omitempty"`
	CNAME *map[string]string  `json:"CNAMERecord,omitempty"`
	MX    []mx                `json:"MXRecords,omitempty"`
	NS    []map[string]string `json:"NSRecords,omitempty"`
	PTR   []map[string]string `json:"PTRRecords,omitempty"`
	SOA   *soa                `json:"SOARecord,omitempty"`
	SRV   []srv               `json:"SRVRecords,omitempty"`
	TXT   []txt               `json:"TXTRecords,omitempty"`
}

type target struct {
	ID string `json:"id,omitempty"`
}

type txt struct {
	Value []string `json:"value"`
}

type mx struct {
	Preference int64  `json:"preference"`
	Exchange   string `json:"exchange"`
}

type srv struct {
	Priority int64  `json:"priority"`
	Weight   int64  `json:"weight"`
	Port     int64  `json:"port"`
	Target   string `json:"target"`
}

type caa struct {
	Flags int64  `json:"flags"`
	Tag   string `json:"tag"`
	Value string `json:"value"`
}

type soa struct {
	Host         string `json:"host"`
	Email        string `json:"email"`
	SerialNumber int64  `json:"serialNumber"`
	RefreshTime  int64  `json:"refreshTime"`
	RetryTime    int64  `json:"retryTime"`
	ExpireTime   int64  `json:"expireTime"`
	MinimumTTL   int64  `json:"minimumTTL"`
}

// The fields that hold the one value of simple types.
var valueFields = map[string]string{"A": "ipv4Address", "AAAA": "ipv6Address", "NS": "nsdname", "PTR": "ptrdname", "CNAME": "cname"}

// record reads a set of a type. It refuses records of another one.
func (p *properties) record(kind string) (Record, *refusal) {
	all := p.values()
	for other := range all {
		if other != kind {
			return Record{}, badRequest("The record set of type '%s' may not contain records of type '%s'.", kind, other)
		}
	}
	r := Record{Type: kind, Values: all[kind], Metadata: p.Metadata}
	if kind == "TXT" {
		r.Values = nil
		for _, t := range p.TXT {
			r.Texts = append(r.Texts, t.Value)
		}
	}
	if p.TTL != nil {
		r.TTL = *p.TTL
	}
	if p.TargetResource != nil {
		r.Target = p.TargetResource.ID
	}
	return r, nil
}

// values are those of each type that has some, in the form of zone files.
func (p *properties) values() map[string][]string {
	out := map[string][]string{}
	add := func(kind, value string) { out[kind] = append(out[kind], value) }
	simple := map[string][]map[string]string{"A": p.A, "AAAA": p.AAAA, "NS": p.NS, "PTR": p.PTR}
	for kind, records := range simple {
		for _, one := range records {
			add(kind, field(one, valueFields[kind]))
		}
	}
	if p.CNAME != nil {
		add("CNAME", field(*p.CNAME, valueFields["CNAME"]))
	}
	if p.SOA != nil {
		add("SOA", fmt.Sprintf("%s %s %d %d %d %d %d", p.SOA.Host, p.SOA.Email, p.SOA.SerialNumber, p.SOA.RefreshTime, p.SOA.RetryTime, p.SOA.ExpireTime, p.SOA.MinimumTTL))
	}
	for _, m := range p.MX {
		add("MX", fmt.Sprintf("%d %s", m.Preference, m.Exchange))
	}
	for _, v := range p.SRV {
		add("SRV", fmt.Sprintf("%d %d %d %s", v.Priority, v.Weight, v.Port, v.Target))
	}
	for _, c := range p.CAA {
		add("CAA", fmt.Sprintf("%d %s %q", c.Flags, c.Tag, c.Value))
	}
	for range p.TXT {
		add("TXT", "")
	}
	return out
}

// field finds a field whatever its case, as Azure does.
func field(record map[string]string, name string) string {
	for k, v := range record {
		if strings.EqualFold(k, name) {
			return v
		}
	}
	return ""
}

// toWire renders a set.
func toWire(r Record) *properties {
	p := &properties{TTL: &r.TTL, Metadata: r.Metadata, TargetResource: &target{ID: r.Target}}
	for _, t := range r.Texts {
		p.TXT = append(p.TXT, txt{Value: t})
	}
	for _, v := range r.Values {
		p.add(r.Type, v)
	}
	return p
}

func (p *properties) add(kind, value string) {
	f := append(strings.Fields(value), make([]string, 7)...)
	n := func(i int) int64 { v, _ := strconv.ParseInt(f[i], 10, 64); return v }
	simple := map[string]*[]map[string]string{"A": &p.A, "AAAA": &p.AAAA, "NS": &p.NS, "PTR": &p.PTR}
	switch {
	case simple[kind] != nil:
		*simple[kind] = append(*simple[kind], map[string]string{valueFields[kind]: value})
	case kind == "CNAME":
		p.CNAME = &map[string]string{"cname": value}
	case kind == "MX":
		p.MX = append(p.MX, mx{n(0), f[1]})
	case kind == "SRV":
		p.SRV = append(p.SRV, srv{n(0), n(1), n(2), f[3]})
	case kind == "CAA":
		p.CAA = append(p.CAA, caa{n(0), f[1], strings.Trim(f[2], `"`)})
	case kind == "SOA":
		p.SOA = &soa{f[0], f[1], n(2), n(3), n(4), n(5), n(6)}
	}
}
