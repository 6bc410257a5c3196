package distributiontenant_test

import (
	"strings"
	"testing"
	"time"

	r53types "github.com/aws/aws-sdk-go-v2/service/route53/types"
	"github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/grant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/identity"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/grants"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

const notGranted = "Synced=False/NotGranted"

// granted is all that the tenants of these tests ask for.
func granted(namespaces ...string) grant.Grant {
	return grant.Grant{
		Name: "shop", Version: "1", Namespaces: grant.Namespaces{Names: namespaces}, Kinds: []string{"DistributionTenant"},
		Distributions: []grant.Distribution{{Is: world.DistributionID}}, Groups: []string{secondGroup},
		Domains: []grant.Domain{{Suffix: "example.com"}}, Wildcards: true,
		DNS:          &grant.DNS{Zones: []grant.Zone{{ID: coveredZone}}, Takeover: grant.TakeoverAny},
		Certificates: []string{broadCertificate}, WebACLs: []string{webACL}, NoWebACL: true,
		Stores: []grant.Store{{ARN: storeARN, Keys: []string{"*"}, Takeover: true}},
	}
}

// grantCases are an object for each field of a grant, and what a grant says that does not allow it.
var grantCases = map[string]struct {
	asks   edit
	narrow func(*grant.Grant)
	field  string
}{
	"the kind":         {domains("a.example.com"), func(g *grant.Grant) { g.Kinds = []string{"TenantSource"} }, "objects of the kind DistributionTenant"},
	"the distribution": {domains("a.example.com"), func(g *grant.Grant) { g.Distributions = []grant.Distribution{{Is: "EOTHER"}} }, "spec.distributionId"},
	"a parameter": {params("tier", "gold"), func(g *grant.Grant) {
		g.Distributions[0].Parameters = map[string][]string{"tier": {"silver"}}
	}, "spec.parameters[0].value"},
	"the connection group": {func(o *v1alpha1.DistributionTenant) { o.Spec.ConnectionGroupID = secondGroup }, func(g *grant.Grant) { g.Groups = nil }, "spec.connectionGroupId"},
	"the domain":           {domains("a.example.com"), func(g *grant.Grant) { g.Domains = []grant.Domain{{Suffix: "shop.example.com"}} }, "spec.domains[0].domain"},
	"an exception":         {domains("a.example.com"), func(g *grant.Grant) { g.Domains[0].Except = []string{"a.example.com"} }, "spec.domains[0].domain"},
	"a wildcard":           {domains("*.example.com"), func(g *grant.Grant) { g.Wildcards = false }, "spec.domains[0].domain"},
	"the certificate": {func(o *v1alpha1.DistributionTenant) {
		o.Spec.Customizations = &v1alpha1.Customizations{Certificate: &v1alpha1.CertificateCustomization{ARN: broadCertificate}}
	}, func(g *grant.Grant) { g.Certificates = nil }, "spec.customizations.certificate.arn"},
	"the web ACL": {func(o *v1alpha1.DistributionTenant) {
		o.Spec.Customizations = &v1alpha1.Customizations{WebACL: &v1alpha1.WebACLCustomization{Action: v1alpha1.WebACLActionOverride, ARN: webACL}}
	}, func(g *grant.Grant) { g.WebACLs = nil }, "spec.customizations.webAcl.arn"},
	"no web ACL": {func(o *v1alpha1.DistributionTenant) {
		o.Spec.Customizations = &v1alpha1.Customizations{WebACL: &v1alpha1.WebACLCustomization{Action: v1alpha1.WebACLActionDisable}}
	}, func(g *grant.Grant) { g.NoWebACL = false }, "spec.customizations.webAcl.action"},
	"records":             {withDNS(), func(g *grant.Grant) { g.DNS = nil }, "spec.dns"},
	"records in a zone":   {withDNS(inZone(coveredZone)), func(g *grant.Grant) { g.DNS.Zones = []grant.Zone{{ID: openZone}} }, "spec.dns.hostedZoneId"},
	"the key value store": {withKeys(), func(g *grant.Grant) { g.Stores = nil }, "spec.keyValues.storeArn"},
	"a key":               {withKeys(keyed("k")), func(g *grant.Grant) { g.Stores[0].Keys = []string{"shop-*"} }, "spec.keyValues.key"},
	"replacing keys":      {withKeys(func(k *v1alpha1.KeyValues) { k.Takeover = true }), func(g *grant.Grant) { g.Stores[0].Takeover = false }, "spec.keyValues.takeover"},
	"replacing records":   {withDNS(withTakeover), func(g *grant.Grant) { g.DNS.Takeover = grant.TakeoverNever }, "spec.dns.takeover"},
	"the number allowed":  {domains("a.example.com"), func(g *grant.Grant) { g.Limits.Tenants = new(0) }, "limits.tenants 0"},
}

// anything are calls that say something of what the account has, or change it. The list of all tenants is the operator's own.
func anything(calls map[string]int) map[string]int {
	delete(calls, "ListDistributionTenants")
	return calls
}

// A namespace's ungranted wishes are refused before AWS is asked for anything.
func TestWhatIsNotGrantedNeverReachesAWS(t *testing.T) {
	t.Parallel()
	for name, c := range grantCases {
		for how, grantsOf := range map[string]func(ns string) []grant.Grant{
			"no grant":      func(string) []grant.Grant { return nil },
			"another grant": func(string) []grant.Grant { return []grant.Grant{granted("elsewhere")} },
			"a narrow grant": func(ns string) []grant.Grant {
				g := granted(ns)
				c.narrow(&g)
				return []grant.Grant{g}
			},
			"two grants": func(ns string) []grant.Grant {
				other := granted(ns)
				other.Name = "other"
				return []grant.Grant{granted(ns), other}
			},
		} {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				r := newRig(t, rigOptions{options: world.Options{Grants: grants.Enforce}})
				r.Grant(grantsOf(r.Namespace)...)
				r.Advance(aSweep)
				before := r.Calls()
				r.Apply(r.Tenant("alpha", c.asks))
				r.Advance(time.Hour)
				if calls := anything(world.Since(before, r.Calls())); len(calls) > 0 {
					t.Errorf("AWS was asked: %v", calls)
				}
				is(t, r.World, "alpha", "Ready=False/NotGranted", notGranted, "Stalled=True/NotGranted")
				if how == "a narrow grant" {
					says(t, r.World, "alpha", "Ready", c.field, "EdgeGrant shop")
				}
				r.Grant(granted(r.Namespace))
				r.Advance(15 * time.Minute)
				is(t, r.World, "alpha", readyTrue, syncedTrue)
			})
		}
	}
}

