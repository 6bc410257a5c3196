package distributiontenant_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// furnished gives a foreign tenant every block.
func furnished(in *cloudfront.CreateDistributionTenantInput) {
	in.Parameters = []types.Parameter{{Name: awssdk.String("tier"), Value: awssdk.String("gold")}}
	in.Customizations = &types.Customizations{
		WebAcl:          &types.WebAclCustomization{Action: "override", Arn: awssdk.String(webACL)},
		GeoRestrictions: &types.GeoRestrictionCustomization{RestrictionType: "whitelist", Locations: []string{"DE"}},
	}
}

// exceptTags compares tenants of which only the tags may differ.
var exceptTags = cmpopts.IgnoreFields(sim.TenantState{}, "Tags")

func TestAForeignTenantIsNotTouchedUnderNever(t *testing.T) {
	t.Parallel()
	other := ownership.Owner{Cluster: "elsewhere", Namespace: "shop", Name: "alpha", UID: "u-1"}
	for name, c := range map[string]struct {
		tags map[string]string
		says []string
	}{
		"without tags":               {nil, []string{"no owner tags", "IfUnowned"}},
		"with foreign tags":          {map[string]string{"team": "web"}, []string{"no owner tags", "IfUnowned"}},
		"of another cluster":         {other.Tags(), []string{"an object of another cluster", "platform team", "Force"}},
		"with one owner tag of four": {map[string]string{ownership.NamespaceKey: "shop"}, []string{"Force"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t, kubeConfig, world.Options{})
			s := foreign(t, w, "alpha", furnished, tagged(c.tags))
			w.Apply(w.Tenant("alpha", rich))
			w.Advance(time.Hour)
			is(t, w, "alpha", "Ready=False/AdoptionRequired")
			says(t, w, "alpha", "Ready", append(c.says, "does not change it")...)
			w.Edit("alpha", params("tier", "silver"))
			w.Advance(time.Hour)
			untouched(t, w, s)
			w.Delete("alpha")
			w.Advance(settle)
			if _, found := w.Get("alpha"); found {
				t.Errorf("the object can't be deleted:\n%s", w.Describe("alpha"))
			}
			untouched(t, w, s)
		})
	}
}

func TestAdoptionWritesTagsOnly(t *testing.T) {
	t.Parallel()
	agreeing := func(o *v1alpha1.DistributionTenant) {
		params("tier", "gold")(o)
		o.Spec.Customizations = &v1alpha1.Customizations{
			WebACL: &v1alpha1.WebACLCustomization{Action: v1alpha1.WebACLActionOverride, ARN: webACL},
			GeoRestrictions: &v1alpha1.GeoRestrictionCustomization{
				RestrictionType: v1alpha1.GeoRestrictionWhitelist, Locations: []v1alpha1.CountryCode{"DE"},
			},
		}
	}
	for name, c := range map[string]struct {
		object edit
		synced string
		drift  []string
		edit   edit
		// bare is true if the edit makes the missing blocks hold.
		bare bool
	}{
		"the spec agrees": {object: agreeing, synced: syncedTrue, edit: params("tier", "silver")},
		"the spec does not have some blocks: they stay, and are reported until the spec changes": {
			object: params("tier", "gold"), synced: "Synced=False/DriftDetected", edit: params("tier", "silver"),
			drift: []string{"customizations.geoRestrictions", "customizations.webAcl"}, bare: true,
		},
		"the spec has nothing but a domain": {
			object: func(*v1alpha1.DistributionTenant) {}, synced: "Synced=False/DriftDetected", edit: params("tier", "silver"),
			drift: []string{"customizations.geoRestrictions", "customizations.webAcl", "parameters[tier]"}, bare: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t, kubeConfig, world.Options{})
			s := foreign(t, w, "alpha", furnished, tagged(map[string]string{"kept": "yes"}))
			o := w.Apply(w.Tenant("alpha", c.object, adoption(v1alpha1.AdoptionPolicyIfUnowned)))
			w.Advance(time.Hour)
			is(t, w, "alpha", readyTrue, c.synced)
			after := inAWS(t, w, "alpha")
			if d := cmp.Diff(s, after, exceptTags); d != "" {
				t.Errorf("adopting changed the configuration (-before +after):\n%s", d)
			}
			wanted := w.Owner(o).Tags()
			wanted["kept"] = "yes"
			if d := cmp.Diff(wanted, after.Tags); d != "" {
				t.Errorf("tags (-want +got):\n%s", d)
			}
			if d := cmp.Diff(c.drift, driftFields(t, w)); d != "" {
				t.Errorf("reported (-want +got):\n%s", d)
			}
			if !slices.Contains(w.Reasons("alpha"), "Adopted") {
				t.Errorf("events: %v", w.Reasons("alpha"))
			}
			w.Restart()
			w.Advance(time.Hour)
			if d := cmp.Diff(s, inAWS(t, w, "alpha"), exceptTags); d != "" {
				t.Errorf("a restart changed the configuration (-before +after):\n%s", d)
			}
			takesEmptyBlocks(w)
			w.Edit("alpha", c.edit)
			w.Advance(settle)
			is(t, w, "alpha", readyTrue, syncedTrue)
			now := inAWS(t, w, "alpha")
			if now.Parameters["tier"] != "silver" || c.bare != cmp.Equal(now.Customizations, sim.CustomizationState{}) {
				t.Errorf("after the edit AWS has %v %+v", now.Parameters, now.Customizations)
			}
			w.Delete("alpha")
			w.Advance(settle)
			gone(t, w, "alpha")
		})
	}
}

