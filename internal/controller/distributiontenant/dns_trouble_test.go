package distributiontenant_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// One impossible record among 500 must not keep the others from their place, nor cost a call
// for each of them.
func TestOneImpossibleRecordAmong500(t *testing.T) {
	t.Parallel()
	const objects, each = 10, 50
	const bad = "d7-of-o3.example.com"
	r := newRig(t, rigOptions{})
	r.Advance(time.Minute)
	fault(t, r.World, sim.Fault{
		Operation: "ChangeResourceRecordSets", Resource: bad, Times: -1, Kind: sim.Instead,
		Error: &sim.FaultError{Status: http.StatusBadRequest, Code: "InvalidChangeBatch", Message: "[FATAL problem: " + bad + " is impossible]"},
	})
	for n := range objects {
		var names []string
		for d := range each {
			names = append(names, fmt.Sprintf("d%d-of-o%d.example.com", d, n))
		}
		r.Apply(r.Tenant(fmt.Sprintf("obj%d", n), withDNS(), domains(names...)))
	}
	r.Advance(5 * time.Minute)
	published := r.ours(coveredZone)
	if len(published) != objects*each-1 {
		t.Errorf("%d of %d records are published", len(published), objects*each)
	}
	for _, record := range published {
		if strings.Contains(record, bad) {
			t.Errorf("the impossible record is there: %s", record)
		}
	}
	for n := range objects {
		name := fmt.Sprintf("obj%d", n)
		if n == 3 {
			is(t, r.World, name, "Ready=False/DNSError", "DNSReady=False/DNSError", syncedTrue)
			says(t, r.World, name, "DNSReady", bad, "impossible")
			continue
		}
		is(t, r.World, name, readyTrue, syncedTrue, dnsReady)
	}
	if n := r.Calls()["ChangeResourceRecordSets"]; n > 40 {
		t.Errorf("%d batches to find one record of 500", n)
	} else {
		t.Logf("%d batches", n)
	}
	before := r.Calls()["ChangeResourceRecordSets"]
	r.Advance(time.Hour)
	if n := r.Calls()["ChangeResourceRecordSets"] - before; n > 15 {
		t.Errorf("%d more batches for it within an hour", n)
	}
	r.Sim.ClearFaults()
	r.Advance(35 * time.Minute)
	is(t, r.World, "obj3", readyTrue, syncedTrue, dnsReady)
	if n := len(r.ours(coveredZone)); n != objects*each {
		t.Errorf("%d of %d records are published in the end", n, objects*each)
	}
}

// Names that a zone delegates to other servers are not published in it, where it would be in sync and never seen.
func TestADelegatedNameIsNotPublished(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	cut := plain("NS", "shop.example.com", "ns1.elsewhere.test.", 300)
	r.changeRecord(coveredZone, "CREATE", cut)
	r.Apply(r.Tenant("alpha", withDNS(func(d *v1alpha1.DNS) { d.Takeover = true }), domains("a.shop.example.com")))
	r.Advance(5 * time.Minute)
	is(t, r.World, "alpha", "DNSReady=False/DNSConflict")
	says(t, r.World, "alpha", "DNSReady", "a.shop.example.com is delegated", "NS ns1.elsewhere.test", "at shop.example.com")
	r.has(coveredZone, "NS shop.example.com ns1.elsewhere.test. 300")
	r.changeRecord(coveredZone, "DELETE", cut)
	r.Advance(20 * time.Minute)
	is(t, r.World, "alpha", readyTrue, syncedTrue, dnsReady)
	r.has(coveredZone, "CNAME a.shop.example.com "+mainEndpoint+" 300")
}

