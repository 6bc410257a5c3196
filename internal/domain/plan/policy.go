package plan

import "slices"

// BuildPolicy returns the constraints of a plan. They are of the whole cluster, and select the namespaces of the plan.
func BuildPolicy(p *Plan) []Object {
	if p == nil {
		return nil
	}
	var out []Object
	for _, c := range p.spec.Constraints {
		out = append(out, Object{
			Kind: ConstraintKind(c.Kind), Name: c.Name,
			Labels: map[string]string{LabelPlan: p.Name, LabelPlanUID: p.UID, LabelManagedBy: ManagedBy},
			Body:   map[string]any{"spec": c.spec(p.Name)},
		})
	}
	return out
}

func (c Constraint) spec(plan string) map[string]any {
	match := map[string]any{"namespaceSelector": map[string]any{"matchLabels": map[string]any{LabelTenantPlan: plan}}}
	var kinds []any
	namespaces := false
	for _, k := range c.Kinds {
		kinds = append(kinds, map[string]any{"apiGroups": anyList(k.APIGroups), "kinds": anyList(k.Kinds)})
		namespaces = namespaces || slices.Contains(k.Kinds, KindNamespace.Kind)
	}
	if len(kinds) > 0 {
		match["kinds"] = kinds
	}
	if !namespaces {
		// To Gatekeeper a namespaceSelector says nothing of objects without a namespace: a plan would forbid things to
		// the whole cluster. Namespaces alone are selected by their own labels.
		match["scope"] = "Namespaced"
	}
	action := c.EnforcementAction
	if action == "" {
		action = "deny"
	}
	spec := map[string]any{"enforcementAction": action, "match": match}
	if c.Parameters != nil {
		spec["parameters"] = cloneMap(c.Parameters)
	}
	return spec
}
