package tenantplan_test

import (
	"testing"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/rollout"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantplan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/plans"
)

type planQuestion struct {
	in     tenantplan.Input
	rule   string
	step   tenantplan.Step
	reason chain.Reason
	says   string
}

var constraintKind = plan.ConstraintKind("A")

// quietPlan has its one constraint, and its two tenants have it.
func quietPlan() tenantplan.Input {
	p, err := plan.Compile("basic", plans.UID, 2, plan.Spec{Constraints: []plan.Constraint{{Kind: "A", Name: "one"}}})
	if err != nil {
		panic(err)
	}
	return tenantplan.Input{
		Now: plans.Now, Plan: p, Tried: true, Name: "basic", UID: plans.UID, Generation: 2, HasFinalizer: true, Limits: rollout.Limits{MaxConcurrent: 2, MaxFailedPercent: 10},
		Followers:   []tenantplan.Follower{{Name: "a", UID: "a", Generation: 2, Named: true, Able: true}, {Name: "b", UID: "b", Generation: 2, Named: true, Able: true}},
		Constraints: []plan.Live{{Object: plan.BuildPolicy(p)[0].Marked(), UID: "c1"}}, Attempts: plan.Attempts{},
	}
}

func planWith(changes ...func(*tenantplan.Input)) tenantplan.Input {
	in := quietPlan()
	for _, change := range changes {
		change(&in)
	}
	return in
}

// The changes of an input that cases are made of.
func unheld(in *tenantplan.Input) { in.HasFinalizer = false }

func alone(in *tenantplan.Input) { in.Followers = nil }

func bare(in *tenantplan.Input) { in.Constraints = nil }

func behind(in *tenantplan.Input) { in.Followers[0].Generation, in.Followers[1].Generation = 1, 1 }

func impossiblePlan(in *tenantplan.Input) { in.Plan, in.Invalid = nil, "spec.x is wrong" }

func refusedPlan(in *tenantplan.Input) { in.Invalid = "spec.resourceQuota: no" }

// owning is a plan with a role, and no constraints.
func owning(in *tenantplan.Input) {
	p, err := plan.Compile("basic", plans.UID, 2, plan.Spec{OwnerClusterRole: "cluster-admin"})
	if err != nil {
		panic(err)
	}
	in.Plan, in.Constraints = p, nil
}

func untried(in *tenantplan.Input) { in.Tried = false }

// unbound is a plan whose role the operator may not bind.
func unbound(ago time.Duration) func(*tenantplan.Input) {
	return func(in *tenantplan.Input) {
		owning(in)
		o := plan.Specimens(in.Plan)[0]
		in.Attempts = plan.Attempts{o.Key(): {Hash: o.Hash(), Count: 1, At: plans.Now.Add(-ago), Err: plans.Refusal(fault.Denied, "not allowed to bind it")}}
	}
}

func onItsWay(in *tenantplan.Input) { in.Constraints[0].Deleting = true }

func left(in *tenantplan.Input) { in.Deleting = true }

func broken(in *tenantplan.Input) {
	in.Unreadable = map[plan.Kind]*fault.Error{constraintKind: plans.Refusal(fault.Transient, "broken")}
	in.Constraints = nil
}

func stuck(hash string) func(*tenantplan.Input) {
	return func(in *tenantplan.Input) {
		o := plan.BuildPolicy(in.Plan)[0]
		in.Attempts = plan.Attempts{o.Key(): {Hash: hash, Count: 1, At: plans.Now, Err: plans.Refusal(fault.Denied, "not allowed")}}
	}
}

