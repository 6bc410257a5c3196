package distributiontenant

import (
	"cmp"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// rule is one question about a tenant.
type rule = chain.Rule[judged, Decision]

// Chains lists the rules of both chains in their order.
func Chains() (living, removal []chain.Entry) {
	return chain.List(livingRules()), chain.List(removeRules())
}

// Decide picks the next step. The order of the rules is the design: all obstacles are checked before anything is
// written.
func Decide(in Input) Decision {
	rules := livingRules()
	if in.Deleting {
		rules = removeRules()
	}
	j := judge(in)
	d, name, fires := chain.Decide(rules, j)
	if !fires {
		return j.onceCertain(Decision{Rule: "Idle", Step: Rest{}})
	}
	d.Rule = name
	return j.onceReturned(j.onceCertain(j.inTimeToAsk(j.inTimeForProof(j.patient(d)))))
}

// onceReturned looks again as soon as the ledger is stored if only that keeps records from counting as published.
func (in judged) onceReturned(d Decision) Decision {
	if r, rests := d.Step.(Rest); rests && in.publication.Returns {
		r.Store = true
		d.Step = r
	}
	return d
}

// patient delays a step while an earlier failure is not due for its next try. Looking at a
// tenant that is there stays possible: its state is reported whatever else fails.
func (in judged) patient(d Decision) Decision {
	if !in.failure.waiting {
		return d
	}
	switch step := d.Step.(type) {
	case Rest, LetGo, EnsureFinalizer:
		return d
	case Look:
		// The resources that a write would refer to are only looked up for a write.
		if in.World.present() && step.At != LookDistribution && step.At != LookCertificates && step.At != LookGiver {
			return d
		}
	default:
		// Every write waits its turn.
	}
	return Decision{Rule: d.Rule, Step: in.failure.patience}
}

// shared makes a rule of one that all kinds share.
func shared(rule func(*resource.View) resource.Verdict) func(judged) (Decision, bool) {
	return func(in judged) (Decision, bool) { return in.answer(rule(in.resource)) }
}

// answer makes a step of the verdict of a shared rule.
func (in judged) answer(v resource.Verdict) (Decision, bool) {
	switch t := in.World.Tenant; v.Do {
	case resource.Pass:
		return pass()
	case resource.LookTags:
		return do(Look{At: LookTags})
	case resource.LookAccount:
		return do(Look{At: LookAccount})
	case resource.LookBudget:
		return do(Look{At: LookBudget})
	case resource.Abandon:
		return do(LetGo{Left: cmp.Or(in.Memory.ID, in.Desired.Name), Abandons: true})
	case resource.Wait:
		return do(Rest{After: resource.AskAgain, KeepConditions: true})
	case resource.EnsureFinalizer:
		return do(EnsureFinalizer{})
	case resource.Adopt:
		return do(Adopt{ARN: t.ARN, Tags: v.Tags, Previous: v.Previous})
	case resource.Tag:
		return do(Tag{ARN: t.ARN, Tags: v.Tags, Drift: v.Drift})
	case resource.Untag, resource.Release:
		return do(Untag{ARN: t.ARN, Keys: v.Keys, Release: v.Do == resource.Release})
	case resource.Announce:
		return do(Rest{Store: true, Announced: v.Keys})
	case resource.Tell:
		return in.refusal()
	case resource.Rest:
	}
	return Decision{Step: Rest{After: v.After}, Problem: v.Problem}, true
}

// certainly takes a step that can't be taken back.
func certainly(in judged, s Step) (Decision, bool) {
	if d, fires := in.answer(in.resource.Certain()); fires {
		return d, true
	}
	return do(s)
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
