// Package fault is the small vocabulary in which everything above the adapters speaks about failure. An adapter
// classifies an error of its service once, by error code, into a Kind; the layers above it never match on codes or on
// text.
package fault

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Kind says what a failure means for the caller.
type Kind int

// The kinds, from harmless to final.
const (
	// None is the kind of a nil error.
	None Kind = iota
	// Throttled means the service, or our own rate limiter, asks to come back later.
	Throttled
	// Transient means a failure of transport or server. The call may have been committed.
	Transient
	// Conflict means the thing changed since it was read: observe again.
	Conflict
	// Exists means the name is taken.
	Exists
	// NotFound means the thing itself is absent.
	NotFound
	// NotDisabled means a deletion was refused because the thing is enabled or not settled.
	NotDisabled
	// InUse means something else still refers to the thing.
	InUse
	// DomainTaken means a domain is attached to some other resource, in whichever account, or its DNS leads there: see
	// PointsElsewhere.
	DomainTaken
	// DomainUnverified means the control of a domain could not be proven (yet).
	DomainUnverified
	// Denied means the caller does not have a permission.
	Denied
	// Quota means a quota of the account is used up.
	Quota
	// Invalid means the service refuses the request as it is.
	Invalid
)

var kindNames = map[Kind]string{
	None: "None", Throttled: "Throttled", Transient: "Transient", Conflict: "Conflict", Exists: "Exists",
	NotFound: "NotFound", NotDisabled: "NotDisabled", InUse: "InUse", DomainTaken: "DomainTaken",
	DomainUnverified: "DomainUnverified", Denied: "Denied", Quota: "Quota", Invalid: "Invalid",
}

// String returns the name of the kind, as it appears in metrics and logs.
func (k Kind) String() string {
	if name, ok := kindNames[k]; ok {
		return name
	}
	return fmt.Sprintf("Kind(%d)", int(k))
}

// Error is a classified failure of one call.
type Error struct {
	Kind Kind
	// Operation is the name of the call, for example UpdateDistributionTenant.
	Operation string
	// Code is the service's own error code, empty when there was no answer.
	Code string
	// Message is the service's own text without everything that changes from try to try (request IDs), so that it can
	// be shown in status.
	Message string
	// RetryAfter is the delay that a limiter asks for. Zero when unknown.
	RetryAfter time.Duration
	// PointsElsewhere means that a domain that counts as taken is free: it is refused because its DNS leads to another
	// distribution.
	PointsElsewhere bool
	// Err is the cause, for logs.
	Err error
}

// New is a failure that is known without a code or a cause.
func New(kind Kind, operation, format string, args ...any) *Error {
	return &Error{Kind: kind, Operation: operation, Message: fmt.Sprintf(format, args...)}
}

// Error renders operation, code and message: stable from try to try.
func (e *Error) Error() string {
	text := e.Operation
	if e.Code != "" {
		text += ": " + e.Code
	}
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// KindOf classifies any error. An error without a classification is Transient: it is
// tried again, and nothing is concluded from it.
func KindOf(err error) Kind {
	if err == nil {
		return None
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Transient
}

// CodeOf returns the service's own code of an error, empty if it has none.
func CodeOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}

// Classified reports whether err is the failure of a call to an external service, rather than of the Kubernetes API.
func Classified(err error) bool {
	_, ok := errors.AsType[*Error](err)
	return ok
}

// Is reports whether err is of one of the kinds.
func Is(err error, kinds ...Kind) bool {
	return slices.Contains(kinds, KindOf(err))
}

// RetryAfter returns the delay that the failure asks for, zero when it names none.
func RetryAfter(err error) time.Duration {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.RetryAfter
	}
	return 0
}

// PointsElsewhere reports whether a domain was refused because its DNS leads to another distribution.
func PointsElsewhere(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.PointsElsewhere
}

// Ambiguous reports whether a mutating call that failed like this may have been
// committed all the same: the answer was lost, not the request.
func Ambiguous(err error) bool { return KindOf(err) == Transient }
