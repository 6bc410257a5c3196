package aws

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// FaultKind says when a fault strikes.
type FaultKind string

const (
	// BeforeCommit faults fail the request before it changed anything.
	BeforeCommit FaultKind = "before"
	// AfterCommit faults let the request do its work and spoil the answer.
	AfterCommit FaultKind = "after-commit"
	// Instead faults answer with the given error and do nothing else.
	Instead FaultKind = "instead"
)

// FaultEffect is what the client sees of a fault.
type FaultEffect string

const (
	// EffectError answers with an error.
	EffectError FaultEffect = "error"
	// EffectHang never answers; it ends when the client gives up.
	EffectHang FaultEffect = "hang"
	// EffectReset resets the connection.
	EffectReset FaultEffect = "reset"
	// EffectTruncate announces a whole body and breaks off in the middle.
	EffectTruncate FaultEffect = "truncate"
	// EffectNone only delays the answer by the latency.
	EffectNone FaultEffect = "none"
)

// FaultError is the error an EffectError fault answers with.
type FaultError struct {
	Status  int    `json:"status"`
	Code    string `json:"code"`
	Message string `json:"message,omitempty"`
}

// Fault makes calls fail on purpose.
type Fault struct {
	// ID is given by AddFault.
	ID string
	// Operation is the API operation's name, "*" or "" for every one.
	Operation string
	// Resource limits the fault to calls that mention a resource by id, name,
	// ARN or domain.
	Resource string
	// Nth is the matching call at which the fault starts, counted from now and
	// from 1. Without Nth and Probability it is the next one.
	Nth int
	// Probability makes each matching call fail by chance, drawn from the
	// random seed.
	Probability float64
	// Times is how often the fault strikes: 1 if zero for Nth, until it is
	// removed if zero for Probability, until it is removed if negative.
	Times int
	// Kind is BeforeCommit if empty.
	Kind FaultKind
	// Effect is EffectError if empty, or EffectNone if only Latency is set.
	Effect FaultEffect
	// Error is what EffectError answers with; 503 ServiceUnavailable if nil.
	Error *FaultError
	// Latency delays the call, before it is performed or, for AfterCommit,
	// before its answer is sent. A client that gives up during the delay has
	// changed nothing in the first case.
	Latency time.Duration
}

// fails tells whether the call does not get its regular answer.
func (f *Fault) fails() bool { return f.Effect != EffectNone && f.Effect != "" }

// answer is the error of the fault. For a hang or a reset it is never read.
func (f *Fault) answer() error {
	return &apiError{Status: f.Error.Status, Code: f.Error.Code, Message: f.Error.Message}
}

// complete fills the defaults in and refuses what makes no sense.
func (f *Fault) complete() error {
	if f.Operation == "" {
		f.Operation = "*"
	}
	if f.Operation != "*" && f.Operation != requestCertificate.name && !knownOperation(f.Operation) {
		return fmt.Errorf("operation %q is not simulated: use one from GET /_sim/operations, or \"*\"", f.Operation)
	}
	if f.Nth < 0 {
		return fmt.Errorf("nth is %d: count the calls from 1", f.Nth)
	}
	if f.Probability < 0 || f.Probability > 1 {
		return fmt.Errorf("probability is %v: it must lie between 0 and 1", f.Probability)
	}
	if f.Nth > 0 && f.Probability > 0 {
		return errors.New("nth and probability are both set: use one of them")
	}
	if f.Latency < 0 {
		return fmt.Errorf("latency is %v: it must not be negative", f.Latency)
	}
	if f.Nth == 0 && f.Probability == 0 {
		f.Nth = 1
	}
	if f.Times == 0 && f.Nth > 0 {
		f.Times = 1
	}
	return f.completeEffect()
}

func (f *Fault) completeEffect() error {
	if f.Kind == "" {
		f.Kind = BeforeCommit
	}
	if !slices.Contains([]FaultKind{BeforeCommit, AfterCommit, Instead}, f.Kind) {
		return fmt.Errorf("kind is %q: use before, after-commit or instead", f.Kind)
	}
	if f.Effect == "" {
		f.Effect = EffectError
		if f.Latency > 0 && f.Error == nil {
			f.Effect = EffectNone
		}
	}
	if !slices.Contains([]FaultEffect{EffectError, EffectHang, EffectReset, EffectTruncate, EffectNone}, f.Effect) {
		return fmt.Errorf("effect is %q: use error, hang, reset, truncate or none", f.Effect)
	}
	if f.Kind == Instead && (f.Effect != EffectError || f.Error == nil) {
		return errors.New("kind is instead: set the error to return, as error: {status, code, message}")
	}
	if f.Error == nil {
		f.Error = &FaultError{Status: http.StatusServiceUnavailable, Code: "ServiceUnavailable", Message: "The service is unavailable."}
	}
	if f.Error.Status < 400 || f.Error.Status > 599 {
		return fmt.Errorf("error.status is %d: use an HTTP error status from 400 to 599", f.Error.Status)
	}
	if f.Error.Code == "" {
		return errors.New("error.code is empty: use the code that clients check, such as InternalError")
	}
	return nil
}

