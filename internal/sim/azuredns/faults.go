package azuredns

import (
	"fmt"
	"slices"
	"time"
)

// When says at which point a fault strikes.
type When string

// The points.
const (
	// Before fails the request before anything is changed.
	Before When = "before"
	// AfterCommit carries the request out and spoils the answer.
	AfterCommit When = "after-commit"
	// Instead answers with the error and looks at nothing else, the token included.
	Instead When = "instead"
)

// AnyChange stands for all operations that can change something.
const AnyChange = "AnyChange"

// Fault makes calls fail on purpose.
type Fault struct {
	// Operation is the name of the operation or AnyChange, empty for all.
	Operation string
	// When is Before if empty.
	When When
	// Drop breaks the connection instead of an answer.
	Drop bool
	// Status, Code and Message are the error, 503 ServiceUnavailable if they are empty. Detail is the code of a detail.
	Status                int
	Code, Message, Detail string
	RetryAfter            time.Duration
	// OAuth is the number of an error of Entra ID, zero for one of the Resource Manager.
	OAuth int
	// Skip is how many calls pass before the first that fails.
	Skip int
	// Times is how many fail, one if zero.
	Times int
}

// AddFault arms a fault.
func (s *Sim) AddFault(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.When == "" {
		f.When = Before
	}
	if f.Status == 0 {
		f.Status, f.Code, f.Message = 503, "ServiceUnavailable", "The service is unavailable."
	}
	f.Times = max(f.Times, 1)
	s.faults = append(s.faults, &f)
}

// ClearFaults disarms all faults.
func (s *Sim) ClearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// strikes returns the fault that a call meets, nil if none.
func (s *Sim) strikes(operation string) *Fault {
	for i, f := range s.faults {
		if !f.means(operation) {
			continue
		}
		if f.Skip > 0 {
			f.Skip--
			continue
		}
		if f.Times--; f.Times == 0 {
			s.faults = slices.Delete(s.faults, i, i+1)
		}
		return f
	}
	return nil
}

func (f *Fault) means(operation string) bool {
	if f.Operation == AnyChange {
		return operation == PutRecord || operation == DeleteRecord
	}
	return f.Operation == "" || f.Operation == operation
}

func (f *Fault) refusal() *refusal {
	return &refusal{
		status: f.Status, code: f.Code, message: f.Message, detail: f.Detail, provider: f.Detail != "", retryAfter: f.RetryAfter, oauth: f.OAuth,
	}
}

// Entry is one call in the journal.
type Entry struct {
	Operation string
	// Path is that of the request, without the query.
	Path string
	// Mutating is true for operations that can change something, Committed where this call did.
	Mutating, Committed bool
	// Status is what the client saw, zero where the connection broke.
	Status int
	Code   string
}

// Journal returns all calls, the oldest first.
func (s *Sim) Journal() []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.journal)
}

// Calls is how often an operation was called.
func (s *Sim) Calls(operation string) (n int) {
	for _, e := range s.Journal() {
		if e.Operation == operation {
			n++
		}
	}
	return n
}

// Limit allows an operation a number of calls in each period.
type Limit struct {
	Operation string
	Calls     int
	Per       time.Duration
}

// window is what is used of a limit.
type window struct {
	began time.Time
	used  int
}

// throttle counts a call, or refuses it.
func (s *Sim) throttle(operation string) *refusal {
	for _, l := range s.options.Limits {
		if l.Operation != operation {
			continue
		}
		w, now := s.windows[operation], s.now()
		if now.Sub(w.began) >= l.Per {
			w = window{began: now}
		}
		if w.used >= l.Calls {
			left := w.began.Add(l.Per).Sub(now)
			r := manager(429, "ResourceRequestsThrottled",
				"Number of requests for action '%s' exceeded the limit of '%d' for time interval '%s'. Please try again after '%d' seconds.",
				operation, l.Calls, fmt.Sprintf("%02d:%02d:%02d", int(l.Per.Hours()), int(l.Per.Minutes())%60, int(l.Per.Seconds())%60), int(left.Seconds()))
			r.retryAfter = left
			return r
		}
		w.used++
		s.windows[operation] = w
	}
	return nil
}
