package cloudfront

import (
	"context"
	"slices"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// CreateTenant implements port.TenantWriter.
func (c *Client) CreateTenant(
	ctx context.Context, t distributiontenant.Tenant, tags map[string]string, request *certificate.Request,
) (distributiontenant.Observed, error) {
	t = t.Normalize()
	in := &sdk.CreateDistributionTenantInput{
		Name:                      &t.Name,
		DistributionId:            &t.DistributionID,
		Domains:                   wireDomains(t.Domains),
		ConnectionGroupId:         optional(t.ConnectionGroupID),
		Enabled:                   &t.Enabled,
		Tags:                      wireTags(tags),
		ManagedCertificateRequest: wireRequest(request),
	}
	// A new tenant has nothing to remove.
	if len(t.Parameters) > 0 {
		in.Parameters = wireParameters(t.Parameters)
	}
	if block := wireCustomizations(t.Customizations); !emptyBlock(block) {
		in.Customizations = block
	}
	out, err := c.api.CreateDistributionTenant(ctx, in, c.write)
	if err != nil {
		return distributiontenant.Observed{}, classify(opCreate, err)
	}
	return observed(opCreate, out.DistributionTenant, out.ETag)
}

// UpdateTenant implements port.TenantWriter. AWS does not document whether it accepts an empty block. If it refuses
// one, that must not delay the rest, which is sent once more without it. A refusal has changed nothing, so the ETag is
// still that of the tenant that was seen.
func (c *Client) UpdateTenant(
	ctx context.Context, seen distributiontenant.Observed, t distributiontenant.Tenant, request *certificate.Request,
) (distributiontenant.Observed, error) {
	in := wireUpdate(seen, t.Normalize(), request)
	out, err := c.update(ctx, &in)
	if rest, some := withoutEmptyBlocks(in); some && fault.Is(err, fault.Invalid) {
		return c.update(ctx, &rest)
	}
	return out, explained(seen, in, err)
}

// MoveDomain implements port.TenantWriter.
func (c *Client) MoveDomain(ctx context.Context, domain, id, etag string) error {
	_, err := c.api.UpdateDomainAssociation(ctx, &sdk.UpdateDomainAssociationInput{
		Domain: &domain, IfMatch: &etag, TargetResource: &types.DistributionResourceId{DistributionTenantId: &id},
	}, c.write)
	return classify(opMoveDomain, err)
}

// DisableTenant implements port.TenantWriter. Sending anything else could be refused
// for a reason that has nothing to do with the deletion.
func (c *Client) DisableTenant(ctx context.Context, id, etag string) (distributiontenant.Observed, error) {
	return c.update(ctx, &sdk.UpdateDistributionTenantInput{
		Id: &id, IfMatch: &etag, Enabled: awssdk.Bool(false),
	})
}

func (c *Client) update(ctx context.Context, in *sdk.UpdateDistributionTenantInput) (distributiontenant.Observed, error) {
	out, err := c.api.UpdateDistributionTenant(ctx, in, c.write)
	if err != nil {
		return distributiontenant.Observed{}, classify(opUpdate, err)
	}
	return observed(opUpdate, out.DistributionTenant, out.ETag)
}

// DeleteTenant implements port.TenantWriter.
func (c *Client) DeleteTenant(ctx context.Context, id, etag string) error {
	_, err := c.api.DeleteDistributionTenant(ctx,
		&sdk.DeleteDistributionTenantInput{Id: &id, IfMatch: &etag}, c.write)
	return classify(opDelete, err)
}

// Tag implements port.Tagger. Without tags it makes no call.
func (c *Client) Tag(ctx context.Context, arn string, tags map[string]string) error {
	if len(tags) == 0 {
		return nil
	}
	_, err := c.api.TagResource(ctx, &sdk.TagResourceInput{Resource: &arn, Tags: wireTags(tags)}, c.write)
	return classify(opTag, err)
}

// Untag implements port.Tagger. Without keys it makes no call.
func (c *Client) Untag(ctx context.Context, arn string, keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	sorted := slices.Compact(slices.Sorted(slices.Values(keys)))
	_, err := c.api.UntagResource(ctx,
		&sdk.UntagResourceInput{Resource: &arn, TagKeys: &types.TagKeys{Items: sorted}}, c.write)
	return classify(opUntag, err)
}
