// Package writer keeps the state table of one source up to date, for as long as the source wants that. It remembers only
// the rows that differ: it is told when an object changes, and compares the whole table once after a start and once a day.
package writer

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/retry"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
)

const (
	// gather is how long the first change waits for others.
	gather = time.Second
	// batch is the most rows that are written at once. After a call that took longer than slow it is half as many, so that a slow
	// database gets no more than it writes within its time, which ends with the lease, and twice as many after one that took less
	// than quick.
	batch = 500
	slow  = 10 * time.Second
	quick = 5 * time.Second
	// compareEvery is how often the whole table is compared, for what others have changed in it.
	compareEvery = 24 * time.Hour
	// late is how old a difference may be before the table counts as behind.
	late = time.Minute
)

// pauses are those before the next try where the table can't be written, comparisons those before the next comparison where
// it can be, but not be read.
var (
	pauses      = retry.Backoff{First: time.Second, Last: 15 * time.Second}
	comparisons = retry.Backoff{First: 15 * time.Second, Last: time.Hour}
)

// Object is what the table should say of one tenant.
type Object struct {
	// Found is unset where there is no such object, Ours where it is not one of the source's.
	Found, Ours bool
	// Known is unset while status does not speak of the spec: the row stays as it is. The row has no key while that is not known.
	Known bool
	// Rank says which of several objects with one key the row is about: that of the highest, and of these the newest.
	Rank    int
	Created time.Time
	Row     statetable.Row
}

// Before reports whether the row is about this object, and not about the other one with its key.
func (o Object) Before(other Object) bool {
	return cmp.Or(cmp.Compare(o.Rank, other.Rank), o.Created.Compare(other.Created), cmp.Compare(o.Row.Version, other.Row.Version)) > 0
}

// Fleet is how the objects of the source are looked at.
type Fleet interface {
	// All are the objects of the source as the cache has them.
	All(ctx context.Context) ([]Object, error)
	// One is the object that the row of a key is about, as the cache has it, or else that of the name.
	One(ctx context.Context, key, name string) (Object, error)
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
	// MaxRows is how many rows of the source the table may have; zero for no limit.
	MaxRows int
	Fleet   Fleet
	Table   Table
	Now     func() time.Time
	// Tell takes the verdict of each try; news is set where it says something else than before, apart from how many rows wait,
	// and since when. Wrote is called for each call that wrote rows.
	Tell  func(v statetable.Verdict, news bool)
	Wrote func(rows int)
	// Enter waits for the turn of a call to the database, and leave ends it.
	Enter func(ctx context.Context) (leave func(), err error)
}

// Writer keeps one table up to date. One that is nil does nothing.
type Writer struct {
	Options

	// told has room for one signal that there is something to do.
	told chan struct{}
	// size is how many rows are written at once now, failures how often that has failed in succession.
	size, failures int
	// compare is when the table is compared next, uncompared how often that has failed in succession, and why the last failure.
	compare    time.Time
	uncompared int
	why        error

	mu      sync.Mutex
	backlog statetable.Backlog
	// last is the verdict that was told last, takes since when the database has taken rows, and ending is set when the writer is to
	// end with the backlog.
	last   statetable.Verdict
	takes  time.Time
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

// Verdict is what is known of the table since the last try.
func (w *Writer) Verdict() *statetable.Verdict {
	w.mu.Lock()
	defer w.mu.Unlock()
	v := w.last
	return &v
}

// Finish has the writer end once nothing differs, or with its context.
func (w *Writer) Finish() {
	w.mu.Lock()
	w.ending = true
	w.mu.Unlock()
	w.tell()
}

// Run writes until the context ends, or after Finish until nothing differs.
func (w *Writer) Run(ctx context.Context) {
	w.compare = w.Now()
	for ctx.Err() == nil {
		err := w.round(ctx)
		if ctx.Err() != nil {
			return
		}
		w.conclude(err)
		switch {
		case w.ended():
			return
		case err != nil:
			w.failures++
			wait(ctx, nil, pauses.Delay(w.failures))
		default:
			w.failures = 0
			w.rest(ctx)
		}
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
func (w *Writer) rest(ctx context.Context) {
	w.mu.Lock()
	next := w.backlog.Next()
	w.mu.Unlock()
	if next.IsZero() || next.After(w.compare) {
		next = w.compare
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

// round compares the table if that is due, and writes what differs: first the rows that the database has not refused, for these
// would wait for what it does with the others.
func (w *Writer) round(ctx context.Context) error {
	if !w.Now().Before(w.compare) {
		if err := w.compareNow(ctx); err != nil {
			return err
		}
	}
	for full := true; full; {
		rows := w.take((*statetable.Backlog).Take)
		if err := w.call(ctx, rows); err != nil {
			return err
		}
		full = len(rows) == w.size
	}
	return w.call(ctx, w.take((*statetable.Backlog).TakeRefused))
}

func (w *Writer) take(from func(b *statetable.Backlog, most int, now time.Time) []statetable.Difference) []statetable.Difference {
	w.mu.Lock()
	defer w.mu.Unlock()
	return from(&w.backlog, w.size, w.Now())
}

// call writes rows that were taken out of the backlog, when it is its turn.
func (w *Writer) call(ctx context.Context, rows []statetable.Difference) error {
	if len(rows) == 0 {
		return nil
	}
	leave, err := w.Enter(ctx)
	if err != nil {
		w.putBack(rows...)
		return err
	}
	defer leave()
	begun := w.Now()
	err = w.write(ctx, rows)
	w.pace(w.Now().Sub(begun))
	if err == nil {
		w.failures = 0
		w.conclude(nil)
	}
	return err
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
	if err == nil {
		err = w.why
	}
	w.mu.Lock()
	before, now := w.last, w.Now()
	w.last = w.backlog.Verdict()
	w.last.Compared = before.Compared || err == nil
	if err != nil {
		w.last.Failure = err.Error()
	}
	if w.takes.IsZero() || before.Failure != "" {
		w.takes = now
	}
	well := w.last.Failure == "" && w.last.Refused == "" && w.last.Waiting > 0
	w.last.Behind = well && now.Sub(w.last.Since) > late && now.Sub(w.takes) > late
	v := w.last
	w.mu.Unlock()
	w.Tell(v, !v.SaysAs(before))
}
