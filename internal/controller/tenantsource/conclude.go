package tenantsource

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantsource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

// again is the pause between two passes of one round.
const again = 10 * time.Millisecond

// Conclude implements reconcile.Pass.
func (p *pass) Conclude(err error) reconcile.Conclusion {
	now := p.Clock.Now()
	p.in.Now = now
	p.Observer.Watched(p.key(), p.in.Watch)
	if err != nil {
		// The round continues where it stopped, when the API server answers again.
		return reconcile.Conclusion{}
	}
	report := tenantsource.Conclude(p.in, p.decision)
	was := p.object.Status.DeepCopy()
	if report.Granted {
		meta.RemoveStatusCondition(&p.object.Status.Conditions, v1alpha1.ConditionGranted)
	}
	convert.SourceStatus(&p.object.Status, p.object.Generation, report, now)
	c := reconcile.Conclusion{After: p.decision.After}
	round := p.session.Round
	switch {
	case p.decision.Step == tenantsource.Count:
		c.After = again
		c.Stored = func() { p.apply(tenantsource.Counted{}) }
	case report.Rollout != nil:
		p.concludeRollout(&c, *report.Rollout, was, now)
	case report.Polled != nil:
		c.Noted, c.Events = p.changes(round), p.transition(was.Conditions)
		if p.in.Rollout != nil {
			c.After = again
		}
		c.Stored = func() {
			p.apply(tenantsource.Ended{})
			if round.Failure == nil { // then an event has told of them
				p.session.named = named{}
			}
			p.session.stream.Remind()
			p.Observer.Polled(p.key(), report, now.Sub(p.session.started))
			if report.PendingKnown {
				p.Observer.Held(p.key(), held(report))
			}
		}
	case p.in.Deleting:
		c.Noted, c.Events = p.removalEvents(was.Conditions)
		c.Stored = func() { p.Observer.Held(p.key(), held(report)) }
	case p.in.Frozen():
		c.Events = p.transition(was.Conditions)
	}
	c.Events = append(c.Events, streamEvents(was.Conditions, p.object.Status.Conditions)...)
	return c
}

// held is how many deletions wait for approval.
func held(r tenantsource.Report) int {
	if r.Pending == nil {
		return 0
	}
	return len(r.Pending.Names)
}

// Reasons of events that are not reasons of conditions. The reference page of events is generated from these comments.
const (
	// eventTenantsChanged (Normal; TenantSource): a poll, or reads of single rows since the poll before, created, changed,
	// deleted or disabled tenants. The message has their numbers.
	eventTenantsChanged = "TenantsChanged"
	// eventTenantsRetained (Normal; TenantSource): the source was deleted and the objects of its tenants stay.
	eventTenantsRetained = "TenantsRetained"
)

// changes tell what a round has done to the tenants.
func (p *pass) changes(round *tenantsource.Round) []reconcile.Event {
	named := p.session.named
	created, updated := round.Created+named.created, round.Updated+named.updated
	if round.Failure != nil || created+updated+round.Deleted+round.Marked == 0 {
		return nil
	}
	message := fmt.Sprintf("Tenants created: %d, changed: %d, %s: %d", created, updated, p.in.Policy.Word("deleted", "disabled"), round.Deleted)
	if round.Marked > 0 {
		message += fmt.Sprintf(", in their grace before that: %d", round.Marked)
	}
	return []reconcile.Event{{Reason: eventTenantsChanged, Message: message + "."}}
}

// transition tells when Ready has another reason than before.
func (p *pass) transition(before []metav1.Condition) []reconcile.Event {
	return reconcile.Turn(before, p.object.Status.Conditions, v1alpha1.ConditionReady, v1alpha1.ReasonDeleting)
}

// streamEvents tell when the stream of the table's changes is lost, when the state table can't be written, and when that is over.
func streamEvents(before, after []metav1.Condition) []reconcile.Event {
	return append(reconcile.Turn(before, after, v1alpha1.ConditionWatching), reconcile.Turn(before, after, v1alpha1.ConditionStateWritten)...)
}

// removalEvents tell what became of the tenants of a source that is deleted, and before that why it waits.
func (p *pass) removalEvents(before []metav1.Condition) (noted, events []reconcile.Event) {
	if p.decision.Step != tenantsource.LetGo {
		return nil, p.transition(before)
	}
	if p.in.Retains() {
		return []reconcile.Event{{Reason: eventTenantsRetained, Message: "The source was deleted, and its tenants are kept."}}, nil
	}
	return nil, nil
}
