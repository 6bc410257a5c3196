// Package plans has the plans and tenants that tests of chains begin with, and what they all ask.
package plans

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
)

// Tree is an object in the form of JSON.
type Tree = map[string]any

// UID is that of the simple plan.
const UID = "p1"

// Now is when a play begins.
// Now is when stories begin.
var Now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// Tenant is a tenant that has nothing but what is needed.
func Tenant() plan.Tenant {
	return plan.Tenant{Name: "example-tenant", UID: "uid-1", Namespace: "user-12345", UserID: "user-12345", Username: "exampleuser", Plan: "basic"}
}

// Full says something in every place.
func Full() plan.Spec {
	return plan.Spec{
		ResourceQuota: Tree{"hard": Tree{"limits.memory": "8Gi", "pods": "20"}, "scopes": []any{"NotTerminating"}},
		LimitRange: Tree{"limits": []any{
			Tree{"type": "Container", "default": Tree{"memory": "256Mi"}, "defaultRequest": Tree{"cpu": "100m", "memory": "128Mi"}, "max": Tree{"memory": "2Gi"}},
		}},
		PodSecurity:       plan.PodSecurity{Enforce: "baseline", Audit: "restricted", Warn: "restricted", Version: "v1.36"},
		NetworkIsolation:  plan.IsolationNamespaceAndIngress,
		IngressNamespaces: []string{"istio-ingress", "edge"},
		OwnerClusterRole:  "edit",
		Labels:            map[string]string{"example.com/tier": "basic"},
		Annotations:       map[string]string{"example.com/contact": "Support, please"},
		Istio: plan.Istio{
			Injection: plan.InjectionEnabled,
			Gateway: &plan.Gateway{
				Selector: map[string]string{"istio": "ingressgateway"}, Hosts: []string{"{{username}}.apps.example.com", "*.{{ namespace }}.example.com"},
				TLSSecret: "{{name}}-tls",
			},
			AuthorizationPolicy: plan.IsolationNamespaceAndIngress, PeerAuthentication: "STRICT",
		},
		Constraints: []plan.Constraint{
			{
				Kind: "KleffAllowedRegistries", Name: "basic-registries", EnforcementAction: "deny",
				Parameters: Tree{"registries": []any{"registry.example.com/"}, "limit": 2.0},
				Kinds:      []plan.MatchKinds{{APIGroups: []string{""}, Kinds: []string{"Pod"}}},
			},
			{Kind: "KleffPodSecurity", Name: "basic-pods", EnforcementAction: "warn"},
		},
		Edge: Edge(),
	}
}

// Edge makes a DistributionTenant by a template, a mapping and expressions.
func Edge(change ...func(*mapping.Config)) *mapping.Config {
	c := &mapping.Config{
		Template: mapping.Template{
			Labels: map[string]string{"team": "edge"}, Annotations: map[string]string{"example.com/note": "made by the plan"},
			Spec: Tree{"distributionId": "E1EXAMPLE", "dns": Tree{"provider": "route53", "zoneName": "example.com", "ttl": 300.0}},
		},
		Mapping:     []mapping.Mapping{{Column: "plan", Field: "parameters[plan]"}},
		Expressions: []mapping.Expression{{Field: "domains", Expression: `[row.username.lowerAscii() + ".example.com"]`}, {Field: "tags[owner]", Expression: "row.userId"}},
	}
	for _, f := range change {
		f(c)
	}
	return c
}

// Compile checks a plan.
func Compile(t interface {
	Helper()
	Fatal(args ...any)
}, spec plan.Spec,
) *plan.Plan {
	t.Helper()
	compiled, err := plan.Compile("basic", "uid-plan", 7, spec)
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// rendered shows all that is built as people read it, with the labels that are dropped as a comment.

// Simple has a quota and a policy, nothing that a cluster may not have.
func Simple(pods string) *plan.Plan {
	p, err := plan.Compile("basic", UID, 2, plan.Spec{
		ResourceQuota: Tree{"hard": Tree{"pods": pods}}, NetworkIsolation: plan.IsolationNamespace, Labels: map[string]string{"tier": "basic"},
	})
	if err != nil {
		panic(err)
	}
	return p
}

// Refusal is what the API server says of a write that it does not take.
func Refusal(k fault.Kind, format string, args ...any) *fault.Error {
	return &fault.Error{Kind: k, Operation: "Applying", Message: fmt.Sprintf(format, args...)}
}

// ConditionOf is the condition of that type, the zero value where there is none.
func ConditionOf(list []chain.Condition, kind chain.ConditionType) chain.Condition {
	for _, c := range list {
		if c.Type == kind {
			return c
		}
	}
	return chain.Condition{}
}

// SaysOf checks conditions against the reason that each should have, with a + before it where it is True.
func SaysOf(t *testing.T, got []chain.Condition, want map[string]string) {
	t.Helper()
	for _, c := range got {
		says := string(c.Reason)
		if c.Status {
			says = "+" + says
		}
		if want[string(c.Type)] != says || c.Message == "" {
			t.Errorf("%s is %s (%s), want %s", c.Type, says, c.Message, want[string(c.Type)])
		}
	}
	for kind := range want {
		if !slices.ContainsFunc(got, func(c chain.Condition) bool { return string(c.Type) == kind }) {
			t.Errorf("nothing is said of %s", kind)
		}
	}
}

// Answered checks what a chain has decided: which rule spoke, for which step, and with what problem.
func Answered[S any](t *testing.T, spoke string, got S, met *chain.Problem, rule string, step S, reason chain.Reason, says string) {
	t.Helper()
	if spoke != rule {
		t.Errorf("rule %s spoke, want %s", spoke, rule)
	}
	if d := cmp.Diff(step, got, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("step (-want +got):\n%s", d)
	}
	var problem chain.Problem
	if met != nil {
		if problem = *met; problem.Message == "" {
			t.Error("a problem has no message")
		}
	}
	if problem.Reason != reason || says != "" && problem.Message != says {
		t.Errorf("problem %q: %s, want %q: %s", problem.Reason, problem.Message, reason, says)
	}
}

// EveryRuleSpeaks checks that each rule of a chain speaks in a case, so that none is dead, and that it says what it is for.
func EveryRuleSpeaks(t *testing.T, rules []chain.Entry, spoken map[string]bool) {
	t.Helper()
	for _, r := range rules {
		if !spoken[r.Name] {
			t.Errorf("no case in which the rule %s speaks", r.Name)
		}
		if r.About == "" {
			t.Errorf("the rule %s says nothing about itself", r.Name)
		}
	}
}
