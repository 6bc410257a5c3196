package awsresource

import (
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distribution"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/retry"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

// Conclude implements reconcile.Pass.
func (p *pass[O, R]) Conclude(err error) reconcile.Conclusion {
	now := p.Clock.Now()
	p.in.Now, p.out.Err = now, err
	p.in.Attempts.Ended(p.in.Object, p.in.Memory.Memory, p.out.Decision.Problem, err)
	if !p.in.DeletedAt.IsZero() || p.in.Harm() == "" {
		p.Breaker.Withdraw(string(p.object.GetUID()))
	}
	defer func() {
		p.memory.tries = p.in.Attempts
		p.Remember(p.object, p.memory)
	}()
	report := distribution.Conclude(p.in, p.out)
	if fault.Is(err, fault.Conflict, fault.NotFound) {
		// The memory is out of date.
		return reconcile.Conclusion{After: p.after(report), Acts: reconcile.Told(distribution.Acts(p.in, p.out))}
	}
	changes := distribution.TargetChanges(p.in, report)
	if p.status.Targets != nil {
		*p.status.Targets = convert.TargetStatus(report.Targets)
	}
	drifted := p.status.Common.DriftDetected
	convert.ResourceReport(p.status.Common, report, now)
	if p.status.Creations != nil {
		*p.status.Creations = report.Creations
	}
	switch {
	case report.Resource != nil:
		p.kind.Report(p.object, p.seen)
	case report.Forget:
		p.kind.Report(p.object, nil)
	}
	// A user who asked to look is answered once something was seen, and all tries for them have ended.
	if token := p.in.Token; token != "" && err == nil && p.in.World.Unreadable == nil && p.in.Attempts.Answered(report.Failure) {
		p.status.Common.ReconcileToken = token
	}
	if p.status.Common.DriftDetected && !drifted || p.corrected() {
		p.Observer.DriftDetected()
	}
	c := reconcile.Conclusion{
		After: p.after(report), Acts: reconcile.Told(distribution.Acts(p.in, p.out)), Events: reconcile.Told(distribution.Events(p.in, p.out, report)), Details: report.Details,
		Noted: reconcile.Told(changes), Stored: func() { p.declareTargets(report.Targets) },
	}
	if problem := p.out.Decision.Problem; problem != nil && problem.Stuck && err == nil {
		c.Refused = p.in.World.RefusedKind()
	}
	return c
}

// corrected reports whether a step of this pass set drift back.
func (p *pass[O, R]) corrected() bool {
	for _, s := range p.out.Done {
		switch s := s.(type) {
		case distribution.Update:
			return len(s.Drift) > 0
		case distribution.Tag:
			return len(s.Drift) > 0
		default:
			// No other step corrects drift.
		}
	}
	return false
}

// storePause is the pause before the step that had to wait for status to be stored.
const storePause = 10 * time.Millisecond

// missingPlace is the pause before a zone that was missing is looked for again.
const missingPlace = time.Minute

// lastDeletionLook bounds the pause between two looks at a resource that can't be deleted: a change by hand is seen
// soon.
const lastDeletionLook = time.Minute

// after says when to look again.
func (p *pass[O, R]) after(r distribution.Report) time.Duration {
	if fault.Is(p.out.Err, fault.Conflict, fault.NotFound) {
		return retry.LookAgain(p.in.Attempts.Conflicts)
	}
	rest, ok := p.out.Decision.Step.(distribution.Rest)
	if !ok {
		return 0
	}
	delay := rest.After
	switch problem := p.out.Decision.Problem; {
	case rest.Lost, rest.Store:
		return storePause
	case r.Failure != nil && problem != nil && problem.Stuck:
		delay = min(r.Failure.NextTry(p.in.Now).Sub(p.in.Now), retry.LastRetry)
		delay += time.Duration(p.Random() * float64(delay) / 10)
	case distribution.MissesTarget(p.in, r):
		delay = missingPlace
	case delay == 0:
		delay = retry.Jitter(p.Interval, p.Random())
	}
	if !p.in.DeletedAt.IsZero() {
		delay = min(delay, lastDeletionLook)
	}
	return delay
}
