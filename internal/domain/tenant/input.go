package tenant

import (
	"slices"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/loss"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
)

// Input is everything that a decision about a tenant is based on.
type Input struct {
	Now    time.Time
	Tenant plan.Tenant
	// Problem is why the names of the tenant can't be; empty if they can.
	Problem string

	// Deleting says that the object was deleted, Protected that spec.deletionProtection keeps it, and Retain that
	// the namespace stays.
	Deleting, Protected, Retain bool
	// Guarded means that the breaker has to clear the deletion.
	Guarded bool
	// Rescued means that a Tenant of that name was deleted a while ago, and left its namespace for the next.
	Rescued bool
	// HasFinalizer says that the finalizer is stored.
	HasFinalizer bool

	Memory   Memory
	Attempts plan.Attempts
	World    World

	// built is what wanted has found. Decide and Conclude have an Input of their own, in which nothing changes any more.
	built *wanted
}

// Memory is what status remembers.
type Memory struct {
	// Namespace is set once it was this tenant's.
	Namespace string
	// Plan is the name of the plan that was last applied.
	Plan string
	// PlanUID and PlanGeneration are those of the plan that was last tried.
	PlanUID        string
	PlanGeneration int64
}

// World is what was found in the cluster.
type World struct {
	// Namespace is the one with the tenant's effective name, no matter whose it is; nil if it does not exist.
	Namespace *plan.Live
	// Looked says that Namespace was read from the API server in this pass, and not from a cache.
	Looked bool
	// Owner is the name of the living Tenant whose UID is on the namespace; empty if there is none.
	Owner string
	// Budget is what the breaker answers to the deletion, if BudgetKnown.
	Budget      loss.Answer
	BudgetKnown bool
	// Refused is why the last write to the namespace failed; nil if it didn't.
	Refused *fault.Error

	Follow Follow
	// Children are the objects of the tenant in its namespace, with those of the previous tenant of the namespace.
	Children []plan.Live
	// Missing are the kinds of children that the cluster does not have, Unreadable those that could not be read.
	Missing    []plan.Kind
	Unreadable map[plan.Kind]*fault.Error
}

// Follow is what is known of the plan that the tenant names.
type Follow struct {
	// Plan is nil where there is no such plan, or one that can't be.
	Plan *plan.Plan
	// UID and Generation are those of the existing plan, even if it is invalid. The UID is empty if there is no plan. A change of
	// how the plan is rolled out is no new generation.
	UID        string
	Generation int64
	// Invalid is why the plan can't be, as it says or as the API server has answered; empty if it can.
	Invalid string
	// Tried says that the API server would take the objects of this generation.
	Tried bool
	// Held says that the plan has its finalizer: its deletion waits for its tenants.
	Held bool
	// NoneAtAll says that the cluster has no plan whatever.
	NoneAtAll bool
	// Going says that the plan was deleted.
	Going bool
	// Released says that the roll-out of this generation has come to this tenant.
	Released bool
	// Former is the plan as the tenant last got it; nil where that is no longer known.
	Former *plan.Plan
	// Policy is the state of the plan's constraints; nil while nothing is known of it.
	Policy *chain.Condition
}

// mine reports whether the namespace is this tenant's.
func (in *Input) mine() bool {
	n := in.World.Namespace
	return n != nil && n.Labels[plan.LabelTenantUID] == in.Tenant.UID
}

// stays reports whether a change of the tenant's namespace was refused. The namespace is there and serves, without what the change
// gives it. After any other refusal that is not certain.
func (in *Input) stays() bool {
	w := &in.World
	return w.Refused != nil && !fault.Is(w.Refused, fault.Conflict, fault.NotFound) && in.mine() && !in.Deleting
}

// tried reports whether a pass that was not cut short has given the tenant what it could of the plan. While the change of its
// namespace is refused, a tenant that comes from another plan still has that one.
func (in *Input) tried() bool {
	return in.mine() && in.followed() && (!in.stays() || in.Memory.PlanUID == in.World.Follow.UID || in.Memory.Plan == in.Tenant.Plan)
}

// mayAdopt reports whether the namespace is annotated for adoption by this tenant, or was left for it, and belongs to no
// other.
func (in *Input) mayAdopt() bool {
	n := in.World.Namespace
	left := in.Rescued && n.Labels[plan.LabelTenantUID] != ""
	return (left || n.Annotations[plan.AnnotationAdoptBy] == in.Tenant.Name) && in.World.Owner == "" && !n.Deleting
}

