package distributiontenant_test

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/route53"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

func ofType(kind v1alpha1.RecordType) func(*v1alpha1.DNS) {
	return func(d *v1alpha1.DNS) { d.RecordType = kind }
}

func withTTL(seconds int32) func(*v1alpha1.DNS) { return func(d *v1alpha1.DNS) { d.TTL = seconds } }

func inZone(id string) func(*v1alpha1.DNS) { return func(d *v1alpha1.DNS) { d.HostedZoneID = id } }

func zoneNamed(name string) func(*v1alpha1.DNS) { return func(d *v1alpha1.DNS) { d.ZoneName = name } }

// aliasOf are the records of a domain that is published as an alias.
func aliasOf(domain, endpoint string, ttl string) []string {
	return []string{
		"A " + domain + " alias " + endpoint, "AAAA " + domain + " alias " + endpoint,
		"TXT _cf-challenge." + domain + ` "` + endpoint + `" ` + ttl,
	}
}

func TestWhatIsPublished(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		spec edit
		want []string
	}{
		"a name below the apex is a CNAME": {
			all(withDNS(), domains("www.example.com")),
			[]string{"CNAME www.example.com " + mainEndpoint + " 300"},
		},
		"with its own TTL": {
			all(withDNS(withTTL(60)), domains("www.example.com")),
			[]string{"CNAME www.example.com " + mainEndpoint + " 60"},
		},
		"the apex is an alias with its challenge": {
			all(withDNS(withTTL(90)), domains("example.com")), aliasOf("example.com", mainEndpoint, "90"),
		},
		"without IPv6 there is no AAAA": {
			all(withDNS(), domains("example.com"), inGroup(noIPv6Group)),
			[]string{"A example.com alias " + noIPv6Endpoint, `TXT _cf-challenge.example.com "` + noIPv6Endpoint + `" 300`},
		},
		"an alias below the apex, where that is asked for": {
			all(withDNS(ofType(v1alpha1.RecordTypeAlias)), domains("www.example.com")), aliasOf("www.example.com", mainEndpoint, "300"),
		},
		"a wildcard": {
			all(withDNS(), domains("*.shop.example.com")),
			[]string{"CNAME *.shop.example.com " + mainEndpoint + " 300"},
		},
		"a wildcard alias needs no challenge": {
			all(withDNS(ofType(v1alpha1.RecordTypeAlias)), domains("*.shop.example.com")),
			[]string{"A *.shop.example.com alias " + mainEndpoint, "AAAA *.shop.example.com alias " + mainEndpoint},
		},
		"punycode": {
			all(withDNS(), domains("xn--bcher-kva.example.com")),
			[]string{"CNAME xn--bcher-kva.example.com " + mainEndpoint + " 300"},
		},
		"another group's endpoint": {
			all(withDNS(), domains("www.example.com"), inGroup(secondGroup)),
			[]string{"CNAME www.example.com " + secondEndpoint + " 300"},
		},
		"several domains": {
			all(withDNS(), domains("example.com", "www.example.com", "*.shop.example.com")),
			append(aliasOf("example.com", mainEndpoint, "300"),
				"CNAME www.example.com "+mainEndpoint+" 300", "CNAME *.shop.example.com "+mainEndpoint+" 300"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{})
			o := r.serving("alpha", tc.spec)
			r.has(coveredZone, tc.want...)
			if o.Status.DNS == nil || len(o.Status.DNS.Records) != len(tc.want) {
				t.Fatalf("the ledger: %+v", o.Status.DNS)
			}
			for _, e := range o.Status.DNS.Records {
				if e.State != "Published" || e.ZoneID != coveredZone {
					t.Errorf("the ledger has %+v", e)
				}
			}
			// Nothing of that changes with the hours, in which what is known of zones and groups ages.
			changes := r.Calls()["ChangeResourceRecordSets"]
			r.Advance(3 * time.Hour)
			r.has(coveredZone, tc.want...)
			is(t, r.World, "alpha", readyTrue, syncedTrue, dnsReady)
			if n := r.Calls()["ChangeResourceRecordSets"] - changes; n != 0 {
				t.Errorf("%d batches in quiet hours\n%s", n, r.story())
			}
			r.removed("alpha")
		})
	}
}

