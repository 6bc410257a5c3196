package distributiontenant_test

import (
	"slices"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// aSweep is long enough for one sweep, the correction and its deployment.
const aSweep = 9 * time.Minute

const (
	secondCertificate  = "arn:aws:acm:us-east-1:111122223333:certificate/00000000-0000-4000-8000-000000000002"
	secondDistribution = "ESECOND1"
	secondGroup        = "cg_second"
)

// driftSeed has something to drift to.
func driftSeed() *sim.Seed {
	s := world.Seed()
	s.Certificates = append(s.Certificates, sim.SeedCertificate{ARN: secondCertificate, Names: []string{"*.example.com"}})
	s.Distributions = append(s.Distributions, sim.SeedDistribution{
		ID: secondDistribution, CertificateARN: sim.DefaultCertificateARN, Parameters: s.Distributions[0].Parameters,
	})
	s.ConnectionGroups = append(s.ConnectionGroups,
		sim.SeedConnectionGroup{ID: "cg_default", Default: true}, sim.SeedConnectionGroup{ID: secondGroup, Name: "second"})
	return &s
}

// drifting is one kind of out-of-band change to a tenant, and what is listed of it.
type drifting struct {
	change func(t *testing.T, w *world.World)
	fields []string
	// ready is what Ready says while the drift stands; empty: it serves all the same.
	ready string
}

func updating(change func(*cloudfront.UpdateDistributionTenantInput)) func(*testing.T, *world.World) {
	return func(t *testing.T, w *world.World) { t.Helper(); outOfBand(t, w, "alpha", change) }
}

func domainItems(names ...string) []types.DomainItem {
	var items []types.DomainItem
	for _, n := range names {
		items = append(items, types.DomainItem{Domain: awssdk.String(n)})
	}
	return items
}

func customized(change func(*types.Customizations)) func(*testing.T, *world.World) {
	return updating(func(in *cloudfront.UpdateDistributionTenantInput) {
		in.Customizations = &types.Customizations{
			WebAcl:      &types.WebAclCustomization{Action: "override", Arn: awssdk.String(webACL)},
			Certificate: &types.Certificate{Arn: awssdk.String(sim.DefaultCertificateARN)},
			GeoRestrictions: &types.GeoRestrictionCustomization{
				RestrictionType: "whitelist", Locations: []string{"DE", "FR"},
			},
		}
		change(in.Customizations)
	})
}

func drifts() map[string]drifting {
	return map[string]drifting{
		"a domain more": {updating(func(in *cloudfront.UpdateDistributionTenantInput) {
			in.Domains = domainItems("alpha.example.com", "sneaked.example.com")
		}), []string{"domains"}, ""},
		"another domain": {updating(func(in *cloudfront.UpdateDistributionTenantInput) {
			in.Domains = domainItems("other.example.com")
		}), []string{"domains"}, "Ready=False/DomainValidationPending"},
		"a parameter changed, one gone": {updating(func(in *cloudfront.UpdateDistributionTenantInput) {
			in.Parameters = []types.Parameter{{Name: awssdk.String("tier"), Value: awssdk.String("lead")}}
		}), []string{"parameters[origin]", "parameters[tier]"}, ""},
		"disabled": {updating(func(in *cloudfront.UpdateDistributionTenantInput) {
			in.Enabled = awssdk.Bool(false)
		}), []string{"enabled"}, "Ready=False/AWSError"},
		"another distribution": {updating(func(in *cloudfront.UpdateDistributionTenantInput) {
			in.DistributionId = awssdk.String(secondDistribution)
		}), []string{"distributionId"}, ""},
		"another connection group": {updating(func(in *cloudfront.UpdateDistributionTenantInput) {
			in.ConnectionGroupId = awssdk.String(secondGroup)
		}), []string{"connectionGroupId"}, ""},
		"another web ACL": {customized(func(c *types.Customizations) {
			c.WebAcl.Arn = awssdk.String(webACL + "x")
		}), []string{"customizations.webAcl"}, ""},
		"the web ACL removed by its own operation": {func(t *testing.T, w *world.World) {
			t.Helper()
			s := inAWS(t, w, "alpha")
			_, err := w.AWS().DisassociateDistributionTenantWebACL(t.Context(), &cloudfront.DisassociateDistributionTenantWebACLInput{Id: &s.ID, IfMatch: &s.ETag})
			if err != nil {
				t.Fatal(err)
			}
		}, []string{"customizations.webAcl"}, ""},
		"another certificate": {customized(func(c *types.Customizations) {
			c.Certificate.Arn = awssdk.String(secondCertificate)
		}), []string{"customizations.certificate.arn"}, ""},
		"another country": {customized(func(c *types.Customizations) {
			c.GeoRestrictions.Locations = []string{"DE", "US"}
		}), []string{"customizations.geoRestrictions"}, ""},
		"no customizations": {updating(func(in *cloudfront.UpdateDistributionTenantInput) {
			in.Customizations = &types.Customizations{}
		}), []string{"customizations.certificate.arn", "customizations.geoRestrictions", "customizations.webAcl"}, ""},
	}
}

// pinned fills the spec, the connection group included.
func pinned(o *v1alpha1.DistributionTenant) {
	rich(o)
	o.Spec.ConnectionGroupID = "cg_default"
}

// sameConfiguration compares tenants without what every update moves.
var sameConfiguration = cmpopts.IgnoreFields(sim.TenantState{}, "ETag", "LastModifiedTime", "Status")

func TestDriftIsCorrectedUnderEnforceWithinASweep(t *testing.T) {
	t.Parallel()
	for name, d := range drifts() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.NewOffline(t, world.Options{Seed: driftSeed()})
			ready(t, w, "alpha", pinned)
			before, calls := inAWS(t, w, "alpha"), w.Calls()
			d.change(t, w)
			w.Advance(aSweep)
			is(t, w, "alpha", readyTrue, syncedTrue)
			if diff := cmp.Diff(before, inAWS(t, w, "alpha"), sameConfiguration); diff != "" {
				t.Errorf("the tenant (-before +after):\n%s", diff)
			}
			if n := world.Since(calls, w.Calls())["UpdateDistributionTenant"]; n > 2 {
				t.Errorf("%d updates, the drift included", n)
			}
			if w.Drift != 1 || !slices.Contains(w.Reasons("alpha"), "DriftCorrected") {
				t.Errorf("drift was counted %d times; events: %v", w.Drift, w.Reasons("alpha"))
			}
		})
	}
}

