package distributiontenant_test

import (
	"maps"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	"github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

func setTags(t *testing.T, w *world.World, arn string, set map[string]string, remove ...string) {
	t.Helper()
	if len(set) > 0 {
		in := &cloudfront.CreateDistributionTenantInput{}
		tagged(set)(in)
		if _, err := w.AWS().TagResource(t.Context(), &cloudfront.TagResourceInput{Resource: &arn, Tags: in.Tags}); err != nil {
			t.Fatal(err)
		}
	}
	if len(remove) > 0 {
		_, err := w.AWS().UntagResource(t.Context(), &cloudfront.UntagResourceInput{Resource: &arn, TagKeys: &types.TagKeys{Items: remove}})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// The list does not show tags: they are read once a day, and when a user asks.
func TestTagsThatDriftAreSetBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set    map[string]string
		remove []string
		// stay are those of the changes that are not ours to undo.
		stay map[string]string
	}{
		"a user's tag changed":                 {set: map[string]string{"team": "thieves"}},
		"a user's tag removed":                 {remove: []string{"cost"}},
		"a foreign tag stays":                  {set: map[string]string{"backup": "daily", "team": "thieves"}, stay: map[string]string{"backup": "daily"}},
		"the owner tag of the name removed":    {remove: []string{ownership.NameKey}},
		"the owner tag of the cluster removed": {remove: []string{ownership.ClusterKey}},
		"all owner tags but the uid removed":   {remove: []string{ownership.NameKey, ownership.ClusterKey, ownership.NamespaceKey}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for how, wait := range map[string]func(w *world.World){
				"within a day":     func(w *world.World) { w.Advance(25 * time.Hour) },
				"at once, if told": func(w *world.World) { nudge(w, "alpha", "now"); w.Advance(time.Second) },
			} {
				t.Run(how, func(t *testing.T) {
					t.Parallel()
					w := world.NewOffline(t, world.Options{})
					ready(t, w, "alpha", rich)
					before := inAWS(t, w, "alpha")
					setTags(t, w, before.ARN, c.set, c.remove...)
					wait(w)
					is(t, w, "alpha", readyTrue, syncedTrue)
					maps.Copy(before.Tags, c.stay)
					if d := cmp.Diff(before.Tags, inAWS(t, w, "alpha").Tags); d != "" {
						t.Errorf("tags (-want +got):\n%s", d)
					}
				})
			}
		})
	}
}

func TestTagsThatDriftAreReportedAndLeft(t *testing.T) {
	t.Parallel()
	w := world.NewOffline(t, world.Options{})
	ready(t, w, "alpha", rich, drift(v1alpha1.DriftPolicyReport))
	s := inAWS(t, w, "alpha")
	setTags(t, w, s.ARN, map[string]string{"team": "thieves"})
	w.Advance(25 * time.Hour)
	is(t, w, "alpha", "Synced=False/DriftDetected")
	if d := cmp.Diff([]v1alpha1.DriftedField{{Field: "tags[team]", Desired: "web", Observed: "thieves"}}, get(t, w, "alpha").Status.Drift); d != "" {
		t.Errorf("drift (-want +got):\n%s", d)
	}
	if got := inAWS(t, w, "alpha").Tags["team"]; got != "thieves" {
		t.Errorf("the tag was set to %q", got)
	}
}

// Without its owner tags a tenant is not provably ours any more: it may have been given to another owner on purpose.
func TestATenantThatLostAllOwnerTagsIsLeftAlone(t *testing.T) {
	t.Parallel()
	w := world.NewOffline(t, world.Options{})
	ready(t, w, "alpha", rich)
	w.Advance(2 * resource.ProofAge)
	setTags(t, w, inAWS(t, w, "alpha").ARN, nil, ownership.Keys()...)
	outOfBand(t, w, "alpha", func(in *cloudfront.UpdateDistributionTenantInput) { in.Enabled = awssdk.Bool(false) })
	w.Clock.Step(2 * world.DeployDelay)
	s := inAWS(t, w, "alpha")
	w.Advance(aSweep)
	is(t, w, "alpha", "Ready=False/AdoptionRequired")
	untouched(t, w, s)
	w.Edit("alpha", adoption(v1alpha1.AdoptionPolicyIfUnowned))
	w.Advance(settle)
	is(t, w, "alpha", readyTrue, syncedTrue)
}

