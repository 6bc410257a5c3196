package child

import (
	"context"
	"errors"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// causes are the causes of failures that mean something above the adapters, by their place.
var causes = []error{nil, context.Canceled, context.DeadlineExceeded}

func causeOf(err error) int {
	for i, cause := range causes {
		if cause != nil && errors.Is(err, cause) {
			return i
		}
	}
	return 0
}

// ending is how a read ended. A failure keeps its class, and of its causes the ends of a context; the others are for logs,
// and may hold what must not leave the child.
type ending struct {
	Complete                 bool
	Kind                     fault.Kind
	Operation, Code, Message string
	RetryAfter               time.Duration
	Cause                    int
}

func encodeEnd(err error) ([]byte, error) {
	e := ending{Kind: fault.Transient, Operation: operation, Cause: causeOf(err)}
	failure, classified := errors.AsType[*fault.Error](err)
	switch {
	case err == nil:
		e = ending{Complete: true}
	case classified:
		e.Kind, e.Operation, e.Code, e.Message, e.RetryAfter = failure.Kind, failure.Operation, failure.Code, failure.Message, failure.RetryAfter
	default:
		e.Message = store.Message(err.Error())
	}
	return encoding.Marshal(e)
}

// decodeEnd reads how a read ended; said is set if it could be read.
func decodeEnd(body []byte) (said bool, err error) {
	var e ending
	switch {
	case decoding.Unmarshal(body, &e) != nil:
		return false, errMalformed
	case e.Complete:
		return true, nil
	case e.Kind == fault.None, e.Cause < 0, e.Cause >= len(causes):
		return false, errMalformed
	}
	return true, &fault.Error{Kind: e.Kind, Operation: e.Operation, Code: e.Code, Message: e.Message, RetryAfter: e.RetryAfter, Err: causes[e.Cause]}
}
