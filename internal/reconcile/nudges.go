package reconcile

import (
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// NudgePause is the shortest time between two passes that annotations of one object ask for.
const NudgePause = 10 * time.Second

// Nudges bound what one object can cost whose annotations are changed in a loop: each such change asks for a pass at
// once, which may cost calls. The first change is acted on immediately, and so is every change of the spec and a deletion.
type Nudges struct {
	clock       clock.PassiveClock
	annotations []string

	mu   sync.Mutex
	last map[types.NamespacedName]nudge
}

// nudge is what the annotations asked for last.
type nudge struct {
	asked      string
	generation int64
	at         time.Time
	// putOff is set once another one had to wait.
	putOff bool
}

// NewNudges bounds passes that these annotations ask for.
func NewNudges(c clock.PassiveClock, annotations ...string) *Nudges {
	return &Nudges{clock: c, annotations: annotations, last: map[types.NamespacedName]nudge{}}
}

// wait is how long a pass over the object has to wait; zero if it need not.
func (n *Nudges) wait(o client.Object) time.Duration {
	if n == nil {
		return 0
	}
	key, now := client.ObjectKeyFromObject(o), nudge{asked: n.asked(o), generation: o.GetGeneration(), at: n.clock.Now()}
	n.mu.Lock()
	defer n.mu.Unlock()
	last, known := n.last[key]
	if now.asked == last.asked && !last.putOff {
		return 0
	}
	if pause := NudgePause - now.at.Sub(last.at); known && last.generation == now.generation && pause > 0 {
		// This may still be the earlier request: it waits as well.
		last.putOff = true
		n.last[key] = last
		return pause
	}
	n.last[key] = now
	return 0
}

func (n *Nudges) asked(o client.Object) string {
	values := make([]string, len(n.annotations))
	for i, name := range n.annotations {
		values[i] = o.GetAnnotations()[name]
	}
	return strings.Trim(strings.Join(values, "\x00"), "\x00")
}

// forget drops an object that is gone.
func (n *Nudges) forget(key types.NamespacedName) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.last, key)
}
