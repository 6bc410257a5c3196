package route53

import (
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// In addition to calls, Route 53 counts the changes of records in each account: 100 a second, and 1,500 at once. We
// leave a part to others, and room for a batch of the greatest size.
const (
	changesPerSecond = 80
	changesAtOnce    = 1200
)

// allowance is what is left of the changes of an account. It is safe for concurrent use.
type allowance struct {
	clock clock.PassiveClock

	mu   sync.Mutex
	left float64
	at   time.Time
}

func newAllowance(c clock.PassiveClock) *allowance {
	return &allowance{clock: c, left: changesAtOnce, at: c.Now()}
}

// take lets a batch of n changes go, or says when to come back. A batch that is larger than the allowance is sent when
// nothing else was sent for a while.
func (a *allowance) take(n int) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.clock.Now()
	if passed := now.Sub(a.at); passed > 0 {
		a.left, a.at = min(a.left+passed.Seconds()*changesPerSecond, changesAtOnce), now
	}
	if missing := min(float64(n), changesAtOnce) - a.left; missing > 0 {
		return &fault.Error{
			Kind: fault.Throttled, Operation: opChange, Code: aws.CodeLocalRateLimit,
			Message:    "waiting until Route 53 accepts more record changes",
			RetryAfter: time.Duration(missing/changesPerSecond*float64(time.Second)).Round(time.Millisecond) + time.Millisecond,
		}
	}
	a.left -= float64(n)
	return nil
}

// giveBack returns what a batch took that was never sent.
func (a *allowance) giveBack(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.left = min(a.left+float64(n), changesAtOnce)
}
