package tenantsource

import (
	"cmp"
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/grant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantsource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/grants"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

// pass is one reconcile of one source. It implements reconcile.Pass.
type pass struct {
	*Controller
	object   *v1alpha1.TenantSource
	session  *session
	in       tenantsource.Input
	decision tenantsource.Decision
	target   target
	// granted is what the namespace may have. Nil: everything.
	granted *grant.Grant
}

// Begin implements reconcile.Kind. It gathers what is known. Nothing is asked but the API server, about the objects of
// a source that is deleted.
func (c *Controller) Begin(ctx context.Context, o *v1alpha1.TenantSource) (reconcile.Pass, error) {
	s := c.recall(o)
	p := &pass{Controller: c, object: o, session: s, target: target{
		Controller: c, namespace: convert.TargetNamespace(o), labels: convert.SourceLabels(o), manager: convert.SourceManager(o), disabler: convert.SourceDisabler(o),
	}}
	p.compile()
	p.in.Now, p.in.Memory, p.in.State, p.in.LostObjects = c.Clock.Now(), convert.SourceMemory(&o.Status), s.State, c.hasLost(s)
	p.in.Spec = tenantsource.Spec{
		Generation: o.Generation, Reading: s.reading, Deleting: !o.DeletionTimestamp.IsZero(),
		Suspended: o.Spec.Suspend, DryRun: o.Spec.DryRun, Policy: convert.SourcePolicy(o), Guard: convert.SourceGuard(o),
		Invalid: p.invalid(), Token: convert.SyncToken(o), Approved: o.Annotations[v1alpha1.AnnotationApproveDeletions],
		RowKey: o.Spec.RowKey != "", WritesBack: o.Spec.WriteBack != nil, LargeTable: cmp.Or(c.LargeTable, tenantsource.LargeTable),
	}
	if err := p.judge(ctx); err != nil {
		return nil, err
	}
	p.in.Unresolved = p.unresolved(ctx)
	p.in.Watch, p.in.States = p.follow(), p.keep()
	p.apply(tenantsource.Resumed{})
	if p.in.Deleting && !p.in.Retains() && p.in.Invalid == "" {
		return p, p.observeRemoval(ctx)
	}
	return p, p.observeRollout(ctx)
}

// judge asks whether the namespace may have what the source wants. A source that is being deleted is held for nothing: it only
// writes no state table that it may not write.
func (p *pass) judge(ctx context.Context) error {
	asker := grants.Asker{Namespace: p.object.Namespace, UID: string(p.object.UID), Wants: convert.SourceWants(p.object)}
	if p.in.Deleting {
		return p.judgeLast(ctx, asker)
	}
	if p.in.Memory.LastPoll.IsZero() {
		asker.Adds = grant.Usage{Sources: 1}
	}
	v, err := p.Grants.Judge(ctx, asker)
	p.in.Ungranted, p.in.Audited, p.granted = v.Refused, !v.Enforced, v.Grant
	return err
}

// judgeLast asks for a source that is being deleted. It takes up nothing of what is granted any more.
func (p *pass) judgeLast(ctx context.Context, asker grants.Asker) error {
	defer p.Grants.Forget(asker.UID)
	if p.in.WritesBack {
		v, err := p.Grants.Judge(ctx, asker)
		p.in.Unwritable, p.granted = err != nil || v.Refused != nil && v.Enforced, v.Grant
	}
	return nil
}

// compile makes the program of this generation, once.
func (p *pass) compile() {
	s := p.session
	if s.generation == p.object.Generation {
		return
	}
	s.generation, s.program, s.invalid = p.object.Generation, nil, ""
	s.reading = convert.SourceReading(p.object)
	config, err := convert.SourceConfig(p.object)
	if err == nil {
		s.program, err = mapping.Compile(config)
	}
	if err != nil {
		s.invalid = err.Error()
	}
}

// invalid says why the spec is unusable. The grant is the administrator's, and may change.
func (p *pass) invalid() string {
	if err := p.Grant(p.object.Namespace, p.target.namespace); err != nil {
		return "spec.targetNamespace: " + err.Error()
	}
	if p.object.DeletionTimestamp.IsZero() {
		return p.session.invalid
	}
	return ""
}

// observeRemoval asks the guard about a deleted source.
func (p *pass) observeRemoval(ctx context.Context) error {
	fleet, err := p.target.fleet(ctx)
	if err != nil {
		return err
	}
	p.in.Leaving = p.in.WritesBack && fleet.Leaves()
	p.noteLeaving(p.in.Leaving)
	if p.in.Owned = p.in.State.Left(fleet.Owned(p.in.Policy)); len(p.in.Owned) == 0 {
		return p.target.confirmEmpty(ctx, p.in.Policy)
	}
	p.apply(tenantsource.Judged{Owned: p.in.Owned})
	return nil
}

// apply tells the source what has happened to it.
func (p *pass) apply(e tenantsource.Event) {
	var effects tenantsource.Effects
	p.in.State, effects = p.in.State.Apply(p.in.View, e)
	if p.session.State = p.in.State; effects.Dropped {
		p.session.stream.Hint()
	}
}

// Decide implements reconcile.Pass.
func (p *pass) Decide() chain.Effect {
	p.in.Now = p.Clock.Now()
	p.decision = tenantsource.Decide(p.in)
	return p.decision.Step.Effect()
}

// key names the source.
func (p *pass) key() client.ObjectKey { return client.ObjectKeyFromObject(p.object) }
