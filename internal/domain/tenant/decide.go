// Package tenant decides what is done to get a customer's namespace to what its plan says.
package tenant

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/loss"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/kubename"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// rule is one question about a tenant.
type rule = chain.Rule[*Input, Decision]

// Chains lists the rules of both chains in their order.
func Chains() (living, removal []chain.Entry) {
	return chain.List(livingRules()), chain.List(removeRules())
}

// The delays until the next look at things without an event, or whose event got lost.
const (
	lookAgain    = 5 * time.Minute
	retryRefusal = 30 * time.Second
)

// Decide picks the next step. The order of the rules is the design: all obstacles are checked before anything is
// written.
func Decide(in Input) Decision {
	rules := livingRules()
	if in.Deleting {
		rules = removeRules()
	}
	d, name, fires := chain.Decide(rules, &in)
	if !fires {
		return Decision{Rule: "Idle", Step: Rest{After: in.nextTry()}}
	}
	d.Rule = name
	return d
}

func livingRules() []rule {
	return []rule{
		chain.Ask("Finalized", "A Tenant with a namespace always has the finalizer. If someone removes it, it is added again, because otherwise only the Tenant would be deleted.", finalized),
		chain.Ask("Names", "If a name in the spec is invalid, nothing is created or changed.", names),
		chain.Ask("Look", "A namespace that is not in the cache is read from the API server before it counts as missing. A namespace is also read before it is adopted.", look),
		chain.Ask("Conflict", "An existing namespace that does not belong to the tenant is left alone, unless its annotation allows the tenant to adopt it.", conflict),
		chain.Ask("Terminating", "If the namespace is being deleted, the operator waits.", terminating),
		chain.Ask("Refused", "If the API server rejected a write to the namespace, the operator retries later.", refused),
		chain.Ask("PlanHeld", "A plan has its finalizer before a tenant gets anything from it. Otherwise, a deletion of the plan would not wait for its tenants.", planHeld),
		chain.Ask("Create", "If the namespace does not exist, it is created with all its labels. Unless it is known what its plan gives it, no pod starts in it.", create),
		chain.Ask("Try", "For the first tenant of a new generation of a plan, the objects are sent to the API server as a dry run.", try),
		chain.Ask("Namespace", "Labels and annotations of the namespace are set, and conflicting ones are removed.", namespace),
		chain.Ask("Apply", "Objects that differ from the plan are applied, and those that the plan no longer contains are deleted. The namespace is read first.", apply),
	}
}

func removeRules() []rule {
	return []rule{
		chain.Ask("Protected", "While spec.deletionProtection is true, nothing is deleted.", protected),
		chain.Ask("NeverCreated", "If the name is not a valid namespace name, no namespace was ever created, and the finalizer is removed.", neverCreated),
		chain.Ask("WithinBudget", "A deletion waits for its burst to end, and for approval if the burst exceeds the deletion budget.", withinBudget),
		chain.Ask("Look", "A namespace that is not being deleted, or not found, is read from the API server: nothing is deleted and no finalizer is removed based on a cache.", removalLook),
		chain.Ask("Gone", "If the namespace is deleted, or does not belong to this tenant, the finalizer is removed.", gone),
		chain.Ask("Refused", "If the API server rejected a write to the namespace, the operator retries later.", refused),
		chain.Ask("Retain", "With deletionPolicy Retain the namespace is kept, and no longer belongs to a tenant.", retain),
		chain.Ask("Terminating", "If the namespace is being deleted, the operator waits.", terminating),
		chain.Ask("Delete", "The namespace is deleted if it is still the one that was read.", removalDelete),
	}
}

// finalized leaves tenants without a namespace alone: the step that creates one stores the finalizer first.
func finalized(in *Input) (Decision, bool) {
	if in.HasFinalizer || !in.mine() {
		return pass()
	}
	return do(EnsureFinalizer{})
}

func names(in *Input) (Decision, bool) {
	if in.Problem == "" {
		return pass()
	}
	return rest(plan.ReasonInvalidName, in.Problem, 0)
}

func look(in *Input) (Decision, bool) {
	n := in.World.Namespace
	// A namespace without a plan, of a tenant that has one: either status could not be written, or the cache is out of date.
	doubtful := in.provisional() && !in.follows() && in.Memory.Plan != ""
	if in.World.Looked || n != nil && !doubtful && (in.mine() || !in.mayAdopt()) {
		return pass()
	}
	return do(Look{})
}

