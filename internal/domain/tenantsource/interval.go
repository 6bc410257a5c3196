package tenantsource

import (
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/retry"
)

// due is when the next poll is.
func (in Input) due() time.Time {
	s := in.State
	if s.asked(in.View) {
		return in.Now
	}
	if s.Failures > 0 {
		return s.Retry
	}
	due := s.regular(in.View)
	for _, sooner := range []time.Time{in.hinted(), s.Again} {
		if !sooner.IsZero() && sooner.Before(due) {
			due = sooner
		}
	}
	return due
}

// hinted is when a poll is due because of hints; zero for never. Reads of single rows are followed by one in a while.
func (in Input) hinted() time.Time {
	s, w := in.State, in.Watch
	switch {
	case w != nil && !w.Hinted.IsZero() && !in.readsNamed():
		return paced(s.LastRead, w.Hinted)
	case s.NamedSince.IsZero():
		return time.Time{}
	}
	return s.NamedSince.Add(pollAfterNamed)
}

// paced is when a hint is answered: not too soon after the last one was.
func paced(last, hinted time.Time) time.Time {
	if next := last.Add(readEvery); next.After(hinted) {
		return next
	}
	return hinted
}

// readsNamed reports whether the rows that the database has named are read without the others. A process that has not read
// the whole table knows nothing of these.
func (in Input) readsNamed() bool {
	s, w := in.State, in.Watch
	if w == nil || len(w.Keys) == 0 || !in.RowKey || in.DryRun {
		return false
	}
	if s.Failures > 0 || in.Now.Before(s.NoNamedUntil) && s.NoNamedFor == in.Generation {
		return false
	}
	return s.Others != nil && s.Others.generation == in.Generation && in.Memory.Generation == in.Generation && in.Memory.Rows >= in.LargeTable
}

// namedDue is when the rows that the database has named are to be read.
func (in Input) namedDue() time.Time { return paced(in.State.LastNamed, in.Watch.Hinted) }

// idle is how long nothing is to be done. Tenants that get their spec without waiting for their turn wake no source.
func (in Input) idle() time.Duration {
	looks := in.due()
	if in.readsNamed() && in.namedDue().Before(looks) {
		looks = in.namedDue()
	}
	after := max(looks.Sub(in.Now), 0)
	if in.Behind > 0 {
		return min(after, CountsEvery)
	}
	return after
}

// asked reports whether a poll is wanted out of turn.
func (s State) asked(v View) bool {
	approved := v.Approved != "" && (v.Approved == s.PendingHash || v.Approved == s.UpsetHash)
	changed := v.Generation != v.Memory.Generation && v.Generation != s.Generation
	resolved := v.Memory.Unresolved && v.Unresolved == "" && !v.Memory.LastPoll.Before(s.Polled)
	return changed || resolved || v.Token != "" && v.Token != v.Memory.Token && v.Token != s.Token || approved
}

// regular is when the next poll is due by the interval. A new process keeps the rhythm of the one before.
func (s State) regular(v View) time.Time {
	last := s.LastRegular
	if last.IsZero() {
		last = v.Memory.LastPoll
	}
	if last.IsZero() || last.After(v.Now) {
		// A time in the future was written with a wrong clock: don't wait for it.
		return v.Now
	}
	return last.Add(v.Guard.Interval)
}

// pause is how long to rest once this round is over. A poll that took longer than the interval is followed by the
// next one.
func (s State) pause(v View) time.Duration {
	r := s.Round
	if r.Failure != nil {
		return max(retryPause(s.Failures+1, v.Guard.Interval), lookAgain)
	}
	last := s.LastRegular
	if r.Regular || last.IsZero() {
		last = r.Began
	}
	due := last.Add(v.Guard.Interval).Sub(v.Now)
	if r.refused() {
		due = min(due, refusedPause(s.Refusals+1, v.Guard.Interval))
	}
	return max(due, lookAgain)
}

// The pauses after a poll that failed. None is longer than that between two polls.
const (
	firstRetry = 10 * time.Second
	lastRetry  = 5 * time.Minute
)

// refusedPause is the pause after that many polls in a row that have left changes which the API server refused. Changes
// that stay refused are tried ever more rarely, and at last only with the regular polls.
func refusedPause(refusals int, interval time.Duration) time.Duration {
	return retry.Backoff{First: firstRetry, Last: interval}.Delay(refusals)
}

func retryPause(failures int, interval time.Duration) time.Duration {
	return retry.Backoff{First: firstRetry, Last: min(lastRetry, interval)}.Delay(failures)
}
