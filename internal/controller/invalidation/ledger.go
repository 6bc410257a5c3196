package invalidation

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/invalidation"
)

// countedFor is how long the requests of an object count.
const countedFor = 24 * time.Hour

// ledger has the requests of each namespace's objects in the last 24 hours, also of objects that were deleted since
// this process began. Without it two objects could take the same room, and one that is deleted would give its room
// back.
type ledger struct {
	mu    sync.Mutex
	spent map[string]map[types.UID]invalidation.Spend
}

func newLedger() *ledger { return &ledger{spent: map[string]map[types.UID]invalidation.Spend{}} }

// note remembers what an object has requested by its status.
func (l *ledger) note(namespace string, uid types.UID, s invalidation.Spend) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.put(namespace, uid, s)
}

// put needs the lock.
func (l *ledger) put(namespace string, uid types.UID, s invalidation.Spend) {
	if s.Paths == 0 {
		return
	}
	if l.spent[namespace] == nil {
		l.spent[namespace] = map[types.UID]invalidation.Spend{}
	}
	l.spent[namespace][uid] = s
}

// others are what the other objects of a namespace have requested.
func (l *ledger) others(namespace string, uid types.UID, now time.Time) []invalidation.Spend {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.counted(namespace, uid, now)
}

// counted needs the lock.
func (l *ledger) counted(namespace string, uid types.UID, now time.Time) (out []invalidation.Spend) {
	for id, s := range l.spent[namespace] {
		switch {
		case !s.At.Add(countedFor).After(now):
			delete(l.spent[namespace], id)
		case id != uid:
			out = append(out, s)
		}
	}
	if len(l.spent[namespace]) == 0 {
		delete(l.spent, namespace)
	}
	return out
}

// reserve takes the room of an object if nothing has taken it since it was decided that there is enough.
func (l *ledger) reserve(namespace string, uid types.UID, s invalidation.Spend, known int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := 0
	for _, other := range l.counted(namespace, uid, s.At) {
		now += other.Paths
	}
	if now > known {
		return false
	}
	l.put(namespace, uid, s)
	return true
}
