// Package tenantsource decides what a source of customers does: when its table is read, what a read means for the fleet,
// and what may be deleted. It reads nothing itself.
package tenantsource

import (
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/rollout"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
)

// approveAnnotation is the annotation that approves a plan, for messages.
const approveAnnotation = "cloudfront-tenant-operator.io/approve-deletions"

// Input is all that a decision depends on.
type Input struct {
	View
	State State
	// Progress is how far changes of its tenants have come that are on their way. Behind is how many tenants don't have their
	// spec yet, where LooksBehind asks for it.
	Progress rollout.Rollout
	Behind   int
	// Watch is what is known of the stream of the table's changes; nil without spec.watch.
	Watch *Watch
	// States is what is known of the state table; nil without spec.writeBack, and while nothing is written.
	States *statetable.Verdict
	// Owned are the objects of the source; only needed when it is deleted.
	Owned []Owned
	// Leaving is set while objects of a deleted source with a state table are being deleted.
	Leaving bool
	// LostObjects is set where others have deleted objects of the source since its last poll.
	LostObjects bool
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
	// Write writes the next of the changes.
	Write
	// Count counts the deletions in status before they are made: an operator that dies among them must
	// not delete as many again.
	Count
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
	case ReadNamed, Write, Remove:
		return chain.Write
	case LetGo:
		return chain.Release
	case Rest, Count:
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
		chain.Ask("Left", "With spec.writeBack, the source stays until its deleted tenants are gone, to write that to the state table.", Input.left),
		chain.Ask("Emptied", "When the source has no tenants left, its finalizer is removed.", Input.emptied),
		chain.Ask("Judged", "The guard applies as it does for missing rows, but without confirmation by further polls.", Input.judged),
		chain.Ask("Counted", "Deletions are counted in status before they are carried out.", Input.counted),
		chain.Ask("Removed", "Tenants that the guard releases are deleted or disabled, a batch in each pass.", Input.removed),
	}
}

// do asks for a step where something is so.
func do(s Step, where bool) (Decision, bool) { return Decision{Step: s}, where }

// restFor looks again after a while.
func restFor(after time.Duration) (Decision, bool) { return Decision{Step: Rest, After: after}, true }

func pass() (Decision, bool) { return Decision{}, false }

func (in Input) suspended() (Decision, bool) { return do(Rest, in.Suspended) }

func (in Input) granted() (Decision, bool) { return do(Rest, in.Frozen()) }

func (in Input) valid() (Decision, bool) { return do(Rest, in.Invalid != "") }

func (in Input) read() (Decision, bool) {
	return do(Read, in.State.Round == nil && !in.due().After(in.Now))
}

func (in Input) named() (Decision, bool) {
	return do(ReadNamed, in.State.Round == nil && in.readsNamed() && !in.namedDue().After(in.Now))
}

func (in Input) failed() (Decision, bool) {
	if r := in.State.Round; r != nil && r.Failure != nil {
		return restFor(in.State.pause(in.View))
	}
	return pass()
}

func (in Input) planned() (Decision, bool) {
	if in.State.Round != nil && in.DryRun {
		return restFor(in.State.pause(in.View))
	}
	return pass()
}

func (in Input) applied() (Decision, bool) {
	r := in.State.Round
	return do(Write, r != nil && len(r.Next(1)) > 0)
}

func (in Input) counted() (Decision, bool) {
	r := in.State.Round
	return do(Count, r != nil && !r.Reserved && (r.Removed < len(r.Verdict.Go) || r.Written < len(r.Changes)))
}

func (in Input) removed() (Decision, bool) {
	switch r := in.State.Round; {
	case r == nil:
		return pass()
	case r.Removed < len(r.Verdict.Go):
		return do(Remove, true)
	case !in.Deleting:
		return restFor(in.State.pause(in.View))
	case len(r.Undeleted) > 0:
		return restFor(in.unwoken())
	}
	// Whether anything is left is to be seen.
	return restFor(lookAgain)
}

// unwoken is when a deleted source looks again that is not woken when its objects change. Users may delete them one by
// one, and the window passes, too.
func (in Input) unwoken() time.Duration { return max(in.Guard.Interval, lookAgain) }

// lookAgain is the shortest pause between two rounds. None at all would leave the next one to events.
const lookAgain = time.Second

func (in Input) retained() (Decision, bool) { return do(LetGo, in.Retains()) }

func (in Input) left() (Decision, bool) {
	if in.Leaving && len(in.Owned) == 0 && in.Invalid == "" {
		return restFor(in.unwoken())
	}
	return pass()
}

func (in Input) emptied() (Decision, bool) { return do(LetGo, len(in.Owned) == 0 && in.Invalid == "") }

func (in Input) judged() (Decision, bool) {
	if r := in.State.Round; in.Invalid != "" || r == nil || r.Failure != nil || len(r.Verdict.Go) == 0 {
		return restFor(in.unwoken())
	}
	return pass()
}
