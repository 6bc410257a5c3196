package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/bench/rig"
)

const (
	// betweenSingles is the pause after a single change.
	betweenSingles = time.Second
	// singlePoll is how often AWS is asked whether it has a single change.
	singlePoll = 50 * time.Millisecond
)

// whileChanging does something while single tenants that are Ready are changed, one after the other, and takes the time
// from each write of a spec until AWS has the update.
func (b *bench) whileChanging(ctx context.Context, do func(context.Context) error) error {
	if b.SingleChanges == 0 {
		return do(ctx)
	}
	changing, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	var took []time.Duration
	go func() {
		for b.changed < b.SingleChanges && changing.Err() == nil {
			one, err := b.changeOne(changing, b.changed)
			if err != nil {
				ended <- err
				return
			}
			b.changed++
			took = append(took, one)
			pause(changing, betweenSingles)
		}
		ended <- nil
	}()
	err := do(ctx)
	stop()
	if failure := <-ended; !errors.Is(failure, context.Canceled) {
		err = errors.Join(err, failure)
	}
	b.report.SingleChanges, b.report.Single = len(took), rig.DistributionOf(took)
	return err
}

// changeOne changes a tenant as soon as it is Ready, and returns how long that took.
func (b *bench) changeOne(ctx context.Context, n int) (time.Duration, error) {
	if err := b.Objects.WaitOne(ctx, nameOf(n)); err != nil {
		return 0, err
	}
	last, err := b.lastCall(ctx)
	if err != nil {
		return 0, err
	}
	begun := time.Now()
	o, err := b.changedObject(n)
	if err != nil {
		return 0, err
	}
	if err := b.Objects.Write(ctx, o, b.apply); err != nil {
		return 0, err
	}
	for ctx.Err() == nil {
		entries, err := b.Stack.AWS.Journal(ctx, last)
		if err != nil {
			return 0, err
		}
		for _, e := range entries {
			if last = e.Seq; e.Operation == opUpdate && e.Committed && e.Name == nameOf(n) {
				return e.Time.Sub(begun), nil
			}
		}
		pause(ctx, singlePoll)
	}
	return 0, fmt.Errorf("waiting for the change of %s: %w", nameOf(n), context.Cause(ctx))
}

// lastCall is the number of the last call that AWS has seen.
func (b *bench) lastCall(ctx context.Context) (uint64, error) {
	calls, err := b.Stack.AWS.Journal(ctx, b.seenCall)
	if len(calls) > 0 {
		b.seenCall = calls[len(calls)-1].Seq
	}
	return b.seenCall, err
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
