package advice_test

import (
	"strings"
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/advice"
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
	at := func(end string, more ...func(*advice.Sight)) advice.Sight {
		s := advice.Sight{Domain: domain, Followed: true, End: end}
		for _, m := range more {
			m(&s)
		}
		return s
	}
	address := func(s *advice.Sight) { s.Addresses = []string{"192.0.2.1"} }
	alias := func(s *advice.Sight) { s.Aliases = []string{"hello", endpoint} }
	noZone := func(s *advice.Sight) { s.NoZone = "example.com" }
	issuers := func(names ...string) func(*advice.Sight) {
		return func(s *advice.Sight) { s.IssuersAt, s.Issuers = "example.com", names }
	}
	for name, tt := range map[string]struct {
		desired advice.Desired
		sight   advice.Sight
		says    []string
	}{
		"nothing was seen":                            {advice.Desired{}, advice.Sight{Domain: domain}, nil},
		"it leads to CloudFront":                      {advice.Desired{}, at("dother.cloudfront.net", address), nil},
		"it leads to CloudFront by an alias":          {advice.Desired{}, at(domain, address, alias), nil},
		"it leads there by a CNAME to an alias":       {advice.Desired{}, at("in.example.net", address, alias), nil},
		"a name that only looks like CloudFront":      {advice.Desired{}, at("xcloudfront.net"), []string{"points to xcloudfront.net, not to CloudFront"}},
		"it leads elsewhere by a CNAME":               {advice.Desired{}, at("x.example.net", address), []string{"shop.example.com points to x.example.net, not to CloudFront. Create the record shop.example.com CNAME d1.cloudfront.net, or set spec.dns."}},
		"it leads elsewhere by an address":            {advice.Desired{}, at(domain, address), []string{"points to 192.0.2.1 without the TXT record _cf-challenge.shop.example.com"}},
		"the operator publishes the record":           {published, at("x.example.net"), nil},
		"the operator publishes it in no zone":        {published, at(domain, noZone), []string{"public DNS has no zone example.com"}},
		"there is no zone":                            {advice.Desired{}, at(domain, noZone), []string{"public DNS has no zone example.com"}},
		"there is no record yet":                      {advice.Desired{}, at(domain), nil},
		"CloudFront needs one for its challenge":      {hosted, at(domain), []string{"neither a CNAME nor an A record"}},
		"another web server answers the challenge":    {managed, at(domain), nil},
		"CAA records forbid Amazon":                   {managed, at(endpoint, issuers("letsencrypt.org")), []string{`the CAA records of example.com allow only letsencrypt.org to issue a certificate for shop.example.com, so AWS can't. Add the record example.com CAA 0 issue "amazon.com".`}},
		"CAA records forbid all":                      {managed, at(endpoint, issuers("")), []string{"allow no authority"}},
		"CAA records allow one of Amazon's names":     {managed, at(endpoint, issuers("letsencrypt.org", "awstrust.com")), nil},
		"CAA records matter not without a request":    {advice.Desired{}, at(endpoint, issuers("letsencrypt.org")), nil},
		"CAA records forbid and it leads elsewhere":   {managed, at("x.example.net", issuers("letsencrypt.org")), []string{"x.example.net", "letsencrypt.org"}},
		"CAA records are known and the way is not":    {managed, advice.Sight{Domain: domain, IssuersAt: domain, Issuers: []string{"x"}}, []string{"allow only x"}},
		"the operator publishes and CAA records bind": {advice.Desired{Managed: true, Publishes: true}, at("x.example.net", issuers("x")), []string{"allow only x"}},
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
	got := advice.Of(advice.Desired{}, advice.Known{Sights: []advice.Sight{at("x.example.net")}})
	check(t, got, []want{{advice.DNS, "Create a CNAME record for shop.example.com that points to the routing endpoint"}})
}

func TestDenied(t *testing.T) {
	t.Parallel()
	all := []advice.Warning{{Check: advice.DomainTaken}, {Check: advice.DNS}, {Check: advice.DNS}}
	check(t, advice.Denied(all, nil), nil)
	check(t, advice.Denied(all, []advice.Check{advice.DNS, advice.Parameters}), []want{{advice.DNS, ""}, {advice.DNS, ""}})
}
