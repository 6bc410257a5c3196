package awsresource_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// exceptTags compares resources of which only the tags may differ.
var exceptTags = cmpopts.IgnoreFields(thing{}, "Tags")

func TestRetainRemovesTheOwnerTagsAndNothingElse(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		a := audited(t, k, world.Options{}, retain, tags("team", "web"))
		w := a.w
		a.kept = true
		r := a.create(t)
		k.tenant(t, w, r.ID, "stays")
		r = k.only(t, w)
		remove(t, w, a.o)
		w.Advance(settle)
		released(t, w, a.o)
		after := k.only(t, w)
		if d := cmp.Diff(r, after, exceptTags); d != "" {
			t.Errorf("the configuration (-before +after):\n%s", d)
		}
		if d := cmp.Diff(map[string]string{"team": "web"}, after.Tags); d != "" {
			t.Errorf("tags (-want +got):\n%s", d)
		}
		once(t, w, a.o, "Retained")
		if len(a.steps) > 0 {
			t.Errorf("the deletion of a resource that stays was reported to be at %v", a.steps)
		}
	})
}

func TestAReleaseThatIsDeniedIsSaidAndTriedAgain(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		a := audited(t, k, world.Options{}, retain)
		w := a.w
		a.kept = true
		a.create(t)
		allow := refusing(t, w, "UntagResource", denied("UntagResource"))
		remove(t, w, a.o)
		w.Advance(10 * time.Minute)
		is(t, w, a.o, "Ready=False/AccessDenied")
		says(t, w, a.o, "Ready", "UntagResource")
		allow()
		w.Advance(40 * time.Minute)
		released(t, w, a.o)
		if r := k.only(t, w); len(r.Tags) > 0 || !r.Enabled {
			t.Errorf("AWS has %+v", r)
		}
	})
}

// The account's default group can be adopted by its name. It is released, no matter what the deletion policy is.
func TestTheDefaultGroupIsNeverDisabledNorDeleted(t *testing.T) {
	t.Parallel()
	seed := world.Seed()
	seed.ConnectionGroups = append(seed.ConnectionGroups, sim.SeedConnectionGroup{ID: "cg_default", Name: "CreatedByCloudFront", Default: true})
	w := world.New(t, kubeConfig, world.Options{Seed: &seed})
	o := w.ConnectionGroup("default", func(o *v1alpha1.ConnectionGroup) {
		o.Spec.Name, o.Spec.AdoptionPolicy = "CreatedByCloudFront", v1alpha1.AdoptionPolicyIfUnowned
	})
	before, _ := w.Sim.ConnectionGroup("", "cg_default")
	apply(t, w, o)
	w.Advance(settle)
	is(t, w, o, readyTrue, syncedTrue)
	status(t, w, o)
	if !o.Status.IsDefault || o.Status.RoutingEndpoint != before.RoutingEndpoint || o.Status.Name != "CreatedByCloudFront" {
		t.Errorf("status: %+v", o.Status)
	}
	remove(t, w, o)
	w.Advance(settle)
	released(t, w, o)
	after, _ := w.Sim.ConnectionGroup("", "cg_default")
	if d := cmp.Diff(before, after); d != "" {
		t.Errorf("the default group (-before +after):\n%s", d)
	}
	if n := w.Calls()["UpdateConnectionGroup"] + w.Calls()["DeleteConnectionGroup"]; n > 0 {
		t.Errorf("%d updates and deletions were tried", n)
	}
	once(t, w, o, "Retained")
}

// A resource that the tags do not prove to be ours, also because they were changed, is left alone.
func TestAResourceOfAnotherOwnerIsLeftAlone(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		other := ownership.Owner{Cluster: "elsewhere", Namespace: "n", Name: "shop", UID: "u-1"}
		for name, retag := range map[string]func(t *testing.T, w *world.World, r thing){
			"another owner's tags": func(t *testing.T, w *world.World, r thing) { t.Helper(); tag(t, w, r.ARN, other.Tags()) },
			"no owner tags":        func(t *testing.T, w *world.World, r thing) { t.Helper(); untag(t, w, r.ARN, ownership.Keys()...) },
		} {
			for when, step := range map[string]time.Duration{"before the deletion": 0, "while the disable settles": 30 * time.Second} {
				t.Run(name+" "+when, func(t *testing.T) {
					t.Parallel()
					a := audited(t, k, world.Options{})
					w := a.w
					a.kept = true
					r := a.create(t)
					if step == 0 {
						retag(t, w, r)
					}
					remove(t, w, a.o)
					w.Advance(step)
					if step > 0 {
						retag(t, w, r)
					}
					r = k.only(t, w)
					r.Status = "Deployed"
					w.Advance(15 * time.Minute)
					released(t, w, a.o)
					k.untouched(t, w, r)
					once(t, w, a.o, "Retained")
				})
			}
		}
	})
}

