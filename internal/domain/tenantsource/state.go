package tenantsource

import (
	"maps"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/rollout"
)

// Spec is what users want of a source, and what it may have.
type Spec struct {
	Generation int64
	// Reading tells specs apart that say different things of what is read and changed, whatever they say of rollouts. Empty:
	// each generation is another spec.
	Reading string
	// Deleting is set once the TenantSource was deleted.
	Deleting          bool
	Suspended, DryRun bool
	Policy            Policy
	Guard             Guard
	// Invalid says what is wrong with the spec, empty where nothing is.
	Invalid string
	// Unresolved says which object that the spec names tenants can't use yet, and why; empty where there is none.
	Unresolved string
	// Ungranted is set while the source asks for more than its namespace may have. Audited means that nothing is held for
	// it.
	Ungranted *chain.Halt
	Audited   bool
	// Token is what the user asks to poll at once with, Approved the plan that they approve.
	Token, Approved string
	// Rollout is what the spec says of how changes of its tenants spread; nil where it says nothing.
	Rollout *rollout.Limits
	// RowKey is set where a column identifies the rows. LargeTable is from how many rows on single ones are read.
	RowKey     bool
	LargeTable int
	// WritesBack is set where the source has a state table, and Unwritable where it is being deleted and may not write it any more.
	WritesBack, Unwritable bool
}

// Memory is what status remembers.
type Memory struct {
	// Generation is that of the last poll.
	Generation int64
	LastPoll   time.Time
	Token      string
	Columns    []SeenColumn
	// Rows is how many the last complete read had.
	Rows    int
	History History
	// PendingHash is that of the plan that waits for approval, empty for none.
	PendingHash string
	// Complete is when the last complete read began.
	Complete time.Time
	// Cleared are the keys of the losses that the guard had allowed and counted, and that may not all have happened.
	Cleared []string
	// RolledOut is the generation for which the condition RolledOut is True; zero where it is not.
	RolledOut int64
	// InSync is set where the condition Synced is True, Unresolved where Ready says that the tenants wait for an object.
	InSync, Unresolved bool
}

// View is what a source is seen with: at a time, with a spec and a status.
type View struct {
	Now time.Time
	Spec
	Memory Memory
}

// State is what the process remembers of a source. A fresh one costs a later deletion, and nothing else. Only events
// change it.
type State struct {
	Losses Losses
	// Back are the keys of losses that were cleared and that a read has not found since, whose objects were not the source's
	// meanwhile, or whose count has left the window: what status says of them no longer counts.
	Back map[string]bool
	// LastRead is when the last read began, complete or not.
	LastRead time.Time
	// LastRegular is when the last complete poll began that was not asked for out of turn.
	LastRegular time.Time
	// LastNamed is when the last read of single rows began, NamedSince the first since the last poll; zero for none. Others
	// is what they need to know of the other rows; nil before a complete read.
	LastNamed, NamedSince time.Time
	Others                *Others
	// NoNamedUntil is until when no single rows are read, for the generation NoNamedFor.
	NoNamedUntil time.Time
	NoNamedFor   int64
	// Refusals is how many polls in a row have left changes that the API server refused, Again when they are tried again.
	Refusals int
	Again    time.Time
	// Failures is how many polls in a row failed, Retry when the next is due.
	Failures int
	Retry    time.Time
	// UpsetHash identifies what looked like a mistake in the last read, PendingHash the plan that it left to be
	// approved.
	UpsetHash, PendingHash string
	// Over is the plan that is over although status may still say that it is held.
	Over string
	// Generation and Token are those of the last poll: the cache may not show that status yet. Polled is when it began,
	// as status tells it: the last poll of the process before, at first.
	Generation int64
	Token      string
	Polled     time.Time
	// Reading is that of the spec of the last poll; empty before the first one of this process, and once one of another spec
	// has begun.
	Reading string
	// Round is the poll, or the deletion, that is on its way; nil for none.
	Round *Round
}

// Event is something that happens to a source.
type Event interface {
	happen(v View, s *State, out *Effects)
}

// Effects are what follows from an event.
type Effects struct {
	// Dropped is set where a round has come to nothing: what its read has seen is to be told again.
	Dropped bool
}

// Apply returns the state after an event. The one before stays as it is.
func (s State) Apply(v View, e Event) (after State, out Effects) {
	if s.Round != nil {
		r := *s.Round
		s.Round = &r
	}
	e.happen(v, &s, &out)
	return s, out
}

