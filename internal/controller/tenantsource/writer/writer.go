// Package writer keeps the state table of one source up to date, for as long as the source wants that. It remembers only
// the rows that differ: it is told when an object changes, and compares the whole table once after a start and once a day.
package writer

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/retry"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
)

const (
	// gather is how long the first change waits for others.
	gather = time.Second
	// batch is the most rows that are written at once. After a call that took longer than slow it is half as many, so that a slow
	// database gets no more than it writes within its time, and twice as many after one that took less than quick.
	batch = 500
	slow  = 20 * time.Second
	quick = 5 * time.Second
	// compareEvery is how often the whole table is compared, for what others have changed in it.
	compareEvery = 24 * time.Hour
)

// pauses are those before the next try where the table can't be written.
var pauses = retry.Backoff{First: time.Second, Last: 15 * time.Second}

// Object is what the table should say of one tenant.
type Object struct {
	// Found is unset where there is no object of the name, Ours where it is not one of the source's.
	Found, Ours bool
	// Known is unset while status does not speak of the spec: the row stays as it is. The row has no key while that is not known.
	Known bool
	Row   statetable.Row
}

// Fleet is how the objects of the source are looked at.
type Fleet interface {
	// All are the objects of the source as the cache has them.
	All(ctx context.Context) ([]Object, error)
	// One is an object as the cache has it.
	One(ctx context.Context, name string) (Object, error)
	// Missed looks for an object past the cache. It returns the version of the look, and whether there is no such object.
	// Without a name it only returns the version.
	Missed(ctx context.Context, name string) (version int64, missed bool, err error)
}

// Table is the state table as the database has it.
type Table interface {
	// Read gives all rows of the source to the sink.
	Read(ctx context.Context, sink mapping.Sink) error
	// Write makes changes, as port.States does.
	Write(ctx context.Context, changes []statetable.Change) ([]statetable.Refusal, error)
}

// Options are what a writer needs.
type Options struct {
	// Source names the source in all clusters, Namespace is that of its objects.
	Source, Namespace string
	// Removes takes the rows of deleted tenants out of the table.
	Removes bool
	Fleet   Fleet
	Table   Table
	Now     func() time.Time
	// Tell takes the verdict of each try; news is set where it says something else than before, apart from how many rows wait,
	// and since when. Wrote is called for each call that wrote rows.
	Tell  func(v statetable.Verdict, news bool)
	Wrote func(rows int)
	// Slots has one for each table that is written at the same time.
	Slots *semaphore.Weighted
}

// Writer keeps one table up to date. One that is nil does nothing.
type Writer struct {
	Options

	// told has room for one signal that there is something to do.
	told chan struct{}
	// size is how many rows are written at once now, failures how often that has failed in succession.
	size, failures int

	mu       sync.Mutex
	backlog  statetable.Backlog
	compared bool
	failure  string
	// last is the verdict that was told last, and ending is set when the writer is to end with the backlog.
	last   statetable.Verdict
	ending bool
}

// New makes a writer, which does nothing until it runs.
func New(o Options) *Writer { return &Writer{Options: o, told: make(chan struct{}, 1), size: batch} }

// Differ notes that the row of an object may differ.
func (w *Writer) Differ(key, name string) {
	if w == nil {
		return
	}
	w.mu.Lock()
	w.backlog.Add(key, name, w.Now())
	w.mu.Unlock()
	w.tell()
}

func (w *Writer) tell() {
	select {
	case w.told <- struct{}{}:
	default:
	}
}

// Verdict is what is known of the table.
func (w *Writer) Verdict() *statetable.Verdict {
	w.mu.Lock()
	defer w.mu.Unlock()
	v := w.backlog.Verdict(w.compared, w.failure)
	return &v
}

// Finish has the writer end once nothing differs, or with its context.
func (w *Writer) Finish() {
	if w == nil {
		return
	}
	w.mu.Lock()
	w.ending = true
	w.mu.Unlock()
	w.tell()
}

// Run writes until the context ends, or after Finish until nothing differs.
func (w *Writer) Run(ctx context.Context) {
	compare := w.Now()
	for ctx.Err() == nil {
		due := !w.Now().Before(compare)
		err := w.round(ctx, due)
		if ctx.Err() != nil {
			return
		}
		if w.failures++; err == nil {
			w.failures = 0
			if due {
				compare = w.Now().Add(compareEvery)
			}
		}
		w.conclude(err)
		if w.ended() {
			return
		}
		if w.failures > 0 {
			wait(ctx, nil, pauses.Delay(w.failures))
			continue
		}
		w.rest(ctx, compare)
	}
}

// ended reports whether the writer was told to end, and has nothing left to write.
func (w *Writer) ended() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ending && w.backlog.Len() == 0
}

// rest waits for the next change and those that come with it, for the next row to be tried again, or for the next
// comparison.
func (w *Writer) rest(ctx context.Context, compare time.Time) {
	w.mu.Lock()
	next := w.backlog.Next()
	w.mu.Unlock()
	if next.IsZero() || next.After(compare) {
		next = compare
	}
	if wait(ctx, w.told, next.Sub(w.Now())) {
		wait(ctx, nil, gather)
	}
}

// wait waits for a signal or for a time, and reports whether it was the signal.
func wait(ctx context.Context, signal <-chan struct{}, most time.Duration) bool {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-signal:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}

// round compares the table if that is due, and writes what differs.
func (w *Writer) round(ctx context.Context, compares bool) error {
	if err := w.Slots.Acquire(ctx, 1); err != nil {
		return fmt.Errorf("waiting for other tables: %w", err)
	}
	defer w.Slots.Release(1)
	if compares {
		if err := w.compare(ctx); err != nil {
			return err
		}
	}
	for {
		w.mu.Lock()
		rows := w.backlog.Take(w.size, w.Now())
		w.mu.Unlock()
		if len(rows) == 0 {
			return nil
		}
		begun := w.Now()
		err := w.write(ctx, rows)
		w.pace(w.Now().Sub(begun))
		if err != nil {
			return err
		}
		w.failures = 0
		w.conclude(nil)
	}
}

// pace fits the size of the next call to the time that one took.
func (w *Writer) pace(took time.Duration) {
	switch {
	case took > slow:
		w.size = max(w.size/2, 1)
	case took < quick:
		w.size = min(2*w.size, batch)
	}
}

// conclude tells what is known after a try.
func (w *Writer) conclude(err error) {
	w.mu.Lock()
	w.compared, w.failure = w.compared || err == nil, ""
	if err != nil {
		w.failure = err.Error()
	}
	v := w.backlog.Verdict(w.compared, w.failure)
	news := w.last.Compared != v.Compared || w.last.Failure != v.Failure || w.last.Refused != v.Refused
	w.last = v
	w.mu.Unlock()
	w.Tell(v, news)
}
