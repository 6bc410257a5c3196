package parent

import (
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/edge"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// rule is one question. It answers with a decision, or lets the next rule speak.
type rule struct {
	name  string
	about string
	apply func(Input) (Decision, bool)
}

// Chains lists the rules of both chains in their order, for the documentation.
func Chains() (keep, remove []edge.Rule) {
	list := func(rules []rule) []edge.Rule {
		out := make([]edge.Rule, len(rules))
		for i, r := range rules {
			out[i] = edge.Rule{Name: r.name, About: r.about}
		}
		return out
	}
	return list(keepRules()), list(removeRules())
}

// Decide picks the one step that comes next. The order of the rules is the design: whatever can stand in the
// way is asked before anything is written.
func Decide(in Input) Decision {
	rules := keepRules()
	if in.deleting() {
		rules = removeRules()
	}
	for _, r := range rules {
		if d, fires := r.apply(in); fires {
			d.Rule = r.name
			return patient(in, d)
		}
	}
	return Decision{Rule: "Idle", Step: Rest{}}
}

// patient holds a write back while an earlier failure is not due for its next try. Looking stays possible: what
// a person does by hand meanwhile is seen at once, and the deletion goes on from there.
func patient(in Input, d Decision) Decision {
	if !in.waiting() || in.moved() {
		return d
	}
	switch d.Step.(type) {
	case Rest, LetGo, Hold, Look:
		return d
	default:
		after := in.dueIn(in.Memory.Failure)
		if in.deleting() {
			after = min(after, maxFollow)
		}
		return Decision{Rule: d.Rule, Step: Rest{After: after, Hold: true}}
	}
}

// refusedWith reports whether this pass's write was refused with one of those kinds.
func (in Input) refusedWith(kinds ...fault.Kind) bool {
	return in.World.Refused != nil && fault.Is(in.World.Refused, kinds...)
}

// refusal turns the refusal of this pass's write into the problem to show.
func (in Input) refusal() (Decision, bool) {
	return stuck(edge.ReasonOf(in.World.Refused.Kind), in.World.Refused.Error())
}

// rest ends the pass with a problem, and leaves waking up to after.
func rest(p edge.Problem, after time.Duration) (Decision, bool) {
	return Decision{Step: Rest{After: after}, Problem: &p}, true
}

// stuck ends the pass with a problem that is tried again with growing delay.
func stuck(reason edge.Reason, message string) (Decision, bool) {
	return Decision{Step: Rest{}, Problem: &edge.Problem{Reason: reason, Message: message, Stuck: true}}, true
}

// do asks for a step.
func do(s Step) (Decision, bool) { return Decision{Step: s}, true }

// pass lets the next rule speak.
func pass() (Decision, bool) { return Decision{}, false }
