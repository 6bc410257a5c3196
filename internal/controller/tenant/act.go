package tenant

import (
	"context"
	"fmt"
	"slices"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenancy"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

// Perform implements reconcile.Pass.
func (p *pass) Perform(ctx context.Context, k reconcile.Keeper) error {
	if !p.observed {
		return p.observe(ctx)
	}
	switch s := p.decision.Step.(type) {
	case tenancy.Look:
		return p.look(ctx)
	case tenancy.Try:
		return p.try(ctx, s)
	case tenancy.CreateNamespace:
		return p.write(ctx, k, func() error { return p.createNamespace(ctx, s) })
	case tenancy.ApplyNamespace:
		return p.write(ctx, k, func() error { return p.applyNamespace(ctx, s) })
	case tenancy.DeleteNamespace:
		return p.write(ctx, k, func() error { return p.deleteNamespace(ctx, s) })
	case tenancy.Apply:
		return p.write(ctx, k, func() error { p.apply(ctx, s); return nil })
	case tenancy.EnsureFinalizer:
		return p.hold(ctx, k)
	case tenancy.LetGo, tenancy.Rest:
	}
	return nil
}

// write comes before every change of the cluster: the finalizer is stored, and what the pass knows of the object is not out
// of date.
func (p *pass) write(ctx context.Context, k reconcile.Keeper, change func() error) error {
	if !p.confirmed {
		if err := p.hold(ctx, k); err != nil {
			return err
		}
	}
	return change()
}

func (p *pass) hold(ctx context.Context, k reconcile.Keeper) error {
	if err := k.Hold(ctx, nil); err != nil {
		return err
	}
	p.in.Held, p.confirmed = true, true
	return nil
}

// look reads the namespace past the cache.
func (p *pass) look(ctx context.Context) error {
	p.in.World.Looked = true
	live, err := p.Children.Read(ctx, tenancy.KindNamespace, "", p.in.Tenant.Namespace)
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
func (p *pass) createNamespace(ctx context.Context, s tenancy.CreateNamespace) error {
	live, err := p.Children.Create(ctx, s.Object)
	if fault.Is(err, fault.Exists) {
		return p.look(ctx)
	}
	if err != nil {
		return p.refusal(err)
	}
	p.tell("NamespaceCreated", fmt.Sprintf("the namespace %q was created", live.Name))
	// What a plan gave the former one is gone with it: there is nothing to keep, and no roll-out to wait for.
	p.in.Memory, p.in.World.Follow.Former = tenancy.Memory{}, nil
	return p.sawNamespace(ctx, &live)
}

func (p *pass) applyNamespace(ctx context.Context, s tenancy.ApplyNamespace) error {
	live, err := p.Children.Apply(ctx, s.Object, s.UID, s.Drop...)
	if err != nil {
		return p.refusal(err)
	}
	switch {
	case !live.Kept(s.Object) || slices.ContainsFunc(s.Drop, func(label string) bool { return live.Labels[label] != "" }):
		return p.refusal(tenancy.Unsettled(s.Object))
	case s.Adopts:
		p.tell("NamespaceAdopted", fmt.Sprintf("the namespace %q, which existed, is this tenant's from now on", live.Name))
	case p.in.Deleting:
		p.tell("NamespaceRetained", fmt.Sprintf("the namespace %q stays, and is nobody's", live.Name))
	}
	return p.sawNamespace(ctx, &live)
}

func (p *pass) deleteNamespace(ctx context.Context, s tenancy.DeleteNamespace) error {
	if err := p.Children.Delete(ctx, s.Live); err != nil {
		return p.refusal(err)
	}
	return p.look(ctx) // the transition to Terminating is told
}

// refusal keeps what the API server refuses as something to decide upon. Any other failure ends the pass.
func (p *pass) refusal(err error) error {
	if fault.Is(err, fault.Throttled, fault.Transient, fault.None) {
		return err
	}
	p.in.World.Refused = tenancy.Fault(err)
	return nil
}

// try asks the API server whether it would take what the plan says. A refusal that speaks of anything but the objects themselves, such
// as of a right that is missing, is left to the write.
func (p *pass) try(ctx context.Context, s tenancy.Try) error {
	f := &p.in.World.Follow
	for _, o := range s.Objects {
		err := p.Children.Try(ctx, o)
		switch {
		case fault.Is(err, fault.Invalid):
			f.Invalid = fmt.Sprintf("%s: %s", tenancy.FieldOf(o), tenancy.InWords(err))
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
func (p *pass) apply(ctx context.Context, a tenancy.Apply) {
	for _, l := range a.Prune {
		err := p.Children.Delete(ctx, l)
		if err == nil {
			p.pruned(l)
		}
		p.note(l.Object, "", err)
	}
	for _, o := range a.Create {
		p.note(o, o.Hash(), p.create(ctx, o))
	}
	for _, u := range a.Update {
		p.note(u.Object, u.Hash(), p.update(ctx, u))
	}
	for _, u := range a.Replace {
		p.note(u.Object, u.Hash(), p.replace(ctx, u))
	}
}

// update applies a child. What somebody has added to it stays in an apply; where that changes what the child means, it is made anew.
func (p *pass) update(ctx context.Context, u tenancy.Update) error {
	live, err := p.Children.Apply(ctx, u.Object, u.UID)
	if err != nil || live.Kept(u.Object) || !u.Closed() {
		return p.settled(u.Object, live, err)
	}
	return p.replace(ctx, u)
}

// replace makes a child anew.
func (p *pass) replace(ctx context.Context, u tenancy.Update) error {
	if err := p.Children.Delete(ctx, tenancy.Live{Object: u.Object, UID: u.UID}); err != nil {
		return err
	}
	live, err := p.Children.Create(ctx, u.Object)
	return p.settled(u.Object, live, err)
}

// create makes a child. One that is there is the tenant's only if it carries the UID of a tenant: the namespace is this one's.
func (p *pass) create(ctx context.Context, o tenancy.Object) error {
	live, err := p.Children.Create(ctx, o)
	if fault.Is(err, fault.Exists) {
		if live, err = p.Children.Read(ctx, o.Kind, o.Namespace, o.Name); err != nil {
			return err
		}
		if live.Labels[tenancy.LabelTenantUID] == "" {
			return tenancy.Foreign(o)
		}
		if live.Deleting {
			p.found(live)
			return nil
		}
		live, err = p.Children.Apply(ctx, o, live.UID)
	}
	return p.settled(o, live, err)
}

// settled takes a child as it is after a write.
func (p *pass) settled(o tenancy.Object, live tenancy.Live, err error) error {
	if err != nil {
		return err
	}
	p.found(live)
	if !live.Kept(o) {
		return tenancy.Unsettled(o)
	}
	return nil
}

func (p *pass) found(live tenancy.Live) {
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
func (p *pass) pruned(l tenancy.Live) {
	l.Deleting = true
	p.found(l)
}

func (p *pass) note(o tenancy.Object, hash string, err error) {
	if err == nil {
		delete(p.memory.attempts, o.Key())
		return
	}
	p.memory.attempts.Note(o.Key(), hash, p.in.Now, tenancy.Fault(err))
}

func (p *pass) tell(reason, message string) {
	p.events = append(p.events, reconcile.Event{Reason: reason, Message: message})
}
