package distributiontenant_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	r53types "github.com/aws/aws-sdk-go-v2/service/route53/types"
	"github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

const (
	alphaDomain = "alpha.example.com"
	alphaRecord = "CNAME " + alphaDomain + " " + mainEndpoint + " 300"
	// aListing is long enough for the listing of a quiet zone, a batch and its way to all servers.
	aListing = 18 * time.Minute
)

func withTakeover(d *v1alpha1.DNS) { d.Takeover = true }

// cname is the record of alpha with another value or TTL.
func cname(value string, ttl int64) r53types.ResourceRecordSet {
	return plain(r53types.RRTypeCname, alphaDomain, value, ttl)
}

// recordDrifts are out-of-band changes to a published record.
func recordDrifts() map[string]struct {
	change func(r *rig)
	left   []string
	says   []string
} {
	type drift = struct {
		change func(r *rig)
		left   []string
		says   []string
	}
	return map[string]drift{
		"led elsewhere": {
			func(r *rig) {
				r.changeRecord(coveredZone, r53types.ChangeActionUpsert, cname("other.example.org", 300))
			},
			[]string{"CNAME " + alphaDomain + " other.example.org 300"}, []string{alphaDomain, "other.example.org"},
		},
		"given another TTL": {
			func(r *rig) { r.changeRecord(coveredZone, r53types.ChangeActionUpsert, cname(mainEndpoint, 5)) },
			[]string{"CNAME " + alphaDomain + " " + mainEndpoint + " 5"}, []string{alphaDomain, "TTL 5"},
		},
		"deleted": {
			func(r *rig) { r.changeRecord(coveredZone, r53types.ChangeActionDelete, cname(mainEndpoint, 300)) },
			nil, []string{alphaDomain, "deleted outside"},
		},
		"replaced by an address": {
			func(r *rig) {
				r.changeRecord(coveredZone, r53types.ChangeActionDelete, cname(mainEndpoint, 300))
				r.changeRecord(coveredZone, r53types.ChangeActionCreate, plain(r53types.RRTypeA, alphaDomain, "192.0.2.9", 30))
			},
			[]string{"A " + alphaDomain + " 192.0.2.9 30"}, []string{alphaDomain, "192.0.2.9"},
		},
	}
}

func TestDriftOfRecordsIsPutBackUnderEnforce(t *testing.T) {
	t.Parallel()
	for name, d := range recordDrifts() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{})
			r.serving("alpha", withDNS())
			d.change(r)
			delete(r.exempt, alphaDomain)
			r.Advance(aListing)
			is(t, r.World, "alpha", readyTrue, syncedTrue, dnsReady)
			r.has(coveredZone, alphaRecord)
			told := r.Events[len(r.Events)-1]
			if told.Reason != "DriftCorrected" || !strings.HasPrefix(told.Message, "Restored in DNS: CNAME "+alphaDomain+" -> "+mainEndpoint) {
				t.Errorf("the last event is %+v", told)
			}
			for _, set := range d.left {
				if value := strings.Fields(set)[2]; !strings.Contains(told.Message, value) {
					t.Errorf("the event does not name what was replaced, %s: %s", value, told.Message)
				}
			}
			r.removed("alpha")
		})
	}
}

func TestDriftOfRecordsIsReportedAndLeft(t *testing.T) {
	t.Parallel()
	for name, d := range recordDrifts() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{})
			r.serving("alpha", withDNS(), drift(v1alpha1.DriftPolicyReport))
			batches := r.Calls()["ChangeResourceRecordSets"]
			d.change(r)
			mine := r.Calls()["ChangeResourceRecordSets"] - batches
			r.Advance(aListing)
			is(t, r.World, "alpha", "Synced=False/DriftDetected", "DNSReady=False/DNSConflict", "Ready=False/DNSConflict")
			says(t, r.World, "alpha", "DNSReady", d.says...)
			r.has(coveredZone, d.left...)
			if o := get(t, r.World, "alpha"); len(o.Status.Drift) != 1 || o.Status.Drift[0].Field != "dns[cname "+alphaDomain+"]" {
				t.Errorf("drift: %+v", o.Status.Drift)
			}
			writes := r.KubeWrites()
			r.Advance(time.Hour)
			if n := r.KubeWrites() - writes; n != 0 {
				t.Errorf("a standing drift made %d Kubernetes writes in an hour", n)
			}
			if n := r.Calls()["ChangeResourceRecordSets"] - batches - mine; n != 0 {
				t.Errorf("%d batches under driftPolicy report", n)
			}
			// A change of the spec is no drift.
			delete(r.exempt, alphaDomain)
			r.Edit("alpha", drift(v1alpha1.DriftPolicyEnforce))
			r.Advance(5 * time.Minute)
			is(t, r.World, "alpha", readyTrue, syncedTrue, dnsReady)
			r.has(coveredZone, alphaRecord)
			r.removed("alpha")
		})
	}
}

