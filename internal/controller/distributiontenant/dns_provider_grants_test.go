package distributiontenant_test

import (
	"strings"
	"testing"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/grant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/grants"
	cfsim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/cloudflare"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// grantedZones lets the namespace have records in these zones.
func grantedZones(namespace string, zones ...grant.Zone) grant.Grant {
	g := granted(namespace)
	g.DNS.Zones = zones
	return g
}

func newGrantedRig(t *testing.T) *cfRig {
	t.Helper()
	return newCFRig(t, rigOptions{options: world.Options{Grants: grants.Enforce}}, nil)
}

// A provider or an account that no grant names is refused before Cloudflare is asked for anything.
func TestAProviderThatIsNotGranted(t *testing.T) {
	t.Parallel()
	for name, zones := range map[string][]grant.Zone{
		"a grant for Route 53":        {{ID: "*"}},
		"a grant for another account": {{Provider: secondAccount, ID: "*"}},
		"a grant for another service": {{Provider: dns.Provider{Service: dns.Azure}, ID: "*"}},
		"a grant without zones":       nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newGrantedRig(t)
			r.Grant(grantedZones(r.Namespace, zones...))
			r.Apply(r.Tenant("alpha", withDNS(at(mainAccount))))
			r.Advance(time.Hour)
			is(t, r.World, "alpha", "Ready=False/NotGranted", notGranted)
			says(t, r.World, "alpha", "Ready", "spec.dns.provider", "EdgeGrant shop")
			if calls := r.cf.Calls(); len(calls) > 0 {
				t.Errorf("Cloudflare was asked: %v", calls)
			}
			r.Grant(grantedZones(r.Namespace, grant.Zone{Provider: dns.Provider{Service: dns.Cloudflare}, ID: r.zone.ID}))
			r.Advance(15 * time.Minute)
			is(t, r.World, "alpha", readyTrue, syncedTrue, dnsReady)
			r.cfHas(cfRecord)
			r.Delete("alpha")
			r.Advance(15 * time.Minute)
			gone(t, r.World, "alpha")
			r.cfHas()
		})
	}
}

// Of the zones of a provider only those are used that the grant names, as if there were no others.
func TestAZoneThatIsNotGranted(t *testing.T) {
	t.Parallel()
	r := newGrantedRig(t)
	shop := r.cf.AddZone(cfsim.Zone{Name: "shop.example.com"})
	cloudflare := dns.Provider{Service: dns.Cloudflare}
	r.Grant(grantedZones(r.Namespace, grant.Zone{Provider: cloudflare, ID: shop.ID}))
	r.Apply(r.Tenant("alpha", atCloudflare()))
	r.Advance(20 * time.Minute)
	is(t, r.World, "alpha", "DNSReady=False/ZoneNotFound", syncedTrue)
	r.cfHas()
	r.Grant(grantedZones(r.Namespace, grant.Zone{Provider: cloudflare, ID: r.zone.ID}))
	r.Advance(20 * time.Minute)
	is(t, r.World, "alpha", readyTrue, syncedTrue, dnsReady)
	r.cfHas(cfRecord)
	for _, c := range r.cf.Calls() {
		if strings.Contains(c.Path, shop.ID) {
			t.Errorf("%s of the zone that was granted before and has no record: %s", c.Operation, c.Path)
		}
	}
	r.Delete("alpha")
	r.Advance(15 * time.Minute)
	gone(t, r.World, "alpha")
	r.cfHas()
}