// A tenant whose grant is narrowed or lost keeps serving, and nothing of it is changed, except that it may be deleted.
func TestALostGrantFreezes(t *testing.T) {
	t.Parallel()
	for name, c := range grantCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{options: world.Options{Grants: grants.Enforce}})
			r.Grant(granted(r.Namespace))
			r.Apply(r.Tenant("alpha", c.asks))
			r.Advance(15 * time.Minute)
			is(t, r.World, "alpha", readyTrue, syncedTrue)
			before, calls := inAWS(t, r.World, "alpha"), r.Calls()
			narrow := granted(r.Namespace)
			narrow.Version = "2"
			c.narrow(&narrow)
			r.Grant(narrow)
			r.Advance(aSweep)
			if name == "the number allowed" {
				is(t, r.World, "alpha", readyTrue, syncedTrue)
				return // what exists when a limit is lowered stays
			}
			is(t, r.World, "alpha", readyTrue, notGranted)
			r.Edit("alpha", all(c.asks, func(o *v1alpha1.DistributionTenant) { o.Spec.Tags = []v1alpha1.Tag{{Key: "team", Value: "shop"}} }))
			r.Restart()
			r.Advance(time.Hour)
			if d := cmp.Diff(before, inAWS(t, r.World, "alpha")); d != "" {
				t.Errorf("the tenant has changed (-before +now):\n%s", d)
			}
			if changes := mutations(world.Since(calls, r.Calls())); len(changes) > 0 {
				t.Errorf("changes: %v", changes)
			}
			r.Delete("alpha")
			r.Advance(30 * time.Minute)
			gone(t, r.World, "alpha")
		})
	}
}

