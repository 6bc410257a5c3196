package calls

import (
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// Partly is the failure of a change of which a part was carried out: the names have to be read again, whatever the error of
// the rest.
func Partly(err error) error {
	failure, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err
	}
	return &fault.Error{
		Kind: fault.Transient, Operation: failure.Operation, Code: failure.Code, Err: err,
		Message: "a part of the change was carried out, the rest was not: " + failure.Message,
	}
}

// Numbers are the ids of changes for a service that gives them none: each says when a change was made, and there are no two
// alike. The zero value is ready, and safe for concurrent use.
type Numbers struct {
	mu   sync.Mutex
	last int64
}

// Next returns the id of a change that is made now.
func (n *Numbers) Next(now time.Time) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.last = max(n.last+1, now.UnixMilli())
	return strconv.FormatInt(n.last, 10)
}
