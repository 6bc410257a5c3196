package zone

import (
	"context"
	"sync"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// refusedFor is when a worker looks again whether there is an account that it can work with. The file of accounts is read
// about as often.
const refusedFor = 15 * time.Second

// zone is the worker of one zone. Its lock is never held during a call.
type zone struct {
	id   string
	at   dns.Provider
	opts *Options
	poke chan struct{}
	stop chan struct{}

	mu    sync.Mutex
	state *dns.ZoneState
}

func newZone(at dns.ZoneKey, o *Options) *zone {
	return &zone{
		id: at.ID, at: at.Provider, opts: o, poke: make(chan struct{}, 1), stop: make(chan struct{}),
		state: dns.NewZoneState(o.Providers().of(at.Provider).Traits(), o.Clock.Now()),
	}
}

// apply tells the state what has happened, and the observer what follows.
func (z *zone) apply(e dns.Event) dns.Effects {
	z.mu.Lock()
	effects := z.state.Apply(dns.Moment{Now: z.opts.Clock.Now(), Random: z.opts.Random()}, e)
	z.mu.Unlock()
	for range effects.Conflicts {
		z.opts.Observer.Conflict(z.at)
	}
	for _, took := range effects.Propagated {
		z.opts.Observer.Propagated(z.at, took)
	}
	if effects.Sooner {
		z.nudge()
	}
	return effects
}

// update tells the state what has happened, wakes whom that concerns, and returns the call that has to be made.
func (z *zone) update(e dns.Event) dns.Call {
	effects := z.apply(e)
	if len(effects.Woken) > 0 {
		z.opts.OnChange(effects.Woken)
	}
	return effects.Call
}

// due says what is due first, and when.
func (z *zone) due() (wait time.Duration, what dns.Job) {
	z.mu.Lock()
	defer z.mu.Unlock()
	// An account may have become usable, and tells only then what its provider can.
	z.state.Know(z.opts.Providers().of(z.at).Traits())
	now := z.opts.Clock.Now()
	at, what := z.state.Due(now)
	return at.Sub(now), what
}

// answer adds how the records of a claim stand to a view. While there is no account to look with, nothing is known of
// them: they may have changed since they were read, and nothing can be changed.
func (z *zone) answer(part dns.Claim, view *dns.View) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.state.Answer(part, view)
	refusal := z.opts.Providers().refusal(z.at)
	if refusal == nil {
		return
	}
	for _, r := range part.Wants {
		view.Records[r] = dns.Standing{Phase: dns.Unknown, Err: refusal}
	}
	for _, e := range part.Ledger {
		view.Records[e.Record] = dns.Standing{Phase: dns.Unknown, Err: refusal}
	}
}

// empty reports whether no object has a claim to the zone.
func (z *zone) empty() bool {
	z.mu.Lock()
	defer z.mu.Unlock()
	return z.state.Empty()
}

// nudge wakes the worker to look again what is due.
func (z *zone) nudge() {
	select {
	case z.poke <- struct{}{}:
	default:
	}
}

// run works until the context ends or the zone has no claims left.
func (z *zone) run(ctx context.Context) {
	for {
		timer := z.opts.Clock.NewTimer(z.step(ctx))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-z.stop:
			timer.Stop()
			return
		case <-z.poke:
		case <-timer.C():
		}
		timer.Stop()
	}
}

// step makes at most one call, whichever is due, and says how long the next step can wait. It
// never waits itself.
func (z *zone) step(ctx context.Context) time.Duration {
	if z.opts.Providers().refusal(z.at) != nil {
		// A call would fail, and its failure be remembered for longer than the account may be missing.
		return refusedFor
	}
	wait, what := z.due()
	if wait > 0 {
		return wait
	}
	if answer := z.perform(ctx, z.update(dns.Begun{Job: what})); answer != nil {
		z.update(answer)
	}
	return 0
}

// mark says whose call it is, and how urgent.
func (z *zone) mark(ctx context.Context, what string, class port.Class) context.Context {
	return port.WithCall(ctx, port.Call{Key: "zone/" + z.id + "/" + what, Class: class})
}