// Temporary behavior of AWS delays, and harms nothing.
func TestZonesThatMakeTroubleForAWhile(t *testing.T) {
	t.Parallel()
	throttling := &sim.FaultError{Status: http.StatusBadRequest, Code: "Throttling", Message: "Rate exceeded"}
	down := &sim.FaultError{Status: http.StatusServiceUnavailable, Code: "ServiceUnavailable", Message: "no"}
	for name, tc := range map[string]struct {
		faults   []sim.Fault
		switches func(*sim.Switches)
	}{
		"changes are throttled":                         {faults: []sim.Fault{{Operation: "ChangeResourceRecordSets", Nth: 1, Times: 8, Error: throttling}}},
		"everything is throttled":                       {faults: []sim.Fault{{Operation: "*", Probability: 0.4, Times: 60, Error: throttling}}},
		"listings are throttled":                        {faults: []sim.Fault{{Operation: "ListResourceRecordSets", Nth: 1, Times: 8, Error: throttling}}},
		"lists of zones are throttled":                  {faults: []sim.Fault{{Operation: "ListHostedZones", Nth: 1, Times: 8, Error: throttling}}},
		"questions for changes are throttled":           {faults: []sim.Fault{{Operation: "GetChange", Nth: 1, Times: 8, Error: throttling}}},
		"changes are not taken":                         {faults: []sim.Fault{{Operation: "ChangeResourceRecordSets", Nth: 1, Times: 5, Error: down}}},
		"listings fail":                                 {faults: []sim.Fault{{Operation: "ListResourceRecordSets", Nth: 1, Times: 9, Error: down}}},
		"listings break off":                            {faults: []sim.Fault{{Operation: "ListResourceRecordSets", Nth: 1, Times: 3, Effect: sim.EffectTruncate}}},
		"questions for changes fail":                    {faults: []sim.Fault{{Operation: "GetChange", Nth: 1, Times: 9, Error: down}}},
		"the zone is busy with each change for a while": {switches: func(s *sim.Switches) { s.Route53ProcessingDelay = 40 * time.Second }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{switches: tc.switches})
			strike := func() {
				r.Sim.ClearFaults()
				for _, f := range tc.faults {
					fault(t, r.World, f)
				}
			}
			strike()
			r.Apply(r.Tenant("alpha", withDNS()))
			r.Advance(15 * time.Minute)
			is(t, r.World, "alpha", readyTrue, syncedTrue, dnsReady)
			r.has(coveredZone, alphaRecord)
			strike()
			r.Edit("alpha", domains("beta.example.com"))
			r.Advance(15 * time.Minute)
			is(t, r.World, "alpha", readyTrue, syncedTrue, dnsReady)
			r.has(coveredZone, "CNAME beta.example.com "+mainEndpoint+" 300")
			strike()
			r.Delete("alpha")
			r.Advance(20 * time.Minute)
			gone(t, r.World, "alpha")
			r.has(coveredZone)
		})
	}
}

// A change whose answer is lost may have been carried out. No record may be duplicated, lost, or taken for a foreign
// one because of that.
func TestLostAnswersToChangesOfRecords(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]sim.Fault{
		"carried out, and reset":           {Kind: sim.AfterCommit, Effect: sim.EffectReset},
		"carried out, and a broken answer": {Kind: sim.AfterCommit, Effect: sim.EffectTruncate},
		"carried out, and status 500":      {Kind: sim.AfterCommit, Error: &sim.FaultError{Status: 500, Code: "InternalError"}},
		"not carried out, and reset":       {Kind: sim.BeforeCommit, Effect: sim.EffectReset},
		"not carried out, and status 500":  {Kind: sim.BeforeCommit, Error: &sim.FaultError{Status: 500, Code: "InternalError"}},
	} {
		for restart, restarts := range map[string]bool{"": false, ", and the operator restarts": true} {
			t.Run(name+restart, func(t *testing.T) {
				t.Parallel()
				r := newRig(t, rigOptions{})
				lost := f
				lost.Operation = "ChangeResourceRecordSets"
				lose := func() { fault(t, r.World, lost) }
				again := func() {
					if restarts {
						r.Restart()
					}
					r.Advance(10 * time.Minute)
				}
				lose()
				r.Apply(r.Tenant("alpha", withDNS()))
				r.Advance(75 * time.Second)
				again()
				is(t, r.World, "alpha", readyTrue, syncedTrue, dnsReady)
				r.hasLedger("alpha", "Published "+alphaRecord)
				r.has(coveredZone, alphaRecord)
				lose()
				r.Edit("alpha", withDNS(ofType(v1alpha1.RecordTypeAlias)))
				r.Advance(5 * time.Second)
				again()
				is(t, r.World, "alpha", readyTrue, syncedTrue, dnsReady)
				r.has(coveredZone, aliasOf(alphaDomain, mainEndpoint, "300")...)
				lose()
				r.Delete("alpha")
				r.Advance(5 * time.Second)
				again()
				gone(t, r.World, "alpha")
				r.has(coveredZone)
			})
		}
	}
}

