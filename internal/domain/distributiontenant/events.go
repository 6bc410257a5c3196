package distributiontenant

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/claim"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/grant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/proof"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/publication"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// EventCertificateUnreadable (Warning; DistributionTenant): the operator may not read a certificate of the tenant, so it
// could not check that the certificate covers the domains. AWS checks it instead.
const EventCertificateUnreadable = "CertificateUnreadable"

// EventCertificateDeleted (Normal; DistributionTenant): the operator deleted a managed certificate whose tenant is gone.
const EventCertificateDeleted = "CertificateDeleted"

// Acts lists what a pass has changed in AWS, in its order.
func Acts(in Input, out Outcome) []chain.Event {
	var acts []chain.Event
	for _, s := range out.Done {
		if _, last := s.(LetGo); last && out.Err != nil {
			// The finalizer is still there, and the next pass lets go.
			continue
		}
		if e, tells := stepEvent(in, s); tells {
			acts = append(acts, e)
		}
	}
	return acts
}

// CreatedUnanswered tells of a tenant whose creation was announced, and whose answer was lost: it is there all the same. It is told with
// the status that has its ID, so that it is told once.
func CreatedUnanswered(in Input, out Outcome, r Report) []chain.Event {
	created := slices.ContainsFunc(out.Done, func(s Step) bool {
		switch s.(type) {
		case Create, Adopt:
			return true
		default:
			return false
		}
	})
	unanswered := (in.Attempts.Unanswered || in.Attempts.Announced.IsZero()) && in.Now.Sub(in.CreateMark) < resource.GracePeriod
	if created || !unanswered || in.Memory.ID != "" || r.Tenant == nil || !judge(in).resource.Mine() {
		return nil
	}
	return []chain.Event{{Reason: resource.EventCreated, ID: r.Tenant.ID, Message: fmt.Sprintf("Created the distribution tenant %q (%s).", in.Desired.Name, r.Tenant.ID)}}
}

// Events lists the transitions of a pass. The happy path has none: Deployed only ends a problem.
func Events(in Input, out Outcome, r Report) []chain.Event {
	var events []chain.Event
	for _, s := range out.Done {
		events = append(events, uncheckedEvents(in, s)...)
	}
	for _, c := range r.Conditions {
		before := in.Memory.Conditions[c.Type]
		switch {
		case c.Type == chain.Ready && c.Status && !before.Status && before.Reason != "" && Alarming(before.Reason):
			events = append(events, chain.Event{Reason: string(c.Reason), Message: c.Message})
		case c.Type == chain.Ready && before.Reason != c.Reason && c.Reason == proof.ReasonDomainNotProven:
			// No warning: a customer creates the record when they like. But they have to see it.
			events = append(events, chain.Event{Reason: string(c.Reason), Message: c.Message})
		case c.Type == chain.Synced && before.Reason != c.Reason && r.frozen(c.Reason):
			events = append(events, chain.Event{Warning: true, Reason: string(c.Reason), Message: c.Message})
		case c.Type == chain.Ready && !c.Status && before.Reason != c.Reason && Alarming(c.Reason),
			c.Type == chain.Synced && before.Reason != c.Reason && (c.Reason == resource.ReasonDriftDetected || c.Reason == resource.ReasonDriftNotConverging):
			events = append(events, chain.Event{Warning: true, Reason: string(c.Reason), Message: inFull(c, r)})
		}
	}
	return append(events, domainEvents(in, r)...)
}

