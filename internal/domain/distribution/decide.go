package distribution

import (
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// rule is one question about a distribution or connection group.
type rule = chain.Rule[Input, Decision]

// Chains lists the rules of both chains in their order.
func Chains() (living, removal []chain.Entry) {
	return chain.List(livingRules()), chain.List(removeRules())
}

// Decide picks the next step. The order of the rules is the design: all obstacles are checked before anything is
// written.
func Decide(in Input) Decision {
	rules := livingRules()
	if in.deleting() {
		rules = removeRules()
	}
	d, name, fires := chain.Decide(rules, in)
	if !fires {
		return Decision{Rule: "Idle", Step: Rest{}}
	}
	d.Rule = name
	return patient(in, d)
}

// patient delays a write while an earlier failure is not due for its next try. Looking stays possible: a change that
// someone makes by hand meanwhile is seen at once, and the deletion continues from there.
func patient(in Input, d Decision) Decision {
	after := in.waiting()
	if after == 0 || in.moved() {
		return d
	}
	switch d.Step.(type) {
	case Rest, LetGo, EnsureFinalizer, Claim, Look:
		return d
	default:
		if in.deleting() {
			after = min(after, maxFollow)
		}
		return Decision{Rule: d.Rule, Step: Rest{After: after, KeepConditions: true}}
	}
}

// shared makes a rule of one that all kinds share.
func shared(rule func(*resource.View) resource.Verdict) func(Input) (Decision, bool) {
	return func(in Input) (Decision, bool) { return in.answer(rule(in.view())) }
}

// answer makes a step of the verdict of a shared rule.
func (in Input) answer(v resource.Verdict) (Decision, bool) {
	switch r := in.World.Resource; v.Do {
	case resource.Pass:
		return pass()
	case resource.LookTags:
		return do(Look{At: LookTags})
	case resource.LookAccount:
		return do(Look{At: LookAccount})
	case resource.LookBudget:
		return do(Look{At: LookBudget})
	case resource.Abandon:
		return do(LetGo{Left: in.Memory.ID, Abandons: true})
	case resource.Wait:
		return do(Rest{After: resource.AskAgain, KeepConditions: true})
	case resource.EnsureFinalizer:
		return do(EnsureFinalizer{})
	case resource.Adopt:
		return do(Adopt{ARN: r.ARN, Tags: v.Tags, Previous: v.Previous})
	case resource.Tag:
		return do(Tag{ARN: r.ARN, Tags: v.Tags, Drift: v.Drift})
	case resource.Untag, resource.Release:
		return do(Untag{ARN: r.ARN, Keys: v.Keys})
	case resource.Announce:
		return do(Rest{Store: true, Announced: v.Keys})
	case resource.Tell:
		return in.refusal()
	case resource.Rest:
	}
	return Decision{Step: Rest{After: v.After}, Problem: v.Problem}, true
}

// certainly takes a step that can't be taken back.
func certainly(in Input, s Step) (Decision, bool) {
	if d, fires := in.answer(in.view().Certain()); fires {
		return d, true
	}
	return do(s)
}

// refusal turns the refusal of this pass's write into the problem to show.
func (in Input) refusal() (Decision, bool) {
	return stuck(resource.ReasonOf(in.World.Refused.Kind), in.World.Refused.Error())
}

// rest ends the pass with a problem, and leaves waking up to after.
func rest(p chain.Problem, after time.Duration) (Decision, bool) {
	return Decision{Step: Rest{After: after}, Problem: &p}, true
}

// stuck ends the pass with a problem that is tried again with growing delay.
func stuck(reason chain.Reason, message string) (Decision, bool) {
	return Decision{Step: Rest{}, Problem: &chain.Problem{Reason: reason, Message: message, Stuck: true}}, true
}

// do asks for a step.
func do(s Step) (Decision, bool) { return Decision{Step: s}, true }

// pass lets the next rule speak.
func pass() (Decision, bool) { return Decision{}, false }
