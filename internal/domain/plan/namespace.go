package plan

import "maps"

// Labels by which Istio and pod security admission know what to do with the pods of a namespace.
const (
	labelInjection = "istio-injection"
	labelRevision  = "istio.io/rev"
	labelDataplane = "istio.io/dataplane-mode"
	podSecurity    = "pod-security.kubernetes.io/"
)

// BuildNamespace returns the namespace of a tenant, and the labels that must not be on it, no matter who set them:
// among the labels by which pods join the mesh one takes precedence, so a second one would undo what the plan says.
// Without a plan the namespace joins by the label istio-injection.
func BuildNamespace(t Tenant, p *Plan) (o Object, drop []string) {
	if p == nil {
		p = &Plan{}
	}
	o = Object{Kind: KindNamespace, Name: t.Namespace, Labels: map[string]string{}, Annotations: maps.Clone(p.spec.Annotations)}
	// The tenant's own come last: nothing that a plan says may replace what proves whose the namespace is.
	maps.Copy(o.Labels, p.spec.Labels)
	maps.Copy(o.Labels, p.spec.PodSecurity.atLeast(t.MinPodSecurity).labels())
	mesh := p.spec.Istio.label()
	for _, name := range []string{labelInjection, labelRevision, labelDataplane} {
		delete(o.Labels, name)
		if value, wanted := mesh[name]; wanted {
			o.Labels[name] = value
			continue
		}
		drop = append(drop, name)
	}
	maps.Copy(o.Labels, t.labels())
	o.Labels[LabelTenantPlan] = t.Plan
	o.Labels[LabelTenantUsername] = t.Username
	return o, drop
}

// label is the one by which pods join the mesh.
func (i Istio) label() map[string]string {
	switch {
	case i.Injection == InjectionAmbient:
		return map[string]string{labelDataplane: "ambient"}
	case i.Injection == InjectionDisabled:
		return map[string]string{labelInjection: "disabled"}
	case i.Revision != "":
		return map[string]string{labelRevision: i.Revision}
	default:
		return map[string]string{labelInjection: "enabled"}
	}
}

// labels are those of pod security admission. The version is always said, since a cluster may have another default.
func (s PodSecurity) labels() map[string]string {
	version := s.Version
	if version == "" {
		version = "latest"
	}
	out := map[string]string{}
	for mode, level := range map[string]string{"enforce": s.Enforce, "audit": s.Audit, "warn": s.Warn} {
		if level != "" {
			out[podSecurity+mode] = level
			out[podSecurity+mode+"-version"] = version
		}
	}
	return out
}

// labels say that an object is the tenant's.
func (t Tenant) labels() map[string]string {
	return map[string]string{LabelTenant: t.Name, LabelTenantUID: t.UID, LabelManagedBy: ManagedBy}
}

// object is one in the tenant's namespace, with its spec.
func (t Tenant) object(k Kind, name string, spec map[string]any) Object {
	return Object{Kind: k, Namespace: t.Namespace, Name: name, Labels: t.labels(), Body: map[string]any{"spec": spec}}
}
