package convert

import (
	"encoding/json"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantplan"
)

// Tenant renders what a Tenant says.
func Tenant(o *kleffv1.Tenant) plan.Tenant {
	return plan.Tenant{
		Name: o.Name, UID: string(o.UID), Namespace: TenantNamespace(o), Explicit: o.Spec.Namespace != "",
		UserID: o.Spec.UserID, Username: o.Spec.Username, Plan: o.Spec.Plan, Suspended: o.Spec.Suspended,
	}
}

// TenantNamespace is the effective name of a tenant's namespace.
func TenantNamespace(o *kleffv1.Tenant) string { return orElse(o.Spec.Namespace, o.Spec.UserID) }

// TenantMemory is what the status of a Tenant remembers.
func TenantMemory(s *kleffv1.TenantStatus) tenant.Memory {
	return tenant.Memory{Namespace: s.Namespace, Plan: s.Plan, PlanUID: s.PlanUID, PlanGeneration: s.PlanGeneration}
}

// TenantStatus writes a report into the status of a Tenant. now stamps transitions only.
func TenantStatus(s *kleffv1.TenantStatus, generation int64, r tenant.Report, now time.Time) {
	s.Namespace, s.Plan, s.PlanUID, s.PlanGeneration = r.Memory.Namespace, r.Memory.Plan, r.Memory.PlanUID, r.Memory.PlanGeneration
	reached := appliedGeneration(s.ObservedGeneration, s.AppliedGeneration)
	if r.Settled {
		reached = generation
	}
	setGenerations(&s.ObservedGeneration, &s.AppliedGeneration, generation, reached)
	mergeConditions(&s.Conditions, r.Conditions, generation, now)
}

// PlanStatus writes a report into the status of a TenantPlan. now stamps transitions only.
func PlanStatus(s *kleffv1.TenantPlanStatus, o *kleffv1.TenantPlan, r tenantplan.Report, now time.Time) {
	generation := o.Generation
	s.Content = planContent(o)
	s.ObservedGeneration, s.Rollout = generation, nil
	if p := rolloutProgress(r.Rollout.Progress); PlanLimits(o).Stepwise() && r.Rollout.Waiting > 0 {
		s.Rollout = &p
	}
	s.Tenants, s.Applied, s.Failed = number(r.Rollout.Tenants), number(r.Rollout.Applied), number(r.Rollout.Failed)
	mergeConditions(&s.Conditions, r.Conditions, generation, now)
}

// PlanAnswer is what the API server has said of the plan as it is now, as far as its status tells: that it accepts it, or why not.
func PlanAnswer(o *kleffv1.TenantPlan) (accepted bool, refusal string) {
	c := meta.FindStatusCondition(o.Status.Conditions, kleffv1.ConditionRolledOut)
	switch {
	case c == nil || c.ObservedGeneration < PlanGeneration(o):
		return false, ""
	case c.Reason == kleffv1.ReasonPlanInvalid:
		return false, c.Message
	}
	// RollingOut is also what a plan says that was not asked about yet.
	return c.Reason != kleffv1.ReasonRollingOut, ""
}

// IngressNamespaces are the namespaces whose pods bring traffic from outside to the tenants of the plan.
func IngressNamespaces(o *kleffv1.TenantPlan) []string {
	if len(o.Spec.IngressNamespaces) == 0 {
		// The default of the schema, for objects that were stored before it had one.
		return []string{"istio-system", "istio-ingress"}
	}
	return o.Spec.IngressNamespaces
}

// PlanSpec renders what a TenantPlan says.
func PlanSpec(o *kleffv1.TenantPlan) (plan.Spec, error) {
	s := &o.Spec
	out := plan.Spec{
		NetworkIsolation: plan.Isolation(s.NetworkIsolation), IngressNamespaces: IngressNamespaces(o),
		Labels: texts(s.Labels), Annotations: texts(s.Annotations),
	}
	var err error
	if s.ResourceQuota != nil {
		if out.ResourceQuota, err = tree(s.ResourceQuota); err != nil {
			return out, fmt.Errorf("reading spec.resourceQuota: %w", err)
		}
	}
	if s.LimitRange != nil {
		if out.LimitRange, err = tree(s.LimitRange); err != nil {
			return out, fmt.Errorf("reading spec.limitRange: %w", err)
		}
	}
	if p := s.PodSecurity; p != nil {
		out.PodSecurity = plan.PodSecurity{Enforce: string(p.Enforce), Audit: string(p.Audit), Warn: string(p.Warn), Version: p.Version}
	}
	if s.Owner != nil {
		out.OwnerClusterRole = s.Owner.ClusterRole
	}
	if s.Istio != nil {
		out.Istio = istio(s.Istio)
	}
	if s.Gatekeeper != nil {
		if out.Constraints, err = constraints(s.Gatekeeper.Constraints); err != nil {
			return out, err
		}
	}
	if s.DistributionTenant != nil {
		out.Edge, err = edgeTemplate(s.DistributionTenant)
	}
	return out, err
}

