// Package tenantplan decides how a change of a plan goes through its tenants, and what becomes of its constraints.
package tenantplan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/rollout"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

// Input is everything that a decision about a plan is based on.
type Input struct {
	Now time.Time
	// Plan is nil where it can't be; Invalid says why then. Invalid is also what the API server has answered when it was asked about
	// the objects of this generation.
	Plan    *plan.Plan
	Invalid string
	// Tried says that the API server was asked since the operator started. Until then, Accepted and Refused are its answer to this
	// generation as status has it. It keeps no tenant from trying: the answer may be another one now.
	Tried, Accepted bool
	Refused         string
	Name, UID       string
	// Generation is that of what the plan gives its tenants. A change of the limits alone does not count.
	Generation int64
	Deleting   bool
	// HasFinalizer says that the finalizer is stored.
	HasFinalizer bool

	Limits    rollout.Limits
	Followers []Follower
	// Progress is how far the roll-out of this generation had come.
	Progress rollout.Progress
	// Released are the tenants that the roll-out of this generation has come to.
	Released map[string]bool

	// Constraints are those of the plan that were found, Missing the kinds of those that the plan has and the cluster
	// does not, and Unreadable the kinds that could not be read.
	Constraints []plan.Live
	Missing     []plan.Kind
	Unreadable  map[plan.Kind]*fault.Error
	Attempts    plan.Attempts
}

// rule is one question about a plan.
type rule = chain.Rule[*Input, Decision]

// Chains lists the rules of both chains of a plan in their order.
func Chains() (living, removal []chain.Entry) {
	return chain.List(livingRules()), chain.List(removeRules())
}

func livingRules() []rule {
	return []rule{
		chain.Ask("Finalized", "The finalizer is stored before anything is created.", finalized),
		chain.Ask("Constraints", "Constraints that differ from the plan are applied, and those that the plan no longer contains are deleted.", constraints),
		chain.Ask("Try", "What a new version gives its tenants is sent to the API server as a dry run, also if no tenant has the plan. A role that may not be bound is tried again later.", try),
		chain.Ask("Rollout", "The change is rolled out to the next tenants, as long as few enough have failed.", rollOut),
	}
}

func removeRules() []rule {
	return []rule{
		chain.Ask("Finalized", "While tenants use the plan, the kinds of its constraints are stored before the constraints are created.", whileUsed(finalized)),
		chain.Ask("ConstraintsKept", "While tenants use the plan, its constraints are applied as before.", whileUsed(constraints)),
		chain.Ask("Try", "While tenants use the plan, what it gives them is sent to the API server as a dry run.", whileUsed(try)),
		chain.Ask("Rollout", "Tenants that use the plan keep it in the state in which it was deleted.", whileUsed(rollOut)),
		chain.Ask("InUse", "While tenants reference the plan, or still have its objects, the plan and its constraints are kept.", inUse),
		chain.Ask("Constraints", "The constraints of the plan are deleted.", removalConstraints),
		chain.Ask("Released", "When no tenant uses the plan, the finalizer is removed.", func(*Input) (Decision, bool) { return do(LetGo{}) }),
	}
}

// Decide picks the one step that comes next for a plan.
func Decide(in Input) Decision {
	rules := livingRules()
	if in.Deleting {
		rules = removeRules()
	}
	d, name, fires := chain.Decide(rules, &in)
	if !fires {
		return Decision{Rule: "Idle", Step: Rest{After: rollout.Soonest(in.nextTry(), in.rollout().Again)}}
	}
	d.Rule = name
	return d
}

// whileUsed are rules for a plan that was deleted while tenants have it: they keep what it gives them.
func whileUsed(r func(*Input) (Decision, bool)) func(*Input) (Decision, bool) {
	return func(in *Input) (Decision, bool) {
		if in.leaving() {
			return pass()
		}
		return r(in)
	}
}

// Owns reports whether a constraint is the plan's: it has the UID of the plan, or that of a former plan of the same
// name. There is one plan at a time, so the former one was deleted and left the constraint behind: it was restored from
// a backup, or its finalizer was removed.
func (in *Input) Owns(l plan.Live) bool {
	uid := l.Labels[plan.LabelPlanUID]
	return uid != "" && (uid == in.UID || l.Labels[plan.LabelPlan] == in.Name)
}

// leaving reports whether the plan was deleted and no tenant needs it any more.
func (in *Input) leaving() bool { return in.Deleting && len(in.Followers) == 0 }

func finalized(in *Input) (Decision, bool) {
	if in.HasFinalizer {
		return pass()
	}
	return do(EnsureFinalizer{})
}

func constraints(in *Input) (Decision, bool) {
	if in.Plan == nil {
		return pass()
	}
	if c := in.Attempts.Due(in.Now, in.diff()); !c.Empty() {
		return do(Apply{Changes: c})
	}
	return pass()
}

