package advice_test

import (
	"strings"
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/advice"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/onboarding"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/upstream"
)

// want is a check and a part of its message.
type want struct {
	check advice.Check
	says  string
}

func check(t *testing.T, got []advice.Warning, wanted []want) {
	t.Helper()
	if len(got) != len(wanted) {
		t.Fatalf("got %v, want %v", got, wanted)
	}
	for i, w := range wanted {
		if got[i].Check != w.check || !strings.Contains(got[i].Message, w.says) {
			t.Errorf("got %+v, want %+v", got[i], w)
		}
	}
}

func TestOfDomainsAndDistributions(t *testing.T) {
	t.Parallel()
	declared := []upstream.Parameter{{Name: "tier", Required: true}, {Name: "origin"}}
	byID, byRef := advice.Desired{Namespace: "shop", DistributionID: "E1"}, advice.Desired{Namespace: "shop", DistributionRef: "main"}
	for name, tt := range map[string]struct {
		desired advice.Desired
		known   advice.Known
		want    []want
	}{
		"what is not known is not said": {byID, advice.Known{}, nil},
		"of what is not granted nothing else is said": {byID, advice.Known{NotGranted: "spec.dns: no.", Holders: []advice.Holder{{Domain: "a.example.com", Namespace: "shop", Name: "first"}}}, []want{
			{advice.NotGranted, "spec.dns: no."},
		}},
		"an object of the namespace is named": {byID, advice.Known{Holders: []advice.Holder{{Domain: "a.example.com", Namespace: "shop", Name: "first"}}}, []want{
			{advice.DomainTaken, `a.example.com is already a domain of the DistributionTenant "first" in this namespace, and a domain can belong to only one tenant. Remove it from one of them.`},
		}},
		"one of another namespace is not": {byID, advice.Known{Holders: []advice.Holder{{Domain: "a.example.com", Namespace: "bank", Name: "first"}}}, []want{
			{advice.DomainTaken, "a.example.com is already a domain of a DistributionTenant in another namespace, and a domain can belong to only one tenant. Remove it, or ask an administrator of the platform for it."},
		}},
		"there is no such distribution":                     {byID, advice.Known{Distribution: advice.Distribution{Known: true, Missing: true}}, []want{{advice.UnknownDistribution, "spec.distributionId E1: there is no such distribution"}}},
		"there is no such object":                           {byRef, advice.Known{Distribution: advice.Distribution{Known: true, Missing: true}}, []want{{advice.UnknownDistribution, "spec.distributionRef main: there is no such Distribution object"}}},
		"the distribution can't have tenants":               {byRef, advice.Known{Distribution: advice.Distribution{Known: true, Name: "E1", Parameters: declared}}, []want{{advice.UnknownDistribution, "not tenant-only"}}},
		"a parameter is lacking":                            {byID, advice.Known{Distribution: advice.Distribution{Known: true, MultiTenant: true, Name: "E1", Parameters: declared}}, []want{{advice.Parameters, "must include tier"}}},
		"one is lacking because another's name is mistyped": {advice.Desired{Parameters: map[string]string{"teir": "gold"}}, advice.Known{Distribution: advice.Distribution{Known: true, MultiTenant: true, Name: "E1", Parameters: declared}}, []want{{advice.Parameters, "must include tier"}, {advice.Parameters, "includes teir"}}},
		"all parameters are there":                          {advice.Desired{Parameters: map[string]string{"tier": "gold"}}, advice.Known{Distribution: advice.Distribution{Known: true, MultiTenant: true, Name: "E1", Parameters: declared}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, advice.Of(tt.desired, tt.known), tt.want)
		})
	}
}

