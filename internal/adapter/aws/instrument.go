package aws

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// apiOptions are changes to the stack of middlewares of an SDK client.
type apiOptions = []func(*middleware.Stack) error

// The values of the metrics' label code for what has no code of the service's own.
const (
	codeOK       = "OK"
	codeNoAnswer = "NoAnswer"
)

// Instrument returns the changes to an SDK client's middlewares that put each of its
// calls under the limiter, count every attempt, and keep the connection open until the
// answer has been read.
func Instrument(l *Limiter, m *Metrics) []func(*middleware.Stack) error {
	return append(apiOptions{
		func(stack *middleware.Stack) error {
			return stack.Initialize.Add(rated{l}, middleware.Before)
		},
		func(stack *middleware.Stack) error {
			return stack.Finalize.Insert(measured{m, l.clock, l.throttled}, "Retry", middleware.After)
		},
	}, common(l.halted)...)
}

// InstrumentUnlimited does the same without a limiter, for a service whose limits are not those of an account. halted says why
// nothing may be changed, nil while it may.
func InstrumentUnlimited(m *Metrics, halted func() *chain.Halt) []func(*middleware.Stack) error {
	return append(apiOptions{
		func(stack *middleware.Stack) error {
			return stack.Finalize.Insert(measured{m, clock.RealClock{}, func(time.Time) {}}, "Retry", middleware.After)
		},
	}, common(halted)...)
}

func common(halted func() *chain.Halt) apiOptions {
	return apiOptions{
		func(stack *middleware.Stack) error {
			return stack.Finalize.Add(plainBody{}, middleware.After)
		},
		func(stack *middleware.Stack) error {
			return stack.Finalize.Add(fence{halted}, middleware.After)
		},
		func(stack *middleware.Stack) error {
			return stack.Deserialize.Add(marked{}, middleware.Before)
		},
	}
}

// rated takes permission for a call before anything else happens.
type rated struct{ limiter *Limiter }

// ID implements middleware.InitializeMiddleware.
func (rated) ID() string { return "OperatorRate" }

// HandleInitialize implements middleware.InitializeMiddleware.
func (b rated) HandleInitialize(
	ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
) (middleware.InitializeOutput, middleware.Metadata, error) {
	if err := refuse(middleware.GetOperationName(ctx), b.limiter.halted); err != nil {
		return middleware.InitializeOutput{}, middleware.Metadata{}, err
	}
	if err := b.limiter.take(ctx, middleware.GetOperationName(ctx)); err != nil {
		return middleware.InitializeOutput{}, middleware.Metadata{}, err
	}
	return next.HandleInitialize(ctx, in)
}

// plainBody makes request bodies that can be read and rewound, but are no io.WriterTo.
//
// When a body is sent, net/http copies once more from it, to see that it has ended. The
// SDK closes the body as soon as the answer's head is there, which can be before that.
// Of a closed body smithy-go's wrapper answers Read with io.EOF, which is how bodies end,
// but WriteTo with io.EOF too, which is a failure: net/http closes the connection while
// the answer is being read. The service has counted the call as answered, and we have
// no answer. On a busy machine that was 8 % of the calls of ListDistributionTenants.
//
// It comes after the signature, for which the SDK copies the body: to copy what is no io.WriterTo takes a buffer of 32 kB.
type plainBody struct{}

// ID implements middleware.FinalizeMiddleware.
func (plainBody) ID() string { return "OperatorPlainBody" }

// HandleFinalize implements middleware.FinalizeMiddleware.
func (plainBody) HandleFinalize(
	ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler,
) (middleware.FinalizeOutput, middleware.Metadata, error) {
	request, ok := in.Request.(*smithyhttp.Request)
	if !ok {
		return next.HandleFinalize(ctx, in)
	}
	// No body is no io.ReadSeeker either, and stays none.
	if body, ok := request.GetStream().(io.ReadSeeker); ok {
		plain, err := request.SetStream(struct{ io.ReadSeeker }{body})
		if err != nil {
			return middleware.FinalizeOutput{}, middleware.Metadata{}, fmt.Errorf("wrapping the request's body: %w", err)
		}
		in.Request = plain
	}
	return next.HandleFinalize(ctx, in)
}

// measured stands inside the retries, so it sees every attempt.
type measured struct {
	metrics *Metrics
	clock   clock.PassiveClock
	// throttled learns when a call was sent that was refused for its rate.
	throttled func(sent time.Time)
}

// ID implements middleware.FinalizeMiddleware.
func (measured) ID() string { return "OperatorMetrics" }

// HandleFinalize implements middleware.FinalizeMiddleware.
func (m measured) HandleFinalize(
	ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler,
) (middleware.FinalizeOutput, middleware.Metadata, error) {
	sent := m.clock.Now()
	out, metadata, err := next.HandleFinalize(ctx, in)
	if fault.CodeOf(err) == CodeHalted { // it was not sent
		return out, metadata, err
	}
	m.metrics.attempt(middleware.GetOperationName(ctx), codeLabel(err), m.clock.Since(sent))
	if isThrottle(err) && !isBusy(err) {
		m.throttled(sent)
	}
	return out, metadata, err
}

// marked tells the errors that the called service answered with from those of another
// service that was asked for credentials on the way: its "not found" is about something
// else entirely.
type marked struct{}

// answer is an error that came out of reading the called service's answer.
type answer struct{ err error }

// Error implements error.
func (a *answer) Error() string { return a.err.Error() }

// Unwrap returns the cause.
func (a *answer) Unwrap() error { return a.err }

// ID implements middleware.DeserializeMiddleware.
func (marked) ID() string { return "OperatorAnswer" }

// HandleDeserialize implements middleware.DeserializeMiddleware.
func (marked) HandleDeserialize(
	ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler,
) (middleware.DeserializeOutput, middleware.Metadata, error) {
	out, metadata, err := next.HandleDeserialize(ctx, in)
	if err != nil {
		err = &answer{err}
	}
	return out, metadata, err
}

// codeLabel bounds the label: a code that no service of AWS would send is not kept.
func codeLabel(err error) string {
	if err == nil {
		return codeOK
	}
	code, _ := serviceCode(err)
	const longestCode = 80
	if code == "" || len(code) > longestCode {
		return codeNoAnswer
	}
	return code
}

// serviceCode returns the error code, and whether the called service itself sent it.
func serviceCode(err error) (code string, answered bool) {
	own, answered := errors.AsType[*answer](err)
	if answered {
		err = own.err
	}
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return api.ErrorCode(), answered
	}
	return "", answered
}

// isThrottle reports whether the called service refused a call for its rate.
func isThrottle(err error) bool {
	code, answered := serviceCode(err)
	if !answered {
		return false
	}
	var response *smithyhttp.ResponseError
	return throttles[code] || errors.As(err, &response) && response.HTTPStatusCode() == http.StatusTooManyRequests
}

// isBusy reports whether the called service still works on an earlier change of the same
// thing: that says nothing about the rate of calls.
func isBusy(err error) bool {
	code, answered := serviceCode(err)
	return answered && code == "PriorRequestNotComplete"
}
