package tenantsource

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
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
	// standsAtMost is when a stream connects again: the host name of its database may lead to another server since.
	standsAtMost = time.Hour
)

// secretTimeout bounds the read of the connection string, so that the status soon says what became of a try.
const secretTimeout = 10 * time.Second

// stream follows the changes of one table, until it is stopped. It implements port.HintSink.
type stream struct {
	// generation and hosts are those that its tries are made for.
	generation int64
	hosts      []string
	// wake has the source looked at again.
	wake func()
	now  func() time.Time
	// slots has one for each table that is listened to, and full says that all are taken.
	slots *semaphore.Weighted
	full  string
	// stop ends it.
	stop func()

	mu     sync.Mutex
	listen listen
	// end ends the present try, or the pause after it.
	end   context.CancelFunc
	watch tenantsource.Watch
	// ready is when the stream last began to tell of changes.
	ready time.Time
	// connection is that of the present try. It is not set before that, nor where there is none that may be used.
	connection fingerprint
}

// listen is one try.
type listen func(ctx context.Context, s *stream) *tenantsource.Failure

// fingerprint tells connection strings apart without keeping them.
type fingerprint [sha256.Size]byte

func fingerprintOf(connection mapping.Secret) fingerprint {
	return sha256.Sum256([]byte(connection.Reveal()))
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

// run listens again and again. Only tries take a slot, not the pauses between them.
func (s *stream) run(ctx context.Context) {
	pauses := retry.Backoff{First: firstListen, Last: lastListen}
	for failures := 1; s.enter(ctx); failures++ {
		try, failure := s.try(ctx)
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
		case <-try.Done():
			failures = 0
		}
		pause.Stop()
	}
}

// enter waits for a slot. They are given out in the order in which streams have come.
func (s *stream) enter(ctx context.Context) bool {
	if ctx.Err() != nil {
		return false
	}
	if s.slots.TryAcquire(1) {
		return true
	}
	s.lose(s.full)
	s.wake()
	return s.slots.Acquire(ctx, 1) == nil
}

// try listens until that fails, and gives the slot back. A try that is renewed goes on in the same slot. The context is that of
// the last one.
func (s *stream) try(ctx context.Context) (context.Context, *tenantsource.Failure) {
	defer s.slots.Release(1)
	for {
		try, listen := s.begin(ctx)
		failure := listen(try, s)
		if try.Err() == nil || ctx.Err() != nil {
			return try, failure
		}
	}
}

// begin begins a try.
func (s *stream) begin(ctx context.Context) (context.Context, listen) {
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
func (s *stream) renew() {
	s.watch.Listening = false
	if s.end != nil {
		s.end()
	}
}

// change renews the stream for another spec. What it has told of is no matter of the new one.
func (s *stream) change(listen listen) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listen, s.watch = listen, tenantsource.Watch{Lost: s.watch.Lost}
	s.renew()
}

// lose notes why the stream was lost, and reports whether it had stood for a while.
func (s *stream) lose(why string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	stood := s.watch.Listening && s.now().Sub(s.ready) >= standsFor
	s.watch.Listening, s.watch.Lost = false, why
	return stood
}

// connects notes with which connection string a try connects.
func (s *stream) connects(connection mapping.Secret) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.connection = fingerprintOf(connection)
}

// compare renews a stream whose connection string is no longer the one that is offered, or that may use none any more.
func (s *stream) compare(offered mapping.Secret, failure *tenantsource.Failure) {
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

// follow keeps the stream of the source as the spec wants it, and says what is known of it.
func (p *pass) follow() *tenantsource.Watch {
	if p.object.Spec.Watch == nil || p.in.Deleting || p.in.Suspended || p.in.Frozen() || p.in.Invalid != "" {
		p.session.unfollow()
		return nil
	}
	hints := p.Hints[mapping.Provider(p.object.Spec.Provider)]
	if hints == nil {
		p.session.unfollow()
		return &tenantsource.Watch{Lost: fmt.Sprintf("This operator can't watch tables of the provider %q", p.object.Spec.Provider)}
	}
	hosts, s := p.hosts(), p.session.stream
	if s != nil && s.generation == p.object.Generation && sameHosts(s.hosts, hosts) {
		return s.shows()
	}
	if listen := p.listener(p.object.DeepCopy(), hints, hosts); s == nil {
		s = p.start(p.key(), listen)
	} else {
		s.change(listen)
	}
	s.generation, s.hosts, p.session.stream = p.object.Generation, hosts, s
	return s.shows()
}

// listener makes the tries for a source. Each reads the connection string, as it may be another one, or not offered any more.
func (c *Controller) listener(o *v1alpha1.TenantSource, hints port.Hints, hosts []string) listen {
	return func(ctx context.Context, s *stream) *tenantsource.Failure {
		reading, cancel := context.WithTimeout(ctx, secretTimeout)
		connection, failure := c.connection(reading, o)
		cancel()
		if failure != nil {
			return failure
		}
		s.connects(connection)
		query := convert.SourceQuery(o, connection, nil)
		query.Hosts = hosts
		return tenantsource.FailureOf(hints.Listen(ctx, query, s))
	}
}

// start starts a stream. It lives longer than the pass, and must keep nothing of it.
func (c *Controller) start(key client.ObjectKey, listen listen) *stream {
	ctx, stop := context.WithCancel(context.Background())
	s := &stream{
		listen: listen, wake: func() { c.waker.Wake(ctx, key) }, now: c.Clock.Now, stop: stop, slots: c.streams,
		full: fmt.Sprintf("The operator already watches %d tables, and no more at the same time: ask the administrator to raise --tenantsource-max-watches", c.MaxWatches),
	}
	go func() {
		select {
		case <-c.Stopped:
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

// sameHosts tells a grant that names no hosts from none, which allows all.
func sameHosts(a, b []string) bool { return (a == nil) == (b == nil) && slices.Equal(a, b) }

// unfollow ends the stream, if there is one.
func (s *session) unfollow() {
	if s != nil && s.stream != nil {
		s.stream.stop()
		s.stream = nil
	}
}
