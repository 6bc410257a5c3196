package zone

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
)

// rest is how long a step can wait at most.
const rest = time.Hour

// Step does what Start does with a goroutine for each zone, for callers who play the time
// themselves: every zone makes one step, and the answer is how long the next can wait.
func (z *Zones) Step(ctx context.Context) time.Duration {
	z.mu.Lock()
	var all []*zone
	for _, id := range slices.SortedFunc(maps.Keys(z.zones), dns.ZoneKey.Compare) {
		all = append(all, z.zones[id])
	}
	z.mu.Unlock()
	next := rest
	for _, w := range all {
		next = min(next, w.step(ctx))
	}
	return next
}
