package distributiontenant

import (
	"context"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// Preview is what a pass over an object would meet in AWS.
type Preview struct {
	distributiontenant.Preview
	// Name and ID are those of the tenant in AWS. Without an ID there is none.
	Name, ID string
	// Wrong says why the tenant can't be compared: it is in another account, or refers to something that does not exist
	// yet.
	Wrong string
}

// Preview looks at the tenant of an object, and compares it with the object. It changes nothing, and remembers nothing.
func (c *Controller) Preview(ctx context.Context, o *v1alpha1.DistributionTenant) (Preview, error) {
	p, err := c.observe(ctx, o)
	if err != nil {
		return Preview{}, err
	}
	out := Preview{Name: p.in.Desired.Name}
	if p.account.Wrong != nil {
		out.Wrong = p.account.Wrong.Message
		return out, nil
	}
	out.Wrong = p.in.Unresolvable()
	reads := look{p}
	if err := reads.tenant(ctx); err != nil {
		return out, err
	}
	if p.in.World.Knowledge == resource.Absent {
		return out, nil
	}
	if err := reads.tags(ctx); err != nil {
		return out, err
	}
	out.ID, out.Preview = p.in.World.Tenant.ID, p.in.Preview()
	return out, nil
}