func TestDriftOfRecordsIsLeftUnderSuspend(t *testing.T) {
	t.Parallel()
	for name, d := range recordDrifts() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{})
			r.serving("alpha", withDNS(), drift(v1alpha1.DriftPolicySuspend))
			d.change(r)
			r.Advance(aListing)
			is(t, r.World, "alpha", syncedTrue)
			r.has(coveredZone, d.left...)
			if o := get(t, r.World, "alpha"); len(o.Status.Drift) != 0 {
				t.Errorf("drift: %+v", o.Status.Drift)
			}
		})
	}
}

// Reporting is about what others change: what the spec asks for is published all the same.
func TestTheSpecIsPublishedUnderReport(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	r.serving("alpha", withDNS(), drift(v1alpha1.DriftPolicyReport))
	r.has(coveredZone, alphaRecord)
	r.Edit("alpha", domains("beta.example.com"))
	r.Advance(10 * time.Minute)
	is(t, r.World, "alpha", readyTrue, syncedTrue, dnsReady)
	r.has(coveredZone, "CNAME beta.example.com "+mainEndpoint+" 300")
	r.Edit("alpha", withDNS(withTTL(60)))
	r.Advance(10 * time.Minute)
	r.has(coveredZone, "CNAME beta.example.com "+mainEndpoint+" 60")
	r.removed("alpha")
}

// A record that someone else deletes while it is being retracted counts as retracted.
func TestARecordThatIsGoneAlreadyCountsAsRetracted(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(r *rig){
		"deleted":       recordDrifts()["deleted"].change,
		"led elsewhere": recordDrifts()["led elsewhere"].change,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{})
			r.serving("alpha", withDNS())
			change(r)
			left := r.ours(coveredZone)
			r.Delete("alpha")
			r.Advance(15 * time.Minute)
			gone(t, r.World, "alpha")
			r.has(coveredZone, left...)
		})
	}
}

// inTheWay are foreign records where alpha's belong.
func inTheWay() map[string]struct {
	set  r53types.ResourceRecordSet
	text string
	says string
	keep bool
	back []string
} {
	type blocker = struct {
		set  r53types.ResourceRecordSet
		text string
		says string
		keep bool
		// back is what is put back after a takeover.
		back []string
	}
	return map[string]blocker{
		"a CNAME":              {cname("shop.example.org", 120), "CNAME " + alphaDomain + " shop.example.org 120", "shop.example.org", false, []string{"CNAME " + alphaDomain + " shop.example.org 120"}},
		"ours but for the TTL": {cname(mainEndpoint, 120), "CNAME " + alphaDomain + " " + mainEndpoint + " 120", "TTL 120", false, nil},
		"an address":           {plain(r53types.RRTypeA, alphaDomain, "192.0.2.7", 120), "A " + alphaDomain + " 192.0.2.7 120", "192.0.2.7", false, []string{"A " + alphaDomain + " 192.0.2.7 120"}},
		"a mail exchanger, which no takeover replaces": {
			plain(r53types.RRTypeMx, alphaDomain, "10 mail.example.org", 120), "MX " + alphaDomain + " 10 mail.example.org 120", "mail.example.org", true, nil,
		},
	}
}

