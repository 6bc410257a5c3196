package distributiontenant_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/grant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/proof"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/grants"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// The values that grants and objects of the property are made of.
var (
	someDistributions = []string{world.DistributionID, "ESECOND"}
	someDomains       = []string{"one.example.com", "two.example.com", "a.shop.example.com", "*.shop.example.com"}
	someSuffixes      = []string{"one.example.com", "example.com", "shop.example.com"}
	someGroups        = []string{"", secondGroup, noIPv6Group}
	someTiers         = []string{"", "gold", "silver"}
)

// drawGrant makes a grant for one namespace, or for both.
func drawGrant(t *rapid.T, name string, namespaces []string) grant.Grant {
	some := func(label string, values []string) []string {
		return slices.DeleteFunc(rapid.Permutation(values).Draw(t, name+label), func(string) bool { return rapid.Bool().Draw(t, name+label+" not") })
	}
	g := grant.Grant{Name: name, Version: name, Kinds: []string{"DistributionTenant"}, Wildcards: rapid.Bool().Draw(t, name+" wildcards")}
	g.Namespaces.Names = rapid.SampledFrom([][]string{namespaces[:1], namespaces[1:], namespaces, {"*"}}).Draw(t, name+" namespaces")
	for _, id := range some(" distributions", someDistributions) {
		d := grant.Distribution{Is: id}
		if rapid.Bool().Draw(t, name+" limits tiers") {
			d.Parameters = map[string][]string{"tier": {"gold"}}
		}
		g.Distributions = append(g.Distributions, d)
	}
	for _, suffix := range some(" domains", someSuffixes) {
		g.Domains = append(g.Domains, grant.Domain{Suffix: suffix, Proven: rapid.Bool().Draw(t, name+" demands a proof of "+suffix)})
	}
	g.Groups = some(" groups", someGroups[1:])
	if rapid.Bool().Draw(t, name+" dns") {
		g.DNS = &grant.DNS{Zones: []grant.Zone{{ID: rapid.SampledFrom([]string{coveredZone, openZone, "*"}).Draw(t, name+" zone")}}}
	}
	return g
}

func drawTenant(t *rapid.T, name string) edit {
	o := v1alpha1.DistributionTenantSpec{
		DistributionID:    rapid.SampledFrom(someDistributions).Draw(t, name+" distribution"),
		ConnectionGroupID: rapid.SampledFrom(someGroups).Draw(t, name+" group"),
		Domains:           []v1alpha1.TenantDomain{{Domain: rapid.SampledFrom(someDomains).Draw(t, name+" domain")}},
	}
	if tier := rapid.SampledFrom(someTiers).Draw(t, name+" tier"); tier != "" {
		o.Parameters = []v1alpha1.Parameter{{Name: "tier", Value: tier}}
	}
	if rapid.Bool().Draw(t, name+" dns") {
		o.DNS = &v1alpha1.DNS{Provider: v1alpha1.DNSProviderRoute53}
	}
	return func(object *v1alpha1.DistributionTenant) { object.Spec = o }
}

// exceeds says what of a tenant no grant of its namespace has, in words of its own: it is not the code that is tested.
// proven says whether the namespace has the record of a domain.
func exceeds(all []grant.Grant, namespace string, s sim.TenantState, proven func(domain string) bool) string {
	var exact, star []grant.Grant
	for _, g := range all {
		switch {
		case slices.Contains(g.Namespaces.Names, namespace):
			exact = append(exact, g)
		case slices.Contains(g.Namespaces.Names, "*"):
			star = append(star, g)
		}
	}
	if len(exact) == 0 {
		exact = star
	}
	if len(exact) != 1 {
		return fmt.Sprintf("%d grants", len(exact))
	}
	g := exact[0]
	for domain := range s.Domains {
		if strings.HasPrefix(domain, "*.") && !g.Wildcards {
			return "the wildcard " + domain
		}
		if !slices.ContainsFunc(g.Domains, func(d grant.Domain) bool {
			return strings.HasSuffix("."+strings.TrimPrefix(domain, "*."), "."+d.Suffix) && (!d.Proven || proven(domain))
		}) {
			return domain
		}
	}
	if s.ConnectionGroupID != mainGroup && !slices.Contains(g.Groups, s.ConnectionGroupID) {
		return s.ConnectionGroupID
	}
	for _, d := range g.Distributions {
		tier, has := s.Parameters["tier"]
		if d.Is == s.DistributionID && (!has || d.Parameters == nil || slices.Contains(d.Parameters["tier"], tier)) {
			return ""
		}
	}
	return s.DistributionID + fmt.Sprint(s.Parameters)
}

// Whatever grants and objects there are, nothing gets into AWS that no grant has, and no record into a zone that no grant has.
func TestNothingGetsIntoAWSThatNoGrantHas(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		seed := dnsSeed()
		second := seed.Distributions[0]
		second.ID = "ESECOND"
		seed.Distributions = append(seed.Distributions, second)
		texts := &publicTexts{records: map[proof.Record]bool{}}
		w := world.NewOffline(t, world.Options{Seed: &seed, Grants: grants.Enforce, Resolver: texts})
		namespaces := []string{w.Namespace, w.AddNamespace()}
		record := func(namespace, domain string) proof.Record { return proof.For(world.ClusterID, namespace, domain) }
		for _, namespace := range namespaces {
			for _, domain := range someDomains {
				if rapid.Bool().Draw(t, namespace+" proves "+domain) {
					texts.set(record(namespace, domain), true)
				}
			}
		}
		var all []grant.Grant
		for n := range rapid.IntRange(0, 3).Draw(t, "grants") {
			all = append(all, drawGrant(t, fmt.Sprintf("grant-%d", n), namespaces))
		}
		w.Grant(all...)
		for n := range rapid.IntRange(1, 4).Draw(t, "objects") {
			name := fmt.Sprintf("object-%d", n)
			o := w.Tenant(name, drawTenant(t, name))
			o.Namespace = rapid.SampledFrom(namespaces).Draw(t, name+" namespace")
			w.Apply(o)
		}
		w.Advance(15 * time.Minute)
		for _, s := range w.AllInAWS() {
			namespace := s.Tags[ownership.NamespaceKey]
			if what := exceeds(all, namespace, s, func(d string) bool { return texts.records[record(namespace, d)] }); what != "" {
				t.Fatalf("%s has %s, which no grant has: %+v", s.Name, what, all)
			}
		}
		for _, zone := range []string{coveredZone, openZone} {
			if slices.ContainsFunc(all, func(g grant.Grant) bool {
				return g.DNS != nil && (g.DNS.Zones[0].ID == zone || g.DNS.Zones[0].ID == "*")
			}) {
				continue
			}
			state, _ := w.Sim.HostedZone(zone)
			for _, record := range state.Records {
				if strings.HasPrefix(record.Name, "one.") || strings.HasPrefix(record.Name, "two.") || strings.Contains(record.Name, "shop.") {
					t.Fatalf("the zone %s has %s, and no grant has the zone", zone, record.Name)
				}
			}
		}
	})
}
