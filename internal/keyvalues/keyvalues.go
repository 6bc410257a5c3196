// Package keyvalues keeps CloudFront key value stores as the ledgers of all objects say.
//
// It does for stores what internal/zone does for DNS zones: each object declares what it wants and what its stored ledger
// holds, and one worker for each store puts the changes of all of them together into batches. keyvalue.Store decides what
// follows from an answer; a worker makes the calls, keeps the time and holds the lock.
package keyvalues

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/keyvalue"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// Options are what the workers are made from.
type Options struct {
	// Of is the service in an AWS account; false if the account can't be reached any more.
	Of    func(account string) (port.KeyValues, bool)
	Clock clock.WithTicker
	// OnChange is called with the objects for which the answer has changed. It must not block.
	OnChange func([]keyvalue.Owner)
	// Observer is notified of what happens, for metrics and events.
	Observer Observer
}

// Observer is notified of what happens. It must not block.
type Observer interface {
	// Batch is called after each batch that was sent, with the number of its changes and the kind of fault (None when it
	// was accepted).
	Batch(changes int, result fault.Kind)
	// Restored is called with the keys of an accepted batch that others had changed.
	Restored(keys []keyvalue.Restored)
}

// Silent is an Observer that nothing is told to.
type Silent struct{}

// Batch implements Observer.
func (Silent) Batch(int, fault.Kind) {}

// Restored implements Observer.
func (Silent) Restored([]keyvalue.Restored) {}

// Stores are the workers of all stores. All its methods may be called at once.
type Stores struct {
	opts Options

	mu     sync.Mutex
	stores map[keyvalue.StoreKey]*store
	known  map[keyvalue.Owner][]keyvalue.StoreKey
	// learned are the ledgers of objects that have declared nothing yet, by the ARN of the store.
	learned map[string]map[keyvalue.Owner][]keyvalue.Entry
	// launch starts a worker; nil while the workers don't run.
	launch func(*store)
}

// store is the worker of one store.
type store struct {
	key        keyvalue.StoreKey
	poke, stop chan struct{}

	mu    sync.Mutex
	state *keyvalue.Store
}

// New makes workers that know nothing yet.
func New(o Options) *Stores {
	if o.OnChange == nil {
		o.OnChange = func([]keyvalue.Owner) {}
	}
	if o.Observer == nil {
		o.Observer = Silent{}
	}
	return &Stores{
		opts: o, stores: map[keyvalue.StoreKey]*store{}, known: map[keyvalue.Owner][]keyvalue.StoreKey{},
		learned: map[string]map[keyvalue.Owner][]keyvalue.Entry{},
	}
}

// Start runs the workers until the context ends. It implements the manager's Runnable.
func (s *Stores) Start(ctx context.Context) error {
	var running sync.WaitGroup
	s.mu.Lock()
	s.launch = func(w *store) { running.Go(func() { s.run(ctx, w) }) }
	for _, w := range s.stores {
		s.launch(w)
	}
	s.mu.Unlock()
	<-ctx.Done()
	s.mu.Lock()
	s.launch = nil
	s.mu.Unlock()
	running.Wait()
	return nil
}

// NeedLeaderElection says that only the active replica changes stores.
func (s *Stores) NeedLeaderElection() bool { return true }

// unheard stands for the UID of an object that has declared nothing yet: one of its name replaces it in any case.
const unheard = "unheard"

// Learn takes over the ledger of an object. Until the object declares something, no other one gets a key of the ledger.
// All ledgers are learned before the first object declares something.
func (s *Stores) Learn(o keyvalue.Owner, ledger []keyvalue.Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o.UID = unheard
	for _, e := range ledger {
		of := s.learned[e.StoreARN]
		if of == nil {
			of = map[keyvalue.Owner][]keyvalue.Entry{}
			s.learned[e.StoreARN] = of
		}
		of[o] = append(of[o], e)
	}
}

// Declare takes over what an object wants and holds, and says how all of that stands. It makes no call.
func (s *Stores) Declare(c keyvalue.Claim) keyvalue.View {
	parts, view, woken := partsOf(c), keyvalue.View{}, []keyvalue.Owner(nil)
	s.mu.Lock()
	woken = append(s.hear(c.Owner), s.withdraw(c.Owner, parts)...)
	for _, key := range sorted(parts) {
		w := s.worker(key)
		w.mu.Lock()
		woken = append(woken, w.state.Declare(parts[key], s.opts.Clock.Now())...)
		maps.Copy(view, w.state.View(parts[key]))
		w.mu.Unlock()
		w.nudge()
	}
	if len(parts) > 0 {
		s.known[c.Owner] = sorted(parts)
	}
	s.mu.Unlock()
	s.wake(woken)
	return view
}