func TestSomebodyElsesRecordIsAConflict(t *testing.T) {
	t.Parallel()
	for name, b := range inTheWay() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{})
			r.changeRecord(coveredZone, r53types.ChangeActionCreate, b.set)
			r.Apply(r.Tenant("alpha", withDNS()))
			r.Advance(10 * time.Minute)
			is(t, r.World, "alpha", "Ready=False/DNSConflict", "DNSReady=False/DNSConflict", syncedTrue)
			says(t, r.World, "alpha", "DNSReady", alphaDomain, coveredZone, b.says, "takeover")
			r.has(coveredZone, b.text)
			r.hasLedger("alpha")
			writes := r.KubeWrites()
			r.Advance(time.Hour)
			if n := r.KubeWrites() - writes; n != 0 {
				t.Errorf("a standing conflict made %d Kubernetes writes in an hour", n)
			}
			// The tenant is deleted, the record stays: it never was ours.
			r.Delete("alpha")
			r.Advance(15 * time.Minute)
			gone(t, r.World, "alpha")
			r.has(coveredZone, b.text)
		})
	}
}

func TestTakeoverReplacesSomebodyElsesRecord(t *testing.T) {
	t.Parallel()
	for name, b := range inTheWay() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{})
			r.changeRecord(coveredZone, r53types.ChangeActionCreate, b.set)
			r.Apply(r.Tenant("alpha", withDNS()))
			r.Advance(10 * time.Minute)
			is(t, r.World, "alpha", "DNSReady=False/DNSConflict")
			delete(r.exempt, alphaDomain)
			r.Edit("alpha", withDNS(withTakeover))
			r.Advance(10 * time.Minute)
			if b.keep {
				is(t, r.World, "alpha", "Ready=False/DNSConflict", "DNSReady=False/DNSConflict")
				r.has(coveredZone, b.text)
				r.Delete("alpha")
				r.Advance(15 * time.Minute)
				gone(t, r.World, "alpha")
				r.has(coveredZone, b.text)
				return
			}
			is(t, r.World, "alpha", readyTrue, syncedTrue, dnsReady)
			r.has(coveredZone, alphaRecord)
			r.Delete("alpha")
			r.Advance(15 * time.Minute)
			gone(t, r.World, "alpha")
			r.has(coveredZone, b.back...)
		})
	}
}

// When a conflict is removed, the next listing notices.
func TestAConflictThatGoesAwayIsPublished(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	set := inTheWay()["a CNAME"].set
	r.changeRecord(coveredZone, r53types.ChangeActionCreate, set)
	r.Apply(r.Tenant("alpha", withDNS()))
	r.Advance(10 * time.Minute)
	is(t, r.World, "alpha", "DNSReady=False/DNSConflict")
	r.changeRecord(coveredZone, r53types.ChangeActionDelete, set)
	r.Advance(aListing)
	is(t, r.World, "alpha", readyTrue, syncedTrue, dnsReady)
	r.has(coveredZone, alphaRecord)
	r.removed("alpha")
}

// A foreign record that equals ours is used, and stays foreign: when the tenant is deleted, when the domain is dropped,
// and when DNS is no longer asked for.
func TestSomebodyElsesEqualRecordIsUsedAndLeftForEver(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(r *rig){
		"the object is deleted":                 func(r *rig) { r.Delete("alpha") },
		"the domain is dropped":                 func(r *rig) { r.Edit("alpha", domains("beta.example.com")) },
		"DNS is dropped":                        func(r *rig) { r.Edit("alpha", withoutDNS) },
		"it is kept, and the operator restarts": func(r *rig) { r.Restart() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{})
			r.changeRecord(coveredZone, r53types.ChangeActionCreate, cname(mainEndpoint, 300))
			r.serving("alpha", withDNS())
			r.hasLedger("alpha")
			end(r)
			r.Advance(30 * time.Minute)
			if _, found := r.Get("alpha"); found {
				r.Delete("alpha")
				r.Advance(30 * time.Minute)
			}
			gone(t, r.World, "alpha")
			r.has(coveredZone, alphaRecord)
		})
	}
}

