package breaker

import (
	"fmt"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

// State is what an item may do.
type State int

// The states.
const (
	// Waiting: the burst that it belongs to is not seen whole yet.
	Waiting State = iota
	// Go: it may go on.
	Go
	// Stay: the object is deleted, and its resource stays in AWS with its owner tags.
	Stay
	// Held: a person has to decide.
	Held
)

// Answer is what the breaker says to one item.
type Answer struct {
	State State
	// Message says why it is held, and what to do.
	Message string
}

// Words are what messages call the objects of a class and the commands take.
type Words struct {
	// One and Many are the noun, Resource what kubectl takes.
	One, Many, Resource string
	// Namespaced is true where the objects have a namespace.
	Namespaced bool
}

// Annotations are those that a person sets, with the plan as their value.
type Annotations struct {
	Approve, Abandon string
	// ConfigMap is the one of the breaker, as namespace and name.
	Namespace, ConfigMap string
}

// Text says why a plan is held, and how to go on. The commands are ready to copy.
func (h Hold) Text(w Words, a Annotations) string {
	where := "in the cluster"
	if h.Namespace != "" {
		where = "in namespace " + h.Namespace
	}
	what := fmt.Sprintf("%s of %d %s %s", deletions(h), h.Of, w.Many, where)
	text := fmt.Sprintf("%s, more than the %d that the deletion budget allows%s. Nothing was changed%s. This is plan %s.",
		what, h.Allowed, spentText(h), inAWS(w), h.Plan)
	text += fmt.Sprintf(" To approve it, run: kubectl -n %s annotate configmap %s %s=%s --overwrite.", a.Namespace, a.ConfigMap, a.Approve, h.Plan)
	if h.Namespace != "" {
		text += fmt.Sprintf(" Or as the team: kubectl -n %s annotate %s --all %s=%s --overwrite.", h.Namespace, w.Resource, a.Approve, h.Plan)
	}
	if h.Changes < h.Count {
		text += fmt.Sprintf(" To delete only the objects and keep what they stand for, run: kubectl -n %s annotate configmap %s %s=%s --overwrite.", a.Namespace, a.ConfigMap, a.Abandon, h.Plan)
	}
	if h.Changes > 0 {
		text += " To undo a change, restore the former spec."
	}
	return text
}

func inAWS(w Words) string {
	if w.Namespaced {
		return " in AWS"
	}
	return ""
}

func spentText(h Hold) string {
	if h.Spent == 0 {
		return ""
	}
	return fmt.Sprintf(", of which %s used", prose.Count(h.Spent, "is", "are"))
}

func deletions(h Hold) string {
	switch deleted := h.Count - h.Changes; {
	case h.Changes == 0:
		return prose.Count(h.Count, "deletion", "deletions")
	case deleted == 0:
		return prose.Count(h.Count, "harmful change", "harmful changes")
	default:
		return prose.Count(deleted, "deletion", "deletions") + " and " + prose.Count(h.Changes, "harmful change", "harmful changes")
	}
}
