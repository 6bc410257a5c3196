// Package halt stops every write to AWS, of every kind, while there is a cause for it. Reads continue.
//
// A cause is set and cleared where it is known. The chains of all kinds are told (an object then says why nothing is
// changed for it), and the clients of AWS and of DNS services refuse any change that is requested nevertheless.
package halt

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
)

// Cause names what halts. Its name is the reason of the conditions.
type Cause = chain.Reason

// Switch has the causes. It is safe for concurrent use. A nil one never halts.
type Switch struct {
	// wakes is called one at a time, so that a release never overtakes the halt before it.
	telling sync.Mutex

	mu     sync.Mutex
	causes map[Cause]string
	// now is what follows from the causes.
	now   *chain.Halt
	wakes []func(ctx context.Context)
}

// New makes a switch that halts nothing.
func New() *Switch { return &Switch{causes: map[Cause]string{}} }

// OnChange has wake called after every change, so that it queues all objects of a kind. Callers add it before anything
// starts.
func (s *Switch) OnChange(wake func(ctx context.Context)) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wakes = append(s.wakes, wake)
}

// Set halts for a cause. It returns once all objects are queued that have had a pass.
func (s *Switch) Set(ctx context.Context, cause Cause, message string) {
	s.change(ctx, func() { s.causes[cause] = message })
}

// Clear takes the cause away. Writes continue when it was the last.
func (s *Switch) Clear(ctx context.Context, cause Cause) {
	s.change(ctx, func() { delete(s.causes, cause) })
}

func (s *Switch) change(ctx context.Context, change func()) {
	s.telling.Lock()
	defer s.telling.Unlock()
	s.mu.Lock()
	before := s.now
	change()
	s.now = s.halt()
	same := s.now == before || s.now != nil && before != nil && *s.now == *before
	wakes := slices.Clone(s.wakes)
	s.mu.Unlock()
	if same {
		return
	}
	for _, wake := range wakes {
		wake(ctx)
	}
}

// halt needs the lock. Of several causes the first by name is the reason, and all of them are said.
func (s *Switch) halt() *chain.Halt {
	var causes []Cause
	for c := range s.causes {
		causes = append(causes, c)
	}
	if len(causes) == 0 {
		return nil
	}
	slices.Sort(causes)
	texts := make([]string, len(causes))
	for n, c := range causes {
		texts[n] = s.causes[c]
	}
	return &chain.Halt{Reason: causes[0], Message: strings.Join(texts, " ")}
}

// Now is why nothing may be changed in AWS, nil while it may.
func (s *Switch) Now() *chain.Halt {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// Causes are those that are set, in the order of their names.
func (s *Switch) Causes() []Cause {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Cause
	for c := range s.causes {
		out = append(out, c)
	}
	slices.Sort(out)
	return out
}
