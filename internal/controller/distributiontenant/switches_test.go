package distributiontenant_test

import (
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	"github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// kinds of AWS: each is one thing that is unknown about it, the other way round.
func kindsOfAWS() map[string]func(*sim.Switches) {
	return map[string]func(*sim.Switches){
		"the strict one":                      func(*sim.Switches) {},
		"deletes need no deployment":          func(s *sim.Switches) { s.DeleteNeedsDeployed = false },
		"empty blocks are taken":              func(s *sim.Switches) { s.Allowed = sim.AllAllowed() },
		"deploying moves the ETag":            func(s *sim.Switches) { s.DeployMovesETag = true },
		"lists show another ETag":             func(s *sim.Switches) { s.SummaryETagDiffers = true },
		"reads return the tags":               func(s *sim.Switches) { s.GetReturnsTags = true },
		"tagging moves the ETag":              func(s *sim.Switches) { s.TagMovesETag = true },
		"empty blocks are answered":           func(s *sim.Switches) { s.EmptyCustomizationsEchoed = true },
		"new tenants are disabled":            func(s *sim.Switches) { s.EnabledByDefault = false },
		"lists lag by 30 seconds":             func(s *sim.Switches) { s.ListLag = 30 * time.Second },
		"lists lag by ten minutes":            func(s *sim.Switches) { s.ListLag = 10 * time.Minute },
		"new tenants appear late":             func(s *sim.Switches) { s.GetLag = 40 * time.Second },
		"updates show late":                   func(s *sim.Switches) { s.UpdateLag = 40 * time.Second },
		"deleted tenants answer for a minute": func(s *sim.Switches) { s.DeleteLag = time.Minute },
		"everything moves and lags": func(s *sim.Switches) {
			s.DeployMovesETag, s.SummaryETagDiffers, s.TagMovesETag, s.EmptyCustomizationsEchoed = true, true, true, true
			s.ListLag, s.GetLag, s.UpdateLag, s.DeleteLag = time.Minute, 20*time.Second, 20*time.Second, 20*time.Second
		},
	}
}

func TestTheWholeLifeInEveryKindOfAWS(t *testing.T) {
	t.Parallel()
	for name, change := range kindsOfAWS() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			switches := sim.DefaultSwitches()
			change(&switches)
			w := world.NewOffline(t, world.Options{Switches: &switches})
			w.Clock.Step(time.Hour) // what the seed has is not new
			bystander := foreign(t, w, "bystander", furnished)
			// stage waits, and bounds what the wait may cost.
			stage := func(what string, wait time.Duration, mutating, reads int) {
				t.Helper()
				before := w.Calls()
				w.Advance(wait)
				spent := world.Since(before, w.Calls())
				writes := world.Sum(mutations(spent))
				if read := world.Sum(without(spent, "ListDistributionTenants")) - writes; writes > mutating || read > reads {
					t.Errorf("%s: %d writes and %d reads are more than %d and %d: %v", what, writes, read, mutating, reads, spent)
				}
				untouched(t, w, bystander)
			}

			w.Apply(w.Tenant("alpha", rich))
			stage("create", 15*time.Minute, 3, 20)
			is(t, w, "alpha", readyTrue, syncedTrue)
			tenants(t, w, "alpha", "bystander")

			w.Edit("alpha", func(o *v1alpha1.DistributionTenant) {
				params("tier", "silver")(o)
				tags("team", "api")(o)
				o.Spec.Customizations.WebACL = nil
			})
			stage("update", 15*time.Minute, 8, 60)
			is(t, w, "alpha", readyTrue, syncedTrue)
			want := inAWS(t, w, "alpha")
			if want.Customizations.WebACLARN != "" || want.Parameters["tier"] != "silver" || len(want.Parameters) != 1 || want.Tags["team"] != "api" || want.Tags["cost"] != "" {
				t.Errorf("after the update AWS has %+v", want)
			}

			outOfBand(t, w, "alpha", func(in *cloudfront.UpdateDistributionTenantInput) {
				// Every block is sent, so that it does not matter what an update keeps.
				in.Enabled, in.Customizations = awssdk.Bool(false), &types.Customizations{}
				in.Parameters = []types.Parameter{{Name: awssdk.String("tier"), Value: awssdk.String("lead")}}
			})
			stage("drift", 25*time.Minute, 8, 60)
			is(t, w, "alpha", readyTrue, syncedTrue)
			if d := cmp.Diff(want, inAWS(t, w, "alpha"), sameConfiguration); d != "" {
				t.Errorf("after the drift (-want +got):\n%s", d)
			}

			// No matter what AWS changes automatically, a quiet hour costs next to nothing.
			kube := w.KubeWrites()
			stage("quiet", time.Hour, 0, 3)
			if n := w.KubeWrites() - kube; n > 0 {
				t.Errorf("quiet: %d Kubernetes writes", n)
			}

			removeOutOfBand(t, w, "alpha")
			stage("deleted outside", 25*time.Minute, 8, 60)
			is(t, w, "alpha", readyTrue, syncedTrue)
			if d := cmp.Diff(want.Parameters, inAWS(t, w, "alpha").Parameters); d != "" {
				t.Errorf("after it was created again (-want +got):\n%s", d)
			}

			w.Delete("alpha")
			stage("delete", 15*time.Minute, 12, 60)
			gone(t, w, "alpha")
			tenants(t, w, "bystander")
		})
	}
}

