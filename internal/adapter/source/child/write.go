package child

import (
	"context"
	"io"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/bootclock"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// write is what to change in a table of states.
type write struct {
	Table, Source string
	Changes       []statetable.Change
	// Until is when the last change may be sent, in nanoseconds of bootclock; zero for no end. The child may be paused without its
	// parent, and continue when another replica leads.
	Until int64
}

// Write implements port.States.
func (r *Rows) Write(ctx context.Context, to statetable.Target, changes []statetable.Change) ([]statetable.Refusal, error) {
	var refused []statetable.Refusal
	for {
		some := portion(changes)
		more, err := r.write(ctx, to, some)
		if refused = append(refused, more...); err != nil || len(some) == len(changes) {
			return refused, err
		}
		changes = changes[len(some):]
	}
}

// portion are the first changes for which a request has room.
func portion(changes []statetable.Change) []statetable.Change {
	size := 0
	for i := range changes {
		row := &changes[i].Row
		if size += len(row.Domains) + len(row.Message) + otherColumns; size > largestRequest/2 && i > 0 {
			return changes[:i]
		}
	}
	return changes
}

// otherColumns is more than the columns of a row need whose texts are short.
const otherColumns = 4 << 10

func (r *Rows) write(ctx context.Context, to statetable.Target, changes []statetable.Change) ([]statetable.Refusal, error) {
	ctx, cancel := context.WithTimeout(ctx, store.WriteTimeout+patience)
	defer cancel()
	until, err := r.until()
	if err != nil {
		return nil, err
	}
	var refused []statetable.Refusal
	err = r.ask(ctx, request{Query: to.Query, Write: &write{to.Table, to.Source, changes, until}}, func(kind byte, body []byte) (bool, error) {
		var refusal statetable.Refusal
		if kind != frameRefusal || decoding.Unmarshal(body, &refusal) != nil || refusal.Failure == nil || len(refused) == len(changes) {
			return false, errMalformed
		}
		refused = append(refused, refusal)
		return true, nil
	})
	return refused, err
}

// until is when a write has to end that begins now.
func (r *Rows) until() (int64, error) {
	if r.options.Until == nil {
		return 0, nil
	}
	switch until := r.options.Until(); {
	case until.IsZero():
		return 0, nil
	case !bootclock.Now().Before(until):
		return 0, &fault.Error{Kind: fault.Throttled, Operation: operation, Message: "this replica does not hold its lease, or has not renewed it in time"}
	default:
		return until.UnixNano(), nil
	}
}

// write makes the changes of a request, and tells which rows were refused.
func (r request) write(ctx context.Context, out io.Writer, states port.States) error {
	if until := r.Write.Until; until != 0 {
		limited, cancel := context.WithTimeout(ctx, time.Unix(0, until).Sub(bootclock.Now()))
		defer cancel()
		ctx = limited
	}
	refused, err := states.Write(ctx, statetable.Target{Query: r.Query, Table: r.Write.Table, Source: r.Write.Source}, r.Write.Changes)
	for _, refusal := range refused {
		refusal.Failure = &fault.Error{Kind: refusal.Failure.Kind, Operation: refusal.Failure.Operation, Code: refusal.Failure.Code, Message: refusal.Failure.Message}
		body, err := encoding.Marshal(refusal)
		if err != nil {
			return err
		}
		if err := writeFrame(out, frameRefusal, body); err != nil {
			return err
		}
	}
	return err
}