func conflict(in *Input) (Decision, bool) {
	n := in.World.Namespace
	switch {
	case n == nil || in.mine() || in.mayAdopt():
		return pass()
	case in.World.Owner != "":
		return rest(plan.ReasonNamespaceConflict, fmt.Sprintf("the namespace %q belongs to the Tenant %q: %s", n.Name, in.World.Owner, in.otherName()), lookAgain)
	case n.Deleting:
		return rest(plan.ReasonNamespaceConflict, fmt.Sprintf("the namespace %q does not belong to this tenant and is being deleted; it is created again afterwards", n.Name), lookAgain)
	}
	return rest(plan.ReasonNamespaceConflict, fmt.Sprintf(
		"the namespace %q exists and does not belong to this tenant: %s; or, to let this tenant adopt it with everything in it, annotate the namespace with %s=%s",
		n.Name, in.otherName(), plan.AnnotationAdoptBy, in.Tenant.Name), lookAgain)
}

// otherName says how to have another namespace: the name can't be changed.
func (in *Input) otherName() string {
	if in.Tenant.Explicit {
		return "delete this Tenant and create one with another spec.namespace"
	}
	return "delete this Tenant and create one with another name in spec.namespace"
}

func terminating(in *Input) (Decision, bool) {
	n := in.World.Namespace
	if n == nil || !n.Deleting {
		return pass()
	}
	after := lookAgain
	if in.Deleting {
		after = plan.WatchDeletion
	}
	return rest(plan.ReasonTerminating, fmt.Sprintf("the namespace %q is being deleted%s", n.Name, remaining(n)), after)
}

// remaining says what a namespace waits for, in the words of the namespace controller.
func remaining(n *plan.Live) string {
	status, _ := n.Body["status"].(map[string]any)
	conditions, _ := status["conditions"].([]any)
	var messages []string
	for _, c := range conditions {
		c, _ := c.(map[string]any)
		if text, _ := c["message"].(string); c["status"] == "True" && text != "" {
			messages = append(messages, text)
		}
	}
	slices.Sort(messages)
	if messages = slices.Compact(messages); len(messages) == 0 {
		return ""
	}
	return ". Kubernetes reports: " + strings.Join(messages, "; ")
}

func refused(in *Input) (Decision, bool) {
	if in.World.Refused == nil {
		return pass()
	}
	if in.stays() {
		return do(Rest{After: retryRefusal})
	}
	reason := plan.ReasonCreating
	if in.Deleting {
		reason = plan.ReasonTerminating
	}
	return rest(reason, fmt.Sprintf("the namespace %q: %s", in.Tenant.Namespace, in.World.Refused.Error()), retryRefusal)
}

// planHeld leaves the plan that a tenant has already to the plan itself.
func planHeld(in *Input) (Decision, bool) {
	gives := in.follows()
	if in.World.Namespace == nil {
		fresh := in.afresh()
		gives = fresh.follows()
	}
	f := &in.World.Follow
	has := in.Memory.PlanUID == f.UID && in.Memory.Plan == in.Tenant.Plan
	if !gives || has || f.Held || f.Going {
		return pass()
	}
	return do(HoldPlan{})
}

func create(in *Input) (Decision, bool) {
	if in.World.Namespace != nil {
		return pass()
	}
	fresh := in.afresh()
	return do(CreateNamespace{Object: fresh.newNamespace(in.Memory.Plan != ""), Memory: fresh.Memory})
}

func namespace(in *Input) (Decision, bool) {
	n := in.World.Namespace
	o, drop := in.shouldBe()
	drop = slices.DeleteFunc(drop, func(key string) bool { _, there := n.Labels[key]; return !there })
	if in.mine() && n.UpToDate(o) && len(drop) == 0 {
		return pass()
	}
	if !in.World.Looked && (in.hasFormerPlan() || in.provisional() && !in.follows()) {
		// A label that the cache does not show yet would be taken off, or the labels of a plan that has come meanwhile.
		return do(Look{})
	}
	if in.hasFormerPlan() {
		o = carried(n, o)
	}
	return do(ApplyNamespace{Object: o, UID: n.UID, Drop: drop, Adopts: !in.mine()})
}