func try(in *Input) (Decision, bool) {
	if in.Plan == nil || in.Invalid != "" {
		return pass()
	}
	objects := plan.Specimens(in.Plan)
	if in.Tried {
		objects = nil
		for _, f := range in.unbound() {
			objects = append(objects, f.Object)
		}
		objects = in.Attempts.Due(in.Now, plan.Changes{Create: objects}).Create
		if len(objects) == 0 {
			return pass()
		}
	}
	return do(Try{Objects: objects})
}

// unbound are the bindings that the API server does not let the operator make for any tenant.
func (in *Input) unbound() []plan.Failed {
	return in.Attempts.Of(plan.Changes{Create: plan.Specimens(in.Plan)})
}

// refusal is why the plan can't be what it says; empty where it can.
func (in *Input) refusal() string {
	switch unbound := in.unbound(); {
	case in.Invalid != "":
		return in.Invalid
	case len(unbound) > 0:
		return plan.RefusalOf(unbound[0].Object, unbound[0].Err)
	case !in.Tried:
		return in.Refused
	}
	return ""
}

func rollOut(in *Input) (Decision, bool) {
	if in.Plan == nil || in.Invalid != "" || len(in.unbound()) > 0 {
		return pass()
	}
	if r := in.rollout(); len(r.Release) > 0 {
		return do(Release{UIDs: r.Release, Progress: r.Progress})
	}
	return pass()
}

func inUse(in *Input) (Decision, bool) {
	if len(in.Followers) == 0 {
		return pass()
	}
	const shown = 3
	var names []string
	for _, f := range in.Followers {
		names = append(names, f.Name)
	}
	slices.Sort(names)
	list := strings.Join(names[:min(shown, len(names))], ", ")
	if len(names) > shown {
		list += ", ..."
	}
	return rest(plan.ReasonInUse, fmt.Sprintf("the plan was deleted, but is still used by %s (%s): give them another plan, or delete them", prose.Count(len(names), "tenant", "tenants"), list), 0)
}

func removalConstraints(in *Input) (Decision, bool) {
	if c := in.Attempts.Due(in.Now, in.superfluous()); !c.Empty() {
		return do(Apply{Changes: c})
	}
	if message := in.trouble(); message != "" {
		return rest(plan.ReasonError, message, max(in.nextTry(), time.Second))
	}
	if len(in.Constraints) > 0 {
		return rest(plan.ReasonTerminating, "the plan was deleted, and its constraints are being deleted", plan.WatchDeletion)
	}
	return pass()
}

// superfluous are the constraints of a plan that no tenant needs, without those that are being deleted already.
func (in *Input) superfluous() plan.Changes {
	return plan.Changes{Prune: slices.DeleteFunc(slices.Clone(in.Constraints), func(l plan.Live) bool { return l.Deleting })}
}

func (in *Input) diff() plan.Changes {
	var a plan.Changes
	seen := map[string]bool{}
	for _, o := range plan.BuildPolicy(in.Plan) {
		o = o.Marked()
		seen[o.Key()] = true
		at := slices.IndexFunc(in.Constraints, func(l plan.Live) bool { return l.Key() == o.Key() })
		switch {
		case slices.Contains(in.Missing, o.Kind), in.Unreadable[o.Kind] != nil:
		case at < 0:
			a.Create = append(a.Create, o)
		case !in.Constraints[at].Deleting && !in.Constraints[at].UpToDate(o):
			a.Update = append(a.Update, plan.Update{Object: o, UID: in.Constraints[at].UID})
		}
	}
	for _, live := range in.Constraints {
		if !seen[live.Key()] && !live.Deleting {
			a.Prune = append(a.Prune, live)
		}
	}
	return a
}

// failures are those of constraints that are still not as they should be.
func (in *Input) failures() []plan.Failed {
	switch {
	case in.leaving():
		return in.Attempts.Of(in.superfluous())
	case in.Plan == nil:
		return nil
	}
	return in.Attempts.Of(in.diff())
}

func (in *Input) nextTry() time.Duration {
	if len(in.Unreadable) > 0 {
		return plan.Again.First
	}
	return plan.NextTry(in.Now, append(in.failures(), in.unbound()...))
}

// trouble is the first that is wrong with the constraints; empty for nothing.
func (in *Input) trouble() string {
	var messages []string
	for k, err := range in.Unreadable {
		messages = append(messages, fmt.Sprintf("reading constraints of kind %s: %s", k.Kind, plan.InWords(err)))
	}
	slices.Sort(messages)
	if !in.leaving() {
		for _, o := range in.returning() {
			messages = append(messages, fmt.Sprintf("the %s %q is being deleted, and is created again afterwards", o.Kind.Kind, o.Name))
		}
	}
	for _, f := range in.failures() {
		messages = append(messages, fmt.Sprintf("the %s %q: %s", f.Object.Kind.Kind, f.Object.Name, plan.InWords(f.Err)))
	}
	if len(messages) == 0 {
		return ""
	}
	return messages[0]
}

// returning are the constraints that the plan says and that are being deleted.
func (in *Input) returning() []plan.Object {
	return slices.DeleteFunc(plan.BuildPolicy(in.Plan), func(o plan.Object) bool {
		return !slices.ContainsFunc(in.Constraints, func(l plan.Live) bool { return l.Deleting && l.Key() == o.Key() })
	})
}

