package child

import (
	"context"
	"errors"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

// causes are the causes of failures that mean something above the adapters, by their place.
var causes = []error{nil, context.Canceled, context.DeadlineExceeded}

func causeOf(err error) int64 {
	for i, cause := range causes {
		if cause != nil && errors.Is(err, cause) {
			return int64(i)
		}
	}
	return 0
}

// encodeEnd writes how a read ended: without a word if it is complete. A failure keeps its class, and of its causes the ends
// of a context; the others are for logs, and may hold what must not leave the child.
func encodeEnd(err error) ([]byte, error) {
	e := encoder{bound: largestFrame}
	var said []any
	failure, classified := errors.AsType[*fault.Error](err)
	switch {
	case err == nil:
	case classified:
		said = []any{int64(failure.Kind), failure.Operation, failure.Code, failure.Message, int64(failure.RetryAfter), causeOf(err)}
	default:
		said = []any{int64(fault.Transient), operation, "", store.Message(err.Error()), int64(0), causeOf(err)}
	}
	encoded := e.list(said, 0)
	return e.buffer, encoded
}

// decodeEnd reads how a read ended; said is set if it could be read.
func decodeEnd(body []byte) (said bool, err error) {
	d := decoder{rest: body}
	value, err := d.value(0)
	if err != nil {
		return false, err
	}
	parts, ok := value.([]any)
	if ok && len(parts) == 0 {
		return true, nil
	}
	f := &fault.Error{}
	var kind, retryAfter, cause int64
	if !ok || !take(parts, &kind, &f.Operation, &f.Code, &f.Message, &retryAfter, &cause) || cause < 0 || cause >= int64(len(causes)) || kind == int64(fault.None) {
		return false, errMalformed
	}
	f.Kind, f.RetryAfter, f.Err = fault.Kind(kind), time.Duration(retryAfter), causes[cause]
	return true, f
}

// take takes a list apart whose values have these types.
func take(parts []any, into ...any) bool {
	if len(parts) != len(into) {
		return false
	}
	for i, part := range parts {
		var ok bool
		switch target := into[i].(type) {
		case *string:
			*target, ok = part.(string)
		case *int64:
			*target, ok = part.(int64)
		}
		if !ok {
			return false
		}
	}
	return true
}

func encodeColumns(columns []mapping.Column) ([]byte, error) {
	e := encoder{bound: largestFrame}
	list := make([]any, 0, len(columns))
	for _, c := range columns {
		list = append(list, []any{c.Name, string(c.Type)})
	}
	err := e.list(list, 0)
	return e.buffer, err
}

func decodeColumns(body []byte) ([]mapping.Column, error) {
	d := decoder{rest: body}
	value, err := d.value(0)
	if err != nil {
		return nil, err
	}
	list, _ := value.([]any)
	columns := make([]mapping.Column, len(list))
	for i, element := range list {
		parts, _ := element.([]any)
		var kind string
		if !take(parts, &columns[i].Name, &kind) {
			return nil, errMalformed
		}
		columns[i].Type = mapping.Type(kind)
	}
	return columns, nil
}
