package dns

import (
	"reflect"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/paging"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/retry"
)

// contents are the records in a zone, as far as is known.
type contents struct {
	// sets are what the zone holds, by name; nil until it was listed to its end.
	sets    map[string][]RecordSet
	records int
	// written are the names that were changed or read individually since the current listing began: a page that was
	// requested before must not overwrite them.
	written map[string]bool
	// listed is when the zone was last listed to its end. settled is when everything that was sent before the first
	// time is at every server.
	listed, settled time.Time
}

// listings are when the zone is listed.
type listings struct {
	// current is the one that is under way, nil for none.
	current  *listing
	next     time.Time
	failures int
	err      error
}

// listing is a listing of the zone that is under way, one page to a step.
type listing struct {
	started   uint64
	marker    string
	pages     paging.Guard
	sets      map[string][]RecordSet
	records   int
	texts     map[string]string
	notBefore time.Time
	retries   int
}

// listEvery is how often a quiet zone is listed, to see what others did.
const listEvery = 15 * time.Minute

// listAgain is the pause after a listing that failed.
var listAgain = retry.Backoff{First: 10 * time.Second, Last: listEvery}

// refreshAfter is how old a listing is at least when a user asks for another.
const refreshAfter = time.Minute

// due says when the next page is due.
func (l *listings) due() time.Time {
	if l.current != nil {
		return l.current.notBefore
	}
	return l.next
}

func (RefreshAsked) happen(z *ZoneState) {
	if z.contents.sets != nil && z.listings.current == nil && z.at.Now.Sub(z.contents.listed) >= refreshAfter {
		z.listings.next = z.at.Now
	}
}

// beginPage asks for the next page of the listing under way, or the first of a new one.
func (z *ZoneState) beginPage() {
	access, some := z.rights.reader(z.at.Now)
	if !some {
		// The identity that had begun a listing may be gone.
		z.listings.current, z.listings.next = nil, z.at.Now.Add(goneEvery)
		return
	}
	if z.listings.current == nil {
		z.listings.current = &listing{
			started: z.tick(), sets: map[string][]RecordSet{}, texts: map[string]string{},
		}
		clear(z.contents.written)
	}
	l := z.listings.current
	z.effects.Call = ListPage{Access: access, Marker: l.marker, Awaited: z.contents.sets == nil || len(z.doubts.lost) > 0, listing: l}
}

func (e PageListed) happen(z *ZoneState) {
	l, err := e.Call.listing, e.Err
	if z.listings.current != l {
		return
	}
	if err == nil {
		err = l.pages.Pass(z.traits.ListRecords, e.Next)
	}
	if err != nil {
		z.interrupted(l, e.Call.Access, err)
		return
	}
	z.rights.allowRead(e.Call.Access)
	l.take(e.Page)
	l.marker, l.retries = e.Next, 0
	if e.Next == "" {
		z.finish(l)
	}
}

// take adds a page. Thousands of records lead to the same few targets: one copy of each is kept.
func (l *listing) take(page []RecordSet) {
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

// interrupted handles a page that could not be had. Nothing is concluded from an incomplete listing.
func (z *ZoneState) interrupted(l *listing, access Access, err error) {
	now := z.at.Now
	switch {
	case comeBack(err) > 0:
		l.notBefore = now.Add(comeBack(err))
	case fault.Is(err, fault.Throttled, fault.Transient) && l.retries < paging.Retries:
		l.retries++
		l.notBefore = now.Add(retry.Jitter(paging.Pause.Delay(l.retries), z.at.Random))
	case fault.Is(err, fault.Throttled, fault.Transient):
		z.listings.current, z.listings.err = nil, err
		z.listings.failures++
		z.listings.next = now.Add(retry.Jitter(listAgain.Delay(z.listings.failures), z.at.Random))
		z.touchAll()
	default:
		// Another identity may be allowed to, and sees the same zone.
		z.listings.current = nil
		z.denyRead(access, err)
	}
}

// finish takes over a complete listing.
func (z *ZoneState) finish(l *listing) {
	now := z.at.Now
	for name := range z.contents.written {
		l.records += len(z.contents.sets[name]) - len(l.sets[name])
		delete(l.sets, name)
		if sets, some := z.contents.sets[name]; some {
			l.sets[name] = sets
		}
	}
	before := z.contents.sets
	z.contents.sets, z.contents.records, z.contents.listed = l.sets, l.records, now
	z.listings = listings{next: now.Add(retry.Jitter(listEvery, z.at.Random))}
	if before == nil {
		z.contents.settled = now.Add(propagation)
		if z.flights.restored != nil {
			z.flights.restored.until = z.contents.settled
		}
		z.touchAll()
	}
	for name := range z.claims.names {
		if !reflect.DeepEqual(before[name], z.contents.sets[name]) ||
			!reflect.DeepEqual(delegation(before, name), delegation(z.contents.sets, name)) {
			z.touch(name)
		}
		z.flights.noteVanished(name, before[name], before != nil)
	}
	for _, c := range z.claims.owners {
		z.doubts.noteUnlisted(c)
	}
	for name, since := range z.doubts.lost {
		if since < l.started {
			z.doubts.resolve(name)
		}
	}
}

// denyRead notes that an identity can't read the zone. If the zone is gone, nothing of it is kept, and nothing remains
// to be done there.
func (z *ZoneState) denyRead(access Access, err error) {
	if !z.rights.denyRead(access, err) {
		return
	}
	z.contents.sets, z.contents.records = nil, 0
	z.outbox.front, z.flights.all, z.flights.restored = nil, nil, nil
	clear(z.doubts.lost)
	clear(z.doubts.rechecks)
	clear(z.doubts.unlisted)
	clear(z.outbox.refused)
	z.touchAll()
}
