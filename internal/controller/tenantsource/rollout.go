package tenantsource

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/rollout"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantsource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

// observeRollout asks how far changes of the tenants have come.
func (p *pass) observeRollout(ctx context.Context) error {
	limits, _, has := convert.SourceLimits(p.object)
	if !has {
		return nil
	}
	p.in.Rollout = &limits
	if p.Progress != nil {
		p.in.Progress, _ = p.Progress(p.key())
	}
	if p.session.Round != nil || !p.in.LooksBehind() {
		return nil
	}
	tenants, err := p.target.tenants(ctx)
	for i := range tenants {
		if o := &tenants[i]; relation(o, p.target.labels) == tenantsource.Ours && o.DeletionTimestamp.IsZero() && convert.Behind(o) {
			p.in.Behind++
		}
	}
	return err
}

// concludeRollout stores how far changes of the tenants have come, figures alone not each time.
func (p *pass) concludeRollout(c *reconcile.Conclusion, a rollout.Rollout, before *v1alpha1.TenantSourceStatus, now time.Time) {
	p.Observer.RolledOut(p.key(), a)
	if wait := tenantsource.CountsEvery - now.Sub(p.session.counted); wait > 0 && onlyCounts(before, &p.object.Status) {
		before.DeepCopyInto(&p.object.Status)
		c.After = rollout.Soonest(c.After, wait)
		return
	}
	c.Events = append(c.Events, rolloutEvents(before.Conditions, p.object.Status.Conditions)...)
	c.Stored = func() { p.session.counted = now }
}

// onlyCounts reports whether figures have moved, and nothing else has.
func onlyCounts(a, b *v1alpha1.TenantSourceStatus) bool {
	return a.Rollout != nil && b.Rollout != nil && reconcile.SameReasons(a.Conditions, b.Conditions) &&
		a.Rollout.Step == b.Rollout.Step && a.Rollout.Since.Equal(b.Rollout.Since)
}

// rolloutEvents tell of RolledOut when its reason has changed.
func rolloutEvents(before, after []metav1.Condition) []reconcile.Event {
	if meta.FindStatusCondition(before, v1alpha1.ConditionRolledOut) == nil && meta.IsStatusConditionTrue(after, v1alpha1.ConditionRolledOut) {
		// Its tenants are as they were created.
		return nil
	}
	return reconcile.Turn(before, after, v1alpha1.ConditionRolledOut, v1alpha1.ReasonRollingOut, v1alpha1.ReasonRolloutPaused)
}