// stepEvent tells what a step has changed. To remove the owner tags of a tenant that is kept is part of Retained.
func stepEvent(in Input, s Step) (chain.Event, bool) {
	e := chain.Event{ID: in.id()}
	told := func(reason, format string, args ...any) (chain.Event, bool) {
		e.Reason, e.Message = reason, fmt.Sprintf(format, args...)
		return e, true
	}
	switch s := s.(type) {
	case Create:
		if in.Memory.ID != "" {
			e.Warning = true
			return told(resource.EventExternalDeletion, "The distribution tenant %q (%s) was deleted outside of Kubernetes and is created again.", s.Tenant.Name, in.Memory.ID)
		}
		return told(resource.EventCreated, "Created the distribution tenant %q (%s).", s.Tenant.Name, e.ID)
	case Adopt:
		from := "It had no owner."
		if s.Previous != (ownership.Shown{}) {
			from = "It belonged to " + s.Previous.Text + "."
		}
		return told(resource.EventAdopted, "Adopted the distribution tenant %q. %s", in.Desired.Name, from)
	case Move:
		e.ID = s.ID
		return told(resource.EventDomainMoved, "The domain %s was handed over to this object.", s.Domain)
	case Update:
		if len(s.Drift) > 0 {
			return drifted(e, s.Drift)
		}
		return told(resource.EventUpdated, "Updated the distribution tenant %q (%s)%s.", in.Desired.Name, e.ID, changes(s))
	case Tag:
		if len(s.Drift) > 0 {
			return drifted(e, s.Drift)
		}
		return told(resource.EventUpdated, "Set the tags %s.", prose.List(slices.Sorted(maps.Keys(s.Tags))))
	case Untag:
		if !s.Release {
			return told(resource.EventUpdated, "Removed the tags %s.", prose.List(s.Keys))
		}
	case Delete:
		e.ID = s.ID
		if in.Attempts.Confirmed {
			return told(resource.EventDeleted, "Deleted the distribution tenant %q (%s).", in.Desired.Name, s.ID)
		}
	case DeleteCertificate:
		e.ID = s.ARN
		return told(EventCertificateDeleted, "Deleted the managed certificate %s.", s.ARN)
	case LetGo:
		if s.Left != "" {
			text := ""
			if t := in.World.Tenant; t != nil && in.Desired.Enabled && !t.Enabled {
				text = " It is disabled. Enable it in AWS if it should serve requests again."
			}
			return told(resource.EventRetained, "The distribution tenant %s stays in AWS.%s", s.Left, text)
		}
	case Disable:
		return told(resource.EventDisabled, "Disabled the distribution tenant %q (%s), so that it can be deleted.", in.Desired.Name, e.ID)
	case Look, EnsureFinalizer, Claim, Rest:
	}
	return chain.Event{}, false
}

// drifted completes an event about drift that was corrected.
func drifted(e chain.Event, drift []resource.Difference) (chain.Event, bool) {
	d, tells := resource.DriftEvent(drift)
	d.ID = e.ID
	return d, tells
}

// changes lists what an update has changed because of the spec, with the values before. Parameters that were not read
// before the update are missing.
func changes(u Update) string {
	text := ""
	if diff := Diff(u.Tenant, u.Seen); len(diff) > 0 {
		text = ": " + resource.Changes(diff)
	}
	if u.Request != nil {
		text += ", with a request for a managed certificate"
	}
	return text
}

// id is that of the tenant in AWS, as far as it is known.
func (in Input) id() string {
	if in.World.Tenant != nil {
		return in.World.Tenant.ID
	}
	return in.Memory.ID
}

// uncheckedEvents names the certificates that should have been checked before the write. AWS checks them itself, with a
// less helpful error.
func uncheckedEvents(in Input, s Step) []chain.Event {
	switch s.(type) {
	case Create, Update:
	default:
		return nil
	}
	var events []chain.Event
	for _, arn := range slices.Sorted(maps.Keys(in.World.Certificates)) {
		if in.World.Certificates[arn].Unreadable {
			events = append(events, chain.Event{Warning: true, Reason: EventCertificateUnreadable, Message: fmt.Sprintf(
				"Could not check whether the certificate %s covers spec.domains, because the operator is not allowed acm:DescribeCertificate. Allow it, so that the operator can report mistakes before AWS rejects the request.", arn)})
		}
	}
	return events
}

// frozen reports whether a tenant that is served is no longer changed for that reason. Where Ready has it too, that is the
// event.
func (r Report) frozen(reason chain.Reason) bool {
	return (reason == grant.NotGranted || reason == claim.ReasonDomainClaimed) &&
		!slices.ContainsFunc(r.Conditions, func(c chain.Condition) bool { return c.Type == chain.Ready && c.Reason == reason })
}

// inFull is the message of a condition, with the values of the fields that have drifted.
func inFull(c chain.Condition, r Report) string {
	if c.Reason != resource.ReasonDriftDetected || len(r.Drift) == 0 {
		return c.Message
	}
	return strings.Replace(c.Message, resource.SomeFields(r.Drift), resource.Detail(r.Drift), 1)
}

// Alarming reports whether a reason for not being Ready needs attention.
func Alarming(r chain.Reason) bool {
	switch r {
	case ReasonDistributionDisabled: // the distribution tells it, once for all its tenants
		return false
	case certificate.ReasonPendingValidation, certificate.ReasonAttaching, publication.ReasonDNSRecordCreating, publication.ReasonDNSPropagating, ReasonDomainChangeHeld, ReasonReferenceNotReady, ReasonKeyValuesPending, proof.ReasonDomainNotProven:
		return false
	default:
		return resource.Alarming(r)
	}
}
