package resolver_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/resolver"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/proof"
)

// Real servers show a proof only if all that answer have it, and two do.
func TestShows(t *testing.T) {
	record := proof.For("main", "team", "shop.example.com")
	text := record.Name + ". 60 IN TXT "
	proves := text + `"` + record.Value + `"`
	other := text + `"` + proof.For("main", "rival", "shop.example.com").Value + `"`
	fails := func(w dns.ResponseWriter, q *dns.Msg) {
		_ = w.WriteMsg(new(dns.Msg).SetRcode(q, dns.RcodeServerFailure))
	}
	has := func(records ...string) dns.HandlerFunc { return zone(t, true, records...) }
	for name, test := range map[string]struct {
		servers []dns.HandlerFunc
		want    proof.Sight
	}{
		"both have it":                         {[]dns.HandlerFunc{has(proves), has(proves)}, proof.Shown},
		"among other texts":                    {[]dns.HandlerFunc{has(text+`"v=spf1 -all"`, other, proves), has(proves)}, proof.Shown},
		"in several strings":                   {[]dns.HandlerFunc{has(text + `"` + record.Value[:20] + `" "` + record.Value[20:] + `"`), has(proves)}, proof.Shown},
		"with a byte as a number":              {[]dns.HandlerFunc{has(text + `"\` + fmt.Sprintf("%03d", record.Value[0]) + record.Value[1:] + `"`), has(proves)}, proof.Shown},
		"behind a CNAME":                       {[]dns.HandlerFunc{has(record.Name+". 60 IN CNAME proofs.example.net.", `proofs.example.net. 60 IN TXT "`+record.Value+`"`), has(proves)}, proof.Shown},
		"neither has anything":                 {[]dns.HandlerFunc{has(), has()}, proof.Missing},
		"another text is none of ours":         {[]dns.HandlerFunc{has(text + `"v=spf1 -all"`), has()}, proof.Missing},
		"that of another namespace":            {[]dns.HandlerFunc{has(other), has(other)}, proof.Other},
		"only one has it":                      {[]dns.HandlerFunc{has(proves), has()}, proof.Partly},
		"one is deceived":                      {[]dns.HandlerFunc{has(proves), has(other)}, proof.Partly},
		"one of two does not answer":           {[]dns.HandlerFunc{has(proves), fails}, proof.Silent},
		"one of three does not answer":         {[]dns.HandlerFunc{has(proves), fails, has(proves)}, proof.Shown},
		"none answers":                         {[]dns.HandlerFunc{fails, fails}, proof.Silent},
		"one server is not enough":             {[]dns.HandlerFunc{has(proves)}, proof.TooFew},
		"a part of the value is not the value": {[]dns.HandlerFunc{has(text + `"` + record.Value[:40] + `"`), has(proves)}, proof.Partly},
		"capitals in the name mean nothing":    {[]dns.HandlerFunc{has(strings.ToUpper(record.Name) + `. 60 IN TXT "` + record.Value + `"`), has(proves)}, proof.Shown},
	} {
		t.Run(name, func(t *testing.T) {
			var addresses []string
			for _, s := range test.servers {
				addresses = append(addresses, serve(t, s))
			}
			r, err := resolver.New(addresses)
			if err != nil {
				t.Fatal(err)
			}
			if got := r.LookForProof(t.Context(), record); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}
