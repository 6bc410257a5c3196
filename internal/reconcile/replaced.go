package reconcile

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// replacedDelay is after how long an object is looked at again that the cache shows as it was before the last write. A
	// watch usually brings a write within milliseconds.
	replacedDelay = 50 * time.Millisecond
	// replacedFor is how long a version is remembered at least. A watch that takes longer hangs, and the lock of the next
	// write refuses what is decided on an old version anyway.
	replacedFor = 10 * time.Second
)

// Replaced remembers the versions of objects that were just replaced by writes of the driver. A pass over such a version would
// decide on an old status, and its own write would be refused: an object whose children wake it is usually reconciled
// again before its cache has the status that was just stored.
type Replaced struct {
	clock clock.PassiveClock

	mu sync.Mutex
	// Versions leave in two turns, so that none has to be looked for.
	recent, former map[version]struct{}
	turned         time.Time
}

// version is one version of one object.
type version struct {
	uid             types.UID
	resourceVersion string
}

// NewReplaced remembers nothing yet.
func NewReplaced(c clock.PassiveClock) *Replaced {
	return &Replaced{clock: c, recent: map[version]struct{}{}, turned: c.Now()}
}

// note takes the version that a write was based on, and the object as the write left it. A write that the API server takes for
// none makes no new version.
func (r *Replaced) note(base, now client.Object) {
	if base.GetResourceVersion() != now.GetResourceVersion() {
		r.add(versionOf(base))
	}
}

// add takes a version that is over.
func (r *Replaced) add(v version) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turn()
	r.recent[v] = struct{}{}
}

// has reports whether the version of the object was replaced not long ago.
func (r *Replaced) has(o client.Object) bool {
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turn()
	v := versionOf(o)
	_, recent := r.recent[v]
	_, former := r.former[v]
	return recent || former
}

func (r *Replaced) turn() {
	switch now := r.clock.Now(); {
	case now.Sub(r.turned) >= 2*replacedFor:
		r.recent, r.former, r.turned = map[version]struct{}{}, nil, now
	case now.Sub(r.turned) >= replacedFor:
		r.recent, r.former, r.turned = map[version]struct{}{}, r.recent, now
	}
}

func versionOf(o client.Object) version {
	return version{o.GetUID(), o.GetResourceVersion()}
}
