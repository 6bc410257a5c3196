// Package zone keeps DNS zones as the ledgers of all objects say.
//
// Objects don't change zones: each declares what it wants and what its stored ledger
// holds, and one worker for each zone puts the changes of all of them together into
// batches. A worker knows its zone from listings and from its own changes, so it can answer without a call how a record
// stands. dns.ZoneState decides what follows from an event; a worker makes the calls, keeps the time and holds the
// lock.
package zone

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// Options are what the workers are made from.
type Options struct {
	// Providers returns those that are configured now: accounts come, go and change while the operator runs.
	Providers func() Providers
	Clock     clock.WithTicker
	// OnChange is called with the objects for which the answer has changed. It must not block.
	OnChange func([]dns.Owner)
	// Observer is notified of what happens, for metrics.
	Observer Observer
	// Random is in [0, 1) and spreads what would otherwise happen at one time.
	Random func() float64
}

// Observer is notified of what happens. It must not block.
type Observer interface {
	// Batch is called after each batch that was sent, with the number of its changes and the
	// kind of fault (None when it was accepted).
	Batch(at dns.Provider, changes int, result fault.Kind)
	// Corrected is called after each accepted batch that has restored records.
	Corrected(corrections []dns.Correction)
	// Conflict is called when an object finds the place of a record taken.
	Conflict(at dns.Provider)
	// Propagated is called when every server has a change, with the time that took.
	Propagated(at dns.Provider, took time.Duration)
}

// Silent is an Observer that nothing is told to.
type Silent struct{}

// Batch implements Observer.
func (Silent) Batch(dns.Provider, int, fault.Kind) {}

// Corrected implements Observer.
func (Silent) Corrected([]dns.Correction) {}

// Conflict implements Observer.
func (Silent) Conflict(dns.Provider) {}

// Propagated implements Observer.
func (Silent) Propagated(dns.Provider, time.Duration) {}

// Zones are the workers of all zones. All its methods may be called at once.
type Zones struct {
	*directory
	opts Options

	mu    sync.Mutex
	zones map[dns.ZoneKey]*zone
	known map[dns.Owner]known
	// launch starts a worker; nil while the workers don't run.
	launch func(*zone)
}

// known is what was last declared for an object.
type known struct {
	version uint64
	extent  dns.Extent
	zones   []dns.ZoneKey
}

// givesWay reports whether the claim replaces what was declared: it must not know less, and not be older than a whole one.
func (k known) givesWay(c dns.Claim) bool {
	if k.extent == dns.Whole {
		return c.Extent == dns.Whole && c.Version >= k.version
	}
	return c.Extent <= k.extent
}

// New makes workers that know nothing yet.
func New(o Options) *Zones {
	if o.Random == nil {
		o.Random = rand.Float64
	}
	if o.OnChange == nil {
		o.OnChange = func([]dns.Owner) {}
	}
	if o.Observer == nil {
		o.Observer = Silent{}
	}
	return &Zones{directory: newDirectory(o.Providers, o.Clock), opts: o, zones: map[dns.ZoneKey]*zone{}, known: map[dns.Owner]known{}}
}

// Start runs the workers until the context ends. It implements the manager's Runnable.
func (z *Zones) Start(ctx context.Context) error {
	var running sync.WaitGroup
	z.mu.Lock()
	z.launch = func(w *zone) { running.Go(func() { w.run(ctx) }) }
	for _, w := range z.zones {
		z.launch(w)
	}
	z.mu.Unlock()
	<-ctx.Done()
	z.mu.Lock()
	z.launch = nil
	z.mu.Unlock()
	running.Wait()
	return nil
}

// NeedLeaderElection says that only the active replica changes zones.
func (z *Zones) NeedLeaderElection() bool { return true }

// Declare takes over what an object wants and holds, and says how all of that stands. It makes no call. A claim that is
// older than a whole one, or knows less than what is known, is answered and not taken over: of one that knows less, only
// what may be done counts.
func (z *Zones) Declare(c dns.Claim) dns.View {
	parts := partsOf(c)
	var woken []dns.Owner
	z.mu.Lock()
	before, again := z.known[c.Owner]
	if !again || before.givesWay(c) {
		woken = z.withdraw(c.Owner, before.zones, parts)
		z.remember(c, parts)
		for id, part := range parts {
			woken = append(woken, z.worker(id).apply(dns.Declared{Claim: part}).Woken...)
		}
	} else if c.Version >= before.version {
		for _, id := range before.zones {
			woken = append(woken, z.worker(id).apply(dns.Permitted{Owner: c.Owner, Still: c.Still, Correct: c.Correct}).Woken...)
		}
	}
	view := z.answer(c, parts)
	z.mu.Unlock()
	z.wake(woken)
	return view
}

// Seen says how the records of a claim stand, and takes nothing over.
func (z *Zones) Seen(c dns.Claim) dns.View {
	z.mu.Lock()
	defer z.mu.Unlock()
	return z.answer(c, partsOf(c))
}

