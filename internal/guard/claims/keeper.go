package claims

import (
	"context"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/claim"
)

// The pauses between two looks at the claims.
const (
	// keepEvery bounds how long a domain is served again before its claim is deleted.
	keepEvery = 10 * time.Minute
	// keepAgain is the pause after a failure.
	keepAgain = 30 * time.Second
)

// Start implements manager.Runnable: it keeps the claims until the context ends.
func (r *Registry) Start(ctx context.Context) error {
	timer := r.Clock.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C():
		case <-r.poke:
		}
		timer.Reset(r.Step(ctx))
	}
}

// wakeKeeper makes Start look at the claims at once.
func (r *Registry) wakeKeeper() {
	select {
	case r.poke <- struct{}{}:
	default:
	}
}

// Step deletes the claims that have ended and those whose domain is served again, and reports the others. It returns when
// to look again.
func (r *Registry) Step(ctx context.Context) time.Duration {
	next := keepEvery
	for _, c := range r.Claims() {
		removed, err := r.removeEnded(ctx, c.Domain)
		if err == nil && !removed && !c.Reported {
			err = r.Store.Report(ctx, c)
		}
		if err != nil {
			next = min(next, keepAgain)
			if r.Failed != nil {
				r.Failed(err)
			}
		}
		if err == nil && !removed && !c.Until.IsZero() {
			next = min(next, max(c.Until.Sub(r.Clock.Now()), time.Second))
		}
	}
	return next
}

// removeEnded deletes a claim that is not needed any more. It is forgotten before it is deleted, so that an object that
// releases the domain meanwhile stores it again, and waits for that until the deletion is over.
func (r *Registry) removeEnded(ctx context.Context, domain string) (bool, error) {
	r.writing.Lock()
	defer r.writing.Unlock()
	c, ended := r.forgetEnded(domain)
	if !ended {
		return false, nil
	}
	if err := r.Store.Remove(ctx, c); err != nil {
		r.change(func() (bool, []claim.Key) { return r.keep(c), nil })
		return false, err
	}
	r.change(func() (bool, []claim.Key) { return true, nil })
	return true, nil
}

// keep knows a claim again that could not be deleted, unless a newer version was seen meanwhile.
func (r *Registry) keep(c claim.Claim) bool {
	if _, seen := r.index.ClaimFor(c.Domain); seen {
		return false
	}
	return r.index.Claim(c)
}

func (r *Registry) forgetEnded(domain string) (claim.Claim, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, had := r.index.ClaimFor(domain)
	if !had || !c.Ended(r.Clock.Now()) && !r.index.Reclaimed(c) {
		return c, false
	}
	return c, r.index.Unclaim(c.Domain, c.UID)
}
