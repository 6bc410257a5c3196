package distributiontenant_test

import (
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

func pause(w *world.World, name, value string) { annotate(w, name, v1alpha1.AnnotationPaused, value) }

// setStatus changes a status as an admin or a broken tool would.
func setStatus(t *testing.T, w *world.World, name string, change func(*v1alpha1.DistributionTenantStatus)) {
	t.Helper()
	o := get(t, w, name)
	base := o.DeepCopy()
	change(&o.Status)
	if err := w.Kube.Status().Patch(t.Context(), o, client.MergeFrom(base)); err != nil {
		t.Fatalf("changing the status of %s: %v", name, err)
	}
}

// A user who writes "yes" wants the operator to stop. It does, and says how to write it.
func TestAMisspelledPausePauses(t *testing.T) {
	t.Parallel()
	w := world.New(t, kubeConfig, world.Options{})
	ready(t, w, "alpha")
	pause(w, "alpha", "yes")
	w.Edit("alpha", params("tier", "silver"))
	calls := w.Calls()
	w.Advance(time.Minute)
	is(t, w, "alpha", "Synced=False/Paused", readyTrue)
	says(t, w, "alpha", "Synced", `has the value "yes"`, `Set it to "true"`)
	if d := cmp.Diff(map[string]int{}, mutations(world.Since(calls, w.Calls()))); d != "" {
		t.Errorf("changes while paused (-want +got):\n%s", d)
	}
	pause(w, "alpha", "false")
	w.Advance(settle)
	is(t, w, "alpha", readyTrue, syncedTrue)
}

func TestAPausedObjectIsNotWrittenFor(t *testing.T) {
	t.Parallel()
	w := world.New(t, kubeConfig, world.Options{})
	ready(t, w, "alpha", rich)
	pause(w, "alpha", "true")
	w.Advance(time.Minute)
	is(t, w, "alpha", "Synced=False/Paused", readyTrue)
	calls := w.Calls()

	w.Edit("alpha", params("tier", "silver"))
	w.Advance(aSweep)
	outOfBand(t, w, "alpha", func(in *cloudfront.UpdateDistributionTenantInput) { in.Enabled = awssdk.Bool(false) })
	w.Advance(aSweep)
	w.Restart()
	w.Advance(time.Hour)
	is(t, w, "alpha", "Synced=False/Paused")
	nudge(w, "alpha", "look")
	w.Advance(time.Minute)
	// Nothing but the foreign change itself.
	if d := cmp.Diff(map[string]int{"UpdateDistributionTenant": 1}, mutations(world.Since(calls, w.Calls()))); d != "" {
		t.Errorf("changes while paused (-want +got):\n%s", d)
	}
	pause(w, "alpha", "false")
	w.Advance(settle)
	is(t, w, "alpha", readyTrue, syncedTrue)
	if s := inAWS(t, w, "alpha"); !s.Enabled || s.Parameters["tier"] != "silver" {
		t.Errorf("after the pause AWS has %+v", s)
	}
}

func TestAPausedObjectIsNeitherCreatedNorDeleted(t *testing.T) {
	t.Parallel()
	w := world.New(t, kubeConfig, world.Options{})
	w.Apply(w.Tenant("beta", func(o *v1alpha1.DistributionTenant) {
		o.Annotations = map[string]string{v1alpha1.AnnotationPaused: "true"}
	}))
	w.Advance(aSweep)
	tenants(t, w)
	is(t, w, "beta", "Synced=False/Paused")
	pause(w, "beta", "false")
	w.Advance(settle)
	is(t, w, "beta", readyTrue, syncedTrue)

	pause(w, "beta", "true")
	w.Advance(time.Minute)
	s := inAWS(t, w, "beta")
	w.Delete("beta")
	w.Advance(time.Hour)
	untouched(t, w, s)
	is(t, w, "beta", "Synced=False/Paused", "Ready=False/Deleting")
	says(t, w, "beta", "Ready", "paused")
	pause(w, "beta", "false")
	w.Advance(settle)
	gone(t, w, "beta")
}

func TestReconcileNowLooksAtOnceAndSaysSo(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]func(w *world.World){
		"in a quiet time":     func(*world.World) {},
		"right after a start": func(w *world.World) { w.Restart() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t, kubeConfig, world.Options{})
			ready(t, w, "alpha", rich)
			outOfBand(t, w, "alpha", func(in *cloudfront.UpdateDistributionTenantInput) { in.Enabled = awssdk.Bool(false) })
			before(w)
			nudge(w, "alpha", "2026-01-01")
			w.Advance(time.Second)
			if o := get(t, w, "alpha"); o.Status.ReconcileToken != "2026-01-01" || !inAWS(t, w, "alpha").Enabled {
				t.Errorf("the token is %q and the tenant enabled %t", o.Status.ReconcileToken, inAWS(t, w, "alpha").Enabled)
			}
			calls := w.Calls()
			w.Advance(settle)
			nudge(w, "alpha", "2026-01-01")
			w.Advance(time.Second)
			if n := world.Since(calls, w.Calls())["ListTagsForResource"]; n != 0 {
				t.Errorf("the same token was handled again, with %d reads of tags", n)
			}
		})
	}
}

