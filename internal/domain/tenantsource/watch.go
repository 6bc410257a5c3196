package tenantsource

import (
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
)

// Watching is the condition of a source whose table is watched.
const Watching chain.ConditionType = "Watching"

// Its reasons.
const (
	Listening    chain.Reason = "Listening"
	NotListening chain.Reason = "NotListening"
)

// readEvery is the shortest pause between two reads that hints ask for: a busy table costs no more.
const readEvery = time.Second

// Watch is what is known of the stream of a table's changes. A hint concludes nothing: it brings the next read forward.
type Watch struct {
	// Listening is set while every change is told, Lost says why it is not. Neither is set until the first try has ended, nor
	// where a try begins that the source has asked for.
	Listening bool
	Lost      string
	// Hinted is when the first change was told that no read has begun after; zero for none. Keys name all rows that changed
	// since; none where any row may have.
	Hinted time.Time
	Keys   []string
}

// condition is the report about the stream; nil where there is nothing to say, or not yet. Then its condition stays:
// each try is bounded, so that it soon says what became of it, and a restart of the operator is no event.
func (w *Watch) condition() *chain.Condition {
	switch {
	case w == nil:
		return nil
	case w.Listening:
		return &chain.Condition{Type: Watching, Status: true, Reason: Listening, Message: "The database reports changes, and they are read at once."}
	case w.Lost != "":
		return &chain.Condition{Type: Watching, Reason: NotListening, Message: w.Lost + ". Until this is fixed, the table is only read every spec.pollInterval."}
	}
	return nil
}