// rewritten reports whether the spec is another one than that of the last poll: what was seen and approved with that counts
// for nothing. An edit of how gently a change is rolled out is none, where this process has made that poll.
func (s State) rewritten(v View) bool {
	same := v.Reading != "" && v.Reading == s.Reading && s.Generation == v.Memory.Generation
	return v.Generation != v.Memory.Generation && !same
}

// Overtaken reports whether another process has polled since the round began: its read is the newer one. The status that
// the round began with may have been one behind its own last poll.
func (s State) Overtaken(lastPoll time.Time) bool {
	return s.Round != nil && !lastPoll.Equal(s.Round.Previous) && !lastPoll.Equal(s.Polled)
}

// told reports whether status has the end of the round: then the answer to the write that said so was lost.
func (s State) told(v View) bool {
	r := s.Round
	return r != nil && !v.Deleting && v.Memory.LastPoll.Equal(r.Began.Truncate(time.Second)) && !v.Memory.LastPoll.Equal(r.Previous)
}

// Began says that a read begins. A changed spec reads something else: what was absent before means nothing. The same
// holds if another process has polled meanwhile, which may have seen rows.
type Began struct{}

func (Began) happen(v View, s *State, _ *Effects) {
	r := &Round{
		Began: v.Now, Settled: v.Now, Previous: v.Memory.LastPoll, Generation: v.Generation, Reading: v.Reading, Token: v.Token,
		Regular: !s.regular(v).After(v.Now),
	}
	s.Round, s.LastRead, s.NamedSince = r, v.Now, time.Time{}
	if v.Memory.LastPoll.After(s.Polled) {
		s.Losses, s.Back = nil, nil
	}
	if s.rewritten(v) {
		// Should the round come to nothing, what it has seen is not what the last poll saw.
		s.Losses, s.Reading, r.Regular = nil, "", true
	}
}

// Completed says that a read was complete. Owned are the objects of the source that live, Others is what the read leaves for
// reads of single rows. An apparent mistake ends the round; otherwise the guard is asked about what has vanished, and
// what rows take away.
type Completed struct {
	Harvest *Harvest
	Owned   []Owned
	Others  *Others
}

func (e Completed) happen(v View, s *State, out *Effects) {
	h, r := e.Harvest, s.Round
	r.Harvest, r.Others, r.Fleet, r.Settled, s.UpsetHash, s.PendingHash = h.told(), e.Others, len(e.Owned), v.Now, "", ""
	rewritten := s.rewritten(v)
	if upset := Upset(v.Memory.Columns, v.Memory.Rows, h); !rewritten && len(upset) > 0 {
		if found := UpsetHash(upset, v.Memory.Complete); found != v.Approved {
			s.UpsetHash = found
			Failed{Failure: &Failure{Reason: SourceError, Message: upsetMessage(upset, v.Memory.Complete)}, Seen: h, Owned: e.Owned}.happen(v, s, out)
			return
		}
	}
	s.believe(v, h, e.Owned)
	losses := h.Harms()
	r.Judged, r.Fleet = true, fleetOf(e.Owned, losses)
	losses = append(losses, h.absent(e.Owned, v.Policy)...)
	// A row without a usable name may be that of any tenant: nothing is confirmed by such a read.
	s.Losses = s.Losses.Note(losses, r.Began, r.Regular && h.Nameless == 0, v.Guard)
	if !rewritten {
		s.recall(v)
	}
	if v.Memory.PendingHash != "" && !s.stillPending(v) {
		s.Over = v.Memory.PendingHash
	}
	s.Losses = s.Losses.Approve(v.Approved, s.pendingSince(v))
	verdict := s.judge(v, r.Fleet, h.Rows == 0)
	if h.Nameless > 0 {
		verdict = verdict.freeze(0)
	}
	r.Plan = planOf(h.unmark(e.Owned, v.Policy), verdict)
	// What is counted already needs no other write.
	r.Reserved = verdict.New() == 0
}

// Failed says that the round ends without a result. The rows that its read has seen exist all the same, also where the
// read broke off or looks like a mistake: a plan that is held ends with it, unless it is known that none of its rows
// was seen.
type Failed struct {
	Failure *Failure
	// Seen is nil where it is not the read that has failed.
	Seen  Seen
	Owned []Owned
}

func (e Failed) happen(v View, s *State, _ *Effects) {
	r := s.Round
	if r.Failure = e.Failure; e.Seen == nil {
		return
	}
	if seen := s.believe(v, e.Seen, e.Owned); seen && v.Memory.PendingHash != "" && !s.stillPending(v) {
		s.Over = v.Memory.PendingHash
		r.Verdict, r.Judged = Verdict{Pending: s.judge(v, len(e.Owned), false).Pending}, true
	}
}

