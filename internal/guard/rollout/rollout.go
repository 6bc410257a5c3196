// Package rollout gives all changes of what customers are served with their turn: it asks the order
// of domain/rollout for the passes that come, and wakes those whose turn has come since.
package rollout

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/rollout"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// Options configure the order.
type Options struct {
	Clock clock.WithTicker
	// Default is the policy of all objects whose source has none.
	Default rollout.Limits
	// SourceOf is the TenantSource of an object with such labels, and Source the one of that name, if it has a rollout. They
	// may be nil.
	SourceOf func(ctx context.Context, labels map[string]string) (Source, bool)
	Source   func(ctx context.Context, key types.NamespacedName) (Source, bool)
	// Fleet looks through the cache: for those that ask for what the changes lead to and were given it lately, and for canaries
	// of the source that are about to ask. It may be nil.
	Fleet func(ctx context.Context, source string, changes []resource.Difference) []rollout.Known
	// Wake queues tenants, WakeSource a TenantSource whose figures have changed; it may be nil.
	Wake       func(ctx context.Context, keys ...types.NamespacedName)
	WakeSource func(ctx context.Context, source types.NamespacedName)
	// Stopped is told of every change that stops because too many tenants failed. It may be nil.
	Stopped func(ctx context.Context, g rollout.Group)
	// Release is the end of a message, which says how to let the rest of a group continue at once. It may be nil.
	Release func(group string) string
	// Gather is how long asking is gathered before the order is looked through.
	Gather time.Duration
}

// Source is what a TenantSource says of rollouts.
type Source struct {
	Key    types.NamespacedName
	Limits rollout.Limits
	// Canaries are the labels of those that come first.
	Canaries map[string]string
}

// canary reports whether an object with such labels comes first.
func (s Source) canary(labels map[string]string) bool {
	for key, value := range s.Canaries {
		if have, ok := labels[key]; !ok || have != value {
			return false
		}
	}
	return len(s.Canaries) > 0
}

// Rollouts answers the passes of all tenants. A nil one lets everything continue.
type Rollouts struct {
	Options

	poke chan struct{}
	// began is when the process did.
	began time.Time

	mu    sync.Mutex
	order *rollout.Order
	// dirty says that something has changed since the order was last looked through, and due when it has to be whatever
	// happens.
	dirty bool
	due   time.Time
	// changes are what the objects ask for whose turn has not come.
	changes map[string][]resource.Difference
	// groups are as they were last looked through.
	groups []rollout.Group
	// released are the groups that an administrator has named.
	released []string
}

// New makes an order in which nothing waits.
func New(o Options) *Rollouts {
	return &Rollouts{Options: o, poke: make(chan struct{}, 1), began: o.Clock.Now(), order: rollout.NewOrder(), changes: map[string][]resource.Difference{}}
}

// Spreads reports whether changes have to be asked about.
func (r *Rollouts) Spreads() bool { return r != nil }

// Ask says whether it is the turn of an object with such labels. One that has to wait is woken when it is.
func (r *Rollouts) Ask(ctx context.Context, labels map[string]string, a rollout.Ask, changes []resource.Difference) distributiontenant.Turn {
	now, p := r.Clock.Now(), rollout.Policy{Limits: r.Default}
	if r.SourceOf != nil {
		if source, has := r.SourceOf(ctx, labels); has {
			p, a.Canary = rollout.Policy{Source: source.Key.String(), Limits: source.Limits}, source.canary(labels)
		}
	}
	var known []rollout.Known
	r.mu.Lock()
	begins := r.order.Begins(p, a)
	r.mu.Unlock()
	// Objects that a previous process has released may still be on their way, and canaries come first.
	young, canaries := now.Sub(r.began) < rollout.InFlightAtMost, p.Strict && p.Canaries == 0
	if r.Fleet != nil && begins && (young || canaries) {
		known = slices.DeleteFunc(r.Fleet(ctx, p.Source, changes), func(k rollout.Known) bool { return k.UID == a.UID })
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	answer := r.order.Ask(now, p, a, known...)
	turn := distributiontenant.Turn{Answer: answer, Values: a.Values}
	if answer.Go {
		delete(r.changes, a.UID)
	} else {
		r.changes[a.UID] = changes
	}
	if !answer.Go && r.Release != nil {
		turn.Release = r.Release(answer.Group)
	}
	r.nudge()
	return turn
}

// Going is the answer to an object that had its turn before, if it had. Without it, each pass would begin by reverting
// what the previous one has begun.
func (r *Rollouts) Going(uid string) (turn distributiontenant.Turn, known bool) {
	if r == nil {
		return turn, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	turn.Values, turn.Go = r.order.Going(uid)
	return turn, turn.Go
}

// Tell takes what a pass has found out about an object.
func (r *Rollouts) Tell(uid string, told rollout.Outcome) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.order.Tell(uid, told) {
		r.nudge()
	}
}

// Forget takes out an object that is gone, or is being deleted.
func (r *Rollouts) Forget(uid string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.changes, uid)
	if r.order.Forget(uid) {
		r.nudge()
	}
}

