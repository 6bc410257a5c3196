// Package inventory is the shared memory of the distribution tenants of one AWS account.
//
// CloudFront's list shows each tenant with its configuration (but for parameters and
// tags), its state and an ETag, a hundred to a page. The inventory lists the account
// every few minutes, notices by the ETag what has moved, and wakes only the objects
// behind it: watching ten thousand quiet tenants costs a hundred calls.
//
// Its knowledge is a hint. Nothing is released or created again because it is missing here: before that the tenant is
// read from AWS.
//
// facts.go has what is known of one tenant and memory.go of all, sweep.go decides when AWS is looked at, and calls.go
// has the calls that objects make. Of the other watches each has a file.
package inventory

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/retry"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// pageSize is how many tenants AWS lists in one call, to tell what a sweep costs.
const pageSize = 100

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
	*memory

	watch *watch
	poke  chan struct{}
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
	m := &memory{opts: o, byName: map[string]*entry{}, byDomain: map[string]string{}, buried: map[string]uint64{}}
	return &Inventory{
		memory: m, watch: &watch{memory: m, flights: map[string]*flight{}, nextSweep: o.Clock.Now()}, poke: make(chan struct{}, 1),
	}
}

// Start runs the inventory until the context ends. It implements the manager's Runnable.
func (i *Inventory) Start(ctx context.Context) error { return run(ctx, i.opts.Clock, i.Step, i.poke) }

// run makes one step after the other until the context ends, each after the pause that the one before has named, or a
// poke.
func run(ctx context.Context, c clock.WithTicker, step func(context.Context) time.Duration, poke <-chan struct{}) error {
	for {
		timer := c.NewTimer(step(ctx))
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-poke:
		case <-timer.C():
		}
		timer.Stop()
	}
}

// NeedLeaderElection says that only the active replica watches AWS.
func (i *Inventory) NeedLeaderElection() bool { return true }

// Step makes at most one call to AWS, whichever is due, and says how long the next step
// can wait. It never waits itself.
func (i *Inventory) Step(ctx context.Context) time.Duration {
	name, listing := i.watch.plan()
	switch {
	case listing:
		return i.listPage(ctx)
	case name != "":
		return i.look(ctx, name)
	}
	return i.watch.idle()
}

// Follow keeps an eye on the tenant of that name until it is deployed or gone.
func (i *Inventory) Follow(name string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if _, known := i.watch.flights[name]; known {
		return
	}
	now := i.opts.Clock.Now()
	i.watch.flights[name] = &flight{since: now, due: now.Add(retry.FollowDelay(0, i.watch.usual, i.opts.Interval))}
	select {
	case i.poke <- struct{}{}:
	default:
	}
}

// look reads one tenant in flight.
func (i *Inventory) look(ctx context.Context, name string) time.Duration {
	before := i.Known(name).Tenant
	_, err := i.Read(port.WithCall(ctx, port.Call{Key: "follow", Class: port.Follow}), name)
	if wait := fault.RetryAfter(err); wait > 0 {
		return wait
	}
	after := i.Known(name).Tenant
	i.mu.Lock()
	if f := i.watch.flights[name]; f != nil {
		i.watch.reschedule(f)
		if err != nil && fault.Is(err, fault.NotFound) {
			delete(i.watch.flights, name)
		}
	}
	i.mu.Unlock()
	if fault.Is(err, fault.NotFound) || err == nil && moved(before, after) {
		i.opts.OnChange([]string{name})
	}
	return 0
}

// listPage requests the next page of the sweep under way.
func (i *Inventory) listPage(ctx context.Context) time.Duration {
	i.mu.Lock()
	s := i.watch.sweep
	requested := i.tick()
	i.mu.Unlock()
	page, next, err := i.opts.Tenants.ListTenants(port.WithCall(ctx, port.Call{Key: "sweep", Class: s.class}), s.marker)
	if err != nil {
		return i.watch.interrupted(err)
	}
	changed := i.watch.merge(page, s, requested)
	if err := s.pages.Pass("ListDistributionTenants", next); err != nil {
		return i.watch.interrupted(err)
	}
	if s.marker, s.retries = next, 0; next == "" {
		changed = append(changed, i.watch.finish(s)...)
	}
	if len(changed) > 0 {
		i.opts.OnChange(changed)
	}
	return 0
}

// moved reports whether a read has shown anything new.
func moved(before, after *distributiontenant.Observed) bool {
	if before == nil || after == nil {
		return before != after
	}
	return factsOf(*before, facts{}).moved(factsOf(*after, facts{}))
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
	return Stats{Tenants: len(i.byName), InFlight: len(i.watch.flights), LastSweep: i.watch.lastSweep}
}

// Serving is how many tenants serve through that distribution or connection group, as the account was last listed.
func (i *Inventory) Serving(parent string) (n int) {
	if i == nil {
		return 0
	}
	active := func(d domain) bool { return d.state == distributiontenant.DomainActive }
	for _, t := range i.all {
		if (t.distribution == parent || t.group == parent) && t.enabled && slices.ContainsFunc(t.domains, active) {
			n++
		}
	}
	return n
}
