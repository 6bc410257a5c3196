package distributiontenant_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// lost are the ways in which an answer does not arrive.
func lost(kind sim.FaultKind) map[string]sim.Fault {
	internal := &sim.FaultError{Status: http.StatusInternalServerError, Code: "InternalError", Message: "try again"}
	unavailable := &sim.FaultError{Status: http.StatusServiceUnavailable, Code: "ServiceUnavailable", Message: "try again"}
	return map[string]sim.Fault{
		"no answer until the client gives up": {Kind: kind, Effect: sim.EffectHang},
		"a reset":                             {Kind: kind, Effect: sim.EffectReset},
		"a truncated body":                    {Kind: kind, Effect: sim.EffectTruncate},
		"status 500":                          {Kind: kind, Effect: sim.EffectError, Error: internal},
		"status 503":                          {Kind: kind, Effect: sim.EffectError, Error: unavailable},
	}
}

// impatient ends a call that hangs, as the client's own timeout would. It returns when to
// stop.
func impatient(w *world.World, operation string) (stop func()) {
	done := make(chan struct{})
	go func() {
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				if w.Calls()[operation] > 0 {
					w.Sim.ClearFaults()
				}
			}
		}
	}()
	return func() { close(done) }
}

// A create whose answer is lost must neither be made twice nor be forgotten: other
// operators create again, are told of a conflict with themselves, and leave an orphan.
func TestACreateWhoseAnswerIsLostHappensOnce(t *testing.T) {
	t.Parallel()
	plain := plainCreate(t)
	for name, f := range lost(sim.AfterCommit) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.NewOffline(t, world.Options{})
			f.Operation = "CreateDistributionTenant"
			fault(t, w, f)
			if f.Effect == sim.EffectHang {
				defer impatient(w, f.Operation)()
			}
			w.Apply(w.Tenant("alpha", rich))
			w.Advance(settle)
			is(t, w, "alpha", readyTrue, syncedTrue)
			tenants(t, w, "alpha")
			got := w.Calls()
			if got["CreateDistributionTenant"] != 1 {
				t.Errorf("%d creates", got["CreateDistributionTenant"])
			}
			extra := world.Sum(got) - world.Sum(plain)
			if extra > 2 {
				t.Errorf("%d extra calls, more than two: %v", extra, world.Since(plain, got))
			}
			s := inAWS(t, w, "alpha")
			if o := get(t, w, "alpha"); o.Status.ID != s.ID {
				t.Errorf("status has %s, AWS %s", o.Status.ID, s.ID)
			}
			w.Delete("alpha")
			w.Advance(settle)
			gone(t, w, "alpha")
		})
	}
}

// plainCreate counts the calls of a create that nothing disturbs.
func plainCreate(t *testing.T) map[string]int {
	t.Helper()
	w := world.NewOffline(t, world.Options{})
	ready(t, w, "alpha", rich)
	return w.Calls()
}

func TestACreateThatFailedIsTriedAgain(t *testing.T) {
	t.Parallel()
	for name, f := range lost(sim.BeforeCommit) {
		if f.Effect == sim.EffectTruncate {
			continue // an error answer cut short reads as a reset
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.NewOffline(t, world.Options{})
			f.Operation = "CreateDistributionTenant"
			fault(t, w, f)
			if f.Effect == sim.EffectHang {
				defer impatient(w, f.Operation)()
			}
			ready(t, w, "alpha", rich)
			tenants(t, w, "alpha")
			if n := w.Calls()["CreateDistributionTenant"]; n != 2 {
				t.Errorf("%d creates", n)
			}
		})
	}
}

func TestACreateWhoseAnswerIsLostWhileReadsLagHappensOnce(t *testing.T) {
	t.Parallel()
	for name, lag := range map[string]time.Duration{
		"the next read shows it": time.Second, "the second try is refused": 20 * time.Second, "it shows after a minute": time.Minute,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			switches := sim.DefaultSwitches()
			switches.GetLag = lag
			w := world.NewOffline(t, world.Options{Switches: &switches})
			w.Clock.Step(time.Hour) // what the seed has is not new
			fault(t, w, sim.Fault{Operation: "CreateDistributionTenant", Kind: sim.AfterCommit, Effect: sim.EffectReset})
			w.Apply(w.Tenant("alpha", rich))
			w.Advance(15 * time.Minute)
			is(t, w, "alpha", readyTrue, syncedTrue)
			tenants(t, w, "alpha")
			if n := w.Sim.Calls()["CreateDistributionTenant"].Committed; n != 1 {
				t.Errorf("%d creates were carried out", n)
			}
			if d := cmp.Diff([]string{"Created"}, w.Reasons("alpha")); d != "" {
				t.Errorf("events (-want +got):\n%s", d)
			}
		})
	}
}