// tag sets tags as a user would.
func tag(t *testing.T, w *world.World, arn string, all map[string]string) {
	t.Helper()
	if _, err := w.AWS().TagResource(t.Context(), &cloudfront.TagResourceInput{Resource: &arn, Tags: wireTags(all)}); err != nil {
		t.Fatalf("tagging %s: %v", arn, err)
	}
}

func untag(t *testing.T, w *world.World, arn string, keys ...string) {
	t.Helper()
	_, err := w.AWS().UntagResource(t.Context(), &cloudfront.UntagResourceInput{Resource: &arn, TagKeys: wireKeys(keys)})
	if err != nil {
		t.Fatalf("removing tags of %s: %v", arn, err)
	}
}

// Our finalizer is what keeps a resource from being left behind: it is put back while the object lives.
func TestAFinalizerThatSomebodyRemovedIsPutBack(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		a := audited(t, k, world.Options{})
		w := a.w
		a.create(t)
		edit(t, w, a.o, func(o client.Object) { o.SetFinalizers(nil) })
		w.Advance(time.Second)
		status(t, w, a.o)
		if !slices.Contains(a.o.GetFinalizers(), v1alpha1.Finalizer) {
			t.Errorf("the finalizers are %v", a.o.GetFinalizers())
		}
		is(t, w, a.o, readyTrue, syncedTrue)
		remove(t, w, a.o)
		w.Advance(settle)
		k.gone(t, w, a.o)
	})
}

// Who removes the finalizer of an object that is being deleted takes the resource over.
func TestAFinalizerRemovedDuringADeletionEndsIt(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		a := audited(t, k, world.Options{})
		w := a.w
		a.kept = true
		a.create(t)
		remove(t, w, a.o)
		w.Advance(20 * time.Second)
		edit(t, w, a.o, func(o client.Object) { o.SetFinalizers(nil) })
		released(t, w, a.o)
		calls := w.Calls()
		w.Advance(time.Hour)
		if spent := k.mutations(world.Since(calls, w.Calls())); len(spent) > 0 {
			t.Errorf("changes were tried: %v", spent)
		}
		// A new object of the name starts from scratch.
		again := k.object(w, "shop", adoption(v1alpha1.AdoptionPolicyIfUnowned))
		if d, ok := again.(*v1alpha1.Distribution); ok {
			d.Spec.DistributionID = k.only(t, w).ID
		}
		apply(t, w, again)
		w.Advance(settle)
		if k.only(t, w).Tags[ownership.UIDKey] != string(again.GetUID()) {
			t.Errorf("AWS has %+v", k.only(t, w))
		}
	})
}

func TestAnObjectWithoutAResourceIsDeletedWithoutAWrite(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		for name, prepare := range map[string]func(t *testing.T, a *audit){
			"whose create was refused": func(t *testing.T, a *audit) {
				t.Helper()
				refusing(t, a.w, k.create, denied(k.create))
				apply(t, a.w, a.o)
				a.w.Advance(10 * time.Minute)
				is(t, a.w, a.o, "Ready=False/AccessDenied")
			},
			"whose create never got through": func(t *testing.T, a *audit) {
				t.Helper()
				fault(t, a.w, sim.Fault{Operation: k.create, Times: -1, Effect: sim.EffectReset})
				apply(t, a.w, a.o)
				a.w.Advance(10 * time.Minute)
			},
			"that is paused since it was made": func(t *testing.T, a *audit) {
				t.Helper()
				a.o.SetAnnotations(map[string]string{v1alpha1.AnnotationPaused: "true"})
				apply(t, a.w, a.o)
				a.w.Advance(time.Minute)
			},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				a := audited(t, k, world.Options{})
				w := a.w
				prepare(t, a)
				calls := w.Calls()
				remove(t, w, a.o)
				w.Advance(5 * time.Minute)
				k.gone(t, w, a.o)
				if spent := k.mutations(world.Since(calls, w.Calls())); len(spent) > 0 {
					t.Errorf("changes were tried: %v", spent)
				}
			})
		}
	})
}