// With takeover an equal record becomes ours without being touched: so records of another
// operator move here, and so a ledger that was lost is found again.
func TestTakeoverOfAnEqualRecord(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	r.changeRecord(coveredZone, r53types.ChangeActionCreate, cname(mainEndpoint, 300))
	batches := r.Calls()["ChangeResourceRecordSets"]
	r.serving("alpha", withDNS(withTakeover))
	r.hasLedger("alpha", "Published "+alphaRecord)
	if n := r.Calls()["ChangeResourceRecordSets"] - batches; n != 0 {
		t.Errorf("%d batches for a record that is as it should be", n)
	}
	r.removed("alpha")
}

// It comes between our looking and our publishing: Route 53 refuses ours, and it is not ours.
func TestAnEqualRecordThatComesBetweenIntentAndBatch(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	stored := 0
	r.AroundKubeWrites(func(_ int, write func() error) error {
		err := write()
		if len(r.ledger("alpha")) > 0 && stored == 0 {
			stored++
			r.changeRecord(coveredZone, r53types.ChangeActionCreate, cname(mainEndpoint, 300))
		}
		return err
	})
	r.Apply(r.Tenant("alpha", withDNS()))
	r.Advance(10 * time.Minute)
	is(t, r.World, "alpha", readyTrue, dnsReady)
	if stored != 1 {
		t.Fatal("no intent was ever stored")
	}
	r.hasLedger("alpha")
	r.Delete("alpha")
	r.Advance(15 * time.Minute)
	gone(t, r.World, "alpha")
	r.has(coveredZone, alphaRecord)
}

// Another one comes in the same moment: that is a conflict, and neither is ours.
func TestAConflictThatComesBetweenIntentAndBatch(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	stored := 0
	r.AroundKubeWrites(func(_ int, write func() error) error {
		err := write()
		if len(r.ledger("alpha")) > 0 && stored == 0 {
			stored++
			r.changeRecord(coveredZone, r53types.ChangeActionCreate, cname("shop.example.org", 30))
		}
		return err
	})
	r.Apply(r.Tenant("alpha", withDNS()))
	r.Advance(10 * time.Minute)
	is(t, r.World, "alpha", "Ready=False/DNSConflict", "DNSReady=False/DNSConflict")
	says(t, r.World, "alpha", "DNSReady", "shop.example.org")
	r.Delete("alpha")
	r.Advance(15 * time.Minute)
	gone(t, r.World, "alpha")
	r.has(coveredZone, "CNAME "+alphaDomain+" shop.example.org 30")
}

// The older of two objects with one name has it. When that object is deleted, the other gets it.
func TestTwoObjectsWithOneName(t *testing.T) {
	t.Parallel()
	for title, end := range map[string]func(r *rig){
		"the holder is deleted":       func(r *rig) { r.Delete("alpha") },
		"the holder drops the domain": func(r *rig) { r.Edit("alpha", domains("own.example.com")) },
		"the holder drops DNS":        func(r *rig) { r.Edit("alpha", withoutDNS) },
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{})
			r.serving("alpha", withDNS(), domains("one.example.com"))
			// AWS gives a domain to one tenant. In the zone the two meet over a wildcard that one has
			// as its domain and whose record the other's alias needs for itself.
			r.Apply(r.Tenant("beta", withDNS(), domains("one.example.com")))
			r.Advance(5 * time.Minute)
			is(t, r.World, "beta", "Ready=False/DomainConflict")
			is(t, r.World, "alpha", readyTrue, dnsReady)
			r.has(coveredZone, "CNAME one.example.com "+mainEndpoint+" 300")
			r.hasLedger("beta")
			end(r)
			r.Advance(time.Hour)
			if title == "the holder drops DNS" {
				is(t, r.World, "beta", "Ready=False/DomainConflict")
				r.has(coveredZone)
				return
			}
			is(t, r.World, "beta", readyTrue, dnsReady)
			r.hasLedger("beta", "Published CNAME one.example.com "+mainEndpoint+" 300")
		})
	}
}

