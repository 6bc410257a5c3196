package distributiontenant_test

import (
	"net/http"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// A replica that was frozen while another one led wakes up with the objects of long ago.
// Its outdated view of them must not reach AWS.
func TestAnOldViewOfAnObjectChangesNothingInAWS(t *testing.T) {
	t.Parallel()
	for name, meanwhile := range map[string]func(t *testing.T, w *world.World){
		"a newer spec, applied by another replica, is no drift": func(t *testing.T, w *world.World) {
			t.Helper()
			w.Edit("alpha", domains("alpha.example.com", "newer.example.com"))
			outOfBand(t, w, "alpha", func(in *cloudfront.UpdateDistributionTenantInput) {
				in.Domains = domainItems("alpha.example.com", "newer.example.com")
			})
		},
		"a tenant whose object is paused by now is not corrected": func(t *testing.T, w *world.World) {
			t.Helper()
			annotate(w, "alpha", v1alpha1.AnnotationPaused, v1alpha1.PausedTrue)
			outOfBand(t, w, "alpha", func(in *cloudfront.UpdateDistributionTenantInput) {
				in.Domains = domainItems("alpha.example.com", "newer.example.com")
			})
		},
		"a tenant whose object is being deleted by now is not created again": func(t *testing.T, w *world.World) {
			t.Helper()
			w.Delete("alpha")
			removeOutOfBand(t, w, "alpha")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t, kubeConfig, world.Options{})
			w.FreezeCache(ready(t, w, "alpha", tags("team", "older")))
			w.Restart()
			meanwhile(t, w)
			w.Clock.Step(2 * world.DeployDelay)
			before, calls := w.AllInAWS(), mutations(w.Calls())
			w.Advance(6 * time.Minute)
			if d := cmp.Diff(before, w.AllInAWS()); d != "" {
				t.Errorf("AWS before and after six minutes with the old view (-want +got):\n%s", d)
			}
			if d := cmp.Diff(calls, mutations(w.Calls())); d != "" {
				t.Errorf("changes in AWS (-want +got):\n%s", d)
			}
		})
	}
}

// The cache drops annotations that are never read, which does not make it stale.
func TestAnAnnotationThatTheCacheLacksHoldsNothingUp(t *testing.T) {
	t.Parallel()
	w := world.New(t, kubeConfig, world.Options{})
	o := ready(t, w, "alpha", func(o *v1alpha1.DistributionTenant) {
		o.Annotations = map[string]string{corev1.LastAppliedConfigAnnotation: "{}"}
	})
	delete(o.Annotations, corev1.LastAppliedConfigAnnotation)
	w.FreezeCache(o)
	outOfBand(t, w, "alpha", func(in *cloudfront.UpdateDistributionTenantInput) {
		in.Domains = domainItems("alpha.example.com", "sneaked.example.com")
	})
	w.Advance(6 * time.Minute)
	if d := cmp.Diff(map[string]string{"alpha.example.com": "active"}, inAWS(t, w, "alpha").Domains); d != "" {
		t.Errorf("domains (-want +got):\n%s", d)
	}
}

// With the watch back, whatever came meanwhile is carried out.
func TestAReplicaThatCatchesUpGoesOn(t *testing.T) {
	t.Parallel()
	w := world.New(t, kubeConfig, world.Options{})
	w.FreezeCache(ready(t, w, "alpha"))
	w.Edit("alpha", params("tier", "gold"))
	outOfBand(t, w, "alpha", func(in *cloudfront.UpdateDistributionTenantInput) {
		in.Domains = domainItems("alpha.example.com", "sneaked.example.com")
	})
	w.Advance(6 * time.Minute)
	w.ThawCache()
	w.Advance(aSweep)
	is(t, w, "alpha", readyTrue, syncedTrue)
	got := inAWS(t, w, "alpha")
	if d := cmp.Diff(map[string]string{"tier": "gold"}, got.Parameters); d != "" {
		t.Errorf("parameters (-want +got):\n%s", d)
	}
	if d := cmp.Diff(map[string]string{"alpha.example.com": "active"}, got.Domains); d != "" {
		t.Errorf("domains (-want +got):\n%s", d)
	}
}

// A replica's knowledge from before another one's write is refused by AWS. It must not reach status either, which the
// other one has brought up to date.
func TestAConflictLeavesStatusAlone(t *testing.T) {
	t.Parallel()
	var other func()
	w := world.New(t, kubeConfig, world.Options{BeforeAWS: func(_ *http.Request, writes bool) {
		if now := other; writes && now != nil {
			other = nil
			now()
		}
	}})
	ready(t, w, "alpha", params("tier", "gold"))
	var before v1alpha1.DistributionTenantStatus
	var writes int
	other = func() {
		outOfBand(t, w, "alpha", func(in *cloudfront.UpdateDistributionTenantInput) {
			in.Parameters = []types.Parameter{{Name: awssdk.String("tier"), Value: awssdk.String("silver")}}
		})
		w.Clock.Step(2 * world.DeployDelay)
		s, o := inAWS(t, w, "alpha"), get(t, w, "alpha")
		base := o.DeepCopy()
		o.Status.ETag, o.Status.ObservedGeneration, o.Status.AppliedGeneration = s.ETag, o.Generation, new(o.Generation)
		o.Status.LastModifiedTime = &metav1.Time{Time: s.LastModifiedTime}
		for i := range o.Status.Conditions {
			o.Status.Conditions[i].ObservedGeneration = o.Generation
		}
		if err := w.Kube.Status().Patch(t.Context(), o, client.MergeFrom(base)); err != nil {
			t.Fatal(err)
		}
		before, writes = get(t, w, "alpha").Status, w.KubeWrites()
	}
	w.Edit("alpha", params("tier", "silver"))
	w.Advance(time.Minute)
	if n := w.KubeWrites() - writes; n != 0 || !sameStatus(t, before, get(t, w, "alpha").Status) {
		t.Errorf("%d writes to Kubernetes", n)
	}
	if n := w.Sim.Calls()["UpdateDistributionTenant"].Errors["PreconditionFailed"]; n != 1 {
		t.Errorf("AWS refused %d updates, want the one that this test is about", n)
	}
}

// A process that starts with a cache from before the create mark fails to store one of its own. A tenant that another
// process created under the first mark is not forgotten for that.
func TestAMarkThatWasNotStoredHidesNoOther(t *testing.T) {
	t.Parallel()
	w := world.New(t, kubeConfig, world.Options{})
	w.Advance(3 * time.Minute)
	w.Sim.ChangeSwitches(func(s *sim.Switches) { s.GetLag, s.ListLag = 100*time.Second, 100*time.Second })
	w.FreezeCache(w.Apply(w.Tenant("alpha")))
	w.CrashAt(2, true)
	w.Advance(time.Second)
	if _, found := w.InAWS("alpha"); !found || !w.Crashed() {
		t.Fatal("the first process did not end just after it had created the tenant")
	}
	w.ThawCache()
	w.Delete("alpha")
	w.Advance(time.Hour)
	if _, found := w.Get("alpha"); found {
		t.Errorf("the object is still there:\n%s", w.Describe("alpha"))
	}
	if left, found := w.InAWS("alpha"); found {
		t.Errorf("the tenant was left behind: %v", left)
	}
}
