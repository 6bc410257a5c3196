package zone

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/retry"
)

// identity is what is known of one identity's rights in the zone.
type identity struct {
	claims int
	// readErr is why it could not read the zone, nil when it could or was never tried.
	readErr             *fault.Error
	readSince, readNext time.Time
	// changeErr is why it could not change the zone.
	changeErr               *fault.Error
	changeSince, changeNext time.Time
	// changeOver is true when it may try again.
	changeOver bool
	// accepted is true once it has changed the zone, and denials counts what was denied to it
	// in a row since.
	accepted bool
	denials  int
	// barred stays true from a refusal until a change was accepted.
	barred bool
}

// goneEvery is how often a zone is looked for that does not exist.
const goneEvery = 5 * time.Minute

// unreadable notes why an identity can't read the zone, so that another is tried.
func (z *zone) unreadable(access dns.Access, err error) {
	i := z.identities[access]
	if i == nil {
		return
	}
	now := z.opts.Clock.Now()
	if i.readErr == nil {
		i.readSince = now
	}
	i.readErr = asFault(err)
	i.readNext = retry.Usual.Next(i.readSince, now)
	if i.readErr.Kind == fault.NotFound {
		i.readNext = now.Add(retry.Jitter(goneEvery, z.opts.Random()))
	}
	z.touchIdentity(access)
	if !z.exhausted(now) {
		z.nextListing = now
		return
	}
	// Nobody can read the zone. If anybody knows that it does not exist it does not; otherwise
	// what was read before is the best that there is.
	gone := false
	z.nextListing = time.Time{}
	for _, o := range z.identities {
		gone = gone || o.readErr.Kind == fault.NotFound
		if z.nextListing.IsZero() || o.readNext.Before(z.nextListing) {
			z.nextListing = o.readNext
		}
	}
	z.listing = nil
	if gone {
		z.sets, z.records = nil, 0
		z.front, z.flights, z.restored = nil, nil, nil
		clear(z.doubts)
		clear(z.rechecks)
		clear(z.refused)
		z.touchAll()
	}
}

// exhausted reports whether every identity was refused, and none is to be tried again yet.
func (z *zone) exhausted(now time.Time) bool {
	for _, i := range z.identities {
		if i.readErr == nil || !now.Before(i.readNext) {
			return false
		}
	}
	return true
}

// reader picks the identity to read with.
func (z *zone) reader() (dns.Access, bool) {
	now := z.opts.Clock.Now()
	if i := z.identities[z.lastReader]; i != nil && i.readErr == nil {
		return z.lastReader, true
	}
	var usable []dns.Access
	for access, i := range z.identities {
		if i.readErr == nil || !now.Before(i.readNext) {
			usable = append(usable, access)
		}
	}
	slices.SortFunc(usable, func(a, b dns.Access) int {
		// Whoever was never refused comes first.
		return cmp.Or(
			z.identities[a].readSince.Compare(z.identities[b].readSince),
			cmp.Compare(a.RoleARN, b.RoleARN), cmp.Compare(a.Namespace, b.Namespace),
		)
	})
	if len(usable) == 0 {
		return dns.Access{}, false
	}
	return usable[0], true
}

// readable notes that an identity can read the zone.
func (z *zone) readable(access dns.Access) {
	z.lastReader = access
	if i := z.identities[access]; i != nil && i.readErr != nil {
		i.readErr, i.readSince = nil, time.Time{}
		z.touchIdentity(access)
	}
}

// unchangeable notes that an identity can't change the zone.
func (z *zone) unchangeable(access dns.Access, err error) {
	i := z.identities[access]
	if i == nil {
		return
	}
	now := z.opts.Clock.Now()
	if i.changeErr == nil {
		i.changeSince = now
	}
	i.changeErr, i.changeOver, i.accepted = asFault(err), false, false
	i.changeNext = retry.Usual.Next(i.changeSince, now)
	z.bar(access, true)
}

// changeable notes that an identity can change the zone.
func (z *zone) changeable(access dns.Access) {
	i := z.identities[access]
	if i == nil {
		return
	}
	i.accepted, i.denials = true, 0
	if i.changeErr != nil {
		i.changeErr = nil
		z.bar(access, false)
	}
}

func (z *zone) bar(access dns.Access, barred bool) {
	z.identities[access].barred = barred
	for _, c := range z.claims {
		if c.Access == access {
			c.Barred = barred
		}
	}
	z.touchIdentity(access)
}

// touchIdentity marks the names of all for whom the identity acts.
func (z *zone) touchIdentity(access dns.Access) {
	for _, c := range z.claims {
		if c.accesses()[access] {
			z.touch(c.Names()...)
		}
	}
}

// unread says how any record stands while the zone's content is not known.
func (z *zone) unread(i *identity) dns.Standing {
	s := dns.Standing{Phase: dns.Unknown}
	switch {
	case i == nil:
	case i.readErr != nil && i.readErr.Kind == fault.NotFound && z.gone():
		s.Phase = dns.NoZone
	case i.readErr != nil:
		s.Err = i.readErr
	case z.listErr != nil:
		s.Err = asFault(z.listErr)
	}
	return s
}

// gone reports whether nobody can read the zone.
func (z *zone) gone() bool {
	for _, i := range z.identities {
		if i.readErr == nil {
			return false
		}
	}
	return true
}

// asFault returns the classified failure in an error.
func asFault(err error) *fault.Error {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	return &fault.Error{Kind: fault.KindOf(err), Message: err.Error(), Err: err}
}