func planKeepCases() map[string]planQuestion {
	one := plan.BuildPolicy(quietPlan().Plan)[0].Marked()
	theirs := plan.Live{Object: plan.Object{Kind: constraintKind, Name: "old", Labels: map[string]string{plan.LabelPlanUID: plans.UID}}, UID: "c2"}
	edited := func(in *tenantplan.Input) { in.Constraints[0].Body = map[string]any{"spec": map[string]any{}} }
	return map[string]planQuestion{
		"a quiet plan asks for nothing":                     {in: quietPlan(), rule: "Idle", step: tenantplan.Rest{}},
		"the finalizer comes first":                         {in: planWith(unheld, bare, behind), rule: "Finalized", step: tenantplan.EnsureFinalizer{}},
		"a constraint that is missing is made":              {in: planWith(bare, behind), rule: "Constraints", step: tenantplan.Apply{Changes: plan.Changes{Create: []plan.Object{one}}}},
		"one that differs is put right":                     {in: planWith(edited), rule: "Constraints", step: tenantplan.Apply{Changes: plan.Changes{Update: []plan.Update{{Object: one, UID: "c1"}}}}},
		"an unwanted one is deleted":                        {in: planWith(func(in *tenantplan.Input) { in.Constraints = append(in.Constraints, theirs) }), rule: "Constraints", step: tenantplan.Apply{Changes: plan.Changes{Prune: []plan.Live{theirs}}}},
		"one that is on its way out is waited for":          {in: planWith(onItsWay), rule: "Idle", step: tenantplan.Rest{}},
		"one of a kind that is not there is waited for":     {in: planWith(bare, func(in *tenantplan.Input) { in.Missing = []plan.Kind{constraintKind} }), rule: "Idle", step: tenantplan.Rest{}},
		"one that can't be read is looked at again":         {in: planWith(broken), rule: "Idle", step: tenantplan.Rest{After: 10 * time.Second}},
		"one that failed is tried later":                    {in: planWith(bare, stuck(one.Hash())), rule: "Idle", step: tenantplan.Rest{After: 10 * time.Second}},
		"a failure stops no roll-out":                       {in: planWith(bare, behind, stuck(one.Hash())), rule: "Rollout", step: tenantplan.Release{UIDs: []string{"a"}, Progress: rollout.Progress{Step: 1, Target: 1}}},
		"a change is released to the first tenant":          {in: planWith(behind), rule: "Rollout", step: tenantplan.Release{UIDs: []string{"a"}, Progress: rollout.Progress{Step: 1, Target: 1}}},
		"and is waited for":                                 {in: planWith(behind, func(in *tenantplan.Input) { in.Released = map[string]bool{"a": true} }), rule: "Idle", step: tenantplan.Rest{}},
		"what the API server refuses is rolled out no more": {in: planWith(behind, refusedPlan), rule: "Idle", step: tenantplan.Rest{}},
		"a new version is tried, with or without tenants":   {in: planWith(owning, untried, alone), rule: "Try", step: tenantplan.Try{Objects: plan.Specimens(planWith(owning).Plan)}},
		"before it is rolled out":                           {in: planWith(owning, untried, behind), rule: "Try", step: tenantplan.Try{Objects: plan.Specimens(planWith(owning).Plan)}},
		"a role that may not be bound reaches no tenant":    {in: planWith(unbound(0), behind), rule: "Idle", step: tenantplan.Rest{After: 10 * time.Second}},
		"and is tried again":                                {in: planWith(unbound(10*time.Second), behind), rule: "Try", step: tenantplan.Try{Objects: plan.Specimens(planWith(owning).Plan)}},
		"a plan that can't be changes nothing":              {in: planWith(behind, impossiblePlan, bare), rule: "Idle", step: tenantplan.Rest{}},
	}
}

