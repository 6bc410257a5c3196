package dns_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
)

func TestCanonical(t *testing.T) {
	for name, test := range map[string]struct {
		in, want string
		fails    bool
	}{
		"a name stays":                         {in: "shop.example.com", want: "shop.example.com"},
		"case and the last dot mean nothing":   {in: "Shop.Example.COM.", want: "shop.example.com"},
		"other letters are written as wire":    {in: "Bücher.example", want: "xn--bcher-kva.example"},
		"a wildcard stays":                     {in: "*.example.com", want: "*.example.com"},
		"underscores are part of record names": {in: "_cf-challenge.example.com", want: "_cf-challenge.example.com"},
		"nothing is no name":                   {in: " . ", fails: true},
		"broken punycode is no name":           {in: "xn--a.example", fails: true},
		"what is no UTF-8 is no name":          {in: "\xcb0.example", fails: true},
		"no label is empty":                    {in: "shop..example.com", fails: true},
		"a control character is in no name":    {in: "shop\v.example", fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := dns.Canonical(test.in)
			if got != test.want || (err != nil) != test.fails {
				t.Errorf("got %q, %v; want %q", got, err, test.want)
			}
		})
	}
}

func TestMatch(t *testing.T) {
	zones := []dns.Zone{
		{ID: "ZCOM", Name: "example.com"}, {ID: "ZAPP", Name: "app.example.com"},
		{ID: "ZIN", Name: "shop.app.example.com", Private: true},
		{ID: "ZD2", Name: "double.org"}, {ID: "ZD1", Name: "double.org"},
		{ID: "ZIDN", Name: "xn--bcher-kva.example"},
	}
	for name, test := range map[string]struct {
		domain   string
		selector dns.Selector
		want     string
		mismatch dns.Mismatch
		message  string
	}{
		"the zone with the longest name has it":       {domain: "a.app.example.com", want: "ZAPP"},
		"an apex is in its zone":                      {domain: "app.example.com", want: "ZAPP"},
		"a wildcard is in the zone of what it covers": {domain: "*.app.example.com", want: "ZAPP"},
		"labels are compared whole":                   {domain: "myapp.example.com", want: "ZCOM"},
		"private zones are never found":               {domain: "x.shop.app.example.com", want: "ZAPP"},
		"no zone holds it": {domain: "example.net", mismatch: dns.NotFound,
			message: "there is no public hosted zone for example.net: create one, or, if it is in another account, set a role of that account"},
		"the end of a label is not the end of a name": {domain: "badexample.com", mismatch: dns.NotFound,
			message: "there is no public hosted zone for badexample.com: create one, or, if it is in another account, set a role of that account"},
		"several zones of one name are ambiguous": {domain: "a.double.org", mismatch: dns.Ambiguous,
			message: "several public hosted zones are named double.org (ZD1, ZD2): set the ID of the one for a.double.org"},
		"also when asked for by name": {domain: "a.double.org", selector: dns.Selector{Name: "double.org"}, mismatch: dns.Ambiguous,
			message: "several public hosted zones are named double.org (ZD1, ZD2): set the ID of the one for a.double.org"},
		"an id decides":                    {domain: "a.double.org", selector: dns.Selector{ID: "ZD2"}, want: "ZD2"},
		"an id wins over a name":           {domain: "a.app.example.com", selector: dns.Selector{ID: "ZCOM", Name: "app.example.com"}, want: "ZCOM"},
		"a name wins over a longer one":    {domain: "a.app.example.com", selector: dns.Selector{Name: "Example.com."}, want: "ZCOM"},
		"a name may be written in letters": {domain: "a.xn--bcher-kva.example", selector: dns.Selector{Name: "bücher.example"}, want: "ZIDN"},
		"the domain has to be in the zone": {domain: "example.net", selector: dns.Selector{ID: "ZAPP"}, mismatch: dns.Outside,
			message: "example.net is not in the hosted zone ZAPP (app.example.com): use a zone whose name is a suffix of the domain"},
		"an unknown id": {domain: "example.com", selector: dns.Selector{ID: "ZNONE"}, mismatch: dns.NotFound,
			message: "there is no hosted zone with the ID ZNONE for example.com: correct the ID"},
		"an unknown name": {domain: "example.com", selector: dns.Selector{Name: "example.org"}, mismatch: dns.NotFound,
			message: "there is no public hosted zone named example.org for example.com: create it, or correct the name"},
		"a private zone is not used": {domain: "a.shop.app.example.com", selector: dns.Selector{ID: "ZIN"}, mismatch: dns.NotPublic,
			message: "hosted zone ZIN (shop.app.example.com) is private, so public resolvers would not find a.shop.app.example.com: use a public zone"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := test.selector.Match(test.domain, zones)
			if got.ID != test.want {
				t.Errorf("zone %q, want %q", got.ID, test.want)
			}
			mismatch := &dns.MatchError{}
			switch {
			case test.mismatch == "" && err != nil:
				t.Errorf("error %v", err)
			case test.mismatch != "" && !errors.As(err, &mismatch):
				t.Errorf("error %v", err)
			case test.mismatch != "":
				if d := cmp.Diff([]string{string(test.mismatch), test.message}, []string{string(mismatch.Mismatch), err.Error()}); d != "" {
					t.Errorf("error (-want +got):\n%s", d)
				}
			}
		})
	}
}