// Status is a report and a hint. Losing it, as in a restore, loses nothing.
func TestAStatusThatWasWipedComesBack(t *testing.T) {
	t.Parallel()
	for name, then := range map[string]func(w *world.World){
		"and nothing else happens":  func(*world.World) {},
		"while the operator starts": func(w *world.World) { w.Restart() },
		"and the spec changes":      func(w *world.World) { w.Edit("alpha", rich) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t, kubeConfig, world.Options{Expiry: true})
			before := ready(t, w, "alpha", rich)
			s := inAWS(t, w, "alpha")
			setStatus(t, w, "alpha", func(o *v1alpha1.DistributionTenantStatus) { *o = v1alpha1.DistributionTenantStatus{} })
			then(w)
			w.Advance(15 * time.Minute)
			is(t, w, "alpha", readyTrue, syncedTrue)
			untouched(t, w, s)
			ignored := cmpopts.IgnoreFields(v1alpha1.DistributionTenantStatus{}, "LastDriftCheckTime", "Conditions")
			since := cmpopts.IgnoreFields(v1alpha1.DomainStatus{}, "Since")
			if d := cmp.Diff(before.Status, get(t, w, "alpha").Status, ignored, since); d != "" {
				t.Errorf("status (-before +after):\n%s", d)
			}
		})
	}
	t.Run("and the object is deleted before anybody looks", func(t *testing.T) {
		t.Parallel()
		w := world.New(t, kubeConfig, world.Options{})
		ready(t, w, "alpha", rich)
		setStatus(t, w, "alpha", func(o *v1alpha1.DistributionTenantStatus) { *o = v1alpha1.DistributionTenantStatus{} })
		w.Delete("alpha")
		w.Restart()
		w.Advance(settle)
		gone(t, w, "alpha")
		tenants(t, w)
	})
}

func TestAStatusThatPointsAtAForeignTenantHarmsNothing(t *testing.T) {
	t.Parallel()
	for name, then := range map[string]func(w *world.World){
		"and nothing else happens":                    func(*world.World) {},
		"while the operator starts":                   func(w *world.World) { w.Restart() },
		"and the spec changes":                        func(w *world.World) { w.Edit("alpha", params("tier", "silver", "origin", "shop")) },
		"and the object is deleted":                   func(w *world.World) { w.Delete("alpha") },
		"and it is deleted while the operator starts": func(w *world.World) { w.Restart(); w.Delete("alpha") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t, kubeConfig, world.Options{})
			s := foreign(t, w, "victim", furnished)
			ready(t, w, "alpha", rich)
			setStatus(t, w, "alpha", func(o *v1alpha1.DistributionTenantStatus) {
				o.ID, o.ARN, o.ETag, o.TenantName = s.ID, s.ARN, s.ETag, s.Name
			})
			then(w)
			w.Advance(15 * time.Minute)
			untouched(t, w, s)
			o, found := w.Get("alpha")
			if !found {
				gone(t, w, "alpha")
				return
			}
			is(t, w, "alpha", readyTrue, syncedTrue)
			if own := inAWS(t, w, "alpha"); o.Status.ID != own.ID || o.Status.ETag != own.ETag || o.Status.TenantName != "alpha" {
				t.Errorf("status has %s %s %s, AWS %s %s", o.Status.ID, o.Status.ETag, o.Status.TenantName, own.ID, own.ETag)
			}
		})
	}
	t.Run("of the object's own name", func(t *testing.T) {
		t.Parallel()
		w := world.New(t, kubeConfig, world.Options{})
		s := foreign(t, w, "alpha", furnished)
		w.Apply(w.Tenant("alpha", rich))
		w.Advance(settle)
		setStatus(t, w, "alpha", func(o *v1alpha1.DistributionTenantStatus) {
			o.ID, o.ARN, o.ETag, o.ObservedGeneration = s.ID, s.ARN, s.ETag, 1
		})
		w.Restart()
		w.Advance(aSweep)
		w.Edit("alpha", params("tier", "silver"))
		w.Advance(aSweep)
		untouched(t, w, s)
		is(t, w, "alpha", "Ready=False/AdoptionRequired")
		w.Delete("alpha")
		w.Advance(aSweep)
		untouched(t, w, s)
	})
}

func TestAFinalizerThatWasRemovedByHandComesBack(t *testing.T) {
	t.Parallel()
	w := world.New(t, kubeConfig, world.Options{})
	ready(t, w, "alpha", rich)
	w.Edit("alpha", func(o *v1alpha1.DistributionTenant) { o.Finalizers = nil })
	w.Advance(time.Second)
	if o := get(t, w, "alpha"); len(o.Finalizers) != 1 {
		t.Errorf("finalizers: %v", o.Finalizers)
	}
	w.Delete("alpha")
	w.Advance(settle)
	gone(t, w, "alpha")
}

// The create mark is what tells a create that is still on its way from one that never was.
func TestAnObjectDeletedRightAfterItsCreationLeaksNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tamper edit
		soon   time.Duration
	}{
		"with the mark as it was":       {tamper: nil},
		"with an unreadable mark":       {tamper: mark("soon")},
		"with a mark from the far past": {tamper: mark("1999-01-01T00:00:00Z")},
		"with a mark from the future":   {tamper: mark("2199-01-01T00:00:00Z")},
		"an hour later":                 {tamper: mark("2199-01-01T00:00:00Z"), soon: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			switches := sim.DefaultSwitches()
			switches.GetLag = 90 * time.Second
			w := world.New(t, kubeConfig, world.Options{Switches: &switches})
			w.Clock.Step(time.Hour) // what the seed has is not new
			fault(t, w, sim.Fault{Operation: "CreateDistributionTenant", Kind: sim.AfterCommit, Effect: sim.EffectReset})
			w.Apply(w.Tenant("alpha"))
			w.Advance(c.soon + time.Second)
			if c.tamper != nil {
				w.Edit("alpha", c.tamper)
			}
			w.Delete("alpha")
			w.Advance(15 * time.Minute)
			gone(t, w, "alpha")
			tenants(t, w)
		})
	}
}

func mark(value string) edit {
	return func(o *v1alpha1.DistributionTenant) {
		o.Annotations = map[string]string{v1alpha1.AnnotationCreatePending: value}
	}
}