// Judged says that a source is deleted that has these objects: all of them go, or none. Until that is counted it is judged
// again each time: it may have been approved meanwhile, or the policy changed.
type Judged struct{ Owned []Owned }

func (e Judged) happen(v View, s *State, _ *Effects) {
	if r := s.Round; r != nil && r.Reserved && r.Removed < len(r.Verdict.Go) {
		return
	}
	losses := lossesOf(e.Owned)
	for i := range losses {
		losses[i].Marked = time.Time{} // that the source itself is deleted is another decision
	}
	s.Losses = s.Losses.Note(losses, v.Now, false, v.Guard)
	s.recall(v)
	s.Losses = s.Losses.Approve(v.Approved, s.pendingSince(v))
	s.Round = &Round{
		Began: v.Now, Settled: v.Now, Previous: v.Memory.LastPoll, Generation: v.Generation, Token: v.Token, Fleet: len(e.Owned),
		Plan: Plan{Verdict: s.judge(v, len(e.Owned), false)},
	}
}

// Counted says that status counts all that the guard lets happen.
type Counted struct{}

func (Counted) happen(v View, s *State, _ *Effects) {
	s.Round.Reserved = true
	keys := s.Round.Verdict.keys()
	s.Back = maps.Clone(s.Back)
	for _, key := range keys {
		delete(s.Back, key)
	}
	s.Losses = s.Losses.clear(keys, v.Now)
}

// Ended says that status tells of the round: the next decision starts a new one.
type Ended struct{}

func (Ended) happen(v View, s *State, _ *Effects) {
	r := s.Round
	s.Round, s.Generation, s.Reading, s.Token, s.PendingHash, s.Polled = nil, r.Generation, r.Reading, r.Token, "", r.Began.Truncate(time.Second)
	if held := r.Verdict.Pending; held != nil {
		s.PendingHash = held.Hash
	}
	if r.Failure != nil {
		s.Failures++
		s.Retry = v.Now.Add(retryPause(s.Failures, v.Guard.Interval))
		return
	}
	s.Failures, s.Others = 0, r.Others
	if r.refused() { // that may pass
		s.Refusals++
		s.Again = v.Now.Add(refusedPause(s.Refusals, v.Guard.Interval))
	} else {
		s.Refusals, s.Again = 0, time.Time{}
	}
	if r.Regular || s.LastRegular.IsZero() {
		s.LastRegular = r.Began
	}
}

// Dropped says that the round comes to nothing.
type Dropped struct{}

func (Dropped) happen(_ View, s *State, out *Effects) {
	s.Round, out.Dropped = nil, true
}

const (
	// maxRound is how long the result of a read may be used. After a longer time without a write the source is read again.
	maxRound = 30 * time.Minute
	// shortestTrust is how long a read is good for at least, or deletions would never come about where polls follow each
	// other faster than writes.
	shortestTrust = time.Minute
)

// Resumed says that the source is looked at again, after a while. A round may be over, or of another spec; and one that is as
// old as a poll takes nothing away any more, as rows may be back. The next poll is due then, and what the guard has cleared
// stays cleared.
type Resumed struct{}

func (Resumed) happen(v View, s *State, out *Effects) {
	if s.told(v) {
		Ended{}.happen(v, s, out)
	}
	switch r := s.Round; {
	case r == nil:
	case r.Generation != v.Generation || v.Now.Sub(r.Settled) > maxRound || v.Suspended || v.Frozen() || s.Overtaken(v.Memory.LastPoll):
		Dropped{}.happen(v, s, out)
	case r.Harvest != nil && !v.Deleting && v.Now.Sub(r.Settled) > max(v.Guard.Interval, shortestTrust):
		s.recall(v)
		r.stop()
	}
}

// Frozen reports whether nothing may be done for the source, because it asks for too much.
func (s Spec) Frozen() bool { return s.Ungranted != nil && !s.Audited }

// KeepsStates reports whether the state table is written now.
func (s Spec) KeepsStates() bool {
	return s.WritesBack && !s.Unwritable && !s.Suspended && !s.DryRun && !s.Frozen() && s.Invalid == ""
}

// Retains reports whether a deleted source leaves its objects as they are. Then nothing needs to be known of them, and
// the source is deleted even if they can't be read.
func (s Spec) Retains() bool { return s.Policy == PolicyRetain || s.DryRun || s.Suspended }
