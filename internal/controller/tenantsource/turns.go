package tenantsource

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/semaphore"
)

// How many calls to state tables are made at the same time, and how many of them for one namespace: a database that hangs holds
// its slot for most of a minute.
const (
	stateSlots      = 8
	namespacesSlots = 2
)

// stateTurns give out the turns of calls to state tables.
type stateTurns struct {
	all *semaphore.Weighted

	mu          sync.Mutex
	ofNamespace map[string]*semaphore.Weighted
}

func newStateTurns() *stateTurns {
	return &stateTurns{all: semaphore.NewWeighted(stateSlots), ofNamespace: map[string]*semaphore.Weighted{}}
}

// enter waits for a turn, first among the tables of the namespace and then among all.
func (t *stateTurns) enter(ctx context.Context, namespace string) (leave func(), err error) {
	t.mu.Lock()
	own := t.ofNamespace[namespace]
	if own == nil {
		own = semaphore.NewWeighted(namespacesSlots)
		t.ofNamespace[namespace] = own
	}
	t.mu.Unlock()
	if err := own.Acquire(ctx, 1); err != nil {
		return nil, fmt.Errorf("waiting for other state tables of the namespace: %w", err)
	}
	if err := t.all.Acquire(ctx, 1); err != nil {
		own.Release(1)
		return nil, fmt.Errorf("waiting for other state tables: %w", err)
	}
	return func() { t.all.Release(1); own.Release(1) }, nil
}
