package convert_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/grant"
)

// A namespace has the grant that selects it most strongly, and nothing of any other grant. Each of these tenants asks for
// one thing that its grant lacks, and is granted everything with another value in that field.
func TestATenantGetsOnlyWhatTheGrantOfItsNamespaceHas(t *testing.T) {
	t.Parallel()
	type spec = v1alpha1.DistributionTenantSpec
	domain := func(d string) []v1alpha1.TenantDomain { return []v1alpha1.TenantDomain{{Domain: d}} }
	below := func(suffixes ...string) (out []grant.Domain) {
		for _, s := range suffixes {
			out = append(out, grant.Domain{Suffix: s})
		}
		return out
	}
	goldOnSecond := grant.Distribution{Is: "ESECOND", Parameters: map[string][]string{"tier": {"gold"}}}
	both := []grant.Distribution{{Is: "ESECOND"}, {Is: "EFIRST"}}
	anyZone := &grant.DNS{Zones: []grant.Zone{{ID: "*"}}}
	for name, c := range map[string]struct {
		grants    map[string]grant.Grant
		namespace string
		asks      spec
		refused   string
		change    func(*spec)
	}{
		"the grant for all namespaces has another distribution": {
			grants:    map[string]grant.Grant{"*": {Distributions: []grant.Distribution{goldOnSecond}, Groups: []string{"cg_second"}, Domains: below("example.com", "one.example.com"), DNS: anyZone}},
			namespace: "one",
			asks:      spec{DistributionID: "EFIRST", ConnectionGroupID: "cg_second", Domains: domain("one.example.com")},
			refused:   "spec.distributionId",
			change:    func(s *spec) { s.DistributionID = "ESECOND" },
		},
		"only grants of other namespaces have wildcards": {
			grants: map[string]grant.Grant{
				"two": {Distributions: []grant.Distribution{goldOnSecond}, Groups: []string{"cg_second"}, Domains: below("example.com", "one.example.com")},
				"one": {Distributions: both, Groups: []string{"cg_second"}, Wildcards: true},
				"*":   {Distributions: both[1:], Groups: []string{"cg_v4"}, Domains: below("one.example.com"), Wildcards: true, DNS: &grant.DNS{Zones: []grant.Zone{{ID: "ZCOVERED"}}}},
			},
			namespace: "two",
			asks:      spec{DistributionID: "ESECOND", ConnectionGroupID: "cg_second", Domains: domain("*.shop.example.com"), Parameters: []v1alpha1.Parameter{{Name: "tier", Value: "gold"}}},
			refused:   "spec.domains[0].domain",
			change:    func(s *spec) { s.Domains = domain("a.shop.example.com") },
		},
		"the grant has another connection group": {
			grants:    map[string]grant.Grant{"one": {Distributions: both, Groups: []string{"cg_v4"}, Domains: below("one.example.com", "shop.example.com"), Wildcards: true, DNS: anyZone}},
			namespace: "one",
			asks: spec{DistributionID: "EFIRST", ConnectionGroupID: "cg_second", Domains: domain("one.example.com"), Parameters: []v1alpha1.Parameter{{Name: "tier", Value: "silver"}},
				DNS: &v1alpha1.DNS{Provider: v1alpha1.DNSProviderRoute53}},
			refused: "spec.connectionGroupId",
			change:  func(s *spec) { s.ConnectionGroupID = "cg_v4" },
		},
		"another entry of the store allows to replace values": {
			grants: map[string]grant.Grant{"one": {Distributions: both, Domains: below("one.example.com"), Stores: []grant.Store{
				{ARN: "arn:store", Keys: []string{"shared-*"}}, {ARN: "arn:store", Keys: []string{"legacy-*"}, Takeover: true},
			}}},
			namespace: "one",
			asks:      spec{DistributionID: "EFIRST", Domains: domain("one.example.com"), KeyValues: &v1alpha1.KeyValues{StoreARN: "arn:store", Key: "shared-1", Takeover: true}},
			refused:   "spec.keyValues.takeover",
			change:    func(s *spec) { s.KeyValues.Key = "legacy-1" },
		},
	} {
		var all []grant.Grant
		for selects, g := range c.grants {
			g.Name, g.Kinds, g.Namespaces.Names = "for-"+selects, []string{"DistributionTenant"}, []string{selects}
			all = append(all, g)
		}
		standing := grant.NewSet(all, nil).For(grant.Namespace{Name: c.namespace})
		judge := func() *grant.Refusal {
			tenant := &v1alpha1.DistributionTenant{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: "acme"}, Spec: c.asks}
			return standing.Judge(c.namespace, convert.TenantWants(tenant), time.Time{})
		}
		if refusal := judge(); refusal == nil || refusal.Field != c.refused {
			t.Errorf("%s: %v, want a refusal of %s", name, refusal, c.refused)
		}
		c.change(&c.asks)
		if refusal := judge(); refusal != nil {
			t.Errorf("%s: %s, although the grant has all of it", name, refusal)
		}
	}
}