// A change that never gets in sync delays what depends on it, is reported, and continues when it does.
func TestAChangeThatIsNeverInSync(t *testing.T) {
	t.Parallel()
	stuck := func(on bool) func(*sim.Switches) { return func(s *sim.Switches) { s.Route53NeverInSync = on } }
	r := newRig(t, rigOptions{switches: stuck(true), proves: []string{"one.example.net"}})
	r.Apply(r.Tenant("alpha", withDNS()))
	r.Apply(r.Tenant("beta", withDNS(), managed(v1alpha1.ValidationTokenHostCloudFront), domains("one.example.net")))
	r.Advance(2 * time.Hour)
	is(t, r.World, "alpha", "Ready=False/DNSPropagating", "DNSReady=False/DNSPropagating", syncedTrue)
	is(t, r.World, "beta", "DNSReady=False/DNSPropagating")
	tenants(t, r.World, "alpha")
	asked := r.Calls()["GetChange"]
	writes := r.KubeWrites()
	r.Advance(time.Hour)
	if n := r.Calls()["GetChange"] - asked; n > 260 {
		t.Errorf("%d questions in an hour for two changes", n)
	}
	if n := r.KubeWrites() - writes; n != 0 {
		t.Errorf("%d Kubernetes writes while nothing moves", n)
	}
	r.Sim.ChangeSwitches(stuck(false))
	r.Advance(10 * time.Minute)
	is(t, r.World, "alpha", readyTrue, dnsReady)
	is(t, r.World, "beta", readyTrue, dnsReady)
	// On the way out too: the tenant stays as long as the name may lead to it.
	r.Sim.ChangeSwitches(stuck(true))
	tenant := inAWS(t, r.World, "alpha")
	r.Delete("alpha")
	r.Advance(2 * time.Hour)
	untouched(t, r.World, tenant)
	says(t, r.World, "alpha", "Ready", alphaDomain)
	r.Sim.ChangeSwitches(stuck(false))
	r.Advance(10 * time.Minute)
	gone(t, r.World, "alpha")
	r.has(coveredZone)
}

// A missing permission to query whether a change is in sync is reported.
func TestAQuestionForAChangeThatIsDenied(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	allow := refusing(t, r.World, "GetChange", http.StatusForbidden, "AccessDenied", "no")
	r.Apply(r.Tenant("alpha", withDNS()))
	r.Advance(10 * time.Minute)
	if c := r.Condition("alpha", "DNSReady"); !strings.HasPrefix(c, "DNSReady=False/") {
		t.Errorf("%s, though that can't be known", c)
	}
	says(t, r.World, "alpha", "DNSReady", "GetChange")
	allow()
	r.Advance(35 * time.Minute)
	is(t, r.World, "alpha", readyTrue, dnsReady)
	r.removed("alpha")
}

// A zone that is deleted out of band takes its records with it: they count as retracted.
func TestAZoneThatIsDeletedUnderUs(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]func(r *rig){
		"and the object is deleted": func(r *rig) {
			r.Delete("alpha")
			r.Advance(30 * time.Minute)
		},
		"and the object was deleted before": nil,
		"and the domain moves to another zone": func(r *rig) {
			r.Advance(30 * time.Minute)
			is(r.t, r.World, "alpha", "Ready=False/ZoneNotFound", "DNSReady=False/ZoneNotFound", syncedTrue)
			says(r.t, r.World, "alpha", "DNSReady", "ZTEMPORARY")
			r.Edit("alpha", withDNS(inZone(coveredZone)))
			r.Advance(15 * time.Minute)
			is(r.t, r.World, "alpha", readyTrue, syncedTrue, dnsReady)
			r.hasLedger("alpha", "Published CNAME a.shop.example.com "+mainEndpoint+" 300")
			r.removed("alpha")
		},
		"and DNS is dropped": func(r *rig) {
			r.Edit("alpha", withoutDNS)
			r.Advance(30 * time.Minute)
			is(r.t, r.World, "alpha", readyTrue, syncedTrue, noDNS)
			r.hasLedger("alpha")
			r.removed("alpha")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{seed: func(s *sim.Seed) {
				s.HostedZones = append(s.HostedZones, sim.SeedHostedZone{ID: "ZTEMPORARY", Name: "shop.example.com"})
			}})
			r.serving("alpha", withDNS(inZone("ZTEMPORARY")), domains("a.shop.example.com"))
			if after == nil {
				stop := refusing(t, r.World, "ChangeResourceRecordSets", http.StatusBadRequest, "Throttling", "Rate exceeded")
				r.Delete("alpha")
				r.Advance(time.Minute)
				stop()
				r.dropZone("ZTEMPORARY")
				r.Advance(30 * time.Minute)
			} else {
				r.dropZone("ZTEMPORARY")
				after(r)
			}
			gone(t, r.World, "alpha")
		})
	}
}

// Wiping status removes the memory of which records are ours. The records left in the zone then count as equal foreign
// records: they are used and stay. With takeover they are ours again.
func TestAStatusThatIsWipedByHand(t *testing.T) {
	t.Parallel()
	for name, takeover := range map[string]bool{"without takeover": false, "with takeover": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{})
			r.serving("alpha", withDNS(func(d *v1alpha1.DNS) { d.Takeover = takeover }))
			o := get(t, r.World, "alpha")
			base := o.DeepCopy()
			o.Status = v1alpha1.DistributionTenantStatus{}
			if err := r.Kube.Status().Patch(t.Context(), o, client.MergeFrom(base)); err != nil {
				t.Fatal(err)
			}
			r.Restart()
			batches := r.Calls()["ChangeResourceRecordSets"]
			r.Advance(10 * time.Minute)
			is(t, r.World, "alpha", readyTrue, syncedTrue, dnsReady)
			r.has(coveredZone, alphaRecord)
			if n := r.Calls()["ChangeResourceRecordSets"] - batches; n != 0 {
				t.Errorf("%d batches for a record that is as it should be", n)
			}
			if takeover {
				r.hasLedger("alpha", "Published "+alphaRecord)
				r.removed("alpha")
				return
			}
			r.hasLedger("alpha")
			r.exempt[alphaDomain] = true
			r.Delete("alpha")
			r.Advance(15 * time.Minute)
			gone(t, r.World, "alpha")
			r.has(coveredZone, alphaRecord)
		})
	}
}