// follows reports whether the tenant is to have what the plan says now. Otherwise it keeps what it has.
func (in *Input) follows() bool {
	f := &in.World.Follow
	return f.Plan != nil && f.Invalid == "" && in.concerned()
}

// concerned reports whether the present generation of the plan is this tenant's. One that has an earlier generation
// waits for the roll-out, one that has none of this plan doesn't.
func (in *Input) concerned() bool {
	f := &in.World.Follow
	switch {
	case f.UID == "":
		return true
	case in.Memory.PlanUID != f.UID:
		return !f.Going && (in.Memory.Plan != in.Tenant.Plan || f.Released)
	}
	return in.Memory.PlanGeneration == f.Generation || f.Released
}

// unlimited reports whether the plan that the tenant names is a label and nothing more: it never had one, and the cluster
// has none.
func (in *Input) unlimited() bool {
	f := &in.World.Follow
	return f.UID == "" && f.NoneAtAll && in.Memory.Plan == "" && !in.provisional()
}

// provisional reports whether the namespace was created while it was not known what its plan gives it. The annotation says so, or,
// if that was removed, the mark of what was applied.
func (in *Input) provisional() bool {
	if !in.mine() {
		return false
	}
	annotations := in.World.Namespace.Annotations
	return annotations[plan.AnnotationWithoutPlan] != "" ||
		in.Memory.Plan == "" && annotations[plan.AnnotationApplied] == in.floor().Annotations[plan.AnnotationApplied]
}

// floor is the namespace as it is while it is not known what its plan gives it.
func (in *Input) floor() plan.Object {
	o, _ := plan.BuildNamespace(in.Tenant, plan.Floor())
	return o.Marked()
}

// afresh is the input for a namespace that is about to be created. The objects that a plan gave the previous one are
// gone with it: there is no rollout to wait for. While the plan can't be followed, or may turn out to be invalid, the
// namespace gets what it last had from it, where that is known.
func (in *Input) afresh() Input {
	next, f := *in, &in.World.Follow
	next.built = nil
	same, known := in.Memory.PlanUID == f.UID, in.Memory.Plan != "" && f.Former != nil
	usable := f.Plan != nil && f.Invalid == "" && (same || !f.Going) && (f.Tried || !known)
	switch {
	case usable && same:
		next.Memory.PlanGeneration = f.Generation
	case usable, !known:
		next.Memory = Memory{}
	}
	return next
}

// newNamespace is the namespace as it is created. A tenant that was limited by a plan stays limited, also where the cluster has no
// plan any more.
func (in *Input) newNamespace(limited bool) plan.Object {
	if in.former() == nil && (limited || !in.unlimited()) && (!in.follows() || !in.World.Follow.Tried) {
		return in.floor()
	}
	o, _ := in.shouldBe()
	return o
}

// hasFormerPlan reports whether the tenant has what a plan gave it, and it is unknown what that was, and what it is to have now.
func (in *Input) hasFormerPlan() bool {
	return in.Memory.Plan != "" && in.former() == nil && (!in.follows() || !in.World.Follow.Tried)
}

// former is what the tenant keeps while it can't have what its plan says now; nil where it can, or that is not known.
func (in *Input) former() *plan.Plan {
	switch {
	case in.follows():
		return nil
	case in.provisional():
		return plan.Floor()
	case in.Memory.Plan == "":
		return nil
	}
	return in.World.Follow.Former
}

// formerName is the plan that the namespace is labelled with while the tenant has what is former.
func (in *Input) formerName() string {
	if in.provisional() {
		return in.Tenant.Plan
	}
	return in.Memory.Plan
}

// wanted is what the tenant is to have in its namespace.
type wanted struct {
	objects []plan.Object
	// whole says that the plan is followed, so that everything that is not among objects is deleted. Untouched kinds
	// are still left alone: it is unknown what is wanted of them.
	whole     bool
	untouched []plan.Kind
	// missing are the kinds that the plan needs and the cluster does not have, unreadable those that it needs and that
	// can't be read.
	missing, unreadable []plan.Kind
	// mesh and edge are why these objects can't be.
	mesh, edge error
}

// suspension is the one object that a tenant has or hasn't whatever its plan says.
var suspension = plan.Object{Kind: plan.KindResourceQuota, Name: plan.NameSuspended}

