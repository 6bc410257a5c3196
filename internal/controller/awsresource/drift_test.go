package awsresource_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// drifted is one kind of out-of-band change to a resource, and what is listed of it.
type drifted struct {
	change func(*thing)
	fields []string
	// ready is what Ready says while the drift stands.
	ready string
}

func (k kind) drifts() map[string]drifted {
	return map[string]drifted{
		"the configuration is changed": {marking, []string{k.field}, readyTrue},
		"it is disabled":               {disable, []string{"enabled"}, "Ready=False/AWSError"},
		"both": {
			func(r *thing) { r.Marked, r.Enabled = true, false },
			slices.Sorted(slices.Values([]string{k.field, "enabled"})), "Ready=False/AWSError",
		},
	}
}

func TestDriftIsCorrectedUnderEnforce(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		for name, d := range k.drifts() {
			for how, wait := range map[string]func(t *testing.T, a *audit){
				"by the schedule": func(_ *testing.T, a *audit) { a.w.Advance(aLook) },
				"when told": func(t *testing.T, a *audit) {
					t.Helper()
					nudge(t, a.w, a.o, "now")
					a.w.Advance(2 * time.Minute)
				},
			} {
				t.Run(name+", "+how, func(t *testing.T) {
					t.Parallel()
					a := audited(t, k, world.Options{})
					w := a.w
					before := a.create(t)
					k.change(t, w, before.ID, d.change)
					wait(t, a)
					is(t, w, a.o, readyTrue, syncedTrue)
					after := k.only(t, w)
					after.ETag = before.ETag
					if d := cmp.Diff(before, after); d != "" {
						t.Errorf("the resource (-before +after):\n%s", d)
					}
					if n := w.Calls()[k.update]; n != 2 {
						t.Errorf("%d updates, the person's included", n)
					}
					once(t, w, a.o, "DriftCorrected")
					if w.Drift != 1 {
						t.Errorf("drift was counted %d times", w.Drift)
					}
				})
			}
		}
	})
}

func TestDriftIsReportedAndLeftUnderReport(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		for name, d := range k.drifts() {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				a := audited(t, k, world.Options{}, drift(v1alpha1.DriftPolicyReport))
				w := a.w
				id := a.create(t).ID
				k.change(t, w, id, d.change)
				w.Advance(aLook)
				r, s := k.only(t, w), status(t, w, a.o)
				is(t, w, a.o, d.ready, "Synced=False/DriftDetected")
				if fields := driftFields(t, w, a.o); !slices.Equal(fields, d.fields) || !s.DriftDetected {
					t.Errorf("drift %v, want %v, detected %t", fields, d.fields, s.DriftDetected)
				}
				kube := w.KubeWrites()
				w.Advance(time.Hour)
				k.untouched(t, w, r)
				if n := w.KubeWrites() - kube; n > 0 {
					t.Errorf("%d writes to Kubernetes", n)
				}
				once(t, w, a.o, "DriftDetected")
				editPolicies(t, w, a.o, drift(v1alpha1.DriftPolicyEnforce))
				w.Advance(settle)
				is(t, w, a.o, readyTrue, syncedTrue)
				if r := k.only(t, w); r.Marked || !r.Enabled || len(driftFields(t, w, a.o)) > 0 {
					t.Errorf("AWS has %+v", r)
				}
			})
		}
	})
}

func TestDriftIsIgnoredUnderSuspend(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		a := audited(t, k, world.Options{}, drift(v1alpha1.DriftPolicySuspend), tags("team", "web"))
		w := a.w
		r := a.create(t)
		k.change(t, w, r.ID, marking)
		tag(t, w, r.ARN, map[string]string{"team": "thieves"})
		w.Advance(aLook)
		r = k.only(t, w)
		is(t, w, a.o, readyTrue, syncedTrue)
		says(t, w, a.o, "Synced", "suspend")
		w.Advance(time.Hour)
		k.untouched(t, w, r)
		if fields := driftFields(t, w, a.o); len(fields) > 0 {
			t.Errorf("drift %v", fields)
		}
		// A change of the spec is applied all the same, whole.
		edit(t, w, a.o, func(o client.Object) { k.setEnabled(o, false) })
		w.Advance(settle)
		is(t, w, a.o, disabledAsAsked, syncedTrue)
		if r := k.only(t, w); r.Enabled || r.Marked {
			t.Errorf("AWS has %+v", r)
		}
	})
}

