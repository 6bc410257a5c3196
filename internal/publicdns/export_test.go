package publicdns

import (
	"context"
	"time"
)

// Step does what Start does next, alone: it looks at a name, or returns the time until there may be one.
func (w *Watcher) Step(ctx context.Context) time.Duration {
	e, wait := w.next()
	if e != nil {
		w.look(ctx, e)
	}
	return wait
}
