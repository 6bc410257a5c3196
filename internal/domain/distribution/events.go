package distribution

import (
	"fmt"
	"maps"
	"slices"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/publication"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// Acts lists what a pass has changed in AWS, in its order.
func Acts(in Input, out Outcome) []chain.Event {
	var acts []chain.Event
	for _, s := range out.Done {
		if _, last := s.(LetGo); last && out.Err != nil {
			// The finalizer is still there, and the next pass lets go.
			continue
		}
		if e, tells := stepEvent(in, s); tells {
			e.ID = in.id()
			acts = append(acts, e)
		}
	}
	return acts
}

// id is that of the resource in AWS, as far as it is known.
func (in Input) id() string {
	if in.World.present() {
		return in.World.Resource.ID
	}
	return in.Memory.ID
}

// Events lists the transitions of a pass.
func Events(in Input, out Outcome, r Report) []chain.Event {
	var events []chain.Event
	if rest, ok := out.Decision.Step.(Rest); ok && rest.Lost && in.Memory.ID != "" {
		events = append(events, chain.Event{Warning: true, Reason: resource.EventExternalDeletion,
			Message: fmt.Sprintf("The %s %s was deleted outside of Kubernetes and is created again.", in.Desired.Words.Noun, in.Memory.ID)})
	}
	if e, tells := deletionEvent(in, r); tells {
		events = append(events, e)
	}
	for _, c := range r.Conditions {
		before := in.Memory.Conditions[c.Type]
		switch {
		case c.Type == chain.Ready && c.Status && !before.Status:
			events = append(events, chain.Event{Reason: string(c.Reason), Message: c.Message})
		case c.Type == publication.Ready && !c.Status && before.Reason != c.Reason && !publication.Passes(c.Reason),
			c.Type == chain.Ready && !c.Status && before.Reason != c.Reason && c.Reason != ReasonInUse && resource.Alarming(c.Reason),
			c.Type == chain.Synced && before.Reason != c.Reason && (c.Reason == resource.ReasonDriftDetected || c.Reason == resource.ReasonDriftNotConverging) && !r.Forget:
			events = append(events, chain.Event{Warning: true, Reason: string(c.Reason), Message: c.Message})
		case c.Type == DeletionStalled && !before.Status:
			events = append(events, chain.Event{Warning: true, Reason: string(DeletionStalled), Message: c.Message})
		}
	}
	return events
}

// deletionEvent tells each step of a deletion once.
func deletionEvent(in Input, r Report) (chain.Event, bool) {
	now, noun := r.Deletion, in.Desired.Words.Noun
	if now == nil || !in.moved() || !in.World.present() {
		return chain.Event{}, false
	}
	e := chain.Event{Reason: string(now.Step)}
	switch now.Step {
	case StepInUse:
		e.Warning, e.Message = true, in.inUseText(*in.World.Dependents)
	case StepDisabling:
		e.Message = fmt.Sprintf("The %s is being disabled, so that it can be deleted.", noun)
	case StepSettling:
		e.Message = fmt.Sprintf("The %s is disabled. Waiting until the change is deployed to every edge location.", noun)
	case StepDeleting:
		e.Message = fmt.Sprintf("The %s is disabled at every edge location and is being deleted.", noun)
	}
	return e, true
}

// stepEvent tells what a step has changed.
func stepEvent(in Input, s Step) (chain.Event, bool) {
	told := func(reason, format string, args ...any) (chain.Event, bool) {
		return chain.Event{Reason: reason, Message: fmt.Sprintf(format, args...)}, true
	}
	switch s := s.(type) {
	case Create:
		return told(resource.EventCreated, "Created the %s %s.", in.Desired.Words.Noun, in.id())
	case Adopt:
		from := "It had no owner."
		if s.Previous != (ownership.Shown{}) {
			from = "It belonged to " + s.Previous.Text + "."
		}
		return chain.Event{Reason: resource.EventAdopted, Message: fmt.Sprintf("Adopted the %s. %s", in.Desired.Words.Noun, from)}, true
	case Update:
		if len(s.Drift) > 0 {
			return resource.DriftEvent(s.Drift)
		}
		return told(resource.EventUpdated, "Updated the %s %s: %s.%s", in.Desired.Words.Noun, in.id(), resource.Changes(s.Changes), in.reach())
	case Tag:
		if len(s.Drift) > 0 {
			return resource.DriftEvent(s.Drift)
		}
		return told(resource.EventUpdated, "Set the tags %s.", prose.List(slices.Sorted(maps.Keys(s.Tags))))
	case Untag:
		if !in.deleting() {
			return told(resource.EventUpdated, "Removed the tags %s.", prose.List(s.Keys))
		}
	case Disable:
		return told(resource.EventDisabled, "Disabled the %s %s, so that it can be deleted.", in.Desired.Words.Noun, in.id())
	case LetGo:
		if s.Left != "" {
			message := fmt.Sprintf("The %s %s stays in AWS.", in.Desired.Words.Noun, s.Left)
			if in.Policy.Retain && in.Desired.Enabled && !in.World.Resource.Enabled {
				message += " It is disabled. Enable it in AWS if it should serve requests again."
			}
			return chain.Event{Reason: resource.EventRetained, Message: message}, true
		}
	case Delete:
		return told(resource.EventDeleted, "Deleted the %s %s.", in.Desired.Words.Noun, in.id())
	case Look, EnsureFinalizer, Claim, Rest:
	}
	return chain.Event{}, false
}