func planRemoveCases() map[string]planQuestion {
	inUse := func(in tenantplan.Input, says string) planQuestion {
		return planQuestion{in: in, rule: "InUse", step: tenantplan.Rest{}, reason: plan.ReasonInUse, says: says}
	}
	one := plan.BuildPolicy(quietPlan().Plan)[0].Marked()
	many := func(in *tenantplan.Input) {
		for _, name := range []string{"d", "c"} {
			in.Followers = append(in.Followers, tenantplan.Follower{Name: name, UID: name, Generation: 2, Named: true})
		}
	}
	return map[string]planQuestion{
		"a plan that is in use stays":                      inUse(planWith(), "the plan was deleted, but is still used by 2 tenants (a, b): give them another plan, or delete them"),
		"not all of its tenants are named":                 inUse(planWith(many), "the plan was deleted, but is still used by 4 tenants (a, b, c, ...): give them another plan, or delete them"),
		"so does one that can't be":                        inUse(planWith(impossiblePlan, bare), ""),
		"its constraints are kept":                         {in: planWith(bare), rule: "ConstraintsKept", step: tenantplan.Apply{Changes: plan.Changes{Create: []plan.Object{one}}}},
		"once their kinds are noted":                       {in: planWith(bare, unheld), rule: "Finalized", step: tenantplan.EnsureFinalizer{}},
		"the generation of the deletion reaches everybody": {in: planWith(behind), rule: "Rollout", step: tenantplan.Release{UIDs: []string{"a"}, Progress: rollout.Progress{Step: 1, Target: 1}}},
		"a plan without tenants loses its constraints":     {in: planWith(alone), rule: "Constraints", step: tenantplan.Apply{Changes: plan.Changes{Prune: quietPlan().Constraints}}},
		"they are waited for":                              {in: planWith(alone, onItsWay), rule: "Constraints", step: tenantplan.Rest{After: 30 * time.Second}, reason: plan.ReasonTerminating},
		"one that can't be deleted is tried later":         {in: planWith(alone, stuck("")), rule: "Constraints", step: tenantplan.Rest{After: 10 * time.Second}, reason: plan.ReasonError, says: `the A "one": not allowed`},
		"what can't be read holds the plan":                {in: planWith(alone, broken), rule: "Constraints", step: tenantplan.Rest{After: 10 * time.Second}, reason: plan.ReasonError},
		"one that is in use is tried":                      {in: planWith(owning, untried), rule: "Try", step: tenantplan.Try{Objects: plan.Specimens(planWith(owning).Plan)}},
		"with nothing left it is released":                 {in: planWith(alone, bare), rule: "Released", step: tenantplan.LetGo{}},
		"also one that can't be":                           {in: planWith(alone, bare, impossiblePlan), rule: "Released", step: tenantplan.LetGo{}},
	}
}

func askPlan(t *testing.T, q planQuestion) {
	t.Helper()
	d := tenantplan.Decide(q.in)
	plans.Answered(t, d.Rule, d.Step, d.Problem, q.rule, q.step, q.reason, q.says)
}

func TestPlanChains(t *testing.T) {
	for name, q := range planKeepCases() {
		t.Run(name, func(t *testing.T) { askPlan(t, q) })
	}
	for name, q := range planRemoveCases() {
		q.in.Deleting = true
		t.Run("deleted: "+name, func(t *testing.T) { askPlan(t, q) })
	}
}

func TestWhatAPlanSays(t *testing.T) {
	one := plan.BuildPolicy(quietPlan().Plan)[0].Marked()
	failed := func(in *tenantplan.Input) { in.Followers[0].Failure = "PartiallyApplied: no room" }
	third := func(in *tenantplan.Input) {
		in.Followers = append(in.Followers, tenantplan.Follower{Name: "c", UID: "c", Generation: 1, Named: true, Able: true})
	}
	for name, tt := range map[string]struct {
		in tenantplan.Input
		// policy, rolled and ready are the reasons, with a + where the condition is True.
		policy, rolled, ready string
	}{
		"all is well":                                 {planWith(), "+Applied", "+RolledOut", "+RolledOut"},
		"nothing to watch over":                       {planWith(bare, func(in *tenantplan.Input) { in.Plan = plans.Simple("1") }), "+NotConfigured", "+RolledOut", "+RolledOut"},
		"a change is on its way":                      {planWith(behind), "+Applied", "RollingOut", "RollingOut"},
		"one could not get it":                        {planWith(failed), "+Applied", "TenantsFailed", "TenantsFailed"},
		"one that failed stops no other":              {planWith(failed, third), "+Applied", "RollingOut", "RollingOut"},
		"two of two stop it":                          {planWith(failed, third, func(in *tenantplan.Input) { in.Followers[1].Failure = "x" }), "+Applied", "RolloutStopped", "RolloutStopped"},
		"the plan can't be":                           {planWith(impossiblePlan), "Error", "PlanInvalid", "PlanInvalid"},
		"the API server refuses it":                   {planWith(refusedPlan), "+Applied", "PlanInvalid", "PlanInvalid"},
		"it lets the operator not bind the role":      {planWith(unbound(0)), "+NotConfigured", "PlanInvalid", "PlanInvalid"},
		"it was not asked yet":                        {planWith(untried), "+Applied", "RollingOut", "RollingOut"},
		"it was not asked since a restart":            {planWith(untried, func(in *tenantplan.Input) { in.Accepted = true }), "+Applied", "+RolledOut", "+RolledOut"},
		"it refused it before a restart":              {planWith(untried, func(in *tenantplan.Input) { in.Refused = "spec.resourceQuota: no" }), "+Applied", "PlanInvalid", "PlanInvalid"},
		"a constraint failed":                         {planWith(bare, stuck(one.Hash())), "Error", "+RolledOut", "Error"},
		"a constraint is on its way out":              {planWith(onItsWay), "Error", "+RolledOut", "Error"},
		"the kind is not there":                       {planWith(bare, func(in *tenantplan.Input) { in.Missing = []plan.Kind{constraintKind} }), "CRDMissing", "+RolledOut", "CRDMissing"},
		"the kind can't be read":                      {planWith(broken), "Error", "+RolledOut", "Error"},
		"it was deleted and is in use":                {planWith(left), "+Applied", "+RolledOut", "InUse"},
		"it was deleted, and is removed step by step": {planWith(left, alone, onItsWay), "Terminating", "+RolledOut", "Terminating"},
	} {
		t.Run(name, func(t *testing.T) {
			r := tenantplan.Conclude(tt.in, tenantplan.Outcome{Decision: tenantplan.Decide(tt.in)})
			plans.SaysOf(t, r.Conditions, map[string]string{plan.ConditionPolicyReady: tt.policy, plan.ConditionRolledOut: tt.rolled, plan.ConditionReady: tt.ready})
		})
	}
	t.Run("a pass that failed has made nothing", func(t *testing.T) {
		in := planWith(bare)
		r := tenantplan.Conclude(in, tenantplan.Outcome{Decision: tenantplan.Decide(in), Err: plans.Refusal(fault.Transient, "no answer")})
		plans.SaysOf(t, r.Conditions, map[string]string{plan.ConditionPolicyReady: "Error", plan.ConditionRolledOut: "+RolledOut", plan.ConditionReady: "Error"})
	})
}

