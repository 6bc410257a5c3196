package loss

import (
	"cmp"
	"fmt"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

// State is what an item may do.
type State int

// The states.
const (
	// Waiting: the burst that it belongs to is not seen whole yet.
	Waiting State = iota
	// Go: it may continue.
	Go
	// Stay: the object is deleted, and its resource stays in AWS with its owner tags.
	Stay
	// Held: an administrator has to decide.
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
	// Many is the noun, Resource what kubectl takes.
	Many, Resource string
	// Namespaced is true where the objects have a namespace.
	Namespaced bool
	// Change and Changes are what changes are called, Undo how they are undone. Empty: harmful changes of a spec.
	Change, Changes, Undo string
	// Shared means that the objects serve customers of their own, none of whom may be lost without an approval.
	Shared bool
}

// Annotations are those that an administrator sets, with the plan as their value.
type Annotations struct {
	Approve, Abandon string
	// ConfigMap is the one of the breaker, as namespace and name.
	Namespace, ConfigMap string
}

// Text says why a plan is held, and how to continue. The commands are ready to copy.
func (h Hold) Text(w Words, a Annotations) string {
	text := fmt.Sprintf("%s. Nothing was changed%s. This is plan %s.", h.tooMany(w), inAWS(w), h.Plan)
	if h.Changes > 0 {
		text += " " + cmp.Or(w.Undo, "To undo a change, restore the previous spec.")
	}
	text += fmt.Sprintf(" To approve it, run: kubectl -n %s annotate configmap %s %s=%s --overwrite", a.Namespace, a.ConfigMap, a.Approve, h.Plan)
	if h.Namespace != "" {
		text += fmt.Sprintf(" ; or as the team: kubectl -n %s annotate %s --all %s=%s --overwrite", h.Namespace, w.Resource, a.Approve, h.Plan)
	}
	if h.Changes < h.Count {
		text += fmt.Sprintf(" ; or to delete only the objects and keep what they stand for: kubectl -n %s annotate configmap %s %s=%s --overwrite", a.Namespace, a.ConfigMap, a.Abandon, h.Plan)
	}
	return text
}

// tooMany says what would be lost, and what may be.
func (h Hold) tooMany(w Words) string {
	if w.Shared {
		return fmt.Sprintf("%s of %s would take %s out of service, which needs an approval", h.losses(w), w.Many, prose.Count(h.Customers, "customer", "customers"))
	}
	where := "in the cluster"
	if h.Namespace != "" {
		where = "in namespace " + h.Namespace
	}
	if h.Customers != h.Count {
		return fmt.Sprintf("%s would take %d of %d %s out of service %s, more than the %d that the deletion budget allows%s", h.losses(w), h.Customers, h.Of, w.Many, where, h.Allowed, spentText(h))
	}
	if h.fits() {
		return fmt.Sprintf("%s of %d %s %s, with which several namespaces lose all they have", h.losses(w), h.Of, w.Many, where)
	}
	return fmt.Sprintf("%s of %d %s %s, more than the %d that the deletion budget allows%s", h.losses(w), h.Of, w.Many, where, h.Allowed, spentText(h))
}

// fits reports whether the budget alone would allow it.
func (h Hold) fits() bool { return h.Spent+h.Customers <= h.Allowed }

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

// losses counts the members of the plan.
func (h Hold) losses(w Words) string {
	changes := prose.Count(h.Changes, cmp.Or(w.Change, "harmful change"), cmp.Or(w.Changes, "harmful changes"))
	switch deleted := h.Count - h.Changes; {
	case h.Changes == 0:
		return prose.Count(h.Count, "deletion", "deletions")
	case deleted == 0:
		return changes
	default:
		return prose.Count(deleted, "deletion", "deletions") + " and " + changes
	}
}
