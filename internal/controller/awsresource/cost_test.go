package awsresource_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// Nothing happens while nothing happens: each object is read at the interval of drift detection, and no object is
// written.
func TestAQuietHourCostsOneReadPerLook(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		w := world.New(t, kubeConfig, world.Options{})
		objects := map[string]client.Object{
			"ready":    k.ready(t, w, "ready", tags("team", "web")),
			"reported": k.ready(t, w, "reported", drift(v1alpha1.DriftPolicyReport)),
			"paused":   k.ready(t, w, "paused"),
		}
		k.change(t, w, status(t, w, objects["reported"]).ID, marking)
		pause(t, w, objects["paused"], "true")
		disabled := k.object(w, "disabled")
		k.setEnabled(disabled, false)
		objects["disabled"] = apply(t, w, disabled)
		w.Advance(30 * time.Minute)
		before := map[string]v1alpha1.ResourceStatus{}
		for name, o := range objects {
			before[name] = status(t, w, o)
		}
		calls, writes, events := w.Calls(), w.Writes(), len(w.Events)
		w.Advance(time.Hour)
		for name, o := range objects {
			if d := cmp.Diff(before[name], status(t, w, o)); d != "" {
				t.Errorf("the status of %s moved (-before +after):\n%s", name, d)
			}
		}
		spent := world.Since(calls, w.Calls())
		delete(spent, "ListDistributionTenants") // the inventory's
		if d := cmp.Diff(map[string]int{k.read: 12 * len(objects)}, spent); d != "" {
			t.Errorf("calls (-want +got):\n%s", d)
		}
		if w.Writes() != writes || len(w.Events) != events {
			t.Errorf("%d writes, %d events", w.Writes()-writes, len(w.Events)-events)
		}
		calls = w.Calls()
		w.Restart()
		w.Advance(time.Minute)
		spent = world.Since(calls, w.Calls())
		delete(spent, "ListDistributionTenants")
		if n := world.Sum(spent); w.Writes() != writes || n > 2*len(objects)+1 {
			t.Errorf("a restart: %d writes, calls %v", w.Writes()-writes, spent)
		}
	})
}

func TestWhatALifeCosts(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		a := auditedServed(t, k, world.Options{}, tags("team", "web"))
		w := a.w
		w.Advance(time.Second) // the inventory begins
		calls, kube := w.Calls(), w.KubeWrites()
		check := func(what string, want map[string]int, reads, writes int) {
			t.Helper()
			spent := world.Since(calls, w.Calls())
			if d := cmp.Diff(want, k.mutations(spent)); d != "" {
				t.Errorf("%s: changes in AWS (-want +got):\n%s", what, d)
			}
			if n := world.Sum(spent) - world.Sum(want); n > reads {
				t.Errorf("%s: %d reads, more than %d: %v", what, n, reads, spent)
			}
			if n := w.KubeWrites() - kube; n != writes {
				t.Errorf("%s: %d writes to Kubernetes, want %d", what, n, writes)
			}
			t.Logf("%s: %v, writes to Kubernetes: %d", what, spent, w.KubeWrites()-kube)
			calls, kube = w.Calls(), w.KubeWrites()
		}
		apply(t, w, a.o)
		w.Advance(2 * time.Minute)
		check("a create", map[string]int{k.create: 1}, 12, 3)
		edit(t, w, a.o, func(o client.Object) { k.setMark(o, true) })
		w.Advance(2 * time.Minute)
		check("an edit", map[string]int{k.update: 1}, 14, 2)
		editPolicies(t, w, a.o, tags("team", "api"))
		w.Advance(time.Minute)
		check("a tag", map[string]int{"TagResource": 1}, 4, 1)
		editPolicies(t, w, a.o, drift(v1alpha1.DriftPolicyEnforce))
		w.Advance(time.Minute)
		check("an edit of nothing that AWS has", map[string]int{}, 4, 1)
		remove(t, w, a.o)
		w.Advance(2 * time.Minute)
		k.gone(t, w, a.o)
		check("a deletion", map[string]int{k.update: 1, k.delete: 1}, 18, 2)
	})
}

