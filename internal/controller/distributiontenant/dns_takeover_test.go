package distributiontenant_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	r53types "github.com/aws/aws-sdk-go-v2/service/route53/types"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

const (
	formerA    = "A " + alphaDomain + " 192.0.2.7,192.0.2.8 120"
	formerAAAA = "AAAA " + alphaDomain + " 2001:db8::7 90"
)

// addressed gives alpha's name the addresses of someone else.
func addressed(r *rig) {
	r.t.Helper()
	both := plain(r53types.RRTypeA, alphaDomain, "192.0.2.7", 120)
	second := "192.0.2.8"
	both.ResourceRecords = append(both.ResourceRecords, r53types.ResourceRecord{Value: &second})
	r.changeRecord(coveredZone, r53types.ChangeActionCreate, both)
	r.changeRecord(coveredZone, r53types.ChangeActionCreate, plain(r53types.RRTypeAaaa, alphaDomain, "2001:db8::7", 90))
}

// neverEmpty advances, and checks that alpha's name has a record all the time.
func neverEmpty(r *rig, d time.Duration) {
	r.t.Helper()
	for end := r.Clock.Now().Add(d); r.Clock.Now().Before(end); {
		r.Advance(time.Second)
		if !slices.ContainsFunc(r.ours(coveredZone), func(s string) bool { return strings.Contains(s, " "+alphaDomain+" ") }) {
			r.t.Fatalf("the name has no record:\n%s", r.story())
		}
	}
}

// Records that a takeover has replaced come back when our record is deleted, for whatever reason, in the same batch.
func TestWhatATakeoverReplacedIsPutBack(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(r *rig){
		"the object is deleted": func(r *rig) { r.Delete("alpha") },
		"the domain is dropped": func(r *rig) { r.Edit("alpha", domains("beta.example.com")) },
		"DNS is dropped":        func(r *rig) { r.Edit("alpha", withoutDNS) },
		"the operator restarts before": func(r *rig) {
			r.Restart()
			r.Advance(10 * time.Minute)
			r.Delete("alpha")
		},
		"takeover is not allowed any more": func(r *rig) {
			r.Edit("alpha", withDNS())
			r.Advance(10 * time.Minute)
			r.Delete("alpha")
		},
		"the type of our records changed meanwhile": func(r *rig) {
			r.Edit("alpha", withDNS(withTakeover, ofType(v1alpha1.RecordTypeAlias)))
			r.Advance(10 * time.Minute)
			r.Edit("alpha", withDNS(withTakeover))
			r.Advance(10 * time.Minute)
			r.Delete("alpha")
		},
		"our record was restored after someone deleted it": func(r *rig) {
			r.changeRecord(coveredZone, r53types.ChangeActionDelete, cname(mainEndpoint, 300))
			r.Advance(aListing)
			r.Delete("alpha")
		},
	} {
		for kind, served := range map[string]bool{"": false, ", with an API server": true} {
			t.Run(name+kind, func(t *testing.T) {
				t.Parallel()
				r := newRig(t, rigOptions{served: served})
				addressed(r)
				r.Apply(r.Tenant("alpha", withDNS(withTakeover)))
				neverEmpty(r, 5*time.Minute)
				is(t, r.World, "alpha", readyTrue, syncedTrue, dnsReady)
				r.has(coveredZone, alphaRecord)
				end(r)
				if !strings.Contains(name, "someone deleted") {
					neverEmpty(r, 5*time.Minute)
				}
				r.Advance(10 * time.Minute)
				if _, found := r.Get("alpha"); found {
					r.Delete("alpha")
					r.Advance(15 * time.Minute)
				}
				gone(t, r.World, "alpha")
				r.has(coveredZone, formerA, formerAAAA)
			})
		}
	}
}

