package distributiontenant_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

// chain is one of the three orders of DNS and tenant.
type chain struct {
	zone   string
	suffix string
	base   edit
	// proves is true where names lead to CloudFront before their tenant is created.
	proves bool
	// validate does what the customer has to, from time to time.
	validate func(r *rig, names ...string)
}

func chains() map[string]chain {
	return map[string]chain{
		"a certificate covers it": {zone: coveredZone, suffix: ".example.com", base: withDNS()},
		"CloudFront validates it": {zone: openZone, suffix: ".example.net", base: all(withDNS(), managed(v1alpha1.ValidationTokenHostCloudFront)), proves: true},
		"the user's host does it": {
			zone: openZone, suffix: ".example.net", base: all(withDNS(), managed(v1alpha1.ValidationTokenHostSelfHosted)),
			validate: func(r *rig, names ...string) {
				for range 4 {
					r.Advance(2 * time.Minute)
					// Nothing may be asked for yet.
					_ = r.Sim.ServeToken(names...)
				}
			},
		},
	}
}

// until plays long enough for anything, with what the customer has to do.
func (c chain) until(r *rig, names ...string) {
	if c.validate != nil {
		c.validate(r, names...)
	}
	r.Advance(20 * time.Minute)
}

// stage is one change of an object's life, and the names and the endpoint that it ends with.
type stage struct {
	change   edit
	names    []string
	endpoint string
}

func TestNoNameLeadsToCloudFrontWithoutItsTenant(t *testing.T) {
	t.Parallel()
	for name, c := range chains() {
		for lag, switches := range map[string]func(*sim.Switches){
			"records in sync at once": func(s *sim.Switches) { s.Route53SyncDelay = 0 },
			"records in sync late":    func(s *sim.Switches) { s.Route53SyncDelay = 50 * time.Second },
			"resolvers that lag": func(s *sim.Switches) {
				s.Route53SyncDelay, s.DNSPropagationDelay = 20*time.Second, 90*time.Second
			},
		} {
			t.Run(name+", "+lag, func(t *testing.T) {
				t.Parallel()
				one, two, three := "alpha"+c.suffix, "beta"+c.suffix, "gamma"+c.suffix
				r := newRig(t, rigOptions{switches: switches, proves: map[bool][]string{true: {one, two, three}}[c.proves]})
				r.Apply(r.Tenant("alpha", c.base, domains(one)))
				c.until(r, one)
				for _, s := range []stage{
					{nil, []string{one}, mainEndpoint},
					{domains(one, two), []string{one, two}, mainEndpoint},
					{domains(two), []string{two}, mainEndpoint},
					{domains(three), []string{three}, mainEndpoint},
					{inGroup(secondGroup), []string{three}, secondEndpoint},
					{all(domains(one, three), inGroup(mainGroup)), []string{one, three}, mainEndpoint},
				} {
					if s.change != nil {
						r.Edit("alpha", s.change)
						c.until(r, s.names...)
					}
					is(t, r.World, "alpha", readyTrue, syncedTrue, dnsReady)
					var want []string
					for _, n := range s.names {
						want = append(want, "CNAME "+n+" "+s.endpoint+" 300")
					}
					r.has(c.zone, want...)
					if t.Failed() {
						t.Fatalf("at %v: %s\n%s", s.names, r.Describe("alpha"), r.story())
					}
				}
				r.removed("alpha")
			})
		}
	}
}

// The watch itself has to see what it watches for.
func TestTheWatchSeesADanglingName(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{unwatched: true})
	r.serving("alpha", withDNS())
	if len(r.dangling) != 0 {
		t.Fatalf("seen already: %v", r.dangling)
	}
	removeOutOfBand(t, r.World, "alpha")
	if len(r.dangling) == 0 {
		t.Error("a tenant went while its name led to CloudFront, and the watch saw nothing")
	}
}

