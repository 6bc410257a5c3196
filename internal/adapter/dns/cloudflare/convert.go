package cloudflare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/values"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
)

// wireRecord is a record as the API shows it.
type wireRecord struct {
	ID             string   `json:"id"`
	Name           string   `json:"name"`
	Type           string   `json:"type"`
	Content        string   `json:"content"`
	TTL            float64  `json:"ttl"`
	Priority       *float64 `json:"priority"`
	Proxied        bool     `json:"proxied"`
	PrivateRouting bool     `json:"private_routing"`
	Settings       struct {
		FlattenCNAME bool `json:"flatten_cname"`
	} `json:"settings"`
	Meta struct {
		ReadOnly           bool `json:"read_only"`
		EmailRouting       bool `json:"email_routing"`
		ManagedByApps      bool `json:"managed_by_apps"`
		ManagedByArgoTunel bool `json:"managed_by_argo_tunnel"`
	} `json:"meta"`
}

// soaType marks where a zone begins. Every zone has one that the API doesn't list.
const soaType = "SOA"

// heldSet is a record set with the ids of its records.
type heldSet struct {
	dns.RecordSet
	ids []string
}

// holding is what a zone holds.
type holding struct {
	apex  string
	byKey map[dns.Key]*heldSet
}

func newHolding(apex string, withSOA bool) holding {
	h := holding{apex: apex, byKey: map[dns.Key]*heldSet{}}
	if withSOA {
		key := dns.Key{Name: apex, Type: soaType}
		h.byKey[key] = &heldSet{RecordSet: dns.RecordSet{Key: key, Routed: true}}
	}
	return h
}

// add takes over a record. The records of one set can have different TTLs, which can't be written in one set: such a set
// is left alone.
func (h holding) add(r wireRecord) {
	key := dns.Key{Name: readName(r.Name), Type: r.Type}
	s := h.byKey[key]
	if s == nil {
		s = &heldSet{RecordSet: dns.RecordSet{Key: key, TTL: int64(r.TTL)}}
		h.byKey[key] = s
	}
	s.ids = append(s.ids, r.ID)
	s.Values = append(s.Values, r.value())
	s.Exact = append(s.Exact, r.Content)
	s.Routed = s.Routed || r.isRouted() || s.TTL != int64(r.TTL)
	s.TTL = min(s.TTL, int64(r.TTL))
}

// complete sorts the values once they are all there.
func (h holding) complete() {
	for _, s := range h.byKey {
		written.Complete(&s.RecordSet)
	}
}

// sets returns all sets, by name and type.
func (h holding) sets() []dns.RecordSet {
	out := make([]dns.RecordSet, 0, len(h.byKey))
	for _, s := range h.byKey {
		out = append(out, s.RecordSet)
	}
	slices.SortFunc(out, func(a, b dns.RecordSet) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Type, b.Type))
	})
	return out
}

// isRouted reports whether a record has something that we never write: it is proxied, flattened on request, routed to a
// private network, or kept by another product.
func (r wireRecord) isRouted() bool {
	m := r.Meta
	return r.Proxied || r.PrivateRouting || r.Settings.FlattenCNAME ||
		m.ReadOnly || m.EmailRouting || m.ManagedByApps || m.ManagedByArgoTunel
}

// value is the content in the form in which values are compared.
func (r wireRecord) value() string {
	switch {
	case r.Type == dns.CNAME:
		return readName(r.Content)
	case r.Type == dns.TXT:
		if text, ok := values.Decimal.Unquote(r.Content); ok {
			return text
		}
	case r.Priority != nil && r.Type != soaType:
		return fmt.Sprintf("%.0f %s", *r.Priority, r.Content)
	}
	return r.Content
}

// written is the way back.
var written values.Writer = func(kind, value string) string {
	if kind == dns.TXT {
		return values.Decimal.Quote(value)
	}
	return value
}

// contents are the values of a set as they are written: to the letter as they were read, where that is not the
// usual form. A text that others have written without quotes gets some.
func contents(s dns.RecordSet) []string {
	out := written.Of(s)
	for i, content := range out {
		if _, ok := values.Decimal.Unquote(content); s.Type == dns.TXT && !ok {
			out[i] = values.Decimal.Quote(content)
		}
	}
	return out
}

// readName brings a name into the form of the domain. Cloudflare shows names in punycode today; zones were shown in
// Unicode once.
func readName(wire string) string {
	name := dns.Lower(wire)
	if strings.IndexFunc(name, func(r rune) bool { return r > '~' }) < 0 {
		return name
	}
	if ascii, err := dns.Canonical(name); err == nil {
		return ascii
	}
	return name
}