// Each edit of how a name is published leads from one set of records to another, from the
// ledger, and the name leads somewhere all the time.
func TestEditsOfHowANameIsPublished(t *testing.T) {
	t.Parallel()
	const name = "www.example.com"
	cname := func(ttl string) []string { return []string{"CNAME " + name + " " + mainEndpoint + " " + ttl} }
	for title, tc := range map[string]struct {
		before, after edit
		want          []string
	}{
		"the TTL":                {withDNS(), withDNS(withTTL(60)), cname("60")},
		"from CNAME to alias":    {withDNS(), withDNS(ofType(v1alpha1.RecordTypeAlias)), aliasOf(name, mainEndpoint, "300")},
		"from alias to CNAME":    {withDNS(ofType(v1alpha1.RecordTypeAlias)), withDNS(ofType(v1alpha1.RecordTypeCNAME)), cname("300")},
		"the TTL of a challenge": {withDNS(ofType(v1alpha1.RecordTypeAlias)), withDNS(ofType(v1alpha1.RecordTypeAlias), withTTL(60)), aliasOf(name, mainEndpoint, "60")},
		"the connection group":   {withDNS(), inGroup(secondGroup), []string{"CNAME " + name + " " + secondEndpoint + " 300"}},
		"the group of an alias": {withDNS(ofType(v1alpha1.RecordTypeAlias)), inGroup(noIPv6Group),
			[]string{"A " + name + " alias " + noIPv6Endpoint, "TXT _cf-challenge." + name + ` "` + noIPv6Endpoint + `" 300`}},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			var r *rig
			unrouted := 0
			r = newRig(t, rigOptions{})
			r.serving("alpha", tc.before, domains(name), inGroup(mainGroup))
			r.Edit("alpha", tc.after)
			for range 600 {
				r.Advance(time.Second)
				if r.Sim.PublicRouting()[name] == "" {
					unrouted++
				}
			}
			is(t, r.World, "alpha", readyTrue, syncedTrue, dnsReady)
			r.has(coveredZone, tc.want...)
			if unrouted > 0 {
				t.Errorf("the name led nowhere for %d seconds\n%s", unrouted, r.story())
			}
			r.removed("alpha")
		})
	}
}

func TestAddingAndRemovingDNS(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	ready(t, r.World, "alpha")
	is(t, r.World, "alpha", noDNS)
	tenant := inAWS(t, r.World, "alpha")
	r.Edit("alpha", withDNS())
	r.Advance(5 * time.Minute)
	is(t, r.World, "alpha", readyTrue, syncedTrue, dnsReady)
	r.has(coveredZone, "CNAME alpha.example.com "+mainEndpoint+" 300")
	r.hasLedger("alpha", "Published CNAME alpha.example.com "+mainEndpoint+" 300")
	r.Edit("alpha", withoutDNS)
	r.Advance(5 * time.Minute)
	is(t, r.World, "alpha", readyTrue, syncedTrue, noDNS)
	r.has(coveredZone)
	r.hasLedger("alpha")
	untouched(t, r.World, tenant)
	r.removed("alpha")
}

