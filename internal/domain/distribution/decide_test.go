package distribution_test

import (
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distribution"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// question is one case of a chain: what is the world, which rule speaks, what comes next.
type question struct {
	in   distribution.Input
	rule string
	step distribution.Step
	// reason is of the problem that stands in the way of Ready; empty: none does.
	reason chain.Reason
	stuck  bool
	// says is the whole message of the problem, where a case is about it.
	says string
}

func ask(t *testing.T, q question) {
	t.Helper()
	got := distribution.Decide(q.in)
	if got.Rule != q.rule {
		t.Errorf("rule %s spoke, want %s", got.Rule, q.rule)
	}
	if d := cmp.Diff(q.step, got.Step, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(distribution.Update{}, "Changes")); d != "" {
		t.Errorf("step (-want +got):\n%s", d)
	}
	var problem chain.Problem
	if got.Problem != nil {
		problem = *got.Problem
		if problem.Message == "" {
			t.Error("a problem has no message")
		}
	}
	if problem.Reason != q.reason || problem.Stuck != q.stuck {
		t.Errorf("problem %q (stuck %t), want %q (stuck %t)", problem.Reason, problem.Stuck, q.reason, q.stuck)
	}
	if d := cmp.Diff(q.says, problem.Message); q.says != "" && d != "" {
		t.Errorf("message (-want +got):\n%s", d)
	}
	if end, _ := got.Step.(distribution.Rest); len(end.Drift) > 0 && q.reason == "" {
		t.Errorf("drift is reported without a problem: %v", end.Drift)
	}
}

// Every rule has a case in a table, so that none is dead, and one that is added without is noticed.
func TestEveryRuleHasACase(t *testing.T) {
	keep, remove := distribution.Chains()
	for name, chain := range map[string]struct {
		rules []chain.Entry
		cases map[string]question
	}{
		"keep": {keep, together(keepCases(), budgetKept(), claimKept(), targetsKept())}, "remove": {remove, together(removeCases(), budgetRemoved(), claimRemoved(), targetsRemoved())},
	} {
		spoken := map[string]bool{}
		for _, q := range chain.cases {
			spoken[q.rule] = true
		}
		for _, r := range chain.rules {
			if !spoken[r.Name] {
				t.Errorf("no case in which rule %s of the %s chain speaks", r.Name, name)
			}
			if r.About == "" {
				t.Errorf("rule %s of the %s chain says nothing about itself", r.Name, name)
			}
		}
	}
}

// together are the cases of several tables.
func together(tables ...map[string]question) map[string]question {
	all := map[string]question{}
	for _, table := range tables {
		maps.Copy(all, table)
	}
	return all
}

// A failure on the same generation delays writes until it is due, and nothing else.
func TestPatience(t *testing.T) {
	// Failing for a minute, last tried ten seconds ago: due again 1 m 20 s after the start.
	waiting := failing(resource.ReasonAccessDenied, now.Add(-time.Minute), now.Add(-10*time.Second))
	long := failing(resource.ReasonAccessDenied, now.Add(-time.Hour), now.Add(-10*time.Second))
	held := distribution.Rest{After: 20 * time.Second, KeepConditions: true}
	create := distribution.Create{Tags: quiet().World.Tags}
	tests := map[string]question{
		"a write waits":                             {in: with(quiet(), drifted, waiting), rule: "InSync", step: held},
		"a create waits":                            {in: with(unborn(), waiting), rule: "Present", step: held},
		"looking does not":                          {in: with(unborn(), marked(time.Hour), waiting), rule: "LookedUp", step: distribution.Look{At: distribution.LookResource}},
		"letting go does not":                       {in: with(dying(), absent, waiting), rule: "Gone", step: distribution.LetGo{}},
		"putting the finalizer back does not":       {in: with(quiet(), waiting, func(in *distribution.Input) { in.HasFinalizer = false }), rule: "Finalized", step: distribution.EnsureFinalizer{}},
		"a changed spec is tried at once":           {in: with(quiet(), drifted, waiting, edited), rule: "InSync", step: distribution.Update{}},
		"a person who asks is not made to wait":     {in: with(unborn(), waiting, nudged), rule: "Present", step: create},
		"nor one whose question is still open":      {in: with(unborn(), waiting, func(in *distribution.Input) { in.Attempts.Asked = true }), rule: "Present", step: create},
		"what is due is tried":                      {in: with(unborn(), failing(resource.ReasonAccessDenied, now.Add(-time.Minute), now.Add(-40*time.Second))), rule: "Present", step: create},
		"a fresh process keeps to the old schedule": {in: with(unborn(), failing(resource.ReasonAccessDenied, now.Add(-time.Minute), time.Time{})), rule: "Present", step: held},
		"a deletion is looked at each minute, however long it has been failing": {
			in: with(dying(), at(distribution.StepDisabling), long), rule: "Disabled", step: distribution.Rest{After: time.Minute, KeepConditions: true},
		},
		"a deletion that a person has helped on does not wait for what failed before": {
			in: with(dying(), disabled, at(distribution.StepDisabling), long), rule: "Deleted", step: distribution.Delete{},
		},
	}
	for name, q := range tests {
		t.Run(name, func(t *testing.T) { ask(t, q) })
	}
}