// wanted is asked a dozen times in a pass, and to build and hash everything is most of what a pass costs.
func (in *Input) wanted() wanted {
	if in.built == nil {
		w := in.build()
		in.built = &w
	}
	return *in.built
}

func (in *Input) build() wanted {
	t, p := in.Tenant, in.World.Follow.Plan
	if !in.follows() {
		t.Plan, p = in.formerName(), in.former()
	}
	var w wanted
	if p == nil {
		in.sort(&w, plan.BuildLimits(t, nil))
		return w
	}
	w.whole = true
	objects := append(plan.BuildLimits(t, p), plan.BuildIsolation(t, p)...)
	mesh, err := plan.BuildMesh(t, p)
	if w.mesh = err; err != nil {
		w.untouched = append(w.untouched, plan.MeshKinds()...)
	}
	edge, err := plan.BuildEdge(t, p)
	if w.edge = err; err != nil {
		w.untouched = append(w.untouched, plan.KindDistributionTenant)
	}
	in.sort(&w, slices.Concat(objects, mesh, edge))
	return w
}

// sort tells what can be made from what the cluster has no place for.
func (in *Input) sort(w *wanted, objects []plan.Object) {
	for _, o := range objects {
		if slices.Contains(in.World.Missing, o.Kind) {
			w.missing = append(w.missing, o.Kind)
			continue
		}
		if in.World.Unreadable[o.Kind] != nil {
			w.unreadable = append(w.unreadable, o.Kind)
			continue
		}
		w.objects = append(w.objects, o.Marked())
	}
}

// shouldBe is the namespace as it should be, and the labels that it must not have.
func (in *Input) shouldBe() (o plan.Object, drop []string) {
	t := in.Tenant
	if in.follows() && in.World.Follow.Tried {
		o, drop = plan.BuildNamespace(t, in.World.Follow.Plan)
		return o.Marked(), drop
	}
	if former := in.former(); former != nil {
		t.Plan = in.formerName()
		o, drop = plan.BuildNamespace(t, former)
		return o.Marked(), drop
	}
	if !in.hasFormerPlan() {
		o, drop = plan.BuildNamespace(t, nil)
		return o.Marked(), drop
	}
	// The settings of the former plan stay, above all pod security, and so does the label by which constraints know the
	// namespace.
	t.Plan = in.Memory.Plan
	o, _ = plan.BuildNamespace(t, nil)
	for key := range o.Labels {
		if !isIdentity(key) {
			delete(o.Labels, key)
		}
	}
	o.Annotations = nil
	return o, nil
}

// isIdentity tells the labels that say whose a namespace is from those that a plan gives.
func isIdentity(key string) bool {
	return slices.Contains([]string{plan.LabelTenant, plan.LabelTenantUID, plan.LabelTenantPlan, plan.LabelTenantUsername, plan.LabelManagedBy}, key)
}

// diff compares what is there with what is wanted.
func (in *Input) diff() plan.Changes {
	w := in.wanted()
	var a plan.Changes
	seen := map[string]bool{}
	for _, o := range w.objects {
		seen[o.Key()] = true
		live := in.child(o.Key())
		switch {
		case live == nil:
			a.Create = append(a.Create, o)
		case live.Deleting: // it comes back when it is gone
		case live.Frozen(&o):
			a.Replace = append(a.Replace, plan.Update{Object: o, UID: live.UID})
		case !live.UpToDate(o):
			a.Update = append(a.Update, plan.Update{Object: o, UID: live.UID})
		}
	}
	for _, live := range in.World.Children {
		stays := seen[live.Key()] || live.Deleting || slices.Contains(w.untouched, live.Kind) || !w.whole && live.Key() != suspension.Key()
		if !stays {
			a.Prune = append(a.Prune, live)
		}
	}
	return a
}

func (in *Input) child(key string) *plan.Live {
	for i := range in.World.Children {
		if in.World.Children[i].Key() == key {
			return &in.World.Children[i]
		}
	}
	return nil
}

// failures are those of objects that are still not as they should be, in a fixed order.
func (in *Input) failures() []plan.Failed { return in.Attempts.Of(in.diff()) }

// nextTry is when the first of the failed objects is due; zero if none failed.
func (in *Input) nextTry() time.Duration {
	if len(in.wanted().unreadable) > 0 {
		return plan.ReadRetry
	}
	return plan.NextTry(in.Now, in.failures())
}
