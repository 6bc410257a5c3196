package inventory

import (
	"slices"
	"sync"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/instant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// tagRotation is how often the tags of each tenant are read although nothing says that
// they changed: the list does not show them.
const tagRotation = 24 * time.Hour

// memory is what is known of the tenants of an account. Exported methods, all and names take the lock, the others need
// it.
type memory struct {
	opts Options

	mu       sync.Mutex
	byName   map[string]*entry
	byDomain map[string]string
	// buried are the ids of tenants whose deletion AWS accepted. Ids are never used again, so an answer that still
	// shows one of them is out of date.
	buried map[string]uint64
	// unusable are the attached certificates that ACM shows in any state but issued.
	unusable map[string]bool
	// seq orders own writes and reads against pages: a page that was requested before
	// a write finished must not overwrite it.
	seq uint64
	// attempted is true once it was tried to list the account.
	attempted bool
}

// entry is one tenant.
type entry struct {
	tenant facts
	// whole is true while the tenant was read (or written) whole and has not moved since.
	whole bool
	// listETag is the list's ETag that goes with what was read. It need not equal the
	// ETag of the read; empty until the list has shown the tenant since.
	listETag string
	// shownETag is the last one that the list showed, shownModified when the tenant was last modified according to it.
	shownETag     string
	shownModified instant.Instant
	// shownAt is when (in seq) that was.
	shownAt   uint64
	tags      texts
	tagsKnown bool
	tagsRead  instant.Instant
	tagsDue   instant.Instant
	// readETag is that of the last read or write of this tenant, readShown what the list had shown then.
	readETag, readShown string
	// touched is when (in seq) this tenant was last written or read on its own.
	touched uint64
	// seen is the number of the last sweep that showed the tenant.
	seen uint64
}

// confirms reports whether what was read now agrees with what the list last showed. A read may lag behind the list: it
// is believed when both agree on the ETag or, where they never do, when the list has shown the tenant again since the
// read before, neither has changed, and the list had not seen a later change than the read.
func (e *entry) confirms(t distributiontenant.Observed) bool {
	same := e.readETag == t.ETag && e.readShown == e.shownETag && e.shownAt > e.touched
	return t.ETag == e.shownETag || same && instant.Of(t.Modified) >= e.shownModified
}

// Known is what the inventory knows of one tenant.
type Known struct {
	// Knowledge is Nothing, Listed or Whole.
	Knowledge resource.Knowledge
	Tenant    *distributiontenant.Observed
	Tags      map[string]string
	TagsKnown bool
	// TagsRead is when they were last read; own changes since then are in them.
	TagsRead time.Time
	// TagsDue means that the tags should be read again.
	TagsDue bool
	// CertificateUnusable means that ACM shows the attached certificate in any state but issued.
	CertificateUnusable bool
	// Swept means that listing the account was tried at least once.
	Swept bool
}

// Known says what is known of the tenant of that name, without asking AWS.
func (m *memory) Known(name string) Known {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := Known{Swept: m.attempted}
	e, ok := m.byName[name]
	if !ok {
		return k
	}
	t := e.tenant.observed()
	k.Tenant, k.Knowledge = &t, resource.Listed
	if e.whole {
		k.Knowledge = resource.Whole
	}
	k.Tags, k.TagsKnown, k.TagsRead = e.tags.all(), e.tagsKnown, e.tagsRead.Time()
	k.CertificateUnusable = m.unusable[e.tenant.certificate()]
	k.TagsDue = !m.opts.Clock.Now().Before(e.tagsDue.Time())
	return k
}

// HolderOf names the tenant that the inventory knows to hold the domain.
func (m *memory) HolderOf(domain string) (name string, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	name, ok = m.byDomain[domain]
	return name, ok
}

// all visits the tenants, in no order, and has the lock meanwhile.
func (m *memory) all(visit func(name string, t facts) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, e := range m.byName {
		if !visit(name, e.tenant) {
			return
		}
	}
}

// names are the names of the tenants for which that holds, sorted.
func (m *memory) names(holds func(facts) bool) (names []string) {
	for name, t := range m.all {
		if holds(t) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// MostDomains is the largest number of domains that a tenant has.
func (m *memory) MostDomains() (most int) {
	for _, t := range m.all {
		most = max(most, len(t.domains))
	}
	return most
}

// MostOfAWebACL is how many tenants override the web ACL of their distribution by the one that is used most. Each is an
// association of that web ACL.
func (m *memory) MostOfAWebACL() (most int) {
	of := map[string]int{}
	for _, t := range m.all {
		if t.rare == nil || t.rare.customizations == nil || t.rare.customizations.WebACL.ARN == "" {
			continue
		}
		arn := t.rare.customizations.WebACL.ARN
		of[arn]++
		most = max(most, of[arn])
	}
	return most
}

// store remembers a tenant that was read or written whole.
func (m *memory) store(t distributiontenant.Observed) *entry {
	e := m.byName[t.Name]
	if e == nil || e.tenant.id != t.ID {
		if e != nil {
			m.drop(e)
		}
		e = m.add(t)
	}
	m.reindex(e, factsOf(t, e.tenant))
	e.whole, e.touched = true, m.tick()
	e.readETag, e.readShown = e.tenant.etag, e.shownETag
	if t.Tags != nil {
		m.rememberTags(e, t.Tags)
	}
	return e
}

// add makes an entry for a tenant that was not known. Its tags are due within a day, but not before the next sweep: the
// first one after a start shows all tenants, and costs nothing but its pages.
func (m *memory) add(t distributiontenant.Observed) *entry {
	first := min(m.opts.Interval, tagRotation)
	spread := time.Duration(m.opts.Random() * float64(tagRotation-first))
	e := &entry{tagsDue: instant.Of(m.opts.Clock.Now().Add(first + spread))}
	m.byName[t.Name] = e
	return e
}

// reindex replaces what is known of the tenant.
func (m *memory) reindex(e *entry, now facts) {
	if !slices.Equal(e.tenant.domains, now.domains) {
		m.unindex(e)
		for _, d := range now.domains {
			m.byDomain[d.name] = now.name
		}
	}
	e.tenant = now
}

func (m *memory) unindex(e *entry) {
	for _, d := range e.tenant.domains {
		if m.byDomain[d.name] == e.tenant.name {
			delete(m.byDomain, d.name)
		}
	}
}

// drop forgets a tenant.
func (m *memory) drop(e *entry) {
	m.unindex(e)
	if m.byName[e.tenant.name] == e {
		delete(m.byName, e.tenant.name)
	}
}

func (m *memory) rememberTags(e *entry, read map[string]string) {
	now := m.opts.Clock.Now()
	e.tags, e.tagsKnown, e.tagsRead = textsOf(read), true, instant.Of(now)
	e.tags.share(e.tenant.name)
	// A tenth of spread keeps what was read together from being read together forever.
	e.tagsDue = instant.Of(now.Add(tagRotation - time.Duration(m.opts.Random()*float64(tagRotation/10))))
}

// takeListed takes over what the list shows of a tenant, and reports whether it has moved.
func (m *memory) takeListed(e *entry, t distributiontenant.Observed) bool {
	before, now := e.tenant, factsOf(t, e.tenant)
	e.shownETag, e.shownModified, e.shownAt = either(e.shownETag, now.etag), now.modified, m.tick()
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
		m.reindex(e, kept)
		return before.moved(kept)
	}
	e.whole, e.listETag = false, ""
	m.reindex(e, now)
	return before.id == "" || before.moved(now)
}

func (m *memory) tick() uint64 {
	m.seq++
	return m.seq
}