func driftFields(t *testing.T, w *world.World) (fields []string) {
	t.Helper()
	for _, f := range get(t, w, "alpha").Status.Drift {
		fields = append(fields, f.Field)
	}
	slices.Sort(fields)
	return fields
}

func TestAdoptionUpdatesWhatTheSpecSaysOtherwise(t *testing.T) {
	t.Parallel()
	w := world.New(t, kubeConfig, world.Options{})
	s := foreign(t, w, "alpha", furnished)
	w.Apply(w.Tenant("alpha", params("tier", "silver"), tags("team", "web"), adoption(v1alpha1.AdoptionPolicyIfUnowned)))
	w.Advance(settle)
	is(t, w, "alpha", readyTrue)
	after := inAWS(t, w, "alpha")
	if after.Parameters["tier"] != "silver" || after.Tags["team"] != "web" {
		t.Errorf("AWS has %v and %v", after.Parameters, after.Tags)
	}
	if d := cmp.Diff(s.Customizations, after.Customizations); d != "" {
		t.Errorf("blocks that the spec lacks (-before +after):\n%s", d)
	}
}

// A create that failed has set no tag of the tenant that is adopted instead.
func TestAdoptionAfterAFailedCreateRemovesNoTag(t *testing.T) {
	t.Parallel()
	w := world.NewOffline(t, world.Options{})
	answer := refusing(t, w, "CreateDistributionTenant", http.StatusInternalServerError, "InternalError", "try again")
	w.Apply(w.Tenant("alpha", tags("team", "web"), adoption(v1alpha1.AdoptionPolicyIfUnowned)))
	w.Advance(time.Minute)
	if w.Calls()["CreateDistributionTenant"] == 0 {
		t.Fatal("no create was sent")
	}
	answer()
	foreign(t, w, "alpha", tagged(map[string]string{"team": "theirs"}))
	w.Edit("alpha", tags())
	w.Advance(time.Hour)
	is(t, w, "alpha", readyTrue, syncedTrue)
	if got := inAWS(t, w, "alpha").Tags["team"]; got != "theirs" {
		t.Errorf("the tag team of the adopted tenant is %q", got)
	}
}

func TestAnAdoptionThatCannotWorkChangesNothing(t *testing.T) {
	t.Parallel()
	w := world.New(t, kubeConfig, world.Options{})
	s := foreign(t, w, "alpha", furnished)
	w.Apply(w.Tenant("alpha", params("nosuch", "x"), adoption(v1alpha1.AdoptionPolicyIfUnowned)))
	w.Advance(20 * time.Minute)
	is(t, w, "alpha", "Ready=False/ValidationFailed")
	if d := cmp.Diff(s, inAWS(t, w, "alpha"), exceptTags); d != "" {
		t.Errorf("the configuration (-before +after):\n%s", d)
	}
}

