package zone

import (
	"context"
	"slices"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/retry"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// job is what a step does.
type job int

const (
	idle job = iota
	// reading one name comes first: batches wait for it.
	reading
	sending
	polling
	listingPage
	// expiring makes no call: a pause has ended.
	expiring
)

// rest is how long a worker sleeps that has nothing to do.
const rest = time.Hour

// run works until the context ends or the zone has no claims left.
func (z *zone) run(ctx context.Context) {
	for {
		timer := z.opts.Clock.NewTimer(z.step(ctx))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-z.stop:
			timer.Stop()
			return
		case <-z.poke:
		case <-timer.C():
		}
		timer.Stop()
	}
}

// step makes at most one call, whichever is due, and says how long the next step can wait. It
// never waits itself.
func (z *zone) step(ctx context.Context) time.Duration {
	z.mu.Lock()
	first, what := z.earliest()
	now := z.opts.Clock.Now()
	z.mu.Unlock()
	if first.After(now) {
		return first.Sub(now)
	}
	switch what {
	case reading:
		z.readName(ctx)
	case sending:
		z.send(ctx)
	case polling:
		z.poll(ctx)
	case listingPage:
		z.listPage(ctx)
	case expiring:
		z.expire()
	case idle:
	}
	return 0
}

// earliest says what is due first, and when. Of what is due already the first in the order of
// the jobs comes first. Callers hold the lock.
func (z *zone) earliest() (first time.Time, what job) {
	now := z.opts.Clock.Now()
	first = now.Add(rest)
	consider := func(due time.Time, some bool, j job) {
		if due.Before(now) {
			due = now
		}
		if some && due.Before(first) {
			first, what = due, j
		}
	}
	read, some := z.readDue()
	consider(read, some, reading)
	send, some := z.sendDue()
	consider(send, some, sending)
	poll := z.pollDue()
	consider(poll.at(), poll != nil, polling)
	consider(z.listDue(), true, listingPage)
	over, some := z.expiryDue()
	consider(over, some, expiring)
	return first, what
}

// The rhythm of batches: what is declared within a moment goes together, and while a batch is
// not in sync everywhere the next one gathers more.
const (
	gatherFor     = time.Second
	gatherAtMost  = 10 * time.Second
	confirmPause  = 3 * time.Second
	unansweredFor = time.Second
)

