package rfc2136

import (
	"slices"
	"testing"

	wire "github.com/miekg/dns"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
)

// Values of a server are written back byte for byte, and a text that is written is read back unchanged.
func FuzzRecords(f *testing.F) {
	for _, seed := range []struct{ kind, value string }{
		{"TXT", `"a\"b" "c"`}, {"TXT", `"\195\188"`}, {"CNAME", "Other.Example.COM."}, {"A", "192.0.2.1"}, {"MX", "10 mail.example.com."},
		{"CAA", `0 issue "ca.example"`}, {"TYPE65280", `\# 2 abcd`}, {"SRV", "1 2 3 ."}, {"TXT", " "}, {"TXT", "; comment"}, {"TXT", `""`}, {"A", "	"}, {"NXT", "0 00000"},
	} {
		f.Add(seed.kind, seed.value)
	}
	f.Fuzz(func(t *testing.T, kind, value string) {
		if _, known := wire.StringToType[kind]; !known && kind != "TYPE65280" {
			return
		}
		rr, err := record(dns.RecordSet{Key: dns.Key{Name: "a.example.com", Type: kind}, TTL: 60}, value)
		if err != nil || signs(rr.Header().Rrtype) {
			return
		}
		set := recordSet(dns.Key{Name: "a.example.com", Type: kind}, []wire.RR{rr})
		if kind == "SOA" {
			return // which is never written
		}
		again, err := records(set)
		if err != nil {
			t.Fatalf("%s %q is %+v, which can't be written: %v", kind, value, set, err)
		}
		if got, want := rdata(again[0]), rdata(rr); got != want {
			t.Errorf("%s %q is put back as %q, want %q", kind, value, got, want)
		}
	})
}

func FuzzText(f *testing.F) {
	for _, seed := range []string{"", `a"b\c`, "ü", "\x00\xff", "; comment"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		set := dns.RecordSet{Key: dns.Key{Name: "a.example.com", Type: dns.TXT}, TTL: 60, Values: []string{text}}
		rrs, err := records(set)
		if err != nil {
			return
		}
		if back := recordSet(set.Key, rrs); !slices.Equal(back.Values, set.Values) {
			t.Errorf("%q comes back as %q", text, back.Values)
		}
	})
}