func istio(i *kleffv1.Istio) plan.Istio {
	out := plan.Istio{
		Injection: plan.Injection(i.Injection), Revision: i.Revision,
		AuthorizationPolicy: plan.Isolation(i.AuthorizationPolicy), PeerAuthentication: string(i.PeerAuthentication),
	}
	if g := i.Gateway; g != nil {
		out.Gateway = &plan.Gateway{Selector: texts(g.Selector), Hosts: g.Hosts, TLSSecret: g.TLSSecret}
	}
	return out
}

func constraints(list []kleffv1.Constraint) ([]plan.Constraint, error) {
	var out []plan.Constraint
	for _, c := range list {
		one := plan.Constraint{Kind: c.Kind, Name: c.Name, EnforcementAction: orElse(string(c.EnforcementAction), "deny")}
		if c.Parameters != nil && len(c.Parameters.Raw) > 0 {
			if err := json.Unmarshal(c.Parameters.Raw, &one.Parameters); err != nil {
				return nil, fmt.Errorf("reading spec.gatekeeper.constraints[%s/%s].parameters: %w", c.Kind, c.Name, err)
			}
		}
		for _, k := range c.Kinds {
			one.Kinds = append(one.Kinds, plan.MatchKinds{APIGroups: k.APIGroups, Kinds: k.Kinds})
		}
		out = append(out, one)
	}
	return out, nil
}

// edgeTemplate is a source whose only row is the tenant.
func edgeTemplate(e *kleffv1.EdgeTemplate) (*mapping.Config, error) {
	c := &mapping.Config{Defaults: []mapping.Mapping{{Column: columnName, Field: fieldName}}}
	for _, m := range e.Mapping {
		c.Mapping = append(c.Mapping, mapping.Mapping{Column: m.Column, Field: string(m.Field)})
	}
	for _, x := range e.Expressions {
		c.Expressions = append(c.Expressions, mapping.Expression{Field: string(x.Field), Expression: x.Expression})
	}
	var err error
	if e.Template != nil {
		if c.Template, err = template(e.Template); err != nil {
			return nil, fmt.Errorf("reading spec.distributionTenant.template: %w", err)
		}
	}
	return c, nil
}

func texts[V ~string](m map[string]V) map[string]string {
	if len(m) == 0 {
		return nil
	}
	out := make(map[string]string, len(m))
	for k, v := range m {
		out[k] = string(v)
	}
	return out
}

// Follower is a tenant as the roll-out of a plan sees it.
func Follower(t *kleffv1.Tenant, plan *kleffv1.TenantPlan) tenantplan.Follower {
	f := tenantplan.Follower{Name: t.Name, UID: string(t.UID), Named: t.Spec.Plan == plan.Name}
	switch {
	case t.Status.PlanUID == string(plan.UID):
		f.Generation = t.Status.PlanGeneration
	case t.Status.Plan == plan.Name:
		f.Generation = tenantplan.Restored
	}
	f.Canary = planCanary(plan, t.Labels)
	f.Able = t.DeletionTimestamp.IsZero() && meta.IsStatusConditionTrue(t.Status.Conditions, kleffv1.ConditionNamespaceReady)
	for _, kind := range []string{kleffv1.ConditionPlanApplied, kleffv1.ConditionMeshReady, kleffv1.ConditionEdgeReady} {
		c := meta.FindStatusCondition(t.Status.Conditions, kind)
		// Missing kinds of the mesh, and waits of the edge, say nothing about the plan.
		if c != nil && c.Status == metav1.ConditionFalse && (kind == kleffv1.ConditionPlanApplied || c.Reason == kleffv1.ReasonError) {
			f.Failure = c.Reason + ": " + c.Message
			break
		}
	}
	return f
}
