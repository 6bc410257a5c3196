package aws

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ratelimit"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// CodeLocalRateLimit is the code of a call that the limiter refused. It never comes
// from AWS.
const CodeLocalRateLimit = "LocalRateLimit"

// LimiterConfig configures a Limiter.
type LimiterConfig struct {
	// API names the family of calls in metrics. A registry knows it once for each account.
	API string
	// Account is the AWS account, empty for the operator's own.
	Account string
	// Rate is the number of calls a second, Burst how many of them may go at once.
	Rate    float64
	Burst   int
	Clock   clock.PassiveClock
	Metrics *Metrics
	// Halted says why nothing may be changed in AWS, nil while it may. It may be nil itself.
	Halted func() *chain.Halt
}

// Limiter is the rate of one AWS account and API family. It implements
// port.Rate, and every client that was built with it asks it before each call. It is
// safe for concurrent use and never blocks.
type Limiter struct {
	clock   clock.PassiveClock
	api     string
	metrics *Metrics
	halted  func() *chain.Halt

	mu     sync.Mutex
	bucket *ratelimit.Bucket
}

var _ port.Rate = (*Limiter)(nil)

// NewLimiter returns a limiter that has not let anything go yet.
func NewLimiter(config LimiterConfig) *Limiter {
	l := &Limiter{
		clock: config.Clock, api: config.API, metrics: config.Metrics, halted: config.Halted,
		bucket: ratelimit.NewBucket(ratelimit.BucketConfig{
			Rate: config.Rate, Burst: config.Burst, Reserved: int(port.Follow), Background: int(port.Sweep),
		}, config.Clock.Now()),
	}
	l.metrics.rates.add(config.name(), l.rate)
	return l
}

// name is how the rate of an account is called in metrics.
func (c LimiterConfig) name() string {
	if c.Account == "" {
		return c.API
	}
	return c.API + "/" + c.Account
}

// Limiters has a limiter for every AWS account in which the operator works, all with the
// same rate. It is safe for concurrent use.
type Limiters struct {
	config LimiterConfig

	mu        sync.Mutex
	byAccount map[string]*Limiter
}

// NewLimiters returns limiters for the operator's own account and for any that follows.
func NewLimiters(config LimiterConfig) *Limiters {
	config.Account = ""
	return &Limiters{config: config, byAccount: map[string]*Limiter{"": NewLimiter(config)}}
}

// For returns the limiter of an account, or that of the operator's own account if the account is empty. That account
// has no name here, as only a call to AWS could tell it: a role of the same account has a separate rate, for which
// AWS has room where a rate is below half of its limits.
func (l *Limiters) For(account string) *Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	limiter, ok := l.byAccount[account]
	if !ok {
		config := l.config
		config.Account = account
		limiter = NewLimiter(config)
		l.byAccount[account] = limiter
	}
	return limiter
}

// admission is the permission for one call. Its key in a context is the limiter, so
// that a permission for one API is never spent on another.
type admission struct{ spent atomic.Bool }

type admissionKey struct{ limiter *Limiter }

// Admit implements port.Rate.
func (l *Limiter) Admit(ctx context.Context) (context.Context, time.Duration) {
	if delay := l.ask(port.CallOf(ctx)); delay > 0 {
		return ctx, delay
	}
	return context.WithValue(ctx, admissionKey{l}, &admission{}), 0
}

// take lets one call go: with the permission that the context carries, or, if there is
// none or it is spent, with one of its own.
func (l *Limiter) take(ctx context.Context, operation string) error {
	if a, ok := ctx.Value(admissionKey{l}).(*admission); ok && a.spent.CompareAndSwap(false, true) {
		return nil
	}
	if delay := l.ask(port.CallOf(ctx)); delay > 0 {
		return &fault.Error{
			Kind: fault.Throttled, Operation: operation, Code: CodeLocalRateLimit,
			Message: "waiting for the operator's own rate limit", RetryAfter: delay,
		}
	}
	return nil
}

// takeRetry lets a retry pass if no other caller has to wait for it. A retry holds no place: the caller that failed
// comes back on its own.
func (l *Limiter) takeRetry(ctx context.Context) bool {
	call := port.CallOf(ctx)
	return l.ask(port.Call{Namespace: call.Namespace, Class: call.Class}) == 0
}

func (l *Limiter) ask(call port.Call) time.Duration {
	l.mu.Lock()
	var delay time.Duration
	if call.Pass.Begun(l) {
		l.bucket.Owe(l.clock.Now(), int(call.Class))
	} else {
		delay = l.bucket.Take(l.clock.Now(), ratelimit.Caller{Key: call.Key, Namespace: call.Namespace, Class: int(call.Class)})
	}
	l.mu.Unlock()
	if delay == 0 {
		call.Pass.Begin(l)
	} else {
		l.metrics.waits.WithLabelValues(l.api, className(call.Class)).Observe(delay.Seconds())
	}
	return delay
}

// throttled slows down because AWS refused a call, sent at that time, for its rate.
func (l *Limiter) throttled(sent time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.bucket.Throttled(l.clock.Now(), sent)
}

func (l *Limiter) rate() float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bucket.Rate(l.clock.Now())
}

func className(c port.Class) string {
	switch c {
	case port.Change:
		return "change"
	case port.Follow:
		return "follow"
	case port.Correct:
		return "correct"
	case port.Sweep:
		return "sweep"
	case port.Poll:
		return "poll"
	}
	return "other"
}