func TestTagsThatDriftAreSetBack(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		for name, c := range map[string]struct {
			set    map[string]string
			remove []string
			// stay are those of the changes that are not ours to undo.
			stay map[string]string
		}{
			"a user's tag changed":              {set: map[string]string{"team": "thieves"}},
			"a user's tag removed":              {remove: []string{"cost"}},
			"a foreign tag stays":               {set: map[string]string{"backup": "daily", "team": "thieves"}, stay: map[string]string{"backup": "daily"}},
			"the owner tag of the name removed": {remove: []string{ownership.NameKey}},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				a := audited(t, k, world.Options{}, tags("team", "web", "cost", "42"))
				w := a.w
				before := a.create(t)
				if len(c.set) > 0 {
					tag(t, w, before.ARN, c.set)
				}
				if len(c.remove) > 0 {
					untag(t, w, before.ARN, c.remove...)
				}
				nudge(t, w, a.o, "now")
				w.Advance(time.Minute)
				is(t, w, a.o, readyTrue, syncedTrue)
				maps.Copy(before.Tags, c.stay)
				k.untouched(t, w, before)
				once(t, w, a.o, "DriftCorrected")
			})
		}
	})
}

// Nothing but the tags themselves tells that they were changed: they are looked at once a day.
func TestTagsAreLookedAtEveryDay(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		for policy, value := range map[v1alpha1.DriftPolicy]string{v1alpha1.DriftPolicyEnforce: "web", v1alpha1.DriftPolicyReport: "thieves"} {
			t.Run(string(policy), func(t *testing.T) {
				t.Parallel()
				a := audited(t, k, world.Options{}, tags("team", "web"), drift(policy))
				w := a.w
				r := a.create(t)
				tag(t, w, r.ARN, map[string]string{"team": "thieves"})
				// The night is played in one leap.
				w.Advance(time.Minute)
				w.Clock.Step(25 * time.Hour)
				w.Advance(10 * time.Minute)
				if got := k.only(t, w).Tags["team"]; got != value {
					t.Errorf("the tag is %s, want %s", got, value)
				}
				if policy == v1alpha1.DriftPolicyReport {
					is(t, w, a.o, readyTrue, "Synced=False/DriftDetected")
					want := []v1alpha1.DriftedField{{Field: "tags[team]", Desired: "web", Observed: "thieves"}}
					if d := cmp.Diff(want, status(t, w, a.o).Drift); d != "" {
						t.Errorf("drift (-want +got):\n%s", d)
					}
					return
				}
				is(t, w, a.o, readyTrue, syncedTrue)
			})
		}
	})
}

// Without its owner tags a resource is not provably ours any more.
func TestAResourceThatLostItsOwnerTagsIsLeftAlone(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		a := audited(t, k, world.Options{})
		w := a.w
		r := a.create(t)
		w.Advance(2 * resource.ProofAge)
		untag(t, w, r.ARN, ownership.Keys()...)
		k.change(t, w, r.ID, marking)
		w.Clock.Step(2 * world.DeployDelay)
		r = k.only(t, w)
		w.Advance(aLook)
		is(t, w, a.o, "Ready=False/AdoptionRequired")
		k.untouched(t, w, r)
		editPolicies(t, w, a.o, adoption(v1alpha1.AdoptionPolicyIfUnowned))
		w.Advance(settle)
		if got := k.only(t, w).Tags[ownership.UIDKey]; got != string(a.o.GetUID()) {
			t.Errorf("AWS has %+v", k.only(t, w))
		}
	})
}

