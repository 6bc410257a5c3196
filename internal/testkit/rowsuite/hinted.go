package rowsuite

import (
	"context"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// mostHeard is how many hints are kept that a test does not look at.
const mostHeard = 100

// Hinted is a port.HintSink that hands on what a stream tells.
type Hinted struct {
	// Listens is closed when every later change is told, and Keys are those of each hint.
	Listens chan struct{}
	Keys    chan []string
	// Ended takes what the listener ends with, if Listen has started it.
	Ended chan error
}

// NewHinted makes one for one call of Listen.
func NewHinted() *Hinted {
	return &Hinted{Listens: make(chan struct{}), Keys: make(chan []string, mostHeard), Ended: make(chan error, 1)}
}

// Ready implements port.HintSink.
func (h *Hinted) Ready() { close(h.Listens) }

// Hint implements port.HintSink.
func (h *Hinted) Hint(keys ...string) { h.Keys <- keys }

// Listen starts a listener, which ends with the context.
func Listen(ctx context.Context, hints port.Hints, q mapping.Query) *Hinted {
	h := NewHinted()
	go func() { h.Ended <- hints.Listen(ctx, q, h) }()
	return h
}
