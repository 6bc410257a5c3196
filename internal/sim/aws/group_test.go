package aws_test

import (
	"strings"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

func createGroup(t *testing.T, sim *aws.Sim, in *cloudfront.CreateConnectionGroupInput) *cloudfront.CreateConnectionGroupOutput {
	t.Helper()
	return must[*cloudfront.CreateConnectionGroupOutput](t)(client(sim).CreateConnectionGroup(t.Context(), in))
}

func TestConnectionGroupLifecycle(t *testing.T) {
	sim := newSim(t)
	ctx, c := t.Context(), client(sim)
	created := createGroup(t, sim, &cloudfront.CreateConnectionGroupInput{
		Name: sdk.String("edge"), Ipv6Enabled: sdk.Bool(false), AnycastIpListId: sdk.String("aip_1"),
		Tags: &types.Tags{Items: []types.Tag{{Key: sdk.String("team"), Value: sdk.String("edge")}}},
	})
	group := created.ConnectionGroup
	if group.Tags == nil {
		t.Error("create did not echo the tags")
	}
	want := &types.ConnectionGroup{
		Id: group.Id, Arn: sdk.String("arn:aws:cloudfront::111122223333:connection-group/" + *group.Id), Name: sdk.String("edge"),
		RoutingEndpoint: group.RoutingEndpoint, AnycastIpListId: sdk.String("aip_1"), Ipv6Enabled: sdk.Bool(false),
		Enabled: sdk.Bool(true), IsDefault: sdk.Bool(false), Status: sdk.String("Deployed"),
		CreatedTime: sdk.Time(startTime), LastModifiedTime: sdk.Time(startTime),
	}
	settle(sim)
	for name, identifier := range map[string]*string{"id": group.Id, "name": group.Name, "ARN": group.Arn} {
		got, err := c.GetConnectionGroup(ctx, &cloudfront.GetConnectionGroupInput{Identifier: identifier})
		if err != nil {
			t.Fatalf("getting by %s: %v", name, err)
		}
		if diff := cmp.Diff(want, got.ConnectionGroup, cmpSDK); diff != "" {
			t.Errorf("group by %s (-want +got):\n%s", name, diff)
		}
	}
	byEndpoint, err := c.GetConnectionGroupByRoutingEndpoint(ctx, &cloudfront.GetConnectionGroupByRoutingEndpointInput{RoutingEndpoint: group.RoutingEndpoint})
	if err != nil || *byEndpoint.ConnectionGroup.Id != *group.Id {
		t.Errorf("by routing endpoint: %v, %v", byEndpoint, err)
	}
	// Only Enabled is sent: the rest stays.
	updated, err := c.UpdateConnectionGroup(ctx, &cloudfront.UpdateConnectionGroupInput{Id: group.Id, IfMatch: created.ETag, Enabled: sdk.Bool(false)})
	if err != nil {
		t.Fatal(err)
	}
	if sdk.ToBool(updated.ConnectionGroup.Enabled) || sdk.ToString(updated.ConnectionGroup.AnycastIpListId) != "aip_1" {
		t.Errorf("after the update: %+v", updated.ConnectionGroup)
	}
	_, err = c.DeleteConnectionGroup(ctx, &cloudfront.DeleteConnectionGroupInput{Id: group.Id, IfMatch: updated.ETag})
	wantRefusal(t, err, 409, "ResourceNotDisabled") // not settled
	settle(sim)
	_, err = c.DeleteConnectionGroup(ctx, &cloudfront.DeleteConnectionGroupInput{Id: group.Id, IfMatch: created.ETag})
	wantRefusal(t, err, 412, "PreconditionFailed")
	if _, err := c.DeleteConnectionGroup(ctx, &cloudfront.DeleteConnectionGroupInput{Id: group.Id, IfMatch: updated.ETag}); err != nil {
		t.Fatal(err)
	}
	_, err = c.GetConnectionGroup(ctx, &cloudfront.GetConnectionGroupInput{Identifier: group.Id})
	wantRefusal(t, err, 404, "EntityNotFound")
	_, err = c.GetConnectionGroupByRoutingEndpoint(ctx, &cloudfront.GetConnectionGroupByRoutingEndpointInput{RoutingEndpoint: group.RoutingEndpoint})
	wantRefusal(t, err, 404, "EntityNotFound")
}

func TestConnectionGroupRefusals(t *testing.T) {
	sim := newSim(t)
	ctx, c := t.Context(), client(sim)
	mustCreate(t, sim, "acme", func(in *createInput) { in.ConnectionGroupId = sdk.String(homeGroup) })
	home := must[*cloudfront.GetConnectionGroupOutput](t)(c.GetConnectionGroup(ctx, &cloudfront.GetConnectionGroupInput{Identifier: sdk.String(homeGroup)}))
	other := must[*cloudfront.GetConnectionGroupOutput](t)(c.GetConnectionGroup(ctx, &cloudfront.GetConnectionGroupInput{Identifier: sdk.String(otherGroup)}))

	t.Run("a name is taken once per account", func(t *testing.T) {
		_, err := c.CreateConnectionGroup(ctx, &cloudfront.CreateConnectionGroupInput{Name: sdk.String("home")})
		wantRefusal(t, err, 409, "EntityAlreadyExists")
	})
	t.Run("a group needs a name", func(t *testing.T) {
		_, err := c.CreateConnectionGroup(ctx, &cloudfront.CreateConnectionGroupInput{Name: sdk.String("")})
		wantRefusal(t, err, 400, "InvalidArgument")
	})
	t.Run("tags are checked", func(t *testing.T) {
		_, err := c.CreateConnectionGroup(ctx, &cloudfront.CreateConnectionGroupInput{
			Name: sdk.String("x"), Tags: &types.Tags{Items: []types.Tag{{Key: sdk.String("aws:x"), Value: sdk.String("")}}},
		})
		wantRefusal(t, err, 400, "InvalidTagging")
	})
	t.Run("a group with tenants cannot be deleted", func(t *testing.T) {
		_, err := c.DeleteConnectionGroup(ctx, &cloudfront.DeleteConnectionGroupInput{Id: sdk.String(homeGroup), IfMatch: home.ETag})
		wantRefusal(t, err, 409, "CannotDeleteEntityWhileInUse")
	})
	t.Run("a group with tenants cannot be disabled", func(t *testing.T) {
		_, err := c.UpdateConnectionGroup(ctx, &cloudfront.UpdateConnectionGroupInput{Id: sdk.String(homeGroup), IfMatch: home.ETag, Enabled: sdk.Bool(false)})
		wantRefusal(t, err, 409, "ResourceInUse")
	})
	t.Run("an enabled group cannot be deleted", func(t *testing.T) {
		_, err := c.DeleteConnectionGroup(ctx, &cloudfront.DeleteConnectionGroupInput{Id: sdk.String(otherGroup), IfMatch: other.ETag})
		wantRefusal(t, err, 409, "ResourceNotDisabled")
	})
	t.Run("a stale ETag", func(t *testing.T) {
		_, err := c.UpdateConnectionGroup(ctx, &cloudfront.UpdateConnectionGroupInput{Id: sdk.String(otherGroup), IfMatch: home.ETag})
		wantRefusal(t, err, 412, "PreconditionFailed")
	})
	t.Run("no ETag", func(t *testing.T) {
		for _, method := range []string{"PUT", "DELETE"} {
			if status, body := raw(t, sim, method, "/2020-05-31/connection-group/"+otherGroup, ""); status != 400 || !strings.Contains(body, "InvalidIfMatchVersion") {
				t.Errorf("%s: %d %s", method, status, body)
			}
		}
	})
	t.Run("writes take the id only", func(t *testing.T) {
		_, err := c.UpdateConnectionGroup(ctx, &cloudfront.UpdateConnectionGroupInput{Id: sdk.String("other"), IfMatch: other.ETag})
		wantRefusal(t, err, 404, "EntityNotFound")
	})
	t.Run("a member the format does not have", func(t *testing.T) {
		for method, request := range map[string]string{
			"POST":               "<CreateConnectionGroupRequest><Name>x</Name><Colour>red</Colour></CreateConnectionGroupRequest>",
			"PUT /" + otherGroup: "<UpdateConnectionGroupRequest><Name>x</Name></UpdateConnectionGroupRequest>",
			"POST ":              "<CreateConnectionGroupRequest><Enabled>true</Enabled></CreateConnectionGroupRequest>",
			"PUT /" + homeGroup:  "<UpdateConnectionGroupRequest><Enabled>maybe</Enabled></UpdateConnectionGroupRequest>",
		} {
			verb, path, _ := strings.Cut(method, " ")
			etag := map[string]string{"/" + otherGroup: *other.ETag, "/" + homeGroup: *home.ETag}[path]
			if status, body := raw(t, sim, verb, "/2020-05-31/connection-group"+path, request, "If-Match", etag); status != 400 || !strings.Contains(body, "MalformedXML") {
				t.Errorf("%s: %d %s", request, status, body)
			}
		}
	})
	t.Run("an Anycast list has a quota of its own", func(t *testing.T) {
		sim := newSim(t)
		sim.SetQuotas(aws.Quotas{GroupsPerAnycastList: 1})
		first := createGroup(t, sim, &cloudfront.CreateConnectionGroupInput{Name: sdk.String("one"), AnycastIpListId: sdk.String("aip_1")})
		_, err := client(sim).CreateConnectionGroup(ctx, &cloudfront.CreateConnectionGroupInput{Name: sdk.String("two"), AnycastIpListId: sdk.String("aip_1")})
		wantRefusal(t, err, 400, "EntityLimitExceeded")
		_, err = client(sim).UpdateConnectionGroup(ctx, &cloudfront.UpdateConnectionGroupInput{Id: sdk.String(otherGroup), IfMatch: other.ETag, AnycastIpListId: sdk.String("aip_1")})
		wantRefusal(t, err, 400, "EntityLimitExceeded")
		if _, err := client(sim).UpdateConnectionGroup(ctx, &cloudfront.UpdateConnectionGroupInput{Id: first.ConnectionGroup.Id, IfMatch: first.ETag, AnycastIpListId: sdk.String("aip_1")}); err != nil {
			t.Errorf("the group itself counts: %v", err)
		}
	})
	t.Run("an empty Anycast list clears, or is none", func(t *testing.T) {
		for clears, want := range map[bool]string{true: "", false: "aip_1"} {
			sim := allowing(newSim(t))
			sim.ChangeSwitches(func(sw *aws.Switches) { sw.EmptyBlocksClear = clears })
			group := createGroup(t, sim, &cloudfront.CreateConnectionGroupInput{Name: sdk.String("one"), AnycastIpListId: sdk.String("aip_1")})
			out := must[*cloudfront.UpdateConnectionGroupOutput](t)(client(sim).UpdateConnectionGroup(ctx, &cloudfront.UpdateConnectionGroupInput{
				Id: group.ConnectionGroup.Id, IfMatch: group.ETag, AnycastIpListId: sdk.String(""),
			}))
			if got := sdk.ToString(out.ConnectionGroup.AnycastIpListId); got != want {
				t.Errorf("clears %v: it is %q", clears, got)
			}
		}
	})
	t.Run("the quota", func(t *testing.T) {
		sim := newSim(t, func(o *aws.Options) { o.Quotas = aws.Quotas{ConnectionGroups: 3} })
		_, err := client(sim).CreateConnectionGroup(ctx, &cloudfront.CreateConnectionGroupInput{Name: sdk.String("fourth")})
		wantRefusal(t, err, 400, "EntityLimitExceeded")
	})
}

func TestDefaultConnectionGroup(t *testing.T) {
	sim := newSim(t)
	ctx, c := t.Context(), client(sim)
	groups := func() []types.ConnectionGroupSummary {
		var all []types.ConnectionGroupSummary
		pages := cloudfront.NewListConnectionGroupsPaginator(c, &cloudfront.ListConnectionGroupsInput{MaxItems: sdk.Int32(2)})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, page.ConnectionGroups...)
		}
		return all
	}
	if got := len(groups()); got != 3 {
		t.Fatalf("%d groups before there is a tenant, want the 3 seeded ones", got)
	}
	tenant, _ := mustCreate(t, sim, "acme")
	second, _ := mustCreate(t, sim, "second")
	all := groups()
	if len(all) != 4 {
		t.Fatalf("%d groups after two tenants without a group, want one more than 3", len(all))
	}
	created := all[3]
	if !sdk.ToBool(created.IsDefault) || *created.Name != "CreatedByCloudFront-"+*created.Id {
		t.Errorf("default group: %+v", created)
	}
	if *tenant.ConnectionGroupId != *created.Id || *second.ConnectionGroupId != *created.Id {
		t.Error("the tenants are not in the default group")
	}
	_, err := c.DeleteConnectionGroup(ctx, &cloudfront.DeleteConnectionGroupInput{Id: created.Id, IfMatch: created.ETag})
	wantRefusal(t, err, 409, "CannotDeleteEntityWhileInUse")

	t.Run("not even without tenants", func(t *testing.T) {
		world := seed()
		world.ConnectionGroups = []aws.SeedConnectionGroup{{Name: "mine", Default: true}}
		sim := newSim(t, func(o *aws.Options) { o.Seed = &world })
		tenant, _ := mustCreate(t, sim, "acme")
		state := sim.State().Accounts[0].ConnectionGroups
		if len(state) != 1 || state[0].ID != *tenant.ConnectionGroupId {
			t.Fatalf("a seeded default group is not used: %+v", state)
		}
		_, err := client(sim).UpdateConnectionGroup(ctx, &cloudfront.UpdateConnectionGroupInput{Id: &state[0].ID, IfMatch: &state[0].ETag, Enabled: sdk.Bool(false)})
		wantRefusal(t, err, 409, "ResourceInUse")
	})
	t.Run("filtered by Anycast list", func(t *testing.T) {
		createGroup(t, sim, &cloudfront.CreateConnectionGroupInput{Name: sdk.String("anycast"), AnycastIpListId: sdk.String("aip_1")})
		out, err := c.ListConnectionGroups(ctx, &cloudfront.ListConnectionGroupsInput{AssociationFilter: &types.ConnectionGroupAssociationFilter{AnycastIpListId: sdk.String("aip_1")}})
		if err != nil || len(out.ConnectionGroups) != 1 {
			t.Errorf("listed %v, %v", out, err)
		}
	})
}

