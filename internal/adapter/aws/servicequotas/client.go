// Package servicequotas reads the limits of an AWS account from Service Quotas.
package servicequotas

import (
	"context"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/servicequotas"
	"github.com/aws/aws-sdk-go-v2/service/servicequotas/types"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// The operations, as the SDK and IAM call them.
const (
	opApplied  = "ListServiceQuotas"
	opDefaults = "ListAWSDefaultServiceQuotas"
)

// pageSize is the most that is returned at once.
const pageSize = 100

// errorTable classifies the error codes. A code that is not listed is transient.
var errorTable = aws.Table{
	Codes: map[string]fault.Kind{
		"NoSuchResourceException":         fault.NotFound,
		"IllegalArgumentException":        fault.Invalid,
		"InvalidPaginationTokenException": fault.Invalid,
	},
}

// Client calls Service Quotas. It is safe for concurrent use.
type Client struct {
	api  *sdk.Client
	read func(*sdk.Options)
}

var _ port.Quotas = (*Client)(nil)

// Config is what a Client is made of.
type Config struct {
	// SDK has the credentials, the endpoint and the HTTP client.
	SDK     awssdk.Config
	Limiter *aws.Limiter
	Metrics *aws.Metrics
}

// New returns a client for the region that has the quotas of CloudFront, and of ACM for CloudFront.
func New(c Config) *Client {
	retryer := aws.RetryRead(c.Limiter)
	return &Client{
		api: sdk.NewFromConfig(c.SDK, func(o *sdk.Options) {
			o.Region = aws.GlobalRegion
			o.APIOptions = append(o.APIOptions, aws.Instrument(c.Limiter, c.Metrics)...)
		}),
		read: func(o *sdk.Options) { o.Retryer = retryer },
	}
}

// ListQuotas implements port.Quotas.
func (c *Client) ListQuotas(ctx context.Context, service string, defaults bool, marker string) ([]port.Quota, string, error) {
	var next *string
	if marker != "" {
		next = &marker
	}
	if defaults {
		out, err := c.api.ListAWSDefaultServiceQuotas(ctx, &sdk.ListAWSDefaultServiceQuotasInput{ServiceCode: &service, MaxResults: awssdk.Int32(pageSize), NextToken: next}, c.read)
		if err != nil {
			return nil, "", errorTable.Classify(opDefaults, err)
		}
		return page(opDefaults, out.Quotas, out.NextToken, marker)
	}
	out, err := c.api.ListServiceQuotas(ctx, &sdk.ListServiceQuotasInput{ServiceCode: &service, MaxResults: awssdk.Int32(pageSize), NextToken: next}, c.read)
	if err != nil {
		return nil, "", errorTable.Classify(opApplied, err)
	}
	return page(opApplied, out.Quotas, out.NextToken, marker)
}

func page(operation string, list []types.ServiceQuota, next *string, marker string) ([]port.Quota, string, error) {
	if awssdk.ToString(next) != "" && *next == marker {
		return nil, "", aws.Unreadable(operation, "a new marker for the next page")
	}
	out := make([]port.Quota, 0, len(list))
	for _, q := range list {
		if q.QuotaName == nil || q.Value == nil {
			return nil, "", aws.Unreadable(operation, "a quota's name and value")
		}
		out = append(out, port.Quota{Name: *q.QuotaName, Code: awssdk.ToString(q.QuotaCode), Value: *q.Value})
	}
	return out, awssdk.ToString(next), nil
}
