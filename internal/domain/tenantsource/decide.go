// Package tenantsource decides what a source of customers does: when its table is read, what a read means for the fleet,
// and what may be deleted. It reads nothing itself.
package tenantsource

import (
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/rollout"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/retry"
)

// approveAnnotation is the annotation that approves a plan, for messages.
const approveAnnotation = "cloudfront-tenant-operator.io/approve-deletions"

// Input is all that a decision depends on.
type Input struct {
	Now        time.Time
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
	// Ungranted is set while the source asks for more than its namespace may have. Audited means that nothing is held for
	// it.
	Ungranted *chain.Halt
	Audited   bool
	// Token is what the user asks to poll at once with, Approved the plan that they approve.
	Token, Approved string
	Memory          Memory
	Session         *Session
	// Rollout is what the spec says of how changes of its tenants spread; nil where it says nothing. Progress is how far those
	// have come that are on their way. Behind is how many tenants don't have their spec yet, where
	// LooksBehind asks for it.
	Rollout  *rollout.Limits
	Progress rollout.Rollout
	Behind   int
	// Watch is what is known of the stream of the table's changes; nil without spec.watch. RowKey is set where a column
	// identifies the rows. LargeTable is from how many rows on single ones are read.
	Watch      *Watch
	RowKey     bool
	LargeTable int
	// Owned are the objects of the source; only needed when it is deleted.
	Owned []Owned
	// LostObjects is set where others have deleted objects of the source since its last poll.
	LostObjects bool
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
	// InSync is set where the condition Synced is True.
	InSync bool
}

