package distributiontenant

import (
	"fmt"
	"maps"
	"slices"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/claim"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/grant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/proof"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/publication"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// EventCertificateUnreadable (Warning; DistributionTenant): the operator may not read a certificate of the tenant, so it
// could not check that the certificate covers the domains. AWS checks it instead.
const EventCertificateUnreadable = "CertificateUnreadable"

// Events lists the transitions of a pass. The happy path has one: Deployed.
func Events(in Input, out Outcome, r Report) []chain.Event {
	var events []chain.Event
	for _, s := range out.Done {
		if e, tells := stepEvent(in, s); tells {
			events = append(events, e)
		}
		events = append(events, uncheckedEvents(in, s)...)
	}
	for _, c := range r.Conditions {
		before := in.Memory.Conditions[c.Type]
		switch {
		case c.Type == chain.Ready && c.Status && !before.Status:
			events = append(events, chain.Event{Reason: string(c.Reason), Message: c.Message})
		case c.Type == chain.Ready && before.Reason != c.Reason && c.Reason == proof.ReasonDomainNotProven:
			// No warning: a customer creates the record when they like. But someone has to show it to them.
			events = append(events, chain.Event{Reason: string(c.Reason), Message: c.Message})
		case c.Type == chain.Synced && before.Reason != c.Reason && r.frozen(c.Reason):
			events = append(events, chain.Event{Warning: true, Reason: string(c.Reason), Message: c.Message})
		case c.Type == chain.Ready && !c.Status && before.Reason != c.Reason && Alarming(c.Reason),
			c.Type == chain.Synced && before.Reason != c.Reason && (c.Reason == resource.ReasonDriftDetected || c.Reason == resource.ReasonDriftNotConverging):
			events = append(events, chain.Event{Warning: true, Reason: string(c.Reason), Message: c.Message + driftDetail(c, r)})
		}
	}
	return events
}

func stepEvent(in Input, s Step) (chain.Event, bool) {
	switch s := s.(type) {
	case Adopt:
		from := "It had no owner."
		if s.Previous != (ownership.Shown{}) {
			from = "It belonged to " + s.Previous.Text + "."
		}
		return chain.Event{Reason: resource.EventAdopted, Message: fmt.Sprintf("Adopted the distribution tenant %q. %s", in.Desired.Name, from)}, true
	case Move:
		return chain.Event{Reason: resource.EventDomainMoved, Message: fmt.Sprintf("The domain %s was handed over to this object.", s.Domain)}, true
	case Update:
		return resource.DriftEvent(s.Drift)
	case Tag:
		return resource.DriftEvent(s.Drift)
	case Create:
		if in.Memory.ID != "" {
			return chain.Event{Warning: true, Reason: resource.EventExternalDeletion,
				Message: fmt.Sprintf("The distribution tenant %q (%s) was deleted outside of Kubernetes and is created again.", s.Tenant.Name, in.Memory.ID)}, true
		}
	case LetGo:
		if s.Left != "" {
			return chain.Event{Reason: resource.EventRetained, Message: "The distribution tenant " + s.Left + " stays in AWS."}, true
		}
	case Look, EnsureFinalizer, Claim, Untag, Disable, Delete, DeleteCertificate, Rest:
	}
	return chain.Event{}, false
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

func driftDetail(c chain.Condition, r Report) string {
	if c.Reason != resource.ReasonDriftDetected || len(r.Drift) == 0 {
		return ""
	}
	return " Differences: " + resource.Detail(r.Drift) + "."
}

// Alarming reports whether a reason for not being Ready needs attention.
func Alarming(r chain.Reason) bool {
	switch r {
	case ReasonDistributionDisabled: // the distribution tells it, once for all its tenants
		return false
	case certificate.ReasonPendingValidation, certificate.ReasonAttaching, publication.ReasonDNSRecordCreating, publication.ReasonDNSPropagating, ReasonDomainChangeHeld, ReasonReferenceNotReady, proof.ReasonDomainNotProven:
		return false
	default:
		return resource.Alarming(r)
	}
}
