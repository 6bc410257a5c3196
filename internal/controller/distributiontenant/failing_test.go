package distributiontenant_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// outages are what can happen to every call at once.
func outages() map[string]sim.Fault {
	return map[string]sim.Fault{
		"throttling": {Kind: sim.Instead, Error: &sim.FaultError{Status: http.StatusBadRequest, Code: "Throttling", Message: "Rate exceeded"}},
		"errors":     {Kind: sim.Instead, Error: &sim.FaultError{Status: http.StatusInternalServerError, Code: "InternalError", Message: "try again"}},
		"resets":     {Effect: sim.EffectReset},
	}
}

func TestAnOutageDoesNotTurnAReadyTenantUnready(t *testing.T) {
	t.Parallel()
	for name, f := range outages() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.NewOffline(t, world.Options{})
			ready(t, w, "alpha", rich)
			ready(t, w, "edited", rich)
			s, before := inAWS(t, w, "alpha"), get(t, w, "alpha")
			f.Times = -1
			id := fault(t, w, f)
			for _, then := range []func(){
				func() {}, func() { w.Restart() }, func() { nudge(w, "alpha", "look") },
				func() { w.Edit("edited", params("tier", "silver")) },
			} {
				then()
				w.Advance(15 * time.Minute)
				is(t, w, "alpha", readyTrue, syncedTrue)
			}
			if d := cmp.Diff(before.Status, get(t, w, "alpha").Status); d != "" {
				t.Errorf("status (-before +after):\n%s", d)
			}
			// The conditions do not claim changes that could not be made.
			if got := w.Condition("edited", "Synced"); got == syncedTrue && get(t, w, "edited").Status.ObservedGeneration == 2 {
				t.Errorf("an edit that could not be sent is %s", got)
			}
			w.Sim.RemoveFault(id)
			w.Advance(10 * time.Minute)
			is(t, w, "alpha", readyTrue, syncedTrue)
			is(t, w, "edited", readyTrue, syncedTrue)
			untouched(t, w, s)
			if inAWS(t, w, "edited").Parameters["tier"] != "silver" || get(t, w, "alpha").Status.ReconcileToken != "look" {
				t.Error("after the outage the edit or the token is lost")
			}
		})
	}
}

func TestAnOutageDuringALifeOnlyDelaysIt(t *testing.T) {
	t.Parallel()
	for name, f := range outages() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.NewOffline(t, world.Options{})
			f.Times = -1
			outage := func(during func()) {
				id := fault(t, w, f)
				during()
				calls := w.Calls()
				w.Advance(10 * time.Minute)
				// A service that is down is not hammered.
				if n := world.Sum(world.Since(calls, w.Calls())); n > 300 {
					t.Errorf("%d calls in ten minutes of outage", n)
				}
				w.Sim.RemoveFault(id)
			}
			outage(func() { w.Apply(w.Tenant("alpha", rich)) })
			if got := w.Condition("alpha", "Ready"); got == readyTrue {
				t.Errorf("it is %s while nothing works", got)
			}
			w.Advance(10 * time.Minute)
			is(t, w, "alpha", readyTrue, syncedTrue)
			outage(func() { w.Edit("alpha", params("tier", "silver")) })
			w.Advance(10 * time.Minute)
			is(t, w, "alpha", readyTrue, syncedTrue)
			outage(func() { w.Delete("alpha") })
			if _, found := w.Get("alpha"); !found {
				t.Fatal("the object went while nothing worked")
			}
			w.Advance(10 * time.Minute)
			gone(t, w, "alpha")
		})
	}
}

// A read that fails is not an absence.
func TestReadsThatFailNeverLetGoNorCreate(t *testing.T) {
	t.Parallel()
	for name, e := range map[string]sim.FaultError{
		"denied":                   {Status: http.StatusForbidden, Code: "AccessDenied", Message: "not authorized"},
		"a proxy's page not found": {Status: http.StatusNotFound, Code: "NotFound", Message: "<html>"},
		"unavailable":              {Status: http.StatusServiceUnavailable, Code: "ServiceUnavailable", Message: "later"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.NewOffline(t, world.Options{})
			ready(t, w, "kept", rich)
			ready(t, w, "deleted", rich)
			kept := inAWS(t, w, "kept")
			for _, operation := range []string{"GetDistributionTenant", "ListDistributionTenants", "ListTagsForResource"} {
				refusing(t, w, operation, e.Status, e.Code, e.Message)
			}
			w.Restart()
			w.Delete("deleted")
			calls := w.Calls()
			w.Advance(30 * time.Minute)
			if d := cmp.Diff(map[string]int{}, mutations(world.Since(calls, w.Calls()))); d != "" {
				t.Errorf("changes were tried (-want +got):\n%s", d)
			}
			if _, found := w.Get("deleted"); !found {
				t.Error("the deleted object was released")
			}
			untouched(t, w, kept)
			w.Sim.ClearFaults()
			w.Advance(40 * time.Minute)
			gone(t, w, "deleted")
			is(t, w, "kept", readyTrue, syncedTrue)
			untouched(t, w, kept)
		})
	}
}

func TestDeniedReadsAreSaid(t *testing.T) {
	t.Parallel()
	for _, operation := range []string{"GetDistributionTenant", "ListTagsForResource"} {
		t.Run(operation, func(t *testing.T) {
			t.Parallel()
			w := world.NewOffline(t, world.Options{})
			ready(t, w, "alpha", rich)
			message := "User: arn:aws:iam::111122223333:user/op is not authorized to perform: cloudfront:" + operation
			allow := refusing(t, w, operation, http.StatusForbidden, "AccessDenied", message)
			w.Advance(2 * time.Minute)
			nudge(w, "alpha", "look")
			w.Advance(time.Minute)
			is(t, w, "alpha", "Ready=False/AccessDenied")
			says(t, w, "alpha", "Ready", operation, "not authorized")
			allow()
			w.Advance(40 * time.Minute)
			is(t, w, "alpha", readyTrue, syncedTrue)
		})
	}
}

