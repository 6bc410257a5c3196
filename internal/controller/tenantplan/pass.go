package tenantplan

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/children"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/rollout"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantplan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

// countsEvery is how often the figures in status are stored while they move: a thousand tenants that come at the same
// time would be a thousand writes.
const countsEvery = time.Second

// pass implements reconcile.Pass.
type pass struct {
	*Controller

	object *kleffv1.TenantPlan
	memory *memory

	confirmed bool
	in        tenantplan.Input
	decision  tenantplan.Decision
	tenants   []kleffv1.Tenant
	account   plan.Account
}

// Decide implements reconcile.Pass.
func (p *pass) Decide() chain.Effect {
	p.decision = tenantplan.Decide(p.in)
	return p.decision.Step.Effect()
}

// Perform implements reconcile.Pass.
func (p *pass) Perform(ctx context.Context, k reconcile.Keeper) error {
	switch s := p.decision.Step.(type) {
	case tenantplan.EnsureFinalizer:
		return p.ensureFinalizer(ctx, k)
	case tenantplan.Apply:
		return p.apply(ctx, k, s)
	case tenantplan.Try:
		return p.try(ctx, s)
	case tenantplan.Release:
		p.release(ctx, s)
	case tenantplan.LetGo, tenantplan.Rest:
	}
	return nil
}

// observe reads the tenants and the constraints, all from caches.
func (p *pass) observe(ctx context.Context) error {
	state, generation := p.Plans.State(p.object), convert.PlanGeneration(p.object)
	p.in = tenantplan.Input{
		Now: p.Clock.Now(), Plan: state.Plan, Invalid: state.Invalid, Released: p.Plans.Released(p.object.UID, generation),
		Name: p.object.Name, UID: string(p.object.UID), Generation: generation,
		Deleting: !p.object.DeletionTimestamp.IsZero(), HasFinalizer: p.held(), Limits: convert.PlanLimits(p.object), Progress: p.progress(generation), Attempts: p.memory.attempts, Unreadable: map[plan.Kind]*fault.Error{},
	}
	p.in.Tried = p.memory.tried == generation
	p.in.Accepted, p.in.Refused = convert.PlanAnswer(p.object)
	if state.Tried {
		p.in.Accepted, p.in.Refused = true, ""
	}
	var list kleffv1.TenantList
	// Nothing is changed in them, and to copy all tenants whenever one moves costs more than all the rest.
	if err := p.Client.List(ctx, &list, client.MatchingFields{IndexPlan: p.object.Name}, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("listing the tenants of the plan: %w", err)
	}
	p.tenants = list.Items
	for i := range p.tenants {
		p.in.Followers = append(p.in.Followers, convert.Follower(&p.tenants[i], p.object))
	}
	p.observeConstraints(ctx)
	return nil
}

func (p *pass) observeConstraints(ctx context.Context) {
	wanted := p.kinds()
	for _, name := range p.allKinds() {
		kind := plan.ConstraintKind(name)
		if !p.Children.Served(kind) {
			if slices.Contains(wanted, name) {
				p.in.Missing = append(p.in.Missing, kind)
			}
			continue
		}
		found, err := p.Children.List(ctx, kind, "")
		if err != nil {
			p.in.Unreadable[kind] = plan.Fault(err)
			continue
		}
		for _, l := range found {
			if p.in.Owns(l) {
				p.in.Constraints = append(p.in.Constraints, l)
			}
		}
	}
}

