package edge

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Event is a transition that people should see.
type Event struct {
	Warning         bool
	Reason, Message string
}

// The reasons of events that are no reasons of conditions.
const (
	EventAdopted          = "Adopted"
	EventDriftCorrected   = "DriftCorrected"
	EventExternalDeletion = "ExternalDeletion"
	EventRetained         = "Retained"
	// EventCertificateUnreadable tells that a domain could not be checked against a certificate.
	EventCertificateUnreadable = "CertificateUnreadable"
)

// Events lists the transitions of a pass. The happy path has one: Deployed.
func Events(in Input, out Outcome, r Report) []Event {
	var events []Event
	for _, s := range out.Done {
		if e, tells := stepEvent(in, s); tells {
			events = append(events, e)
		}
		events = append(events, uncheckedEvents(in, s)...)
	}
	for _, c := range r.Conditions {
		before := in.Memory.Conditions[c.Type]
		switch {
		case c.Type == Ready && c.Status && !before.Status:
			events = append(events, Event{Reason: string(c.Reason), Message: c.Message})
		case c.Type == Ready && !c.Status && before.Reason != c.Reason && Alarming(c.Reason),
			c.Type == Synced && before.Reason != c.Reason && (c.Reason == ReasonDriftDetected || c.Reason == ReasonDriftNotConverging):
			events = append(events, Event{Warning: true, Reason: string(c.Reason), Message: c.Message + driftDetail(c, r)})
		}
	}
	return events
}

func stepEvent(in Input, s Step) (Event, bool) {
	switch s := s.(type) {
	case Adopt:
		from := "It had no owner."
		if s.Previous != "" {
			from = "It belonged to " + s.Previous + "."
		}
		return Event{Reason: EventAdopted, Message: fmt.Sprintf("Took over the distribution tenant %q. %s", in.Desired.Name, from)}, true
	case Update:
		return driftEvent(s.Drift)
	case Tag:
		return driftEvent(s.Drift)
	case Create:
		if in.Memory.ID != "" {
			return Event{Warning: true, Reason: EventExternalDeletion,
				Message: fmt.Sprintf("The distribution tenant %q (%s) was deleted outside of Kubernetes and is created again.", s.Tenant.Name, in.Memory.ID)}, true
		}
	case LetGo:
		if s.Left != "" {
			return Event{Reason: EventRetained, Message: "The distribution tenant " + s.Left + " stays in AWS."}, true
		}
	case Look, Hold, Untag, Disable, Delete, DeleteCertificate, Rest:
	}
	return Event{}, false
}

// uncheckedEvents names the certificates that should have been checked before the write. AWS
// judges by itself, and says less about what is wrong.
func uncheckedEvents(in Input, s Step) []Event {
	switch s.(type) {
	case Create, Update:
	default:
		return nil
	}
	var events []Event
	for _, arn := range slices.Sorted(maps.Keys(in.World.Certificates)) {
		if in.World.Certificates[arn].Unreadable {
			events = append(events, Event{Warning: true, Reason: EventCertificateUnreadable, Message: fmt.Sprintf(
				"Nobody checked that the certificate %s covers spec.domains: acm:DescribeCertificate is not allowed to the operator. Allow it to have mistakes named before AWS refuses them.", arn)})
		}
	}
	return events
}

func driftEvent(drift []Difference) (Event, bool) {
	if len(drift) == 0 {
		return Event{}, false
	}
	return Event{Warning: true, Reason: EventDriftCorrected, Message: "Set back what was changed in AWS: " + Detail(drift) + "."}, true
}

func driftDetail(c Condition, r Report) string {
	if c.Reason != ReasonDriftDetected || len(r.Drift) == 0 {
		return ""
	}
	return " " + Detail(r.Drift)
}

// Detail renders the first few differences with both values.
func Detail(diff []Difference) string {
	var parts []string
	for _, d := range diff[:min(len(diff), someItems)] {
		parts = append(parts, fmt.Sprintf("%s %q instead of %q", d.Field, d.Observed, d.Desired))
	}
	if more := len(diff) - someItems; more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	return strings.Join(parts, "; ")
}

// Alarming reports whether a reason for not being Ready needs somebody's attention.
func Alarming(r Reason) bool {
	switch r {
	case ReasonCreating, ReasonDeploying, ReasonDisabling, ReasonDeleting, ReasonPendingValidation,
		ReasonAttaching, ReasonDomainValidationPending, ReasonDeployed, ReasonUpdatePending, ReasonPaused, ReasonInSync,
		ReasonDNSRecordCreating, ReasonDNSPropagating, ReasonDomainChangeHeld, ReasonReferenceNotReady:
		return false
	default:
		return true
	}
}
