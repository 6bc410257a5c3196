package tenantsource

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/rollout"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantsource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

// wakesEvery is how often the changes of its objects wake a source at most, while it has a rollout.
const wakesEvery = time.Second

// follows are the sources that a change of an object wakes: its own one, while that has a rollout, or once others delete its
// objects. It looks at its objects then; a thousand that change in the same second wake it once.
func (c *Controller) follows(o client.Object) []types.NamespacedName {
	labels := o.GetLabels()
	key := types.NamespacedName{Namespace: labels[v1alpha1.LabelSourceNamespace], Name: labels[v1alpha1.LabelSource]}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.sessions[key]
	if s == nil {
		return nil
	}
	lost := s.loses(o)
	if stirs := s.rolling && !s.stirred; !lost && !stirs {
		return nil
	}
	s.stirred = s.stirred || s.rolling
	return []types.NamespacedName{key}
}

// stir notes whether changes of its objects wake the source from now on, and tells how long it has to wait before it
// looks at them. A change that comes meanwhile is seen then.
func (c *Controller) stir(s *session) (wait time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s.rolling = s.Rolls()
	if s.stirred {
		wait = wakesEvery - c.Clock.Since(s.looked)
	}
	if wait <= 0 {
		s.stirred, s.looked = false, c.Clock.Now()
	}
	return max(wait, 0)
}

// lookDiffers reports whether a change of an object shows to a rollout.
func lookDiffers(before, after client.Object) bool {
	a, okA := before.(*v1alpha1.DistributionTenant)
	b, okB := after.(*v1alpha1.DistributionTenant)
	if !okA || !okB {
		return false
	}
	was, is := convert.SourceLook(a, nil), convert.SourceLook(b, nil)
	was.Version, is.Version, was.Since, is.Since = "", "", time.Time{}, time.Time{}
	return was != is || a.DeletionTimestamp.IsZero() != b.DeletionTimestamp.IsZero()
}

// lookAtTenants looks at the objects of a source with a rollout. All of them are in the cache.
func (p *pass) lookAtTenants(ctx context.Context) error {
	if p.in.Early = p.stir(p.session); p.in.Early > 0 || p.in.Rollout == nil || p.session.Round != nil || !p.session.Rolls() {
		return nil
	}
	fleet, err := p.fleet(ctx)
	if err != nil {
		return err
	}
	p.looks = fleet
	for _, o := range fleet.objects {
		if relation(o, p.labels) == tenantsource.Ours && o.DeletionTimestamp.IsZero() {
			p.in.Looks = append(p.in.Looks, convert.SourceLook(o, p.object.Spec.Rollout.Canary))
		}
	}
	return nil
}

// programFor is what makes the objects of that version; nil where its content is not known, or can't be used.
func (p *pass) programFor(m tenantsource.RolloutMemory, revision string) *mapping.Program {
	if revision == p.in.Rollout.Version.Revision {
		return p.session.program
	}
	content := m.Content(revision)
	if content == "" {
		return nil
	}
	if program, known := p.session.programs[revision]; known {
		return program
	}
	config, err := convert.VersionConfig(content)
	var program *mapping.Program
	if err == nil {
		if program, err = mapping.Compile(config); err != nil {
			program = nil
		}
	}
	if p.session.programs == nil {
		p.session.programs = map[string]*mapping.Program{}
	}
	p.session.programs[revision] = program
	return program
}

// forgetUnusable forgets the content of versions that this operator can't read: what is not known is changed back by no guess.
func (p *pass) forgetUnusable() {
	if p.in.Rollout == nil {
		return
	}
	m := &p.in.Memory.Rollout
	for i := range m.Versions {
		if v := &m.Versions[i]; v.Revision != p.in.Rollout.Version.Revision && v.Content != "" && p.programFor(*m, v.Revision) == nil {
			v.Content = ""
		}
	}
}

// newPoll begins a poll. In the middle of a rollout it knows all versions that tenants may have.
func (p *pass) newPoll(f *fleet) *tenantsource.Poll {
	if p.in.Rollout == nil || p.in.DryRun {
		return tenantsource.NewPoll(p.session.program, f, p.MaxRows)
	}
	m := p.in.NextRollout()
	program := p.programFor(m, m.Revision)
	if program == nil {
		program, m.Revision = p.session.program, ""
	}
	poll := tenantsource.NewPoll(program, f, p.MaxRows)
	if poll.Revision = m.Revision; m.Revision == "" {
		poll.Revision = p.in.Rollout.Version.Revision
	}
	if m.Complete && m.Left == 0 {
		return poll
	}
	poll.Shapes = &tenantsource.Shapes{Goal: m.Revision, Former: m.Former, Over: m.Complete, Programs: map[string]*mapping.Program{}, Lost: map[string]bool{}, Revision: f.revision}
	for _, v := range m.Versions {
		if known := p.programFor(m, v.Revision); known != nil {
			poll.Shapes.Programs[v.Revision] = known
		} else {
			poll.Shapes.Lost[v.Revision] = true
		}
	}
	return poll
}

