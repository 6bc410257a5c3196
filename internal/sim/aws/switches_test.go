package aws_test

import (
	"iter"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

// bothWays yields a fresh simulator with a switch off and one with it on.
func bothWays(t *testing.T, name string, set func(*aws.Switches, bool)) iter.Seq2[bool, *aws.Sim] {
	t.Helper()
	return func(yield func(bool, *aws.Sim) bool) {
		for _, on := range []bool{false, true} {
			t.Logf("%s = %v", name, on)
			sim := newSim(t)
			sim.ChangeSwitches(func(sw *aws.Switches) { set(sw, on) })
			if !yield(on, sim) {
				return
			}
		}
	}
}

func disable(t *testing.T, sim *aws.Sim, id *string, etag string) string {
	t.Helper()
	return *update(t, sim, &cloudfront.UpdateDistributionTenantInput{Id: id, IfMatch: &etag, Enabled: sdk.Bool(false)}).ETag
}

func TestSwitchDeleteNeedsDeployed(t *testing.T) {
	for on, sim := range bothWays(t, "deleteNeedsDeployed", func(sw *aws.Switches, on bool) { sw.DeleteNeedsDeployed = on }) {
		tenant, etag := mustCreate(t, sim, "acme")
		etag = disable(t, sim, tenant.Id, etag)
		_, err := client(sim).DeleteDistributionTenant(t.Context(), &cloudfront.DeleteDistributionTenantInput{Id: tenant.Id, IfMatch: &etag})
		if on {
			wantRefusal(t, err, 409, "ResourceNotDisabled")
		} else if err != nil {
			t.Errorf("deleting right after disabling: %v", err)
		}
	}
}

func TestSwitchUpdateReplaces(t *testing.T) {
	for on, sim := range bothWays(t, "updateReplaces", func(sw *aws.Switches, on bool) { sw.UpdateReplaces = on }) {
		group := createGroup(t, sim, &cloudfront.CreateConnectionGroupInput{Name: sdk.String("one"), AnycastIpListId: sdk.String("aip_1"), Ipv6Enabled: sdk.Bool(false)})
		out := must[*cloudfront.UpdateConnectionGroupOutput](t)(client(sim).UpdateConnectionGroup(t.Context(), &cloudfront.UpdateConnectionGroupInput{
			Id: group.ConnectionGroup.Id, IfMatch: group.ETag, Enabled: sdk.Bool(true),
		}))
		got := out.ConnectionGroup
		replaced := sdk.ToBool(got.Ipv6Enabled) && sdk.ToString(got.AnycastIpListId) == ""
		kept := !sdk.ToBool(got.Ipv6Enabled) && sdk.ToString(got.AnycastIpListId) == "aip_1"
		if on && !replaced || !on && !kept {
			t.Errorf("after an update that names Enabled only: %+v", got)
		}
	}
}

func TestSwitchCustomizationsMerge(t *testing.T) {
	for on, sim := range bothWays(t, "customizationsMerge", func(sw *aws.Switches, on bool) { sw.CustomizationsMerge = on }) {
		tenant, etag := mustCreate(t, sim, "acme", func(in *createInput) {
			in.Customizations = &types.Customizations{Certificate: &types.Certificate{Arn: sdk.String(certARN(2))}}
		})
		update(t, sim, &cloudfront.UpdateDistributionTenantInput{Id: tenant.Id, IfMatch: &etag, Customizations: &types.Customizations{
			GeoRestrictions: &types.GeoRestrictionCustomization{RestrictionType: "none"},
		}})
		got, _ := sim.Tenant("", "acme")
		if kept := got.Customizations.CertificateARN != ""; kept != on {
			t.Errorf("the certificate was kept: %v", kept)
		}
		if got.Customizations.GeoRestrictionType != "none" {
			t.Error("what was sent did not arrive")
		}
	}
}

func TestSwitchEmptyBlocksClear(t *testing.T) {
	for on, sim := range bothWays(t, "emptyBlocksClear", func(sw *aws.Switches, on bool) { sw.EmptyBlocksClear, sw.Allowed.EmptyBlocks = on, true }) {
		tenant, etag := mustCreate(t, sim, "acme", func(in *createInput) {
			in.DistributionId, in.Parameters = sdk.String("E2NOPARAMS"), nil
			in.Customizations = &types.Customizations{Certificate: &types.Certificate{Arn: sdk.String(certARN(2))}}
		})
		update(t, sim, &cloudfront.UpdateDistributionTenantInput{Id: tenant.Id, IfMatch: &etag, Customizations: &types.Customizations{}})
		got, _ := sim.Tenant("", "acme")
		if cleared := got.Customizations.CertificateARN == ""; cleared != on {
			t.Errorf("the block was cleared: %v", cleared)
		}
	}
}

func TestSwitchEnabledByDefault(t *testing.T) {
	for on, sim := range bothWays(t, "enabledByDefault", func(sw *aws.Switches, on bool) { sw.EnabledByDefault = on }) {
		tenant, _ := mustCreate(t, sim, "acme", func(in *createInput) { in.Enabled = nil })
		if sdk.ToBool(tenant.Enabled) != on {
			t.Errorf("a create that does not say is enabled: %v", *tenant.Enabled)
		}
	}
}

func TestSwitchDeployMovesETag(t *testing.T) {
	for on, sim := range bothWays(t, "deployMovesETag", func(sw *aws.Switches, on bool) { sw.DeployMovesETag = on }) {
		tenant, etag := mustCreate(t, sim, "acme")
		settle(sim)
		moved := *get(t, sim, "acme").ETag
		if (moved != etag) != on || *list(t, sim)[0].ETag != moved {
			t.Errorf("ETag %s became %s", etag, moved)
		}
		_, err := client(sim).UpdateDistributionTenant(t.Context(), &cloudfront.UpdateDistributionTenantInput{Id: tenant.Id, IfMatch: &etag})
		if on {
			wantRefusal(t, err, 412, "PreconditionFailed")
		} else if err != nil {
			t.Error(err)
		}
	}
}

func TestSwitchSummaryETagDiffers(t *testing.T) {
	for on, sim := range bothWays(t, "summaryETagDiffers", func(sw *aws.Switches, on bool) { sw.SummaryETagDiffers = on }) {
		tenant, etag := mustCreate(t, sim, "acme")
		shown := *list(t, sim)[0].ETag
		if (shown != etag) != on {
			t.Errorf("the list shows %s, Get %s", shown, etag)
		}
		_, err := client(sim).UpdateDistributionTenant(t.Context(), &cloudfront.UpdateDistributionTenantInput{Id: tenant.Id, IfMatch: &shown})
		if on {
			wantRefusal(t, err, 412, "PreconditionFailed")
		} else if err != nil {
			t.Error(err)
		}
		before := *list(t, sim)[0].ETag
		update(t, sim, &cloudfront.UpdateDistributionTenantInput{Id: tenant.Id, IfMatch: get(t, sim, "acme").ETag})
		if *list(t, sim)[0].ETag == before {
			t.Error("the summary's ETag did not move with a change")
		}
	}
}

func TestSwitchGetReturnsTags(t *testing.T) {
	for on, sim := range bothWays(t, "getReturnsTags", func(sw *aws.Switches, on bool) { sw.GetReturnsTags = on }) {
		mustCreate(t, sim, "acme", func(in *createInput) { in.Tags = tagSet("a", "b") })
		if got := get(t, sim, "acme").DistributionTenant.Tags; (got != nil) != on {
			t.Errorf("Get answers with tags %+v", got)
		}
	}
}

func TestSwitchTagMovesETag(t *testing.T) {
	for on, sim := range bothWays(t, "tagMovesETag", func(sw *aws.Switches, on bool) { sw.TagMovesETag = on }) {
		tenant, etag := mustCreate(t, sim, "acme")
		settle(sim)
		for _, arn := range []string{
			*tenant.Arn, "arn:aws:cloudfront::111122223333:connection-group/" + homeGroup, "arn:aws:cloudfront::111122223333:distribution/" + plain,
		} {
			if _, err := client(sim).TagResource(t.Context(), &cloudfront.TagResourceInput{Resource: &arn, Tags: tagSet("a", "b")}); err != nil {
				t.Fatal(err)
			}
		}
		after := get(t, sim, "acme")
		if (*after.ETag != etag) != on || *after.DistributionTenant.Status != "Deployed" {
			t.Errorf("ETag %s became %s, status %s", etag, *after.ETag, *after.DistributionTenant.Status)
		}
	}
}

func TestSwitchListLag(t *testing.T) {
	sim := newSim(t)
	sim.ChangeSwitches(func(sw *aws.Switches) { sw.ListLag = 30 * time.Second })
	names := func() (out []string) {
		for _, s := range list(t, sim) {
			out = append(out, *s.Name+" "+*s.ETag)
		}
		return out
	}
	_, first := mustCreate(t, sim, "acme")
	if got := names(); len(got) != 0 {
		t.Errorf("just created, listed as %v", got)
	}
	sim.Advance(31 * time.Second)
	tenant := get(t, sim, "acme")
	second := disable(t, sim, tenant.DistributionTenant.Id, first)
	if got := names(); len(got) != 1 || got[0] != "acme "+first {
		t.Errorf("right after an update, listed as %v, want the old ETag %s", got, first)
	}
	sim.Advance(31 * time.Second)
	if got := names(); len(got) != 1 || got[0] != "acme "+second {
		t.Errorf("a while after an update, listed as %v, want %s", got, second)
	}
	if _, err := client(sim).DeleteDistributionTenant(t.Context(), &cloudfront.DeleteDistributionTenantInput{Id: tenant.DistributionTenant.Id, IfMatch: &second}); err != nil {
		t.Fatal(err)
	}
	if got := names(); len(got) != 1 {
		t.Errorf("just deleted, listed as %v", got)
	}
	sim.Advance(31 * time.Second)
	if got := names(); len(got) != 0 {
		t.Errorf("a while after the delete, listed as %v", got)
	}
}

func TestSwitchGetLag(t *testing.T) {
	sim := newSim(t)
	sim.ChangeSwitches(func(sw *aws.Switches) { sw.GetLag = 30 * time.Second })
	tenant, _ := mustCreate(t, sim, "acme")
	ctx, c := t.Context(), client(sim)
	_, err := c.GetDistributionTenant(ctx, &cloudfront.GetDistributionTenantInput{Identifier: sdk.String("acme")})
	wantRefusal(t, err, 404, "EntityNotFound")
	_, err = c.GetDistributionTenantByDomain(ctx, &cloudfront.GetDistributionTenantByDomainInput{Domain: sdk.String("acme.example.com")})
	wantRefusal(t, err, 404, "EntityNotFound")
	_, err = c.ListTagsForResource(ctx, &cloudfront.ListTagsForResourceInput{Resource: tenant.Arn})
	wantRefusal(t, err, 404, "NoSuchResource")
	if got := list(t, sim); len(got) != 0 {
		t.Errorf("it is listed: %v", got)
	}
	_, err = c.CreateDistributionTenant(ctx, tenantInput("acme"))
	wantRefusal(t, err, 409, "EntityAlreadyExists")
	_, err = c.CreateDistributionTenant(ctx, tenantInput("other", func(in *createInput) { in.Domains = domains("acme.example.com") }))
	wantRefusal(t, err, 409, "CNAMEAlreadyExists")
	sim.Advance(31 * time.Second)
	get(t, sim, "acme")
	if got := list(t, sim); len(got) != 1 {
		t.Errorf("after the lag it is not listed")
	}
}

func TestSwitchUpdateLag(t *testing.T) {
	sim := newSim(t)
	tenant, etag := mustCreate(t, sim, "acme")
	settle(sim)
	sim.ChangeSwitches(func(sw *aws.Switches) { sw.UpdateLag = 30 * time.Second })
	fresh := disable(t, sim, tenant.Id, etag)
	stale := get(t, sim, "acme")
	if !*stale.DistributionTenant.Enabled || *stale.DistributionTenant.Status != "Deployed" || *stale.ETag != etag {
		t.Errorf("right after disabling, Get shows enabled %v, %s", *stale.DistributionTenant.Enabled, *stale.DistributionTenant.Status)
	}
	sim.Advance(31 * time.Second)
	if got := get(t, sim, "acme"); *got.DistributionTenant.Enabled || *got.ETag != fresh {
		t.Error("after the lag Get still shows the old value")
	}
}

func TestSwitchDeleteLag(t *testing.T) {
	sim := newSim(t)
	sim.ChangeSwitches(func(sw *aws.Switches) { sw.DeleteLag = 30 * time.Second })
	mustCreate(t, sim, "acme")
	removeTenant(t, sim, "acme")
	get(t, sim, "acme")
	if got := list(t, sim); len(got) != 0 {
		t.Error("lists do not lag, but it is listed")
	}
	sim.Advance(31 * time.Second)
	_, err := client(sim).GetDistributionTenant(t.Context(), &cloudfront.GetDistributionTenantInput{Identifier: sdk.String("acme")})
	wantRefusal(t, err, 404, "EntityNotFound")
}

func TestSwitchDisregardParameters(t *testing.T) {
	for name, tc := range map[string]struct {
		keep map[string]string
		want string
	}{
		"off":                  {nil, "acme"},
		"upper case":           {map[string]string{"tenantId": ""}, "ACME"},
		"a value of AWS's own": {map[string]string{"tenantId": "fixed"}, "fixed"},
	} {
		t.Run(name, func(t *testing.T) {
			sim := newSim(t)
			sim.ChangeSwitches(func(sw *aws.Switches) { sw.DisregardParameters = tc.keep })
			tenant, etag := mustCreate(t, sim, "acme")
			if got := *tenant.Parameters[0].Value; got != tc.want {
				t.Errorf("created with %q, want %q", got, tc.want)
			}
			out := update(t, sim, &cloudfront.UpdateDistributionTenantInput{Id: tenant.Id, IfMatch: &etag, Parameters: params("tenantId", "acme")})
			if got := *out.DistributionTenant.Parameters[0].Value; got != tc.want {
				t.Errorf("updated to %q, want %q", got, tc.want)
			}
		})
	}
}

func TestSwitchEmptyCustomizationsEchoed(t *testing.T) {
	for on, sim := range bothWays(t, "emptyCustomizationsEchoed", func(sw *aws.Switches, on bool) { sw.EmptyCustomizationsEchoed = on }) {
		mustCreate(t, sim, "acme", func(in *createInput) { in.DistributionId, in.Parameters = sdk.String("E2NOPARAMS"), nil })
		got := get(t, sim, "acme").DistributionTenant
		if (got.Customizations != nil) != on || (got.Parameters != nil) != on {
			t.Errorf("got %+v and %+v", got.Customizations, got.Parameters)
		}
	}
}

func TestSwitchSelfHostedNeedsDNS(t *testing.T) {
	for on, sim := range bothWays(t, "selfHostedNeedsDNS", func(sw *aws.Switches, on bool) { sw.SelfHostedNeedsDNS = on }) {
		_, err := client(sim).CreateDistributionTenant(t.Context(), tenantInput("acme", func(in *createInput) {
			in.Domains = domains("elsewhere.customer.org")
			in.ManagedCertificateRequest = &types.ManagedCertificateRequest{ValidationTokenHost: "self-hosted"}
		}))
		if on {
			wantRefusal(t, err, 400, "InvalidArgument")
		} else if err != nil {
			t.Error(err)
		}
	}
}

func TestSwitchCoveredRequestIgnored(t *testing.T) {
	for on, sim := range bothWays(t, "coveredRequestIgnored", func(sw *aws.Switches, on bool) { sw.CoveredRequestIgnored = on }) {
		mustCreate(t, sim, "acme", func(in *createInput) {
			in.ManagedCertificateRequest = &types.ManagedCertificateRequest{ValidationTokenHost: "cloudfront"}
		})
		_, err := client(sim).GetManagedCertificateDetails(t.Context(), &cloudfront.GetManagedCertificateDetailsInput{Identifier: sdk.String("acme")})
		if on {
			wantRefusal(t, err, 404, "EntityNotFound")
		} else if err != nil {
			t.Error(err)
		}
	}
}

func TestSwitchDefaultGroupWithDistribution(t *testing.T) {
	for on, sim := range bothWays(t, "defaultGroupWithDistribution", func(sw *aws.Switches, on bool) { sw.DefaultGroupWithDistribution = on }) {
		createDistribution(t, sim, distributionConfig("new"))
		groups := sim.State().Accounts[0].ConnectionGroups
		if exists := groups[len(groups)-1].Default; exists != on {
			t.Errorf("there is a default group: %v", exists)
		}
	}
}

func TestSwitchMoveNeedsDisabledSource(t *testing.T) {
	for on, sim := range bothWays(t, "moveNeedsDisabledSource", func(sw *aws.Switches, on bool) { sw.MoveNeedsDisabledSource = on }) {
		mustCreate(t, sim, "source")
		target, _ := mustCreate(t, sim, "target")
		_, err := client(sim).UpdateDomainAssociation(t.Context(), &cloudfront.UpdateDomainAssociationInput{
			Domain: sdk.String("source.example.com"), TargetResource: &types.DistributionResourceId{DistributionTenantId: target.Id},
		})
		if on {
			wantRefusal(t, err, 400, "IllegalUpdate")
		} else if err != nil {
			t.Error(err)
		}
	}
}

func TestSwitchDeployDelay(t *testing.T) {
	sim := newSim(t)
	sim.ChangeSwitches(func(sw *aws.Switches) { sw.DeployDelay = time.Hour })
	mustCreate(t, sim, "slow")
	sim.ChangeSwitches(func(sw *aws.Switches) { sw.DeployDelay = 0 })
	fast, _ := mustCreate(t, sim, "fast")
	settle(sim)
	if got := *get(t, sim, "slow").DistributionTenant.Status; got != "InProgress" {
		t.Errorf("a deploy of an hour is %s after a minute", got)
	}
	if *fast.Status != "Deployed" {
		t.Errorf("a deploy without delay is %s at once", *fast.Status)
	}
}

func TestSetSwitchByName(t *testing.T) {
	for name, tc := range map[string]struct {
		name, value string
		wrong       bool
	}{
		"a boolean":                   {"updateReplaces", "true", false},
		"a duration":                  {"listLag", "10s", false},
		"a list":                      {"disregardParameters", "a,b=c", false},
		"an unknown name":             {"updatesReplace", "true", true},
		"a boolean that is none":      {"updateReplaces", "yes please", true},
		"a duration without a unit":   {"listLag", "10", true},
		"a duration that is negative": {"listLag", "-1s", true},
	} {
		t.Run(name, func(t *testing.T) {
			sw := aws.DefaultSwitches()
			if err := sw.Set(tc.name, tc.value); (err != nil) != tc.wrong {
				t.Errorf("Set(%s, %s) = %v", tc.name, tc.value, err)
			}
		})
	}
	var sw aws.Switches
	for _, name := range aws.SwitchNames() {
		values := []string{"true", "1s"}
		if sw.Set(name, values[0]) != nil && sw.Set(name, values[1]) != nil {
			t.Errorf("switch %s takes neither a boolean nor a duration", name)
		}
	}
}
