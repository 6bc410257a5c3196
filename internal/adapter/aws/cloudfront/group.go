package cloudfront

import (
	"context"
	"errors"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distribution"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

const (
	opGetGroup    = "GetConnectionGroup"
	opGetAnycast  = "GetAnycastIpList"
	opCreateGroup = "CreateConnectionGroup"
	opUpdateGroup = "UpdateConnectionGroup"
	opDeleteGroup = "DeleteConnectionGroup"
)

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
		IsDefault: awssdk.ToBool(g.IsDefault), IPv6: awssdk.ToBool(g.Ipv6Enabled), AnycastIPListID: awssdk.ToString(g.AnycastIpListId),
	}, nil
}

// AnycastAddresses implements port.References.
func (c *Client) AnycastAddresses(ctx context.Context, listID string) ([]string, error) {
	out, err := c.api.GetAnycastIpList(ctx, &sdk.GetAnycastIpListInput{Id: &listID}, c.read)
	if err != nil {
		return nil, classify(opGetAnycast, err)
	}
	if out.AnycastIpList == nil {
		return nil, aws.Unreadable(opGetAnycast, "the Anycast static IP list")
	}
	return out.AnycastIpList.AnycastIps, nil
}

// ReadGroup implements port.Groups.
func (c *Client) ReadGroup(ctx context.Context, identifier string) (port.Group, error) {
	out, err := c.api.GetConnectionGroup(ctx, &sdk.GetConnectionGroupInput{Identifier: &identifier}, c.read)
	if err != nil {
		return port.Group{}, classify(opGetGroup, err)
	}
	return wholeGroup(opGetGroup, out.ConnectionGroup, out.ETag)
}

// CreateGroup implements port.Groups.
func (c *Client) CreateGroup(
	ctx context.Context, name string, config v1alpha1.ConnectionGroupConfig, tags map[string]string,
) (port.Group, error) {
	out, err := c.api.CreateConnectionGroup(ctx, &sdk.CreateConnectionGroupInput{
		Name: &name, Enabled: config.Enabled, Ipv6Enabled: config.IPv6Enabled,
		AnycastIpListId: optional(config.AnycastIPListID), Tags: wireTags(tags),
	}, c.write)
	if err != nil {
		return port.Group{}, classify(opCreateGroup, err)
	}
	return wholeGroup(opCreateGroup, out.ConnectionGroup, out.ETag)
}

// UpdateGroup implements port.Groups. CloudFront keeps what is not sent, so that an Anycast list is taken away with the ID of
// none. A group that has no list and is to have none is shown without the member, and updated without it.
func (c *Client) UpdateGroup(
	ctx context.Context, seen port.Group, config v1alpha1.ConnectionGroupConfig,
) (port.Group, error) {
	in := &sdk.UpdateConnectionGroupInput{Id: &seen.ID, IfMatch: &seen.ETag, Enabled: config.Enabled, Ipv6Enabled: config.IPv6Enabled}
	if config.AnycastIPListID != "" || seen.Config.AnycastIPListID != "" {
		in.AnycastIpListId = &config.AnycastIPListID
	}
	g, err := c.updateGroup(ctx, in)
	// One code for an absent group and an absent Anycast list. A group that is gone shows in
	// the next read; one that is believed to be gone would be created again.
	if e, ok := errors.AsType[*fault.Error](err); ok && e.Kind == fault.NotFound && config.AnycastIPListID != "" {
		e.Kind = fault.Invalid
	}
	return g, err
}

// DisableGroup implements port.Groups.
func (c *Client) DisableGroup(ctx context.Context, id, etag string) (port.Group, error) {
	return c.updateGroup(ctx, &sdk.UpdateConnectionGroupInput{Id: &id, IfMatch: &etag, Enabled: new(false)})
}

func (c *Client) updateGroup(ctx context.Context, in *sdk.UpdateConnectionGroupInput) (port.Group, error) {
	out, err := c.api.UpdateConnectionGroup(ctx, in, c.write)
	if err != nil {
		return port.Group{}, classify(opUpdateGroup, err)
	}
	return wholeGroup(opUpdateGroup, out.ConnectionGroup, out.ETag)
}

// DeleteGroup implements port.Groups.
func (c *Client) DeleteGroup(ctx context.Context, id, etag string) error {
	_, err := c.api.DeleteConnectionGroup(ctx, &sdk.DeleteConnectionGroupInput{Id: &id, IfMatch: &etag}, c.write)
	return classify(opDeleteGroup, err)
}

// wholeGroup refuses a group that can't be told from another or can't be written.
func wholeGroup(operation string, g *types.ConnectionGroup, etag *string) (port.Group, error) {
	if err := present(operation, "the connection group", g); err != nil {
		return port.Group{}, err
	}
	for _, part := range []struct {
		what  string
		there bool
	}{
		{"the connection group's id", awssdk.ToString(g.Id) != ""},
		{"the connection group's name", awssdk.ToString(g.Name) != ""},
		{"the connection group's ARN", awssdk.ToString(g.Arn) != ""},
		{"the ETag", awssdk.ToString(etag) != ""},
		{"the connection group's status", awssdk.ToString(g.Status) != ""},
		{"the connection group's routing endpoint", awssdk.ToString(g.RoutingEndpoint) != ""},
		{"whether the connection group is enabled", g.Enabled != nil},
		{"whether the connection group has IPv6", g.Ipv6Enabled != nil},
	} {
		if !part.there {
			return port.Group{}, aws.Unreadable(operation, part.what)
		}
	}
	return port.Group{
		Observed: distribution.Observed{
			ID: *g.Id, ARN: *g.Arn, Name: *g.Name, ETag: *etag, Status: *g.Status, Enabled: *g.Enabled,
			Default: awssdk.ToBool(g.IsDefault), Modified: awssdk.ToTime(g.LastModifiedTime),
		},
		RoutingEndpoint: *g.RoutingEndpoint,
		Config: v1alpha1.ConnectionGroupConfig{
			Enabled: copied(g.Enabled), IPv6Enabled: copied(g.Ipv6Enabled), AnycastIPListID: awssdk.ToString(g.AnycastIpListId),
		},
	}, nil
}
