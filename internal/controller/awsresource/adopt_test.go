package awsresource_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// elsewhere is an owner in another cluster.
var elsewhere = ownership.Owner{Cluster: "elsewhere", Namespace: "n", Name: "shop", UID: "u-1"}

// driftFields are the fields that status lists.
func driftFields(t *testing.T, w *world.World, o client.Object) (fields []string) {
	t.Helper()
	for _, f := range status(t, w, o).Drift {
		fields = append(fields, f.Field)
	}
	slices.Sort(fields)
	return fields
}

func TestAForeignResourceIsNotTouchedWithoutPermission(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		for name, c := range map[string]struct {
			tags map[string]string
			says []string
		}{
			"without tags":       {nil, []string{"no owner tags", "IfUnowned"}},
			"with foreign tags":  {map[string]string{"team": "web"}, []string{"no owner tags", "IfUnowned"}},
			"of another cluster": {elsewhere.Tags(), []string{"an object of another cluster", "platform team", "Force"}},
		} {
			policy := v1alpha1.AdoptionPolicyNever
			if k.name == "distribution" {
				// An object that names a distribution by its ID wants to adopt it, and Never is refused.
				policy = v1alpha1.AdoptionPolicyIfUnowned
				if name != "of another cluster" {
					continue
				}
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				a := audited(t, k, world.Options{}, adoption(policy))
				w := a.w
				a.kept = true
				r := k.foreign(t, w, a.o, c.tags)
				apply(t, w, a.o)
				w.Advance(time.Hour)
				is(t, w, a.o, "Ready=False/AdoptionRequired", "Synced=False/UpdatePending")
				says(t, w, a.o, "Ready", append(c.says, r.ID, "does not change it")...)
				edit(t, w, a.o, func(o client.Object) { k.setEnabled(o, false) })
				w.Advance(20 * time.Minute)
				k.untouched(t, w, r)
				if id := status(t, w, a.o).ID; id != "" {
					t.Errorf("status speaks of %s", id)
				}
				once(t, w, a.o, "AdoptionRequired")
				remove(t, w, a.o)
				w.Advance(settle)
				released(t, w, a.o)
				k.untouched(t, w, r)
			})
		}
	})
}

func TestAdoptionLeavesTheConfigurationUntilTheSpecChanges(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		for policy, before := range map[v1alpha1.AdoptionPolicy]map[string]string{
			v1alpha1.AdoptionPolicyIfUnowned: {"kept": "yes"},
			v1alpha1.AdoptionPolicyForce:     elsewhere.Tags(),
		} {
			for name, agrees := range map[string]bool{"where it is as the spec": true, "where it differs": false} {
				t.Run(string(policy)+" "+name, func(t *testing.T) {
					t.Parallel()
					a := audited(t, k, world.Options{}, adoption(policy))
					w := a.w
					k.setMark(a.o, agrees)
					r := k.foreign(t, w, a.o, before)
					apply(t, w, a.o)
					w.Advance(time.Minute)
					wanted, synced := owner(a.o).Tags(), syncedTrue
					if policy == v1alpha1.AdoptionPolicyIfUnowned {
						wanted["kept"] = "yes"
					}
					var fields []string
					if !agrees {
						fields, synced = []string{k.field}, "Synced=False/DriftDetected"
					}
					check := func() {
						t.Helper()
						is(t, w, a.o, readyTrue, synced)
						after := k.only(t, w)
						if d := cmp.Diff(r, after, exceptTags); d != "" {
							t.Errorf("adopting changed the configuration (-before +after):\n%s", d)
						}
						if d := cmp.Diff(wanted, after.Tags); d != "" {
							t.Errorf("tags (-want +got):\n%s", d)
						}
						if d := cmp.Diff(fields, driftFields(t, w, a.o)); d != "" {
							t.Errorf("reported (-want +got):\n%s", d)
						}
					}
					check()
					w.Restart()
					w.Advance(time.Hour)
					check()
					once(t, w, a.o, "Adopted")
					edit(t, w, a.o, func(o client.Object) { k.setMark(o, !agrees) })
					w.Advance(settle)
					is(t, w, a.o, readyTrue, syncedTrue)
					if after := k.only(t, w); after.Marked == agrees {
						t.Errorf("after the edit AWS has %+v", after)
					}
					remove(t, w, a.o)
					w.Advance(settle)
					k.gone(t, w, a.o)
				})
			}
		}
	})
}

