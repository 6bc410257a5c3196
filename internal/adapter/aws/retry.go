package aws

import (
	"context"
	"errors"
	"net/http"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// retryDelay is long enough for another server to answer, and short enough to spend
// inside a reconcile. The work queue handles everything that needs longer.
const retryDelay = 100 * time.Millisecond

var errNoRateForRetry = errors.New("the rate of retries is used up")

// NoRetry is the retryer of writes: after a lost answer only an observation can tell
// whether the write happened, and a second one could hide the success of the first.
func NoRetry() awssdk.Retryer { return awssdk.NopRetryer{} }

// RetryRead is the retryer of reads: one more attempt when the service failed or gave
// no answer, if the rate has room for it right away. A throttle is not retried.
func RetryRead(l *Limiter) awssdk.Retryer { return readRetryer{limiter: l} }

type readRetryer struct{ limiter *Limiter }

// IsErrorRetryable implements aws.Retryer.
func (readRetryer) IsErrorRetryable(err error) bool {
	// A caller that has waited for the timeout once must not hold a worker as long again.
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || isThrottle(err) {
		return false
	}
	// No answer, or one that breaks off. Failures before the request was sent (credentials, a missing member) would
	// repeat.
	var send *smithyhttp.RequestSendError
	var unreadable *smithy.DeserializationError
	if errors.As(err, &send) || errors.As(err, &unreadable) {
		return true
	}
	var response *smithyhttp.ResponseError
	return errors.As(err, &response) && response.HTTPStatusCode() >= http.StatusInternalServerError
}

// MaxAttempts implements aws.Retryer.
func (readRetryer) MaxAttempts() int { return 2 }

// RetryDelay implements aws.Retryer.
func (readRetryer) RetryDelay(int, error) (time.Duration, error) { return retryDelay, nil }

// GetRetryToken implements aws.Retryer.
func (r readRetryer) GetRetryToken(ctx context.Context, _ error) (func(error) error, error) {
	if !r.limiter.takeRetry(ctx) {
		return nil, errNoRateForRetry
	}
	return releaseNothing, nil
}

// GetInitialToken implements aws.Retryer.
func (readRetryer) GetInitialToken() func(error) error { return releaseNothing }

func releaseNothing(error) error { return nil }
