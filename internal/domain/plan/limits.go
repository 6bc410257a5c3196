package plan

import "math"

// Names of the limits in a namespace.
const (
	namePlan      = "kleff-plan"
	NameSuspended = "kleff-suspended"
)

// BuildLimits returns the quota and the limits of the plan, and the quota that keeps pods of a suspended tenant from
// starting, which needs no plan.
func BuildLimits(t Tenant, p *Plan) []Object {
	var out []Object
	if p != nil && p.spec.ResourceQuota != nil {
		out = append(out, t.object(KindResourceQuota, namePlan, cloneMap(p.spec.ResourceQuota)))
	}
	if p != nil && p.spec.LimitRange != nil {
		out = append(out, t.object(KindLimitRange, namePlan, cloneMap(p.spec.LimitRange)))
	}
	if t.Suspended {
		// A quota refuses new pods only: those that run stay.
		out = append(out, t.object(KindResourceQuota, NameSuspended, map[string]any{"hard": map[string]any{"pods": "0"}}))
	}
	return out
}

func cloneMap(m map[string]any) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[k] = clone(v)
	}
	return out
}

// clone copies a tree, so that objects share nothing with the plan. Whole numbers become int64 as they are when they are read
// from the API server, where 2.0 comes back as 2.
func clone(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return cloneMap(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = clone(v[i])
		}
		return out
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<63 {
			return int64(v)
		}
	}
	return v
}
