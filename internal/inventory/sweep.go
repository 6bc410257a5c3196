package inventory

import (
	"slices"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/paging"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/retry"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// watch is when AWS has to be looked at: to list the account, or for a tenant that is being deployed. plan, idle,
// interrupted, merge and finish take the lock of the memory, the other methods need it.
type watch struct {
	*memory

	flights map[string]*flight
	// usual is how long flights usually take, as far as is known.
	usual     time.Duration
	sweep     *sweep
	nextSweep time.Time
	lastSweep time.Time
	// sweepTook is how long the last sweep of the follower took.
	sweepTook time.Duration
	failures  int
}

// sweep is a listing of the account that is under way, one page to a step.
type sweep struct {
	number uint64
	// started is the seq before the first page was requested.
	started uint64
	marker  string
	pages   paging.Guard
	class   port.Class
	// begun is when the first page was due in its class.
	begun time.Time
	// notBefore is when the next page may be requested, retries how often it failed.
	notBefore time.Time
	retries   int
}

// flight is a tenant that is being deployed.
type flight struct {
	since, due time.Time
}

// The pause after a listing that failed; it doubles up to the interval, and to the last.
const (
	firstSweepRetry = 10 * time.Second
	lastSweepRetry  = 1024 * firstSweepRetry
)

// plan picks what is due: a page of the sweep under way, a new sweep, or the read of one
// tenant in flight, when that is cheaper than a sweep.
func (w *watch) plan() (name string, listing bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.opts.Clock.Now()
	if w.sweep == nil && !now.Before(w.nextSweep) {
		w.begin(port.Sweep)
	}
	if w.sweep != nil && !now.Before(w.sweep.notBefore) {
		return "", true
	}
	due, first, soon := w.flightsDue(now)
	switch {
	case due == 0:
		return "", false
	case w.sweep != nil && w.sweep.class == port.Follow:
		// The pages that it waits for answer for all that is due.
		return "", false
	case soon > w.pages() && w.sweep != nil:
		// The quiet sweep has to wait for what is more urgent; as the follower's it need not.
		w.sweep.class, w.sweep.begun, w.sweep.notBefore = port.Follow, now, time.Time{}
		return "", true
	case soon > w.pages() && w.failures == 0:
		if now.Before(w.nextFollow(soon)) {
			return "", false
		}
		w.begin(port.Follow)
		return "", true
	}
	// Also where listing fails: without the right to list, tenants can still be followed one by one.
	return first, false
}

// pages is what a sweep costs.
func (w *watch) pages() int { return len(w.byName)/pageSize + 1 }

// nextFollow is when the flights that are due may be listed again, one of which soon will be.
func (w *watch) nextFollow(soon int) time.Time {
	return w.lastSweep.Add(retry.FollowPause(w.pages(), w.sweepTook, soon < len(w.flights)))
}

// landingSoon is how much later than now still is soon.
const landingSoon = retry.FollowEvery / 2

// flightsDue counts the tenants in flight that are due, of which it names the first, and those that soon will be: flights
// that began one after the other are due one after the other too, and each would be read separately where one sweep answers
// for all.
func (w *watch) flightsDue(now time.Time) (due int, first string, soon int) {
	for name, f := range w.flights {
		if !now.Before(f.due) {
			if due++; due == 1 || name < first {
				first = name
			}
		}
		if now.Add(landingSoon).After(f.due) {
			soon++
		}
	}
	return due, first, soon
}

func (w *watch) begin(class port.Class) {
	number := w.tick()
	w.sweep = &sweep{number: number, started: number, class: class, begun: w.opts.Clock.Now()}
}

// idle says when the next thing is due.
func (w *watch) idle() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	now, next := w.opts.Clock.Now(), w.nextSweep
	if w.sweep != nil {
		next = w.sweep.notBefore
	}
	if first, some := w.nextLook(now); some && first.Before(next) && (w.sweep == nil || w.sweep.class != port.Follow) {
		next = first
	}
	return max(next.Sub(now), 0)
}

