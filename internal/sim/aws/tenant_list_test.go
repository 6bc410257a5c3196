package aws_test

import (
	"fmt"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

func TestListTenants(t *testing.T) {
	sim := newSim(t, func(o *aws.Options) { o.PageSize = 4 })
	ctx, c := t.Context(), client(sim)
	for i := range 10 {
		mustCreate(t, sim, fmt.Sprintf("tenant-%d", i), func(in *createInput) {
			if i%2 == 0 {
				in.ConnectionGroupId = sdk.String(homeGroup)
			}
			if i == 3 {
				in.DistributionId, in.Parameters = sdk.String("E2NOPARAMS"), nil
			}
		})
	}
	t.Run("pages hold the cap and end without a marker", func(t *testing.T) {
		var sizes []int
		pages := cloudfront.NewListDistributionTenantsPaginator(c, &cloudfront.ListDistributionTenantsInput{MaxItems: sdk.Int32(1000)})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				t.Fatal(err)
			}
			sizes = append(sizes, len(page.DistributionTenantList))
		}
		if diff := cmp.Diff([]int{4, 4, 2}, sizes); diff != "" {
			t.Errorf("page sizes (-want +got):\n%s", diff)
		}
	})
	t.Run("a summary has the ETag and no parameters", func(t *testing.T) {
		got := list(t, sim)[0]
		full := get(t, sim, "tenant-0")
		want := types.DistributionTenantSummary{
			Id: full.DistributionTenant.Id, Arn: full.DistributionTenant.Arn, Name: sdk.String("tenant-0"), ETag: full.ETag,
			DistributionId: sdk.String(multiTenant), ConnectionGroupId: sdk.String(homeGroup), Enabled: sdk.Bool(true), Status: sdk.String("InProgress"),
			Domains:     []types.DomainResult{{Domain: sdk.String("tenant-0.example.com"), Status: "active"}},
			CreatedTime: sdk.Time(startTime), LastModifiedTime: sdk.Time(startTime),
		}
		if diff := cmp.Diff(want, got, cmpSDK); diff != "" {
			t.Errorf("summary (-want +got):\n%s", diff)
		}
	})
	for name, tc := range map[string]struct {
		filter types.DistributionTenantAssociationFilter
		want   int
	}{
		"no filter":                  {types.DistributionTenantAssociationFilter{}, 10},
		"by distribution":            {types.DistributionTenantAssociationFilter{DistributionId: sdk.String("E2NOPARAMS")}, 1},
		"by group":                   {types.DistributionTenantAssociationFilter{ConnectionGroupId: sdk.String(homeGroup)}, 5},
		"by both, which means and":   {types.DistributionTenantAssociationFilter{DistributionId: sdk.String("E2NOPARAMS"), ConnectionGroupId: sdk.String(homeGroup)}, 0},
		"by a group without tenants": {types.DistributionTenantAssociationFilter{ConnectionGroupId: sdk.String(otherGroup)}, 0},
	} {
		t.Run("filter "+name, func(t *testing.T) {
			if got := len(listWith(ctx, t, c, &cloudfront.ListDistributionTenantsInput{AssociationFilter: &tc.filter})); got != tc.want {
				t.Errorf("listed %d, want %d", got, tc.want)
			}
		})
	}
	t.Run("an account sees its own", func(t *testing.T) {
		got := listWith(ctx, t, cloudFrontClient(sim, foreignKey), &cloudfront.ListDistributionTenantsInput{})
		if len(got) != 1 || *got[0].Name != "foreign" {
			t.Errorf("the other account lists %d tenants", len(got))
		}
	})
	for name, in := range map[string]*cloudfront.ListDistributionTenantsInput{
		"a marker that was made up": {Marker: sdk.String("tenant-3")},
		"a page of no items":        {MaxItems: sdk.Int32(0)},
		"a page of minus items":     {MaxItems: sdk.Int32(-1)},
	} {
		t.Run("refuses "+name, func(t *testing.T) {
			_, err := c.ListDistributionTenants(ctx, in)
			wantRefusal(t, err, 400, "InvalidArgument")
		})
	}
	t.Run("a page goes on where it stopped although items went", func(t *testing.T) {
		first := must[*cloudfront.ListDistributionTenantsOutput](t)(c.ListDistributionTenants(ctx, &cloudfront.ListDistributionTenantsInput{}))
		victim := first.DistributionTenantList[3]
		out := update(t, sim, &cloudfront.UpdateDistributionTenantInput{Id: victim.Id, IfMatch: victim.ETag, Enabled: sdk.Bool(false)})
		settle(sim)
		if _, err := c.DeleteDistributionTenant(ctx, &cloudfront.DeleteDistributionTenantInput{Id: victim.Id, IfMatch: out.ETag}); err != nil {
			t.Fatal(err)
		}
		second := must[*cloudfront.ListDistributionTenantsOutput](t)(c.ListDistributionTenants(ctx, &cloudfront.ListDistributionTenantsInput{Marker: first.NextMarker}))
		if got := *second.DistributionTenantList[0].Name; got != "tenant-4" {
			t.Errorf("the second page begins with %s", got)
		}
	})
}

func TestListTenantsByCustomization(t *testing.T) {
	sim := newSim(t)
	arn := "arn:aws:wafv2:us-east-1:111122223333:global/webacl/x/y"
	mustCreate(t, sim, "acl", func(in *createInput) {
		in.Customizations = &types.Customizations{WebAcl: &types.WebAclCustomization{Action: "override", Arn: &arn}}
	})
	mustCreate(t, sim, "cert", func(in *createInput) {
		in.Customizations = &types.Customizations{Certificate: &types.Certificate{Arn: sdk.String(certARN(2))}}
	})
	for name, tc := range map[string]struct {
		in   cloudfront.ListDistributionTenantsByCustomizationInput
		want string
	}{
		"web ACL":     {cloudfront.ListDistributionTenantsByCustomizationInput{WebACLArn: &arn}, "acl"},
		"certificate": {cloudfront.ListDistributionTenantsByCustomizationInput{CertificateArn: sdk.String(certARN(2))}, "cert"},
	} {
		t.Run("by "+name, func(t *testing.T) {
			out, err := client(sim).ListDistributionTenantsByCustomization(t.Context(), &tc.in)
			if err != nil {
				t.Fatal(err)
			}
			if len(out.DistributionTenantList) != 1 || *out.DistributionTenantList[0].Name != tc.want {
				t.Errorf("listed %+v, want %s alone", out.DistributionTenantList, tc.want)
			}
		})
	}
	for name, in := range map[string]*cloudfront.ListDistributionTenantsByCustomizationInput{
		"neither": {},
		"both":    {WebACLArn: &arn, CertificateArn: sdk.String(certARN(2))},
	} {
		t.Run("refuses "+name, func(t *testing.T) {
			_, err := client(sim).ListDistributionTenantsByCustomization(t.Context(), in)
			wantRefusal(t, err, 400, "InvalidArgument")
		})
	}
}
