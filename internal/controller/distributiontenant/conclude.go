package distributiontenant

import (
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/publication"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/retry"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

// Conclude implements reconcile.Pass.
func (p *pass) Conclude(err error) reconcile.Conclusion {
	now := p.Clock.Now()
	p.in.Now, p.out.Err = now, err
	if p.in.Deleting || p.in.Harm() == "" {
		p.Breaker.Withdraw(string(p.object.UID))
	}
	p.in.Attempts.Ended(p.in.Object, p.in.Memory.Memory, p.out.Decision.Problem, err)
	p.recallServed()
	p.recallDistribution()
	p.watchDomains()
	p.in.Attempts = p.in.Onboarding(p.Random())
	report := distributiontenant.Conclude(p.in, p.out)
	if p.in.Deleting {
		p.Rollouts.Forget(string(p.object.UID))
	} else {
		p.Rollouts.Tell(string(p.object.UID), distributiontenant.Told(p.in, p.out, report))
	}
	if fault.Is(err, fault.Conflict, fault.NotFound) {
		// The memory is out of date. Status may have it from another replica already.
		p.remember(p.object, p.in.Attempts)
		return reconcile.Conclusion{After: p.after(report, now), Acts: p.acts()}
	}
	events, changes := distributiontenant.Events(p.in, p.out, report), publication.Changes(p.in.Memory.Ledger, report.Ledger, report.Left, p.in.World.DNS)
	changes = append(changes, distributiontenant.KeyChanges(p.in.Memory.Keys, report.Keys)...)
	changes = append(distributiontenant.CreatedUnanswered(p.in, p.out, report), changes...)
	before := p.object.Status.DeepCopy()
	convert.Status(&p.object.Status, p.in.Desired.Name, report, now)
	// A user who asked to look is answered once something was seen, and all tries for them have ended.
	if token := p.in.Token; token != "" && err == nil && p.in.World.Unreadable == nil && p.in.Attempts.Answered(report.Failure) {
		p.object.Status.ReconcileToken = token
	}
	if !equality.Semantic.DeepEqual(before, &p.object.Status) {
		checked := metav1.NewTime(now.Truncate(time.Second))
		p.object.Status.LastDriftCheckTime = &checked
	}
	p.observeMetrics(before, now)
	c := reconcile.Conclusion{After: p.after(report, now), Acts: p.acts(), Noted: reconcile.Told(changes), Details: report.Details, Stored: func() {
		p.declare(report.Ledger)
		p.in.Memory.AppliedGeneration, p.in.Memory.Parents = report.AppliedGeneration, report.Parents
		p.declareKeys(report.Keys)
	}}
	if problem := p.out.Decision.Problem; problem != nil && problem.Stuck && err == nil {
		c.Refused = p.in.World.RefusedKind()
	}
	c.Events = reconcile.Told(events)
	p.remember(p.object, p.in.Attempts)
	return c
}

// acts are what the pass has changed in AWS.
func (p *pass) acts() []reconcile.Event { return reconcile.Told(distributiontenant.Acts(p.in, p.out)) }

// recallServed adds what was last seen of the certificate that the tenant serves with. Nothing is read for it.
func (p *pass) recallServed() {
	t := p.in.World.Tenant
	if t == nil {
		return
	}
	w, known := &p.in.World, p.account.References
	w.Inherited, w.InheritedKnown = known.Inherited(t.DistributionID)
	if arn, some := p.in.InUse(); some && arn != "" {
		w.Served = known.Served(arn)
	}
}

// after says when to look again, in addition to what the inventory wakes for.
func (p *pass) after(r distributiontenant.Report, now time.Time) time.Duration {
	rest, ok := p.out.Decision.Step.(distributiontenant.Rest)
	if fault.Is(p.out.Err, fault.Conflict, fault.NotFound) {
		return retry.LookAgain(p.in.Attempts.Conflicts)
	}
	if !ok {
		return 0
	}
	if rest.Follow {
		p.account.Inventory.Follow(p.in.Desired.Name)
	}
	if rest.Store || len(r.Keys) < len(p.in.Memory.Keys) {
		return storeDelay
	}
	delay := rest.After
	if problem := p.out.Decision.Problem; r.Failure != nil && problem != nil && problem.Stuck {
		// The tenant itself is looked after meanwhile, whatever it is that fails.
		delay = min(r.Failure.NextTry(now).Sub(now), retry.LastRetry)
		// Only ever later: a pass that comes too early is delayed, and comes again.
		return delay + time.Duration(p.Random()*float64(delay)/10)
	}
	if delay == 0 {
		// Nothing is due. The sweep wakes tenants that move; this is the net below it.
		delay = retry.Jitter(2*p.Interval, p.Random())
	}
	if missing := distributiontenant.MissingPlace(p.in, r); missing > 0 {
		delay = min(delay, missing)
	}
	return delay
}

// storeDelay is the pause before the step that had to wait for status to be stored.
const storeDelay = 10 * time.Millisecond

func (p *pass) observeMetrics(before *v1alpha1.DistributionTenantStatus, now time.Time) {
	drifted := p.object.Status.DriftDetected && !before.DriftDetected
	for _, s := range p.out.Done {
		switch s := s.(type) {
		case distributiontenant.Update:
			drifted = drifted || len(s.Drift) > 0
		case distributiontenant.Tag:
			drifted = drifted || len(s.Drift) > 0
		default:
			// No other step corrects drift.
		}
	}
	if drifted {
		p.Observer.DriftDetected()
	}
	was := meta.FindStatusCondition(before.Conditions, v1alpha1.ConditionReady)
	born := p.object.CreationTimestamp.Time
	first := was == nil || was.Status != metav1.ConditionTrue && was.LastTransitionTime.Sub(born) < firstStatus
	if first && meta.IsStatusConditionTrue(p.object.Status.Conditions, v1alpha1.ConditionReady) {
		p.Observer.BecameReady(now.Sub(born))
	}
}

// firstStatus bounds the time until an object's first status. A Ready that has been False
// since then has never been True.
const firstStatus = 5 * time.Minute