// A create that was sent, and was only slow, must not leave an unknown resource behind.
func TestACreateThatIsCarriedOutDuringTheDeletionIsDeleted(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		a := audited(t, k, world.Options{})
		w := a.w
		fault(t, w, sim.Fault{Operation: k.create, Kind: sim.AfterCommit, Effect: sim.EffectReset})
		w.Sim.ChangeSwitches(func(s *sim.Switches) { s.GetLag, s.ListLag = 40*time.Second, 40*time.Second })
		apply(t, w, a.o)
		w.Advance(500 * time.Millisecond)
		remove(t, w, a.o)
		w.Advance(20 * time.Second)
		is(t, w, a.o, "Ready=False/Deleting")
		says(t, w, a.o, "Ready", "a create request with an unknown result may still take effect")
		w.Advance(10 * time.Minute)
		k.gone(t, w, a.o)
		if n := w.Sim.Calls()[k.delete].Committed; n != 1 {
			t.Errorf("%d deletions", n)
		}
	})
}

// Neither status nor an annotation is needed to find what has to be deleted.
func TestADeletionFindsItsResourceWithoutStatus(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		for name, wipe := range map[string]func(t *testing.T, a *audit){
			"the status is lost": func(*testing.T, *audit) {},
			"the status and the annotations are lost": func(t *testing.T, a *audit) {
				t.Helper()
				edit(t, a.w, a.o, func(o client.Object) { o.SetAnnotations(nil) })
			},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				a := audited(t, k, world.Options{})
				w := a.w
				a.create(t)
				pause(t, w, a.o, "true")
				editStatus(t, w, a.o, func(s *v1alpha1.ResourceStatus) { *s = v1alpha1.ResourceStatus{} })
				remove(t, w, a.o)
				wipe(t, a)
				pause(t, w, a.o, "false")
				w.Restart()
				w.Advance(10 * time.Minute)
				k.gone(t, w, a.o)
			})
		}
	})
}

// A user may delete it at any step; that is no failure, and nothing is recreated.
func TestADeletionThatSomebodyElseFinishedEnds(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		for name, c := range map[string]struct {
			hinder func(t *testing.T, a *audit, r thing) (allow func())
			step   v1alpha1.DeletionStep
		}{
			"InUse": {func(t *testing.T, a *audit, r thing) func() {
				t.Helper()
				k.tenant(t, a.w, r.ID, "left")
				return func() { noTenant(t, a.w, "left") }
			}, v1alpha1.DeletionStepInUse},
			"Disabling": {func(t *testing.T, a *audit, _ thing) func() {
				t.Helper()
				return refusing(t, a.w, k.update, denied(k.update))
			}, v1alpha1.DeletionStepDisabling},
			"Settling": {func(*testing.T, *audit, thing) func() { return func() {} }, v1alpha1.DeletionStepSettling},
			"Deleting": {func(t *testing.T, a *audit, _ thing) func() {
				t.Helper()
				a.w.Sim.ChangeSwitches(func(s *sim.Switches) { s.DeployDelay = 0 })
				return refusing(t, a.w, k.delete, denied(k.delete))
			}, v1alpha1.DeletionStepDeleting},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				a := audited(t, k, world.Options{})
				w := a.w
				r := a.create(t)
				allow := c.hinder(t, a, r)
				remove(t, w, a.o)
				w.Advance(5 * time.Second)
				atStep(t, w, a.o, c.step)
				a.before = nil
				if c.step == v1alpha1.DeletionStepInUse {
					// The tenant is deleted while the operator looks elsewhere.
					pause(t, w, a.o, "true")
				}
				allow()
				k.destroy(t, w, r.ID)
				pause(t, w, a.o, "false")
				w.Advance(2 * time.Minute)
				k.gone(t, w, a.o)
				if n := w.Sim.Calls()[k.create].Committed; n != 1 {
					t.Errorf("%d creates", n)
				}
			})
		}
	})
}

// A read that fails is not an absence.
func TestADeletionTrustsNoFailedRead(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		for name, e := range map[string]sim.FaultError{
			"is denied":                          denied(k.read),
			"is answered by a proxy's not found": {Status: http.StatusNotFound, Code: "NotFound", Message: "<html>"},
		} {
			for _, operation := range []string{k.read, "ListTagsForResource", "ListDistributionTenants"} {
				t.Run(operation+" "+name, func(t *testing.T) {
					t.Parallel()
					a := audited(t, k, world.Options{})
					w := a.w
					r := a.create(t)
					w.Advance(6 * time.Minute) // the tags that were read are no proof any more
					allow := refusing(t, w, operation, e)
					w.Restart()
					remove(t, w, a.o)
					calls := w.Calls()
					w.Advance(10 * time.Minute)
					if d := cmp.Diff(map[string]int{}, k.mutations(world.Since(calls, w.Calls()))); d != "" {
						t.Errorf("changes were tried (-want +got):\n%s", d)
					}
					if name == "is denied" {
						is(t, w, a.o, "Ready=False/AccessDenied")
					}
					k.untouched(t, w, r)
					allow()
					w.Advance(40 * time.Minute)
					k.gone(t, w, a.o)
				})
			}
		}
	})
}
