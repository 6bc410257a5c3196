package keyvalue

import (
	"errors"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/retry"
)

// Described takes over what AWS says of the store, and returns whom that concerns. A listing counts only if the store had
// the same version before and after it, and as many keys.
func (s *Store) Described(i Info, err error, now time.Time) []Owner {
	if err != nil {
		return s.failed(err, now)
	}
	if i.Unready != "" {
		return s.failed(fault.New(fault.Conflict, "DescribeKeyValueStore", "the key value store %s has the status %s. It can be used once it is READY", s.key.ARN, i.Unready), now)
	}
	s.gone, s.checked = false, now
	var woken []Owner
	switch l := s.listing; {
	case l != nil && l.info.ETag == i.ETag && len(l.values) == i.Items:
		if s.read && i.ETag != s.info.ETag {
			s.accuse(l.values)
			// An update for an earlier version can't be accepted any more.
			clear(s.doubtful)
		}
		s.values, s.info, s.read, s.fresh, s.listing = l.values, i, true, true, nil
		s.listed, s.torn, s.reading = now, 0, trouble{}
		return s.anyChanged()
	case l != nil:
		s.torn++
		if s.torn > 2 {
			s.reading.retryAt, s.reading.err = now.Add(retry.FirstRetry), s.busy()
			woken = s.anyChanged()
		}
	case s.fresh && s.info.ETag == i.ETag && now.Sub(s.listed) < ListEvery:
		s.reading = trouble{}
		return nil
	}
	first := ""
	s.fresh, s.listing = false, &listing{info: i, values: map[string]string{}, marker: &first}
	return woken
}

func (s *Store) busy() *fault.Error {
	return fault.New(fault.Conflict, "ListKeys", "the key value store %s changes faster than it can be listed. Use another store for tenants, or write to this one less often", s.key.ARN)
}

// Listed takes over a page of a listing.
func (s *Store) Listed(page []Pair, next string, err error, now time.Time) []Owner {
	if err != nil {
		return s.failed(err, now)
	}
	for _, p := range page {
		s.listing.values[p.Name] = p.Value
	}
	s.listing.marker = &next
	if next == "" {
		s.listing.marker = nil
	}
	return nil
}

// Updated takes over the answer to an update.
func (s *Store) Updated(u Update, i Info, err error, now time.Time) []Owner {
	sent := len(u.Puts) + len(u.Deletes)
	clear(s.sending)
	switch kind := fault.KindOf(err); {
	case err == nil:
		for _, p := range u.Puts {
			s.values[p.Name] = p.Value
		}
		for _, name := range u.Deletes {
			delete(s.values, name)
		}
		clear(s.doubtful)
		s.info, s.limit, s.checked, s.writing = i, MaxBatch, now, trouble{}
		return s.anyChanged()
	case kind == fault.Conflict:
		// Others have changed the store.
		s.fresh = false
		return s.anyChanged()
	case (kind == fault.Invalid || kind == fault.Quota) && sent > 1:
		s.limit = sent / 2
		return s.anyChanged()
	case (kind == fault.Invalid || kind == fault.Quota) && len(u.Puts) == 1:
		s.refused[u.Puts[0]] = refusal{err: asFault(err), until: now.Add(RefusedFor)}
		s.limit = MaxBatch
		return s.anyChanged()
	}
	return s.unwritten(u, asFault(err), now)
}

// shownAfter is how long AWS may fail before the objects say so.
const shownAfter = 20 * time.Second

// unwritten takes over why a batch was not written, or why that is not known.
func (s *Store) unwritten(u Update, f *fault.Error, now time.Time) []Owner {
	switch {
	case f.RetryAfter > 0:
		// Our own limiter has answered: the same call is made later.
		s.writing.retryAt = now.Add(f.RetryAfter)
		return s.anyChanged()
	case f.Kind == fault.NotFound:
		return s.failed(f, now)
	case f.Kind == fault.Transient:
		s.fresh = false
		for _, p := range u.Puts {
			s.doubtful[p.Name] = true
		}
	}
	if s.writing.grow(now); !fault.Is(f, fault.Transient, fault.Throttled) || now.Sub(s.writing.since) >= shownAfter {
		s.writing.err = f
	}
	return s.anyChanged()
}

// failed takes over why a read did not work. The values that were read stay known; nothing is written before they are read
// again.
func (s *Store) failed(err error, now time.Time) []Owner {
	f := asFault(err)
	if f.RetryAfter > 0 {
		// Our own limiter has answered: the same call is made later.
		s.reading.retryAt = now.Add(f.RetryAfter)
		return nil
	}
	s.reading.grow(now)
	s.fresh, s.listing = false, nil
	if s.gone = f.Kind == fault.NotFound; s.gone {
		s.values, s.read = nil, false
	}
	if f.Kind != fault.Throttled && f.Kind != fault.Transient || !s.read {
		s.reading.err = f
	}
	return s.anyChanged()
}

// asFault is the classified form of an error. An error without one is transient.
func asFault(err error) *fault.Error {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	return fault.New(fault.Transient, "", "%s", err.Error())
}
