package cloudfront

import (
	"context"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/invalidation"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// The operations of invalidations.
const (
	opInvalidate      = "CreateInvalidationForDistributionTenant"
	opGetInvalidation = "GetInvalidationForDistributionTenant"
)

// invalidationDone is the status of an invalidation that AWS has completed.
const invalidationDone = "Completed"

// Invalidations requests and reads invalidations. AWS accepts far fewer of them than of its other calls, so that requests
// have a limiter of their own; reads share that of the Client. It is safe for concurrent use.
type Invalidations struct {
	*Client

	// requests is a client whose calls are under the limiter of requests.
	requests *Client
}

var _ port.Invalidations = (*Invalidations)(nil)

// NewInvalidations returns Invalidations that read with one client, and request with another that is made of c.
func NewInvalidations(reads *Client, c Config) *Invalidations {
	return &Invalidations{Client: reads, requests: New(c)}
}

// CreateInvalidation implements port.Invalidations.
func (i *Invalidations) CreateInvalidation(ctx context.Context, tenantID, reference string, paths []string) (invalidation.Answer, error) {
	out, err := i.requests.api.CreateInvalidationForDistributionTenant(ctx, &sdk.CreateInvalidationForDistributionTenantInput{
		Id: &tenantID,
		InvalidationBatch: &types.InvalidationBatch{
			CallerReference: &reference,
			Paths:           &types.Paths{Quantity: quantity(paths), Items: paths},
		},
	}, i.requests.write)
	if err != nil {
		return invalidation.Answer{}, classify(opInvalidate, err)
	}
	return answerOf(opInvalidate, out.Invalidation)
}

// GetInvalidation implements port.Invalidations.
func (i *Invalidations) GetInvalidation(ctx context.Context, tenantID, id string) (invalidation.Answer, error) {
	out, err := i.api.GetInvalidationForDistributionTenant(ctx, &sdk.GetInvalidationForDistributionTenantInput{
		DistributionTenantId: &tenantID, Id: &id,
	}, i.read)
	if err != nil {
		return invalidation.Answer{}, classify(opGetInvalidation, err)
	}
	return answerOf(opGetInvalidation, out.Invalidation)
}

// answerOf refuses an answer without an ID or a status: the invalidation could never be followed.
func answerOf(operation string, i *types.Invalidation) (invalidation.Answer, error) {
	switch {
	case i == nil || awssdk.ToString(i.Id) == "":
		return invalidation.Answer{}, aws.Unreadable(operation, "the invalidation's id")
	case awssdk.ToString(i.Status) == "":
		return invalidation.Answer{}, aws.Unreadable(operation, "the invalidation's status")
	}
	return invalidation.Answer{ID: *i.Id, Done: *i.Status == invalidationDone}, nil
}
