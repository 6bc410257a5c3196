// Package acm reads and deletes certificates in ACM.
package acm

import (
	"context"
	"slices"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/acm"
	"github.com/aws/aws-sdk-go-v2/service/acm/types"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// The operations, as the SDK and IAM call them.
const (
	opDescribe = "DescribeCertificate"
	opList     = "ListCertificates"
	opDelete   = "DeleteCertificate"
)

// pageSize is the most that ACM returns at once.
const pageSize = 1000

// errorTable classifies ACM's error codes. A code that is not listed is transient.
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
	api *sdk.Client
	// read and write are the options of calls that are, and are not, tried again.
	read, write func(*sdk.Options)
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
	readRetryer, noRetryer := aws.RetryRead(c.Limiter), aws.NoRetry()
	return &Client{
		api: sdk.NewFromConfig(c.SDK, func(o *sdk.Options) {
			o.Region = aws.GlobalRegion
			o.APIOptions = append(o.APIOptions, aws.Instrument(c.Limiter, c.Metrics)...)
		}),
		read:  func(o *sdk.Options) { o.Retryer = readRetryer },
		write: func(o *sdk.Options) { o.Retryer = noRetryer },
	}
}

// DescribeCertificate implements port.Certificates.
func (c *Client) DescribeCertificate(ctx context.Context, arn string) (distributiontenant.Certificate, error) {
	out, err := c.api.DescribeCertificate(ctx, &sdk.DescribeCertificateInput{CertificateArn: &arn}, c.read)
	if err != nil {
		return distributiontenant.Certificate{}, errorTable.Classify(opDescribe, err)
	}
	detail := out.Certificate
	switch {
	case detail == nil:
		return distributiontenant.Certificate{}, aws.Unreadable(opDescribe, "the certificate")
	case detail.CertificateArn == nil:
		return distributiontenant.Certificate{}, aws.Unreadable(opDescribe, "the certificate's ARN")
	case detail.Status == "":
		return distributiontenant.Certificate{}, aws.Unreadable(opDescribe, "the certificate's status")
	}
	return distributiontenant.Certificate{
		ARN: *detail.CertificateArn, Status: string(detail.Status),
		Names:    names(detail.DomainName, detail.SubjectAlternativeNames),
		NotAfter: awssdk.ToTime(detail.NotAfter), InUse: len(detail.InUseBy) > 0,
		CloudFrontManaged: detail.ManagedBy == types.CertificateManagedByCloudfront,
		Type:              string(detail.Type), Issuer: awssdk.ToString(detail.Issuer),
		FailureReason: string(detail.FailureReason), Renewal: renewal(detail.RenewalSummary),
	}, nil
}

func renewal(s *types.RenewalSummary) certificate.Renewal {
	if s == nil {
		return certificate.Renewal{}
	}
	var pending []string
	for _, option := range s.DomainValidationOptions {
		if option.DomainName != nil && option.ValidationStatus != types.DomainStatusSuccess {
			pending = append(pending, *option.DomainName)
		}
	}
	return certificate.Renewal{
		Status: string(s.RenewalStatus), Reason: string(s.RenewalStatusReason), Pending: names(nil, pending),
	}
}

// ListCertificates implements port.Certificates. Without the key types ACM leaves out
// whatever is not RSA of 1024 or 2048 bits.
func (c *Client) ListCertificates(ctx context.Context, marker string) ([]distributiontenant.Certificate, string, error) {
	in := &sdk.ListCertificatesInput{
		Includes: &types.Filters{KeyTypes: types.KeyAlgorithm("").Values()},
		MaxItems: awssdk.Int32(pageSize),
	}
	if marker != "" {
		in.NextToken = &marker
	}
	out, err := c.api.ListCertificates(ctx, in, c.read)
	if err != nil {
		return nil, "", errorTable.Classify(opList, err)
	}
	// An answer that is no list at all would be an account without certificates.
	if out.CertificateSummaryList == nil {
		return nil, "", aws.Unreadable(opList, "the list of certificates")
	}
	page := make([]distributiontenant.Certificate, 0, len(out.CertificateSummaryList))
	for _, summary := range out.CertificateSummaryList {
		if summary.CertificateArn == nil {
			return nil, "", aws.Unreadable(opList, "a certificate's ARN")
		}
		page = append(page, summarised(summary))
	}
	next := awssdk.ToString(out.NextToken)
	if next != "" && next == marker {
		return nil, "", aws.Unreadable(opList, "a new marker for the next page")
	}
	return page, next, nil
}

func summarised(s types.CertificateSummary) distributiontenant.Certificate {
	return distributiontenant.Certificate{
		ARN: *s.CertificateArn, Status: string(s.Status),
		Names:    names(s.DomainName, s.SubjectAlternativeNameSummaries),
		NotAfter: awssdk.ToTime(s.NotAfter), InUse: awssdk.ToBool(s.InUse),
		CloudFrontManaged: s.ManagedBy == types.CertificateManagedByCloudfront, Type: string(s.Type),
	}
}

// DeleteCertificate implements port.Certificates.
func (c *Client) DeleteCertificate(ctx context.Context, arn string) error {
	_, err := c.api.DeleteCertificate(ctx, &sdk.DeleteCertificateInput{CertificateArn: &arn}, c.write)
	return errorTable.Classify(opDelete, err)
}

// names are the names that a certificate covers, each once, sorted. ACM repeats the
// first name among the alternative ones, but not for every imported certificate.
func names(first *string, alternatives []string) []string {
	all := slices.Clone(alternatives)
	if first != nil {
		all = append(all, *first)
	}
	for i, name := range all {
		all[i] = strings.ToLower(name)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
