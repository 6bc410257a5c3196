// Package loss is the one place through which all deletions pass, and all changes that do as much harm: it sees the
// whole of a burst in the caches, has it judged, stores the outcome, and wakes the objects that wait for it.
package loss

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/loss"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// Class is a kind of object that the breaker watches over.
type Class struct {
	Name  loss.Class
	Words loss.Words
	// List returns how many objects live in each namespace, and the deletions that wait.
	List func(ctx context.Context) (loss.Counts, []loss.Item, error)
	// Wake queues objects.
	Wake func(ctx context.Context, keys ...types.NamespacedName)
}

// Options configure the breaker.
type Options struct {
	Policy      loss.Policy
	Store       port.DeletionStore
	Clock       clock.WithTicker
	Annotations loss.Annotations
	// Began is told of every plan that is held, with what its members say. It may be nil.
	Began func(ctx context.Context, h loss.Hold, text string)
	// Gather is how long asking is gathered before all caches are looked through.
	Gather time.Duration
}

// Breaker answers the passes of all kinds. A nil one clears everything.
type Breaker struct {
	Options

	classes map[loss.Class]Class
	poke    chan struct{}
	// began is when the process did.
	began time.Time

	// storing is held while the memory is read, judged and stored.
	storing sync.Mutex
	stored  port.Deletions
	loaded  bool

	mu                 sync.Mutex
	cleared, abandoned map[loss.Key]struct{}
	names              map[loss.Key]struct{}
	held               map[loss.Key]string
	// told are the answers for which the waiting objects were last woken.
	told  map[loss.Key]loss.Answer
	holds []loss.Hold
	// members counts by plan what the last judgement held.
	members map[string]int
	// changes are those that passes have asked for, by the UID of the object, and withdrawn those that they no longer do.
	changes   map[string]loss.Item
	withdrawn map[loss.Key]struct{}
	// closed says why nothing is cleared. Empty: the breaker works.
	closed string
}

// New makes a breaker. Classes are added before it starts.
func New(o Options) *Breaker {
	return &Breaker{
		Options: o, classes: map[loss.Class]Class{}, poke: make(chan struct{}, 1), changes: map[string]loss.Item{}, began: o.Clock.Now(), withdrawn: map[loss.Key]struct{}{},
	}
}

// Add adds a class.
func (b *Breaker) Add(c Class) {
	if b != nil {
		b.classes[c.Name] = c
	}
}

// Watches reports whether deletions of the class need an answer.
func (b *Breaker) Watches(class loss.Class) bool {
	if b == nil {
		return false
	}
	_, watched := b.Policy.Budgets[class]
	return watched
}

// Ask returns what the item may do. One that has to wait is woken when that changes.
func (b *Breaker) Ask(i loss.Item) loss.Answer {
	if !b.Watches(i.Class) {
		return loss.Answer{State: loss.Go}
	}
	key := i.Key()
	b.mu.Lock()
	defer b.mu.Unlock()
	if i.Harm != "" {
		if had, asked := b.changes[i.UID]; !asked || had.Key() != key || had.Approval != i.Approval {
			if asked && had.Key() == key {
				i.Since = had.Since
			}
			b.changes[i.UID] = i
			delete(b.withdrawn, key)
			b.nudge()
		}
	}
	if i.Approval != "" || i.Abandonment != "" {
		b.nudge()
	}
	if a, decided := b.answer(i); decided {
		return a
	}
	b.nudge()
	if b.closed != "" {
		return loss.Answer{State: loss.Held, Message: fmt.Sprintf(
			"No deletion can be judged, so nothing is deleted: %s. Look at the ConfigMap %s/%s, and at the operator's rights to read and write it.",
			b.closed, b.Annotations.Namespace, b.Annotations.ConfigMap)}
	}
	return loss.Answer{State: loss.Waiting}
}

