// Package cloudfront calls CloudFront. It implements the ports for tenants and for what they refer to.
package cloudfront

import (
	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudfront"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// pageSize is the most that CloudFront is known to return at once.
const pageSize = 100

// Client calls CloudFront. It is safe for concurrent use.
type Client struct {
	api *sdk.Client
	// read and write are the options of calls that are, and are not, tried again.
	read, write func(*sdk.Options)
	references  references
}

var (
	_ port.Tenants    = (*Client)(nil)
	_ port.References = (*Client)(nil)

	_ port.Distributions = (*Client)(nil)
	_ port.Groups        = (*Client)(nil)
	_ port.Dependents    = (*Client)(nil)
	_ port.Fleet         = (*Client)(nil)
)

// Config is what a Client is made of.
type Config struct {
	// SDK has the credentials, the endpoint and the HTTP client.
	SDK     awssdk.Config
	Limiter *aws.Limiter
	Metrics *aws.Metrics
}

// New returns a client.
func New(c Config) *Client {
	readRetryer, noRetryer := aws.RetryRead(c.Limiter), aws.NoRetry()
	return &Client{
		api: sdk.NewFromConfig(c.SDK, func(o *sdk.Options) {
			// With an endpoint of its own the SDK would sign for the configured region,
			// which a proxy in front of CloudFront can't pass on.
			o.Region = aws.GlobalRegion
			o.APIOptions = append(o.APIOptions, aws.Instrument(c.Limiter, c.Metrics)...)
			o.APIOptions = append(o.APIOptions, aws.RefusePages(opDelete, opDeleteDist, opDeleteGroup, opTag, opUntag))
		}),
		read:  func(o *sdk.Options) { o.Retryer = readRetryer },
		write: func(o *sdk.Options) { o.Retryer = noRetryer },
	}
}
