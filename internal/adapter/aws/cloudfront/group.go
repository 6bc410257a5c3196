package cloudfront

import (
	"context"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudfront"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

const opGetGroup = "GetConnectionGroup"

// GetConnectionGroup implements port.Parents.
func (c *Client) GetConnectionGroup(ctx context.Context, id string) (port.ConnectionGroup, error) {
	out, err := c.api.GetConnectionGroup(ctx, &sdk.GetConnectionGroupInput{Identifier: &id}, c.read)
	if err != nil {
		return port.ConnectionGroup{}, classify(opGetGroup, err)
	}
	g := out.ConnectionGroup
	if g == nil || g.Id == nil || g.RoutingEndpoint == nil {
		return port.ConnectionGroup{}, aws.Unreadable(opGetGroup, "the connection group")
	}
	return port.ConnectionGroup{
		ID: *g.Id, Name: awssdk.ToString(g.Name), RoutingEndpoint: *g.RoutingEndpoint,
		IsDefault: awssdk.ToBool(g.IsDefault), IPv6: awssdk.ToBool(g.Ipv6Enabled),
	}, nil
}
