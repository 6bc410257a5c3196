package zone

import (
	"context"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/paging"
)

const (
	// listedFor is how long a list of zones is good for: zones are made by people.
	listedFor = time.Hour
	// askAgain is how soon the provider is asked again for a zone that is missing.
	askAgain = time.Minute
	// busyFor is when to come back while another worker is asking.
	busyFor = time.Second
)

// directory knows which zones the identities see. All its methods may be called at once.
type directory struct {
	providers func() Providers
	clock     clock.PassiveClock

	mu    sync.Mutex
	lists map[dns.Access]*zoneList
	found map[zoneKey]zoneFound
}

type zoneKey struct {
	access dns.Access
	id     string
}

// zoneFound is the answer to a question for one zone.
type zoneFound struct {
	zone dns.Zone
	err  error
	at   time.Time
}

// zoneList is the list of zones that one identity sees.
type zoneList struct {
	zones []dns.Zone
	// listed is when the list was last complete, tried when it was last asked for with an
	// answer that counts.
	listed, tried time.Time
	err           error
	asking        bool
	// pages and marker are of a listing that was interrupted by the rate limit.
	pages  []dns.Zone
	marker string
	begun  time.Time
}

// newDirectory returns a directory that knows nothing yet.
func newDirectory(p func() Providers, c clock.PassiveClock) *directory {
	return &directory{providers: p, clock: c, lists: map[dns.Access]*zoneList{}, found: map[zoneKey]zoneFound{}}
}

// Known returns the zones that the identity was seen to have, without a call. ok is false when
// they were never listed, or long ago. The slice must not be changed.
func (d *directory) Known(access dns.Access) (zones []dns.Zone, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := d.lists[access]
	if l == nil || l.listed.IsZero() || d.clock.Since(l.listed) >= listedFor {
		return nil, false
	}
	return l.zones, true
}

// KnownZone returns one zone that the identity was seen to have, without a call.
func (d *directory) KnownZone(access dns.Access, id string) (dns.Zone, bool) {
	zones, _ := d.Known(access)
	for _, z := range zones {
		if z.ID == id {
			return z, true
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	f, ok := d.found[zoneKey{access, id}]
	if !ok || f.err != nil || d.clock.Since(f.at) >= listedFor {
		return dns.Zone{}, false
	}
	return f.zone, true
}

// List asks the provider for the zones of the identity, unless it did so within the last
// minute. Callers come here when they know of none, or miss one. While another call is on its
// way the error is fault.Throttled.
func (d *directory) List(ctx context.Context, access dns.Access) ([]dns.Zone, error) {
	d.mu.Lock()
	l := d.lists[access]
	if l == nil {
		l = &zoneList{}
		d.lists[access] = l
	}
	if !l.tried.IsZero() && d.clock.Since(l.tried) < askAgain {
		defer d.mu.Unlock()
		return l.zones, l.err
	}
	if l.asking {
		d.mu.Unlock()
		return nil, &fault.Error{Kind: fault.Throttled, Operation: d.providers().of(access.Provider).Traits().ListZones, Message: "the zones are being listed", RetryAfter: busyFor}
	}
	l.asking = true
	if d.clock.Since(l.begun) >= askAgain {
		l.pages, l.marker, l.begun = nil, "", d.clock.Now()
	}
	pages, marker := l.pages, l.marker
	d.mu.Unlock()

	var seen paging.Guard
	service := d.providers().of(access.Provider)
	client, traits := service.As(access), service.Traits()
	var err error
	for {
		var page []dns.Zone
		var next string
		if page, next, err = client.ListZones(ctx, marker); err != nil {
			break
		}
		if err = seen.Pass(traits.ListZones, next); err != nil {
			pages, marker = nil, ""
			break
		}
		for _, zone := range page {
			zone.Provider, zone.Apex = access.Provider, traits.Apex
			pages = append(pages, zone)
		}
		if marker = next; next == "" {
			break
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return l.takeList(d.clock.Now(), pages, marker, err)
}

// takeList takes over what a round of pages has brought.
func (l *zoneList) takeList(now time.Time, pages []dns.Zone, marker string, err error) ([]dns.Zone, error) {
	l.asking = false
	if fault.Is(err, fault.Throttled, fault.Transient) {
		// The next caller continues from here.
		l.pages, l.marker = pages, marker
		return nil, err
	}
	l.tried, l.err, l.begun = now, err, time.Time{}
	if err != nil {
		l.zones, l.listed = nil, time.Time{}
		return nil, err
	}
	l.zones, l.listed = pages, now
	return pages, nil
}

// Get asks the provider for one zone, unless it did so lately. fault.NotFound: there is none
// of that id.
func (d *directory) Get(ctx context.Context, access dns.Access, id string) (dns.Zone, error) {
	if z, ok := d.KnownZone(access, id); ok {
		return z, nil
	}
	key := zoneKey{access, id}
	d.mu.Lock()
	f, ok := d.found[key]
	d.mu.Unlock()
	if ok && d.clock.Since(f.at) < askAgain {
		return f.zone, f.err
	}
	service := d.providers().of(access.Provider)
	zone, err := service.As(access).GetZone(ctx, id)
	zone.Provider, zone.Apex = access.Provider, service.Traits().Apex
	if !fault.Is(err, fault.Throttled, fault.Transient) {
		d.mu.Lock()
		d.found[key] = zoneFound{zone: zone, err: err, at: d.clock.Now()}
		d.mu.Unlock()
	}
	return zone, err
}
