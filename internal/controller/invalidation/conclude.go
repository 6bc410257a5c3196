package invalidation

import (
	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/invalidation"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

// Conclude implements reconcile.Pass.
func (p *pass) Conclude(err error) reconcile.Conclusion {
	p.in.Now, p.out.Err = p.Clock.Now(), err
	c := reconcile.Conclusion{}
	if rest, ok := p.out.Decision.Step.(invalidation.Rest); ok {
		c.After = rest.After
	}
	p.memory.looks, p.memory.fullUntil = p.in.World.Looks, p.in.World.FullUntil
	p.memory.waits = p.in.Memory.Started.IsZero() && p.in.Memory.Finished.IsZero()
	p.Remember(p.object, p.memory)
	if p.over() {
		return c
	}
	conditions := invalidation.Conclude(p.in, p.out)
	convert.InvalidationReport(&p.object.Status, p.in, conditions, p.in.Now)
	if problem := p.out.Decision.Problem; problem != nil && problem.Detail != "" {
		c.Details = append(c.Details, problem.Detail)
	}
	for _, ready := range conditions {
		if ready.Type != chain.Ready {
			continue
		}
		c.Events = append(c.Events, reconcile.Told(invalidation.Events(p.in.Memory.Ready.Reason, ready))...)
	}
	c.Noted, c.Stored = reconcile.Told(invalidation.Created(p.before, p.in.Memory.Tenants)), p.count
	return c
}

// over reports whether the object had finished before this pass: nothing is told of it any more.
func (p *pass) over() bool { return !p.in.Memory.Finished.IsZero() && !p.in.World.Unsaved }

// count counts what has happened in this pass, once it is stored.
func (p *pass) count() {
	if p.out.Failed != nil {
		p.Observer.InvalidationEnded(false)
	}
	if p.in.AllCompleted() {
		p.Observer.InvalidationTook(p.in.Memory.Finished.Sub(p.in.Created))
	}
	n := p.in.Totals().Minus(p.totals)
	for range n.Requested {
		p.Observer.PathsRequested(p.in.Paths)
	}
	for range n.Completed {
		p.Observer.InvalidationEnded(true)
	}
	for range n.Failed {
		p.Observer.InvalidationEnded(false)
	}
}

var _ reconcile.Kind[*v1alpha1.Invalidation] = (*Controller)(nil)
