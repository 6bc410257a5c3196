package awsresource

import (
	"cmp"
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/account"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distribution"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/grant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/loss"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/grants"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

// tagsAge is how long tags are trusted unless they are about to be acted on.
const tagsAge = 24 * time.Hour

// pass is one reconcile of one object. It implements reconcile.Pass.
type pass[O client.Object, R any] struct {
	*Controller[O, R]
	object O
	status Status
	// account is where the resource is, or will be, and kind works there.
	account account.Place
	kind    Kind[O, R]
	// granted is what the namespace may have. Nil: everything.
	granted *grant.Grant
	// seen is the resource as it was last read or answered, nil if there is none.
	seen   *R
	memory memory
	in     distribution.Input
	out    distribution.Outcome
	// calls are those of this pass to AWS.
	calls port.Pass
}

// Begin implements reconcile.Kind. It gathers what is known without calling AWS. The resource itself is read in every
// pass.
func (c *Controller[O, R]) Begin(ctx context.Context, o O) (reconcile.Pass, error) {
	spec, status := c.kind.Spec(o), c.kind.Status(o)
	p := &pass[O, R]{Controller: c, object: o, status: status, memory: *c.Recall(o, nil)}
	p.in = distribution.Input{
		Desired:  distribution.Desired{Words: spec.Words, Adopts: spec.Adopts, Enabled: spec.Enabled, Direct: spec.Direct, Numbered: status.Creations != nil, Tags: convert.ResourceTags(spec.Policies, c.Defaults), Aliases: spec.Aliases},
		Policy:   convert.ResourcePolicy(spec.Policies, c.Defaults),
		Memory:   convert.ResourceMemory(status.Common),
		Attempts: p.memory.tries,
	}
	p.in.Policy.AbandonDNS = o.GetAnnotations()[v1alpha1.AnnotationAbandonDNS] == v1alpha1.AbandonTrue
	p.in.Object = c.Object(o, spec.Class, &p.in.Attempts, p.in.Memory.Memory, status.Common.ReconcileToken)
	p.in.AdoptedGeneration, p.in.AdoptedID = convert.AdoptedResource(o)
	if t := o.GetDeletionTimestamp(); t != nil {
		p.in.DeletedAt = t.Time
	}
	if status.Creations != nil {
		p.in.Memory.Creations = *status.Creations
	}
	var err error
	if p.account, err = c.Place(ctx, o, status.Common.ARN); err != nil {
		return nil, err
	}
	p.kind = c.kindIn(p.account.Account)
	p.in.World.Aliases = p.memory.aliases
	if err = p.judge(ctx, spec); err != nil {
		return nil, err
	}
	if err = p.recallTargets(ctx, spec); err != nil {
		return nil, err
	}
	p.judgeAliases()
	p.declareTargets(p.in.Memory.Targets)
	return p, nil
}

// judge asks whether the namespace may have what the object wants. An object that is being deleted wants nothing any
// more.
func (p *pass[O, R]) judge(ctx context.Context, s Spec) error {
	if !p.in.DeletedAt.IsZero() {
		p.Grants.Forget(string(p.object.GetUID()))
		return nil
	}
	v, err := p.Grants.Judge(ctx, grants.Asker{Namespace: p.object.GetNamespace(), UID: string(p.object.GetUID()), Wants: s.Wants})
	if err != nil {
		return err
	}
	p.in.Ungranted, p.in.Audited, p.granted = v.Refused, !v.Enforced, v.Grant
	if p.account.Wrong != nil {
		p.in.Ungranted, p.in.Audited = p.account.Wrong, false
	}
	p.in.Policy.Policy = p.in.Policy.Within(v.Grant, s.Name, p.in.Now)
	return nil
}

// Decide implements reconcile.Pass.
func (p *pass[O, R]) Decide() chain.Effect {
	p.in.Now = p.Clock.Now()
	p.out.Decision = distribution.Decide(p.in)
	return p.out.Decision.Step.Effect()
}

// class says how urgent the pass's calls are.
func (p *pass[O, R]) class() port.Class {
	if !p.in.DeletedAt.IsZero() || p.in.Memory.AppliedGeneration != p.in.Generation || p.in.Nudged {
		return port.Change
	}
	return port.Correct
}

// look reads what the decision still needs and adds it to the world.
func (p *pass[O, R]) look(ctx context.Context, s distribution.Look) error {
	switch s.At {
	case distribution.LookResource:
		return p.lookResource(ctx)
	case distribution.LookTags:
		return p.lookTags(ctx)
	case distribution.LookDependents:
		return p.lookDependents(ctx)
	case distribution.LookClaims:
		p.in.World.Unheld, p.in.World.UnheldKnown = p.DomainClaims.Unheld(p.claimKey(client.ObjectKeyFromObject(p.object)), s.Domains, ownDNS), true
	case distribution.LookZones:
		return p.lookZones(ctx, s.Domains[0])
	case distribution.LookAccount:
		account, err := p.account.References.Account(ctx)
		if err != nil {
			return err
		}
		p.in.World.Account = account
	case distribution.LookBudget:
		item := p.item()
		p.in.World.Budget, p.in.World.BudgetHarm, p.in.World.BudgetKnown = p.Breaker.Ask(item), p.in.Harm(), true
	}
	return nil
}

// item is what the object asks of the breaker.
func (p *pass[O, R]) item() loss.Item {
	return convert.BudgetItem(p.kind.Spec(p.object).Class, p.object, p.in.Customers(), p.in.Harm(), p.in.Now)
}

func (p *pass[O, R]) lookResource(ctx context.Context) error {
	r, err := p.locate(ctx)
	if fault.Is(err, fault.NotFound) {
		p.seen = nil
		p.in.World.Knowledge, p.in.World.Resource, p.in.World.Fresh = resource.Absent, nil, true
		p.in.World.Differences = nil
		return nil
	}
	if err != nil {
		return err
	}
	p.found(r)
	p.in.World.Fresh = true
	return nil
}

// locate reads the resource by its ID. Where that is not known, or no longer there, a create may have made
// one whose answer never came.
func (p *pass[O, R]) locate(ctx context.Context) (R, error) {
	// The spec says which one is to be adopted. Status may come from a backup, and name an earlier one.
	id := cmp.Or(p.in.Desired.Adopts, p.in.Memory.ID)
	var none R
	if id != "" {
		r, err := p.kind.Read(ctx, id)
		if err == nil || !fault.Is(err, fault.NotFound) {
			return r, err
		}
	}
	if p.in.Desired.Adopts != "" {
		return none, &fault.Error{Kind: fault.NotFound, Operation: "Reading " + id, Message: "there is none"}
	}
	// The mark is no bound: it may be lost, and written again by a create that AWS refused because of an earlier one.
	return p.kind.Find(ctx, p.object, p.object.GetCreationTimestamp().Time)
}

// found takes over a resource that was read, or that a write answered with.
func (p *pass[O, R]) found(r R) {
	o := p.kind.Observe(r)
	w := &p.in.World
	if w.Resource == nil || w.Resource.ARN != o.ARN {
		w.Tags, w.TagsKnown, w.TagsRead = nil, false, time.Time{}
		if p.memory.arn == o.ARN {
			w.Tags, w.TagsKnown, w.TagsRead = p.memory.tags, true, p.memory.tagsRead
			w.TagsDue = p.in.Now.Sub(w.TagsRead) > tagsAge
		}
	}
	p.seen, w.Knowledge, w.Resource = &r, resource.Whole, &o
	w.Differences = p.kind.Differences(p.object, r)
	w.Serving = p.account.Inventory.Serving(o.ID)
}

func (p *pass[O, R]) lookTags(ctx context.Context) error {
	tags, err := p.account.CloudFront.ListTags(ctx, p.in.World.Resource.ARN)
	if err != nil {
		return err
	}
	p.tagged(tags)
	p.in.World.OwnerAlive = OwnerAlive(ctx, p.Client, p.in.Me, tags, p.kind.New())
	return nil
}

// tagged takes over tags as they are now.
func (p *pass[O, R]) tagged(tags map[string]string) {
	w, now := &p.in.World, p.Clock.Now()
	w.Tags, w.TagsKnown, w.TagsDue, w.TagsFresh, w.TagsRead = tags, true, false, true, now
	p.memory.arn, p.memory.tags, p.memory.tagsRead = w.Resource.ARN, tags, now
}

func (p *pass[O, R]) lookDependents(ctx context.Context) error {
	names, more, err := p.kind.Tenants(ctx, *p.seen)
	if err != nil {
		return err
	}
	p.memory.tenants = map[string]struct{}{}
	for _, name := range names {
		p.memory.tenants[name] = struct{}{}
	}
	d := &distribution.Dependents{Count: len(names), More: more}
	for _, key := range p.Objects(names) {
		d.Ours = append(d.Ours, ownership.Owner{Namespace: key.Namespace, Name: key.Name})
	}
	p.in.World.Dependents = d
	return nil
}
