package child

import (
	"context"
	"errors"

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
	Complete bool
	Failure  fault.Error
	Cause    int
}

func encodeEnd(err error) ([]byte, error) {
	e := ending{Complete: err == nil, Cause: causeOf(err)}
	if failure, classified := errors.AsType[*fault.Error](err); classified {
		e.Failure = *failure
		e.Failure.Err = nil
	} else if err != nil {
		e.Failure = fault.Error{Kind: fault.Transient, Operation: operation, Message: store.Message(err.Error())}
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
	case e.Failure.Kind == fault.None, e.Cause < 0, e.Cause >= len(causes):
		return false, errMalformed
	}
	e.Failure.Err = causes[e.Cause]
	return true, &e.Failure
}
