package inventory

import (
	"context"
	"slices"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/paging"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/retry"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

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

// Start runs the inventory until the context ends. It implements the manager's Runnable.
func (i *Inventory) Start(ctx context.Context) error {
	for {
		timer := i.opts.Clock.NewTimer(i.Step(ctx))
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-i.poke:
		case <-timer.C():
		}
		timer.Stop()
	}
}

// NeedLeaderElection says that only the active replica watches AWS.
func (i *Inventory) NeedLeaderElection() bool { return true }

// Follow keeps an eye on the tenant of that name until it is deployed or gone.
func (i *Inventory) Follow(name string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if _, known := i.flights[name]; known {
		return
	}
	now := i.opts.Clock.Now()
	i.flights[name] = &flight{since: now, due: now.Add(retry.FollowDelay(0, i.usual, i.opts.Interval))}
	select {
	case i.poke <- struct{}{}:
	default:
	}
}

// Step makes at most one call to AWS, whichever is due, and says how long the next step
// can wait. It never waits itself.
func (i *Inventory) Step(ctx context.Context) time.Duration {
	name, listing := i.plan()
	switch {
	case listing:
		return i.listPage(ctx)
	case name != "":
		return i.look(ctx, name)
	}
	return i.idle()
}

// plan picks what is due: a page of the sweep under way, a new sweep, or the read of one
// tenant in flight, when that is cheaper than a sweep.
func (i *Inventory) plan() (name string, listing bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	now := i.opts.Clock.Now()
	if i.sweep == nil && !now.Before(i.nextSweep) {
		i.begin(port.Sweep)
	}
	if i.sweep != nil && !now.Before(i.sweep.notBefore) {
		return "", true
	}
	due, first, soon := i.flightsDue(now)
	switch {
	case due == 0:
		return "", false
	case i.sweep != nil && i.sweep.class == port.Follow:
		// The pages that it waits for answer for all that is due.
		return "", false
	case soon > i.pages() && i.sweep != nil:
		// The quiet sweep has to wait for what is more urgent; as the follower's it need not.
		i.sweep.class, i.sweep.begun, i.sweep.notBefore = port.Follow, now, time.Time{}
		return "", true
	case soon > i.pages() && i.failures == 0:
		if now.Before(i.nextFollow(soon)) {
			return "", false
		}
		i.begin(port.Follow)
		return "", true
	}
	// Also where listing fails: without the right to list, tenants can still be followed one by one.
	return first, false
}

// pages is what a sweep costs.
func (i *Inventory) pages() int { return len(i.byName)/pageSize + 1 }

// nextFollow is when the flights that are due may be listed again, one of which soon will be.
func (i *Inventory) nextFollow(soon int) time.Time {
	return i.lastSweep.Add(retry.FollowPause(i.pages(), i.sweepTook, soon < len(i.flights)))
}

// landingSoon is how much later than now still is soon.
const landingSoon = retry.FollowEvery / 2

