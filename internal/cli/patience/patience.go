// Package patience makes the calls to AWS that a command waits for.
package patience

import (
	"context"
	"time"

	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// How often a read that had no answer is tried again, and the pause before that. A fleet is read for minutes: one lost
// answer must not be the end of it.
const (
	maxFailures = 5
	firstPause  = time.Second
	maxPause    = 20 * time.Second
)

// Caller makes reads. It is safe for concurrent use.
type Caller struct {
	Clock clock.WithTicker
	// Asked is told of each call that AWS has seen, if it is not nil.
	Asked func(name string)
}

// Call makes a read, and makes it again where it had to wait for the rate limit or had no answer. key is what no other
// read of that name has at the time: it keeps the place in the queue of the limiter.
func (c *Caller) Call(ctx context.Context, name, key string, read func(context.Context) error) error {
	ctx = port.WithCall(ctx, port.Call{Key: name + " " + key, Class: port.Change})
	failures, pause := 0, firstPause
	for {
		err := read(ctx)
		asked := fault.CodeOf(err) != aws.CodeLocalRateLimit
		if asked && c.Asked != nil {
			c.Asked(name)
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case !fault.Is(err, fault.Throttled, fault.Transient):
			return err
		case asked:
			if failures++; failures > maxFailures {
				return err
			}
		}
		wait := max(fault.RetryAfter(err), pause)
		if !asked {
			wait = max(fault.RetryAfter(err), time.Millisecond)
		} else {
			pause = min(2*pause, maxPause)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-c.Clock.After(wait):
		}
	}
}