func TestOfDNS(t *testing.T) {
	t.Parallel()
	const domain, endpoint = "shop.example.com", "d1.cloudfront.net"
	published, managed, hosted := advice.Desired{Publishes: true}, advice.Desired{Managed: true}, advice.Desired{Managed: true, Hosted: true}
	at := func(way onboarding.Way, seen ...string) func(more ...func(*advice.Sight)) advice.Sight {
		return func(more ...func(*advice.Sight)) advice.Sight {
			s := advice.Sight{Domain: domain, Place: onboarding.Place{Zone: "example.com"}, Sight: onboarding.Sight{Way: way, Seen: seen}}
			for _, m := range more {
				m(&s)
			}
			return s
		}
	}
	here, nowhere, elsewhere := at(onboarding.Here), at(onboarding.Nowhere), at(onboarding.Elsewhere, "x.example.net")
	noZone := func(s *advice.Sight) { s.NoZone = "example.com" }
	issuers := func(names ...string) func(*advice.Sight) {
		return func(s *advice.Sight) { s.IssuersAt, s.Issuers = "example.com", names }
	}
	for name, tt := range map[string]struct {
		desired advice.Desired
		sight   advice.Sight
		says    []string
	}{
		"nothing was seen":                            {advice.Desired{}, at("")(), nil},
		"no resolver answered":                        {advice.Desired{}, at(onboarding.Silent)(), nil},
		"it leads to CloudFront":                      {advice.Desired{}, here(), nil},
		"it leads to another endpoint of CloudFront":  {advice.Desired{}, at(onboarding.Edge, "dother.cloudfront.net")(), nil},
		"it leads elsewhere by a CNAME":               {advice.Desired{}, elsewhere(), []string{"shop.example.com is not served before it points to CloudFront. The domain points to x.example.net. Replace that with the record shop.example.com CNAME d1.cloudfront.net at the DNS provider of example.com."}},
		"it leads elsewhere by an address":            {advice.Desired{}, at(onboarding.Elsewhere, "192.0.2.1")(), []string{"points to 192.0.2.1, and no record says that this is CloudFront. Replace"}},
		"the operator publishes the record":           {published, elsewhere(), nil},
		"the operator publishes it in no zone":        {published, nowhere(noZone), []string{"public DNS has no zone example.com"}},
		"there is no zone":                            {advice.Desired{}, nowhere(noZone), []string{"public DNS has no zone example.com"}},
		"there is no record yet":                      {advice.Desired{}, nowhere(), nil},
		"CloudFront needs one for its challenge":      {hosted, nowhere(), []string{"There is no DNS record for the domain. Create the record shop.example.com CNAME d1.cloudfront.net"}},
		"another web server answers the challenge":    {managed, nowhere(), nil},
		"CAA records forbid Amazon":                   {managed, here(issuers("letsencrypt.org")), []string{`the CAA records of example.com allow only letsencrypt.org to issue a certificate for shop.example.com, so AWS can't. Add the record example.com CAA 0 issue "amazon.com".`}},
		"CAA records forbid all":                      {managed, here(issuers("")), []string{"allow no authority"}},
		"CAA records allow one of Amazon's names":     {managed, here(issuers("letsencrypt.org", "awstrust.com")), nil},
		"CAA records matter not without a request":    {advice.Desired{}, here(issuers("letsencrypt.org")), nil},
		"CAA records forbid and it leads elsewhere":   {managed, elsewhere(issuers("letsencrypt.org")), []string{"x.example.net", "letsencrypt.org"}},
		"CAA records are known and the way is not":    {managed, at("")(issuers("x")), []string{"allow only x"}},
		"the operator publishes and CAA records bind": {advice.Desired{Managed: true, Publishes: true}, elsewhere(issuers("x")), []string{"allow only x"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var wanted []want
			for _, s := range tt.says {
				wanted = append(wanted, want{advice.DNS, s})
			}
			check(t, advice.Of(tt.desired, advice.Known{Sights: []advice.Sight{tt.sight}, Target: endpoint}), wanted)
		})
	}
	got := advice.Of(advice.Desired{}, advice.Known{Sights: []advice.Sight{elsewhere()}})
	check(t, got, []want{{advice.DNS, "shop.example.com is not served before it points to CloudFront. The domain points to x.example.net."}})
}

func TestDenied(t *testing.T) {
	t.Parallel()
	all := []advice.Warning{{Check: advice.DomainTaken}, {Check: advice.DNS}, {Check: advice.DNS}}
	check(t, advice.Denied(all, nil), nil)
	check(t, advice.Denied(all, []advice.Check{advice.DNS, advice.Parameters}), []want{{advice.DNS, ""}, {advice.DNS, ""}})
}