// Someone else, or AWS itself, changes back what we correct: that is reported, and retried less and less often.
func TestDriftThatComesBackIsSaid(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		a := audited(t, k, world.Options{})
		w := a.w
		r := a.create(t)
		fight := func(d time.Duration) (corrections int) {
			before, mine := w.Sim.Calls()[k.update].OK, 0
			for range int(d / (2 * time.Minute)) {
				if !k.only(t, w).Marked {
					k.change(t, w, r.ID, marking)
					mine++
				}
				w.Advance(2 * time.Minute)
			}
			return w.Sim.Calls()[k.update].OK - before - mine
		}
		first := fight(time.Hour)
		is(t, w, a.o, "Synced=False/DriftNotConverging", readyTrue)
		says(t, w, a.o, "Synced", k.field, "3 corrections")
		later := fight(4 * time.Hour)
		if first < resource.MaxCorrections || first > 8 || later < 4 || later > 14 {
			t.Errorf("%d corrections in the first hour, %d in the next four", first, later)
		}
		w.Advance(2 * time.Hour)
		is(t, w, a.o, readyTrue, syncedTrue)
		if k.only(t, w).Marked {
			t.Error("the last word is not ours")
		}
	})
}

// While it is paused, nothing is written and everything is looked at.
func TestNothingIsWrittenWhilePaused(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		a := audited(t, k, world.Options{}, tags("team", "web"))
		w := a.w
		r := a.create(t)
		pause(t, w, a.o, "true")
		k.change(t, w, r.ID, marking)
		w.Advance(aLook)
		r, calls := k.only(t, w), w.Calls()
		is(t, w, a.o, readyTrue, "Synced=False/Paused")
		if d := cmp.Diff([]string{k.field}, driftFields(t, w, a.o)); d != "" {
			t.Errorf("drift (-want +got):\n%s", d)
		}
		edit(t, w, a.o, func(o client.Object) { k.setEnabled(o, false) })
		editPolicies(t, w, a.o, tags("team", "api"))
		nudge(t, w, a.o, "now")
		w.Advance(30 * time.Minute)
		k.untouched(t, w, r)
		if spent := k.mutations(world.Since(calls, w.Calls())); len(spent) > 0 {
			t.Errorf("changes were tried: %v", spent)
		}
		if s := status(t, w, a.o); s.ReconcileToken != "now" || s.ObservedGeneration == a.o.GetGeneration() {
			t.Errorf("status: %+v", s)
		}
		// Also not when it is gone.
		k.destroy(t, w, r.ID)
		w.Advance(30 * time.Minute)
		k.none(t, w)
		pause(t, w, a.o, "false")
		w.Advance(settle)
		is(t, w, a.o, disabledAsAsked, syncedTrue)
		if r := k.only(t, w); r.Enabled || r.Tags["team"] != "api" {
			t.Errorf("AWS has %+v", r)
		}
	})
}

// The answer of any write can be lost.
func TestAnEditWhoseAnswerIsLostEndsRight(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		for _, operation := range []string{k.update, "TagResource", "UntagResource"} {
			for how, f := range failures() {
				if f.Effect != sim.EffectReset {
					continue // it ends as a reset does
				}
				t.Run(operation+" "+how, func(t *testing.T) {
					t.Parallel()
					a := audited(t, k, world.Options{}, tags("team", "web", "cost", "42"))
					w := a.w
					a.create(t)
					f.Operation = operation
					fault(t, w, f)
					edit(t, w, a.o, func(o client.Object) { k.setMark(o, true) })
					editPolicies(t, w, a.o, tags("team", "api", "stage", "live"))
					w.Advance(settle)
					is(t, w, a.o, readyTrue, syncedTrue)
					wanted := owner(a.o).Tags()
					wanted["team"], wanted["stage"] = "api", "live"
					r := k.only(t, w)
					if d := cmp.Diff(wanted, r.Tags); d != "" || !r.Marked {
						t.Errorf("marked %t, tags (-want +got):\n%s", r.Marked, d)
					}
					// A lost update is sent once more at most; tags are read before they are written again.
					most := map[string]int{"TagResource": 1, "UntagResource": 1, k.update: 2}[operation]
					if n := w.Sim.Calls()[operation].Committed; n > most {
						t.Errorf("it was carried out %d times", n)
					}
					if left := w.Sim.Faults(); len(left) > 0 {
						t.Errorf("the fault has not struck: %+v", left)
					}
				})
			}
		}
	})
}

