package awsresource

import (
	"context"
	"maps"
	"time"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distribution"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

// Perform implements reconcile.Pass.
func (p *pass[O, R]) Perform(ctx context.Context, k reconcile.Keeper) error {
	ctx = port.WithCall(ctx, port.Call{
		Key: string(p.object.GetUID()), Namespace: p.object.GetNamespace(), Grant: p.account.Grant, Class: p.class(), Pass: &p.calls,
	})
	defer func() {
		p.judgeAliases()
		p.declareTargets(p.in.Memory.Targets)
	}()
	s := p.out.Decision.Step
	if look, ok := s.(distribution.Look); ok {
		return Kept(p.look(ctx, look), &p.in.World.Unreadable)
	}
	err := p.write(ctx, k, s)
	if err == nil {
		p.out.Done = append(p.out.Done, s)
	}
	return Kept(err, &p.in.World.Refused)
}

func (p *pass[O, R]) write(ctx context.Context, k reconcile.Keeper, s distribution.Step) error {
	switch s := s.(type) {
	case distribution.EnsureFinalizer:
		return p.ensureFinalizer(ctx, k, nil)
	case distribution.Claim:
		p.hold(ctx, s)
	case distribution.Create:
		return p.create(ctx, k, s)
	case distribution.Adopt:
		return p.adopt(ctx, k, s)
	case distribution.Update:
		return p.update(ctx, k)
	case distribution.Tag:
		return p.tag(ctx, k, s)
	case distribution.Untag:
		return p.untag(ctx, k, s)
	case distribution.Disable:
		return p.disable(ctx, k)
	case distribution.Delete:
		return p.delete(ctx, k)
	case distribution.Look, distribution.LetGo, distribution.Rest:
	}
	return nil
}

// ensureFinalizer comes before every write to AWS: the finalizer is stored, and what the pass knows of the object is
// not out of date.
func (p *pass[O, R]) ensureFinalizer(ctx context.Context, k reconcile.Keeper, annotations map[string]string) error {
	if err := k.EnsureFinalizer(ctx, annotations); err != nil {
		return err
	}
	p.in.HasFinalizer = true
	return nil
}

// create asks for permission first: a mark without a call would only cost writes.
func (p *pass[O, R]) create(ctx context.Context, k reconcile.Keeper, s distribution.Create) error {
	ctx, delay := p.account.Rate.Admit(ctx)
	if delay > 0 {
		return &fault.Error{Kind: fault.Throttled, Operation: "Creating", RetryAfter: delay}
	}
	now := p.Clock.Now()
	before := p.in.MarkCreate(now)
	mark := p.in.CreateMark.UTC().Format(time.RFC3339)
	if err := p.ensureFinalizer(ctx, k, convert.Recording(p.object, p.account.ID, v1alpha1.AnnotationCreatePending, mark)); err != nil {
		return err
	}
	p.in.Attempts.Announce(before, p.in.CreateMark)
	r, err := p.kind.Create(ctx, p.object, s.Tags)
	p.in.Attempts.CreateEnded(err, now, resource.UserKeys(s.Tags))
	if err != nil {
		return err
	}
	p.found(r)
	p.tagged(s.Tags)
	p.in.Attempts.Sent(p.in.Generation, resource.WroteConfig|resource.WroteTags, now)
	return nil
}

// adopt remembers the generation before the tags say that the resource is ours: from then on, what differs
// from the spec would otherwise count as drift.
func (p *pass[O, R]) adopt(ctx context.Context, k reconcile.Keeper, s distribution.Adopt) error {
	id := p.in.World.Resource.ID
	mark := convert.AdoptedResourceMark(p.object, id)
	if err := p.ensureFinalizer(ctx, k, convert.Recording(p.object, p.account.ID, v1alpha1.AnnotationAdoptedGeneration, mark)); err != nil {
		return err
	}
	p.in.AdoptedGeneration, p.in.AdoptedID = p.in.Generation, id
	if err := p.claim(ctx, s); err != nil {
		return err
	}
	p.in.Attempts.CreatedWith = nil
	p.tagged(ownership.Merge(p.in.World.Tags, p.in.Me))
	return nil
}

// claim writes the owner tags if the tags are still those that the decision was based on. AWS does not compare tags:
// without that, two objects that adopt the same resource at the same time would both believe that it is theirs, until
// the tags are next read.
func (p *pass[O, R]) claim(ctx context.Context, s distribution.Adopt) error {
	p.adopting.Lock()
	defer p.adopting.Unlock()
	switch tags, err := p.account.CloudFront.ListTags(ctx, s.ARN); {
	case err != nil:
		return err
	case !maps.Equal(tags, p.in.World.Tags):
		return &fault.Error{Kind: fault.Conflict, Operation: "Adopting", Message: "the tags have changed in the meantime"}
	}
	return p.account.CloudFront.Tag(ctx, s.ARN, s.Tags)
}

func (p *pass[O, R]) update(ctx context.Context, k reconcile.Keeper) error {
	if err := p.ensureFinalizer(ctx, k, nil); err != nil {
		return err
	}
	r, err := p.kind.Update(ctx, p.object, *p.seen)
	if err != nil {
		return err
	}
	p.found(r)
	p.account.References.Forget(p.in.World.Resource.ID)
	p.in.Attempts.Sent(p.in.Generation, resource.WroteConfig, p.Clock.Now())
	return nil
}

func (p *pass[O, R]) tag(ctx context.Context, k reconcile.Keeper, s distribution.Tag) error {
	if err := p.ensureFinalizer(ctx, k, nil); err != nil {
		return err
	}
	if err := p.account.CloudFront.Tag(ctx, s.ARN, s.Tags); err != nil {
		p.doubtTags()
		return err
	}
	p.in.Attempts.Sent(p.in.Generation, resource.WroteTags, p.Clock.Now())
	all := maps.Clone(p.in.World.Tags)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, s.Tags)
	p.tagged(all)
	return nil
}

// doubtTags has the next pass read the tags: a write whose answer was lost may have been carried out.
func (p *pass[O, R]) doubtTags() { p.memory.arn, p.memory.tags = "", nil }

func (p *pass[O, R]) untag(ctx context.Context, k reconcile.Keeper, s distribution.Untag) error {
	if err := p.ensureFinalizer(ctx, k, nil); err != nil {
		return err
	}
	if err := p.account.CloudFront.Untag(ctx, s.ARN, s.Keys); err != nil {
		p.doubtTags()
		return err
	}
	p.in.Attempts.Sent(p.in.Generation, resource.RemovedTags, p.Clock.Now())
	rest := maps.Clone(p.in.World.Tags)
	for _, key := range s.Keys {
		delete(rest, key)
	}
	p.tagged(rest)
	return nil
}

func (p *pass[O, R]) disable(ctx context.Context, k reconcile.Keeper) error {
	if err := p.ensureFinalizer(ctx, k, nil); err != nil {
		return err
	}
	r, err := p.kind.Disable(ctx, *p.seen)
	if err != nil {
		return err
	}
	p.found(r)
	p.account.References.Forget(p.in.World.Resource.ID)
	return nil
}

// delete leaves the proof that the resource is gone to the look that follows.
func (p *pass[O, R]) delete(ctx context.Context, k reconcile.Keeper) error {
	if err := p.ensureFinalizer(ctx, k, nil); err != nil {
		return err
	}
	seen := *p.in.World.Resource
	if err := p.kind.Delete(ctx, seen); err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	p.account.References.Forget(seen.ID)
	p.in.Attempts.DeletedAt, p.in.World.Fresh = p.Clock.Now(), false
	return nil
}
