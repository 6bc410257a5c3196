package importing

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// Progress is how far the reading has come.
type Progress struct {
	// What is read now, in the plural.
	What string
	// Done of Total are read. Total is 0 while it is not known.
	Done, Total int
	// Rate is the calls a second so far.
	Rate float64
}

// String is the progress as a line for the screen.
func (p Progress) String() string {
	done := number(p.Done)
	if p.Total > 0 {
		done += " of " + number(p.Total)
	}
	return fmt.Sprintf("reading %s: %s, %.1f calls a second", p.What, done, p.Rate)
}

// How often a read that had no answer is tried again, and the pause before that. A fleet is read for minutes: one lost
// answer must not be the end of it.
const (
	maxFailures = 5
	firstPause  = time.Second
	maxPause    = 20 * time.Second
)

// calls counts the calls to AWS.
type calls struct {
	mu     sync.Mutex
	since  time.Time
	byName map[string]int
	total  int
}

func (c *calls) note(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byName == nil {
		c.byName = map[string]int{}
	}
	c.byName[name]++
	c.total++
}

func (c *calls) rate(now time.Time) float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if seconds := now.Sub(c.since).Seconds(); seconds > 0 {
		return float64(c.total) / seconds
	}
	return 0
}

// call makes a read, and makes it again where it had to wait for the rate limit or had no answer. key is what no other
// read has at the time: it keeps the place in the queue of the limiter.
func (r *reader) call(ctx context.Context, name, key string, read func(context.Context) error) error {
	ctx = port.WithCall(ctx, port.Call{Key: name + " " + key, Class: port.Change})
	failures, pause := 0, firstPause
	for {
		err := read(ctx)
		asked := fault.CodeOf(err) != localRateLimit
		if asked {
			r.calls.note(name)
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
		case <-r.Clock.After(wait):
		}
	}
}

// localRateLimit is the code of a call that the limiter has refused: AWS has not seen it.
const localRateLimit = "LocalRateLimit"

// forEach reads n things, several at once, and tells of the progress. The first failure ends it.
func (r *reader) forEach(ctx context.Context, what string, n int, read func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan int)
	var workers sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for range min(r.Workers, n) {
		workers.Go(func() {
			for i := range next {
				if err := read(ctx, i); err != nil {
					cancel(err)
					return
				}
				mu.Lock()
				done++
				r.progress(what, done, n)
				mu.Unlock()
			}
		})
	}
	for i := 0; i < n && ctx.Err() == nil; i++ {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	workers.Wait()
	return context.Cause(ctx)
}

func (r *reader) progress(what string, done, total int) {
	if r.Progress != nil {
		r.Progress(Progress{What: what, Done: done, Total: total, Rate: r.calls.rate(r.now())})
	}
}