// The list is up to date and the read behind it is not: what was read must not be taken
// for what the list announced.
func TestDriftIsNotMissedWhenReadsLagBehindTheList(t *testing.T) {
	t.Parallel()
	for _, name := range slices.Sorted(maps.Keys(map[string]bool{"equal ETags": false, "different ETags": true})) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			switches := sim.DefaultSwitches()
			switches.UpdateLag, switches.SummaryETagDiffers = 30*time.Second, name == "different ETags"
			w := world.NewOffline(t, world.Options{Switches: &switches})
			ready(t, w, "alpha", rich)
			// The change comes just before the sweep, wherever that is.
			for range 10 {
				w.Advance(27 * time.Second)
				outOfBand(t, w, "alpha", func(in *cloudfront.UpdateDistributionTenantInput) {
					in.Parameters = []types.Parameter{{Name: awssdk.String("tier"), Value: awssdk.String("lead")}}
				})
				w.Advance(20 * time.Minute)
				is(t, w, "alpha", readyTrue, syncedTrue)
				if got := inAWS(t, w, "alpha").Parameters["tier"]; got != "gold" {
					t.Fatalf("tier is %q twenty minutes later", got)
				}
			}
		})
	}
}

// Deleting is allowed to cost a try more where AWS wants the tenant settled, not one for
// every few seconds that this takes.
func TestADeletionDoesNotHammer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change  func(*sim.Switches)
		deletes int
		within  time.Duration
	}{
		"AWS wants the tenant settled":   {func(*sim.Switches) {}, 2, 90 * time.Second},
		"AWS takes it at once":           {func(s *sim.Switches) { s.DeleteNeedsDeployed = false }, 1, time.Second},
		"it takes ten minutes to settle": {func(s *sim.Switches) { s.DeployDelay = 10 * time.Minute }, 2, 13 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.NewOffline(t, world.Options{})
			ready(t, w, "alpha", rich)
			w.Advance(10 * time.Minute)
			w.Sim.ChangeSwitches(c.change)
			calls, kube := w.Calls(), w.KubeWrites()
			w.Delete("alpha")
			w.Advance(c.within)
			gone(t, w, "alpha")
			spent := world.Since(calls, w.Calls())
			if spent["DeleteDistributionTenant"] != c.deletes || spent["UpdateDistributionTenant"] != 1 || world.Sum(without(spent, "ListDistributionTenants")) > 35 {
				t.Errorf("calls: %v", spent)
			}
			if n := w.KubeWrites() - kube; n > 4 {
				t.Errorf("%d Kubernetes writes", n)
			}
			t.Logf("calls: %v, Kubernetes writes: %d", spent, w.KubeWrites()-kube)
		})
	}
}

// The half of a deletion that disables must not spoil a tenant that still has its domains:
// other operators send nothing but the domains, and the firewall and the countries are gone.
func TestDisablingLeavesTheConfiguration(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		refuses bool
		object  []edit
	}{
		"where AWS takes a bare disable":          {false, []edit{rich}},
		"where AWS refuses one":                   {true, []edit{rich}},
		"where AWS refuses one, with a parameter": {true, []edit{of(strictDistribution), params("customer", "acme")}},
		"where AWS refuses one of a bare tenant":  {true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.NewOffline(t, world.Options{Seed: hostileSeed()})
			ready(t, w, "alpha", c.object...)
			want := inAWS(t, w, "alpha")
			want.Enabled = false
			if c.refuses {
				fault(t, w, sim.Fault{
					Operation: "UpdateDistributionTenant", Kind: sim.Instead, Error: &sim.FaultError{Status: http.StatusBadRequest, Code: "InvalidArgument", Message: "The parameter Domains is required."},
				})
			}
			w.Delete("alpha")
			w.Advance(10 * time.Second)
			if d := cmp.Diff(want, inAWS(t, w, "alpha"), sameConfiguration); d != "" {
				t.Errorf("while it is disabled (-want +got):\n%s", d)
			}
			w.Advance(settle)
			gone(t, w, "alpha")
		})
	}
}
