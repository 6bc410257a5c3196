package webhook

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

// The indexes of the cache: tenants by each of their domains, and distributions by their ID in AWS.
const (
	indexDomain       = "webhook.domain"
	indexDistribution = "webhook.distribution"
)

// Follow has a cache follow what the webhook looks up. A replica that does not lead runs no controller that would.
func Follow(ctx context.Context, c cache.Cache) error {
	err := c.IndexField(ctx, &v1alpha1.DistributionTenant{}, indexDomain, func(o client.Object) []string {
		if t, ok := o.(*v1alpha1.DistributionTenant); ok {
			return domainsOf(t)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("indexing the tenants by domain: %w", err)
	}
	err = c.IndexField(ctx, &v1alpha1.Distribution{}, indexDistribution, func(o client.Object) []string {
		if d, ok := o.(*v1alpha1.Distribution); ok && d.Status.ID != "" {
			return []string{d.Status.ID}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("indexing the distributions by ID: %w", err)
	}
	if _, err := c.GetInformer(ctx, &v1alpha1.ConnectionGroup{}); err != nil {
		return fmt.Errorf("following the connection groups: %w", err)
	}
	return nil
}

func domainsOf(t *v1alpha1.DistributionTenant) []string {
	var out []string
	for _, d := range t.Spec.Domains {
		out = append(out, d.Domain)
	}
	return out
}