func TestConnectionGroupIsFreeOnceItsTenantsLeft(t *testing.T) {
	for name, leave := range map[string]func(t *testing.T, sim *aws.Sim){
		"by being deleted": func(t *testing.T, sim *aws.Sim) {
			t.Helper()
			removeTenant(t, sim, "acme")
		},
		"by moving to another group": func(t *testing.T, sim *aws.Sim) {
			t.Helper()
			found := get(t, sim, "acme")
			update(t, sim, &cloudfront.UpdateDistributionTenantInput{Id: found.DistributionTenant.Id, IfMatch: found.ETag, ConnectionGroupId: sdk.String(homeGroup)})
		},
	} {
		t.Run(name, func(t *testing.T) {
			sim := newSim(t)
			mustCreate(t, sim, "acme", func(in *createInput) { in.ConnectionGroupId = sdk.String(otherGroup) })
			leave(t, sim)
			found := must[*cloudfront.GetConnectionGroupOutput](t)(client(sim).GetConnectionGroup(t.Context(), &cloudfront.GetConnectionGroupInput{Identifier: sdk.String(otherGroup)}))
			off := must[*cloudfront.UpdateConnectionGroupOutput](t)(client(sim).UpdateConnectionGroup(t.Context(), &cloudfront.UpdateConnectionGroupInput{
				Id: sdk.String(otherGroup), IfMatch: found.ETag, Enabled: sdk.Bool(false),
			}))
			settle(sim)
			if _, err := client(sim).DeleteConnectionGroup(t.Context(), &cloudfront.DeleteConnectionGroupInput{Id: sdk.String(otherGroup), IfMatch: off.ETag}); err != nil {
				t.Fatal(err)
			}
			again := aws.Seed{ConnectionGroups: []aws.SeedConnectionGroup{{ID: "cg_again", Name: "other", RoutingEndpoint: "dother.cloudfront.net"}}}
			if err := sim.Load(again); err != nil {
				t.Errorf("name and endpoint are not free again: %v", err)
			}
		})
	}
}