// What is unknown about AWS, one thing the other way round each, and how its reads may lag.
func TestTheWholeLifeInEveryKindOfAWS(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		for name, change := range map[string]func(*sim.Switches){
			"deletes need no deployment":     func(s *sim.Switches) { s.DeleteNeedsDeployed = false },
			"what is doubtful is taken":      func(s *sim.Switches) { s.Allowed = sim.AllAllowed() },
			"updates replace":                func(s *sim.Switches) { s.UpdateReplaces = true },
			"deploying moves the ETag":       func(s *sim.Switches) { s.DeployMovesETag = true },
			"tagging moves the ETag":         func(s *sim.Switches) { s.TagMovesETag = true },
			"new ones are disabled":          func(s *sim.Switches) { s.EnabledByDefault = false },
			"sets come in another order":     func(s *sim.Switches) { s.SetsReordered, s.UnsupportedEchoed, s.TenantOnlyUnnamed = true, true, true },
			"lists lag":                      func(s *sim.Switches) { s.ListLag = 10 * time.Minute },
			"new ones appear late":           func(s *sim.Switches) { s.GetLag = 40 * time.Second },
			"updates show late":              func(s *sim.Switches) { s.UpdateLag = 40 * time.Second },
			"deleted ones answer for a time": func(s *sim.Switches) { s.DeleteLag = 150 * time.Second },
			"everything moves and lags": func(s *sim.Switches) {
				s.DeployMovesETag, s.TagMovesETag = true, true
				s.ListLag, s.GetLag, s.UpdateLag, s.DeleteLag = time.Minute, 20*time.Second, 20*time.Second, 20*time.Second
			},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				switches := sim.DefaultSwitches()
				change(&switches)
				w := world.New(t, kubeConfig, world.Options{Switches: &switches})
				o := apply(t, w, k.object(w, "shop", tags("team", "web")))
				// stage waits, and bounds what the wait may cost: where updates show late, each is sent again until AWS
				// shows it, and refused for its ETag.
				stage := func(what string, wait time.Duration, writes, reads int) {
					t.Helper()
					before := w.Calls()
					w.Advance(wait)
					spent := world.Since(before, w.Calls())
					delete(spent, "ListDistributionTenants")
					changes := world.Sum(k.mutations(spent))
					if n := world.Sum(spent) - changes; changes > writes || n > reads {
						t.Errorf("%s: %d changes and %d reads are more than %d and %d: %v", what, changes, n, writes, reads, spent)
					}
				}
				stage("create", 6*time.Minute, 2, 30)
				is(t, w, o, readyTrue, syncedTrue)
				edit(t, w, o, func(o client.Object) { k.setMark(o, true) })
				editPolicies(t, w, o, tags("team", "api"))
				stage("update", 6*time.Minute, 9, 40)
				is(t, w, o, readyTrue, syncedTrue)
				r := k.only(t, w)
				if !r.Marked || r.Tags["team"] != "api" || !r.Enabled {
					t.Errorf("after the update AWS has %+v", r)
				}
				k.change(t, w, r.ID, func(r *thing) { r.Marked, r.Enabled = false, false })
				stage("drift", 12*time.Minute, 10, 40)
				is(t, w, o, readyTrue, syncedTrue)
				if r := k.only(t, w); !r.Marked || !r.Enabled {
					t.Errorf("after the drift AWS has %+v", r)
				}
				kube := w.KubeWrites()
				stage("quiet", 11*time.Minute, 0, 5)
				if n := w.KubeWrites() - kube; n > 0 {
					t.Errorf("quiet: %d writes to Kubernetes", n)
				}
				remove(t, w, o)
				stage("delete", 8*time.Minute, 9, 50)
				k.gone(t, w, o)
				steps := slices.DeleteFunc(w.Reasons("shop"), func(reason string) bool {
					return !slices.Contains([]string{"Disabling", "Settling", "Deleting"}, reason)
				})
				if len(steps) > 3 {
					t.Errorf("the steps were told more than once: %v", steps)
				}
				if n := w.Sim.Calls()[k.create].Committed; n != 1 {
					t.Errorf("%d creates", n)
				}
				for _, operation := range []string{k.update, k.delete} {
					for _, code := range []string{"DistributionNotDisabled", "ResourceNotDisabled", "ResourceInUse"} {
						if n := w.Sim.Calls()[operation].Errors[code]; n > 0 {
							t.Errorf("%s was refused with %s %d times", operation, code, n)
						}
					}
				}
			})
		}
	})
}

// The request id is another one with every try: in status it would be a write for each.
func TestMessagesAreStable(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		a := auditedServed(t, k, world.Options{})
		w := a.w
		a.create(t)
		refusing(t, w, k.update, sim.FaultError{
			Status: http.StatusForbidden, Code: "AccessDenied", Message: "not authorized. Encoded authorization failure message: x7y (Request ID: 1, host id: abc)",
		})
		remove(t, w, a.o)
		w.Advance(time.Minute)
		said := w.ParentConditions(a.o)
		for _, token := range []string{"1", "2", "3"} {
			nudge(t, w, a.o, token)
			w.Advance(time.Minute)
			if now := w.ParentConditions(a.o); now != said {
				t.Errorf("it said:\n%s\nand says:\n%s", said, now)
			}
		}
		once(t, w, a.o, "AccessDenied")
	})
}