// Released takes the names of the groups that an administrator lets continue at once.
func (r *Rollouts) Released(names []string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.released = names; r.order.Release(names) {
		r.nudge()
	}
}

// Changed is called when the rollout of a source may be another one.
func (r *Rollouts) Changed() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.nudge()
}

// Progress is how far the changes of the objects of a source have come. It is false where this process has seen none.
func (r *Rollouts) Progress(source types.NamespacedName) (rollout.Rollout, bool) {
	if r == nil {
		return rollout.Rollout{}, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return rollout.Sum(r.order.Groups(), source.String())
}

// Groups are all changes that are on their way, or were, as far as that is shown.
func (r *Rollouts) Groups() []rollout.Group {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.order.Groups()
}

// nudge needs the lock.
func (r *Rollouts) nudge() {
	r.dirty = true
	select {
	case r.poke <- struct{}{}:
	default:
	}
}

// NeedLeaderElection says that only the replica that works has passes.
func (r *Rollouts) NeedLeaderElection() bool { return true }

// Start gives turns until the context ends.
func (r *Rollouts) Start(ctx context.Context) error {
	for {
		timer := r.Clock.NewTimer(r.Step(ctx))
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C():
		case <-r.poke:
			timer.Stop()
			gather := r.Clock.NewTimer(max(r.Gather, time.Millisecond))
			select {
			case <-ctx.Done():
				gather.Stop()
				return nil
			case <-gather.C():
			}
		}
	}
}

// keyOf reads back the name of a source.
func keyOf(source string) types.NamespacedName {
	namespace, name, _ := strings.Cut(source, "/")
	return types.NamespacedName{Namespace: namespace, Name: name}
}

// quiet is when to look through the order at the latest.
const quiet = 10 * time.Minute

// Step looks through the order once if something has happened, or is due. It returns when to look again.
func (r *Rollouts) Step(ctx context.Context) time.Duration {
	now := r.Clock.Now()
	r.mu.Lock()
	if !r.dirty && (r.due.IsZero() || now.Before(r.due)) {
		defer r.mu.Unlock()
		return r.wait(now)
	}
	r.dirty = false
	sources := r.order.Sources()
	r.mu.Unlock()
	r.bound(ctx, sources)
	r.look(ctx)

	r.mu.Lock()
	r.order.Release(r.released)
	turns, again := r.order.Advance(now)
	r.due = time.Time{}
	if again > 0 {
		r.due = now.Add(again)
	}
	before, after := r.groups, r.order.Groups()
	r.groups = after
	wait := r.wait(now)
	r.mu.Unlock()
	r.report(ctx, before, after)
	keys := make([]types.NamespacedName, len(turns))
	for i, turn := range turns {
		keys[i] = types.NamespacedName{Namespace: turn.Namespace, Name: turn.Name}
	}
	if len(keys) > 0 {
		r.Wake(ctx, keys...)
	}
	return wait
}

// wait needs the lock.
func (r *Rollouts) wait(now time.Time) time.Duration {
	if r.due.IsZero() {
		return quiet
	}
	return max(r.due.Sub(now), time.Millisecond)
}

// bound takes over the limits that the sources have now.
func (r *Rollouts) bound(ctx context.Context, sources []string) {
	for _, source := range sources {
		if source == "" || r.Source == nil {
			continue
		}
		p := rollout.Policy{Source: source, Limits: r.Default}
		now, has := r.Source(ctx, keyOf(source))
		if has {
			p.Limits = now.Limits
		}
		r.mu.Lock()
		r.order.Bound(p)
		if !has {
			r.order.Drop(source)
		}
		r.mu.Unlock()
	}
}

// look finds out which objects have the values already that several wait for.
func (r *Rollouts) look(ctx context.Context) {
	for r.Fleet != nil {
		r.mu.Lock()
		uid, source, found := r.order.Unlooked()
		changes := r.changes[uid]
		r.mu.Unlock()
		if !found {
			return
		}
		known := r.Fleet(ctx, source, changes)
		r.mu.Lock()
		r.order.Know(r.Clock.Now(), uid, known)
		r.mu.Unlock()
	}
}

// report tells of what has stopped, and wakes the sources whose figures have changed.
func (r *Rollouts) report(ctx context.Context, before, after []rollout.Group) {
	for _, g := range after {
		was := slices.ContainsFunc(before, func(b rollout.Group) bool { return b.Name == g.Name && b.Stopped })
		if g.Stopped && !was && r.Stopped != nil {
			r.Stopped(ctx, g)
		}
	}
	if r.WakeSource == nil {
		return
	}
	sources := map[string]bool{}
	for _, g := range slices.Concat(before, after) {
		if g.Source != "" && !sources[g.Source] {
			sources[g.Source] = true
			a, _ := rollout.Sum(before, g.Source)
			b, _ := rollout.Sum(after, g.Source)
			if !reflect.DeepEqual(a, b) {
				r.WakeSource(ctx, keyOf(g.Source))
			}
		}
	}
}