// Refresh has the versions of the stores of an object asked for now, because a user asks to look.
func (s *Stores) Refresh(o keyvalue.Owner) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range s.known[o] {
		w := s.stores[key]
		w.mu.Lock()
		w.state.Refresh()
		w.mu.Unlock()
		w.nudge()
	}
}

// Forget takes back all that an object has declared. Nothing of it is deleted.
func (s *Stores) Forget(o keyvalue.Owner) {
	s.mu.Lock()
	woken := append(s.hear(o), s.withdraw(o, nil)...)
	s.mu.Unlock()
	s.wake(woken)
}

// hear ends what was learned of an object: it speaks for itself from now on. It needs the lock.
func (s *Stores) hear(o keyvalue.Owner) []keyvalue.Owner {
	o.UID = unheard
	for _, of := range s.learned {
		delete(of, o)
	}
	return s.withdraw(o, nil)
}

// withdraw takes an object out of the stores that it is no longer in, and ends the workers of those that have none left.
// It needs the lock.
func (s *Stores) withdraw(o keyvalue.Owner, stays map[keyvalue.StoreKey]keyvalue.Claim) (woken []keyvalue.Owner) {
	for _, key := range s.known[o] {
		if _, still := stays[key]; still {
			continue
		}
		w := s.stores[key]
		w.mu.Lock()
		woken = append(woken, w.state.Forget(o)...)
		empty := w.state.Empty()
		w.mu.Unlock()
		if empty {
			close(w.stop)
			delete(s.stores, key)
		}
	}
	delete(s.known, o)
	return woken
}

func (s *Stores) wake(woken []keyvalue.Owner) {
	if len(woken) > 0 {
		s.opts.OnChange(woken)
	}
}

// partsOf splits a claim by stores.
func partsOf(c keyvalue.Claim) map[keyvalue.StoreKey]keyvalue.Claim {
	parts := map[keyvalue.StoreKey]keyvalue.Claim{}
	part := func(k keyvalue.Key) (keyvalue.StoreKey, keyvalue.Claim) {
		at := keyvalue.StoreKey{Account: c.Account, ARN: k.StoreARN}
		p, ok := parts[at]
		if !ok {
			p = c
			p.Wants, p.Ledger = nil, nil
		}
		return at, p
	}
	for _, w := range c.Wants {
		at, p := part(w.Key)
		p.Wants = append(p.Wants, w)
		parts[at] = p
	}
	for _, e := range c.Ledger {
		at, p := part(e.Key)
		p.Ledger = append(p.Ledger, e)
		parts[at] = p
	}
	return parts
}

func sorted[V any](m map[keyvalue.StoreKey]V) []keyvalue.StoreKey {
	return slices.SortedFunc(maps.Keys(m), keyvalue.StoreKey.Compare)
}

// worker returns the worker of a store, and starts one where there is none. It knows the ledgers that were learned: nothing
// tells as which account an object sees the store. It needs the lock.
func (s *Stores) worker(key keyvalue.StoreKey) *store {
	w := s.stores[key]
	if w == nil {
		w = &store{key: key, poke: make(chan struct{}, 1), stop: make(chan struct{}), state: keyvalue.NewStore(key)}
		s.stores[key] = w
		for o, ledger := range s.learned[key.ARN] {
			w.state.Declare(keyvalue.Claim{Owner: o, Ledger: ledger, Still: true}, s.opts.Clock.Now())
			s.known[o] = append(s.known[o], key)
		}
		if s.launch != nil {
			s.launch(w)
		}
	}
	return w
}

// nudge wakes the worker to look again what is due.
func (w *store) nudge() {
	select {
	case w.poke <- struct{}{}:
	default:
	}
}

// run works until the context ends or the store has no claims left.
func (s *Stores) run(ctx context.Context, w *store) {
	for {
		timer := s.opts.Clock.NewTimer(s.step(ctx, w))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-w.stop:
			timer.Stop()
			return
		case <-w.poke:
		case <-timer.C():
		}
		timer.Stop()
	}
}

