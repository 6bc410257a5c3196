package distributiontenant_test

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// question is one case of a chain: what is the world, which rule speaks, what comes next.
type question struct {
	in   distributiontenant.Input
	rule string
	step distributiontenant.Step
	// reason is of the problem that stands in the way of Ready; empty: none does.
	reason chain.Reason
	stuck  bool
}

func ask(t *testing.T, q question) {
	t.Helper()
	got := distributiontenant.Decide(q.in)
	if got.Rule != q.rule {
		t.Errorf("rule %s spoke, want %s", got.Rule, q.rule)
	}
	if update, ok := q.step.(distributiontenant.Update); ok {
		q.step = fromSeen(q.in, update)
	}
	if d := cmp.Diff(q.step, got.Step, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("step (-want +got):\n%s", d)
	}
	var reason chain.Reason
	stuck := false
	if got.Problem != nil {
		reason, stuck = got.Problem.Reason, got.Problem.Stuck
		if got.Problem.Message == "" {
			t.Error("a problem has no message")
		}
	}
	if reason != q.reason || stuck != q.stuck {
		t.Errorf("problem %q (stuck %t), want %q (stuck %t)", reason, stuck, q.reason, q.stuck)
	}
	if end, _ := got.Step.(distributiontenant.Rest); len(end.Drift) > 0 && q.reason == "" {
		t.Errorf("drift is reported without a problem: %v", end.Drift)
	}
}

// fromSeen adds the tenant of the world to an update. The list does not tell parameters.
func fromSeen(in distributiontenant.Input, u distributiontenant.Update) distributiontenant.Update {
	u.Seen = in.World.Tenant.Tenant
	if in.World.Knowledge == resource.Listed {
		u.Seen.Parameters = u.Tenant.Parameters
	}
	return u
}

// Every rule has a case in a table, so that one that is added without is noticed.
func TestEveryRuleHasACase(t *testing.T) {
	keep, remove := distributiontenant.Chains()
	for name, chain := range map[string]struct {
		rules []chain.Entry
		cases map[string]question
	}{
		"keep":   {keep, union(union(union(keepCases(), publishCases()), referenceCases()), union(union(certificateCases(), accountCases(false)), union(union(budgetCases(false), turnCases()), union(union(proofCases(), ledCases()), union(takeOffCases(), livingKeyCases())))))},
		"remove": {remove, union(union(removeCases(), retractCases()), union(union(accountCases(true), budgetCases(true)), union(claimCases(), dyingKeyCases())))},
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

func union(a, b map[string]question) map[string]question {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}
