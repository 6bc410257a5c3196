package chain

import (
	"slices"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

// ConditionType names a condition of the object.
type ConditionType string

// The conditions.
const (
	Ready  ConditionType = "Ready"
	Synced ConditionType = "Synced"
)

// Reason is the machine-readable cause of a condition.
type Reason string

// Condition is one statement about the object.
type Condition struct {
	Type    ConditionType
	Status  bool
	Reason  Reason
	Message string
	// Detail is what the log of the operator adds: what concerns other namespaces, whose names no message has.
	Detail string
	// Generation is the one that the statement speaks of.
	Generation int64
}

// Sentences gives the messages of conditions the form of sentences. Some of them are what a service has answered.
func Sentences(list []Condition) []Condition {
	for i := range list {
		list[i].Message = prose.Sentence(list[i].Message)
	}
	return list
}

// Details are what the log of the operator adds to a problem and to conditions, each once.
func Details(p *Problem, list []Condition) (out []string) {
	add := func(detail string) {
		if detail != "" && !slices.Contains(out, detail) {
			out = append(out, detail)
		}
	}
	if p != nil {
		add(p.Detail)
	}
	for _, c := range list {
		add(c.Detail)
	}
	return out
}

// Event is a transition that users should see.
type Event struct {
	Warning         bool
	Reason, Message string
	// ID is that of the resource in AWS that was changed, if any was.
	ID string
}

// Problem is a reason why the object isn't Ready.
type Problem struct {
	Reason  Reason
	Message string
	// Detail is what the log of the operator adds, as that of a Condition.
	Detail string
	// Stuck is true when only a change of the spec or of an external system fixes it: it is retried with growing delay.
	Stuck bool
	// Of is the condition that carries the problem. Empty: the problem is the only thing that matters for Ready.
	Of ConditionType
}