// answer needs the lock.
func (b *Breaker) answer(i loss.Item) (loss.Answer, bool) {
	key := i.Key()
	if i.In(b.cleared) {
		return loss.Answer{State: loss.Go}, true
	}
	if _, stays := b.abandoned[key]; stays {
		return loss.Answer{State: loss.Stay}, true
	}
	if text, held := b.held[key]; held {
		return loss.Answer{State: loss.Held, Message: text}, true
	}
	return loss.Answer{}, false
}

// Withdraw takes back the change that an object has asked for: it was made, or is not wanted any more.
func (b *Breaker) Withdraw(uid string) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if i, asked := b.changes[uid]; asked {
		delete(b.changes, uid)
		if b.Clock.Since(b.began) < grownUp {
			b.withdrawn[i.Key()] = struct{}{}
		}
		b.nudge()
	}
}

// Rescued reports whether an object of that name was deleted a while ago and left its resource in AWS.
func (b *Breaker) Rescued(class loss.Class, namespace, name string) bool {
	if b == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	_, rescued := b.names[loss.NameKey(class, namespace, name)]
	return rescued
}

// Approve stores that a user has approved these deletions elsewhere. They are not held.
func (b *Breaker) Approve(ctx context.Context, items []loss.Item) error {
	if b == nil || len(items) == 0 {
		return nil
	}
	b.storing.Lock()
	defer b.storing.Unlock()
	if err := b.load(ctx); err != nil {
		return err
	}
	m, changed := b.stored.Memory.WithApproved(b.Clock.Now(), items)
	if !changed {
		return nil
	}
	return b.save(ctx, m)
}

// Holds are the plans that wait for an administrator. Each counts what it holds now, which gets less when members are
// restored.
func (b *Breaker) Holds() []loss.Hold {
	b.mu.Lock()
	defer b.mu.Unlock()
	holds := slices.Clone(b.holds)
	for i := range holds {
		if n, judged := b.members[holds[i].Plan]; judged {
			holds[i].Count = n
		}
	}
	return holds
}

// Changed is called when the store shows another version.
func (b *Breaker) Changed(version string) {
	b.storing.Lock()
	if b.stored.Version != version {
		b.loaded = false
	}
	b.storing.Unlock()
	b.nudge()
}

func (b *Breaker) nudge() {
	select {
	case b.poke <- struct{}{}:
	default:
	}
}

// NeedLeaderElection says that only the replica that works judges.
func (b *Breaker) NeedLeaderElection() bool { return true }

// tryAgain is the pause after a judgement that failed.
const tryAgain = 5 * time.Second

// Start judges whenever something asks, until the context ends. The manager calls it after its caches are filled.
func (b *Breaker) Start(ctx context.Context) error {
	b.nudge()
	for b.wait(ctx, b.Step(ctx)) {
	}
	return nil
}

// Step judges once, and returns when to do so again. Zero: when something asks.
func (b *Breaker) Step(ctx context.Context) time.Duration {
	next, err := b.judge(ctx)
	switch {
	case errors.Is(err, port.ErrStale):
		return time.Millisecond
	case err != nil && ctx.Err() == nil:
		ctrl.Log.WithName("breaker").Error(err, "Deletions can't be judged, so nothing is deleted")
		return tryAgain
	}
	return next
}

// wait returns when it is time to judge. Zero waits until something asks.
func (b *Breaker) wait(ctx context.Context, next time.Duration) bool {
	var due <-chan time.Time
	if next > 0 {
		timer := b.Clock.NewTimer(next)
		defer timer.Stop()
		due = timer.C()
	}
	select {
	case <-ctx.Done():
		return false
	case <-due:
		return true
	case <-b.poke:
	}
	gather := b.Clock.NewTimer(max(b.Gather, time.Millisecond))
	defer gather.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-gather.C():
	}
	return true
}