// Changes of others to the name after the takeover stay, and nothing is restored over them.
func TestWhatReplacedOursMeanwhileStays(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(r *rig){
		"deleted":       recordDrifts()["deleted"].change,
		"led elsewhere": recordDrifts()["led elsewhere"].change,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{})
			addressed(r)
			r.serving("alpha", withDNS(withTakeover))
			change(r)
			left := r.ours(coveredZone)
			r.Delete("alpha")
			r.Advance(15 * time.Minute)
			gone(t, r.World, "alpha")
			r.has(coveredZone, left...)
		})
	}
}

// A name that AWS refuses gets its record back until the next try, also one that leads to CloudFront: the tenant never
// had the domain, so whatever did still has it.
func TestARefusedTenantGivesANameBack(t *testing.T) {
	t.Parallel()
	const name = "alpha.example.net"
	for what, tc := range map[string]struct {
		value, text string
		// end is what the zone has after a life with a tenant.
		end []string
	}{
		"an address":              {"192.0.2.7", "A " + name + " 192.0.2.7 60", []string{"A " + name + " 192.0.2.7 60"}},
		"one of CloudFront's own": {"dother.cloudfront.net", "CNAME " + name + " dother.cloudfront.net 60", nil},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			kind := r53types.RRType(strings.Fields(tc.text)[0])
			r := newRig(t, rigOptions{proves: []string{name}, unwatched: true})
			allow := refusing(t, r.World, "CreateDistributionTenant", 409, "CNAMEAlreadyExists", "One or more of the CNAMEs you provided are already associated with a different resource.")
			r.changeRecord(openZone, r53types.ChangeActionCreate, plain(kind, name, tc.value, 60))
			r.Apply(r.Tenant("alpha", withDNS(withTakeover), managed(v1alpha1.ValidationTokenHostCloudFront), domains(name)))
			replaced, back := false, 0
			for range 180 {
				r.Advance(20 * time.Second)
				ours := slices.Equal(r.ours(openZone), []string{"CNAME " + name + " " + mainEndpoint + " 300"})
				replaced = replaced || ours
				if replaced && slices.Equal(r.ours(openZone), []string{tc.text}) {
					back++
				} else if !ours && replaced {
					t.Fatalf("the zone has %v", r.ours(openZone))
				}
			}
			is(t, r.World, "alpha", "Ready=False/DomainConflict")
			if !replaced || back < 120 {
				t.Errorf("replaced %t, and back for %d of 180 times:\n%s", replaced, back, r.story())
			}
			allow()
			r.Advance(45 * time.Minute)
			is(t, r.World, "alpha", readyTrue, syncedTrue, dnsReady)
			r.has(openZone, "CNAME "+name+" "+mainEndpoint+" 300")
			r.Delete("alpha")
			r.Advance(15 * time.Minute)
			gone(t, r.World, "alpha")
			r.has(openZone, tc.end...)
		})
	}
}

// Once the tenant has had the domain, a record that leads to another resource of CloudFront leads to nothing, and
// anyone who claims the name there would have it. It is not put back.
func TestWhatLedToCloudFrontIsNotPutBack(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	r.changeRecord(coveredZone, r53types.ChangeActionCreate, cname("dother.cloudfront.net", 120))
	delete(r.exempt, alphaDomain)
	r.serving("alpha", withDNS(withTakeover))
	published := slices.ContainsFunc(r.Events, func(e world.Event) bool {
		return e.Reason == "Published" && strings.Contains(e.Message, "instead of CNAME dother.cloudfront.net")
	})
	if !published {
		t.Errorf("no event names what was replaced: %+v", r.Events)
	}
	r.removed("alpha")
}

// Records that status has no room for are not replaced, and the condition says so.
func TestWhatCanNotBeKeptIsNotReplaced(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	many := plain(r53types.RRTypeA, alphaDomain, "192.0.2.0", 120)
	for n := range 20 {
		value := fmt.Sprintf("192.0.2.%d", 100+n)
		many.ResourceRecords = append(many.ResourceRecords, r53types.ResourceRecord{Value: &value})
	}
	r.changeRecord(coveredZone, r53types.ChangeActionCreate, many)
	before := r.ours(coveredZone)
	r.Apply(r.Tenant("alpha", withDNS(withTakeover)))
	r.Advance(10 * time.Minute)
	is(t, r.World, "alpha", "Ready=False/DNSConflict", "DNSReady=False/DNSConflict", syncedTrue)
	says(t, r.World, "alpha", "DNSReady", alphaDomain, "put back", "20 values")
	r.hasLedger("alpha")
	r.has(coveredZone, before...)
	r.Delete("alpha")
	r.Advance(10 * time.Minute)
	gone(t, r.World, "alpha")
	r.has(coveredZone, before...)
}

