package store

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

const (
	// gather is how long keys wait for others: long enough that a busy table costs ten hints a second, and not so long
	// that a change waits for it noticeably.
	gather = 100 * time.Millisecond
	// MostKeys is the most that one hint names. Reading more rows one by one costs more than reading the table.
	MostKeys = 100
)

// Hinter tells a sink of changes, many in one hint. A change that comes while others wait for their hint is told with
// them. It is safe for concurrent use.
type Hinter struct {
	sink port.HintSink

	mu sync.Mutex
	// keys wait for the next hint; any says that there are too many to name, or some without a name.
	keys map[string]struct{}
	any  bool
	// due is the next hint, nil if there is none.
	due    *time.Timer
	closed bool
}

// NewHinter returns a hinter for the time of one call of Listen.
func NewHinter(sink port.HintSink) *Hinter { return &Hinter{sink: sink, keys: map[string]struct{}{}} }

// Add takes the keys of rows that may have changed. No keys: any row may have changed.
func (h *Hinter) Add(keys ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, key := range keys {
		if !h.any {
			h.keys[key] = struct{}{}
		}
	}
	if len(keys) == 0 || len(h.keys) > MostKeys {
		h.any = true
		clear(h.keys)
	}
	if h.due == nil && !h.closed {
		h.due = time.AfterFunc(gather, h.tell)
	}
}

func (h *Hinter) tell() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return
	}
	// The keys are in order, so that the same changes make the same hint.
	h.sink.Hint(slices.Sorted(maps.Keys(h.keys))...)
	clear(h.keys)
	h.any, h.due = false, nil
}

// Close ends the hints: the sink is told nothing after it.
func (h *Hinter) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	if h.due != nil {
		h.due.Stop()
	}
}