// carried is the object with all labels and annotations that the namespace has. A server-side apply removes our fields
// that it does not send, and it is no longer known which of them came from a plan. Sending fields that others own
// changes nothing.
func carried(n *plan.Live, o plan.Object) plan.Object {
	labels, annotations := maps.Clone(n.Labels), maps.Clone(n.Annotations)
	maps.Copy(labels, o.Labels)
	o.Labels, o.Annotations = labels, annotations
	return o.Marked()
}

func try(in *Input) (Decision, bool) {
	if !in.follows() || in.World.Follow.Tried || !in.mine() {
		return pass()
	}
	a := in.diff()
	objects := slices.Clone(a.Create)
	for _, u := range a.Update {
		objects = append(objects, u.Object)
	}
	for _, u := range a.Replace {
		// Under another name, or the API server would only say that it can't be changed.
		u.Name += "-try"
		objects = append(objects, u.Object)
	}
	// The objects of mesh and edge have conditions of their own, and differ from tenant to tenant.
	objects = slices.DeleteFunc(objects, func(o plan.Object) bool { return concernOf(o.Kind) != plan.ConditionPlanApplied })
	return do(Try{Objects: objects})
}

func apply(in *Input) (Decision, bool) {
	a := in.Attempts.Due(in.Now, in.diff())
	switch {
	case a.Empty():
		return pass()
	case !in.World.Looked:
		// A write to a child names its namespace, but not which one of that name: with a stale cache it may belong to
		// someone else by now.
		return do(Look{})
	}
	return do(Apply{Changes: a})
}

func protected(in *Input) (Decision, bool) {
	if !in.Protected {
		return pass()
	}
	return rest(plan.ReasonDeletionProtected, "the Tenant was deleted, but spec.deletionProtection is true, so nothing is deleted; set it to false to continue with the deletion", 0)
}

func neverCreated(in *Input) (Decision, bool) {
	if kubename.IsNamespace(in.Tenant.Namespace) {
		return pass()
	}
	return do(LetGo{})
}

// withinBudget holds the deletion of a namespace, which has a customer's data, until the breaker clears it.
func withinBudget(in *Input) (Decision, bool) {
	switch {
	case !in.Guarded, in.Retain:
		return pass()
	case !in.World.BudgetKnown:
		return do(AskBudget{})
	}
	switch in.World.Budget.State {
	case loss.Go:
		return pass()
	case loss.Stay:
		return do(LetGo{})
	case loss.Held:
		return rest(plan.ReasonDeletionHeld, in.World.Budget.Message, 0)
	case loss.Waiting:
	}
	return do(Rest{After: resource.AskAgain, KeepConditions: true})
}

// removalLook believes the cache in one thing only: an object that is being deleted does not come back. All that goes
// with a namespace wakes its tenant, so that a read each time would be a dozen.
func removalLook(in *Input) (Decision, bool) {
	if in.World.Looked || in.mine() && in.World.Namespace.Deleting {
		return pass()
	}
	return do(Look{})
}

func gone(in *Input) (Decision, bool) {
	if in.mine() {
		return pass()
	}
	return do(LetGo{})
}

// retain takes the UID off, and leaves the rest as it is.
func retain(in *Input) (Decision, bool) {
	n := in.World.Namespace
	if !in.Retain || n.Deleting {
		return pass()
	}
	o := plan.Object{Kind: plan.KindNamespace, Name: n.Name}
	labels, annotations := maps.Clone(n.Labels), maps.Clone(n.Annotations)
	delete(labels, plan.LabelTenantUID)
	delete(annotations, plan.AnnotationAdoptBy)
	o.Labels, o.Annotations = labels, annotations
	return do(ApplyNamespace{Object: o.Marked(), UID: n.UID, Drop: []string{plan.LabelTenantUID}})
}

func removalDelete(in *Input) (Decision, bool) { return do(DeleteNamespace{Live: *in.World.Namespace}) }

// rest ends the pass with a problem.
func rest(reason chain.Reason, message string, after time.Duration) (Decision, bool) {
	return Decision{Step: Rest{After: after}, Problem: &chain.Problem{Reason: reason, Message: message}}, true
}

// do asks for a step.
func do(s Step) (Decision, bool) { return Decision{Step: s}, true }

// pass lets the next rule speak.
func pass() (Decision, bool) { return Decision{}, false }
