package statetable

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/retry"
)

// Difference is a row of the table that may not say what it should.
type Difference struct {
	// Key is that of the row, and Name that of the object that it is about.
	Key, Name string
	// Since is when the row began to differ.
	Since time.Time
	// refused is how often the database has refused the row in succession, due when it is tried again, and why the answer.
	refused int
	due     time.Time
	why     string
}

// Backlog has the rows that differ, and nothing of those that do not.
type Backlog struct{ rows map[string]Difference }

// refusedRows is the pause before a row is tried again that the database refuses.
var refusedRows = retry.Backoff{First: 5 * time.Second, Last: 5 * time.Minute}

// Add notes that a row may differ.
func (b *Backlog) Add(key, name string, now time.Time) {
	d, known := b.rows[key]
	if !known {
		d = Difference{Key: key, Since: now, due: now}
	}
	d.Name = name
	b.set(d)
}

func (b *Backlog) set(d Difference) {
	if b.rows == nil {
		b.rows = map[string]Difference{}
	}
	b.rows[d.Key] = d
}

// Take takes up to that many rows whose time has come and that the database has not refused. They are out of the backlog until
// they are put back.
func (b *Backlog) Take(most int, now time.Time) []Difference {
	return b.take(most, func(d Difference) bool { return d.refused == 0 && !d.due.After(now) })
}

// TakeRefused takes up to that many rows whose time has come and that the database has refused.
func (b *Backlog) TakeRefused(most int, now time.Time) []Difference {
	return b.take(most, func(d Difference) bool { return d.refused > 0 && !d.due.After(now) })
}

func (b *Backlog) take(most int, which func(Difference) bool) []Difference {
	var due []Difference
	for _, d := range b.rows {
		if which(d) {
			due = append(due, d)
		}
	}
	slices.SortFunc(due, func(x, y Difference) int { return cmp.Or(x.Since.Compare(y.Since), strings.Compare(x.Key, y.Key)) })
	due = due[:min(most, len(due))]
	for _, d := range due {
		delete(b.rows, d.Key)
	}
	return due
}

// PutBack takes rows back that were not written. One that has changed meanwhile is as old as it was.
func (b *Backlog) PutBack(rows ...Difference) {
	for _, d := range rows {
		if newer, known := b.rows[d.Key]; known {
			d.Name = newer.Name
		}
		b.set(d)
	}
}

// Postpone takes a row back that is looked at again soon.
func (b *Backlog) Postpone(d Difference, now time.Time) {
	d.due = now.Add(soon)
	b.PutBack(d)
}

// soon is longer than a watch is behind as a rule.
const soon = 5 * time.Second

// Refuse takes a row back that the database refuses.
func (b *Backlog) Refuse(d Difference, why string, now time.Time) {
	d.refused++
	d.due, d.why = now.Add(refusedRows.Delay(d.refused)), why
	b.PutBack(d)
}

// Len is how many rows differ.
func (b *Backlog) Len() int { return len(b.rows) }

// Next is when the next row is due; zero if there is none.
func (b *Backlog) Next() (next time.Time) {
	for _, d := range b.rows {
		if next.IsZero() || d.due.Before(next) {
			next = d.due
		}
	}
	return next
}

// Oldest is the row that has differed for the longest time, and the one of those that are refused.
func (b *Backlog) Oldest() (oldest, refused Difference) {
	older := func(d, than Difference) bool {
		return than.Key == "" || d.Since.Before(than.Since) || d.Since.Equal(than.Since) && d.Key < than.Key
	}
	for _, d := range b.rows {
		if older(d, oldest) {
			oldest = d
		}
		if d.refused > 0 && older(d, refused) {
			refused = d
		}
	}
	return oldest, refused
}

// Verdict is what is known of a state table.
type Verdict struct {
	// Compared is set once the table was compared with the objects.
	Compared bool
	// Failure says why the table can't be written or compared, and Refused which row the database refuses, and why. Behind is set
	// while rows have been waiting for long.
	Failure, Refused string
	Behind           bool
	// Since is when the oldest row began to differ, zero if none does.
	Since time.Time
	// Waiting is how many rows differ.
	Waiting int
}

// SaysAs reports whether a verdict says what another one does, apart from how many rows wait, and since when.
func (v Verdict) SaysAs(other Verdict) bool {
	v.Since, v.Waiting = other.Since, other.Waiting
	return v == other
}

// Verdict is what the backlog tells.
func (b *Backlog) Verdict() Verdict {
	oldest, refused := b.Oldest()
	v := Verdict{Since: oldest.Since, Waiting: b.Len()}
	if refused.Key != "" {
		v.Refused = refused.Name + ": " + refused.why
	}
	return v
}