func TestForceTakesATenantFromAnotherCluster(t *testing.T) {
	t.Parallel()
	w := world.New(t, kubeConfig, world.Options{})
	other := ownership.Owner{Cluster: "elsewhere", Namespace: "shop", Name: "web", UID: "u-1"}
	s := foreign(t, w, "alpha", furnished, tagged(other.Tags()))
	o := w.Apply(w.Tenant("alpha", params("tier", "gold"), adoption(v1alpha1.AdoptionPolicyIfUnowned)))
	w.Advance(10 * time.Minute)
	is(t, w, "alpha", "Ready=False/AdoptionRequired")
	untouched(t, w, s)

	w.Edit("alpha", adoption(v1alpha1.AdoptionPolicyForce))
	w.Advance(settle)
	is(t, w, "alpha", readyTrue)
	after := inAWS(t, w, "alpha")
	if d := cmp.Diff(s, after, exceptTags); d != "" {
		t.Errorf("the configuration (-before +after):\n%s", d)
	}
	if d := cmp.Diff(w.Owner(o).Tags(), after.Tags); d != "" {
		t.Errorf("tags (-want +got):\n%s", d)
	}
	told := slices.ContainsFunc(w.Events, func(e world.Event) bool {
		return e.Reason == "Adopted" && strings.Contains(e.Message, "It belonged to an object of another cluster")
	})
	if !told {
		t.Errorf("no event tells of the previous owner: %v", w.Events)
	}
}

func TestNothingIsTakenFromALiveObjectOfThisCluster(t *testing.T) {
	t.Parallel()
	for _, policy := range []v1alpha1.AdoptionPolicy{v1alpha1.AdoptionPolicyIfUnowned, v1alpha1.AdoptionPolicyForce} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			w := world.New(t, kubeConfig, world.Options{})
			ready(t, w, "alpha", rich)
			s := inAWS(t, w, "alpha")
			w.Apply(w.Tenant("thief", rich, adoption(policy), func(o *v1alpha1.DistributionTenant) { o.Spec.TenantName = "alpha" }))
			w.Advance(time.Hour)
			is(t, w, "thief", "Ready=False/AdoptionRequired")
			says(t, w, "thief", "Ready", w.Namespace+"/alpha", "That object exists", "spec.tenantName")
			untouched(t, w, s)
			is(t, w, "alpha", readyTrue, syncedTrue)
			w.Delete("thief")
			w.Advance(settle)
			if _, found := w.Get("thief"); found {
				t.Error("the thief is still there")
			}
			untouched(t, w, s)
		})
	}
}

// A restore from a backup brings the object back with another UID, and perhaps with the
// status and the annotations of the old one.
func TestARestoredObjectTakesItsTenantBackWhenItMay(t *testing.T) {
	t.Parallel()
	for name, keepStatus := range map[string]bool{"without its status": false, "with its status": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t, kubeConfig, world.Options{})
			old := ready(t, w, "alpha", rich)
			w.Edit("alpha", func(o *v1alpha1.DistributionTenant) { o.Finalizers = nil })
			w.Delete("alpha")
			restored := w.Tenant("alpha", rich)
			restored.Annotations = old.Annotations
			restored.Finalizers = old.Finalizers
			w.Apply(restored)
			if keepStatus {
				base := restored.DeepCopy()
				restored.Status = old.Status
				if err := w.Kube.Status().Patch(t.Context(), restored, client.MergeFrom(base)); err != nil {
					t.Fatal(err)
				}
			}
			s := inAWS(t, w, "alpha")
			w.Restart()
			w.Advance(10 * time.Minute)
			if keepStatus {
				// Everything agrees, so that nothing has to be read or written.
				w.Edit("alpha", params("tier", "silver", "origin", "shop"))
				w.Advance(settle)
			}
			is(t, w, "alpha", "Ready=False/AdoptionRequired")
			untouched(t, w, s)
			w.Edit("alpha", adoption(v1alpha1.AdoptionPolicyIfUnowned))
			w.Advance(settle)
			is(t, w, "alpha", readyTrue, syncedTrue)
			if d := cmp.Diff(string(restored.UID), inAWS(t, w, "alpha").Tags[ownership.UIDKey]); d != "" {
				t.Errorf("the uid (-want +got):\n%s", d)
			}
			w.Delete("alpha")
			w.Advance(settle)
			gone(t, w, "alpha")
		})
	}
}