// sendDue says when the next batch may go.
func (z *zone) sendDue() (time.Time, bool) {
	switch {
	case z.sets == nil:
		return time.Time{}, false
	case len(z.front) > 0:
		return z.sendAfter, true
	case len(z.ready) == 0:
		return time.Time{}, false
	}
	since := z.waitingSince()
	due := since.Add(gatherFor)
	for _, f := range z.flights {
		if f.id != "" {
			due = since.Add(gatherAtMost)
		}
	}
	if z.readyRecords >= z.traits.Batch.Records {
		due = since
	}
	return later(due, z.sendAfter), true
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// flight is a batch that was accepted, and may not be at every server yet.
type flight struct {
	// id is empty where the provider's id of the change is not known: then time tells.
	id     string
	access dns.Access
	// records are those created and deleted.
	records map[dns.Record]bool
	names   map[string]bool
	sent    time.Time
	next    time.Time
	tries   int
	// until is when a batch without an id counts as in sync. Zero: the zone was not listed yet.
	until time.Time
	// err is why the provider does not tell how far the batch is.
	err *fault.Error
	// slow is true once it takes longer than usual.
	slow bool
}

// slowAfter is how long a batch is on its way before those who wait for it are told. It would
// cost each of them a write to hear of a batch that is in sync a moment later.
const slowAfter = 45 * time.Second

// propagation is how long a change may take to every server whose id is not known. It usually
// takes less.
const propagation = time.Minute

// The rhythm of asking whether a change is in sync.
const (
	pollEvery  = 2 * time.Second
	pollAtMost = 30 * time.Second
)

// at is when the batch is asked for next.
func (f *flight) at() time.Time {
	if f == nil {
		return time.Time{}
	}
	return f.next
}

// flying returns the batch that the record is on its way with, nil if there is none.
func (z *zone) flying(r dns.Record) *flight {
	for _, f := range slices.Backward(z.flights) {
		if f.records[r] {
			return f
		}
	}
	return nil
}

// pollDue returns the batch to be asked for first.
func (z *zone) pollDue() (first *flight) {
	for _, f := range z.flights {
		if f.id != "" && (first == nil || f.next.Before(first.next)) {
			first = f
		}
	}
	return first
}

// poll asks whether a batch is in sync.
func (z *zone) poll(ctx context.Context) {
	z.mu.Lock()
	f := z.pollDue()
	z.mu.Unlock()
	done, err := z.opts.Providers.as(f.access).InSync(z.call(ctx, "sync", port.Follow), f.id)
	z.update(func() {
		now := z.opts.Clock.Now()
		age := now.Sub(f.sent)
		f.next = now.Add(min(max(pollEvery, age/4), pollAtMost))
		if age >= slowAfter && !f.slow {
			f.slow = true
			z.touch(f.touched()...)
		}
		if wait := comeBack(err); wait > 0 {
			f.next = now.Add(wait)
			return
		}
		switch {
		case fault.Is(err, fault.NotFound):
			// The provider forgets changes that were made long ago.
			done = true
		case fault.Is(err, fault.Throttled, fault.Transient):
			return
		case err != nil:
			// Somebody has to allow the question first.
			f.tries++
			f.err, f.next = asFault(err), now.Add(retry.Jitter(min(retry.FirstRetry<<min(f.tries, 8), retry.LastRetry), z.opts.Random()))
			z.touch(f.touched()...)
			return
		default:
			f.err = nil
		}
		if done {
			z.opts.Observer.Propagated(age)
			z.arrived(f)
		}
	})
}

// arrived ends a flight.
func (z *zone) arrived(f *flight) {
	z.flights = slices.DeleteFunc(z.flights, func(o *flight) bool { return o == f })
	if z.restored == f {
		z.restored = nil
	}
	z.touch(f.touched()...)
}

// touched are the names whose records the flight brings.
func (f *flight) touched() (names []string) {
	for r := range f.records {
		names = append(names, r.Name)
	}
	return names
}

// expiryDue says when the next pause ends.
func (z *zone) expiryDue() (first time.Time, some bool) {
	consider := func(t time.Time) {
		if !some || t.Before(first) {
			first, some = t, true
		}
	}
	for _, f := range z.flights {
		if f.id == "" && !f.until.IsZero() {
			consider(f.until)
		}
	}
	for _, r := range z.refused {
		if !r.over {
			consider(r.next)
		}
	}
	for _, i := range z.identities {
		if i.changeErr != nil && !i.changeOver {
			consider(i.changeNext)
		}
	}
	return first, some
}

// expire ends the pauses that are over.
func (z *zone) expire() {
	z.update(func() {
		now := z.opts.Clock.Now()
		for _, f := range slices.Clone(z.flights) {
			if f.id == "" && !f.until.IsZero() && !now.Before(f.until) {
				z.arrived(f)
			}
		}
		for key, r := range z.refused {
			if !r.over && !now.Before(r.next) {
				r.over = true
				z.touch(key.name)
			}
		}
		for access, i := range z.identities {
			if i.changeErr != nil && !i.changeOver && !now.Before(i.changeNext) {
				i.changeOver = true
				z.touchIdentity(access)
			}
		}
	})
}

// comeBack is the delay that a rate limit asks for, zero when none does. A refusal may name one
// too, and is a refusal all the same: another identity may be let in.
func comeBack(err error) time.Duration {
	if !fault.Is(err, fault.Throttled) {
		return 0
	}
	return fault.RetryAfter(err)
}

// call marks a call of this zone.
func (z *zone) call(ctx context.Context, what string, class port.Class) context.Context {
	return port.WithCall(ctx, port.Call{Key: "zone/" + z.id + "/" + what, Class: class})
}