// same reports whether the constraints are those of the plan.
func (in *Input) same() bool {
	a := in.diff()
	return a.Empty()
}

// Report is what a pass leaves in a plan's status.
type Report struct {
	Conditions []chain.Condition
	Rollout    rollout.Rollout
}

// Conclude says what a pass over a plan has found.
func Conclude(in Input, out Outcome) Report {
	r := Report{Rollout: in.rollout()}
	policy, rolled := in.policyReady(out), in.rolledOut(r.Rollout)
	root := chain.Condition{Type: plan.ConditionReady, Status: true, Reason: rolled.Reason, Message: rolled.Message}
	switch p := out.Decision.Problem; {
	case p != nil:
		root.Status, root.Reason, root.Message = false, p.Reason, p.Message
	case out.Err != nil && !in.HasFinalizer:
		root.Status, root.Reason, root.Message = false, plan.ReasonError, "the plan could not be updated: "+plan.InWords(out.Err)
	case !rolled.Status:
		root.Status, root.Reason, root.Message = false, rolled.Reason, rolled.Message
	case !policy.Status:
		root.Status, root.Reason, root.Message = false, policy.Reason, policy.Message
	}
	r.Conditions = chain.Sentences([]chain.Condition{policy, root, rolled})
	return r
}

func (in *Input) rolledOut(r rollout.Rollout) chain.Condition {
	c := chain.Condition{Type: plan.ConditionRolledOut}
	switch refusal := in.refusal(); {
	case refusal != "":
		c.Reason, c.Message = plan.ReasonPlanInvalid, refusal
	case !in.Tried && !in.Accepted:
		c.Reason, c.Message = plan.ReasonRollingOut, "the API server is about to be asked whether it accepts what the plan contains"
	case r.Stopped:
		c.Reason, c.Message = plan.ReasonRolloutStopped, fmt.Sprintf("the plan could not be applied to %d of the first %d tenants, so the rollout is stopped. %s", r.Failed, r.Failed+r.Applied, r.First)
	case r.Paused:
		c.Reason, c.Message = plan.ReasonRolloutPaused, "spec.rollout.paused is set, so a change of the plan reaches no more tenants. Remove it to continue"
	case r.Waiting > 0:
		c.Reason, c.Message = plan.ReasonRollingOut, "a change of the plan is being rolled out"+r.NextStep(in.Now)
	case r.Failed > 0:
		c.Reason, c.Message = plan.ReasonTenantsFailed, fmt.Sprintf("the plan could not be applied to %s. %s", prose.Count(r.Failed, "tenant", "tenants"), r.First)
	default:
		c.Status, c.Reason, c.Message = true, plan.ReasonRolledOut, in.whoHasIt(r)
	}
	return c
}

// whoHasIt says which namespaces have the current version, where the rollout has nothing left to do.
func (in *Input) whoHasIt(r rollout.Rollout) string {
	unable := ""
	for _, m := range members(in.Generation, in.Followers, in.Released) {
		if m.State == rollout.Exempt && (unable == "" || m.Name < unable) {
			unable = m.Name
		}
	}
	switch {
	case r.Tenants == 0:
		return "the plan is valid. No tenant uses it yet"
	case unable != "":
		return fmt.Sprintf("the current version of the plan is applied to %d of %s. The rest have no namespace that can get it: see NamespaceReady and PlanApplied of the Tenant %q",
			r.Applied, prose.Count(r.Tenants, "tenant", "tenants"), unable)
	}
	return "all tenants have the current version of the plan"
}

func (in *Input) policyReady(out Outcome) chain.Condition {
	c := chain.Condition{Type: plan.ConditionPolicyReady}
	var missing []string
	for _, k := range in.Missing {
		missing = append(missing, k.Kind)
	}
	trouble := in.trouble()
	switch {
	case in.leaving() && trouble == "":
		c.Reason, c.Message = plan.ReasonTerminating, "the constraints of the plan are being deleted"
	case in.leaving():
		c.Reason, c.Message = plan.ReasonError, trouble
	case in.Plan == nil:
		c.Reason, c.Message = plan.ReasonError, "the plan can't be applied: "+in.Invalid
	case len(missing) > 0:
		c.Reason, c.Message = plan.ReasonCRDMissing, fmt.Sprintf(
			"the cluster has no CRD for the constraint kind %s: install Gatekeeper and the ConstraintTemplate, or remove the constraint from spec.gatekeeper.constraints", strings.Join(missing, ", "))
	case trouble != "":
		c.Reason, c.Message = plan.ReasonError, trouble
	case out.Err != nil && !in.same():
		c.Reason, c.Message = plan.ReasonError, "the constraints could not be updated: "+plan.InWords(out.Err)
	case !in.Plan.HasConstraints():
		c.Status, c.Reason, c.Message = true, plan.ReasonNotConfigured, "the plan does not configure Gatekeeper constraints"
	default:
		c.Status, c.Reason, c.Message = true, plan.ReasonApplied, "the constraints of the plan are applied"
	}
	return c
}