// flightsDue counts the tenants in flight that are due, of which it names the first, and those that soon will be: flights
// that began one after the other are due one after the other too, and each would be read separately where one sweep answers
// for all.
func (i *Inventory) flightsDue(now time.Time) (due int, first string, soon int) {
	for name, f := range i.flights {
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

func (i *Inventory) begin(class port.Class) {
	number := i.tick()
	i.sweep = &sweep{number: number, started: number, class: class, begun: i.opts.Clock.Now()}
}

// idle says when the next thing is due.
func (i *Inventory) idle() time.Duration {
	i.mu.Lock()
	defer i.mu.Unlock()
	now, next := i.opts.Clock.Now(), i.nextSweep
	if i.sweep != nil {
		next = i.sweep.notBefore
	}
	if first, some := i.nextLook(now); some && first.Before(next) && (i.sweep == nil || i.sweep.class != port.Follow) {
		next = first
	}
	return max(next.Sub(now), 0)
}

// nextLook is when the first of the flights is due, and may be looked at.
func (i *Inventory) nextLook(now time.Time) (first time.Time, some bool) {
	var last time.Time
	for _, f := range i.flights {
		if !some || f.due.Before(first) {
			first, some = f.due, true
		}
		if f.due.After(last) {
			last = f.due
		}
	}
	due, _, soon := i.flightsDue(now)
	if due == 0 || soon <= i.pages() || i.sweep != nil || i.failures > 0 {
		return first, some
	}
	first = i.nextFollow(soon)
	// The pause is shorter once all that was launched will soon land.
	if landing := last.Add(-landingSoon); landing.After(now) && landing.Before(first) {
		return landing.Add(time.Millisecond), true
	}
	return first, true
}

// look reads one tenant in flight.
func (i *Inventory) look(ctx context.Context, name string) time.Duration {
	before := i.Known(name).Tenant
	_, err := i.Read(port.WithCall(ctx, port.Call{Key: "follow", Class: port.Follow}), name)
	if wait := fault.RetryAfter(err); wait > 0 {
		return wait
	}
	after := i.Known(name).Tenant
	i.mu.Lock()
	if f := i.flights[name]; f != nil {
		i.reschedule(f)
		if err != nil && fault.Is(err, fault.NotFound) {
			delete(i.flights, name)
		}
	}
	i.mu.Unlock()
	if fault.Is(err, fault.NotFound) || err == nil && moved(before, after) {
		i.opts.OnChange([]string{name})
	}
	return 0
}

func (i *Inventory) reschedule(f *flight) {
	now := i.opts.Clock.Now()
	f.due = now.Add(retry.FollowDelay(now.Sub(f.since), i.usual, i.opts.Interval))
}

// land ends the flight of a tenant that is deployed.
func (i *Inventory) land(e *entry) {
	f := i.flights[e.tenant.name]
	if f == nil || e.tenant.status != distributiontenant.Deployed {
		return
	}
	i.usual = retry.UsualFlight(i.usual, i.opts.Clock.Since(f.since))
	delete(i.flights, e.tenant.name)
}

// listPage requests the next page of the sweep under way.
func (i *Inventory) listPage(ctx context.Context) time.Duration {
	i.mu.Lock()
	s := i.sweep
	requested := i.tick()
	i.mu.Unlock()
	page, next, err := i.opts.Tenants.ListTenants(port.WithCall(ctx, port.Call{Key: "sweep", Class: s.class}), s.marker)
	if err != nil {
		return i.interrupted(err)
	}
	changed := i.merge(page, s, requested)
	if err := s.pages.Pass("ListDistributionTenants", next); err != nil {
		return i.interrupted(err)
	}
	if s.marker, s.retries = next, 0; next == "" {
		changed = append(changed, i.finish(s)...)
	}
	if len(changed) > 0 {
		i.opts.OnChange(changed)
	}
	return 0
}

// interrupted handles a page that could not be had. A limiter's delay only postpones the
// page; any other failure ends the sweep, and nothing is concluded from it.
func (i *Inventory) interrupted(err error) time.Duration {
	i.mu.Lock()
	defer i.mu.Unlock()
	if wait := fault.RetryAfter(err); wait > 0 {
		i.sweep.notBefore = i.opts.Clock.Now().Add(wait)
		return 0
	}
	if fault.Is(err, fault.Throttled, fault.Transient) && i.sweep.retries < paging.Retries {
		i.sweep.retries++
		i.sweep.notBefore = i.opts.Clock.Now().Add(retry.Jitter(paging.Pause.Delay(i.sweep.retries), i.opts.Random()))
		return 0
	}
	defer i.opts.OnFailure(err)
	i.sweep, i.attempted = nil, true
	i.failures++
	pause := retry.Backoff{First: firstSweepRetry, Last: min(i.opts.Interval, lastSweepRetry)}.Delay(i.failures)
	i.nextSweep = i.opts.Clock.Now().Add(retry.Jitter(pause, i.opts.Random()))
	return 0
}

// merge takes a page over and names the tenants that have moved.
func (i *Inventory) merge(page []distributiontenant.Observed, s *sweep, requested uint64) (changed []string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, t := range page {
		if _, dead := i.buried[t.ID]; dead {
			i.buried[t.ID] = s.number
			continue
		}
		e := i.byName[t.Name]
		if e != nil && e.touched > requested {
			e.seen = s.number
			continue
		}
		if e == nil || e.tenant.id != t.ID {
			if e != nil {
				i.drop(e)
			}
			e = i.add(t)
		}
		if i.shown(e, t) {
			changed = append(changed, t.Name)
		}
		e.seen = s.number
		i.land(e)
	}
	return changed
}

// shown takes over what the list shows of a tenant, and reports whether it has moved.
func (i *Inventory) shown(e *entry, t distributiontenant.Observed) bool {
	before, now := e.tenant, factsOf(t, e.tenant)
	e.shownETag, e.shownModified, e.shownAt = either(e.shownETag, now.etag), now.modified, i.tick()
	paired := e.listETag
	if paired == "" {
		paired = before.etag
	}
	if e.whole && t.ETag == paired && now.modified < before.modified {
		// The list is behind what was read since.
		return false
	}
	if e.whole && t.ETag == paired {
		e.listETag = e.shownETag
		// The configuration stands as it was read; state and domains may move under one ETag.
		kept := before
		kept.status, kept.modified, kept.domains = now.status, now.modified, now.domains
		i.reindex(e, kept)
		return before.moved(kept)
	}
	e.whole, e.listETag = false, ""
	i.reindex(e, now)
	return before.id == "" || before.moved(now)
}

// moved reports whether a read has shown anything new.
func moved(before, after *distributiontenant.Observed) bool {
	if before == nil || after == nil {
		return before != after
	}
	return factsOf(*before, facts{}).moved(factsOf(*after, facts{}))
}

// finish ends a sweep that saw the whole account. What it did not show is forgotten, and
// the objects behind are woken to look for themselves.
func (i *Inventory) finish(s *sweep) (changed []string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	now := i.opts.Clock.Now()
	for name, e := range i.byName {
		switch {
		case e.seen != s.number && e.touched < s.started:
			i.drop(e)
			delete(i.flights, name)
			changed = append(changed, name)
		case !now.Before(e.tagsDue.Time()):
			changed = append(changed, name)
		}
	}
	for id, seen := range i.buried {
		if seen < s.started {
			delete(i.buried, id)
		}
	}
	for _, f := range i.flights {
		i.reschedule(f)
	}
	i.sweep, i.attempted, i.failures = nil, true, 0
	i.lastSweep, i.sweepTook = now, 0
	if s.class == port.Follow {
		i.sweepTook = now.Sub(s.begun)
	}
	i.nextSweep = now.Add(retry.Jitter(i.opts.Interval, i.opts.Random()))
	slices.Sort(changed)
	return changed
}
