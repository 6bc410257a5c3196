package parent

import (
	"fmt"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/edge"
)

// Events lists the transitions of a pass.
func Events(in Input, out Outcome, r Report) []edge.Event {
	var events []edge.Event
	for _, s := range out.Done {
		if e, tells := stepEvent(in, s); tells {
			events = append(events, e)
		}
	}
	if rest, ok := out.Decision.Step.(Rest); ok && rest.Lost && in.Memory.ID != "" {
		events = append(events, edge.Event{Warning: true, Reason: edge.EventExternalDeletion,
			Message: fmt.Sprintf("The %s %s was deleted outside of Kubernetes and is created again.", in.Desired.Words.Noun, in.Memory.ID)})
	}
	if e, tells := deletionEvent(in, out, r); tells {
		events = append(events, e)
	}
	for _, c := range r.Conditions {
		before := in.Memory.Conditions[c.Type]
		switch {
		case c.Type == edge.Ready && c.Status && !before.Status:
			events = append(events, edge.Event{Reason: string(c.Reason), Message: c.Message})
		case c.Type == edge.Ready && !c.Status && before.Reason != c.Reason && c.Reason != ReasonInUse && edge.Alarming(c.Reason),
			c.Type == edge.Synced && before.Reason != c.Reason && (c.Reason == edge.ReasonDriftDetected || c.Reason == edge.ReasonDriftNotConverging) && !r.Forget:
			events = append(events, edge.Event{Warning: true, Reason: string(c.Reason), Message: c.Message})
		case c.Type == DeletionStalled && !before.Status:
			events = append(events, edge.Event{Warning: true, Reason: string(DeletionStalled), Message: c.Message})
		}
	}
	return events
}

// deletionEvent tells each step of a deletion once, and its end.
func deletionEvent(in Input, out Outcome, r Report) (edge.Event, bool) {
	now, noun := r.Deletion, in.Desired.Words.Noun
	if _, ends := out.Decision.Step.(LetGo); ends && !in.World.present() && in.Memory.ID != "" {
		return edge.Event{Reason: string(StepDeleting), Message: fmt.Sprintf("The %s %s is gone.", noun, in.Memory.ID)}, true
	}
	if now == nil || !in.moved() || !in.World.present() {
		return edge.Event{}, false
	}
	e := edge.Event{Reason: string(now.Step)}
	switch now.Step {
	case StepInUse:
		e.Warning, e.Message = true, in.inUseText(*in.World.Dependents)
	case StepDisabling:
		e.Message = fmt.Sprintf("The %s is being disabled, so that it can be deleted.", noun)
	case StepSettling:
		e.Message = fmt.Sprintf("The %s is disabled; waiting until that is deployed everywhere.", noun)
	case StepDeleting:
		e.Message = fmt.Sprintf("The %s is disabled everywhere and is being deleted.", noun)
	}
	return e, true
}

func stepEvent(in Input, s Step) (edge.Event, bool) {
	switch s := s.(type) {
	case Adopt:
		from := "It had no owner."
		if s.Previous != "" {
			from = "It belonged to " + s.Previous + "."
		}
		return edge.Event{Reason: edge.EventAdopted, Message: fmt.Sprintf("Took over the %s. %s", in.Desired.Words.Noun, from)}, true
	case Update:
		return driftEvent(s.Drift)
	case Tag:
		return driftEvent(s.Drift)
	case LetGo:
		if s.Left != "" {
			message := fmt.Sprintf("The %s %s stays in AWS.", in.Desired.Words.Noun, s.Left)
			if in.Policy.Retain && in.Desired.Enabled && !in.World.Resource.Enabled {
				message += " It is disabled: enable it there if it is to go on serving."
			}
			return edge.Event{Reason: edge.EventRetained, Message: message}, true
		}
	case Look, Hold, Create, Untag, Disable, Delete, Rest:
	}
	return edge.Event{}, false
}

func driftEvent(drift []edge.Difference) (edge.Event, bool) {
	if len(drift) == 0 {
		return edge.Event{}, false
	}
	return edge.Event{Warning: true, Reason: edge.EventDriftCorrected, Message: "Set back what was changed in AWS: " + edge.Detail(drift) + "."}, true
}