// While grants are audited nothing is held, and it is said what would be.
func TestAnAuditHoldsNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{options: world.Options{Grants: grants.Audit}})
	r.serving("alpha", withDNS())
	is(t, r.World, "alpha", "Granted=False/NotEnforced")
	says(t, r.World, "alpha", "Granted", "No EdgeGrant selects the namespace")
	absent := func(condition string) {
		t.Helper()
		for _, c := range get(t, r.World, "alpha").Status.Conditions {
			if c.Type == condition {
				t.Errorf("it says %s=%s/%s", c.Type, c.Status, c.Reason)
			}
		}
	}
	absent("Stalled")
	r.Grant(granted(r.Namespace))
	r.Advance(time.Minute)
	absent("Granted")
}

// An object adopts only what its grant names, and only until its end. An adopted tenant stays its own.
func TestAdoptionByGrant(t *testing.T) {
	t.Parallel()
	adopts := func(o *v1alpha1.DistributionTenant) {
		o.Spec.TenantName, o.Spec.AdoptionPolicy = "theirs", v1alpha1.AdoptionPolicyIfUnowned
	}
	seed := func(s *sim.Seed) {
		s.Tenants = append(s.Tenants, sim.SeedTenant{Name: "theirs", DistributionID: world.DistributionID, Domains: []string{"alpha.example.com"}})
	}
	r := newRig(t, rigOptions{seed: seed, unwatched: true, options: world.Options{Grants: grants.Enforce}})
	r.Grant(granted(r.Namespace))
	r.Apply(r.Tenant("alpha", adopts))
	r.Advance(aSweep)
	is(t, r.World, "alpha", "Ready=False/NotGranted")
	says(t, r.World, "alpha", "Ready", "spec.adoptionPolicy", "does not allow adopting theirs")

	g := granted(r.Namespace)
	g.Version, g.Adoption = "2", &grant.Adoption{Names: []string{"their*"}, Until: r.Clock.Now().Add(time.Hour)}
	r.Grant(g)
	r.Advance(15 * time.Minute)
	is(t, r.World, "alpha", readyTrue, syncedTrue)
	r.Advance(2 * time.Hour)
	r.Edit("alpha", all(adopts, params("tier", "silver")))
	r.Advance(15 * time.Minute)
	is(t, r.World, "alpha", readyTrue, syncedTrue)

	r.Apply(r.Tenant("beta", adopts, domains("beta.example.com")))
	r.Advance(aSweep)
	says(t, r.World, "beta", "Ready", "spec.adoptionPolicy", "allowed adoption until")
}

// A zone that the grant does not name is as if it did not exist.
func TestAZoneThatIsNotGrantedIsNotThere(t *testing.T) {
	t.Parallel()
	g := func(ns string) grant.Grant {
		g := granted(ns)
		g.DNS.Zones = []grant.Zone{{ID: openZone}}
		return g
	}
	r := newRig(t, rigOptions{options: world.Options{Grants: grants.Enforce}})
	r.Grant(g(r.Namespace))
	r.Apply(r.Tenant("alpha", withDNS()))
	r.Advance(15 * time.Minute)
	is(t, r.World, "alpha", "DNSReady=False/ZoneNotFound")
	r.has(coveredZone)
}

// Limits hold for all namespaces of a grant together, in whatever order, and however many objects ask at the same time.
func TestLimitsOfAGrant(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{options: world.Options{Grants: grants.Enforce}})
	g := granted(r.Namespace, r.AddNamespace())
	g.Limits = grant.Limits{Tenants: new(3), Domains: new(4)}
	r.Grant(g)
	for _, name := range []string{"one", "two", "three", "four", "five"} {
		r.Apply(r.Tenant(name))
	}
	r.Advance(15 * time.Minute)
	if n := len(r.AllInAWS()); n != 3 {
		t.Errorf("%d tenants in AWS, want 3", n)
	}
	r.Restart()
	r.Advance(15 * time.Minute)
	if n := len(r.AllInAWS()); n != 3 {
		t.Errorf("after a restart %d tenants in AWS, want 3", n)
	}
	var refused string
	for _, name := range []string{"one", "two", "three", "four", "five"} {
		if strings.HasPrefix(r.Condition(name, "Ready"), "Ready=False/NotGranted") {
			refused = name
		} else {
			r.Delete(name)
			r.Advance(15 * time.Minute)
			break
		}
	}
	r.Advance(30 * time.Minute)
	if refused != "" {
		says(t, r.World, refused, "Ready", "limits.tenants 3")
	}
}

