package tenant

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
)

// Outcome is how a pass ended.
type Outcome struct {
	Decision Decision
	// Err is what ended the pass before its decision could be carried out.
	Err error
}

// Report is what a pass leaves in status. A condition that is not in it stays as it was.
type Report struct {
	Conditions []chain.Condition
	Memory     Memory
	// Settled says that the namespace has all that the spec and the plan say.
	Settled bool
}

// Conclude says what a pass has found.
func Conclude(in Input, out Outcome, before []chain.Condition) Report {
	r := Report{Memory: in.Memory}
	if kept, ok := out.Decision.Step.(Rest); ok && kept.KeepConditions && out.Err == nil {
		return r
	}
	if in.provisional() && !in.follows() {
		r.Memory = Memory{}
	}
	if in.mine() && !in.Deleting {
		r.Memory.Namespace = in.Tenant.Namespace
	}
	if out.Err == nil && out.Decision.Problem == nil && in.tried() {
		f := in.World.Follow
		r.Memory.PlanUID, r.Memory.PlanGeneration = f.UID, f.Generation
		if in.follows() {
			r.Memory.Plan = in.Tenant.Plan
		}
	}
	r.Conditions = in.conditions(out)
	root := in.root(out, merged(before, r.Conditions))
	repeated := root
	repeated.Type = chain.Ready
	r.Conditions = chain.Sentences(append(r.Conditions, root, repeated))
	r.Settled = out.Err == nil && out.Decision.Problem == nil && in.follows() && !in.stays() && in.complete()
	return r
}

// complete reports whether nothing is left to do, now or later.
func (in *Input) complete() bool {
	w := in.wanted()
	if w.mesh != nil || w.edge != nil || len(w.missing)+len(w.unreadable) > 0 {
		return false
	}
	a := in.diff()
	return a.Empty() && !slices.ContainsFunc(w.objects, in.returns)
}

// returns reports whether the object is being deleted: it is recreated once it is gone.
func (in *Input) returns(o plan.Object) bool {
	live := in.child(o.Key())
	return live != nil && live.Deleting
}

// followed reports whether this pass has tried to give the tenant the present generation of its plan.
func (in *Input) followed() bool { return in.World.Follow.UID != "" && in.concerned() }

func (in *Input) conditions(out Outcome) []chain.Condition {
	if p := out.Decision.Problem; in.Deleting && p != nil && (p.Reason == plan.ReasonDeletionProtected || p.Reason == plan.ReasonDeletionHeld) {
		return nil
	}
	namespace := in.namespaceReady(out)
	if !namespace.Status || in.Deleting {
		return []chain.Condition{namespace}
	}
	applied, known := in.planApplied(out)
	if !known {
		return []chain.Condition{namespace}
	}
	if out.Err != nil || in.stays() || in.unlimited() || applied.Reason == plan.ReasonPlanNotFound || applied.Reason == plan.ReasonPlanInvalid {
		return []chain.Condition{namespace, applied}
	}
	return []chain.Condition{namespace, applied, in.meshReady(), in.policyReady(), in.edgeReady()}
}

func (in *Input) namespaceReady(out Outcome) chain.Condition {
	no := func(reason chain.Reason, message string) chain.Condition {
		return chain.Condition{Type: plan.ConditionNamespaceReady, Reason: reason, Message: message}
	}
	switch {
	case out.Decision.Problem != nil:
		return no(out.Decision.Problem.Reason, out.Decision.Problem.Message)
	case in.Deleting && out.Err != nil:
		return no(plan.ReasonTerminating, fmt.Sprintf("the namespace %q: %s", in.Tenant.Namespace, out.Err))
	case !in.mine() && out.Err != nil:
		return no(plan.ReasonCreating, fmt.Sprintf("the namespace %q: %s", in.Tenant.Namespace, out.Err))
	case !in.mine():
		return no(plan.ReasonCreating, fmt.Sprintf("the namespace %q is about to be created", in.Tenant.Namespace))
	case in.Deleting, in.World.Namespace.Deleting:
		return no(plan.ReasonTerminating, fmt.Sprintf("the namespace %q is being deleted", in.Tenant.Namespace))
	}
	return chain.Condition{Type: plan.ConditionNamespaceReady, Status: true, Reason: plan.ReasonProvisioned, Message: fmt.Sprintf("the namespace %q exists", in.Tenant.Namespace)}
}

