package tenantsource

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/retry"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantsource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// The pauses before a lost stream is tried again. One that stood for a while begins with the first of them.
const (
	firstListen = 2 * time.Second
	lastListen  = 5 * time.Minute
	// standsFor is how long a stream has to stand for that. One that is lost at once each time is not tried faster.
	standsFor = time.Minute
)

// stream follows the changes of one table, until it is stopped. It implements port.HintSink.
type stream struct {
	// generation and hosts are what it was started with: with others, another one is started.
	generation int64
	hosts      []string
	listen     func(ctx context.Context, sink port.HintSink) *tenantsource.Failure
	// wake has the source looked at again.
	wake func()
	now  func() time.Time
	// stop ends it, and gives its slot back at once: the next stream of the source needs it before this one has ended.
	stop func()

	mu    sync.Mutex
	watch tenantsource.Watch
	// ready is when the stream last began to tell of changes.
	ready time.Time
	// connection is the connection string of the last try.
	connection mapping.Secret
}

// Ready implements port.HintSink. What changed before is read.
func (s *stream) Ready() {
	s.mu.Lock()
	s.watch.Listening, s.watch.Lost, s.ready = true, "", s.now()
	s.mu.Unlock()
	s.Hint()
}

// mostKeys is how many rows are read alone at most. While the whole table is read, the changes of a busy one gather: they must not
// be a reason to read all of it again.
const mostKeys = 1000

// Hint implements port.HintSink. Without keys, or with too many, any row may have changed.
func (s *stream) Hint(keys ...string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	w := &s.watch
	first, anyBefore := w.Hinted.IsZero(), !w.Hinted.IsZero() && len(w.Keys) == 0
	if first {
		w.Hinted = s.now()
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
		s.wake()
	}
}

// remind wakes the source again if a change was told in the midst of a round, which may have taken the first wake for its
// own.
func (s *stream) remind() {
	if s != nil && !s.shows().Hinted.IsZero() {
		s.wake()
	}
}

// seen is called when a read begins: it sees what was told before. These are the keys of the rows that have changed, none if
// any may have.
func (s *stream) seen() []string {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	keys := s.watch.Keys
	s.watch.Hinted, s.watch.Keys = time.Time{}, nil
	return keys
}

func (s *stream) shows() *tenantsource.Watch {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.watch
	return &w
}

// run listens again and again.
func (s *stream) run(ctx context.Context) {
	pauses := retry.Backoff{First: firstListen, Last: lastListen}
	for failures := 1; ; failures++ {
		failure := s.listen(ctx, s)
		if ctx.Err() != nil {
			return
		}
		if s.lose(failure.Message) {
			failures = 1
		}
		s.wake()
		pause := time.NewTimer(pauses.Delay(failures))
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return
		}
	}
}

// lose notes why the stream was lost, and reports whether it had stood for a while.
func (s *stream) lose(why string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	stood := s.watch.Listening && s.now().Sub(s.ready) >= standsFor
	s.watch.Listening, s.watch.Lost = false, why
	return stood
}

// uses reports whether the last try had the connection string.
func (s *stream) uses(connection mapping.Secret) bool {
	if s == nil {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.connection == (mapping.Secret{}) || s.connection == connection
}

func (s *stream) connects(connection mapping.Secret) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.connection = connection
}

// follow keeps the stream of the source as the spec wants it, and says what is known of it.
func (p *pass) follow() *tenantsource.Watch {
	if p.object.Spec.Watch == nil || p.in.Deleting || p.in.Suspended || p.in.Frozen() || p.in.Invalid != "" {
		p.session.unfollow()
		return nil
	}
	hosts := p.hosts()
	if s := p.session.stream; s != nil && s.generation == p.object.Generation && slices.Equal(s.hosts, hosts) {
		return s.shows()
	}
	p.session.unfollow()
	hints := p.Hints[mapping.Provider(p.object.Spec.Provider)]
	if hints == nil {
		return &tenantsource.Watch{Lost: fmt.Sprintf("This operator can't watch tables of the provider %q", p.object.Spec.Provider)}
	}
	if !p.streams.TryAcquire(1) {
		return &tenantsource.Watch{Lost: fmt.Sprintf("The operator already watches %d tables, and no more at the same time: ask the administrator to raise --tenantsource-max-watches", p.MaxWatches)}
	}
	p.session.stream = p.begin(hints, hosts)
	return p.session.stream.shows()
}

// begin starts a stream. It reads the connection string with each try, as it may be another one, or not offered any more.
func (p *pass) begin(hints port.Hints, hosts []string) *stream {
	ctx, stop := context.WithCancel(context.Background())
	object, key := p.object.DeepCopy(), p.key()
	s := &stream{generation: object.Generation, hosts: hosts, wake: func() { p.waker.Wake(ctx, key) }, now: p.Clock.Now, stop: func() {
		stop()
		p.streams.Release(1)
	}}
	s.listen = func(ctx context.Context, sink port.HintSink) *tenantsource.Failure {
		connection, failure := p.connection(ctx, object)
		if failure != nil {
			return failure
		}
		s.connects(connection)
		query := convert.SourceQuery(object, connection, nil)
		query.Hosts = hosts
		return tenantsource.FailureOf(hints.Listen(ctx, query, sink))
	}
	go func() {
		select {
		case <-p.Stopped:
			stop()
		case <-ctx.Done():
		}
	}()
	go s.run(ctx)
	return s
}

// hosts are those that may be read from; nil for all.
func (p *pass) hosts() []string {
	if p.granted == nil {
		return nil
	}
	return append([]string{}, p.granted.Hosts...)
}

// unfollow ends the stream, if there is one.
func (s *session) unfollow() {
	if s != nil && s.stream != nil {
		s.stream.stop()
		s.stream = nil
	}
}