func TestWanted(t *testing.T) {
	zone := dns.Zone{ID: zoneID, Name: apex}
	text := func(name string) dns.Record {
		return dns.Record{ZoneID: zoneID, Name: name, Type: dns.TXT, Value: target, TTL: 300}
	}
	for name, test := range map[string]struct {
		domain  string
		at      dns.Provider
		apex    dns.Apex
		options dns.Options
		want    []dns.Record
		fails   string
	}{
		"an apex that is flattened gets a CNAME, and the text that explains it": {domain: apex, apex: dns.FlattenedApex, options: dns.Options{IPv6: true},
			want: []dns.Record{text("_cf-challenge.example.com"), cname(apex, target)}},
		"it may be asked for as what it is": {domain: apex, apex: dns.FlattenedApex, options: dns.Options{Type: dns.CNAME},
			want: []dns.Record{text("_cf-challenge.example.com"), cname(apex, target)}},
		"elsewhere such a provider shows the CNAME": {domain: "a.example.com", apex: dns.FlattenedApex, want: []dns.Record{cname("a.example.com", target)}},
		"it has no aliases": {domain: "a.example.com", at: dns.Provider{Service: dns.Cloudflare}, apex: dns.FlattenedApex, options: dns.Options{Type: dns.Alias},
			fails: "the DNS provider cloudflare has no alias records for a.example.com: use Auto or CNAME"},
		"some providers have nothing for an apex": {domain: apex, at: dns.Provider{Service: dns.Azure, Account: "main"}, apex: dns.NoApex,
			fails: "example.com is the apex of its zone, and the DNS provider azure can't lead an apex to CloudFront: use a name below it such as www.example.com, " +
				"or host the zone at a provider that can, for example route53 or cloudflare"},
		"but for names below": {domain: "a.example.com", apex: dns.NoApex, want: []dns.Record{cname("a.example.com", target)}},
		"a name gets a CNAME": {domain: "a.example.com", want: []dns.Record{cname("a.example.com", target)}},
		"so does a wildcard":  {domain: "*.example.com", options: dns.Options{IPv6: true}, want: []dns.Record{cname("*.example.com", target)}},
		"an apex gets an alias and the text that explains it": {domain: apex, options: dns.Options{Type: dns.Auto},
			want: []dns.Record{text("_cf-challenge.example.com"), alias(apex, dns.A, target)}},
		"and one for each kind of address": {domain: apex, options: dns.Options{IPv6: true},
			want: []dns.Record{text("_cf-challenge.example.com"), alias(apex, dns.A, target), alias(apex, dns.AAAA, target)}},
		"an alias may be asked for": {domain: "a.example.com", options: dns.Options{Type: dns.Alias},
			want: []dns.Record{text("_cf-challenge.a.example.com"), alias("a.example.com", dns.A, target)}},
		"a wildcard has no such text": {domain: "*.example.com", options: dns.Options{Type: dns.Alias},
			want: []dns.Record{alias("*.example.com", dns.A, target)}},
		"a CNAME at an apex is impossible": {domain: apex, options: dns.Options{Type: dns.CNAME},
			fails: "a CNAME record is not possible for example.com, the apex of the zone Z1: use Auto or Alias"},
	} {
		t.Run(name, func(t *testing.T) {
			test.options.Target, test.options.TTL = target, 300
			zone := zone
			zone.Provider, zone.Apex = test.at, test.apex
			got, err := dns.Wanted(test.domain, zone, test.options)
			if d := cmp.Diff(test.want, got); d != "" {
				t.Errorf("records (-want +got):\n%s", d)
			}
			if text := fmtErr(err); text != test.fails {
				t.Errorf("error %q, want %q", text, test.fails)
			}
			for _, r := range got {
				if dns.Domain(r.Name) != test.domain {
					t.Errorf("%s serves %s, want %s", r.Name, dns.Domain(r.Name), test.domain)
				}
			}
		})
	}
}

func fmtErr(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