// kinds are those of the constraints that the plan says.
func (p *pass) kinds() []string {
	var out []string
	if g := p.object.Spec.Gatekeeper; g != nil {
		for _, c := range g.Constraints {
			out = append(out, c.Kind)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// allKinds are those with the kinds that the plan once said.
func (p *pass) allKinds() []string {
	all := append(strings.FieldsFunc(p.object.Annotations[kleffv1.AnnotationConstraintKinds], func(r rune) bool { return r == ',' }), p.kinds()...)
	slices.Sort(all)
	return slices.Compact(all)
}

// held reports whether the finalizer is there, and all kinds of constraints are noted.
func (p *pass) held() bool {
	return Held(p.object) &&
		p.object.Annotations[kleffv1.AnnotationConstraintKinds] == strings.Join(p.allKinds(), ",")
}

func (p *pass) ensureFinalizer(ctx context.Context, k reconcile.Keeper) error {
	annotations := map[string]string{}
	if all := p.allKinds(); len(all) > 0 {
		annotations[kleffv1.AnnotationConstraintKinds] = strings.Join(all, ",")
	}
	if err := k.EnsureFinalizer(ctx, annotations); err != nil {
		return err
	}
	p.in.HasFinalizer, p.confirmed = true, true
	return nil
}

// apply changes what it can. A failure is noted with its object.
func (p *pass) apply(ctx context.Context, k reconcile.Keeper, a tenantplan.Apply) error {
	if !p.confirmed {
		// Not during a deletion: the finalizer and the annotation are there, so that this is a read.
		if err := k.EnsureFinalizer(ctx, nil); err != nil {
			return err
		}
		p.confirmed = true
	}
	set := children.Set{
		Children: p.Children, Now: p.in.Now, Owns: p.in.Owns,
		Live: &p.in.Constraints, Attempts: p.memory.attempts, Account: &p.account,
	}
	set.Write(ctx, a.Changes)
	// Last, so that a constraint that replaces another one is there before.
	set.Prune(ctx, a.Prune)
	return nil
}

// patience is how many times in a row an answer is waited for, such as that of a webhook which is down. Then it is left to the
// write: a webhook that is asked here need not be asked in the namespaces of tenants.
const patience = 5

// try asks the API server whether it would take what the plan gives its tenants. A refusal that speaks of anything but the objects
// themselves, or of the role that they bind, may be meant for the namespace that is asked about, and is left to the write: the
// chart's fence, and policies of the cluster, speak only after the API server has found the object to be valid.
func (p *pass) try(ctx context.Context, s tenantplan.Try) error {
	for _, o := range s.Objects {
		err := p.Children.Try(ctx, o)
		switch {
		case fault.Is(err, fault.Invalid):
			p.in.Invalid = plan.RefusalOf(o, err)
			p.Plans.Refuse(p.in.UID, p.in.Generation, p.in.Invalid)
			return nil
		case fault.Is(err, fault.Throttled):
			return err
		case fault.Is(err, fault.Transient) && p.memory.unanswered < patience:
			p.memory.unanswered++
			return err
		case fault.CodeOf(err) != plan.CodeMayNotBind:
			err = nil
		}
		p.memory.attempts.Note(o.Key(), o.Hash(), p.in.Now, err)
	}
	p.in.Tried, p.memory.tried, p.memory.unanswered = true, p.in.Generation, 0
	p.Plans.Accept(p.in.UID, p.in.Generation)
	return nil
}

// progress is that of the roll-out of this generation. The process knows it better than a status that was read.
func (p *pass) progress(generation int64) rollout.Progress {
	if p.memory.generation == generation {
		return p.memory.progress
	}
	return convert.PlanProgress(p.object)
}

// reached remembers how far the roll-out has come.
func (p *pass) reached(r rollout.Progress) {
	p.in.Progress, p.memory.generation, p.memory.progress = r, p.in.Generation, r
}

// release lets the next tenants have the plan, and wakes them.
func (p *pass) release(ctx context.Context, s tenantplan.Release) {
	p.reached(s.Progress)
	p.Plans.Release(p.in.UID, p.in.Generation, s.UIDs)
	var names []string
	for i := range p.tenants {
		if slices.Contains(s.UIDs, string(p.tenants[i].UID)) {
			names = append(names, p.tenants[i].Name)
			p.in.Released[string(p.tenants[i].UID)] = true
		}
	}
	p.Next(ctx, names...)
}

// Conclude implements reconcile.Pass.
func (p *pass) Conclude(err error) reconcile.Conclusion {
	report := tenantplan.Conclude(p.in, tenantplan.Outcome{Decision: p.decision, Err: err})
	p.reached(report.Rollout.Progress)
	before := p.object.Status.DeepCopy()
	now := p.Clock.Now()
	convert.PlanStatus(&p.object.Status, p.object, report, now)
	c := reconcile.Conclusion{Acts: reconcile.Told(p.account.Events()), Events: p.events(before.Conditions)}
	if rest, ok := p.decision.Step.(tenantplan.Rest); ok {
		c.After = rest.After
	}
	if wait := countsEvery - now.Sub(p.memory.counted); wait > 0 && onlyCounts(before, &p.object.Status) {
		before.DeepCopyInto(&p.object.Status)
		c.After = rollout.Soonest(c.After, wait)
		return c
	}
	if !sameCounts(before, &p.object.Status) {
		c.Stored = func() { p.memory.counted = now }
	}
	return c
}

func sameCounts(a, b *kleffv1.TenantPlanStatus) bool {
	return ptr.Equal(a.Tenants, b.Tenants) && ptr.Equal(a.Applied, b.Applied) && ptr.Equal(a.Failed, b.Failed)
}

// onlyCounts reports whether figures have moved, and nothing else has.
func onlyCounts(a, b *kleffv1.TenantPlanStatus) bool {
	return !sameCounts(a, b) && a.ObservedGeneration == b.ObservedGeneration && reconcile.SameReasons(a.Conditions, b.Conditions)
}

// events tell of Ready when its reason has changed.
func (p *pass) events(before []metav1.Condition) []reconcile.Event {
	return reconcile.Turn(before, p.object.Status.Conditions, kleffv1.ConditionReady, kleffv1.ReasonRollingOut, kleffv1.ReasonRolloutPaused)
}
