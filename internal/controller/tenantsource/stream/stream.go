// Package stream follows the changes of one table, which a database tells of, for as long as its source wants that. It gathers
// what it is told between two looks at the source, and connects again when it is lost.
package stream

import (
	"context"
	"crypto/sha256"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/retry"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantsource"
)

// The pauses before a lost stream is tried again. One that stood for a while begins with the first of them.
const (
	firstListen = 2 * time.Second
	lastListen  = 5 * time.Minute
	// standsFor is how long a stream has to stand for that. One that is lost at once each time is not tried faster.
	standsFor = time.Minute
	// standsAtMost is when a stream connects again: the host name of its database may lead to another server since.
	standsAtMost = time.Hour
)

// Options are what a stream needs.
type Options struct {
	// Wake has the source looked at again.
	Wake func()
	Now  func() time.Time
	// Slots has one for each table that is listened to, and Full says that all are taken.
	Slots *semaphore.Weighted
	Full  string
}

// Stream follows the changes of one table. It implements port.HintSink. One that is nil tells of nothing.
type Stream struct {
	Options

	mu     sync.Mutex
	listen Listen
	// end ends the present try, or the pause after it.
	end   context.CancelFunc
	watch tenantsource.Watch
	// ready is when the stream last began to tell of changes.
	ready time.Time
	// connection is that of the present try. It is not set before that, nor where there is none that may be used.
	connection fingerprint
}

// Listen is one try. It returns when it has failed.
type Listen func(ctx context.Context, s *Stream) *tenantsource.Failure

// New makes a stream, which does nothing until it runs.
func New(o Options, listen Listen) *Stream { return &Stream{Options: o, listen: listen} }

// fingerprint tells connection strings apart without keeping them.
type fingerprint [sha256.Size]byte

func fingerprintOf(connection mapping.Secret) fingerprint {
	return sha256.Sum256([]byte(connection.Reveal()))
}

// Ready implements port.HintSink. Earlier changes are read.
func (s *Stream) Ready() {
	s.mu.Lock()
	s.watch.Listening, s.watch.Lost, s.ready = true, "", s.Now()
	s.mu.Unlock()
	s.Hint()
}

// mostKeys is how many rows are read alone at most. While the whole table is read, the changes of a busy one gather: they must not
// be a reason to read all of it again.
const mostKeys = 1000

// Hint implements port.HintSink. Without keys, or with too many, any row may have changed.
func (s *Stream) Hint(keys ...string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	w := &s.watch
	first, anyBefore := w.Hinted.IsZero(), !w.Hinted.IsZero() && len(w.Keys) == 0
	if first {
		w.Hinted = s.Now()
	}
	w.Keys = append(w.Keys, keys...)
	slices.Sort(w.Keys)
	w.Keys = slices.Compact(w.Keys)
	anyNow := anyBefore || len(keys) == 0 || len(w.Keys) > mostKeys
	if anyNow {
		w.Keys = nil
	}
	s.mu.Unlock()
	if first || anyNow && !anyBefore {
		s.Wake()
	}
}

// Remind wakes the source again if a change was told in the midst of a round, which may have taken the first wake for its
// own.
func (s *Stream) Remind() {
	if s != nil && !s.State().Hinted.IsZero() {
		s.Wake()
	}
}

// Seen is called when a read begins: it sees what was told before. These are the keys of the rows that have changed, none if
// any may have.
func (s *Stream) Seen() []string {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	keys := s.watch.Keys
	s.watch.Hinted, s.watch.Keys = time.Time{}, nil
	return keys
}

// State is what is known of it.
func (s *Stream) State() *tenantsource.Watch {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.watch
	return &w
}

// Run listens again and again, until the context ends. Only tries take a slot, not the pauses between them.
func (s *Stream) Run(ctx context.Context) {
	pauses := retry.Backoff{First: firstListen, Last: lastListen}
	for failures := 1; s.enter(ctx); failures++ {
		try, failure := s.try(ctx)
		if ctx.Err() != nil {
			return
		}
		if s.lose(failure.Message) {
			failures = 1
		}
		s.Wake()
		pause := time.NewTimer(pauses.Delay(failures))
		select {
		case <-pause.C:
		case <-try.Done():
			failures = 0
		}
		pause.Stop()
	}
}

// enter waits for a slot. They are given out in the order in which streams have come.
func (s *Stream) enter(ctx context.Context) bool {
	if ctx.Err() != nil {
		return false
	}
	if s.Slots.TryAcquire(1) {
		return true
	}
	s.lose(s.Full)
	s.Wake()
	return s.Slots.Acquire(ctx, 1) == nil
}

// try listens until that fails, and gives the slot back. A try that is renewed stays in the same slot. The context is
// that of the last one.
func (s *Stream) try(ctx context.Context) (context.Context, *tenantsource.Failure) {
	defer s.Slots.Release(1)
	for {
		try, listen := s.begin(ctx)
		failure := listen(try, s)
		if try.Err() == nil || ctx.Err() != nil {
			return try, failure
		}
	}
}

// begin begins a try.
func (s *Stream) begin(ctx context.Context) (context.Context, Listen) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end != nil {
		s.end()
	}
	try, end := context.WithCancel(ctx)
	// Not a deadline of the context, which drivers pass on to the database.
	age := time.AfterFunc(standsAtMost, end)
	context.AfterFunc(try, func() { age.Stop() })
	s.end, s.connection, s.watch.Listening = end, fingerprint{}, false
	return try, s.listen
}

// renew ends the present try, or the pause after it: the next one begins at once. The caller has the lock.
func (s *Stream) renew() {
	s.watch.Listening = false
	if s.end != nil {
		s.end()
	}
}

// Change renews the stream for another spec. Its earlier hints do not concern the new one.
func (s *Stream) Change(listen Listen) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listen, s.watch = listen, tenantsource.Watch{Lost: s.watch.Lost}
	s.renew()
}

// lose notes why the stream was lost, and reports whether it had stood for a while.
func (s *Stream) lose(why string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	stood := s.watch.Listening && s.Now().Sub(s.ready) >= standsFor
	s.watch.Listening, s.watch.Lost = false, why
	return stood
}

// Connecting notes with which connection string a try connects.
func (s *Stream) Connecting(connection mapping.Secret) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.connection = fingerprintOf(connection)
}

// Compare renews a stream whose connection string is no longer the one that is offered, or that may use none any more.
func (s *Stream) Compare(offered mapping.Secret, failure *tenantsource.Failure) {
	if s == nil || failure != nil && failure.Reason != tenantsource.InvalidConfig {
		return
	}
	var now fingerprint
	if failure == nil {
		now = fingerprintOf(offered)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.connection != (fingerprint{}) && s.connection != now {
		s.renew()
	}
}