func TestDriftIsListedUnderReportAndNothingIsWritten(t *testing.T) {
	t.Parallel()
	for name, d := range drifts() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.NewOffline(t, world.Options{Seed: driftSeed()})
			ready(t, w, "alpha", pinned, drift(v1alpha1.DriftPolicyReport))
			before := inAWS(t, w, "alpha")
			d.change(t, w)
			drifted := inAWS(t, w, "alpha")
			w.Advance(aSweep)
			is(t, w, "alpha", "Synced=False/DriftDetected", firstOf(d.ready, readyTrue))
			var fields []string
			for _, f := range get(t, w, "alpha").Status.Drift {
				fields = append(fields, f.Field)
				if f.Desired == f.Observed {
					t.Errorf("%s: %q equals %q", f.Field, f.Desired, f.Observed)
				}
			}
			slices.Sort(fields)
			if diff := cmp.Diff(d.fields, fields); diff != "" {
				t.Errorf("fields (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(drifted, inAWS(t, w, "alpha"), cmpopts.IgnoreFields(sim.TenantState{}, "Status")); diff != "" {
				t.Errorf("the tenant was touched (-before +after):\n%s", diff)
			}
			// Reporting costs once.
			writes := w.Writes()
			w.Advance(time.Hour)
			if n := w.Writes() - writes; n != 0 {
				t.Errorf("a standing drift made %d writes in an hour", n)
			}
			// A change of the spec approves it: the whole spec is enforced again.
			w.Edit("alpha", params("tier", "platinum", "origin", "shop"))
			w.Advance(settle)
			is(t, w, "alpha", readyTrue, syncedTrue)
			before.Parameters["tier"] = "platinum"
			if diff := cmp.Diff(before, inAWS(t, w, "alpha"), sameConfiguration); diff != "" {
				t.Errorf("the tenant after an edit (-want +got):\n%s", diff)
			}
			if o := get(t, w, "alpha"); len(o.Status.Drift) != 0 || o.Status.DriftDetected {
				t.Errorf("status still lists drift: %v", o.Status.Drift)
			}
		})
	}
}

func TestDriftIsIgnoredUnderSuspend(t *testing.T) {
	t.Parallel()
	for name, d := range drifts() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.NewOffline(t, world.Options{Seed: driftSeed()})
			ready(t, w, "alpha", pinned, drift(v1alpha1.DriftPolicySuspend))
			d.change(t, w)
			drifted := inAWS(t, w, "alpha")
			w.Advance(aSweep)
			is(t, w, "alpha", firstOf(d.ready, readyTrue), syncedTrue)
			if diff := cmp.Diff(drifted, inAWS(t, w, "alpha"), cmpopts.IgnoreFields(sim.TenantState{}, "Status")); diff != "" {
				t.Errorf("the tenant was touched (-before +after):\n%s", diff)
			}
			if o := get(t, w, "alpha"); len(o.Status.Drift) != 0 || o.Status.DriftDetected {
				t.Errorf("status lists drift: %v", o.Status.Drift)
			}
		})
	}
}

func TestDriftThatStoodUnderReportIsCorrectedOnceEnforced(t *testing.T) {
	t.Parallel()
	w := world.NewOffline(t, world.Options{Seed: driftSeed()})
	ready(t, w, "alpha", pinned, drift(v1alpha1.DriftPolicyReport))
	before := inAWS(t, w, "alpha")
	drifts()["disabled"].change(t, w)
	w.Advance(aSweep)
	is(t, w, "alpha", "Synced=False/DriftDetected")
	w.Edit("alpha", drift(v1alpha1.DriftPolicyEnforce))
	w.Advance(settle)
	is(t, w, "alpha", readyTrue, syncedTrue)
	if diff := cmp.Diff(before, inAWS(t, w, "alpha"), sameConfiguration); diff != "" {
		t.Errorf("the tenant (-want +got):\n%s", diff)
	}
}

