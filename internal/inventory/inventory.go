// Package inventory is the shared memory of the distribution tenants of one AWS account.
//
// CloudFront's list shows each tenant with its configuration (but for parameters and
// tags), its state and an ETag, a hundred to a page. The inventory lists the account
// every few minutes, notices by the ETag what has moved, and wakes only the objects
// behind it: watching ten thousand quiet tenants costs a hundred calls.
//
// What it knows is a hint. Nothing is released or created again because it is missing here: before that the tenant is
// read from AWS.
package inventory

import (
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/instant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// pageSize is how many tenants AWS lists in one call, to tell what a sweep costs.
const pageSize = 100

// tagRotation is how often the tags of each tenant are read although nothing says that
// they changed: the list does not show them.
const tagRotation = 24 * time.Hour

// Options are what an inventory is made from.
type Options struct {
	Tenants port.Tenants
	Clock   clock.WithTicker
	// Interval is the time between two quiet sweeps.
	Interval time.Duration
	// OnChange is called with the names of the tenants that have moved. It must not block.
	OnChange func(names []string)
	// OnFailure is called with the reason why the account could not be listed. It must not block.
	OnFailure func(err error)
	// Random is in [0, 1) and spreads what would otherwise happen at one time.
	Random func() float64
}

// Inventory knows the tenants of one account. All its methods may be called at once.
type Inventory struct {
	opts Options

	mu       sync.Mutex
	byName   map[string]*entry
	byDomain map[string]string
	// buried are the ids of tenants whose deletion AWS accepted. Ids are never used
	// again, so whatever still shows one of them is out of date.
	buried map[string]uint64
	// unusable are the attached certificates that ACM shows in any state but issued.
	unusable map[string]bool
	flights  map[string]*flight
	// usual is how long flights usually take, as far as is known.
	usual time.Duration
	sweep *sweep
	// seq orders own writes and reads against pages: a page that was requested before
	// a write finished must not overwrite it.
	seq       uint64
	attempted bool
	nextSweep time.Time
	lastSweep time.Time
	// sweepTook is how long the last sweep of the follower took.
	sweepTook time.Duration
	failures  int
	poke      chan struct{}
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

// New makes an inventory that knows nothing yet.
func New(o Options) *Inventory {
	if o.Random == nil {
		o.Random = rand.Float64
	}
	if o.OnChange == nil {
		o.OnChange = func([]string) {}
	}
	if o.OnFailure == nil {
		o.OnFailure = func(error) {}
	}
	return &Inventory{
		opts: o, byName: map[string]*entry{}, byDomain: map[string]string{}, buried: map[string]uint64{},
		flights: map[string]*flight{}, poke: make(chan struct{}, 1), nextSweep: o.Clock.Now(),
	}
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
func (i *Inventory) Known(name string) Known {
	i.mu.Lock()
	defer i.mu.Unlock()
	k := Known{Swept: i.attempted}
	e, ok := i.byName[name]
	if !ok {
		return k
	}
	t := e.tenant.observed()
	k.Tenant, k.Knowledge = &t, resource.Listed
	if e.whole {
		k.Knowledge = resource.Whole
	}
	k.Tags, k.TagsKnown, k.TagsRead = e.tags.all(), e.tagsKnown, e.tagsRead.Time()
	k.CertificateUnusable = i.unusable[e.tenant.certificate()]
	k.TagsDue = !i.opts.Clock.Now().Before(e.tagsDue.Time())
	return k
}

// names lists all tenants that are known, sorted.
func (i *Inventory) names() []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Sorted(maps.Keys(i.byName))
}

// HolderOf names the tenant that the inventory knows to hold the domain.
func (i *Inventory) HolderOf(domain string) (name string, ok bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	name, ok = i.byDomain[domain]
	return name, ok
}

// Stats describes the inventory for metrics.
type Stats struct {
	Tenants, InFlight int
	// LastSweep is when the account was last listed to its end. Zero: never.
	LastSweep time.Time
}

// Stats returns the present figures.
func (i *Inventory) Stats() Stats {
	i.mu.Lock()
	defer i.mu.Unlock()
	return Stats{Tenants: len(i.byName), InFlight: len(i.flights), LastSweep: i.lastSweep}
}

// MostDomains is how many domains the tenant has that has the most.
func (i *Inventory) MostDomains() (most int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, e := range i.byName {
		most = max(most, len(e.tenant.domains))
	}
	return most
}

// store remembers a tenant that was read or written whole. Callers hold the lock.
func (i *Inventory) store(t distributiontenant.Observed) *entry {
	e := i.byName[t.Name]
	if e == nil || e.tenant.id != t.ID {
		if e != nil {
			i.drop(e)
		}
		e = i.add(t)
	}
	i.reindex(e, factsOf(t, e.tenant))
	e.whole, e.touched = true, i.tick()
	e.readETag, e.readShown = e.tenant.etag, e.shownETag
	if t.Tags != nil {
		i.rememberTags(e, t.Tags)
	}
	return e
}

// add makes an entry for a tenant that was not known. Its tags are due within a day, but not before the next sweep: the
// first one after a start shows all tenants, and costs nothing but its pages.
func (i *Inventory) add(t distributiontenant.Observed) *entry {
	first := min(i.opts.Interval, tagRotation)
	spread := time.Duration(i.opts.Random() * float64(tagRotation-first))
	e := &entry{tagsDue: instant.Of(i.opts.Clock.Now().Add(first + spread))}
	i.byName[t.Name] = e
	return e
}

// reindex replaces what is known of the tenant.
func (i *Inventory) reindex(e *entry, now facts) {
	if !slices.Equal(e.tenant.domains, now.domains) {
		i.unindex(e)
		for _, d := range now.domains {
			i.byDomain[d.name] = now.name
		}
	}
	e.tenant = now
}

func (i *Inventory) unindex(e *entry) {
	for _, d := range e.tenant.domains {
		if i.byDomain[d.name] == e.tenant.name {
			delete(i.byDomain, d.name)
		}
	}
}

// drop forgets a tenant.
func (i *Inventory) drop(e *entry) {
	i.unindex(e)
	if i.byName[e.tenant.name] == e {
		delete(i.byName, e.tenant.name)
	}
}

func (i *Inventory) rememberTags(e *entry, read map[string]string) {
	now := i.opts.Clock.Now()
	e.tags, e.tagsKnown, e.tagsRead = textsOf(read), true, instant.Of(now)
	e.tags.share(e.tenant.name)
	// A tenth of spread keeps what was read together from being read together forever.
	e.tagsDue = instant.Of(now.Add(tagRotation - time.Duration(i.opts.Random()*float64(tagRotation/10))))
}

func (i *Inventory) tick() uint64 {
	i.seq++
	return i.seq
}
