package cloudfront

import (
	"context"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

var _ port.Counts = (*Client)(nil)

// CountConnectionGroups implements port.Counts.
func (c *Client) CountConnectionGroups(ctx context.Context) (int, error) {
	groups, err := c.ListConnectionGroups(ctx)
	return len(groups), err
}

// CountMultiTenantDistributions implements port.Counts.
func (c *Client) CountMultiTenantDistributions(ctx context.Context) (int, error) {
	all, err := c.listDistributions(ctx, v1alpha1.ConnectionModeTenantOnly)
	return len(all), err
}
