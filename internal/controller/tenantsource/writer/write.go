package writer

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
)

// write writes rows that were taken out of the backlog. Those that were not written are in it afterwards.
func (w *Writer) write(ctx context.Context, rows []statetable.Difference) error {
	var changes []statetable.Change
	sent := map[string]statetable.Difference{}
	for i, d := range rows {
		change, says, err := w.change(ctx, d)
		if err != nil {
			w.putBack(append(rows[i:], values(sent)...)...)
			return err
		}
		switch says {
		case write:
			changes = append(changes, change)
			sent[d.Key] = d
		case later:
			w.postpone(d)
		case tooLong:
			w.refuse(d, fmt.Sprintf("its key has more than %d characters: use another column as spec.rowKey", statetable.LongestID))
		case leave:
		}
	}
	if len(changes) == 0 {
		return nil
	}
	refused, err := w.Table.Write(ctx, changes)
	if err != nil {
		w.putBack(values(sent)...)
		return err
	}
	for _, r := range refused {
		w.refuse(sent[r.Key], r.Failure.Message)
		delete(sent, r.Key)
	}
	w.Wrote(len(sent))
	return nil
}

func values(rows map[string]statetable.Difference) []statetable.Difference {
	all := make([]statetable.Difference, 0, len(rows))
	for _, d := range rows {
		all = append(all, d)
	}
	return all
}

func (w *Writer) putBack(rows ...statetable.Difference) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.backlog.PutBack(rows...)
}

func (w *Writer) postpone(d statetable.Difference) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.backlog.Postpone(d, w.Now())
}

func (w *Writer) refuse(d statetable.Difference, why string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.backlog.Refuse(d, why, w.Now())
}

// action is what is done about a row that may differ.
type action int

const (
	// leave does nothing: what has to be said of the object is not known yet, and an event tells when it is.
	leave action = iota
	write
	// later looks again: the API server has an object that the cache does not show yet.
	later
	tooLong
)

// change is what the row of a key should say now.
func (w *Writer) change(ctx context.Context, d statetable.Difference) (statetable.Change, action, error) {
	o, err := w.Fleet.One(ctx, d.Key, d.Name)
	switch {
	case err != nil:
		return statetable.Change{}, leave, err
	case o.Found && o.Ours && (o.Row.Key == "" || o.Row.Key == d.Key && !o.Known):
		return statetable.Change{}, leave, nil
	case utf8.RuneCountInString(d.Key) > statetable.LongestID && o.Found:
		return statetable.Change{}, tooLong, nil
	case utf8.RuneCountInString(d.Key) > statetable.LongestID:
		return statetable.Change{}, leave, nil
	case o.Found && o.Ours && o.Row.Key == d.Key:
		o.Row.Updated = w.Now()
		return statetable.Change{Row: o.Row}, write, nil
	case o.Found:
		return w.gone(d, o.Row.Version, "Released", fmt.Sprintf("The DistributionTenant %s no longer belongs to this row of the TenantSource.", d.Name)), write, nil
	}
	version, missed, err := w.Fleet.Missed(ctx, d.Name)
	if err != nil || !missed {
		return statetable.Change{}, later, err
	}
	return w.gone(d, version, statetable.Gone, fmt.Sprintf("The DistributionTenant %s no longer exists.", d.Name)), write, nil
}

// gone is the last change of a row.
func (w *Writer) gone(d statetable.Difference, version int64, reason, message string) statetable.Change {
	now := w.Now()
	return statetable.Change{Remove: w.Removes, Row: statetable.Row{
		Source: w.Source, Key: d.Key, Namespace: w.Namespace, Name: d.Name, State: statetable.Gone, Reason: reason, Message: message, Domains: "[]",
		Since: now, Updated: now, Version: version,
	}}
}