// planApplied is not known while the tenant waits for the roll-out of a change: it has what its plan last gave it.
func (in *Input) planApplied(out Outcome) (c chain.Condition, known bool) {
	f := &in.World.Follow
	no := func(reason chain.Reason, message string) (chain.Condition, bool) {
		return chain.Condition{Type: plan.ConditionPlanApplied, Reason: reason, Message: message}, true
	}
	kept := in.kept()
	switch {
	case in.unlimited():
		return chain.Condition{
			Type: plan.ConditionPlanApplied, Status: true, Reason: plan.ReasonNotConfigured,
			Message: fmt.Sprintf("the cluster has no TenantPlan, so %q is only a label and the namespace has no limits%s", in.Tenant.Plan, in.suspended()),
		}, true
	case f.UID == "":
		return no(plan.ReasonPlanNotFound, fmt.Sprintf("spec.plan: there is no TenantPlan %q; create it, or use another plan%s", in.Tenant.Plan, kept))
	case !in.concerned() && f.Going && in.Memory.PlanUID != f.UID:
		return no(plan.ReasonPlanNotFound, fmt.Sprintf("spec.plan: the TenantPlan %q is being deleted; use another plan%s", in.Tenant.Plan, kept))
	case !in.concerned():
		return chain.Condition{}, false
	case f.Invalid != "":
		return no(plan.ReasonPlanInvalid, fmt.Sprintf("the TenantPlan %q can't be applied: %s%s", in.Tenant.Plan, f.Invalid, kept))
	}
	if message := in.trouble(out); message != "" {
		return no(plan.ReasonPartiallyApplied, message)
	}
	return chain.Condition{
		Type: plan.ConditionPlanApplied, Status: true, Reason: plan.ReasonApplied,
		Message: fmt.Sprintf("the namespace matches the TenantPlan %q%s", in.Tenant.Plan, in.suspended()),
	}, true
}

// kept is what the namespace has while it can't have what its plan says, as the end of a sentence.
func (in *Input) kept() string {
	switch missing := in.failuresOf(plan.ConditionPlanApplied); {
	case in.provisional() && missing != "":
		return "; until then no pods should start in the namespace, but its protection is incomplete: " + missing
	case in.provisional():
		return `; until then no pods start in the namespace, which has the pod security level "restricted" and is isolated from all other namespaces`
	case in.Memory.Plan != "":
		return fmt.Sprintf("; the namespace keeps what it has from the plan %q", in.Memory.Plan) + after("; ", in.refusal())
	}
	return after("; ", in.refusal())
}

// after is a text that may be empty, with what separates it from the one before.
func after(separator, text string) string {
	if text == "" {
		return ""
	}
	return separator + text
}

// refusal is why the namespace does not have its labels and annotations; empty where none of its changes was refused.
func (in *Input) refusal() string {
	if !in.stays() {
		return ""
	}
	return fmt.Sprintf("the namespace %q: %s", in.Tenant.Namespace, plan.InWords(in.World.Refused))
}

// trouble is what keeps the namespace from having everything that the tenant should have; empty if nothing does. A pass
// that ended early has left something undone, and it is unknown what that is.
func (in *Input) trouble(out Outcome) string {
	if out.Err != nil {
		return "the namespace could not be updated: " + plan.InWords(out.Err)
	}
	return in.failuresOf(plan.ConditionPlanApplied)
}

func (in *Input) suspended() string {
	if in.Tenant.Suspended {
		return "; the tenant is suspended, so no new pods start"
	}
	return ""
}

