package tenantsource

import (
	"maps"
	"slices"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

// Round is one poll from its read to its report, or the deletion of what a deleted source has.
type Round struct {
	Began time.Time
	// Settled is when its read was over, Previous the poll before it as status told it.
	Settled, Previous time.Time
	Generation        int64
	Reading, Token    string
	// Regular is set when the poll was due by the interval: only such a poll confirms that a row is gone.
	Regular bool
	// Harvest is what a complete read came to; nil before it.
	Harvest *Harvest
	// Fleet is how many objects the source had.
	Fleet int
	// Written is how many of the changes are made. Harmful is how many of them take something away: the last ones.
	Written, Harmful int
	// made are the keys of those made that took something away.
	made map[string]bool
	// Verdict is the guard's, Removed how many of its Go were looked at, Deleted how many of them went, Reserved
	// is set once they, and the changes that take something away, are counted in status.
	Verdict          Verdict
	Removed, Deleted int
	Reserved         bool
	// Marked is how many of them were marked.
	Marked int
	// Judged is set where the verdict replaces what status says is held.
	Judged bool
	// Undeleted are those whose deletion the API server refused.
	Undeleted []Undeleted
	// Refused are changes that the API server refused, or that conflicted with a foreign object.
	Refused                     []mapping.Rejection
	Created, Updated, Conflicts int
	// Missed is how many changes were not made because their objects have changed since they were looked at.
	Missed int
	// Others is what it leaves behind for reads of single rows.
	Others *Others
	// Failure ends the round.
	Failure *Failure
}

// Undeleted is an object that was to be deleted, and that the API server did not delete.
type Undeleted struct {
	Owned
	Reason string
}

// Gone are the UIDs of those that the round has removed.
func (r *Round) Gone() map[string]bool {
	gone := make(map[string]bool, r.Removed)
	for _, o := range r.Verdict.Go[:r.Removed] {
		if !o.Mark {
			gone[o.UID] = true
		}
	}
	for _, o := range r.Undeleted {
		delete(gone, o.UID)
	}
	return gone
}

// done are the keys of the losses that the round has brought about.
func (r *Round) done() map[string]bool {
	done := r.Gone()
	maps.Copy(done, r.made)
	return done
}

// release keeps those changes that take nothing away, and after them those that the guard lets happen.
func (r *Round) release() {
	let := make(map[string]Loss, len(r.Verdict.Changes))
	for _, l := range r.Verdict.Changes {
		let[l.Name] = l
	}
	h := r.Harvest
	kept := slices.DeleteFunc(slices.Clone(h.Changes), func(c Change) bool { return c.Harm != "" })
	harmless := len(kept)
	for _, c := range h.Changes {
		if l, goes := let[c.Name]; c.Harm != "" && goes {
			c.Approved = l.Approved
			kept = append(kept, c)
		}
	}
	h.Changes, r.Harmful = kept, len(kept)-harmless
}

// stop drops the changes that take something away and are not made yet.
func (r *Round) stop() {
	r.Harvest.Changes, r.Harmful = r.Harvest.Changes[:max(r.Written, len(r.Harvest.Changes)-r.Harmful)], 0
}

// Next are the changes that may be made now, at most so many. Those that take something away are counted first.
func (r *Round) Next(most int) []Change {
	end := len(r.Harvest.Changes)
	if !r.Reserved {
		end -= r.Harmful
	}
	next := r.Harvest.Changes[min(r.Written, end):end]
	return next[:min(len(next), most)]
}

// Made remembers that the change was made.
func (r *Round) Made(c Change) {
	if c.Harm == "" {
		return
	}
	if r.made == nil {
		r.made = map[string]bool{}
	}
	r.made[c.loss().key()] = true
}

// Failure is why a poll came to nothing.
type Failure struct {
	Reason  chain.Reason
	Message string
	// Connection is set where the connection string can't be used.
	Connection bool
}

// Begin starts a round. A changed spec reads something else: what was absent before means nothing. Neither does it where
// another process has polled in the meantime, which may have seen rows.
func (in Input) Begin() *Round {
	r := &Round{
		Began: in.Now, Settled: in.Now, Previous: in.Memory.LastPoll, Generation: in.Generation, Reading: in.Reading, Token: in.Token,
		Regular: !in.regular().After(in.Now),
	}
	s := in.Session
	s.LastRead, s.NamedSince = in.Now, time.Time{}
	if in.Memory.LastPoll.After(s.Polled) {
		s.Losses, s.Back = nil, nil
	}
	if in.rewritten() {
		// Should the round come to nothing, what it has seen is not what the last poll saw.
		s.Losses, s.Reading, r.Regular = nil, "", true
	}
	return r
}

// Judge asks the guard for a source that is being deleted: all of its objects go, or none.
func (in Input) Judge() *Round {
	s := in.Session
	s.Losses = s.Losses.Note(lossesOf(unmarked(in.Owned)), in.Now, false, in.Guard)
	in.recall()
	s.Losses.Approve(in.Approved, in.pendingSince())
	return &Round{
		Began: in.Now, Settled: in.Now, Previous: in.Memory.LastPoll, Generation: in.Generation, Token: in.Token, Fleet: len(in.Owned),
		Verdict: in.judge(len(in.Owned), false),
	}
}

// unmarked are objects whose marks count for nothing: the source itself is deleted, and that is another decision.
func unmarked(owned []Owned) []Owned {
	out := slices.Clone(owned)
	for i := range out {
		out[i].Marked = time.Time{}
	}
	return out
}

// End closes the round: the next decision starts a new one.
func (in Input) End() {
	s := in.Session
	r := s.Round
	s.Round, s.Generation, s.Reading, s.Token, s.PendingHash, s.Polled = nil, r.Generation, r.Reading, r.Token, "", r.Began.Truncate(time.Second)
	if held := r.Verdict.Pending; held != nil {
		s.PendingHash = held.Hash
	}
	if r.Failure != nil {
		s.Failures++
		s.Retry = in.Now.Add(retryPause(s.Failures, in.Guard.Interval))
		return
	}
	s.Failures, s.Others = 0, r.Others
	s.tryAgain(r, in.Now, in.Guard.Interval)
	if r.Regular || s.LastRegular.IsZero() {
		s.LastRegular = r.Began
	}
}

// tryAgain has the table polled again soon where the API server has refused changes: that may pass.
func (s *Session) tryAgain(r *Round, now time.Time, interval time.Duration) {
	if !r.refused() {
		s.Refusals, s.Again = 0, time.Time{}
		return
	}
	s.Refusals++
	s.Again = now.Add(refusedPause(s.Refusals, interval))
}

// refused reports whether the API server has refused changes, other than because their objects belong to someone else.
func (r *Round) refused() bool { return len(r.Refused) > r.Conflicts }
