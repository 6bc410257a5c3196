package dns

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/retry"
)

// rights are what is known of the identities that act in a zone.
type rights struct {
	*ground

	identities map[Access]*identity
	// lastReader is the one that the zone was last read with.
	lastReader Access
}

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

// admit counts a claim for its identities.
func (r *rights) admit(accesses map[Access]bool) {
	for access := range accesses {
		i := r.identities[access]
		if i == nil {
			i = &identity{}
			r.identities[access] = i
			if r.contents.sets == nil {
				// A new identity may be able to read what the others can't.
				r.listings.next = r.at.Now
			}
		}
		i.claims++
	}
}

// dismiss is the opposite of admit.
func (r *rights) dismiss(accesses map[Access]bool) {
	for access := range accesses {
		if i := r.identities[access]; i != nil {
			if i.claims--; i.claims == 0 {
				delete(r.identities, access)
			}
		}
	}
}

// denyRead notes why an identity can't read the zone, so that another is tried. It reports whether the zone is gone.
func (r *rights) denyRead(access Access, err error) (gone bool) {
	i := r.identities[access]
	if i == nil {
		return false
	}
	now := r.at.Now
	if i.readErr == nil {
		i.readSince = now
	}
	i.readErr = asFault(err)
	i.readNext = retry.Usual.Next(i.readSince, now)
	if i.readErr.Kind == fault.NotFound {
		i.readNext = now.Add(retry.Jitter(goneEvery, r.at.Random))
	}
	r.touchIdentity(access)
	next, exhausted := r.exhausted(now)
	if !exhausted {
		r.listings.next = now
		return false
	}
	// No identity can read the zone. If one knows that it does not exist it does not; otherwise
	// what was read before is the best that there is.
	r.listings.next, r.listings.current = next, nil
	return r.missing()
}

// exhausted reports whether every identity was refused, none is to be tried again yet, and when the first will be.
func (r *rights) exhausted(now time.Time) (next time.Time, all bool) {
	for _, i := range r.identities {
		if i.readErr == nil || !now.Before(i.readNext) {
			return time.Time{}, false
		}
		if next.IsZero() || i.readNext.Before(next) {
			next = i.readNext
		}
	}
	return next, true
}

// missing reports whether an identity was told that there is no such zone.
func (r *rights) missing() bool {
	for _, i := range r.identities {
		if i.readErr != nil && i.readErr.Kind == fault.NotFound {
			return true
		}
	}
	return false
}

// reader picks the identity to read with.
func (r *rights) reader(now time.Time) (Access, bool) {
	if i := r.identities[r.lastReader]; i != nil && i.readErr == nil {
		return r.lastReader, true
	}
	var usable []Access
	for access, i := range r.identities {
		if i.readErr == nil || !now.Before(i.readNext) {
			usable = append(usable, access)
		}
	}
	slices.SortFunc(usable, func(a, b Access) int {
		// One that was never refused comes first.
		return cmp.Or(
			r.identities[a].readSince.Compare(r.identities[b].readSince),
			a.Provider.Compare(b.Provider), cmp.Compare(a.RoleARN, b.RoleARN), cmp.Compare(a.Namespace, b.Namespace),
		)
	})
	if len(usable) == 0 {
		return Access{}, false
	}
	return usable[0], true
}

// allowRead notes that an identity can read the zone.
func (r *rights) allowRead(access Access) {
	r.lastReader = access
	if i := r.identities[access]; i != nil && i.readErr != nil {
		i.readErr, i.readSince = nil, time.Time{}
		r.touchIdentity(access)
	}
}

// denyChange notes that an identity can't change the zone.
func (r *rights) denyChange(access Access, err error) {
	i := r.identities[access]
	if i == nil {
		return
	}
	if i.changeErr == nil {
		i.changeSince = r.at.Now
	}
	i.changeErr, i.changeOver, i.accepted = asFault(err), false, false
	i.changeNext = retry.Usual.Next(i.changeSince, r.at.Now)
	r.bar(access, true)
}

// allowChange notes that an identity can change the zone.
func (r *rights) allowChange(access Access) {
	i := r.identities[access]
	if i == nil {
		return
	}
	i.accepted, i.denials = true, 0
	if i.changeErr != nil {
		i.changeErr = nil
		r.bar(access, false)
	}
}

func (r *rights) bar(access Access, barred bool) {
	r.identities[access].barred = barred
	for _, c := range r.claims.owners {
		if c.Access == access {
			c.Barred = barred
		}
	}
	r.touchIdentity(access)
}

// touchIdentity marks the names of all for whom the identity acts.
func (r *rights) touchIdentity(access Access) {
	for _, c := range r.claims.owners {
		if c.accesses()[access] {
			r.touch(c.Names()...)
		}
	}
}

// unreadableToAll reports whether no identity can read the zone.
func (r *rights) unreadableToAll() bool {
	for _, i := range r.identities {
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

// comeBack is the delay that a rate limit asks for, zero when none does. A refusal may name one
// too, and is a refusal all the same: another identity may be let in.
func comeBack(err error) time.Duration {
	if !fault.Is(err, fault.Throttled) {
		return 0
	}
	return fault.RetryAfter(err)
}
