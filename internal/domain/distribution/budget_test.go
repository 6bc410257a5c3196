package distribution_test

import (
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distribution"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/loss"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// guarded is a distribution that serves viewers itself, where deletions have a budget.
func guarded(in *distribution.Input) { in.Guarded, in.Desired.Direct = true, true }

// judged is what the breaker says.
func judged(s loss.State) func(*distribution.Input) {
	return func(in *distribution.Input) {
		guarded(in)
		in.World.BudgetKnown, in.World.Budget, in.World.BudgetHarm = true, loss.Answer{State: s, Message: "Too many."}, in.Harm()
	}
}

func TestWithinBudget(t *testing.T) {
	for name, q := range together(budgetKept(), budgetRemoved()) {
		t.Run(name, func(t *testing.T) { ask(t, q) })
	}
}

func budgetKept() map[string]question {
	off := func(in *distribution.Input) { edited(in); in.Desired.Enabled = false }
	shared := func(in *distribution.Input) { in.Desired.Direct = false }
	look := distribution.Look{At: distribution.LookBudget}
	tenants := func(in *distribution.Input) { in.World.Dependents = &distribution.Dependents{Count: 3} }
	differs := resource.Difference{Field: "enabled", Desired: "false", Observed: "true"}
	enabledOutside := func(in *distribution.Input) {
		in.Desired.Enabled, in.World.Differences = false, []resource.Difference{differs}
	}
	loses := func(d resource.Difference) func(*distribution.Input) {
		return func(in *distribution.Input) { in.World.Differences = []resource.Difference{d} }
	}
	parameter := resource.Difference{Field: "tenantConfig.parameterDefinitions[origin]", Observed: "{}"}
	inherited := resource.Difference{Field: "viewerCertificate.acmCertificateArn", Desired: "arn:2", Observed: "arn:1"}
	first := resource.Difference{Field: "viewerCertificate", Desired: "{}"}
	return map[string]question{
		"one that is to be disabled is asked for":       {in: with(quiet(), off, guarded), rule: "WithinBudget", step: look},
		"the tenants of a shared one are counted first": {in: with(quiet(), off, guarded, shared), rule: "Counted", step: distribution.Look{At: distribution.LookDependents}},
		"then it is asked for":                          {in: with(quiet(), off, guarded, shared, tenants), rule: "WithinBudget", step: look},
		"also if it was enabled outside":                {in: with(quiet(), enabledOutside, guarded, shared, tenants), rule: "WithinBudget", step: look},
		"not if that is only reported":                  {in: with(quiet(), enabledOutside, guarded, shared, drift(resource.DriftReport)), rule: "Idle", step: distribution.Rest{}},
		"a parameter that tenants may set is asked for": {in: with(quiet(), edited, guarded, shared, tenants, loses(parameter)), rule: "WithinBudget", step: look},
		"and the certificate that they inherit":         {in: with(quiet(), edited, guarded, shared, tenants, loses(inherited)), rule: "WithinBudget", step: look},
		"a certificate where there was none is not":     {in: with(quiet(), edited, guarded, shared, loses(first)), rule: "InSync", step: distribution.Update{Changes: []resource.Difference{first}}},
		"and held if that is one too many": {
			in: with(quiet(), off, judged(loss.Held)), rule: "WithinBudget", step: distribution.Rest{}, reason: resource.ReasonDeletionHeld,
		},
	}
}

func budgetRemoved() map[string]question {
	shared := func(in *distribution.Input) { in.Desired.Direct = false }
	located := distribution.Look{At: distribution.LookResource}
	return map[string]question{
		"a deletion is asked for before anything is read": {in: with(dying(), unknown, guarded), rule: "WithinBudget", step: distribution.Look{At: distribution.LookBudget}},
		"tenants keep a resource without a question":      {in: with(dying(), unknown, guarded, shared), rule: "Located", step: located},
		"it waits until the burst is seen whole":          {in: with(dying(), judged(loss.Waiting)), rule: "WithinBudget", step: distribution.Rest{After: resource.AskAgain, KeepConditions: true}},
		"what is to stay is let go as it is":              {in: with(dying(), judged(loss.Stay)), rule: "WithinBudget", step: distribution.LetGo{Left: dying().Memory.ID, Abandons: true}},
		"what may go on goes on":                          {in: with(dying(), unknown, judged(loss.Go)), rule: "Located", step: located},
	}
}
