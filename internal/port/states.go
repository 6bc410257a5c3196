package port

import (
	"context"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
)

// States write the state tables of sources in one kind of store. What is there is read by Rows, with a query of
// statetable.Target.
type States interface {
	// Write makes changes, and may be repeated. Without changes it only checks the table. No row of another source is touched, and none that has a higher version. A
	// nil error means that all of them are in the store but for those that are returned. The errors are those of
	// Rows.Read; the definition of the table is checked before anything is written: fault.Invalid and
	// fault.NotFound have a message that says what is missing.
	Write(ctx context.Context, to statetable.Target, changes []statetable.Change) ([]statetable.Refusal, error)
}
