package zone

import (
	"context"
	"reflect"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/retry"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// listEvery is how often a quiet zone is listed, to see what others did.
const listEvery = 15 * time.Minute

// The patience with one page, and with listings that failed.
const (
	pageRetries     = 5
	pagePause       = 2 * time.Second
	firstListingTry = 10 * time.Second
	readPause       = 5 * time.Second
)

// listing is a listing of the zone that is under way, one page to a step.
type listing struct {
	started   uint64
	marker    string
	markers   map[string]bool
	sets      map[string][]dns.RecordSet
	records   int
	texts     map[string]string
	notBefore time.Time
	retries   int
}

// listDue says when the next page is due.
func (z *zone) listDue() time.Time {
	if z.listing != nil {
		return z.listing.notBefore
	}
	return z.nextListing
}

// refreshAfter is how old a listing is at least when somebody asks for another.
const refreshAfter = time.Minute

// refresh lists the zone now, unless that was done a moment ago.
func (z *zone) refresh() {
	z.mu.Lock()
	defer z.mu.Unlock()
	if now := z.opts.Clock.Now(); z.sets != nil && z.listing == nil && now.Sub(z.listed) >= refreshAfter {
		z.nextListing = now
		z.nudge()
	}
}

func (z *zone) begin() {
	z.listing = &listing{
		started: z.tick(), markers: map[string]bool{}, sets: map[string][]dns.RecordSet{}, texts: map[string]string{},
	}
	clear(z.written)
}

// listPage requests the next page of the listing under way, or the first of a new one.
func (z *zone) listPage(ctx context.Context) {
	z.mu.Lock()
	access, some := z.reader()
	if !some {
		// Whoever had begun a listing may be gone.
		z.listing, z.nextListing = nil, z.opts.Clock.Now().Add(goneEvery)
		z.mu.Unlock()
		return
	}
	if z.listing == nil {
		z.begin()
	}
	l, class := z.listing, port.Sweep
	if z.sets == nil || len(z.doubts) > 0 {
		// Somebody is waiting for it.
		class = port.Change
	}
	z.mu.Unlock()
	page, next, err := z.opts.Providers.as(access).ListRecords(z.call(ctx, "list", class), z.id, l.marker)
	z.update(func() {
		if z.listing != l {
			return
		}
		if err == nil && l.markers[next] {
			// The same marker twice would list for ever.
			err = &fault.Error{Kind: fault.Transient, Operation: z.traits.ListRecords, Message: "the list repeats itself"}
		}
		if err != nil {
			z.interrupted(l, access, err)
			return
		}
		z.readable(access)
		l.take(page)
		l.marker, l.retries = next, 0
		if next != "" {
			l.markers[next] = true
			return
		}
		z.finish(l)
	})
}

// take adds a page. Thousands of records lead to the same few targets: one copy of each is kept.
func (l *listing) take(page []dns.RecordSet) {
	for _, s := range page {
		s.Name, s.Type, s.Alias = l.text(s.Name), l.text(s.Type), l.text(s.Alias)
		for i, v := range s.Values {
			s.Values[i] = l.text(v)
		}
		l.sets[s.Name] = append(l.sets[s.Name], s)
		l.records++
	}
}

func (l *listing) text(s string) string {
	if known, ok := l.texts[s]; ok {
		return known
	}
	l.texts[s] = s
	return s
}

// interrupted handles a page that could not be had. Nothing is concluded from a listing that
// did not come to its end.
func (z *zone) interrupted(l *listing, access dns.Access, err error) {
	now := z.opts.Clock.Now()
	switch {
	case comeBack(err) > 0:
		l.notBefore = now.Add(comeBack(err))
	case fault.Is(err, fault.Throttled, fault.Transient) && l.retries < pageRetries:
		l.notBefore = now.Add(retry.Jitter(pagePause<<l.retries, z.opts.Random()))
		l.retries++
	case fault.Is(err, fault.Throttled, fault.Transient):
		z.listing, z.listErr = nil, err
		z.nextListing = now.Add(retry.Jitter(min(firstListingTry<<min(z.listFailures, 8), listEvery), z.opts.Random()))
		z.listFailures++
		z.touchAll()
	default:
		// Another identity may be allowed to, and sees the same zone.
		z.listing = nil
		z.unreadable(access, err)
	}
}

// finish takes over a listing that came to its end.
func (z *zone) finish(l *listing) {
	now := z.opts.Clock.Now()
	z.listing = nil
	for name := range z.written {
		l.records += len(z.sets[name]) - len(l.sets[name])
		delete(l.sets, name)
		if sets, some := z.sets[name]; some {
			l.sets[name] = sets
		}
	}
	before := z.sets
	z.sets, z.records, z.listErr, z.listFailures = l.sets, l.records, nil, 0
	z.listed, z.nextListing = now, now.Add(retry.Jitter(listEvery, z.opts.Random()))
	if before == nil {
		z.settled = now.Add(propagation)
		if z.restored != nil {
			z.restored.until = z.settled
		}
		z.touchAll()
	}
	for name := range z.names {
		if !reflect.DeepEqual(before[name], z.sets[name]) {
			z.touch(name)
		}
	}
	for name, since := range z.doubts {
		if since < l.started {
			z.resolve(name)
		}
	}
}

// resolve ends the doubt about a name that was read after the answer was lost. Whatever was
// carried out may still be on its way.
func (z *zone) resolve(name string) {
	if _, doubtful := z.doubts[name]; !doubtful {
		return
	}
	delete(z.doubts, name)
	z.touch(name)
	f := &flight{records: map[dns.Record]bool{}, until: z.opts.Clock.Now().Add(propagation)}
	for _, c := range z.names[name] {
		for _, e := range c.Ledger {
			if e.Name == name && e.State != dns.Published {
				f.records[e.Record] = true
			}
		}
	}
	if len(f.records) > 0 {
		z.flights = append(z.flights, f)
	}
}

// readDue says when a name has to be read by itself.
func (z *zone) readDue() (time.Time, bool) {
	if len(z.rechecks) > 0 {
		return z.readAfter, true
	}
	if len(z.doubts) == 0 || z.sets == nil {
		return time.Time{}, false
	}
	if z.relisting() {
		// A listing answers for all of them with fewer calls.
		return time.Time{}, false
	}
	return z.readAfter, true
}

// relisting reports whether a listing resolves the doubts more cheaply than reading each name.
func (z *zone) relisting() bool {
	return z.listFailures == 0 && len(z.doubts) > z.records/z.traits.PageSize+1
}

// relist begins a listing anew where that is the cheaper way to resolve the doubts.
func (z *zone) relist() {
	if z.relisting() {
		z.listing, z.nextListing = nil, z.readAfter
	}
}

// readName reads one name.
func (z *zone) readName(ctx context.Context) {
	z.mu.Lock()
	name := first(z.rechecks)
	if name == "" {
		name = first(z.doubts)
	}
	access, some := z.reader()
	if !some {
		z.readAfter = z.opts.Clock.Now().Add(readPause)
	}
	z.mu.Unlock()
	if !some || name == "" {
		return
	}
	sets, err := z.opts.Providers.as(access).ReadName(z.call(ctx, "read", port.Change), z.id, name)
	z.update(func() {
		now := z.opts.Clock.Now()
		switch {
		case err == nil:
			z.readable(access)
			z.hold(name, sets)
			z.resolve(name)
			z.conclude(name)
		case comeBack(err) > 0:
			z.readAfter = now.Add(comeBack(err))
		case fault.Is(err, fault.Throttled, fault.Transient):
			z.readAfter = now.Add(retry.Jitter(readPause, z.opts.Random()))
		default:
			z.unreadable(access, err)
		}
	})
}

// first returns the first name of a map, empty when there is none.
func first[V any](m map[string]V) (least string) {
	for name := range m {
		if least == "" || name < least {
			least = name
		}
	}
	return least
}