// An object whose records were taken over by an earlier version has nothing to put back.
func TestALedgerThatKeptNothingPutsNothingBack(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	addressed(r)
	r.serving("alpha", withDNS(withTakeover))
	setStatus(t, r.World, "alpha", func(s *v1alpha1.DistributionTenantStatus) {
		for i := range s.DNS.Records {
			s.DNS.Records[i].Replaced = nil
		}
	})
	nudge(r.World, "alpha", "look")
	r.Advance(10 * time.Minute)
	r.removed("alpha")
}

// A name that moves from one object to another leads back in between, instead of nowhere. The second object finds what
// was there before, and keeps it in its turn; one that may not replace it leaves it alone.
func TestANameThatMovesToAnotherObject(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*v1alpha1.DNS){"with takeover": withTakeover, "without": func(*v1alpha1.DNS) {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{})
			addressed(r)
			r.serving("alpha", withDNS(withTakeover))
			r.Apply(r.Tenant("beta", withDNS(change), domains(alphaDomain)))
			r.Advance(5 * time.Minute)
			r.Delete("alpha")
			neverEmpty(r, 20*time.Minute)
			r.Advance(time.Hour)
			gone(t, r.World, "alpha")
			if name == "without" {
				is(t, r.World, "beta", syncedTrue, "DNSReady=False/DNSConflict")
				r.has(coveredZone, formerA, formerAAAA)
			} else {
				is(t, r.World, "beta", readyTrue, syncedTrue, dnsReady)
				r.has(coveredZone, alphaRecord)
			}
			r.Delete("beta")
			r.Advance(15 * time.Minute)
			gone(t, r.World, "beta")
			r.has(coveredZone, formerA, formerAAAA)
		})
	}
}

// Retain leaves the name with the tenant, and what it has replaced is not put back.
func TestRetainPutsNothingBack(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	addressed(r)
	r.serving("alpha", withDNS(withTakeover), retain)
	r.Delete("alpha")
	r.Advance(10 * time.Minute)
	inAWS(t, r.World, "alpha")
	r.has(coveredZone, alphaRecord)
}

// A change by the owner of a record between our intent and our batch counts.
func TestARecordThatChangesWhileItIsAboutToBeReplaced(t *testing.T) {
	t.Parallel()
	address := func(value string) r53types.ResourceRecordSet { return plain(r53types.RRTypeA, alphaDomain, value, 120) }
	for name, tc := range map[string]struct {
		change func(r *rig)
		want   []string
	}{
		"it is changed": {func(r *rig) {
			r.changeRecord(coveredZone, r53types.ChangeActionUpsert, address("192.0.2.99"))
		}, []string{"A " + alphaDomain + " 192.0.2.99 120"}},
		"it is deleted": {func(r *rig) {
			r.changeRecord(coveredZone, r53types.ChangeActionDelete, address("192.0.2.7"))
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{})
			r.changeRecord(coveredZone, r53types.ChangeActionCreate, address("192.0.2.7"))
			changed := false
			r.AroundKubeWrites(func(_ int, write func() error) error {
				err := write()
				if len(r.ledger("alpha")) > 0 && !changed {
					changed = true
					tc.change(r)
				}
				return err
			})
			r.serving("alpha", withDNS(withTakeover))
			r.has(coveredZone, alphaRecord)
			if !changed {
				t.Fatal("no intent was ever stored")
			}
			r.Delete("alpha")
			r.Advance(15 * time.Minute)
			gone(t, r.World, "alpha")
			r.has(coveredZone, tc.want...)
		})
	}
}
