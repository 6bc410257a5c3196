// Package dynamodb reads tables of customers from DynamoDB, and writes tables of states.
package dynamodb

import (
	"context"
	"errors"
	"slices"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/identity"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

const opScan = "Scan"

// errorTable classifies DynamoDB's error codes. A code that is not listed is transient.
var errorTable = aws.Table{
	Codes: map[string]fault.Kind{
		"ResourceNotFoundException": fault.NotFound,
		"ValidationException":       fault.Invalid,
		"LimitExceededException":    fault.Throttled,
		// Others are writing the item.
		"TransactionConflictException":     fault.Conflict,
		"ReplicatedWriteConflictException": fault.Conflict,
		// The table has a local secondary index, and too many items of the source in it.
		"ItemCollectionSizeLimitExceededException": fault.Invalid,
	},
}

// The retries of a read. A throttled page is asked for again from where the scan is: a scan that had to start over
// would use up the same capacity each time, and a large table would never be read to its end. It is the one place where
// a caller waits: a read is a long call by nature, has a worker of its own, and ends with its context.
const (
	// attempts is how often one page is asked for: up to a minute and a half of throttles.
	attempts = 8
	// maxBackoff is the longest pause after a throttle, which capacity needs to fill up; shortBackoff that
	// after a failure of the network or of the service, which is over soon or waits for the next poll.
	maxBackoff, shortBackoff = 20 * time.Second, 500 * time.Millisecond
)

// Config is what a Tables is made of.
type Config struct {
	// SDK has the operator's own credentials, the region and the HTTP client. Its RetryMaxAttempts goes before
	// the number of attempts that is usual here.
	SDK awssdk.Config
	// Roles has the credentials of other identities.
	Roles *aws.Roles
	// Endpoint is used instead of AWS's, for tables and streams, if it isn't empty.
	Endpoint string
	Metrics  *aws.Metrics
	// Halted says why no table may be written, nil while it may. It may be nil itself.
	Halted func() *chain.Halt
}

// Tables reads and writes tables. It is safe for concurrent use.
type Tables struct{ config Config }

var (
	_ port.Rows   = (*Tables)(nil)
	_ port.Hints  = (*Tables)(nil)
	_ port.States = (*Tables)(nil)
)

// New returns a reader of tables. It makes no call.
func New(c Config) *Tables { return &Tables{config: c} }

// Read implements port.Rows. DynamoDB has no view of a table at one time: an item that is written
// while the table is read may be seen as it was or as it is, but one that stays is always seen.
func (t *Tables) Read(ctx context.Context, q mapping.Query, sink mapping.Sink) error {
	in, err := request(q)
	if err != nil {
		return err
	}
	if q.Keys != nil {
		return lookup{api: t.client(q), scan: in}.read(ctx, q.Keys, sink)
	}
	return scan{api: t.client(q), input: in, segments: max(q.DynamoDB.Segments, 1)}.read(ctx, sink)
}

// client makes a client for one read. It costs no call, and no read spends the retries of another.
func (t *Tables) client(q mapping.Query) *sdk.Client {
	return sdk.NewFromConfig(t.configOf(q), func(o *sdk.Options) {
		if t.config.Endpoint != "" {
			o.BaseEndpoint = &t.config.Endpoint
		}
		// The SDK only logs that an answer does not have the checksum that it came with.
		o.DisableValidateResponseChecksum = true
	})
}

// configOf has the identity and the region for a query. The capacity of the table limits the calls, and AWS tells of it
// by throttling. The operator's limiters are for APIs with one limit for the whole account.
func (t *Tables) configOf(q mapping.Query) awssdk.Config {
	config := t.config.SDK.Copy()
	config.Retryer = retryer
	config.APIOptions = append(slices.Clone(config.APIOptions), append(aws.InstrumentUnlimited(t.config.Metrics, t.config.Halted), refuseDamage)...)
	if role := q.DynamoDB.AssumeRoleARN; role != "" {
		config.Credentials = t.config.Roles.Credentials(role, identity.OfNamespace(q.Namespace))
	}
	if q.DynamoDB.Region != "" {
		config.Region = q.DynamoDB.Region
	}
	return config
}

func retryer() awssdk.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts, o.Backoff = attempts, retry.BackoffDelayerFunc(backoff)
		o.Retryables = append(o.Retryables, retry.IsErrorRetryableFunc(brokeOff))
	})
}

var (
	throttles  = retry.IsErrorThrottles(retry.DefaultThrottles)
	afterLoad  = retry.NewExponentialJitterBackoff(maxBackoff)
	afterFault = retry.NewExponentialJitterBackoff(shortBackoff)
)

func backoff(attempt int, err error) (time.Duration, error) {
	if throttles.IsErrorThrottle(err).Bool() {
		return afterLoad.BackoffDelay(attempt, err)
	}
	return afterFault.BackoffDelay(attempt, err)
}

// brokeOff retries a page that arrived incomplete: reading it again changes nothing.
func brokeOff(err error) awssdk.Ternary {
	if _, ok := errors.AsType[*smithy.DeserializationError](err); ok {
		return awssdk.TrueTernary
	}
	return awssdk.UnknownTernary
}
