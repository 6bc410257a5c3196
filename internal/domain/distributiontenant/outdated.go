package distributiontenant

import (
	"time"
)

// outdatedFor is for how long after a change AWS may show a tenant as it was before it; lists were played with seven
// minutes. It ends because the clocks of AWS need not agree: a change by others that seems to be older than the last one
// that is known would otherwise never be seen.
const outdatedFor = 10 * time.Minute

// Outdated reports whether AWS shows the tenant as it was before the last change that is known of it. It then has domains
// that were taken from it since, which must not lead to CloudFront, and lacks those that it was given. Nothing is
// concluded from that, but records that are being deleted are removed whatever AWS shows.
func (in Input) Outdated(t Observed) bool {
	known := in.Memory.Modified
	if in.Attempts.Wrote.After(known) {
		known = in.Attempts.Wrote
	}
	return !in.Deleting && !t.Modified.IsZero() && t.Modified.Before(known) && in.Now.Sub(known) < outdatedFor
}

// Unstored is when the last own write changed the tenant, as long as status does not have that. It has whole seconds.
func (in Input) Unstored() time.Time {
	if wrote := in.Attempts.Wrote; wrote.Truncate(time.Second).After(in.Memory.Modified) {
		return wrote
	}
	return time.Time{}
}

// onceCertain ends a rest when names can be published that wait for that.
func (in judged) onceCertain(d Decision) Decision {
	if !in.publication.Doubted {
		return d
	}
	return within(in.Attempts.DoubtedFor(in.Now), d)
}
