package cloudflare

import (
	"net/http"
	"slices"
	"time"
)

// Moment is when a fault happens.
type Moment string

// The moments.
const (
	// Before cuts the connection before anything is done.
	Before Moment = "Before"
	// After carries the request out and cuts the connection instead of answering.
	After Moment = "After"
	// Truncated carries the request out and cuts the connection in the middle of the answer.
	Truncated Moment = "Truncated"
	// Instead answers with an error and does nothing.
	Instead Moment = "Instead"
)

// Fault is something that goes wrong once.
type Fault struct {
	// Operation is what it happens to; empty for whatever comes next.
	Operation Operation
	Moment    Moment
	// Skip is how many requests pass unharmed before.
	Skip int
	// Status and Body are the answer of Instead. Errors is the body if Body is empty.
	Status     int
	Errors     []FaultError
	Body       string
	RetryAfter time.Duration
}

// FaultError is one error of an answer.
type FaultError struct {
	Code    int          `json:"code"`
	Message string       `json:"message"`
	Chain   []FaultError `json:"error_chain,omitempty"`
}

// AddFault schedules a fault.
func (s *Sim) AddFault(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, &f)
}

// ClearFaults forgets all faults that have not happened.
func (s *Sim) ClearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// fault takes the fault of a request, nil for none.
func (s *Sim) fault(op Operation) *Fault {
	for i, f := range s.faults {
		if f.Operation != "" && f.Operation != op {
			continue
		}
		if f.Skip > 0 {
			f.Skip--
			return nil
		}
		s.faults = slices.Delete(s.faults, i, i+1)
		return f
	}
	return nil
}

// Call is a request that was made.
type Call struct {
	Operation Operation
	// Mutating is true where the operation can change something, Committed where it did.
	Mutating, Committed bool
	// Status is that of the answer, 0 where the connection was cut.
	Status int
	// Path has the query.
	Path string
}

// Calls returns the requests in their order.
func (s *Sim) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.journal)
}

// CallsOf counts the requests of one operation.
func (s *Sim) CallsOf(op Operation) (n int) {
	for _, c := range s.Calls() {
		if c.Operation == op {
			n++
		}
	}
	return n
}

func (s *Sim) record(r *http.Request, op Operation, status int, committed bool) {
	s.journal = append(s.journal, Call{Operation: op, Mutating: op.mutates(), Committed: committed, Status: status, Path: r.URL.RequestURI()})
}
