// Package edgegrant decides what becomes of an EdgeGrant: whether it is in force, and when it may be deleted. Package
// grant decides what it grants.
package edgegrant

import (
	"fmt"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

// The reasons. The api package carries the same words as its contract; a test keeps the two equal.
const (
	Enforced    chain.Reason = "Enforced"
	Audited     chain.Reason = "Audited"
	Off         chain.Reason = "GrantsOff"
	Ambiguous   chain.Reason = "Ambiguous"
	InvalidSpec chain.Reason = "InvalidSpec"
	InUse       chain.Reason = "InUse"
	RoleRefused chain.Reason = "RoleRefused"
)

// Input is all that a decision depends on.
type Input struct {
	// InForce is Enforced, Audited or Off: how grants are meant.
	InForce                chain.Reason
	Deleting, HasFinalizer bool
	// Invalid says what of the spec can't be understood, empty where nothing is.
	Invalid string
	// Refused says why AWS refuses the role of the grant's account, empty where it does not, as far as is known.
	Refused string
	// Needed is how many objects with something in AWS would have no grant, or no access to their account, without this
	// one, NeededBy their namespaces.
	Needed   int
	NeededBy []string
	// Widened are the objects that this grant refuses, and that would be allowed without it, by the grants Instead.
	Widened, Instead []string
	// Open means that every namespace that no EdgeGrant selects has the default grant.
	Open bool
	// Rivals are grants that select namespaces with objects as strongly as this one does, Contested those namespaces.
	Rivals, Contested []string
}

// Step is what is done next.
type Step int

// The steps.
const (
	Rest Step = iota
	EnsureFinalizer
	LetGo
)

// Effect says what the step does to the world.
func (s Step) Effect() chain.Effect {
	switch s {
	case EnsureFinalizer:
		return chain.Apply
	case LetGo:
		return chain.Release
	case Rest:
	}
	return chain.Rest
}

// Decide picks the next step. Where grants are off, no finalizer keeps one from being deleted.
func Decide(in Input) Step {
	switch {
	case in.Deleting && (in.Needed == 0 && len(in.Widened) == 0 || in.InForce == Off):
		return LetGo
	case !in.Deleting && !in.HasFinalizer && in.InForce != Off:
		return EnsureFinalizer
	}
	return Rest
}

// Conclude says whether the grant is in force, and what an administrator should know about it.
func Conclude(in Input) chain.Condition {
	c := chain.Condition{Type: chain.Ready}
	say := func(reason chain.Reason, format string, args ...any) chain.Condition {
		c.Reason, c.Message = reason, fmt.Sprintf(format, args...)
		return c
	}
	switch {
	case in.Deleting && in.Needed == 0 && len(in.Widened) > 0:
		return say(InUse, "The grant stays in force and is not deleted yet, because it refuses something that %s would allow in its place: %s. "+
			"Delete or change these objects, or create another grant for their namespaces%s.", prose.List(in.Instead), prose.List(in.Widened), in.narrower())
	case in.Deleting:
		return say(InUse, "The grant stays in force and is not deleted yet, because without it %s in AWS would have no grant or no access to their AWS account%s. "+
			"Delete them, or create another grant for their namespaces.", prose.Count(in.Needed, "object with something", "objects with something"), in.where())
	case in.Invalid != "":
		return say(InvalidSpec, "%s. This field grants nothing until it is corrected. The rest of the grant is in force.", in.Invalid)
	case len(in.Rivals) > 0:
		return say(Ambiguous, "%s no grant, because %s and this one select %s equally. Change spec.namespaces of %s.", in.contested("The namespace %s has", "The namespaces %s have"),
			prose.List(in.Rivals), in.contested("it", "them"), in.oneOf())
	case in.Refused != "":
		return say(RoleRefused, "%s", prose.Sentence(in.Refused))
	case in.InForce == Off:
		return say(Off, "Grants are switched off (--grants=Off): every namespace may use everything, except objects of other namespaces. To use grants, set --grants to Audit or Enforce.")
	}
	c.Status = true
	if in.InForce == Audited {
		return say(Audited, "The grant is audited: objects that ask for more say so in the condition Granted, and nothing is held.%s", in.warning())
	}
	return say(Enforced, "The grant is enforced.%s", in.warning())
}

// warning is about a default grant that takes over where a namespace is not selected any more.
func (in Input) warning() string {
	if !in.Open {
		return ""
	}
	return " Every namespace that no EdgeGrant selects has the default grant, and so has one that this grant does not select any more: to change that, set grants.default.namespaces."
}

// narrower is what can be done about the default grant.
func (in Input) narrower() string {
	if !in.Open {
		return ""
	}
	return ", or restrict the default grant to the namespaces that need it (grants.default.namespaces)"
}

// where are the namespaces of the objects that need the grant.
func (in Input) where() string {
	if len(in.NeededBy) == 0 {
		return ""
	}
	return " (namespaces: " + prose.List(in.NeededBy) + ")"
}

// contested picks the words for one namespace or for several, which the words may name.
func (in Input) contested(one, several string) string {
	text := several
	if len(in.Contested) == 1 {
		text = one
	}
	return strings.ReplaceAll(text, "%s", prose.List(in.Contested))
}

func (in Input) oneOf() string {
	if len(in.Rivals) == 1 {
		return "one of the two grants"
	}
	return "all of these grants but one"
}

// Events tells what an administrator has to do something about, once: that the grant is not in force as it is written, or
// that it can't be deleted yet. before is the reason that Ready had.
func Events(in Input, before chain.Reason, ready chain.Condition) []chain.Event {
	gone := in.Deleting && Decide(in) == LetGo
	if ready.Status || ready.Reason == before || ready.Reason == Off || gone {
		return nil
	}
	return []chain.Event{{Warning: true, Reason: string(ready.Reason), Message: prose.Sentence(ready.Message)}}
}