func (in *Input) meshReady() chain.Condition {
	c := chain.Condition{Type: plan.ConditionMeshReady}
	w := in.wanted()
	missing := missing(w, plan.MeshKinds())
	switch failures := in.failuresOf(plan.ConditionMeshReady); {
	case w.mesh != nil:
		c.Reason, c.Message = plan.ReasonError, w.mesh.Error()
	case missing != "":
		c.Reason, c.Message = plan.ReasonCRDMissing, fmt.Sprintf("the cluster has no %s: install Istio, or remove the settings that need it from spec.istio of the TenantPlan %q", missing, in.Tenant.Plan)
	case failures != "":
		c.Reason, c.Message = plan.ReasonError, failures
	case !slices.ContainsFunc(w.objects, func(o plan.Object) bool { return concernOf(o.Kind) == plan.ConditionMeshReady }):
		c.Status, c.Reason, c.Message = true, plan.ReasonNotConfigured, "the plan does not configure Istio"
	default:
		c.Status, c.Reason, c.Message = true, plan.ReasonApplied, "the Istio objects of the plan are applied to the namespace"
	}
	return c
}

// missing names those of the kinds that the plan needs and the cluster does not have.
func missing(w wanted, kinds []plan.Kind) string {
	var names []string
	for _, k := range w.missing {
		if slices.Contains(kinds, k) {
			names = append(names, k.Kind+" of "+k.APIVersion())
		}
	}
	return strings.Join(names, ", ")
}

// policyReady is that of the plan, whose constraints are for all its tenants.
func (in *Input) policyReady() chain.Condition {
	f := &in.World.Follow
	switch {
	case !f.Plan.HasConstraints():
		return chain.Condition{Type: plan.ConditionPolicyReady, Status: true, Reason: plan.ReasonNotConfigured, Message: "the plan does not configure Gatekeeper constraints"}
	case f.Policy == nil:
		return chain.Condition{Type: plan.ConditionPolicyReady, Reason: plan.ReasonError, Message: fmt.Sprintf("the constraints of the TenantPlan %q are about to be created", in.Tenant.Plan)}
	}
	return *f.Policy
}

// edgeReady is that of the DistributionTenant.
func (in *Input) edgeReady() chain.Condition {
	c := chain.Condition{Type: plan.ConditionEdgeReady}
	w := in.wanted()
	at := slices.IndexFunc(w.objects, func(o plan.Object) bool { return o.Kind == plan.KindDistributionTenant })
	failures := in.failuresOf(plan.ConditionEdgeReady)
	switch {
	case w.edge != nil:
		c.Reason, c.Message = plan.ReasonError, w.edge.Error()
		return c
	case missing(w, []plan.Kind{plan.KindDistributionTenant}) != "":
		c.Reason, c.Message = plan.ReasonCRDMissing, "the cluster has no DistributionTenant CRD: install the operator's CRDs"
		return c
	case failures != "":
		c.Reason, c.Message = plan.ReasonError, failures
		return c
	case at < 0:
		c.Status, c.Reason, c.Message = true, plan.ReasonNotConfigured, "the plan does not configure a DistributionTenant"
		return c
	}
	live := in.child(w.objects[at].Key())
	if live == nil {
		c.Reason, c.Message = plan.ReasonCreating, fmt.Sprintf("the DistributionTenant %q is about to be created", w.objects[at].Name)
		return c
	}
	return edgeOf(live)
}

// edgeOf repeats what a DistributionTenant says of itself.
func edgeOf(live *plan.Live) chain.Condition {
	c := chain.Condition{Type: plan.ConditionEdgeReady, Reason: plan.ReasonCreating, Message: fmt.Sprintf("the DistributionTenant %q is being created", live.Name)}
	status, _ := live.Body["status"].(map[string]any)
	conditions, _ := status["conditions"].([]any)
	for _, one := range conditions {
		one, _ := one.(map[string]any)
		if one["type"] != plan.ConditionReady {
			continue
		}
		reason, _ := one["reason"].(string)
		message, _ := one["message"].(string)
		c.Status, c.Reason, c.Message = one["status"] == "True", chain.Reason(reason), fmt.Sprintf("the DistributionTenant %q: %s", live.Name, message)
	}
	return c
}