// An Anycast list is taken away with an empty ID, which AWS takes or names.
func TestAnAnycastListIsTakenAway(t *testing.T) {
	t.Parallel()
	k := groups()
	for name, c := range map[string]struct {
		allowed sim.Doubts
		left    string
		ready   string
	}{
		"AWS takes an empty ID":    {sim.AllAllowed(), "", readyTrue},
		"AWS refuses an empty one": {sim.Doubts{}, "aip_1", "Ready=False/InvalidSpec"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.NewOffline(t, world.Options{})
			w.Sim.ChangeSwitches(func(s *sim.Switches) { s.Allowed = c.allowed })
			o := w.ConnectionGroup("shop", func(o *v1alpha1.ConnectionGroup) { o.Spec.AnycastIPListID = "aip_1" })
			quickly(w, func() {
				apply(t, w, o)
				w.Advance(time.Second)
			})
			edit(t, w, o, func(o client.Object) { o.(*v1alpha1.ConnectionGroup).Spec.AnycastIPListID = "" })
			w.Advance(10 * time.Minute)
			is(t, w, o, c.ready)
			if g, _ := w.Sim.ConnectionGroup("", k.only(t, w).ID); g.AnycastIPListID != c.left {
				t.Errorf("AWS has the list %q, want %q", g.AnycastIPListID, c.left)
			}
		})
	}
}

// AWS takes an update and does not keep all of it, while tags changed with it: neither may keep the other from coming to
// an end.
func TestAnEditThatAWSDoesNotKeepIsNotSentForEver(t *testing.T) {
	t.Parallel()
	k := groups()
	w := world.NewOffline(t, world.Options{})
	o := w.ConnectionGroup("shop", func(o *v1alpha1.ConnectionGroup) { o.Spec.AnycastIPListID = "aip_1" })
	quickly(w, func() {
		apply(t, w, o)
		w.Advance(time.Second)
	})
	w.Sim.ChangeSwitches(func(s *sim.Switches) { s.EmptyBlocksClear, s.Allowed.EmptyAnycastIPList = false, true })
	allow := refusing(t, w, "TagResource", denied("TagResource"))
	before := w.Calls()
	edit(t, w, o, func(o client.Object) {
		g := o.(*v1alpha1.ConnectionGroup)
		g.Spec.AnycastIPListID = ""
		tags("team", "web")(&g.Spec.ResourcePolicies)
	})
	w.Advance(30 * time.Minute)
	is(t, w, o, "Ready=False/AccessDenied", "Synced=False/UpdatePending")
	if n := world.Since(before, w.Calls())[k.update]; n != 1 {
		t.Errorf("%d updates while the tags are refused", n)
	}
	allow()
	w.Advance(2 * time.Hour)
	is(t, w, o, "Synced=False/DriftNotConverging")
	says(t, w, o, "Synced", "anycastIpListId")
	if r := k.only(t, w); r.Tags["team"] != "web" {
		t.Errorf("AWS has the tags %v", r.Tags)
	}
	if n := world.Since(before, w.Calls())[k.update]; n < resource.MaxCorrections || n > 20 {
		t.Errorf("%d updates in two hours and a half", n)
	}
}

// A tag that was set for a spec that changed again before the former tags were removed is removed like these.
func TestATagOfASpecInBetweenIsNotLeft(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		w := world.NewOffline(t, world.Options{})
		o := k.ready(t, w, "shop", tags("first", "1"))
		allow := refusing(t, w, "UntagResource", denied("UntagResource"))
		editPolicies(t, w, o, tags("second", "2"))
		w.Advance(time.Minute)
		editPolicies(t, w, o, tags("third", "3"))
		w.Advance(time.Minute)
		allow()
		w.Advance(time.Hour)
		is(t, w, o, readyTrue, syncedTrue)
		wanted := owner(o).Tags()
		wanted["third"] = "3"
		if d := cmp.Diff(wanted, k.only(t, w).Tags); d != "" {
			t.Errorf("tags (-want +got):\n%s", d)
		}
	})
}
