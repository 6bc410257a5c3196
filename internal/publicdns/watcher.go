// Package publicdns looks in public DNS where the domains of customers lead that the operator does not publish: one
// worker for all of them, with a rate of its own, so that AWS is only asked when there is a reason.
//
// watcher.go has what objects ask of it, queue.go which name is next, and look.go the looks themselves.
package publicdns

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
	"unique"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/onboarding"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

const (
	// DefaultRate is how many names are looked at in a second.
	DefaultRate = 50
	// burst is how many can be looked at at once after a pause.
	burst = 50
	// atOnce is how many names are looked at at the same time, so that slow ones delay no others.
	atOnce = 32
	// lookTime is for one look: two servers that don't answer, and one that does.
	lookTime = 5 * time.Second
	// spacing is between two looks at a name, however often it is asked for.
	spacing = 5 * time.Second
	// retell is how often objects are told of other values on the same way: an answer may have others each time.
	retell = time.Hour
)

// Options are what a Watcher is made from.
type Options struct {
	Guide port.Guide
	Clock clock.Clock
	// Random is in [0, 1) and spreads what would otherwise happen at one time.
	Random func() float64
	// OnChange is called with the objects for whose names something else is seen. It may wait.
	OnChange func(ctx context.Context, owners []types.NamespacedName)
	// Rate is how many names are looked at in a second, on average. Zero: DefaultRate.
	Rate float64
}

// Watcher looks at names. All its methods may be called at once, and those of a nil one do nothing.
type Watcher struct {
	opts Options
	poke chan struct{}

	mu     sync.Mutex
	names  map[key]*entry
	owners map[types.NamespacedName]*owner
	queue  queue
	pace   pace
	// looking is how many looks are under way.
	looking int
}

// key is a name with the targets that it may have: two objects that want the same are told by one look.
type key struct {
	name string
	// targets are separated by spaces. Most names share them.
	targets unique.Handle[string]
}

func keyOf(name string, targets []string) key {
	return key{name, unique.Make(strings.Join(targets, " "))}
}

// owner is an object and its names.
type owner struct {
	key   types.NamespacedName
	names []*entry
}

// entry is a name. There may be ten thousand, so it is small: times are in nanoseconds.
type entry struct {
	key

	claims []claim
	// sight is what the owners were told; seen is told at most once in retell, and seenTold when it last was.
	sight    packed
	seenTold int64
	due      int64
	// looked is when the last look began; zero: never.
	looked int64
	// place is where it is in its lane, or why it is in none.
	place int32
	lane  lane
	// again means that a look was asked for during one.
	again bool
}

// claim is what one object says of a name.
type claim struct {
	owner *owner
	live  bool
	asked int64
}

func (c claim) name() onboarding.Name { return onboarding.Name{Live: c.live, Asked: timeOf(c.asked)} }

// packed is a sight.
type packed struct {
	way               onboarding.Way
	seen              []string
	since, at, astray int64
}

func pack(s onboarding.Sight) packed {
	return packed{s.Way, s.Seen, nanos(s.Since), nanos(s.At), nanos(s.Astray)}
}

func (p packed) sight() onboarding.Sight {
	return onboarding.Sight{Way: p.way, Seen: p.seen, Since: timeOf(p.since), At: timeOf(p.at), Astray: timeOf(p.astray)}
}

func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func timeOf(nanos int64) time.Time {
	if nanos == 0 {
		return time.Time{}
	}
	return time.Unix(0, nanos)
}

// New makes a watcher that watches nothing yet.
func New(o Options) *Watcher {
	if o.Rate <= 0 {
		o.Rate = DefaultRate
	}
	return &Watcher{
		opts: o, poke: make(chan struct{}, 1), names: map[key]*entry{}, owners: map[types.NamespacedName]*owner{},
		pace: pace{interval: time.Duration(float64(time.Second) / o.Rate)},
	}
}

// Watch looks at these names for an object from now on, and at no others. It costs little if they are the same as
// before.
func (w *Watcher) Watch(of types.NamespacedName, names []onboarding.Name) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	o := w.owners[of]
	if o == nil {
		if len(names) == 0 {
			return
		}
		o = &owner{key: of}
		w.owners[of] = o
	}
	before := o.names
	o.names = make([]*entry, 0, len(names))
	for _, n := range names {
		if e := w.claim(o, n); !slices.Contains(o.names, e) {
			o.names = append(o.names, e)
		}
	}
	for _, e := range before {
		if !slices.Contains(o.names, e) {
			w.release(o, e)
		}
	}
	if len(o.names) == 0 {
		delete(w.owners, of)
	}
	w.wake()
}

// Forget looks at no names for an object any more.
func (w *Watcher) Forget(of types.NamespacedName) { w.Watch(of, nil) }

// Refresh looks at the names of an object at once, if the last look was not just now.
func (w *Watcher) Refresh(of types.NamespacedName) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	o := w.owners[of]
	if o == nil {
		return
	}
	for _, e := range o.names {
		e.seenTold = 0 // a user is looking
		if e.again = e.place == inLook; !e.again {
			w.queue.put(e, waited, w.opts.Clock.Now())
		}
	}
	w.wake()
}

// Sight is what is seen of a name, as the objects that watch it were told: a zero one while it was not looked at.
func (w *Watcher) Sight(name string, targets []string) onboarding.Sight {
	if w == nil {
		return onboarding.Sight{}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if e := w.names[keyOf(name, targets)]; e != nil {
		s := e.sight.sight()
		s.Seen = slices.Clone(s.Seen)
		return s
	}
	return onboarding.Sight{}
}

// Stats are how many names lead which way.
func (w *Watcher) Stats() map[onboarding.Way]int {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	ways := map[onboarding.Way]int{}
	for e := range maps.Values(w.names) {
		ways[e.sight.way]++
	}
	return ways
}

// claim has an object watch a name.
func (w *Watcher) claim(o *owner, n onboarding.Name) *entry {
	k := keyOf(n.Name, n.Targets)
	e := w.names[k]
	if e == nil {
		e = &entry{key: k, place: unplaced}
		w.names[k] = e
	}
	now := claim{owner: o, live: n.Live, asked: nanos(n.Asked)}
	at := slices.IndexFunc(e.claims, func(c claim) bool { return c.owner == o })
	if at < 0 {
		e.claims = append(e.claims, now)
		w.expect(e, n)
		return e
	}
	before := e.claims[at]
	e.claims[at] = now
	if before.asked != now.asked || before.live && !now.live {
		w.expect(e, n)
	}
	return e
}

// expect has a name looked at soon that was asked for just now, unless it is looked at even sooner.
func (w *Watcher) expect(e *entry, n onboarding.Name) {
	now := w.opts.Clock.Now()
	due := n.First(now, w.opts.Random())
	if e.place == inLook || e.place >= 0 && e.due <= nanos(due) {
		return
	}
	in := rest
	if n.Fresh(now) {
		in = waited
	}
	w.queue.put(e, in, due)
}

// release ends what an object has to do with a name.
func (w *Watcher) release(o *owner, e *entry) {
	e.claims = slices.DeleteFunc(e.claims, func(c claim) bool { return c.owner == o })
	if len(e.claims) == 0 {
		w.queue.remove(e)
		delete(w.names, e.key)
	}
}

// wake has Start look what is due.
func (w *Watcher) wake() {
	select {
	case w.poke <- struct{}{}:
	default:
	}
}
