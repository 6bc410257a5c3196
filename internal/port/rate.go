package port

import (
	"context"
	"sync"
	"time"
)

// Class is the priority of a call to AWS: calls that users wait for go before calls that only keep watch.
type Class int

// The classes, the most urgent first.
const (
	// Change is a deletion or a change that a user asked for, with the reads it needs.
	Change Class = iota
	// Follow looks after what is in flight. It has a tenth of the rate for itself,
	// and never takes more.
	Follow
	// Correct undoes drift.
	Correct
	// Sweep keeps watch over what is quiet.
	Sweep
	// Poll looks again at what moves without a sign, behind everything else: there may be
	// thousands of them, and the sweep must get through. Sweep and Poll have a twentieth of the rate at least.
	Poll
)

// Call says who makes a call and how urgent it is.
type Call struct {
	// Key names the caller, so that one that was told to come back keeps its place in
	// the queue. Two callers must not share a key.
	Key string
	// Namespace is that of the object for which the call is made, empty for what the operator does for all of them.
	// Within a class namespaces take turns.
	Namespace string
	// Grant is the EdgeGrant whose role is used in an AWS account that is not the operator's own. Empty: that of any.
	Grant string
	Class Class
	// Pass is shared by the calls that belong together, nil for a call on its own.
	Pass *Pass
}

// Pass is a series of calls in which each is worth nothing without those after it: reads, and the write that they lead
// to. Once the first is admitted, the others follow at once, on credit. If each had to queue, the reads would be out of
// date by the time the write is admitted, would be repeated with the place that was meant for the write, and the write
// would never be sent.
type Pass struct{ begun sync.Map }

// Begun reports whether that rate has let a call of the pass go.
func (p *Pass) Begun(b Rate) bool {
	if p == nil {
		return false
	}
	_, begun := p.begun.Load(b)
	return begun
}

// Begin notes that that rate let a call of the pass go.
func (p *Pass) Begin(b Rate) {
	if p != nil {
		p.begun.Store(b, true)
	}
}

type callKey struct{}

// WithCall marks every call to AWS that is made with the context.
func WithCall(ctx context.Context, c Call) context.Context {
	return context.WithValue(ctx, callKey{}, c)
}

// CallOf returns the mark of the context, the least urgent one without a key when
// there is none.
func CallOf(ctx context.Context) Call {
	if c, ok := ctx.Value(callKey{}).(Call); ok {
		return c
	}
	return Call{Class: Sweep}
}

// Rate is the share of the account's request rate that the operator may use.
type Rate interface {
	// Admit takes permission for one call before anything is prepared for it. It
	// returns a context that carries the permission to exactly one call, or a delay
	// after which to ask again. It never waits.
	Admit(ctx context.Context) (admitted context.Context, delay time.Duration)
}
