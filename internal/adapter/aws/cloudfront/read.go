package cloudfront

import (
	"context"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudfront"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// GetTenant implements port.TenantReader.
func (c *Client) GetTenant(ctx context.Context, identifier string) (distributiontenant.Observed, error) {
	out, err := c.api.GetDistributionTenant(ctx, &sdk.GetDistributionTenantInput{Identifier: &identifier}, c.read)
	if err != nil {
		return distributiontenant.Observed{}, classify(opGet, err)
	}
	return observed(opGet, out.DistributionTenant, out.ETag)
}

// GetTenantByDomain implements port.TenantReader.
func (c *Client) GetTenantByDomain(ctx context.Context, domain string) (distributiontenant.Observed, error) {
	out, err := c.api.GetDistributionTenantByDomain(ctx, &sdk.GetDistributionTenantByDomainInput{Domain: &domain}, c.read)
	if err != nil {
		return distributiontenant.Observed{}, classify(opGetByDomain, err)
	}
	return observed(opGetByDomain, out.DistributionTenant, out.ETag)
}

// ListTenants implements port.TenantReader.
func (c *Client) ListTenants(ctx context.Context, marker string) ([]distributiontenant.Observed, string, error) {
	return c.listTenants(ctx, nil, marker)
}

// nextMarker refuses to walk in a circle of one.
func nextMarker(operation, marker string, next *string) (string, error) {
	if n := awssdk.ToString(next); n == "" || n != marker {
		return n, nil
	}
	return "", aws.Unreadable(operation, "a new marker for the next page")
}

// ListTags implements port.TenantReader.
func (c *Client) ListTags(ctx context.Context, arn string) (map[string]string, error) {
	out, err := c.api.ListTagsForResource(ctx, &sdk.ListTagsForResourceInput{Resource: &arn}, c.read)
	if err != nil {
		return nil, classify(opListTags, err)
	}
	if err := present(opListTags, "the tags", out.Tags); err != nil {
		return nil, err
	}
	return tags(out.Tags), nil
}

// GetManagedCertificate implements port.TenantReader.
func (c *Client) GetManagedCertificate(ctx context.Context, identifier string) (certificate.Managed, error) {
	out, err := c.api.GetManagedCertificateDetails(ctx,
		&sdk.GetManagedCertificateDetailsInput{Identifier: &identifier}, c.read)
	if err != nil {
		return certificate.Managed{}, classify(opGetCertificate, err)
	}
	details := out.ManagedCertificateDetails
	if details == nil || details.CertificateStatus == "" {
		// Right after a request AWS may have nothing to show of it.
		return certificate.Managed{}, &fault.Error{Kind: fault.NotFound, Operation: opGetCertificate, Message: "AWS does not return a certificate yet"}
	}
	managed := managedCertificate(details)
	if managed.State == certificate.Issued && managed.ARN == "" {
		return certificate.Managed{}, aws.Unreadable(opGetCertificate, "the issued certificate's ARN")
	}
	return managed, nil
}

// GetDistribution implements port.Parents.
func (c *Client) GetDistribution(ctx context.Context, id string) (distributiontenant.Distribution, error) {
	out, err := c.api.GetDistribution(ctx, &sdk.GetDistributionInput{Id: &id}, c.read)
	if err != nil {
		return distributiontenant.Distribution{}, classify(opGetDist, err)
	}
	d := out.Distribution
	if err := present(opGetDist, "the distribution", d); err != nil {
		return distributiontenant.Distribution{}, err
	}
	if err := present(opGetDist, "the distribution's id", d.Id); err != nil {
		return distributiontenant.Distribution{}, err
	}
	if err := present(opGetDist, "the distribution's configuration", d.DistributionConfig); err != nil {
		return distributiontenant.Distribution{}, err
	}
	return distributionOf(d), nil
}

// ListConnectionGroups implements port.Parents. Each page is a call of its own for the
// rate.
func (c *Client) ListConnectionGroups(ctx context.Context) ([]port.ConnectionGroup, error) {
	var groups []port.ConnectionGroup
	err := everyPage(opListGroups, func(marker *string) (*string, error) {
		out, err := c.api.ListConnectionGroups(ctx, &sdk.ListConnectionGroupsInput{
			Marker: marker, MaxItems: awssdk.Int32(pageSize),
		}, c.read)
		if err != nil {
			return nil, classify(opListGroups, err)
		}
		for _, summary := range out.ConnectionGroups {
			g, err := connectionGroup(summary)
			if err != nil {
				return nil, err
			}
			groups = append(groups, g)
		}
		return out.NextMarker, nil
	})
	return groups, err
}