// Where CloudFront proves the name, DNS comes first. A tenant that AWS then refuses for good
// takes its names back with it.
func TestARefusedCreateTakesItsNamesBack(t *testing.T) {
	t.Parallel()
	const name = "alpha.example.net"
	cloudFront := all(withDNS(), managed(v1alpha1.ValidationTokenHostCloudFront), domains(name))
	for reason, tc := range map[string]struct {
		status        int
		code, message string
		ready         string
	}{
		"the domain is taken": {http.StatusConflict, "CNAMEAlreadyExists", "One or more of the CNAMEs you provided are already associated with a different resource.", "Ready=False/DomainConflict"},
		"a quota":             {http.StatusBadRequest, "EntityLimitExceeded", "You have reached the limit.", "Ready=False/QuotaExceeded"},
		"an invalid value":    {http.StatusBadRequest, "InvalidArgument", "The parameter is not valid.", "Ready=False/InvalidSpec"},
		"a permission":        {http.StatusForbidden, "AccessDenied", "no", "Ready=False/AccessDenied"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{proves: []string{name}})
			allow := refusing(t, r.World, "CreateDistributionTenant", tc.status, tc.code, tc.message)
			r.Apply(r.Tenant("alpha", cloudFront))
			withdrawn := false
			for range 120 {
				r.Advance(time.Second)
				withdrawn = withdrawn || r.Calls()["CreateDistributionTenant"] > 0 && len(r.ours(openZone)) == 0
			}
			is(t, r.World, "alpha", tc.ready)
			if !withdrawn {
				t.Errorf("the name was never withdrawn:\n%s", r.story())
			}
			// Each further try publishes and withdraws; between them nothing stands in the zone.
			published := time.Duration(0)
			for range 180 {
				r.Advance(20 * time.Second)
				if len(r.ours(openZone)) > 0 {
					published += 20 * time.Second
				}
			}
			if published > 20*time.Minute {
				t.Errorf("of an hour of refusals the name led to CloudFront for %s", published)
			}
			is(t, r.World, "alpha", tc.ready)
			allow()
			r.Advance(45 * time.Minute)
			is(t, r.World, "alpha", readyTrue, syncedTrue, dnsReady)
			r.has(openZone, "CNAME "+name+" "+mainEndpoint+" 300")
			r.removed("alpha")
		})
	}
}

// A user asks to look just when the name of a refused tenant is about to be withdrawn. The record is still there, but
// the tenant must not be created before it is certain to stay.
func TestATenantIsNotCreatedJustBeforeItsRecordIsDeleted(t *testing.T) {
	t.Parallel()
	const name = "alpha.example.net"
	const step = 100 * time.Millisecond
	r := newRig(t, rigOptions{proves: []string{name}})
	allow := refusing(t, r.World, "CreateDistributionTenant", http.StatusConflict, "CNAMEAlreadyExists", "taken")
	r.Apply(r.Tenant("alpha", withDNS(), managed(v1alpha1.ValidationTokenHostCloudFront), domains(name)))
	about := func() bool {
		l := r.ledger("alpha")
		return len(l) == 1 && strings.HasPrefix(l[0], "Retracting") && len(r.ours(openZone)) == 1
	}
	for n := 0; !about(); n++ {
		if n > 1200 {
			t.Fatalf("the name was never about to be withdrawn:\n%s", r.story())
		}
		r.Advance(step)
	}
	r.sampled = func(v sim.View) {
		if l := r.ledger("alpha"); v.Operation == "CreateDistributionTenant" && len(l) > 0 && strings.HasPrefix(l[0], "Retracting") {
			t.Errorf("the tenant is created while the stored ledger says %s", l[0])
		}
	}
	allow()
	nudge(r.World, "alpha", "now")
	r.Advance(time.Second)
	tenants(t, r.World, "alpha")
	r.Advance(2 * time.Minute)
	is(t, r.World, "alpha", readyTrue, syncedTrue, dnsReady)
	r.removed("alpha")
}

// A domain that AWS does not see lead to CloudFront yet is waited for, not withdrawn.
func TestACreateThatComesTooEarlyIsTriedAgainSoon(t *testing.T) {
	t.Parallel()
	const name = "alpha.example.net"
	r := newRig(t, rigOptions{proves: []string{name}, switches: func(s *sim.Switches) { s.DNSPropagationDelay = 4 * time.Minute }})
	r.Apply(r.Tenant("alpha", withDNS(), managed(v1alpha1.ValidationTokenHostCloudFront), domains(name)))
	r.Advance(time.Minute)
	is(t, r.World, "alpha", "Ready=False/DomainValidationPending", dnsReady)
	r.has(openZone, "CNAME "+name+" "+mainEndpoint+" 300")
	r.Advance(10 * time.Minute)
	is(t, r.World, "alpha", readyTrue, dnsReady)
	if n := r.Sim.Calls()["CreateDistributionTenant"]; n.Total > 10 || n.Committed != 1 {
		t.Errorf("%d creates, %d of them committed", n.Total, n.Committed)
	}
	r.removed("alpha")
}

// A tenant that is being deleted while its creation is still refused leaves nothing in DNS.
func TestDeletingWhatNeverCameIntoBeing(t *testing.T) {
	t.Parallel()
	const name = "alpha.example.net"
	for after, wait := range map[string]time.Duration{
		"at once": 0, "after the intent": time.Second, "after the batch": 5 * time.Second, "after the sync": 40 * time.Second, "after a while": 10 * time.Minute,
	} {
		t.Run(after, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{proves: []string{name}, switches: func(s *sim.Switches) { s.DNSPropagationDelay = time.Hour }})
			r.Apply(r.Tenant("alpha", withDNS(), managed(v1alpha1.ValidationTokenHostCloudFront), domains(name)))
			r.Advance(wait)
			r.removed("alpha")
		})
	}
}

