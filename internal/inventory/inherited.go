package inventory

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/retry"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// The pace at which objects are woken because of a certificate. A renewed one can be that of ten thousand tenants, each of
// which then writes its status: all of them take a quarter of an hour.
const (
	wokenAtOnce = 50
	wakePause   = 5 * time.Second
)

// inherited looks at the certificates of the distributions from which tenants inherit theirs, a call or two for each
// distribution and none for a tenant, and at those of Distribution objects, a call for each certificate.
type inherited struct {
	// distributions and certificates are still to be read, in this round or before it.
	distributions, certificates []string
	round                       bool
	next                        time.Time
}

// watchInherited makes at most one call, and says how long the next step can wait.
func (e *Expiry) watchInherited(ctx context.Context) time.Duration {
	if e.opts.References == nil {
		return expiryInterval
	}
	r := &e.inherited
	if !r.round && len(r.certificates) == 0 {
		if wait := e.begin(); wait > 0 {
			return wait
		}
	}
	ctx = port.WithCall(ctx, port.Call{Key: "certificates", Class: port.Sweep})
	switch {
	case len(r.distributions) > 0:
		d, err := e.opts.References.Distribution(ctx, r.distributions[0])
		if wait := fault.RetryAfter(err); wait > 0 {
			return wait
		}
		if arn := d.CertificateARN; err == nil && arn != "" && !slices.Contains(r.certificates, arn) {
			r.certificates = append(r.certificates, arn)
		}
		// A certificate that can't be read now is read in the next round.
		r.distributions = r.distributions[1:]
		return 0
	case len(r.certificates) > 0:
		_, err := e.opts.References.Certificate(ctx, r.certificates[0])
		if wait := fault.RetryAfter(err); wait > 0 {
			return wait
		}
		r.certificates = r.certificates[1:]
		return 0
	}
	pause := retry.Jitter(expiryInterval, e.opts.Random())
	r.round, r.next = false, e.opts.Clock.Now().Add(pause)
	e.announce()
	return pause
}

// begin chooses what to read: all of it once an hour, and meanwhile certificates that a distribution has asked for since.
func (e *Expiry) begin() time.Duration {
	r, now, shown := &e.inherited, e.opts.Clock.Now(), e.opts.References.shown
	if wait := r.next.Sub(now); wait > 0 {
		if r.certificates = shown.unread(); len(r.certificates) > 0 {
			return 0
		}
		return min(wait, expiryGlance)
	}
	if e.opts.Inventory.Stats().LastSweep.IsZero() {
		return expiryGlance
	}
	r.distributions, r.certificates, r.round = e.inheritedFrom(), shown.toWatch(now), true
	return 0
}

// announce queues the tenants whose certificate is not as it was.
func (e *Expiry) announce() {
	if e.opts.References == nil {
		return
	}
	certificates, distributions := e.opts.References.shown.news()
	if len(certificates)+len(distributions) == 0 {
		return
	}
	e.unaware = slices.Compact(slices.Sorted(slices.Values(append(e.unaware, e.servingWith(certificates, distributions)...))))
}

// rouse wakes the next few of them.
func (e *Expiry) rouse() time.Duration {
	if len(e.unaware) == 0 {
		return expiryInterval
	}
	if wait := e.nextWake.Sub(e.opts.Clock.Now()); wait > 0 {
		return wait
	}
	n := min(len(e.unaware), wokenAtOnce)
	e.opts.Inventory.opts.OnChange(e.unaware[:n:n])
	e.unaware, e.nextWake = e.unaware[n:], e.opts.Clock.Now().Add(wakePause)
	return wakePause
}

// inheritedFrom are the distributions of the tenants that have no certificate of their own, sorted.
func (e *Expiry) inheritedFrom() []string {
	ids := map[string]bool{}
	for _, t := range e.opts.Inventory.all {
		if t.certificate() == "" && t.distribution != "" {
			ids[t.distribution] = true
		}
	}
	return slices.Sorted(maps.Keys(ids))
}

// servingWith are the tenants that have one of the certificates, or none and one of the distributions.
func (e *Expiry) servingWith(certificates, distributions map[string]bool) []string {
	return e.opts.Inventory.names(func(t facts) bool {
		arn := t.certificate()
		return certificates[arn] || arn == "" && distributions[t.distribution]
	})
}
