// Package calls is the way that every call to a DNS service takes, except those to Route 53, which take that of AWS: under
// the rate of the account, counted, and refused while nothing may be changed.
package calls

import (
	"context"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ratelimit"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// The codes of calls that were not sent. They never come from a service.
const (
	CodeLocalRateLimit = "LocalRateLimit"
	CodeHalted         = "Halted"
)

// haltedFor is when a caller whose change was refused comes back, unless the release wakes it before.
const haltedFor = 5 * time.Second

// Config configures a Gate.
type Config struct {
	Provider dns.Provider
	// Rate is the number of calls a second, Burst how many of them may go at once.
	Rate    float64
	Burst   int
	Clock   clock.PassiveClock
	Metrics *Metrics
	// Halted says why nothing may be changed, nil while it may. It may be nil itself.
	Halted func() *chain.Halt
}

// Gate is passed by all calls of one account. It is safe for concurrent use and never blocks.
type Gate struct {
	config Config

	mu     sync.Mutex
	bucket *ratelimit.Bucket
}

// New returns a gate that nothing has passed yet.
func New(c Config) *Gate {
	return &Gate{config: c, bucket: ratelimit.NewBucket(ratelimit.BucketConfig{
		Rate: c.Rate, Burst: c.Burst, Reserved: int(port.Follow), Background: int(port.Sweep),
	}, c.Clock.Now())}
}

// Call is what is about to be asked of the service.
type Call struct {
	// Operation names it in messages and metrics.
	Operation string
	// Changes is true when it may change something.
	Changes bool
}

// errand is the key of whether the errand of a context has begun.
type errand struct{}

// Errand returns the context of a series of calls in which each is worth nothing without those after it. Once its first
// call has passed the others follow at once, and later callers wait for them: a change that was refused between its
// read and its write would read again each time, and never end. It is not for concurrent use.
func Errand(ctx context.Context) context.Context { return context.WithValue(ctx, errand{}, new(bool)) }

// Errand is the context of a series of calls that changes something. It is not begun while nothing may be changed: the reads
// before the change would be for nothing.
func (g *Gate) Errand(ctx context.Context, operation string) (context.Context, error) {
	return Errand(ctx), g.refusal(Call{Operation: operation, Changes: true})
}

// patience is for one call of a client that would wait for as long as it takes: a call without an answer must not stop
// its zone. Usual answers take a second, long lists a few.
const patience = 30 * time.Second

// Bounded is Do for such a client, whose failures classify makes faults.
func (g *Gate) Bounded(ctx context.Context, c Call, classify func(operation string, err error) error, send func(context.Context) error) error {
	return g.Do(ctx, c, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		return classify(c.Operation, send(ctx))
	})
}

// Do makes a call, unless it has to wait. The error of send has to be a *fault.Error, or nil.
func (g *Gate) Do(ctx context.Context, c Call, send func(context.Context) error) error {
	begun, inErrand := ctx.Value(errand{}).(*bool)
	if err := g.admit(ctx, c, inErrand && *begun); err != nil {
		return err
	}
	if inErrand {
		*begun = true
	}
	sent := g.config.Clock.Now()
	err := send(ctx)
	g.config.Metrics.called(g.config.Provider, c.Operation, err, g.config.Clock.Since(sent))
	if fault.Is(err, fault.Throttled) {
		g.mu.Lock()
		g.bucket.Throttled(g.config.Clock.Now(), sent)
		g.mu.Unlock()
	}
	return err
}

// admit takes a place for a call, in any case where it belongs to an errand that has begun.
func (g *Gate) admit(ctx context.Context, c Call, begun bool) error {
	if err := g.refusal(c); err != nil {
		return err
	}
	call := port.CallOf(ctx)
	g.mu.Lock()
	defer g.mu.Unlock()
	if begun {
		g.bucket.Owe(g.config.Clock.Now(), int(call.Class))
		return nil
	}
	caller := ratelimit.Caller{Key: call.Key, Namespace: call.Namespace, Class: int(call.Class)}
	if delay := g.bucket.Take(g.config.Clock.Now(), caller); delay > 0 {
		return c.refuse(CodeLocalRateLimit, "waiting for the operator's own rate limit", delay)
	}
	return nil
}

// refusal is why a call may not be made now, whatever the rate.
func (g *Gate) refusal(c Call) error {
	if !c.Changes || g.config.Halted == nil {
		return nil
	}
	if h := g.config.Halted(); h != nil {
		return c.refuse(CodeHalted, h.Message, haltedFor)
	}
	return nil
}

func (c Call) refuse(code, message string, again time.Duration) error {
	return &fault.Error{Kind: fault.Throttled, Operation: c.Operation, Code: code, Message: message, RetryAfter: again}
}
