// Package acm reads certificates in ACM.
package acm

import (
	"context"
	"slices"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/acm"
	"github.com/aws/aws-sdk-go-v2/service/acm/types"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/edge"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

const opDescribe = "DescribeCertificate"

// errorTable classifies ACM's error codes. What stands nowhere is transient.
var errorTable = aws.Table{
	Codes: map[string]fault.Kind{
		"ResourceNotFoundException": fault.NotFound,
		"ResourceInUseException":    fault.InUse,
		"ConflictException":         fault.Conflict,

		"LimitExceededException": fault.Quota,

		"InvalidArnException":       fault.Invalid,
		"InvalidParameterException": fault.Invalid,
		"ValidationError":           fault.Invalid,
		"ValidationException":       fault.Invalid,
	},
}

// Client calls ACM. It is safe for concurrent use.
type Client struct {
	api  *sdk.Client
	read func(*sdk.Options)
}

var _ port.Certificates = (*Client)(nil)

// Config is what a Client is made of.
type Config struct {
	// SDK has the credentials, the endpoint and the HTTP client.
	SDK     awssdk.Config
	Limiter *aws.Limiter
	Metrics *aws.Metrics
}

// New returns a client for the region whose certificates CloudFront uses.
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

// DescribeCertificate implements port.Certificates.
func (c *Client) DescribeCertificate(ctx context.Context, arn string) (edge.Certificate, error) {
	out, err := c.api.DescribeCertificate(ctx, &sdk.DescribeCertificateInput{CertificateArn: &arn}, c.read)
	if err != nil {
		return edge.Certificate{}, errorTable.Classify(opDescribe, err)
	}
	detail := out.Certificate
	switch {
	case detail == nil:
		return edge.Certificate{}, aws.Unreadable(opDescribe, "the certificate")
	case detail.CertificateArn == nil:
		return edge.Certificate{}, aws.Unreadable(opDescribe, "the certificate's ARN")
	case detail.Status == "":
		return edge.Certificate{}, aws.Unreadable(opDescribe, "the certificate's status")
	}
	return edge.Certificate{ARN: *detail.CertificateArn, Status: string(detail.Status), Names: names(detail)}, nil
}

// names are the names that the certificate covers, each once, sorted. ACM repeats the
// first name among the alternative ones, but not for every imported certificate.
func names(detail *types.CertificateDetail) []string {
	all := slices.Clone(detail.SubjectAlternativeNames)
	if detail.DomainName != nil {
		all = append(all, *detail.DomainName)
	}
	for i, name := range all {
		all[i] = strings.ToLower(name)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
