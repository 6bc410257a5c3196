package resolver_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/advice"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/onboarding"
)

func TestLook(t *testing.T) {
	t.Parallel()
	const domain, soa = "shop.example.com", "example.com. SOA ns.example.com. admin.example.com. 1 2 3 4 5"
	nowhere := onboarding.Sight{Way: onboarding.Nowhere}
	elsewhere := func(seen string) onboarding.Sight {
		return onboarding.Sight{Way: onboarding.Elsewhere, Seen: []string{seen}}
	}
	for name, tt := range map[string]struct {
		records  []string
		question advice.Question
		want     advice.Sight
	}{
		"a CNAME": {
			[]string{"shop.example.com. CNAME a.example.net.", "a.example.net. CNAME x.example.net.", "x.example.net. A 192.0.2.1"},
			advice.Question{}, advice.Sight{Sight: elsewhere("a.example.net")},
		},
		"a CNAME to nothing": {[]string{"shop.example.com. CNAME x.example.net."}, advice.Question{}, advice.Sight{Sight: elsewhere("x.example.net")}},
		"an address":         {[]string{"shop.example.com. A 192.0.2.1"}, advice.Question{}, advice.Sight{Sight: elsewhere("192.0.2.1")}},
		"an alias": {
			[]string{"shop.example.com. A 192.0.2.1", `_cf-challenge.shop.example.com. TXT "d1.cloudfront.net"`},
			advice.Question{Targets: []string{"D1.cloudfront.net"}}, advice.Sight{Sight: onboarding.Sight{Way: onboarding.Here}},
		},
		"no record in a zone that exists":             {[]string{soa}, advice.Question{}, advice.Sight{Sight: nowhere}},
		"no zone":                                     {nil, advice.Question{}, advice.Sight{Sight: nowhere, NoZone: "example.com"}},
		"not the zone that is asked about":            {[]string{soa}, advice.Question{Zone: "customers.example.com"}, advice.Sight{Sight: nowhere, NoZone: "customers.example.com"}},
		"a circle":                                    {[]string{"shop.example.com. CNAME shop.example.com."}, advice.Question{}, advice.Sight{Sight: onboarding.Sight{Way: onboarding.Circle, Seen: []string{domain}}}},
		"CAA records are only read when asked about":  {[]string{soa, `example.com. CAA 0 issue "letsencrypt.org"`}, advice.Question{}, advice.Sight{Sight: nowhere}},
		"CAA records of the zone":                     {[]string{soa, `example.com. CAA 0 issue "LetsEncrypt.org; account=1"`}, advice.Question{Issuers: true}, advice.Sight{Sight: nowhere, IssuersAt: "example.com", Issuers: []string{"letsencrypt.org"}}},
		"those nearest to the name hold":              {[]string{soa, `example.com. CAA 0 issue "letsencrypt.org"`, `shop.example.com. CAA 0 issue "amazon.com"`, `shop.example.com. CAA 0 issue ";"`}, advice.Question{Issuers: true}, advice.Sight{Sight: nowhere, IssuersAt: domain, Issuers: []string{"", "amazon.com"}}},
		"those about wildcards do not restrict":       {[]string{soa, `example.com. CAA 0 issue "letsencrypt.org"`, `shop.example.com. CAA 0 issuewild ";"`}, advice.Question{Issuers: true}, advice.Sight{Sight: nowhere}},
		"without CAA records any authority may issue": {[]string{soa}, advice.Question{Issuers: true}, advice.Sight{Sight: nowhere}},
	} {
		for how, chases := range map[string]bool{"by a resolver": true, "by a server of zones": false} {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				question, want := tt.question, tt.want
				question.Domain, want.Domain = domain, domain
				got, err := newResolver(t, serve(t, failing(dns.RcodeServerFailure)), serve(t, zone(t, chases, tt.records...))).Look(t.Context(), question)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("-want +got\n%s", diff)
				}
			})
		}
	}
}

// The answer has what could be found out in time.
func TestALookThatEndsEarly(t *testing.T) {
	t.Parallel()
	known := zone(t, true, "shop.example.com. CNAME x.example.net.")
	r := newResolver(t, serve(t, func(w dns.ResponseWriter, q *dns.Msg) {
		if q.Question[0].Qtype == dns.TypeA {
			known(w, q)
		}
	}))
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	got, err := r.Look(ctx, advice.Question{Domain: "shop.example.com", Issuers: true})
	if diff := cmp.Diff(advice.Sight{Domain: "shop.example.com", Sight: onboarding.Sight{Way: onboarding.Elsewhere, Seen: []string{"x.example.net"}}}, got); diff != "" || err == nil {
		t.Errorf("error %v, -want +got\n%s", err, diff)
	}
	if _, err := newResolver(t, serve(t, failing(dns.RcodeRefused))).Look(t.Context(), advice.Question{Domain: "shop.example.com"}); err == nil {
		t.Error("a failure is not told")
	}
}
