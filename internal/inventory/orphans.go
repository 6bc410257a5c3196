package inventory

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// The pace of the search. Tags do not show in the list, so that each tenant that no object
// claims costs a read a day; twenty a minute get through an account full of strangers' tenants
// in that time and leave the rate to others.
const (
	orphanPause = time.Minute
	orphanReads = 20
)

// Orphan is a tenant that this cluster made and whose object is gone.
type Orphan struct {
	Name, ID string
	Owner    ownership.Owner
}

// OrphansOptions are what the search is made from.
type OrphansOptions struct {
	Inventory *Inventory
	Clock     clock.WithTicker
	// ClusterID is that of the owner tags.
	ClusterID string
	// Claimed reports whether there is an object for the tenant of that name.
	Claimed func(name string) bool
	// Alive reports whether the owner's object exists. Where that can't be told it is an error.
	Alive func(ctx context.Context, owner ownership.Owner) (bool, error)
	// OnFound is called with each orphan once.
	OnFound func(Orphan)
}

// Orphans finds the tenants that were left behind: an object whose finalizer was removed by
// hand, or that was lost with a backup, goes without its tenant. They are reported and never
// deleted: the absence of an object proves nothing about what its tenant serves.
type Orphans struct {
	opts OrphansOptions

	mu    sync.Mutex
	found map[string]Orphan
}

// NewOrphans makes a search that has found nothing yet.
func NewOrphans(o OrphansOptions) *Orphans { return &Orphans{opts: o, found: map[string]Orphan{}} }

// NeedLeaderElection says that only the active replica searches.
func (o *Orphans) NeedLeaderElection() bool { return true }

// Start searches until the context ends. It implements the manager's Runnable.
func (o *Orphans) Start(ctx context.Context) error {
	ticker := o.opts.Clock.NewTicker(orphanPause)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
			o.Step(ctx)
		}
	}
}

// List returns the orphans that are known, by name.
func (o *Orphans) List() []Orphan {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.SortedFunc(maps.Values(o.found), func(a, b Orphan) int { return strings.Compare(a.Name, b.Name) })
}

// Step looks at every tenant that no object claims, and reads the tags of some whose tags
// are unknown or old.
func (o *Orphans) Step(ctx context.Context) {
	ctx = port.WithCall(ctx, port.Call{Key: "orphans", Class: port.Poll})
	now, reads := map[string]Orphan{}, orphanReads
	for _, name := range o.opts.Inventory.names(func(facts) bool { return true }) {
		if o.opts.Claimed(name) {
			continue
		}
		known := o.opts.Inventory.Known(name)
		if known.Tenant == nil || o.opts.Clock.Since(known.Tenant.Created) < resource.GracePeriod {
			continue
		}
		if (!known.TagsKnown || known.TagsDue) && reads > 0 {
			reads--
			tags, err := o.opts.Inventory.ReadTags(ctx, *known.Tenant)
			if fault.Is(err, fault.Throttled, fault.Denied) {
				reads = 0 // the next would fare no better
			}
			if err == nil {
				known.Tags, known.TagsKnown = tags, true
			}
		}
		if orphan, ok := o.judge(ctx, known); ok {
			now[name] = orphan
		}
	}
	o.replace(now)
}

// judge reports whether the tags name an owner of this cluster that is certainly gone.
func (o *Orphans) judge(ctx context.Context, k Known) (Orphan, bool) {
	owner, ok := ownership.FromTags(k.Tags)
	if !k.TagsKnown || !ok || owner.Cluster != o.opts.ClusterID {
		return Orphan{}, false
	}
	alive, err := o.opts.Alive(ctx, owner)
	return Orphan{Name: k.Tenant.Name, ID: k.Tenant.ID, Owner: owner}, err == nil && !alive
}

func (o *Orphans) replace(now map[string]Orphan) {
	o.mu.Lock()
	before := o.found
	o.found = now
	o.mu.Unlock()
	for _, orphan := range o.List() {
		if before[orphan.Name] != orphan {
			o.opts.OnFound(orphan)
		}
	}
}