// A failure that only a user can fix is retried less and less often, and a restart does not change that.
func TestARefusedCreateIsTriedEverMoreRarely(t *testing.T) {
	t.Parallel()
	for _, restarts := range []bool{false, true} {
		t.Run(fmt.Sprintf("restarts %t", restarts), func(t *testing.T) {
			t.Parallel()
			w := world.NewOffline(t, world.Options{})
			refusing(t, w, "CreateDistributionTenant", http.StatusBadRequest, "InvalidArgument", "no")
			w.Apply(w.Tenant("alpha", rich))
			w.Advance(time.Minute)
			is(t, w, "alpha", "Ready=False/InvalidSpec")
			creates := func(d time.Duration) int {
				before := w.Calls()
				for range 6 {
					w.Advance(d / 6)
					if restarts {
						w.Restart()
					}
				}
				return world.Since(before, w.Calls())["CreateDistributionTenant"]
			}
			first := w.Calls()["CreateDistributionTenant"]
			hour := creates(time.Hour)
			rest := creates(5 * time.Hour)
			if first > 5 || hour > 7 || rest > 11 || rest < 5 {
				t.Errorf("%d creates in the first minute, %d in the next hour, %d in the five after it", first, hour, rest)
			}
			t.Logf("creates: %d in the first minute, %d in the next hour, %d in the five after it", first, hour, rest)
			if events := w.Reasons("alpha"); len(events) != 1 {
				t.Errorf("events: %v", events)
			}
		})
	}
}

// A refused update leaves the tenant serving, is reported, and does not stop watching over the rest.
func TestARefusedUpdateLeavesTheTenantServing(t *testing.T) {
	t.Parallel()
	w := world.NewOffline(t, world.Options{})
	ready(t, w, "alpha", rich)
	allow := refusing(t, w, "UpdateDistributionTenant", http.StatusBadRequest, "InvalidArgument", "The web ACL is not to our taste. Request ID: 0b1c")
	w.Edit("alpha", func(o *v1alpha1.DistributionTenant) { params("tier", "silver")(o); tags("team", "api")(o) })
	w.Advance(30 * time.Minute)
	is(t, w, "alpha", "Ready=False/InvalidSpec", "Synced=False/UpdatePending")
	says(t, w, "alpha", "Ready", "not to our taste")
	if message := w.Message("alpha", "Ready"); len(message) == 0 || message != w.Message("alpha", "Ready") {
		t.Error("no message")
	}
	if s := inAWS(t, w, "alpha"); !s.Enabled || s.Parameters["tier"] != "gold" {
		t.Errorf("AWS has %+v", s)
	}
	allow()
	w.Advance(40 * time.Minute)
	is(t, w, "alpha", readyTrue, syncedTrue)
	if s := inAWS(t, w, "alpha"); s.Parameters["tier"] != "silver" || s.Tags["team"] != "api" {
		t.Errorf("AWS has %+v", s)
	}
}

func TestARefusedDeletionIsSaidAndTriedAgain(t *testing.T) {
	t.Parallel()
	for _, operation := range []string{"UpdateDistributionTenant", "DeleteDistributionTenant", "UntagResource"} {
		t.Run(operation, func(t *testing.T) {
			t.Parallel()
			w := world.NewOffline(t, world.Options{})
			change := func(*v1alpha1.DistributionTenant) {}
			if operation == "UntagResource" {
				change = retain
			}
			ready(t, w, "alpha", rich, change)
			allow := refusing(t, w, operation, http.StatusForbidden, "AccessDenied", "not authorized to perform: "+operation)
			w.Delete("alpha")
			w.Advance(10 * time.Minute)
			is(t, w, "alpha", "Ready=False/AccessDenied")
			says(t, w, "alpha", "Ready", operation)
			calls := w.Calls()
			w.Advance(2 * time.Hour)
			if n := world.Since(calls, w.Calls())[operation]; n > 8 {
				t.Errorf("%d tries in two hours", n)
			}
			allow()
			w.Advance(40 * time.Minute)
			if _, found := w.Get("alpha"); found {
				t.Errorf("the object is still there:\n%s", w.Describe("alpha"))
			}
		})
	}
}

// Another write between our read and our write: AWS refuses ours, and we look again.
func TestAWriteThatMeetsAnotherWriterLooksAgain(t *testing.T) {
	t.Parallel()
	w := world.NewOffline(t, world.Options{})
	ready(t, w, "alpha", rich)
	outOfBand(t, w, "alpha", func(in *cloudfront.UpdateDistributionTenantInput) { in.Enabled = awssdk.Bool(false) })
	w.Edit("alpha", params("tier", "silver"))
	w.Advance(settle)
	is(t, w, "alpha", readyTrue, syncedTrue)
	if s := inAWS(t, w, "alpha"); !s.Enabled || s.Parameters["tier"] != "silver" || len(s.Parameters) != 1 {
		t.Errorf("AWS has %+v", s)
	}
	if c := w.Sim.Calls()["UpdateDistributionTenant"]; c.Errors["PreconditionFailed"] != 1 {
		t.Errorf("the stale update was not refused: %v", c.Errors)
	}
}