// CloudFront takes a domain of a second tenant that is to be validated by DNS only when the
// first has gone, so before its create its record waits for the record of the first.
func TestTwoObjectsThatPublishOneNameFirst(t *testing.T) {
	t.Parallel()
	const name = "one.example.net"
	r := newRig(t, rigOptions{proves: []string{name}})
	cloudFront := all(withDNS(), managed(v1alpha1.ValidationTokenHostCloudFront), domains(name))
	r.serving("alpha", cloudFront)
	r.Apply(r.Tenant("beta", cloudFront))
	r.Advance(5 * time.Minute)
	is(t, r.World, "beta", "DNSReady=False/DNSConflict")
	says(t, r.World, "beta", "DNSReady", name, r.Namespace+"/alpha")
	r.hasLedger("beta")
	is(t, r.World, "alpha", readyTrue, dnsReady)
	held := r.ours(openZone)
	// The other publishes as soon as this one's record is gone, before its own create.
	r.exempt[name] = true
	r.Delete("alpha")
	r.Advance(40 * time.Minute)
	gone(t, r.World, "alpha")
	is(t, r.World, "beta", readyTrue, syncedTrue, dnsReady)
	if d := cmp.Diff(held, r.ours(openZone)); d != "" {
		t.Errorf("the record of the one and of the other (-want +got):\n%s", d)
	}
	r.removed("beta")
}

// Nothing is written for a paused object, and everything once it is not paused any more.
func TestPausedPublishesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	r.serving("alpha", withDNS())
	annotate(r.World, "alpha", v1alpha1.AnnotationPaused, v1alpha1.PausedTrue)
	r.Edit("alpha", all(domains("beta.example.com"), withDNS(withTTL(60))))
	recordDrifts()["deleted"].change(r)
	batches := r.Calls()["ChangeResourceRecordSets"]
	r.Advance(time.Hour)
	r.has(coveredZone)
	if n := r.Calls()["ChangeResourceRecordSets"] - batches; n != 0 {
		t.Errorf("%d batches while paused", n)
	}
	r.Edit("alpha", func(o *v1alpha1.DistributionTenant) { delete(o.Annotations, v1alpha1.AnnotationPaused) })
	r.Advance(15 * time.Minute)
	is(t, r.World, "alpha", readyTrue, syncedTrue, dnsReady)
	r.has(coveredZone, "CNAME beta.example.com "+mainEndpoint+" 60")
	r.removed("alpha")
}

// A pass over a paused object does not look up where the alias of an apex leads, so it declares less than a pass before it.
// The earlier declaration must not be worked on any more.
func TestPausedPublishesNothingAtAnApex(t *testing.T) {
	t.Parallel()
	pause := func(o *v1alpha1.DistributionTenant) {
		o.Annotations = map[string]string{v1alpha1.AnnotationPaused: v1alpha1.PausedTrue}
	}
	for name, pauses := range map[string]func(r *rig){
		"with a change of the spec, before the record is deleted by others": func(r *rig) {
			r.Apply(r.Tenant("alpha", withDNS(), domains("example.com")))
			r.Advance(15 * time.Minute)
			is(r.t, r.World, "alpha", readyTrue, dnsReady)
			r.Edit("alpha", all(pause, domains("example.com", "beta.example.com")))
			r.changeRecord(coveredZone, r53types.ChangeActionDelete, r53types.ResourceRecordSet{
				Name: awssdk.String("example.com"), Type: r53types.RRTypeA,
				AliasTarget: &r53types.AliasTarget{DNSName: awssdk.String(mainEndpoint), HostedZoneId: awssdk.String("Z2FDTNDATAQYW2")},
			})
		},
		"before the provider takes the record": func(r *rig) {
			allow := refusing(r.t, r.World, "ChangeResourceRecordSets", http.StatusForbidden, "AccessDenied", "no")
			r.Apply(r.Tenant("alpha", withDNS(), domains("example.com")))
			r.Advance(15 * time.Minute)
			r.Edit("alpha", pause)
			allow()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{})
			pauses(r)
			r.Advance(time.Minute)
			before := r.ours(coveredZone)
			r.Advance(3 * time.Hour)
			r.has(coveredZone, before...)
			r.Edit("alpha", func(o *v1alpha1.DistributionTenant) { delete(o.Annotations, v1alpha1.AnnotationPaused) })
			r.Advance(time.Hour)
			is(t, r.World, "alpha", readyTrue, syncedTrue, dnsReady)
			r.removed("alpha")
		})
	}
}
