package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantplan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/plans"
)

func specOf(t *testing.T, c plan.Constraint) plans.Tree {
	t.Helper()
	objects := plan.BuildPolicy(plans.Compile(t, plan.Spec{Constraints: []plan.Constraint{c}}))
	return objects[0].Body["spec"].(plans.Tree)
}

// Gatekeeper selects a Namespace by its own labels, and whatever else has no namespace always.
func TestAConstraintSeesNothingOutsideOfThePlan(t *testing.T) {
	for name, tt := range map[string]struct {
		kinds []plan.MatchKinds
		scope any
	}{
		"no kinds are all kinds":        {nil, "Namespaced"},
		"a star is all kinds":           {[]plan.MatchKinds{{APIGroups: []string{"*"}, Kinds: []string{"*"}}}, "Namespaced"},
		"kinds in namespaces":           {[]plan.MatchKinds{{APIGroups: []string{"apps"}, Kinds: []string{"Deployment"}}}, "Namespaced"},
		"namespaces, which have labels": {[]plan.MatchKinds{{APIGroups: []string{""}, Kinds: []string{"Pod", "Namespace"}}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			match := specOf(t, plan.Constraint{Kind: "K", Name: "c", Kinds: tt.kinds})["match"].(plans.Tree)
			want := map[string]any{"matchLabels": map[string]any{plan.LabelTenantPlan: "basic"}}
			if diff := cmp.Diff(want, match["namespaceSelector"]); diff != "" || match["scope"] != tt.scope {
				t.Errorf("the scope is %v, want %v; the selector, -want +got:\n%s", match["scope"], tt.scope, diff)
			}
		})
	}
}

// The API server gives 2.0 back as 2, of another type.
func TestNumbersAreThoseThatAreRead(t *testing.T) {
	got := specOf(t, plan.Constraint{Kind: "K", Name: "c", Parameters: map[string]any{"list": []any{2.0, map[string]any{"n": -3.0}}, "half": 0.5, "huge": 1e300, "whole": int64(4)}})["parameters"]
	want := map[string]any{"list": []any{int64(2), map[string]any{"n": int64(-3)}}, "half": 0.5, "huge": 1e300, "whole": int64(4)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestWhoseAConstraintIs(t *testing.T) {
	in := tenantplan.Input{Name: "basic", UID: "p2"}
	for about, c := range map[string]struct {
		plan, uid string
		want      bool
	}{
		"the plan's own":                                           {"basic", "p2", true},
		"also where the name was changed":                          {"other", "p2", true},
		"that of a former plan of the name, which is gone":         {"basic", "p1", true},
		"that of another plan":                                     {"gold", "p3", false},
		"one without a UID is foreign, no matter what name it has": {"basic", "", false},
		"and so is one that says nothing at all":                   {"", "", false},
	} {
		l := plan.Live{Object: plan.Object{Labels: map[string]string{plan.LabelPlan: c.plan, plan.LabelPlanUID: c.uid}}}
		if got := in.Owns(l); got != c.want {
			t.Errorf("%s: got %t", about, got)
		}
	}
}