// concernOf says which condition speaks of the objects of a kind.
func concernOf(k plan.Kind) string {
	switch {
	case slices.Contains(plan.MeshKinds(), k):
		return plan.ConditionMeshReady
	case k == plan.KindDistributionTenant:
		return plan.ConditionEdgeReady
	}
	return plan.ConditionPlanApplied
}

// shownFailures is how many failed objects a message names.
const shownFailures = 3

// failuresOf says what could not be made of what a condition speaks of; empty for nothing.
func (in *Input) failuresOf(condition string) string {
	var messages []string
	w := in.wanted()
	for _, k := range w.missing {
		if concernOf(k) == condition {
			messages = append(messages, fmt.Sprintf("the cluster has no %s of %s", k.Kind, k.APIVersion()))
		}
	}
	for _, k := range w.unreadable {
		if concernOf(k) == condition {
			messages = append(messages, fmt.Sprintf("reading objects of kind %s: %s", k.Kind, plan.InWords(in.World.Unreadable[k])))
		}
	}
	slices.Sort(messages)
	messages = slices.Compact(messages)
	for _, o := range w.objects {
		if concernOf(o.Kind) == condition && in.returns(o) {
			messages = append(messages, fmt.Sprintf("the %s %q is being deleted, and is created again afterwards", o.Kind.Kind, o.Name))
		}
	}
	if refusal := in.refusal(); refusal != "" && condition == plan.ConditionPlanApplied {
		messages = slices.Insert(messages, 0, refusal)
	}
	for _, f := range in.failures() {
		if concernOf(f.Object.Kind) == condition {
			messages = append(messages, fmt.Sprintf("the %s %q: %s", f.Object.Kind.Kind, f.Object.Name, plan.InWords(f.Err)))
		}
	}
	if more := len(messages) - shownFailures; more > 0 {
		messages = append(messages[:shownFailures], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(messages, "; ")
}

// order is that in which the conditions of a tenant are asked for the first that isn't True.
var order = []chain.ConditionType{plan.ConditionNamespaceReady, plan.ConditionPlanApplied, plan.ConditionMeshReady, plan.ConditionPolicyReady, plan.ConditionEdgeReady}

// root sums the conditions up.
func (in *Input) root(out Outcome, all []chain.Condition) chain.Condition {
	c := chain.Condition{Type: plan.ConditionTenantReady}
	if p := out.Decision.Problem; p != nil {
		c.Reason, c.Message = p.Reason, p.Message
		return c
	}
	for _, kind := range order {
		at := slices.IndexFunc(all, func(c chain.Condition) bool { return c.Type == kind })
		if at < 0 {
			continue
		}
		if !all[at].Status {
			c.Reason, c.Message = all[at].Reason, all[at].Message
			return c
		}
	}
	if message := in.trouble(out); message != "" {
		// A tenant that waits for the roll-out has no PlanApplied of this pass, and may be suspended without effect.
		c.Reason, c.Message = plan.ReasonPartiallyApplied, message
		return c
	}
	c.Status, c.Reason = true, plan.ReasonReady
	if in.unlimited() {
		c.Message = fmt.Sprintf("the namespace %q exists; the cluster has no TenantPlan, so the namespace has no limits%s", in.Tenant.Namespace, in.suspended())
		return c
	}
	c.Message = fmt.Sprintf("the namespace %q matches the TenantPlan %q%s", in.Tenant.Namespace, in.Tenant.Plan, in.suspended())
	return c
}

// merged are the previous conditions, replaced by those of this pass.
func merged(before, now []chain.Condition) []chain.Condition {
	out := slices.Clone(now)
	for _, c := range before {
		if !slices.ContainsFunc(now, func(n chain.Condition) bool { return n.Type == c.Type }) {
			out = append(out, c)
		}
	}
	return out
}