func TestForceIsNeededForAnotherClustersResource(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		a := audited(t, k, world.Options{}, adoption(v1alpha1.AdoptionPolicyIfUnowned))
		w := a.w
		r := k.foreign(t, w, a.o, elsewhere.Tags())
		apply(t, w, a.o)
		w.Advance(10 * time.Minute)
		is(t, w, a.o, "Ready=False/AdoptionRequired")
		k.untouched(t, w, r)
		editPolicies(t, w, a.o, adoption(v1alpha1.AdoptionPolicyForce))
		w.Advance(settle)
		is(t, w, a.o, readyTrue)
		if d := cmp.Diff(owner(a.o).Tags(), k.only(t, w).Tags); d != "" {
			t.Errorf("tags (-want +got):\n%s", d)
		}
		told := slices.ContainsFunc(w.Events, func(e world.Event) bool {
			return e.Reason == "Adopted" && strings.Contains(e.Message, "It belonged to an object of another cluster")
		})
		if !told {
			t.Errorf("no event tells of the previous owner: %v", w.Events)
		}
	})
}

func TestNothingIsTakenFromALiveObjectOfThisCluster(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		for _, policy := range []v1alpha1.AdoptionPolicy{v1alpha1.AdoptionPolicyIfUnowned, v1alpha1.AdoptionPolicyForce} {
			t.Run(string(policy), func(t *testing.T) {
				t.Parallel()
				w := world.New(t, kubeConfig, world.Options{})
				first := k.ready(t, w, "first")
				r := k.only(t, w)
				thief := k.object(w, "thief", adoption(policy))
				switch o := thief.(type) {
				case *v1alpha1.Distribution:
					o.Spec.DistributionID = r.ID
				case *v1alpha1.ConnectionGroup:
					o.Spec.Name = r.Name
				}
				apply(t, w, thief)
				w.Advance(20 * time.Minute)
				is(t, w, thief, "Ready=False/AdoptionRequired")
				says(t, w, thief, "Ready", w.Namespace+"/first", "That object exists")
				remove(t, w, thief)
				w.Advance(settle)
				released(t, w, thief)
				k.untouched(t, w, r)
				is(t, w, first, readyTrue, syncedTrue)
			})
		}
	})
}

// A restore from a backup brings the object back with another UID.
func TestARestoredObjectTakesItsResourceBackWhenItMay(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		for name, keepStatus := range map[string]bool{"with its status": true, "without its status": false} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := world.New(t, kubeConfig, world.Options{})
				old := k.ready(t, w, "shop")
				r, said := k.only(t, w), status(t, w, old)
				edit(t, w, old, func(o client.Object) { o.SetFinalizers(nil) })
				remove(t, w, old)
				w.Advance(time.Second)
				restored := k.object(w, "shop")
				restored.SetAnnotations(old.GetAnnotations())
				restored.SetFinalizers([]string{v1alpha1.Finalizer})
				d, named := restored.(*v1alpha1.Distribution)
				if named = named && !keepStatus; named {
					// Nothing else tells which one it was.
					d.Spec.DistributionID, d.Spec.AdoptionPolicy = r.ID, v1alpha1.AdoptionPolicyIfUnowned
				}
				apply(t, w, restored)
				if keepStatus {
					editStatus(t, w, restored, func(s *v1alpha1.ResourceStatus) { *s = said })
				}
				w.Restart()
				w.Advance(10 * time.Minute)
				if !named {
					is(t, w, restored, "Ready=False/AdoptionRequired")
					says(t, w, restored, "Ready", "an earlier object of this name", "IfUnowned")
					k.untouched(t, w, r)
				}
				editPolicies(t, w, restored, adoption(v1alpha1.AdoptionPolicyIfUnowned))
				w.Advance(settle)
				is(t, w, restored, readyTrue, syncedTrue)
				if got := k.only(t, w).Tags[ownership.UIDKey]; got != string(restored.GetUID()) {
					t.Errorf("the uid is %s, want %s", got, restored.GetUID())
				}
				remove(t, w, restored)
				w.Advance(settle)
				k.gone(t, w, restored)
			})
		}
	})
}

func TestAnUnknownDistributionIDIsSaid(t *testing.T) {
	t.Parallel()
	k := distributions()
	a := audited(t, k, world.Options{}, adoption(v1alpha1.AdoptionPolicyForce))
	w := a.w
	a.o.(*v1alpha1.Distribution).Spec.DistributionID = "ENOSUCH1"
	apply(t, w, a.o)
	w.Advance(20 * time.Minute)
	is(t, w, a.o, "Ready=False/ValidationFailed", "Synced=False/UpdatePending")
	says(t, w, a.o, "Ready", "spec.distributionId", "ENOSUCH1", "Delete this object")
	if n := w.Calls()[k.create]; n > 0 {
		t.Errorf("%d creates", n)
	}
	once(t, w, a.o, "ValidationFailed")
	remove(t, w, a.o)
	w.Advance(settle)
	k.gone(t, w, a.o)
}