// answer asks the workers that there are. It needs the lock.
func (z *Zones) answer(c dns.Claim, parts map[dns.ZoneKey]dns.Claim) dns.View {
	view := dns.View{Records: make(map[dns.Record]dns.Standing, len(c.Wants)+len(c.Ledger))}
	// In order, for of two changes sent at one time one has to be the last.
	for _, id := range slices.SortedFunc(maps.Keys(parts), dns.ZoneKey.Compare) {
		if w := z.zones[id]; w != nil {
			w.answer(parts[id], &view)
		}
	}
	return view
}

// WithAccount adds the account to the provider of a spec that leaves it out.
func (z *Zones) WithAccount(p dns.Provider) dns.Provider { return z.opts.Providers().withAccount(p) }

// Refresh lists the zones of an object again, because a user asks to look: each at most once a
// minute.
func (z *Zones) Refresh(o dns.Owner) {
	z.mu.Lock()
	defer z.mu.Unlock()
	for _, id := range z.known[o].zones {
		if w := z.zones[id]; w != nil {
			w.apply(dns.RefreshAsked{})
		}
	}
}

// Forget takes back all that an object has declared. Nothing of it is deleted.
func (z *Zones) Forget(o dns.Owner) {
	z.mu.Lock()
	woken := z.withdraw(o, z.known[o].zones, nil)
	delete(z.known, o)
	z.mu.Unlock()
	z.wake(woken)
}

// wake passes on the objects whose answer has changed. No lock may be held.
func (z *Zones) wake(woken []dns.Owner) {
	if len(woken) > 0 {
		z.opts.OnChange(woken)
	}
}

// partsOf splits a claim by zones.
func partsOf(c dns.Claim) map[dns.ZoneKey]dns.Claim {
	parts := map[dns.ZoneKey]dns.Claim{}
	add := func(r dns.Record, to func(*dns.Claim)) {
		part, ok := parts[r.Zone()]
		if !ok {
			part = c
			part.Wants, part.Ledger, part.Access = nil, nil, accessOf(c, r)
		}
		to(&part)
		parts[r.Zone()] = part
	}
	for _, r := range c.Wants {
		add(r, func(part *dns.Claim) { part.Wants = append(part.Wants, r) })
	}
	for _, e := range c.Ledger {
		add(e.Record, func(part *dns.Claim) { part.Ledger = append(part.Ledger, e) })
	}
	return parts
}

// accessOf is the identity that acts for a record. One that stays at a former provider for now has that with which it
// was published: the identity of one provider means nothing to another.
func accessOf(c dns.Claim, r dns.Record) dns.Access {
	if r.Provider == c.Access.Provider {
		return c.Access
	}
	for _, e := range c.Ledger {
		if e.Record == r {
			return c.AccessOf(e)
		}
	}
	return dns.AccessFor(r.Provider, "", c.Owner.Namespace)
}

func (z *Zones) remember(c dns.Claim, parts map[dns.ZoneKey]dns.Claim) {
	if len(parts) == 0 {
		delete(z.known, c.Owner)
		return
	}
	z.known[c.Owner] = known{version: c.Version, extent: c.Extent, zones: slices.SortedFunc(maps.Keys(parts), dns.ZoneKey.Compare)}
}

// worker returns the worker of a zone, and starts one where there is none.
func (z *Zones) worker(id dns.ZoneKey) *zone {
	w := z.zones[id]
	if w == nil {
		w = newZone(id, &z.opts)
		z.zones[id] = w
		if z.launch != nil {
			z.launch(w)
		}
	}
	return w
}

// withdraw takes an object out of the zones that it is no longer in, and ends the workers of
// those that have none left. Callers hold the lock.
func (z *Zones) withdraw(o dns.Owner, from []dns.ZoneKey, stays map[dns.ZoneKey]dns.Claim) (woken []dns.Owner) {
	for _, id := range from {
		w := z.zones[id]
		if _, still := stays[id]; still || w == nil {
			continue
		}
		woken = append(woken, w.apply(dns.Forgotten{Owner: o}).Woken...)
		if w.empty() {
			close(w.stop)
			delete(z.zones, id)
		}
	}
	return woken
}

// Stats describes the zones for metrics.
type Stats struct {
	// Zones are those that objects have records in, Records all records in them.
	Zones, Records int
	// Waiting are the names that are about to be changed.
	Waiting int
	// Propagating are the batches that not every server has yet.
	Propagating int
}

// Stats returns the present figures.
func (z *Zones) Stats() Stats {
	z.mu.Lock()
	defer z.mu.Unlock()
	s := Stats{Zones: len(z.zones)}
	for _, w := range z.zones {
		w.mu.Lock()
		of := w.state.Stats()
		w.mu.Unlock()
		s.Records, s.Waiting, s.Propagating = s.Records+of.Records, s.Waiting+of.Waiting, s.Propagating+of.Propagating
	}
	return s
}