// rest is how long a step can wait at most.
const rest = time.Hour

// Step does what Start does with a goroutine for each store, for callers who play the time themselves: every store makes
// one step, and the answer is how long the next can wait.
func (s *Stores) Step(ctx context.Context) time.Duration {
	s.mu.Lock()
	var all []*store
	for _, key := range sorted(s.stores) {
		all = append(all, s.stores[key])
	}
	s.mu.Unlock()
	next := rest
	for _, w := range all {
		next = min(next, s.step(ctx, w))
	}
	return next
}

// step makes at most one call, if one is due, and says how long the next step can wait.
func (s *Stores) step(ctx context.Context, w *store) time.Duration {
	w.mu.Lock()
	call, wait, woken := w.state.Next(s.opts.Clock.Now())
	w.mu.Unlock()
	s.wake(woken)
	if wait > 0 {
		return wait
	}
	s.wake(s.perform(ctx, w, call))
	return 0
}

// perform makes a call, and returns whom its answer concerns.
func (s *Stores) perform(ctx context.Context, w *store, call keyvalue.Call) []keyvalue.Owner {
	service, reached := s.opts.Of(w.key.Account)
	if !reached {
		service = unreached{w.key.Account}
	}
	arn, now, class := w.key.ARN, s.opts.Clock.Now, port.Sweep
	if call.Awaited {
		class = port.Change
	}
	switch {
	case call.Describe:
		info, err := service.DescribeStore(w.mark(ctx, "describe", class), arn)
		return w.answered(func() []keyvalue.Owner { return w.state.Described(info, err, now()) })
	case call.Page != nil:
		page, next, err := service.ListKeys(w.mark(ctx, "list", class), arn, *call.Page)
		return w.answered(func() []keyvalue.Owner { return w.state.Listed(page, next, err, now()) })
	}
	u := *call.Update
	if class = port.Change; len(u.Restored) == len(u.Puts) && len(u.Deletes) == 0 {
		class = port.Correct
	}
	info, err := service.UpdateKeys(w.mark(ctx, "update", class), arn, u)
	if fault.RetryAfter(err) == 0 {
		// Otherwise it was our own limiter that answered.
		s.opts.Observer.Batch(len(u.Puts)+len(u.Deletes), fault.KindOf(err))
	}
	if err == nil && len(u.Restored) > 0 {
		s.opts.Observer.Restored(u.Restored)
	}
	return w.answered(func() []keyvalue.Owner { return w.state.Updated(u, info, err, now()) })
}

func (w *store) answered(apply func() []keyvalue.Owner) []keyvalue.Owner {
	w.mu.Lock()
	defer w.mu.Unlock()
	return apply()
}

// mark says whose call it is, and how urgent.
func (w *store) mark(ctx context.Context, what string, class port.Class) context.Context {
	return port.WithCall(ctx, port.Call{Key: "store/" + w.key.ARN + "/" + what, Class: class})
}

// Stats describes the stores for metrics.
type Stats struct {
	// Stores are those that objects have keys in, Keys the keys in the ledgers of all objects.
	Stores, Keys int
}

// Stats returns the present figures.
func (s *Stores) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := Stats{Stores: len(s.stores)}
	for _, w := range s.stores {
		w.mu.Lock()
		out.Keys += w.state.Keys()
		w.mu.Unlock()
	}
	return out
}

// unreached stands for the service in an account that no EdgeGrant gives access to any more.
type unreached struct{ account string }

func (u unreached) refusal() error {
	return fault.New(fault.Denied, "DescribeKeyValueStore", "no EdgeGrant gives access to the AWS account %s any more", u.account)
}

// DescribeStore implements port.KeyValues.
func (u unreached) DescribeStore(context.Context, string) (keyvalue.Info, error) {
	return keyvalue.Info{}, u.refusal()
}

// ListKeys implements port.KeyValues.
func (u unreached) ListKeys(context.Context, string, string) ([]keyvalue.Pair, string, error) {
	return nil, "", u.refusal()
}

// UpdateKeys implements port.KeyValues.
func (u unreached) UpdateKeys(context.Context, string, keyvalue.Update) (keyvalue.Info, error) {
	return keyvalue.Info{}, u.refusal()
}