// A request that was given up can still be carried out later: after the operator has
// looked, found nothing and sent another one.
func TestACreateThatIsCarriedOutLateIsOurs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		delay  time.Duration
		delete bool
	}{
		"before anybody has looked":                 {delay: 0},
		"after the operator has looked":             {delay: 3 * time.Second},
		"while the object is being deleted already": {delay: 30 * time.Second, delete: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.NewOffline(t, world.Options{})
			// Nothing of ours gets through until the late one has.
			blocked := fault(t, w, sim.Fault{Operation: "CreateDistributionTenant", Times: -1, Effect: sim.EffectReset})
			o := w.Apply(w.Tenant("alpha"))
			w.Advance(c.delay)
			if c.delete {
				w.Delete("alpha")
				w.Advance(5 * time.Second)
			}
			w.Sim.RemoveFault(blocked)
			late(t, w, "alpha", w.Owner(o).Tags())
			w.Advance(5 * time.Minute)
			if c.delete {
				gone(t, w, "alpha")
				return
			}
			is(t, w, "alpha", readyTrue, syncedTrue)
			tenants(t, w, "alpha")
			if n := w.Sim.Calls()["CreateDistributionTenant"].Committed; n != 1 {
				t.Errorf("%d creates were carried out", n)
			}
		})
	}
}

// late carries out what the operator had sent.
func late(t *testing.T, w *world.World, name string, tags map[string]string) {
	t.Helper()
	now := w.Clock.Now()
	foreign(t, w, name, tagged(tags))
	w.Clock.SetTime(now)
}

// Every other write can lose its answer too.
func TestAWriteWhoseAnswerIsLostEndsRight(t *testing.T) {
	t.Parallel()
	for _, operation := range []string{"UpdateDistributionTenant", "TagResource", "UntagResource", "DeleteDistributionTenant"} {
		for name, f := range lost(sim.AfterCommit) {
			if f.Effect == sim.EffectHang {
				continue // it ends as a reset does
			}
			t.Run(operation+" with "+name, func(t *testing.T) {
				t.Parallel()
				w := world.NewOffline(t, world.Options{})
				bystander := foreign(t, w, "bystander")
				ready(t, w, "alpha", rich)
				f.Operation = operation
				fault(t, w, f)
				w.Edit("alpha", func(o *v1alpha1.DistributionTenant) {
					params("tier", "silver")(o)
					tags("team", "api", "stage", "live")(o)
				})
				w.Advance(settle)
				is(t, w, "alpha", readyTrue, syncedTrue)
				s := inAWS(t, w, "alpha")
				if d := cmp.Diff(map[string]string{"tier": "silver"}, s.Parameters); d != "" {
					t.Errorf("parameters:\n%s", d)
				}
				wanted := w.Owner(get(t, w, "alpha")).Tags()
				wanted["team"], wanted["stage"] = "api", "live"
				if d := cmp.Diff(wanted, s.Tags); d != "" {
					t.Errorf("tags:\n%s", d)
				}
				w.Delete("alpha")
				w.Advance(settle)
				gone(t, w, "alpha")
				untouched(t, w, bystander)
				if left := len(w.Sim.Faults()); left != 0 {
					t.Errorf("%d faults have not struck", left)
				}
			})
		}
	}
}

// A new tag is the operator's to remove from when it is sent, whether or not the answer comes.
func TestATagWhoseAnswerIsLostIsRemovedWhenItIsDropped(t *testing.T) {
	t.Parallel()
	for restart, restarts := range map[string]bool{"": false, "the operator restarts": true} {
		t.Run(restart, func(t *testing.T) {
			t.Parallel()
			w := world.NewOffline(t, world.Options{})
			ready(t, w, "alpha", tags("team", "web"))
			fault(t, w, sim.Fault{Operation: "TagResource", Kind: sim.AfterCommit, Effect: sim.EffectReset})
			w.Edit("alpha", tags("team", "web", "stage", "test"))
			w.Advance(100 * time.Millisecond)
			if s := inAWS(t, w, "alpha"); s.Tags["stage"] != "test" || len(w.Sim.Faults()) > 0 {
				t.Fatalf("the tag was not sent: %v", s.Tags)
			}
			if restarts {
				w.Restart()
			}
			w.Edit("alpha", tags("team", "web"))
			w.Advance(settle)
			is(t, w, "alpha", readyTrue, syncedTrue)
			wanted := w.Owner(get(t, w, "alpha")).Tags()
			wanted["team"] = "web"
			if d := cmp.Diff(wanted, inAWS(t, w, "alpha").Tags); d != "" {
				t.Errorf("tags (-want +got):\n%s", d)
			}
			if d := cmp.Diff([]string{"team"}, get(t, w, "alpha").Status.AppliedTagKeys); d != "" {
				t.Errorf("applied tag keys (-want +got):\n%s", d)
			}
		})
	}
}