// Tenants wait for the finalizer, so the plan has to say what is wrong with it.
func TestAFinalizerThatIsRefused(t *testing.T) {
	in := planWith(unheld)
	r := tenantplan.Conclude(in, tenantplan.Outcome{Decision: tenantplan.Decide(in), Err: plans.Refusal(fault.Denied, "not allowed by a policy")})
	plans.SaysOf(t, r.Conditions, map[string]string{plan.ConditionPolicyReady: "+Applied", plan.ConditionRolledOut: "+RolledOut", plan.ConditionReady: "Error"})
	if c := plans.ConditionOf(r.Conditions, plan.ConditionReady); c.Message != "The plan could not be updated: not allowed by a policy." {
		t.Errorf("Ready says %q", c.Message)
	}
}

func TestWhoHasAPlan(t *testing.T) {
	newcomer := func(name string) func(*tenantplan.Input) {
		return func(in *tenantplan.Input) {
			in.Followers = append(in.Followers, tenantplan.Follower{Name: name, UID: name, Named: true})
		}
	}
	for name, tt := range map[string]struct {
		in   tenantplan.Input
		want string
	}{
		"no tenant names the plan": {planWith(alone), "The plan is valid. No tenant uses it yet."},
		"all tenants have it":      {planWith(), "All tenants have the current version of the plan."},
		"some can't have it": {
			planWith(newcomer("d"), newcomer("c")),
			`The current version of the plan is applied to 2 of 4 tenants. The rest have no namespace that can get it: see NamespaceReady and PlanApplied of the Tenant "c".`,
		},
		"the only one can't": {
			planWith(alone, newcomer("c")),
			`The current version of the plan is applied to 0 of 1 tenant. The rest have no namespace that can get it: see NamespaceReady and PlanApplied of the Tenant "c".`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := tenantplan.Conclude(tt.in, tenantplan.Outcome{Decision: tenantplan.Decide(tt.in)})
			if c := plans.ConditionOf(r.Conditions, plan.ConditionReady); !c.Status || c.Message != tt.want {
				t.Errorf("Ready is %t: %s\nwant %s", c.Status, c.Message, tt.want)
			}
		})
	}
}

// saysOf compares the reasons of conditions.

// Every rule has a case in a table, so that none is dead, and one that is added without is noticed.
func TestEveryRuleOfPlansHasACase(t *testing.T) {
	keep, remove := tenantplan.Chains()
	spoken := func(cases map[string]planQuestion) map[string]bool {
		out := map[string]bool{}
		for _, q := range cases {
			out[q.rule] = true
		}
		return out
	}
	plans.EveryRuleSpeaks(t, keep, spoken(planKeepCases()))
	plans.EveryRuleSpeaks(t, remove, spoken(planRemoveCases()))
}