func TestABlockThatLeavesTheSpecLeavesAWS(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit edit
		gone func(s sim.TenantState) bool
	}{
		"parameters":     {params(), func(s sim.TenantState) bool { return len(s.Parameters) == 0 }},
		"one parameter":  {params("tier", "gold"), func(s sim.TenantState) bool { return len(s.Parameters) == 1 }},
		"customizations": {func(o *v1alpha1.DistributionTenant) { o.Spec.Customizations = nil }, func(s sim.TenantState) bool { return cmp.Equal(s.Customizations, sim.CustomizationState{}) }},
		"the web ACL": {func(o *v1alpha1.DistributionTenant) { o.Spec.Customizations.WebACL = nil }, func(s sim.TenantState) bool {
			return s.Customizations.WebACLARN == "" && s.Customizations.CertificateARN != ""
		}},
		"the certificate": {func(o *v1alpha1.DistributionTenant) { o.Spec.Customizations.Certificate = nil }, func(s sim.TenantState) bool {
			return s.Customizations.CertificateARN == "" && s.Customizations.WebACLARN != ""
		}},
		"the countries": {func(o *v1alpha1.DistributionTenant) { o.Spec.Customizations.GeoRestrictions = nil }, func(s sim.TenantState) bool { return s.Customizations.GeoRestrictionType == "" }},
		"all tags":      {tags(), func(s sim.TenantState) bool { return len(s.Tags) == 4 }},
		"one tag":       {tags("team", "web"), func(s sim.TenantState) bool { return len(s.Tags) == 5 && s.Tags["team"] == "web" }},
		"a domain":      {domains("alpha.example.com"), func(s sim.TenantState) bool { return len(s.Domains) == 1 }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.NewOffline(t, world.Options{})
			takesEmptyBlocks(w)
			ready(t, w, "alpha", rich, domains("alpha.example.com", "www-alpha.example.com"))
			w.Edit("alpha", c.edit)
			w.Advance(settle)
			is(t, w, "alpha", readyTrue, syncedTrue)
			if s := inAWS(t, w, "alpha"); !c.gone(s) {
				t.Errorf("AWS still has it: %+v", s)
			}
		})
	}
}

// Where AWS takes no empty block, whatever else was edited arrives at once, and what can't be taken away is named.
func TestABlockThatCantBeTakenAwayHoldsNothingElseUp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit  edit
		block string
	}{
		"parameters":     {params(), "Parameters"},
		"customizations": {func(o *v1alpha1.DistributionTenant) { o.Spec.Customizations = nil }, "Customizations"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.NewOffline(t, world.Options{})
			ready(t, w, "alpha", rich)
			before, calls := inAWS(t, w, "alpha"), w.Calls()
			w.Edit("alpha", func(o *v1alpha1.DistributionTenant) {
				c.edit(o)
				domains("alpha.example.com", "www-alpha.example.com")(o)
			})
			w.Advance(time.Second)
			if n := world.Since(calls, w.Calls())["UpdateDistributionTenant"]; n > 3 {
				t.Errorf("%d updates in the first second: one is refused, one brings the rest, and one tries the block alone", n)
			}
			w.Advance(settle)
			is(t, w, "alpha", "Ready=False/InvalidSpec")
			says(t, w, "alpha", "Ready", c.block+" is empty")
			after := inAWS(t, w, "alpha")
			if len(after.Domains) != 2 {
				t.Errorf("the domains are %v", after.Domains)
			}
			if d := cmp.Diff(before.Parameters, after.Parameters) + cmp.Diff(before.Customizations, after.Customizations); d != "" {
				t.Errorf("what can't be taken away (-want +got):\n%s", d)
			}
			w.Edit("alpha", func(o *v1alpha1.DistributionTenant) {
				rich(o)
				domains("alpha.example.com", "www-alpha.example.com")(o)
			})
			w.Advance(settle)
			is(t, w, "alpha", readyTrue, syncedTrue)
		})
	}
}

// Members that an update leaves alone are nowhere in its body, where AWS could find fault with it.
func TestAnUpdateSendsWhatWasAskedFor(t *testing.T) {
	t.Parallel()
	for name, allowed := range map[string]sim.Doubts{"AWS refuses what is doubtful": {}, "AWS takes it": sim.AllAllowed()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.NewOffline(t, world.Options{})
			w.Sim.ChangeSwitches(func(s *sim.Switches) { s.Allowed = allowed })
			ready(t, w, "alpha")
			calls := w.Calls()["UpdateDistributionTenant"]
			for _, change := range []edit{
				domains("alpha.example.com", "www-alpha.example.com"), params("tier", "gold"), func(o *v1alpha1.DistributionTenant) { o.Spec.Enabled = new(false) },
			} {
				w.Edit("alpha", change)
				w.Advance(settle)
				is(t, w, "alpha", syncedTrue)
			}
			if n := w.Calls()["UpdateDistributionTenant"] - calls; n != 3 {
				t.Errorf("%d updates for three edits", n)
			}
		})
	}
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