// One that was adopted by its ID and is gone is not replaced by another: the ID names no other.
func TestAnAdoptedDistributionThatIsGoneIsNotMadeAgain(t *testing.T) {
	t.Parallel()
	k := distributions()
	a := audited(t, k, world.Options{}, adoption(v1alpha1.AdoptionPolicyIfUnowned))
	w := a.w
	r := k.foreign(t, w, a.o, nil)
	apply(t, w, a.o)
	w.Advance(time.Minute)
	is(t, w, a.o, readyTrue)
	k.destroy(t, w, r.ID)
	w.Advance(30 * time.Minute)
	is(t, w, a.o, "Ready=False/ValidationFailed")
	k.none(t, w)
	remove(t, w, a.o)
	w.Advance(settle)
	k.gone(t, w, a.o)
}

func TestADeniedAdoptionIsSaidAndTriedAgain(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		a := audited(t, k, world.Options{}, adoption(v1alpha1.AdoptionPolicyIfUnowned))
		w := a.w
		r := k.foreign(t, w, a.o, nil)
		allow := refusing(t, w, "TagResource", denied("TagResource"))
		apply(t, w, a.o)
		w.Advance(10 * time.Minute)
		is(t, w, a.o, "Ready=False/AccessDenied")
		says(t, w, a.o, "Ready", "TagResource")
		k.untouched(t, w, r)
		allow()
		nudge(t, w, a.o, "now")
		w.Advance(time.Minute)
		is(t, w, a.o, readyTrue, "Synced=False/DriftDetected")
	})
}

// A resource that is adopted in the middle of a deployment is not new.
func TestWhatIsAdoptedWhileItIsDeployedIsNotCalledNew(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		a := audited(t, k, world.Options{}, adoption(v1alpha1.AdoptionPolicyIfUnowned))
		w := a.w
		k.setMark(a.o, true)
		r := k.foreign(t, w, a.o, nil)
		k.change(t, w, r.ID, marking)
		apply(t, w, a.o)
		w.Advance(5 * time.Second)
		is(t, w, a.o, "Ready=False/Deploying", syncedTrue)
		w.Advance(2 * time.Minute)
		is(t, w, a.o, readyTrue, syncedTrue)
	})
}

// An owner that writes its tags between the look and the write has the resource: AWS does not compare tags.
func TestAnOwnerWhoComesDuringAnAdoptionStays(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		w := world.New(t, kubeConfig, world.Options{})
		o := k.object(w, "shop", adoption(v1alpha1.AdoptionPolicyIfUnowned))
		r := k.foreign(t, w, o, nil)
		r.Tags = elsewhere.Tags()
		w.AroundKubeWrites(func(_ int, write func() error) error {
			if now, _ := k.find(w, r.ID); len(now.Tags) == 0 {
				_, err := w.AWS().TagResource(t.Context(), &cloudfront.TagResourceInput{Resource: &r.ARN, Tags: wireTags(r.Tags)})
				if err != nil {
					t.Errorf("tagging as another operator: %v", err)
				}
			}
			return write()
		})
		apply(t, w, o)
		w.Advance(time.Hour)
		is(t, w, o, "Ready=False/AdoptionRequired")
		says(t, w, o, "Ready", "an object of another cluster")
		k.untouched(t, w, r)
	})
}

// A status from a backup, or from a user, does not decide what is adopted: the spec does.
func TestTheSpecSaysWhatIsAdopted(t *testing.T) {
	t.Parallel()
	k := distributions()
	w := world.New(t, kubeConfig, world.Options{})
	other := k.ready(t, w, "other")
	theirs := k.only(t, w)
	o := k.object(w, "shop", adoption(v1alpha1.AdoptionPolicyForce))
	r := k.foreign(t, w, o, elsewhere.Tags())
	apply(t, w, o)
	editStatus(t, w, o, func(s *v1alpha1.ResourceStatus) { s.ID, s.ARN = theirs.ID, theirs.ARN })
	w.Advance(time.Minute)
	is(t, w, o, readyTrue)
	if s := status(t, w, o); s.ID != r.ID {
		t.Errorf("status speaks of %s, the spec of %s", s.ID, r.ID)
	}
	k.untouched(t, w, theirs)
	is(t, w, other, readyTrue, syncedTrue)
}