// nextLook is when the first of the flights is due, and may be looked at.
func (w *watch) nextLook(now time.Time) (first time.Time, some bool) {
	var last time.Time
	for _, f := range w.flights {
		if !some || f.due.Before(first) {
			first, some = f.due, true
		}
		if f.due.After(last) {
			last = f.due
		}
	}
	due, _, soon := w.flightsDue(now)
	if due == 0 || soon <= w.pages() || w.sweep != nil || w.failures > 0 {
		return first, some
	}
	first = w.nextFollow(soon)
	// The pause is shorter once all that was launched will soon land.
	if landing := last.Add(-landingSoon); landing.After(now) && landing.Before(first) {
		return landing.Add(time.Millisecond), true
	}
	return first, true
}

func (w *watch) reschedule(f *flight) {
	now := w.opts.Clock.Now()
	f.due = now.Add(retry.FollowDelay(now.Sub(f.since), w.usual, w.opts.Interval))
}

// land ends the flight of a tenant that is deployed.
func (w *watch) land(e *entry) {
	f := w.flights[e.tenant.name]
	if f == nil || e.tenant.status != distributiontenant.Deployed {
		return
	}
	w.usual = retry.UsualFlight(w.usual, w.opts.Clock.Since(f.since))
	delete(w.flights, e.tenant.name)
}

// interrupted handles a page that could not be had. A limiter's delay only postpones the
// page; any other failure ends the sweep, and nothing is concluded from it.
func (w *watch) interrupted(err error) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if wait := fault.RetryAfter(err); wait > 0 {
		w.sweep.notBefore = w.opts.Clock.Now().Add(wait)
		return 0
	}
	if fault.Is(err, fault.Throttled, fault.Transient) && w.sweep.retries < paging.Retries {
		w.sweep.retries++
		w.sweep.notBefore = w.opts.Clock.Now().Add(retry.Jitter(paging.Pause.Delay(w.sweep.retries), w.opts.Random()))
		return 0
	}
	defer w.opts.OnFailure(err)
	w.sweep, w.attempted = nil, true
	w.failures++
	pause := retry.Backoff{First: firstSweepRetry, Last: min(w.opts.Interval, lastSweepRetry)}.Delay(w.failures)
	w.nextSweep = w.opts.Clock.Now().Add(retry.Jitter(pause, w.opts.Random()))
	return 0
}

// merge takes a page over and names the tenants that have moved.
func (w *watch) merge(page []distributiontenant.Observed, s *sweep, requested uint64) (changed []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, t := range page {
		if _, dead := w.buried[t.ID]; dead {
			w.buried[t.ID] = s.number
			continue
		}
		e := w.byName[t.Name]
		if e != nil && e.touched > requested {
			e.seen = s.number
			continue
		}
		if e == nil || e.tenant.id != t.ID {
			if e != nil {
				w.drop(e)
			}
			e = w.add(t)
		}
		if w.takeListed(e, t) {
			changed = append(changed, t.Name)
		}
		e.seen = s.number
		w.land(e)
	}
	return changed
}

// finish ends a sweep that saw the whole account. Tenants that it did not show are forgotten, and their objects are
// woken to look for them.
func (w *watch) finish(s *sweep) (changed []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.opts.Clock.Now()
	for name, e := range w.byName {
		switch {
		case e.seen != s.number && e.touched < s.started:
			w.drop(e)
			delete(w.flights, name)
			changed = append(changed, name)
		case !now.Before(e.tagsDue.Time()):
			changed = append(changed, name)
		}
	}
	for id, seen := range w.buried {
		if seen < s.started {
			delete(w.buried, id)
		}
	}
	for _, f := range w.flights {
		w.reschedule(f)
	}
	w.sweep, w.attempted, w.failures = nil, true, 0
	w.lastSweep, w.sweepTook = now, 0
	if s.class == port.Follow {
		w.sweepTook = now.Sub(s.begun)
	}
	w.nextSweep = now.Add(retry.Jitter(w.opts.Interval, w.opts.Random()))
	slices.Sort(changed)
	return changed
}
