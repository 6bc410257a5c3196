package importing

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli/patience"
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

// call makes a read, and counts the calls that it takes.
func (r *reader) call(ctx context.Context, name, key string, read func(context.Context) error) error {
	caller := patience.Caller{Clock: r.Clock, Asked: r.calls.note}
	return caller.Call(ctx, name, key, read)
}

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
