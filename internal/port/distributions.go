package port

import (
	"context"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distribution"
)

// Distribution is a distribution as it was read.
type Distribution struct {
	distribution.Observed
	// CallerReference is what its creator named it by. AWS takes each only once.
	CallerReference string
	// DomainName is the one that CloudFront gave it.
	DomainName string
	// Config is its configuration, as far as the kind has fields for it. Nothing is left out
	// because it is a default.
	Config v1alpha1.DistributionConfig
	// Raw is what AWS said, for the adapter alone: what the kind has no field for is sent
	// back from it.
	Raw any
}

// Distributions reads and changes distributions. No method that changes something retries: after a failure of kind
// fault.Transient it is not known whether the change was made.
type Distributions interface {
	// ReadDistribution reads one; an absent one is fault.NotFound.
	ReadDistribution(ctx context.Context, id string) (Distribution, error)
	// FindDistribution finds the one of that connection mode whose caller reference begins with the
	// prefix, among those that were changed at that time or later: the list does not tell references,
	// so that each candidate is read. fault.NotFound: there is none.
	FindDistribution(ctx context.Context, mode v1alpha1.ConnectionMode, prefix string, since time.Time) (Distribution, error)
	// CreateDistribution creates one with all its tags. fault.Exists: the caller reference was used.
	CreateDistribution(ctx context.Context, reference string, c v1alpha1.DistributionConfig, tags map[string]string) (Distribution, error)
	// UpdateDistribution replaces the configuration if it is still as it was seen. Members without a field in the kind
	// stay.
	UpdateDistribution(ctx context.Context, seen Distribution, c v1alpha1.DistributionConfig) (Distribution, error)
	// DisableDistribution changes nothing but Enabled, if the distribution is still as it was seen.
	DisableDistribution(ctx context.Context, seen Distribution) (Distribution, error)
	// DeleteDistribution deletes a disabled distribution whose disable has settled.
	DeleteDistribution(ctx context.Context, id, etag string) error
}