func TestRetainRemovesTheOwnerTagsAndNothingElse(t *testing.T) {
	t.Parallel()
	w := world.New(t, kubeConfig, world.Options{})
	ready(t, w, "alpha", rich, retain)
	s := inAWS(t, w, "alpha")
	w.Delete("alpha")
	w.Advance(settle)
	if _, found := w.Get("alpha"); found {
		t.Fatalf("the object is still there:\n%s", w.Describe("alpha"))
	}
	after := inAWS(t, w, "alpha")
	if d := cmp.Diff(s, after, exceptTags); d != "" {
		t.Errorf("the configuration (-before +after):\n%s", d)
	}
	if d := cmp.Diff(map[string]string{"team": "web", "cost": "42"}, after.Tags); d != "" {
		t.Errorf("tags (-want +got):\n%s", d)
	}
	if !slices.Contains(w.Reasons("alpha"), "Retained") {
		t.Errorf("events: %v", w.Reasons("alpha"))
	}
	// A released tenant can be adopted again.
	w.Apply(w.Tenant("alpha", rich, adoption(v1alpha1.AdoptionPolicyIfUnowned)))
	w.Advance(settle)
	is(t, w, "alpha", readyTrue, syncedTrue)
}

func TestATenantMadeAgainByAForeignerIsNotTouched(t *testing.T) {
	t.Parallel()
	for _, policy := range []v1alpha1.DriftPolicy{v1alpha1.DriftPolicyEnforce, v1alpha1.DriftPolicyReport, v1alpha1.DriftPolicySuspend} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			w := world.New(t, kubeConfig, world.Options{})
			ready(t, w, "alpha", rich, drift(policy))
			removeOutOfBand(t, w, "alpha")
			s := foreign(t, w, "alpha")
			w.Advance(time.Hour)
			is(t, w, "alpha", "Ready=False/AdoptionRequired")
			w.Edit("alpha", params("tier", "silver"))
			w.Advance(settle)
			untouched(t, w, s)
			w.Delete("alpha")
			w.Advance(settle)
			if _, found := w.Get("alpha"); found {
				t.Errorf("the object can't be deleted:\n%s", w.Describe("alpha"))
			}
			untouched(t, w, s)
		})
	}
}

func TestATenantDeletedOutside(t *testing.T) {
	t.Parallel()
	t.Run("is created again under enforce", func(t *testing.T) {
		t.Parallel()
		w := world.New(t, kubeConfig, world.Options{})
		ready(t, w, "alpha", rich)
		before := inAWS(t, w, "alpha")
		removeOutOfBand(t, w, "alpha")
		w.Advance(aSweep)
		is(t, w, "alpha", readyTrue, syncedTrue)
		after := inAWS(t, w, "alpha")
		if after.ID == before.ID || get(t, w, "alpha").Status.ID != after.ID {
			t.Errorf("AWS has %s after %s, status %s", after.ID, before.ID, get(t, w, "alpha").Status.ID)
		}
		if !slices.Contains(w.Reasons("alpha"), "ExternalDeletion") {
			t.Errorf("events: %v", w.Reasons("alpha"))
		}
	})
	for _, policy := range []v1alpha1.DriftPolicy{v1alpha1.DriftPolicyReport, v1alpha1.DriftPolicySuspend} {
		t.Run("is only reported under "+string(policy), func(t *testing.T) {
			t.Parallel()
			w := world.New(t, kubeConfig, world.Options{})
			ready(t, w, "alpha", rich, drift(policy))
			removeOutOfBand(t, w, "alpha")
			writes := w.Sim.Calls()["CreateDistributionTenant"].Total
			w.Advance(time.Hour)
			tenants(t, w)
			is(t, w, "alpha", "Ready=False/AWSError", "Synced=False/DriftDetected")
			says(t, w, "alpha", "Ready", "deleted outside", "driftPolicy")
			if status := get(t, w, "alpha").Status.DistributionTenantStatus; status != "" {
				t.Errorf("a tenant that is gone is shown as %s", status)
			}
			if n := w.Sim.Calls()["CreateDistributionTenant"].Total - writes; n != 0 {
				t.Errorf("%d creates were tried", n)
			}
			w.Edit("alpha", params("tier", "silver"))
			w.Advance(settle)
			is(t, w, "alpha", readyTrue, syncedTrue)
			tenants(t, w, "alpha")
		})
	}
}
