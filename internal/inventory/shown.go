package inventory

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
)

// shown is what was last seen of certificates, and of which ones distributions have. Unlike what is cached it does not
// run out: it tells what tenants serve with, for which AWS is not asked.
type shown struct {
	mu sync.Mutex
	// certificates are those whose expiry is known, by ARN.
	certificates map[string]*sighting
	// distributions are those that were read, by ID.
	distributions map[string]*bearer
	// watched are the certificates that Distribution objects have, by ARN.
	watched map[string]*watched
}

// sighting is a certificate as it was at a time. It is fresh until those that serve with it have been woken.
type sighting struct {
	at          time.Time
	certificate distributiontenant.Served
	fresh       bool
}

// bearer is the certificate of a distribution, in the same manner, and whether the distribution was disabled.
type bearer struct {
	arn      string
	fresh    bool
	disabled bool
}

// watchedFor is how long a certificate is looked at after a distribution last asked for it, as each of its passes does.
// That of a deleted distribution costs a call an hour until then.
const watchedFor = 24 * time.Hour

// watched is when a distribution last asked for a certificate, and whether it is still to be read for the first time.
type watched struct {
	at     time.Time
	unread bool
}

func newShown() *shown {
	return &shown{certificates: map[string]*sighting{}, distributions: map[string]*bearer{}, watched: map[string]*watched{}}
}

// see remembers a certificate. It needs the lock.
func (s *shown) see(c distributiontenant.Served, at time.Time) {
	before := s.certificates[c.ARN]
	if before == nil {
		s.certificates[c.ARN] = &sighting{at: at, certificate: c, fresh: true}
		return
	}
	c = c.Completed(&before.certificate)
	*before = sighting{at: at, certificate: c, fresh: before.fresh || before.certificate != c}
}

// note remembers a certificate that was read on its own.
func (s *shown) note(c distributiontenant.Certificate, now time.Time) {
	served := c.Served()
	if served == nil {
		return
	}
	served.Type, served.Issuer = interned(served.Type), interned(served.Issuer)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.see(*served, now)
}

// noteDistribution remembers what tenants have to know of a distribution. One that may not be read is not known to have no
// certificate.
func (s *shown) noteDistribution(d distributiontenant.Distribution) {
	if d.Unreadable || d.Missing {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.distributions[d.ID]
	s.distributions[d.ID] = &bearer{arn: d.CertificateARN, disabled: d.Disabled, fresh: before == nil || before.fresh || before.arn != d.CertificateARN}
}

// noteList remembers what a list of the account showed that was begun at some time. Certificates that were read
// individually since then are newer. All others that the list does not have are forgotten, except for those that
// distributions have.
func (s *shown) noteList(list []distributiontenant.Certificate, begun time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := make(map[string]bool, len(list)+len(s.distributions))
	for _, c := range list {
		served, before := c.Served(), s.certificates[c.ARN]
		if served == nil || before != nil && before.at.After(begun) {
			continue
		}
		kept[c.ARN] = true
		s.see(*served, begun)
	}
	for _, d := range s.distributions {
		kept[d.arn] = true
	}
	for arn := range s.watched {
		kept[arn] = true
	}
	maps.DeleteFunc(s.certificates, func(arn string, seen *sighting) bool { return !kept[arn] && !seen.at.After(begun) })
}

// watch remembers that a distribution has asked for the certificate.
func (s *shown) watch(arn string, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.watched[arn]; w != nil {
		w.at = now
		return
	}
	s.watched[arn] = &watched{at: now, unread: true}
}

// unread are the watched certificates that it has not named before, sorted.
func (s *shown) unread() (arns []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for arn, w := range s.watched {
		if w.unread {
			arns, w.unread = append(arns, arn), false
		}
	}
	slices.Sort(arns)
	return arns
}

// toWatch are all watched certificates, sorted. Those that no distribution asks for any more are forgotten.
func (s *shown) toWatch(now time.Time) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.watched, func(_ string, w *watched) bool { return now.Sub(w.at) > watchedFor })
	for _, w := range s.watched {
		w.unread = false
	}
	return slices.Sorted(maps.Keys(s.watched))
}

// news are the certificates that are not as they were when it was last asked, and the distributions that have another one
// or one of those.
func (s *shown) news() (certificates, distributions map[string]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	certificates, distributions = map[string]bool{}, map[string]bool{}
	for arn, seen := range s.certificates {
		if seen.fresh {
			certificates[arn], seen.fresh = true, false
		}
	}
	for id, d := range s.distributions {
		if d.fresh || certificates[d.arn] {
			distributions[id], d.fresh = true, false
		}
	}
	return certificates, distributions
}

// Served is the certificate of that ARN as it was last seen, for which nothing is read. Nil: it was not, or has no known
// expiry.
func (r *References) Served(arn string) *distributiontenant.Served {
	r.shown.mu.Lock()
	defer r.shown.mu.Unlock()
	seen, known := r.shown.certificates[arn]
	if !known {
		return nil
	}
	c := seen.certificate
	return &c
}

// Watched is the certificate of a distribution, as Served has it. From now on it is looked at each hour, whether or not
// a tenant inherits it, for as long as it is asked for.
func (r *References) Watched(arn string) *distributiontenant.Served {
	r.shown.watch(arn, r.clock.Now())
	return r.Served(arn)
}

// Inherited is the ARN of the certificate that the distribution was last seen to have, and empty if it had none. Nothing
// is read for it.
func (r *References) Inherited(distributionID string) (arn string, known bool) {
	r.shown.mu.Lock()
	defer r.shown.mu.Unlock()
	d, known := r.shown.distributions[distributionID]
	if !known {
		return "", false
	}
	return d.arn, true
}

// Disabled reports whether the distribution was disabled when it was last seen. Nothing is read for it.
func (r *References) Disabled(distributionID string) (disabled, known bool) {
	r.shown.mu.Lock()
	defer r.shown.mu.Unlock()
	d, known := r.shown.distributions[distributionID]
	return known && d.disabled, known
}
