package aws_test

import (
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	"github.com/google/go-cmp/cmp"
)

func TestTenantLifecycle(t *testing.T) {
	for name, overSocket := range map[string]bool{"over the round tripper": false, "over a socket": true} {
		t.Run(name, func(t *testing.T) {
			sim := newSim(t)
			c := client(sim)
			if overSocket {
				c, _ = socketClient(t, sim)
			}
			created, err := c.CreateDistributionTenant(t.Context(), tenantInput("acme", func(in *cloudfront.CreateDistributionTenantInput) {
				in.Tags = &types.Tags{Items: []types.Tag{{Key: sdk.String("team"), Value: sdk.String("edge")}}}
			}))
			if err != nil {
				t.Fatalf("creating: %v", err)
			}
			tenant := created.DistributionTenant
			if got := sdk.ToString(tenant.Status); got != "InProgress" {
				t.Errorf("status after create = %q, want InProgress", got)
			}
			if tenant.Tags == nil || len(tenant.Tags.Items) != 1 {
				t.Errorf("create did not echo the tags: %+v", tenant.Tags)
			}
			settle(sim)
			got, err := c.GetDistributionTenant(t.Context(), &cloudfront.GetDistributionTenantInput{Identifier: tenant.Arn})
			if err != nil {
				t.Fatalf("getting: %v", err)
			}
			want := &types.DistributionTenant{
				Id: tenant.Id, Arn: tenant.Arn, Name: sdk.String("acme"), DistributionId: sdk.String(multiTenant),
				Domains:           []types.DomainResult{{Domain: sdk.String("acme.example.com"), Status: types.DomainStatusActive}},
				Parameters:        []types.Parameter{{Name: sdk.String("tenantId"), Value: sdk.String("acme")}},
				ConnectionGroupId: tenant.ConnectionGroupId, Enabled: sdk.Bool(true), Status: sdk.String("Deployed"),
				CreatedTime: sdk.Time(startTime), LastModifiedTime: sdk.Time(startTime),
			}
			if diff := cmp.Diff(want, got.DistributionTenant, cmpSDK); diff != "" {
				t.Errorf("tenant (-want +got):\n%s", diff)
			}
			updated, err := c.UpdateDistributionTenant(t.Context(), &cloudfront.UpdateDistributionTenantInput{Id: tenant.Id, IfMatch: got.ETag, Enabled: sdk.Bool(false)})
			if err != nil {
				t.Fatalf("disabling: %v", err)
			}
			if sdk.ToString(updated.DistributionTenant.Status) != "InProgress" {
				t.Errorf("disabling did not go through InProgress")
			}
			settle(sim)
			if _, err := c.DeleteDistributionTenant(t.Context(), &cloudfront.DeleteDistributionTenantInput{Id: tenant.Id, IfMatch: updated.ETag}); err != nil {
				t.Fatalf("deleting: %v", err)
			}
			_, err = c.GetDistributionTenant(t.Context(), &cloudfront.GetDistributionTenantInput{Identifier: tenant.Id})
			wantRefusal(t, err, 404, "EntityNotFound")
		})
	}
}