// Retain keeps the tenant, so its names stay with it.
func TestRetainLeavesTheNamesWithTheTenant(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	r.serving("alpha", withDNS(), retain)
	r.Delete("alpha")
	r.Advance(10 * time.Minute)
	if _, found := r.Get("alpha"); found {
		t.Errorf("the object is still there:\n%s", r.Describe("alpha"))
	}
	inAWS(t, r.World, "alpha")
	r.has(coveredZone, "CNAME alpha.example.com "+mainEndpoint+" 300")
}

// Disabling is not deleting: the names stay.
func TestDisablingLeavesDNSAlone(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	r.serving("alpha", withDNS())
	batches := r.Calls()["ChangeResourceRecordSets"]
	r.Edit("alpha", func(o *v1alpha1.DistributionTenant) { o.Spec.Enabled = new(bool) })
	r.Advance(10 * time.Minute)
	is(t, r.World, "alpha", readyTrue, syncedTrue, dnsReady)
	r.Edit("alpha", func(o *v1alpha1.DistributionTenant) { o.Spec.Enabled = nil })
	r.Advance(10 * time.Minute)
	is(t, r.World, "alpha", readyTrue, syncedTrue, dnsReady)
	r.has(coveredZone, "CNAME alpha.example.com "+mainEndpoint+" 300")
	if n := r.Calls()["ChangeResourceRecordSets"] - batches; n != 0 {
		t.Errorf("%d batches for turning the tenant off and on", n)
	}
	r.removed("alpha")
}

// An object moves to a zone that others made below its own once that delegates the name, also if the zones were listed
// shortly before. An edit does not move it.
func TestANewZoneGetsTheRecordsOnceItIsDelegated(t *testing.T) {
	t.Parallel()
	const record, child = "CNAME a.shop.example.com " + mainEndpoint + " 60", "ZCHILD"
	for name, quiet := range map[string]time.Duration{"a quiet object": 2 * time.Hour, "one that was just published": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{})
			r.serving("alpha", withDNS(), domains("a.shop.example.com"))
			if err := r.Sim.Load(sim.Seed{HostedZones: []sim.SeedHostedZone{{ID: child, Name: "shop.example.com"}}}); err != nil {
				t.Fatal(err)
			}
			opened, _ := r.Sim.HostedZone(child)
			r.base[child] = opened.Records
			r.Advance(quiet)
			r.Edit("alpha", withDNS(func(d *v1alpha1.DNS) { d.TTL = 60 }))
			r.Advance(10 * time.Minute)
			is(t, r.World, "alpha", readyTrue, syncedTrue, dnsReady)
			r.has(coveredZone, record)
			r.has(child)
			r.changeRecord(coveredZone, "CREATE", plain("NS", "shop.example.com", "ns1.aws.test.", 300))
			r.Advance(20 * time.Minute)
			is(t, r.World, "alpha", readyTrue, syncedTrue, dnsReady)
			r.has(coveredZone, "NS shop.example.com ns1.aws.test. 300")
			r.has(child, record)
			r.Delete("alpha")
			r.Advance(15 * time.Minute)
			gone(t, r.World, "alpha")
			r.has(child)
		})
	}
}

// A change of zone publishes in the new one before the old one loses the record.
func TestAChangeOfZoneMovesTheRecords(t *testing.T) {
	t.Parallel()
	const child = "ZCHILD"
	r := newRig(t, rigOptions{seed: func(s *sim.Seed) {
		s.HostedZones = append(s.HostedZones, sim.SeedHostedZone{ID: child, Name: "shop.example.com", Records: []sim.SeedRecord{
			{Name: "shop.example.com", Type: "TXT", Values: []string{`"somebody else's"`}},
		}})
	}})
	inZone := func(id string) func(*v1alpha1.DNS) { return func(d *v1alpha1.DNS) { d.HostedZoneID = id } }
	const record = "CNAME a.shop.example.com " + mainEndpoint + " 300"
	published := func(in, notIn string) {
		t.Helper()
		r.Advance(10 * time.Minute)
		is(t, r.World, "alpha", readyTrue, syncedTrue, dnsReady)
		r.has(in, record)
		r.has(notIn)
	}
	r.serving("alpha", withDNS(inZone(coveredZone)), domains("a.shop.example.com"))
	published(coveredZone, child)
	r.Edit("alpha", withDNS(func(d *v1alpha1.DNS) { d.ZoneName = "shop.example.com" }))
	published(child, coveredZone)
	r.Edit("alpha", withDNS(inZone(coveredZone)))
	published(coveredZone, child)
	// No zone is named any more, and this one still answers.
	r.Edit("alpha", withDNS())
	published(coveredZone, child)
	r.removed("alpha")
	r.has(child)
}