// Session is what the process remembers of a source. A fresh one costs a later deletion, and
// nothing else.
type Session struct {
	Losses Losses
	// Back are the keys of losses that were cleared and that a read has not found since, whose objects were not the source's
	// meanwhile, or whose count has left the window: what status says of them no longer counts.
	Back map[string]bool
	// LastRead is when the last read began, be it complete or not.
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

// Step is what is done next.
type Step int

// The steps.
const (
	// Rest does nothing until Decision.After, or something changes.
	Rest Step = iota
	// Read reads the table.
	Read
	// ReadNamed reads the rows that hints name, and applies what concerns no others.
	ReadNamed
	// Apply writes the next of the changes.
	Apply
	// Reserve counts the deletions in status before they are made: an operator that dies among them must
	// not delete as many again.
	Reserve
	// Remove deletes, or disables, the next objects.
	Remove
	// LetGo releases the deleted source.
	LetGo
)

// Effect says what the step does to the world.
func (s Step) Effect() chain.Effect {
	switch s {
	case Read:
		return chain.Read
	case ReadNamed, Apply, Remove:
		return chain.Write
	case LetGo:
		return chain.Release
	case Rest, Reserve:
	}
	return chain.Rest
}

// Decision is the step that comes next, and the rule that asked for it.
type Decision struct {
	Rule string
	Step Step
	// After is when to look again, with Rest; zero leaves it to events.
	After time.Duration
}

// rule is one question about a source.
type rule = chain.Rule[Input, Decision]

// Chains lists the rules of both chains in their order.
func Chains() (living, removal []chain.Entry) {
	return chain.List(livingRules()), chain.List(removeRules())
}

// Decide picks the one step that comes next.
func Decide(in Input) Decision {
	rules := livingRules()
	if in.Deleting {
		rules = removeRules()
	}
	d, name, fires := chain.Decide(rules, in)
	if !fires {
		return Decision{Rule: "Idle", Step: Rest, After: in.idle()}
	}
	d.Rule = name
	return d
}

func livingRules() []rule {
	return []rule{
		chain.Ask("Suspended", "While spec.suspend is set, nothing is read and nothing is changed.", Input.suspended),
		chain.Ask("Granted", "If the source asks for more than its EdgeGrant allows, nothing is read and nothing is changed.", Input.granted),
		chain.Ask("Valid", "If the spec is invalid, nothing is read.", Input.valid),
		chain.Ask("Read", "The table is read when a poll is due, when the database reports a change, when the spec has changed, when the sync-now annotation has changed, and when a held plan was approved.", Input.read),
		chain.Ask("Named", "Of a large table with spec.rowKey, only the rows are read that the database reports as changed. What other rows have a say in is left to a read of the whole table.", Input.named),
		chain.Ask("Failed", "A failed poll changes nothing.", Input.failed),
		chain.Ask("Planned", "With spec.dryRun, only the plan is written to status.", Input.planned),
		chain.Ask("Applied", "New and changed rows are applied, a batch in each pass. Changes that take something away are applied after they are counted.", Input.applied),
		chain.Ask("Counted", "Deletions, and changes that take something away, are counted in status before they are carried out.", Input.counted),
		chain.Ask("Removed", "Tenants that the guard releases are deleted or disabled, a batch in each pass.", Input.removed),
	}
}

func removeRules() []rule {
	return []rule{
		chain.Ask("Retained", "With deletionPolicy Retain, dryRun or suspend, the tenants are kept as they are.", Input.retained),
		chain.Ask("Emptied", "When the source has no tenants left, its finalizer is removed.", Input.emptied),
		chain.Ask("Judged", "The guard applies as it does for missing rows, but without confirmation by further polls.", Input.judged),
		chain.Ask("Counted", "Deletions are counted in status before they are carried out.", Input.counted),
		chain.Ask("Removed", "Tenants that the guard releases are deleted or disabled, a batch in each pass.", Input.removed),
	}
}

func do(s Step) (Decision, bool) { return Decision{Step: s}, true }

func pass() (Decision, bool) { return Decision{}, false }

func (in Input) suspended() (Decision, bool) {
	if in.Suspended {
		return do(Rest)
	}
	return pass()
}

func (in Input) granted() (Decision, bool) {
	if in.Frozen() {
		return do(Rest)
	}
	return pass()
}

// Frozen reports whether nothing may be done for the source, because it asks for too much.
func (in Input) Frozen() bool { return in.Ungranted != nil && !in.Audited }

func (in Input) valid() (Decision, bool) {
	if in.Invalid != "" {
		return do(Rest)
	}
	return pass()
}

func (in Input) read() (Decision, bool) {
	if in.Session.Round != nil || in.due().After(in.Now) {
		return pass()
	}
	return do(Read)
}

// due is when the next poll is.
func (in Input) due() time.Time {
	s := in.Session
	if in.asked() {
		return in.Now
	}
	if s.Failures > 0 {
		return s.Retry
	}
	due := in.regular()
	for _, sooner := range []time.Time{in.hinted(), s.Again} {
		if !sooner.IsZero() && sooner.Before(due) {
			due = sooner
		}
	}
	return due
}

// looks is when anything is read next.
func (in Input) looks() time.Time {
	due := in.due()
	if in.readsNamed() && in.namedDue().Before(due) {
		return in.namedDue()
	}
	return due
}

// idle is how long nothing is to be done. Tenants that get their spec without waiting for their turn wake no source.
func (in Input) idle() time.Duration {
	after := max(in.looks().Sub(in.Now), 0)
	if in.Behind > 0 {
		return min(after, CountsEvery)
	}
	return after
}

// asked reports whether a poll is wanted out of turn.
func (in Input) asked() bool {
	s := in.Session
	approved := in.Approved != "" && (in.Approved == s.PendingHash || in.Approved == s.UpsetHash)
	changed := in.Generation != in.Memory.Generation && in.Generation != s.Generation
	return changed || in.Token != "" && in.Token != in.Memory.Token && in.Token != s.Token || approved
}

// rewritten reports whether the spec is another one than that of the last poll: what was seen and approved with that counts
// for nothing. An edit of how gently a change is rolled out is none, where this process has made that poll.
func (in Input) rewritten() bool {
	s := in.Session
	same := in.Reading != "" && in.Reading == s.Reading && s.Generation == in.Memory.Generation
	return in.Generation != in.Memory.Generation && !same
}

// regular is when the next poll is due by the interval. A new process keeps the rhythm of the one before.
func (in Input) regular() time.Time {
	last := in.Session.LastRegular
	if last.IsZero() {
		last = in.Memory.LastPoll
	}
	if last.IsZero() || last.After(in.Now) {
		// A time in the future was written with a wrong clock: don't wait for it.
		return in.Now
	}
	return last.Add(in.Guard.Interval)
}

func (in Input) failed() (Decision, bool) {
	r := in.Session.Round
	if r != nil && r.Failure != nil {
		return Decision{Step: Rest, After: in.next()}, true
	}
	return pass()
}

func (in Input) planned() (Decision, bool) {
	if in.Session.Round != nil && in.DryRun {
		return Decision{Step: Rest, After: in.next()}, true
	}
	return pass()
}

func (in Input) applied() (Decision, bool) {
	r := in.Session.Round
	if r != nil && len(r.Next(1)) > 0 {
		return do(Apply)
	}
	return pass()
}

func (in Input) counted() (Decision, bool) {
	r := in.Session.Round
	if r != nil && !r.Reserved && (r.Removed < len(r.Verdict.Go) || r.Harvest != nil && r.Written < len(r.Harvest.Changes)) {
		return do(Reserve)
	}
	return pass()
}

func (in Input) removed() (Decision, bool) {
	r := in.Session.Round
	if r != nil && r.Removed < len(r.Verdict.Go) {
		return do(Remove)
	}
	if r != nil && in.Deleting && len(r.Undeleted) > 0 {
		return Decision{Step: Rest, After: max(in.Guard.Interval, lookAgain)}, true
	}
	if r != nil && in.Deleting {
		// Whether anything is left is to be seen.
		return Decision{Step: Rest, After: lookAgain}, true
	}
	if r != nil {
		return Decision{Step: Rest, After: in.next()}, true
	}
	return pass()
}

// lookAgain is the shortest pause between two rounds. None at all would leave the next one to events.
const lookAgain = time.Second

// Retains reports whether a deleted source leaves its objects as they are. Then nothing needs to be known of them, and
// the source is deleted even if they can't be read.
func (in Input) Retains() bool { return in.Policy == PolicyRetain || in.DryRun || in.Suspended }

func (in Input) retained() (Decision, bool) {
	if in.Retains() {
		return do(LetGo)
	}
	return pass()
}

func (in Input) emptied() (Decision, bool) {
	if len(in.Owned) == 0 && in.Invalid == "" {
		return do(LetGo)
	}
	return pass()
}

func (in Input) judged() (Decision, bool) {
	r := in.Session.Round
	if in.Invalid != "" || r == nil || r.Failure != nil || len(r.Verdict.Go) == 0 {
		// The source is not woken when its objects change, and people may delete them one by one; the window passes,
		// too.
		return Decision{Step: Rest, After: max(in.Guard.Interval, lookAgain)}, true
	}
	return pass()
}

// The pauses after a poll that failed. None is longer than that between two polls.
const (
	firstRetry = 10 * time.Second
	lastRetry  = 5 * time.Minute
)

// next is when to look again once this round is over. A poll that took longer than the interval is followed by the
// next one.
func (in Input) next() time.Duration { return max(in.After(*in.Session), lookAgain) }

// After is when the next poll is due, should the round be over with that session.
func (in Input) After(s Session) time.Duration {
	r := s.Round
	if r.Failure != nil {
		return retryPause(s.Failures+1, in.Guard.Interval)
	}
	last := s.LastRegular
	if r.Regular || last.IsZero() {
		last = r.Began
	}
	regular := last.Add(in.Guard.Interval).Sub(in.Now)
	if r.refused() {
		return min(regular, refusedPause(s.Refusals+1, in.Guard.Interval))
	}
	return regular
}

// refusedPause is the pause after so many polls in a row that have left changes which the API server refused. What stays
// refused is tried ever more rarely, and at last with the regular polls alone.
func refusedPause(refusals int, interval time.Duration) time.Duration {
	return retry.Backoff{First: firstRetry, Last: interval}.Delay(refusals)
}

func retryPause(failures int, interval time.Duration) time.Duration {
	return retry.Backoff{First: firstRetry, Last: min(lastRetry, interval)}.Delay(failures)
}
