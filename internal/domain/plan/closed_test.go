package plan

import "testing"

// Otherwise anyone who can edit the policies of a namespace could open it to others unnoticed.
func TestWhatSomebodyAddsToAPolicyIsNoticed(t *testing.T) {
	peer := func(fields map[string]any) map[string]any {
		return map[string]any{"from": []any{fields}}
	}
	policy := Object{Kind: KindNetworkPolicy, Name: "kleff-namespace", Body: map[string]any{"spec": map[string]any{
		"podSelector": map[string]any{}, "ingress": []any{peer(map[string]any{"podSelector": map[string]any{}})},
	}}}
	quota := Object{Kind: KindResourceQuota, Name: "kleff-plan", Body: map[string]any{"spec": map[string]any{"hard": map[string]any{"pods": "3"}}}}
	limits := Object{Kind: KindLimitRange, Name: "kleff-plan", Body: map[string]any{"spec": map[string]any{
		"limits": []any{map[string]any{"type": "Container", "max": map[string]any{"cpu": "1"}}},
	}}}
	edge := Object{Kind: KindDistributionTenant, Name: "t", Body: map[string]any{"spec": map[string]any{
		"dns": map[string]any{"takeover": false, "ttl": int64(0)},
	}}}
	for name, c := range map[string]struct {
		object Object
		found  map[string]any
		kept   bool
	}{
		"a policy as it was applied, with what the API server leaves out": {policy, map[string]any{"spec": map[string]any{
			"podSelector": map[string]any{}, "ingress": []any{peer(map[string]any{"podSelector": map[string]any{}})},
		}}, true},
		"a status is not ours": {policy, map[string]any{"status": map[string]any{"x": "y"}, "spec": map[string]any{
			"ingress": []any{peer(map[string]any{"podSelector": map[string]any{}})},
		}}, true},
		"a selector that leaves pods out": {policy, map[string]any{"spec": map[string]any{
			"podSelector": map[string]any{"matchLabels": map[string]any{"x": "y"}}, "ingress": []any{peer(map[string]any{"podSelector": map[string]any{}})},
		}}, false},
		"a peer that lets every namespace in": {policy, map[string]any{"spec": map[string]any{
			"podSelector": map[string]any{}, "ingress": []any{peer(map[string]any{"podSelector": map[string]any{}, "namespaceSelector": map[string]any{}})},
		}}, false},
		"a field that we don't set": {policy, map[string]any{"spec": map[string]any{
			"podSelector": map[string]any{}, "ingress": []any{peer(map[string]any{"podSelector": map[string]any{}})}, "egress": []any{map[string]any{"to": []any{"x"}}},
		}}, false},
		"a resource that someone else limits as well":           {quota, map[string]any{"spec": map[string]any{"hard": map[string]any{"pods": "3", "services": "1"}}}, true},
		"a field that says no, and is left out of what is read": {edge, map[string]any{"spec": map[string]any{"dns": map[string]any{"provider": "route53"}}}, true},
		"a field that says no, and that was changed":            {edge, map[string]any{"spec": map[string]any{"dns": map[string]any{"takeover": true}}}, false},
		"a default of the API server in a limit": {limits, map[string]any{"spec": map[string]any{
			"limits": []any{map[string]any{"type": "Container", "max": map[string]any{"cpu": "1"}, "default": map[string]any{"cpu": "1"}}},
		}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			live := Live{Object: c.object.Marked()}
			live.Body = c.found
			if got := live.UpToDate(c.object.Marked()); got != c.kept {
				t.Errorf("Kept() = %t, want %t", got, c.kept)
			}
		})
	}
}
