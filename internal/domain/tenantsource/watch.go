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
	// Listening is set while every change is told, Lost says why it is not. Neither is set until the first try has ended.
	Listening bool
	Lost      string
	// Hinted is when the first change was told that no read has begun after; zero for none.
	Hinted time.Time
}

// hinted is when a read is due because of a hint; zero for never.
func (in Input) hinted() time.Time {
	if in.Watch == nil || in.Watch.Hinted.IsZero() {
		return time.Time{}
	}
	if next := in.Session.LastRead.Add(readEvery); next.After(in.Watch.Hinted) {
		return next
	}
	return in.Watch.Hinted
}

// watching is what the source says of its stream; nil where there is nothing to say, or not yet.
func (in Input) watching() *chain.Condition {
	switch w := in.Watch; {
	case w == nil:
		return nil
	case w.Listening:
		return &chain.Condition{Type: Watching, Status: true, Reason: Listening, Message: "The database reports changes, and the table is read after each of them"}
	case w.Lost != "":
		return &chain.Condition{Type: Watching, Reason: NotListening, Message: w.Lost + ". Until this is fixed, the table is only read every spec.pollInterval"}
	}
	return nil
}
