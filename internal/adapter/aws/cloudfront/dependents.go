package cloudfront

import (
	"context"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// TenantsOf implements port.Dependents. A page without a tenant that is not the last one says nothing, so the next one
// is read.
func (c *Client) TenantsOf(ctx context.Context, distributionID, groupID string) ([]string, bool, error) {
	if (distributionID == "") == (groupID == "") {
		return nil, false, &fault.Error{
			Kind: fault.Invalid, Operation: opList, Message: "either a distribution or a connection group must be given",
		}
	}
	filter := &types.DistributionTenantAssociationFilter{
		DistributionId: optional(distributionID), ConnectionGroupId: optional(groupID),
	}
	var names []string
	more := false
	err := everyPage(opList, func(marker *string) (*string, error) {
		out, err := c.api.ListDistributionTenants(ctx, &sdk.ListDistributionTenantsInput{
			AssociationFilter: filter, Marker: marker, MaxItems: awssdk.Int32(pageSize),
		}, c.read)
		if err != nil {
			return nil, classify(opList, err)
		}
		for _, summary := range out.DistributionTenantList {
			if awssdk.ToString(summary.Name) == "" {
				return nil, aws.Unreadable(opList, "the tenant's name")
			}
			names = append(names, *summary.Name)
		}
		if len(names) == 0 {
			return out.NextMarker, nil
		}
		more = awssdk.ToString(out.NextMarker) != ""
		return nil, nil
	})
	if err != nil {
		return nil, false, err
	}
	return names, more, nil
}
