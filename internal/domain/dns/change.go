package dns

import (
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// Action is what a change does.
type Action string

// The actions. A batch deletes what it replaces with its exact value, so that it never overwrites what it has not seen.
const (
	Create Action = "CREATE"
	Delete Action = "DELETE"
)

// Change creates or deletes one record set.
type Change struct {
	Action Action
	Set    RecordSet
	// Owner is the object whose record that is, for providers that keep a note next to a record. A record that is
	// restored for others has none.
	Owner Owner
}

// Sent is a batch that the provider has accepted.
type Sent struct {
	// ID is the provider's id of the change.
	ID      string
	Changes []Change
}

// LeftOut is the failure of a change that was accepted: names don't show what was created.
type LeftOut struct {
	Names []string
	fault *fault.Error
}

// NewLeftOut returns the failure of an operation.
func NewLeftOut(operation string, names []string) *LeftOut {
	return &LeftOut{names, fault.New(fault.Conflict, operation, "the server accepted the change, and does not show what it created: "+
		"look at its log, and at what answers at its address, for %s", strings.Join(names[:min(len(names), maxShown)], ", "))}
}

// Error implements error.
func (e *LeftOut) Error() string { return e.fault.Error() }

// Unwrap returns the failure in its class.
func (e *LeftOut) Unwrap() error { return e.fault }