// faultJSON is how the control API writes a fault.
type faultJSON struct {
	ID          string      `json:"id,omitempty"`
	Operation   string      `json:"operation,omitempty"`
	Resource    string      `json:"resource,omitempty"`
	Nth         int         `json:"nth,omitempty"`
	Probability float64     `json:"probability,omitempty"`
	Times       int         `json:"times,omitempty"`
	Kind        FaultKind   `json:"kind,omitempty"`
	Effect      FaultEffect `json:"effect,omitempty"`
	Error       *FaultError `json:"error,omitempty"`
	Latency     string      `json:"latency,omitempty"`
	Seen        int         `json:"seen,omitempty"`
	Struck      int         `json:"struck,omitempty"`
}

// MarshalJSON implements [json.Marshaler].
func (f Fault) MarshalJSON() ([]byte, error) {
	return json.Marshal(f.wire())
}

func (f Fault) wire() faultJSON {
	out := faultJSON{
		ID: f.ID, Operation: f.Operation, Resource: f.Resource, Nth: f.Nth, Probability: f.Probability,
		Times: f.Times, Kind: f.Kind, Effect: f.Effect, Error: f.Error,
	}
	if f.Latency > 0 {
		out.Latency = f.Latency.String()
	}
	return out
}

func (f faultJSON) fault() (Fault, error) {
	out := Fault{
		Operation: f.Operation, Resource: f.Resource, Nth: f.Nth, Probability: f.Probability,
		Times: f.Times, Kind: f.Kind, Effect: f.Effect, Error: f.Error,
	}
	if f.Latency != "" {
		d, err := time.ParseDuration(f.Latency)
		if err != nil {
			return Fault{}, fmt.Errorf("latency is %q: use a duration such as 250ms", f.Latency)
		}
		out.Latency = d
	}
	return out, nil
}

// armed is a fault and how far it has come.
type armed struct {
	Fault

	seen   int // calls that matched
	struck int // calls that failed
}

type faultBook struct {
	nextID int
	armed  []*armed
}

// match returns the first fault that strikes a call, and counts the call for
// every fault it matches.
func (b *faultBook) match(c *call, dice deriver) *Fault {
	var hit *Fault
	for _, f := range b.armed {
		// A call that AWS makes internally is no call of the client: only a fault that names it applies.
		if f.Operation != c.op.name && (f.Operation != "*" || c.op == requestCertificate) {
			continue
		}
		if f.Resource != "" && !slices.Contains(c.mentions, f.Resource) {
			continue
		}
		f.seen++
		if hit == nil && f.due(dice) {
			f.struck++
			copied := f.Fault
			hit = &copied
		}
	}
	b.armed = slices.DeleteFunc(b.armed, func(f *armed) bool { return f.Times > 0 && f.struck >= f.Times })
	return hit
}

func (f *armed) due(dice deriver) bool {
	if f.Times > 0 && f.struck >= f.Times {
		return false
	}
	if f.Nth > 0 {
		return f.seen >= f.Nth
	}
	return dice.fraction("fault", f.ID, strconv.Itoa(f.seen)) < f.Probability
}

// AddFault arms a fault and returns its id.
func (s *Sim) AddFault(f Fault) (string, error) {
	if f.Error != nil {
		f.Error = &FaultError{Status: f.Error.Status, Code: f.Error.Code, Message: f.Error.Message}
	}
	if err := f.complete(); err != nil {
		return "", fmt.Errorf("adding a fault: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults.nextID++
	f.ID = "fault-" + strconv.Itoa(s.faults.nextID)
	s.faults.armed = append(s.faults.armed, &armed{Fault: f})
	return f.ID, nil
}

// Faults lists the faults that can still strike.
func (s *Sim) Faults() []Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Fault, 0, len(s.faults.armed))
	for _, f := range s.faults.armed {
		out = append(out, f.Fault)
	}
	return out
}

// RemoveFault disarms one fault and tells whether it was there.
func (s *Sim) RemoveFault(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.faults.armed)
	s.faults.armed = slices.DeleteFunc(s.faults.armed, func(f *armed) bool { return f.ID == id })
	return len(s.faults.armed) < before
}

// ClearFaults disarms every fault and cuts the calls that hang.
func (s *Sim) ClearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults.armed = nil
	s.release()
}

// Operations lists the names of the simulated operations, for faults and
// limits.
func Operations() []string {
	var names []string
	for _, op := range slices.Concat(cloudFrontOperations, route53Operations, acmOperations, quotaOperations, tableOperations, streamOperations, storeOperations, stsOperations) {
		names = append(names, op.name)
	}
	slices.Sort(names)
	return names
}

func knownOperation(name string) bool {
	return name == unknownOperation.name || slices.Contains(Operations(), name)
}
