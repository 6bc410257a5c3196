package publicdns

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/onboarding"
)

// Start looks at names until the context ends. It implements the manager's Runnable.
func (w *Watcher) Start(ctx context.Context) error {
	var looks sync.WaitGroup
	defer looks.Wait()
	for ctx.Err() == nil {
		e, wait := w.next()
		if e != nil {
			looks.Go(func() { w.look(ctx, e) })
			continue
		}
		timer := w.opts.Clock.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-w.poke:
		case <-timer.C():
		}
		timer.Stop()
	}
	return nil
}

// Step does what Start does next, alone: it looks at a name, or returns the time until there may be one.
func (w *Watcher) Step(ctx context.Context) time.Duration {
	e, wait := w.next()
	if e != nil {
		w.look(ctx, e)
	}
	return wait
}

// NeedLeaderElection says that only the active replica asks.
func (w *Watcher) NeedLeaderElection() bool { return true }

// next is the name to look at now, or the time until there may be one.
func (w *Watcher) next() (*entry, time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.opts.Clock.Now()
	e := w.queue.due(now)
	switch wait := w.pace.wait(now); {
	case w.looking == atOnce:
		return nil, time.Hour // the end of a look wakes
	case e == nil:
		return nil, w.queue.next(now)
	case wait > 0:
		return nil, wait
	}
	w.queue.take(e)
	w.pace.spend(now)
	w.looking++
	e.looked = nanos(now)
	return e, 0
}

// look looks at one name and tells its owners if they have to know.
func (w *Watcher) look(ctx context.Context, e *entry) {
	short, cancel := context.WithTimeout(ctx, lookTime)
	shown := w.opts.Guide.Where(short, e.name, strings.Fields(e.targets.Value()))
	cancel()
	if ctx.Err() != nil {
		return // it may be silent for that reason only
	}
	shown.At = w.opts.Clock.Now()
	if owners := w.learn(e, shown); len(owners) > 0 {
		w.opts.OnChange(ctx, owners)
	}
	w.mu.Lock()
	w.looking--
	w.mu.Unlock()
	w.wake()
}

// learn keeps what a look has shown, and returns the objects to tell.
func (w *Watcher) learn(e *entry, shown onboarding.Sight) (tell []types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	e.place = unplaced
	if len(e.claims) == 0 {
		return nil // it was forgotten meanwhile
	}
	live := slices.ContainsFunc(e.claims, func(c claim) bool { return c.live })
	before := e.sight.sight()
	after := onboarding.Name{Live: live}.Then(before, shown)
	news := before.Way != after.Way && !disagree(before, after) || after.Lost() && !before.Lost()
	if !news && !after.Same(before) {
		if news = e.seenTold == 0 || shown.At.Sub(timeOf(e.seenTold)) >= retell; news {
			e.seenTold = nanos(shown.At)
		} else {
			after.Way, after.Seen, after.Since = before.Way, before.Seen, before.Since
		}
	}
	e.sight = pack(after)
	w.schedule(e, after, shown.At)
	if news {
		for _, c := range e.claims {
			tell = append(tell, c.owner.key)
		}
	}
	return tell
}

// disagree reports whether two sights differ because the resolvers do, or because name servers fail now and then, and may
// alternate from look to look.
func disagree(before, after onboarding.Sight) bool {
	return after.Way == onboarding.Failing && before.Way.Known() || before.Way == onboarding.Partly && after.Way.Astray() || before.Way.Astray() && after.Way == onboarding.Partly
}

// schedule says when a name is looked at again: as soon as one of its owners wants.
func (w *Watcher) schedule(e *entry, known onboarding.Sight, now time.Time) {
	if e.again {
		e.again = false
		w.queue.put(e, waited, now)
		return
	}
	known.At = now // silence is a look, too
	pause, in := time.Duration(0), rest
	for i, c := range e.claims {
		if p := c.name().Pause(known); i == 0 || p < pause {
			pause = p
		}
		if c.name().Fresh(now) {
			in = fresh
		}
	}
	pause -= time.Duration(w.opts.Random() * spread * float64(pause))
	w.queue.put(e, in, now.Add(pause))
}

// spread is by which part of a pause a look may be earlier, so that names that came together part.
const spread = 0.1
