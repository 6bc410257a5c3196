// Package sts tells whose credentials the operator works with.
package sts

import (
	"context"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

const opIdentity = "GetCallerIdentity"

// errorTable has no codes of its own: those of denied and throttled calls are AWS's common ones.
var errorTable = aws.Table{}

// Client calls STS. It is safe for concurrent use.
type Client struct {
	api  *sdk.Client
	read func(*sdk.Options)
}

var _ port.Identity = (*Client)(nil)

// Config is what a Client is made of.
type Config struct {
	// SDK has the credentials, the endpoint, the region and the HTTP client.
	SDK     awssdk.Config
	Limiter *aws.Limiter
	Metrics *aws.Metrics
}

// New returns a client.
func New(c Config) *Client {
	retryer := aws.RetryRead(c.Limiter)
	return &Client{
		api: sdk.NewFromConfig(c.SDK, func(o *sdk.Options) {
			o.APIOptions = append(o.APIOptions, aws.Instrument(c.Limiter, c.Metrics)...)
		}),
		read: func(o *sdk.Options) { o.Retryer = retryer },
	}
}

// Account implements port.Identity.
func (c *Client) Account(ctx context.Context) (string, error) {
	account, _, err := c.Caller(ctx)
	return account, err
}

// Caller implements port.Identity. The call needs no permission.
func (c *Client) Caller(ctx context.Context) (account, arn string, err error) {
	out, err := c.api.GetCallerIdentity(ctx, &sdk.GetCallerIdentityInput{}, c.read)
	switch {
	case err != nil:
		return "", "", errorTable.Classify(opIdentity, err)
	case out.Account == nil || *out.Account == "":
		return "", "", aws.Unreadable(opIdentity, "the account")
	}
	return *out.Account, awssdk.ToString(out.Arn), nil
}