// How the zone of a domain is found, and what is reported when there is none.
func TestFindingTheZone(t *testing.T) {
	t.Parallel()
	const name = "a.shop.example.com"
	child := sim.SeedHostedZone{ID: "ZCHILD", Name: "shop.example.com"}
	for title, tc := range map[string]struct {
		zones  []sim.SeedHostedZone
		dns    edit
		domain string
		// zone is the zone of the record; empty: reason and says tell why there is none.
		zone   string
		reason string
		says   []string
	}{
		"the longest suffix": {zones: []sim.SeedHostedZone{child}, dns: withDNS(), zone: "ZCHILD"},
		"the id wins":        {zones: []sim.SeedHostedZone{child}, dns: withDNS(inZone(coveredZone)), zone: coveredZone},
		"the name":           {zones: []sim.SeedHostedZone{child}, dns: withDNS(zoneNamed("example.com")), zone: coveredZone},
		"a private zone is no zone": {
			zones: []sim.SeedHostedZone{{ID: "ZPRIVATE", Name: "shop.example.com", Private: true}}, dns: withDNS(), zone: coveredZone,
		},
		"no id":          {dns: withDNS(inZone("ZNOTTHERE")), reason: "ZoneNotFound", says: []string{"ZNOTTHERE", name, "correct the ID"}},
		"no name":        {dns: withDNS(zoneNamed("example.org")), reason: "ZoneNotFound", says: []string{"example.org", "create it, or correct the name"}},
		"no zone at all": {dns: withDNS(), domain: "www.example.edu", reason: "ZoneNotFound", says: []string{"www.example.edu", "create one"}},
		"private by id": {
			zones: []sim.SeedHostedZone{{ID: "ZPRIVATE", Name: "shop.example.com", Private: true}}, dns: withDNS(inZone("ZPRIVATE")),
			reason: "ZoneNotFound", says: []string{"ZPRIVATE", "private"},
		},
		"outside of it": {dns: withDNS(inZone(openZone)), reason: "ZoneNotFound", says: []string{openZone, "example.net", name}},
		"two of one name": {
			zones: []sim.SeedHostedZone{child, {ID: "ZCHILDTWO", Name: "shop.example.com"}}, dns: withDNS(),
			reason: "ZoneAmbiguous", says: []string{"ZCHILD", "ZCHILDTWO", "set the ID of the one for"},
		},
		"two of one name, and the id": {
			zones: []sim.SeedHostedZone{child, {ID: "ZCHILDTWO", Name: "shop.example.com"}}, dns: withDNS(inZone("ZCHILD")), zone: "ZCHILD",
		},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			domain := name
			if tc.domain != "" {
				domain = tc.domain
			}
			r := newRig(t, rigOptions{seed: func(s *sim.Seed) {
				s.HostedZones = append(s.HostedZones, tc.zones...)
				s.Certificates[1].Names = append(s.Certificates[1].Names, "www.example.edu")
			}})
			if tc.zone != "" {
				r.serving("alpha", tc.dns, domains(domain))
				for _, z := range []string{coveredZone, openZone, "ZCHILD", "ZCHILDTWO", "ZPRIVATE"} {
					want := []string(nil)
					if z == tc.zone {
						want = []string{"CNAME " + domain + " " + mainEndpoint + " 300"}
					}
					if _, found := r.Sim.HostedZone(z); found {
						r.has(z, want...)
					}
				}
				r.removed("alpha")
				return
			}
			r.Apply(r.Tenant("alpha", tc.dns, domains(domain)))
			r.Advance(5 * time.Minute)
			is(t, r.World, "alpha", "Ready=False/"+tc.reason, "DNSReady=False/"+tc.reason, syncedTrue)
			says(t, r.World, "alpha", "DNSReady", tc.says...)
			if batches := r.Calls()["ChangeResourceRecordSets"]; batches != 0 {
				t.Errorf("%d batches", batches)
			}
			writes := r.KubeWrites()
			r.Advance(30 * time.Minute)
			if n := r.KubeWrites() - writes; n != 0 {
				t.Errorf("%d Kubernetes writes while nothing moves", n)
			}
			r.removed("alpha")
		})
	}
}

// A zone that is created, or deleted because it was one too many, is noticed without help.
func TestAZoneThatIsMadeLaterIsFoundSoon(t *testing.T) {
	t.Parallel()
	for title, tc := range map[string]struct {
		zones []sim.SeedHostedZone
		cure  func(r *rig)
	}{
		"the missing one is created": {cure: func(r *rig) {
			caller := "one"
			name := "example.edu"
			if _, err := r.Route53().CreateHostedZone(r.t.Context(), &route53.CreateHostedZoneInput{Name: &name, CallerReference: &caller}); err != nil {
				r.t.Fatal(err)
			}
		}},
		"the second one is deleted": {
			zones: []sim.SeedHostedZone{{ID: "ZONE", Name: "example.edu"}, {ID: "ZTWO", Name: "example.edu"}},
			cure:  func(r *rig) { r.dropZone("ZTWO") },
		},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{seed: func(s *sim.Seed) {
				s.HostedZones = append(s.HostedZones, tc.zones...)
				s.Certificates[1].Names = append(s.Certificates[1].Names, "www.example.edu")
			}})
			r.Apply(r.Tenant("alpha", withDNS(), domains("www.example.edu")))
			r.Advance(10 * time.Minute)
			if c := r.Condition("alpha", "DNSReady"); !strings.HasPrefix(c, "DNSReady=False/Zone") {
				t.Fatalf("%s\n%s", c, r.Describe("alpha"))
			}
			lists := r.Calls()["ListHostedZones"]
			if lists > 11 {
				t.Errorf("%d lists of zones in ten minutes", lists)
			}
			tc.cure(r)
			r.Advance(2*time.Minute + syncDelay)
			is(t, r.World, "alpha", readyTrue, dnsReady)
			r.Delete("alpha")
			r.Advance(10 * time.Minute)
			gone(t, r.World, "alpha")
			for name := range r.Sim.PublicRouting() {
				if name == "www.example.edu" {
					t.Errorf("%s still leads to CloudFront", name)
				}
			}
		})
	}
}
