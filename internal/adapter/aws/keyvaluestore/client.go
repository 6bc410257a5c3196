// Package keyvaluestore reads and writes the keys of CloudFront key value stores.
package keyvaluestore

import (
	"context"
	"net/url"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudfrontkeyvaluestore"
	"github.com/aws/aws-sdk-go-v2/service/cloudfrontkeyvaluestore/types"
	smithyendpoints "github.com/aws/smithy-go/endpoints"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/keyvalue"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// The operations, as the SDK and IAM call them.
const (
	opDescribe = "DescribeKeyValueStore"
	opList     = "ListKeys"
	opUpdate   = "UpdateKeys"
)

// ready is the status of a store that can be used.
const ready = "READY"

// errorTable classifies the error codes. A code that is not listed is transient. AWS does not document the code for a
// version that is out of date.
var errorTable = aws.Table{
	Codes: map[string]fault.Kind{
		"ConflictException":             fault.Conflict,
		"ResourceNotFoundException":     fault.NotFound,
		"ServiceQuotaExceededException": fault.Quota,
		"ValidationException":           fault.Invalid,
	},
	Texts: []aws.Text{{Code: "ValidationException", Contains: "pre-condition failed", Kind: fault.Conflict}},
}

// Client calls CloudFront KeyValueStore. It is safe for concurrent use.
type Client struct {
	api         *sdk.Client
	read, write func(*sdk.Options)
}

var _ port.KeyValues = (*Client)(nil)

// Config is what a Client is made of.
type Config struct {
	// SDK has the credentials, the endpoint and the HTTP client.
	SDK     awssdk.Config
	Limiter *aws.Limiter
	Metrics *aws.Metrics
}

// New returns a client. Its requests are signed with SigV4A, for all regions.
func New(c Config) *Client {
	retryer := aws.RetryRead(c.Limiter)
	return &Client{
		api: sdk.NewFromConfig(c.SDK, func(o *sdk.Options) {
			o.Region = aws.GlobalRegion
			o.EndpointResolverV2 = plainEndpoint{sdk.NewDefaultEndpointResolverV2()}
			o.APIOptions = append(o.APIOptions, aws.Instrument(c.Limiter, c.Metrics)...)
		}),
		read:  func(o *sdk.Options) { o.Retryer = retryer },
		write: func(o *sdk.Options) { o.Retryer = aws.NoRetry() },
	}
}

// plainEndpoint leaves the account out of the host of an endpoint that was configured: the SDK puts it before the host,
// which no address has a name for.
type plainEndpoint struct{ sdk.EndpointResolverV2 }

// ResolveEndpoint implements sdk.EndpointResolverV2.
func (p plainEndpoint) ResolveEndpoint(ctx context.Context, params sdk.EndpointParameters) (smithyendpoints.Endpoint, error) {
	endpoint, err := p.EndpointResolverV2.ResolveEndpoint(ctx, params)
	if err != nil || params.Endpoint == nil {
		return endpoint, err
	}
	configured, err := url.Parse(*params.Endpoint)
	if err == nil {
		endpoint.URI.Host = configured.Host
	}
	return endpoint, err
}

// DescribeStore implements port.KeyValues.
func (c *Client) DescribeStore(ctx context.Context, arn string) (keyvalue.Info, error) {
	out, err := c.api.DescribeKeyValueStore(ctx, &sdk.DescribeKeyValueStoreInput{KvsARN: &arn}, c.read)
	if err != nil {
		return keyvalue.Info{}, errorTable.Classify(opDescribe, err)
	}
	i, err := info(opDescribe, out.ETag, out.ItemCount, out.TotalSizeInBytes)
	if status := awssdk.ToString(out.Status); status != ready && status != "" {
		i.Unready = status
	}
	return i, err
}

// ListKeys implements port.KeyValues.
func (c *Client) ListKeys(ctx context.Context, arn, marker string) ([]keyvalue.Pair, string, error) {
	in := &sdk.ListKeysInput{KvsARN: &arn, MaxResults: awssdk.Int32(keyvalue.PageSize)}
	if marker != "" {
		in.NextToken = &marker
	}
	out, err := c.api.ListKeys(ctx, in, c.read)
	if err != nil {
		return nil, "", errorTable.Classify(opList, err)
	}
	if next := awssdk.ToString(out.NextToken); next != "" && next == marker {
		return nil, "", aws.Unreadable(opList, "a new marker for the next page")
	}
	page := make([]keyvalue.Pair, 0, len(out.Items))
	for _, item := range out.Items {
		if item.Key == nil || item.Value == nil {
			return nil, "", aws.Unreadable(opList, "a key and its value")
		}
		page = append(page, keyvalue.Pair{Name: *item.Key, Value: *item.Value})
	}
	return page, awssdk.ToString(out.NextToken), nil
}

// UpdateKeys implements port.KeyValues.
func (c *Client) UpdateKeys(ctx context.Context, arn string, u keyvalue.Update) (keyvalue.Info, error) {
	in := &sdk.UpdateKeysInput{KvsARN: &arn, IfMatch: &u.IfMatch}
	for _, p := range u.Puts {
		in.Puts = append(in.Puts, types.PutKeyRequestListItem{Key: &p.Name, Value: &p.Value})
	}
	for _, name := range u.Deletes {
		in.Deletes = append(in.Deletes, types.DeleteKeyRequestListItem{Key: &name})
	}
	out, err := c.api.UpdateKeys(ctx, in, c.write)
	if err != nil {
		return keyvalue.Info{}, errorTable.Classify(opUpdate, err)
	}
	return info(opUpdate, out.ETag, out.ItemCount, out.TotalSizeInBytes)
}

func info(operation string, etag *string, items *int32, bytes *int64) (keyvalue.Info, error) {
	if awssdk.ToString(etag) == "" || items == nil || bytes == nil {
		return keyvalue.Info{}, aws.Unreadable(operation, "the version and the size of the key value store")
	}
	return keyvalue.Info{ETag: *etag, Items: int(*items), Bytes: *bytes}, nil
}