// A difference that no update removes must not become one update after another.
func TestAValueThatAWSDoesNotKeepEndsInWords(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		switches func(*sim.Switches)
		object   edit
		spoil    edit
		field    string
		mend     edit
	}{
		"a parameter that is stored otherwise, from the start": {
			switches: func(s *sim.Switches) { s.DisregardParameters = map[string]string{"tier": ""} },
			object:   params("tier", "gold"), field: "parameters[tier]", mend: params("tier", "GOLD"),
		},
		"a parameter that is stored otherwise, by an edit": {
			switches: func(s *sim.Switches) { s.DisregardParameters = map[string]string{"tier": "fixed"} },
			object:   params("origin", "shop"), spoil: params("tier", "gold"), field: "parameters[tier]", mend: params("tier", "fixed"),
		},
		"a block that can't be emptied": {
			switches: func(s *sim.Switches) { s.EmptyBlocksClear, s.Allowed.EmptyBlocks = false, true },
			object:   rich, spoil: func(o *v1alpha1.DistributionTenant) { o.Spec.Customizations = nil },
			field: "customizations.webAcl", mend: rich,
		},
		"part of a block that can't be removed": {
			switches: func(s *sim.Switches) { s.CustomizationsMerge = true },
			object:   rich, spoil: func(o *v1alpha1.DistributionTenant) { o.Spec.Customizations.WebACL = nil },
			field: "customizations.webAcl", mend: rich,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			switches := sim.DefaultSwitches()
			c.switches(&switches)
			w := world.NewOffline(t, world.Options{Switches: &switches})
			w.Apply(w.Tenant("alpha", c.object))
			w.Advance(settle)
			if c.spoil != nil {
				is(t, w, "alpha", readyTrue, syncedTrue)
				w.Edit("alpha", c.spoil)
			}
			w.Advance(30 * time.Minute)
			is(t, w, "alpha", "Synced=False/DriftNotConverging")
			says(t, w, "alpha", "Synced", c.field)
			if o := get(t, w, "alpha"); !o.Status.DriftDetected || len(o.Status.Drift) == 0 {
				t.Errorf("status lists no drift: %+v", o.Status)
			}
			calls, writes := w.Calls(), w.KubeWrites()
			w.Advance(6 * time.Hour)
			if n := world.Since(calls, w.Calls())["UpdateDistributionTenant"]; n > 14 {
				t.Errorf("%d updates in six hours", n)
			}
			t.Logf("updates until said: %d, six hours later: %d more, and %d Kubernetes writes", calls["UpdateDistributionTenant"],
				world.Since(calls, w.Calls())["UpdateDistributionTenant"], w.KubeWrites()-writes)
			is(t, w, "alpha", "Synced=False/DriftNotConverging")
			w.Edit("alpha", c.mend)
			w.Advance(settle)
			is(t, w, "alpha", readyTrue, syncedTrue)
		})
	}
}

// Two operators with two minds about one tenant: one of them has to give up for a while.
func TestSomebodyWhoKeepsChangingATenantBackIsNotFought(t *testing.T) {
	t.Parallel()
	w := world.NewOffline(t, world.Options{})
	ready(t, w, "alpha", params("tier", "gold"))
	calls := w.Calls()["UpdateDistributionTenant"]
	rounds := 0
	for range 24 {
		if inAWS(t, w, "alpha").Parameters["tier"] == "gold" {
			rounds++
			outOfBand(t, w, "alpha", func(in *cloudfront.UpdateDistributionTenantInput) {
				in.Parameters = []types.Parameter{{Name: awssdk.String("tier"), Value: awssdk.String("lead")}}
			})
		}
		w.Advance(5 * time.Minute)
	}
	if ours := w.Calls()["UpdateDistributionTenant"] - calls - rounds; ours > 10 {
		t.Errorf("%d corrections in two hours", ours)
	}
	is(t, w, "alpha", "Synced=False/DriftNotConverging")
	// When the other one gives up, the next try takes and the matter is forgotten.
	w.Advance(2 * time.Hour)
	is(t, w, "alpha", readyTrue, syncedTrue)
	if got := inAWS(t, w, "alpha").Parameters["tier"]; got != "gold" {
		t.Errorf("tier is %q", got)
	}
}
