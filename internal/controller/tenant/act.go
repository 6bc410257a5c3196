package tenant

import (
	"context"
	"fmt"
	"slices"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/children"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/tenantplan"
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
		item := convert.BudgetItem(convert.ClassTenant, p.object, 1, "", p.in.Now)
		item.Owns = convert.OwnedNamespace(p.object, p.in.World.Namespace)
		p.in.World.Budget, p.in.World.BudgetKnown = p.Breaker.Ask(item), true
		return nil
	case tenant.Try:
		return p.try(ctx, s)
	case tenant.HoldPlan:
		return p.write(ctx, k, func() error { return p.holdPlan(ctx) })
	case tenant.CreateNamespace:
		return p.write(ctx, k, func() error { return p.createNamespace(ctx, s) })
	case tenant.ApplyNamespace:
		return p.write(ctx, k, func() error { return p.applyNamespace(ctx, s) })
	case tenant.DeleteNamespace:
		return p.write(ctx, k, func() error { return p.deleteNamespace(ctx, s) })
	case tenant.Apply:
		return p.write(ctx, k, func() error {
			set := p.children()
			set.Prune(ctx, s.Prune)
			set.Write(ctx, s.Changes)
			return nil
		})
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

func (p *pass) holdPlan(ctx context.Context) error {
	f := &p.in.World.Follow
	if err := tenantplan.Hold(ctx, p.Client, p.in.Tenant.Plan, f.UID); err != nil {
		return err
	}
	f.Held = true
	return nil
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

// children are the objects in the namespace. Everything with the UID of a tenant is this one's, because the namespace
// is.
func (p *pass) children() *children.Set {
	return &children.Set{
		Children: p.Children, Now: p.in.Now, Owns: func(l plan.Live) bool { return l.Labels[plan.LabelTenantUID] != "" },
		Live: &p.in.World.Children, Attempts: p.attempts, Account: &p.account,
	}
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