// revision is that of the version of the spec that the source's object of that name has.
func (f *fleet) revision(name string) (revision string, ours bool) {
	o := f.of(name)
	if r := relation(o, f.labels); r != tenantsource.Ours || !o.DeletionTimestamp.IsZero() {
		return "", false
	}
	return o.Annotations[v1alpha1.AnnotationSourceRevision], true
}

// release brings the change to the next tenants, as the last read of their rows wants them.
func (p *pass) release(ctx context.Context) error {
	rolling := p.session.Rolling
	now := p.Clock.Now()
	var batch []tenantsource.Staged
	for _, uid := range p.decision.Release {
		batch = append(batch, rolling.Staged[uid])
	}
	for i := range batch {
		if o := p.looks.objects[batch[i].Name]; o != nil && string(o.UID) == batch[i].UID {
			batch[i].Version = o.ResourceVersion
		}
	}
	results := inParallel(ctx, len(batch), func(ctx context.Context, i int) outcome { return p.write(ctx, batch[i].Change) })
	if err := p.approveChanges(ctx, results); err != nil {
		return err
	}
	rolling.Memory.Progress = p.decision.Progress
	for i, r := range results {
		if r.err != nil {
			return fmt.Errorf("rolling the change out to the tenant %s: %w", batch[i].Name, r.err)
		}
		if r.refused != "" {
			rolling.Refuse(batch[i].UID, r.refused, now)
		} else {
			delete(rolling.Refused, batch[i].UID)
			// What has moved meanwhile is counted with what becomes of it, or with the next poll.
			rolling.Released[batch[i].UID] = now
		}
	}
	return nil
}

// unpolled fails where another process has polled since this one did: its rollout is not that of this session.
func (p *pass) unpolled(ctx context.Context) error {
	var now v1alpha1.TenantSource
	if err := p.Live.Get(ctx, p.key(), &now); err != nil {
		return fmt.Errorf("confirming that no other process has polled: %w", err)
	}
	if t := now.Status.LastPollTime; now.UID != p.object.UID || now.Generation != p.object.Generation || t == nil || !t.Time.Equal(p.session.Polled) {
		return fmt.Errorf("%w: the source has changed, or another process has polled", reconcile.ErrBehind)
	}
	return nil
}

// concludeRollout stores what a pass without a poll has found of the rollout, figures alone not each time.
func (p *pass) concludeRollout(c *reconcile.Conclusion, report tenantsource.Report, before *v1alpha1.TenantSourceStatus, now time.Time) {
	if report.Rollout == nil || report.Rollout.Counts == nil {
		return
	}
	rolling, m := p.session.Rolling, report.Rollout.Memory
	rolling.Memory.Progress = m.Progress
	p.Observer.RolledOut(p.key(), *report.Rollout.Counts)
	if wait := rolling.Wait(now); wait > 0 && onlyCounts(before, &p.object.Status) {
		before.DeepCopyInto(&p.object.Status)
		c.After = rollout.Soonest(c.After, wait)
		return
	}
	c.Events = append(c.Events, rolloutEvents(before.Conditions, p.object.Status.Conditions)...)
	c.Stored = func() {
		rolling.Counted = now
		rolling.Memory.Complete, rolling.Memory.Failing, rolling.Memory.Left = m.Complete, m.Failing, m.Left
	}
}

// onlyCounts reports whether figures have moved, and nothing else has.
func onlyCounts(a, b *v1alpha1.TenantSourceStatus) bool {
	return a.Rollout != nil && b.Rollout != nil && reconcile.SameReasons(a.Conditions, b.Conditions) &&
		a.Rollout.Complete == b.Rollout.Complete && a.Rollout.Left == b.Rollout.Left && a.Rollout.Step == b.Rollout.Step && a.Rollout.Since.Equal(b.Rollout.Since)
}

// rolloutEvents tell of RolledOut when its reason has changed.
func rolloutEvents(before, after []metav1.Condition) []reconcile.Event {
	if meta.FindStatusCondition(before, v1alpha1.ConditionRolledOut) == nil && meta.IsStatusConditionTrue(after, v1alpha1.ConditionRolledOut) {
		// Its tenants are as they were created.
		return nil
	}
	return reconcile.Turn(before, after, v1alpha1.ConditionRolledOut,
		v1alpha1.ReasonRollingOut, v1alpha1.ReasonRolloutPaused, v1alpha1.ReasonUndoing, v1alpha1.ReasonUndone)
}