// judge looks at everything once, and returns when to look again.
func (b *Breaker) judge(ctx context.Context) (time.Duration, error) {
	b.storing.Lock()
	defer b.storing.Unlock()
	if err := b.load(ctx); err != nil {
		return 0, err
	}
	world, err := b.world(ctx)
	if err != nil {
		return 0, b.close(err)
	}
	v := loss.Judge(b.Policy, b.stored.Memory, world)
	if v.Changed {
		if err := b.save(ctx, v.Memory); err != nil {
			return 0, err
		}
	}
	texts := map[string]string{}
	for _, h := range v.Held {
		if texts[h.Plan] == "" {
			texts[h.Plan] = h.Text(b.classes[h.Class].Words, b.Annotations)
		}
	}
	b.publish(ctx, v, world.Waiting, texts)
	for _, h := range v.Began {
		if b.Began != nil {
			b.Began(ctx, *h, texts[h.Plan])
		}
	}
	if v.Wake.IsZero() {
		return 0, nil
	}
	return max(v.Wake.Sub(b.Clock.Now()), time.Millisecond), nil
}

// load reads the memory if it is not known; again also after it was changed by another.
func (b *Breaker) load(ctx context.Context) error {
	if b.loaded {
		return nil
	}
	stored, err := b.Store.Load(ctx)
	if err != nil {
		return b.close(fmt.Errorf("reading the memory of the deletion budget: %w", err))
	}
	b.stored, b.loaded = stored, true
	b.remember(stored.Memory)
	return nil
}

// save stores the memory before anything is done on the strength of it. After an error it is unknown what is stored.
func (b *Breaker) save(ctx context.Context, m loss.Memory) error {
	version, err := b.Store.Save(ctx, m, b.stored.Version)
	if err != nil {
		b.loaded = false
		if errors.Is(err, port.ErrStale) {
			return err
		}
		return b.close(fmt.Errorf("storing the memory of the deletion budget: %w", err))
	}
	b.stored.Memory, b.stored.Version = m, version
	b.remember(m)
	return nil
}

// remember takes over what is stored.
func (b *Breaker) remember(m loss.Memory) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cleared, b.abandoned = m.Decided()
	b.names, b.holds = m.Names(), m.Holds
}

// close lets nothing be cleared from now on, because of the error, which it returns.
func (b *Breaker) close(err error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = err.Error()
	return err
}

// grownUp is the age of a process in which every object had a pass.
const grownUp = 15 * time.Minute

// world looks through the caches.
func (b *Breaker) world(ctx context.Context) (loss.World, error) {
	w := loss.World{
		Now: b.Clock.Now(), Living: map[loss.Class]loss.Counts{},
		Approved: b.stored.Approved, Abandoned: b.stored.Abandoned, Young: b.Clock.Since(b.began) < grownUp,
	}
	for name, c := range b.classes {
		living, waiting, err := c.List(ctx)
		if err != nil {
			return w, fmt.Errorf("listing the %s: %w", c.Words.Many, err)
		}
		w.Living[name] = living
		w.Waiting = append(w.Waiting, waiting...)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, i := range b.changes {
		w.Waiting = append(w.Waiting, i)
	}
	w.Withdrawn = maps.Clone(b.withdrawn)
	return w, nil
}

// publish gives all waiting objects their answer, and wakes those whose answer has changed.
func (b *Breaker) publish(ctx context.Context, v loss.Verdict, waiting []loss.Item, texts map[string]string) {
	wake := map[loss.Class][]types.NamespacedName{}
	b.mu.Lock()
	before := b.told
	b.closed = ""
	b.held, b.told, b.members = map[loss.Key]string{}, map[loss.Key]loss.Answer{}, map[string]int{}
	for key, h := range v.Held {
		b.held[key] = texts[h.Plan]
		b.members[h.Plan]++
	}
	for _, i := range waiting {
		key := i.Key()
		now, _ := b.answer(i)
		b.told[key] = now
		if now != before[key] {
			wake[i.Class] = append(wake[i.Class], types.NamespacedName{Namespace: i.Namespace, Name: i.Name})
		}
	}
	b.mu.Unlock()
	for class, keys := range wake {
		b.classes[class].Wake(ctx, keys...)
	}
}
