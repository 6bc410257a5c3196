package grant

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

// Refusal is why an object may not have what it wants.
type Refusal struct {
	// Field says for what, unless it is the whole object, and Text why, and what to do.
	Field, Text string
}

// String is the message of a condition.
func (r *Refusal) String() string {
	if r.Field == "" {
		return prose.Sentence(r.Text)
	}
	return r.Field + ": " + r.Text
}

// advice ends each refusal. Some fields can't be changed.
func (w Want) advice() string {
	const ask = "Ask an administrator of the platform"
	switch {
	case w.Field == "":
		return ask + "."
	case w.Fixed:
		return ask + ", or delete the object and create it with another value: the field can't be changed."
	}
	return ask + ", or change the field."
}

// Judge says why a namespace may not have what one of its objects wants, nil where it may. The first of several things is
// told.
func (s Standing) Judge(namespace string, wants []Want, now time.Time) *Refusal {
	switch {
	case len(wants) == 0:
		return nil
	case len(s.Rivals) > 0:
		return &Refusal{Text: fmt.Sprintf(
			"the EdgeGrants %s select the namespace %s equally, so it has none. An administrator has to change spec.namespaces of one of them.",
			prose.List(s.Rivals), namespace)}
	case s.Passed:
		return &Refusal{Text: fmt.Sprintf("no EdgeGrant selects the namespace %s, and the default grant names other namespaces only (grants.default.namespaces). Ask an administrator of the platform for a grant.", namespace)}
	case s.Grant == nil:
		return &Refusal{Text: fmt.Sprintf("no EdgeGrant selects the namespace %s. Ask an administrator of the platform for one.", namespace)}
	}
	for _, w := range wants {
		if r := s.Grant.refuse(namespace, w, now); r != nil {
			return r
		}
	}
	return nil
}

func (g *Grant) refuse(namespace string, w Want, now time.Time) *Refusal {
	t := terms[w.Thing]
	adoption := w.Thing == AnAdoption || w.Thing == AForcedAdoption
	switch {
	case adoption && g.Adoption != nil && g.Adoption.Over(now):
		return &Refusal{w.Field, fmt.Sprintf("%s allowed adoption until %s. %s", g.title(namespace), g.Adoption.Until.UTC().Format(time.RFC3339), w.advice())}
	case t.allows(g, w):
		return nil
	}
	return &Refusal{w.Field, fmt.Sprintf("%s does not allow %s%s. %s", g.title(namespace), t.what(w), g.instead(t, w), w.advice())}
}

// what is the thing that is wanted.
func (t term) what(w Want) string {
	value := prose.Shorten(w.Value, prose.LongestQuote)
	switch {
	case w.Crosses():
		return t.noun + " " + value + " of another namespace"
	case strings.Contains(t.noun, "%s"):
		return fmt.Sprintf(t.noun, value)
	case w.Thing == Records && value == "":
		return "DNS records in any hosted zone"
	case value == "":
		return t.noun
	}
	return t.noun + " " + value
}

// instead is what the grant has instead, or the reason where that would mislead: a list of domains next to a wildcard, and
// a star next to an object of another namespace, look as if they allowed it.
func (g *Grant) instead(t term, w Want) string {
	has := t.list(g, w)
	switch {
	case (w.Thing == ADomain || w.Thing == AnAlias) && strings.HasPrefix(w.Value, wildcard) && !g.Wildcards:
		return ", because its field wildcards is not true"
	case w.Crosses():
		objects := slices.DeleteFunc(slices.Clone(has), func(entry string) bool { return !strings.Contains(entry, "/") })
		if len(objects) == 0 {
			return ": it has to list the object, and an ID such as * is not enough"
		}
		has = objects
	}
	if len(has) == 0 {
		return ""
	}
	return ", only " + prose.List(has)
}

// Called is the name of the grant in messages.
func (g *Grant) Called() string {
	if g.Name == Default {
		return "the default grant"
	}
	return "the EdgeGrant " + g.Name
}

// title adds how the namespace comes to have it.
func (g *Grant) title(namespace string) string {
	how := "selects"
	if g.Name == Default {
		how = "applies because no EdgeGrant selects"
	}
	return fmt.Sprintf("%s, which %s the namespace %s,", g.Called(), how, namespace)
}