// An object of another namespace is only used where a grant names it, also where grants are off or audited.
func TestReferencesToOtherNamespaces(t *testing.T) {
	t.Parallel()
	for _, mode := range []grants.Mode{grants.Off, grants.Audit, grants.Enforce} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{served: true, options: world.Options{Grants: mode, WithoutParents: true}})
			platform := r.AddNamespace()
			main := r.Distribution("main")
			main.Namespace = platform
			if err := r.Kube.Create(t.Context(), main); err != nil {
				t.Fatal(err)
			}
			main.Status.ID = world.DistributionID
			if err := r.Kube.Status().Update(t.Context(), main); err != nil {
				t.Fatal(err)
			}
			r.Apply(r.Tenant("alpha", func(o *v1alpha1.DistributionTenant) {
				o.Spec.DistributionID, o.Spec.DistributionRef = "", &v1alpha1.ObjectReference{Namespace: platform, Name: "main"}
			}))
			r.Advance(10 * time.Minute)
			is(t, r.World, "alpha", "Ready=False/NotGranted")
			if mode == grants.Off {
				return
			}
			g := granted(r.Namespace)
			g.Distributions = []grant.Distribution{{Is: platform + "/main"}}
			r.Grant(g)
			r.Advance(10 * time.Minute)
			is(t, r.World, "alpha", readyTrue, syncedTrue)
		})
	}
}

// A role is only assumed if the grant allows it, also if --allowed-roles does.
func TestARoleByGrant(t *testing.T) {
	t.Parallel()
	const role = "arn:aws:iam::111122223333:role/tenant-dns"
	roles, err := identity.ParseRolePatterns([]string{role})
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, rigOptions{options: world.Options{Grants: grants.Enforce, AllowedRoles: roles}})
	r.Grant(granted(r.Namespace))
	r.Apply(r.Tenant("alpha", withDNS(func(d *v1alpha1.DNS) { d.AssumeRoleARN = role })))
	r.Advance(aSweep)
	is(t, r.World, "alpha", "Ready=False/NotGranted")
	says(t, r.World, "alpha", "Ready", "spec.dns.assumeRoleArn")
	if n := r.Calls()["AssumeRole"]; n > 0 {
		t.Errorf("the role was assumed %d times", n)
	}
}

// With takeover CloudFront, a record is only replaced if it leads to CloudFront already.
func TestATakeoverWithinCloudFront(t *testing.T) {
	t.Parallel()
	g := func(ns string) grant.Grant {
		g := granted(ns)
		g.DNS.Takeover = grant.TakeoverCloudFront
		return g
	}
	t.Run("a record that leads there is replaced", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, rigOptions{unwatched: true, options: world.Options{Grants: grants.Enforce}})
		r.Grant(g(r.Namespace))
		r.changeRecord(coveredZone, r53types.ChangeActionCreate, cname("d222222abcdef8.cloudfront.net", 60))
		r.serving("alpha", withDNS(withTakeover))
	})
	t.Run("any other stays", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, rigOptions{unwatched: true, options: world.Options{Grants: grants.Enforce}})
		r.Grant(g(r.Namespace))
		addressed(r)
		r.Apply(r.Tenant("alpha", withDNS(withTakeover)))
		r.Advance(15 * time.Minute)
		r.has(coveredZone, formerA, formerAAAA)
		is(t, r.World, "alpha", "DNSReady=False/DNSConflict")
		says(t, r.World, "alpha", "DNSReady", "only records that lead to CloudFront")
		all := g(r.Namespace)
		all.Version, all.DNS.Takeover = "2", grant.TakeoverAny
		r.Grant(all)
		r.Advance(20 * time.Minute)
		is(t, r.World, "alpha", readyTrue, dnsReady)
	})
}
