package tenant

import (
	"context"
	"fmt"
	"slices"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

// Perform implements reconcile.Pass.
func (p *pass) Perform(ctx context.Context, k reconcile.Keeper) error {
	switch s := p.decision.Step.(type) {
	case tenant.Look:
		return p.look(ctx)
	case tenant.AskBudget:
		item := convert.BudgetItem(convert.ClassTenant, p.object, "", p.in.Now)
		p.in.World.Budget, p.in.World.BudgetKnown = p.Breaker.Ask(item), true
		return nil
	case tenant.Try:
		return p.try(ctx, s)
	case tenant.CreateNamespace:
		return p.write(ctx, k, func() error { return p.createNamespace(ctx, s) })
	case tenant.ApplyNamespace:
		return p.write(ctx, k, func() error { return p.applyNamespace(ctx, s) })
	case tenant.DeleteNamespace:
		return p.write(ctx, k, func() error { return p.deleteNamespace(ctx, s) })
	case tenant.Apply:
		return p.write(ctx, k, func() error { p.apply(ctx, s); return nil })
	case tenant.EnsureFinalizer:
		return p.ensureFinalizer(ctx, k)
	case tenant.LetGo, tenant.Rest:
	}
	return nil
}

// write comes before every change of the cluster: the finalizer is stored, and what the pass knows of the object is not out
// of date.
func (p *pass) write(ctx context.Context, k reconcile.Keeper, change func() error) error {
	if !p.confirmed {
		if err := p.ensureFinalizer(ctx, k); err != nil {
			return err
		}
	}
	return change()
}

func (p *pass) ensureFinalizer(ctx context.Context, k reconcile.Keeper) error {
	if err := k.EnsureFinalizer(ctx, nil); err != nil {
		return err
	}
	p.in.HasFinalizer, p.confirmed = true, true
	return nil
}

// look reads the namespace past the cache.
func (p *pass) look(ctx context.Context) error {
	p.in.World.Looked = true
	live, err := p.Children.Read(ctx, plan.KindNamespace, "", p.in.Tenant.Namespace)
	switch {
	case fault.Is(err, fault.NotFound):
		return p.sawNamespace(ctx, nil)
	case err != nil:
		p.in.World.Looked = false
		return err
	}
	return p.sawNamespace(ctx, &live)
}

// createNamespace makes the namespace. One that is there meanwhile is looked at.
func (p *pass) createNamespace(ctx context.Context, s tenant.CreateNamespace) error {
	live, err := p.Children.Create(ctx, s.Object)
	if fault.Is(err, fault.Exists) {
		return p.look(ctx)
	}
	if err != nil {
		return p.refusal(err)
	}
	p.tell(eventNamespaceCreated, fmt.Sprintf("the namespace %q was created", live.Name))
	p.fresh, p.in.Memory = true, s.Memory
	return p.sawNamespace(ctx, &live)
}

func (p *pass) applyNamespace(ctx context.Context, s tenant.ApplyNamespace) error {
	live, err := p.Children.Apply(ctx, s.Object, s.UID, s.Drop...)
	if err != nil {
		return p.refusal(err)
	}
	switch {
	case !live.UpToDate(s.Object) || slices.ContainsFunc(s.Drop, func(label string) bool { return live.Labels[label] != "" }):
		return p.refusal(plan.Unsettled(s.Object))
	case s.Adopts:
		p.tell(eventNamespaceAdopted, fmt.Sprintf("the existing namespace %q was adopted and now belongs to this tenant", live.Name))
	case p.in.Deleting:
		p.tell(eventNamespaceRetained, fmt.Sprintf("the namespace %q is kept and no longer belongs to a tenant", live.Name))
	default:
		p.account.Changed(s.Object, []plan.Live{*p.in.World.Namespace})
	}
	return p.sawNamespace(ctx, &live)
}

func (p *pass) deleteNamespace(ctx context.Context, s tenant.DeleteNamespace) error {
	if err := p.Children.Delete(ctx, s.Live); err != nil {
		return p.refusal(err)
	}
	p.tell(eventNamespaceDeleting, fmt.Sprintf("the namespace %q is deleted with everything in it", s.Live.Name))
	return p.look(ctx)
}

// refusal keeps an error with which the API server refuses a write, so that it is decided on. Any other failure ends
// the pass.
func (p *pass) refusal(err error) error {
	if fault.Is(err, fault.Throttled, fault.Transient, fault.None) {
		return err
	}
	p.in.World.Refused = plan.Fault(err)
	return nil
}

// try asks the API server whether it would take what the plan says. A refusal that speaks of anything but the objects themselves, such
// as of a right that is missing, is left to the write.
func (p *pass) try(ctx context.Context, s tenant.Try) error {
	f := &p.in.World.Follow
	for _, o := range s.Objects {
		err := p.Children.Try(ctx, o)
		switch {
		case fault.Is(err, fault.Invalid):
			f.Invalid = plan.RefusalOf(o, err)
			p.Plans.Refuse(f.UID, f.Generation, f.Invalid)
			return nil
		case fault.Is(err, fault.Throttled, fault.Transient):
			return err
		}
	}
	f.Tried = true
	p.Plans.Accept(f.UID, f.Generation)
	return nil
}

// apply does what it can. What fails is noted with the object, and tried again later.
func (p *pass) apply(ctx context.Context, a tenant.Apply) {
	for _, l := range a.Prune {
		err := p.Children.Delete(ctx, l)
		if err == nil {
			p.pruned(l)
			p.account.Deleted(l.Object)
		}
		p.note(l.Object, "", err)
	}
	for _, o := range a.Create {
		p.note(o, o.Hash(), p.create(ctx, o))
	}
	before := slices.Clone(p.in.World.Children)
	change := func(u plan.Update, how func(context.Context, plan.Update) error) {
		err := how(ctx, u)
		p.note(u.Object, u.Hash(), err)
		if err == nil {
			p.account.Changed(u.Object, before)
		}
	}
	for _, u := range a.Update {
		change(u, p.update)
	}
	for _, u := range a.Replace {
		change(u, p.replace)
	}
}

// update applies a child. Additions by others survive an apply; where they change what the child means, it is
// recreated.
func (p *pass) update(ctx context.Context, u plan.Update) error {
	live, err := p.Children.Apply(ctx, u.Object, u.UID)
	if err != nil || live.UpToDate(u.Object) || !u.Closed() {
		return p.settled(u.Object, live, err)
	}
	return p.replace(ctx, u)
}

// replace recreates a child.
func (p *pass) replace(ctx context.Context, u plan.Update) error {
	if err := p.Children.Delete(ctx, plan.Live{Object: u.Object, UID: u.UID}); err != nil {
		return err
	}
	live, err := p.Children.Create(ctx, u.Object)
	if err != nil {
		p.account.Deleted(u.Object)
	}
	return p.settled(u.Object, live, err)
}

// create makes a child. One that is there is the tenant's only if it carries the UID of a tenant: the namespace is this one's.
func (p *pass) create(ctx context.Context, o plan.Object) error {
	live, err := p.Children.Create(ctx, o)
	if fault.Is(err, fault.Exists) {
		if live, err = p.Children.Read(ctx, o.Kind, o.Namespace, o.Name); err != nil {
			return err
		}
		if live.Labels[plan.LabelTenantUID] == "" {
			return plan.Foreign(o)
		}
		if live.Deleting {
			p.found(live)
			return nil
		}
		if live.UpToDate(o) {
			// An answer was lost, or the cache is behind.
			p.account.Created(o)
			p.found(live)
			return nil
		}
		before := live
		live, err = p.Children.Apply(ctx, o, live.UID)
		if err = p.settled(o, live, err); err == nil {
			p.account.Changed(o, []plan.Live{before})
		}
		return err
	}
	if err = p.settled(o, live, err); err == nil {
		p.account.Created(o)
	}
	return err
}

// settled takes a child as it is after a write.
func (p *pass) settled(o plan.Object, live plan.Live, err error) error {
	if err != nil {
		return err
	}
	p.found(live)
	if !live.UpToDate(o) {
		return plan.Unsettled(o)
	}
	return nil
}

func (p *pass) found(live plan.Live) {
	children := p.in.World.Children
	for i := range children {
		if children[i].Key() == live.Key() {
			children[i] = live
			return
		}
	}
	p.in.World.Children = append(children, live)
}

// pruned takes a child that was deleted. Some wait for finalizers, and go later.
func (p *pass) pruned(l plan.Live) {
	l.Deleting = true
	p.found(l)
}

func (p *pass) note(o plan.Object, hash string, err error) {
	if err == nil {
		delete(p.memory.attempts, o.Key())
		return
	}
	p.memory.attempts.Note(o.Key(), hash, p.in.Now, plan.Fault(err))
}

// Reasons of events that are not reasons of conditions. The reference page of events is generated from these comments.
const (
	// eventNamespaceCreated (Normal; Tenant): the namespace was created.
	eventNamespaceCreated = "NamespaceCreated"
	// eventNamespaceAdopted (Normal; Tenant): an existing namespace with the annotation `kleff.io/adopt-by` was adopted.
	eventNamespaceAdopted = "NamespaceAdopted"
	// eventNamespaceRetained (Normal; Tenant): the object was deleted and its namespace stays (`deletionPolicy: Retain`).
	eventNamespaceRetained = "NamespaceRetained"
	// eventNamespaceDeleting (Normal; Tenant): the object was deleted, and the operator deleted its namespace.
	eventNamespaceDeleting = "NamespaceDeleting"
	// eventNamespaceDeleted (Normal; Tenant): the object was deleted and its namespace is gone.
	eventNamespaceDeleted = "NamespaceDeleted"
)

func (p *pass) tell(reason, message string) {
	p.acts = append(p.acts, reconcile.Event{Reason: reason, Message: prose.Sentence(message)})
}
