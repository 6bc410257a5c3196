package store

import (
	"errors"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
)

const (
	// WriteTimeout bounds a call of port.States, its connection included.
	WriteTimeout = 40 * time.Second
	// StatementTimeout bounds one statement of it.
	StatementTimeout = 10 * time.Second
	// RowLockTimeout bounds the wait of a statement for others that are writing the same rows.
	RowLockTimeout = time.Second
	// searching is how long rows are looked for that the store refuses. After it all that are not taken together count as
	// refused.
	searching = 15 * time.Second
	// mostRefused is how many rows a store may refuse before the failure is that of the table.
	mostRefused = 20
)

// Write puts changes into a store, all at once. Where the store refuses that because of some rows, it finds them, and puts
// the others.
func Write(changes []statetable.Change, put func([]statetable.Change) error) ([]statetable.Refusal, error) {
	w := writing{put: put, until: time.Now().Add(searching)}
	err := w.write(changes)
	return w.refused, err
}

type writing struct {
	put     func([]statetable.Change) error
	until   time.Time
	refused []statetable.Refusal
	// found is how many single rows were refused, taken how many changes were not.
	found, taken int
}

func (w *writing) write(changes []statetable.Change) error {
	err := w.put(changes)
	var failure *fault.Error
	switch {
	case err == nil:
		w.taken += len(changes)
		return nil
	case !errors.As(err, &failure), !ofRows(failure):
		return err
	case len(changes) > 1 && time.Now().Before(w.until):
		half := len(changes) / 2
		if err := w.write(changes[:half]); err != nil {
			return err
		}
		return w.write(changes[half:])
	}
	for _, c := range changes {
		w.refused = append(w.refused, statetable.Refusal{Key: c.Row.Key, Failure: failure})
	}
	if w.found++; w.found > mostRefused && w.taken == 0 {
		return err
	}
	return nil
}

// ofRows reports whether a failure may be that of some rows. One without a code is not the store's answer.
func ofRows(f *fault.Error) bool {
	return f.Code != "" && (f.Kind == fault.Invalid || f.Kind == fault.Transient || f.Kind == fault.Conflict)
}