// A record that can't be deleted any more is given up when a user says so, and only then.
func TestAbandoningRecords(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	r.serving("alpha", withDNS())
	refusing(t, r.World, "ChangeResourceRecordSets", http.StatusForbidden, "AccessDenied", "no")
	tenant := inAWS(t, r.World, "alpha")
	r.Delete("alpha")
	r.Advance(time.Hour)
	untouched(t, r.World, tenant)
	is(t, r.World, "alpha", "Ready=False/DNSError")
	annotate(r.World, "alpha", v1alpha1.AnnotationAbandonDNS, "yes")
	r.Advance(10 * time.Minute)
	untouched(t, r.World, tenant)
	r.exempt[alphaDomain] = true
	annotate(r.World, "alpha", v1alpha1.AnnotationAbandonDNS, v1alpha1.AbandonTrue)
	r.Advance(5 * time.Minute)
	gone(t, r.World, "alpha")
	r.has(coveredZone, alphaRecord)
}

// The annotation means nothing as long as the object lives.
func TestAbandoningMeansNothingForWhatLives(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	r.serving("alpha", withDNS())
	annotate(r.World, "alpha", v1alpha1.AnnotationAbandonDNS, v1alpha1.AbandonTrue)
	recordDrifts()["deleted"].change(r)
	r.Advance(aListing)
	is(t, r.World, "alpha", readyTrue, dnsReady)
	r.has(coveredZone, alphaRecord)
	r.hasLedger("alpha", "Published "+alphaRecord)
}

// The cost of a quiet fleet: nothing in Kubernetes, and now and then a listing of each zone.
func TestWhatQuietZonesCost(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	for n := range 10 {
		r.Apply(r.Tenant(fmt.Sprintf("obj%d", n), withDNS()))
	}
	r.Apply(r.Tenant("apex", withDNS(), domains("example.com")))
	r.Apply(r.Tenant("taken", withDNS(), domains("other.example.com")))
	r.Advance(30 * time.Minute)
	for n := range 10 {
		is(t, r.World, fmt.Sprintf("obj%d", n), readyTrue, dnsReady)
	}
	is(t, r.World, "apex", readyTrue, dnsReady)
	is(t, r.World, "taken", "DNSReady=False/DNSConflict")
	calls, writes, all := route53Calls(r.Calls()), r.KubeWrites(), r.Calls()
	r.Advance(6 * time.Hour)
	if n := r.KubeWrites() - writes; n != 0 {
		t.Errorf("%d Kubernetes writes in six quiet hours", n)
	}
	now := r.Calls()
	t.Logf("calls in six hours: %v", world.Since(all, now))
	if n := now["ListResourceRecordSets"] - calls["ListResourceRecordSets"]; n < 20 || n > 26 {
		t.Errorf("%d pages of listings, want one each 15 minutes", n)
	}
	if n := now["ListHostedZones"] - calls["ListHostedZones"]; n > 7 {
		t.Errorf("%d lists of zones, want one an hour at most", n)
	}
	for _, operation := range []string{"ChangeResourceRecordSets", "GetChange", "GetHostedZone"} {
		if n := now[operation] - calls[operation]; n != 0 {
			t.Errorf("%d %s", n, operation)
		}
	}
	// A restart believes what status says, and reads the zone once.
	writes = r.KubeWrites()
	r.Restart()
	r.Advance(10 * time.Minute)
	if n := r.KubeWrites() - writes; n != 0 {
		t.Errorf("%d Kubernetes writes after a restart", n)
	}
}

// Records of many objects that are created together go in few batches.
func TestAFleetIsPublishedInFewBatches(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	for n := range 25 {
		r.Apply(r.Tenant(fmt.Sprintf("obj%d", n), withDNS()))
	}
	r.Advance(5 * time.Minute)
	for n := range 25 {
		is(t, r.World, fmt.Sprintf("obj%d", n), readyTrue, dnsReady)
	}
	if n := r.Calls()["ChangeResourceRecordSets"]; n > 3 {
		t.Errorf("%d batches for 25 names that became due at one time", n)
	}
	t.Logf("%v, %d Kubernetes writes", route53Calls(r.Calls()), r.KubeWrites())
}
