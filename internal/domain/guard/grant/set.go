package grant

import (
	"slices"
	"strings"
	"time"
)

// Namespace is one, as grants select it.
type Namespace struct {
	Name   string
	Labels map[string]string
}

// Namespaces selects namespaces by their names, by prefixes that end in a star, and by their labels.
type Namespaces struct {
	Names []string
	// Selects reports whether the labels are selected. Nil: labels select none.
	Selects func(labels map[string]string) bool
}

// every is the name that selects each namespace that no other grant selects.
const every = "*"

// How strongly a namespace is selected. An exact name is stronger than any prefix, and a longer prefix than a shorter one.
const (
	notSelected = 0
	byEvery     = 1
	byLabels    = 2
	byPrefix    = 3
	byName      = byPrefix + longestName + 1
	longestName = 63
)

// strength is how strongly the namespace is selected.
func (n Namespaces) strength(ns Namespace) int {
	best := notSelected
	if n.Selects != nil && n.Selects(ns.Labels) {
		best = byLabels
	}
	for _, name := range n.Names {
		best = max(best, strengthOf(name, ns.Name))
	}
	return best
}

// all reports whether nothing is selected, which for the default grant means every namespace.
func (n Namespaces) all() bool { return len(n.Names) == 0 && n.Selects == nil }

func strengthOf(pattern, name string) int {
	prefix, isPrefix := strings.CutSuffix(pattern, "*")
	switch {
	case pattern == name:
		return byName
	case pattern == every:
		return byEvery
	case isPrefix && strings.HasPrefix(name, prefix):
		return byPrefix + len(prefix)
	}
	return notSelected
}

// Standing is what a namespace has.
type Standing struct {
	// Grant is nil where it has none.
	Grant *Grant
	// Rivals are the names of the grants that select it equally, so that it has none.
	Rivals []string
	// Passed means that there is a default grant, which is for other namespaces.
	Passed bool
}

// Set is all grants there are.
type Set struct {
	grants []*Grant
	// fallback is that of the namespaces which no other selects, nil for none. Where it names namespaces, it is only theirs.
	fallback *Grant
}

// NewSet makes a set. The fallback may be nil.
func NewSet(grants []Grant, fallback *Grant) *Set {
	s := &Set{fallback: fallback}
	for i := range grants {
		s.grants = append(s.grants, &grants[i])
	}
	slices.SortFunc(s.grants, func(a, b *Grant) int { return strings.Compare(a.Name, b.Name) })
	return s
}

// Labels reports whether the labels of namespaces matter to any grant.
func (s *Set) Labels() bool {
	return s.fallback != nil && s.fallback.Namespaces.Selects != nil ||
		slices.ContainsFunc(s.grants, func(g *Grant) bool { return g.Namespaces.Selects != nil })
}

// Open reports whether there are grants, and every namespace that they do not select has the default grant: one that an
// EdgeGrant loses then may use more than before.
func (s *Set) Open() bool {
	return len(s.grants) > 0 && s.fallback != nil && s.fallback.Namespaces.all()
}

// For is what the namespace has: the grant that selects it the strongest. Of two that do so equally it has none. If
// either of them won, the author of the other would search for days for the reason.
func (s *Set) For(ns Namespace) Standing {
	best := notSelected
	var found []*Grant
	for _, g := range s.grants {
		switch strength := g.Namespaces.strength(ns); {
		case strength == notSelected || strength < best:
		case strength > best:
			best, found = strength, []*Grant{g}
		default:
			found = append(found, g)
		}
	}
	switch len(found) {
	case 0:
		if f := s.fallback; f != nil && !f.Namespaces.all() && f.Namespaces.strength(ns) == notSelected {
			return Standing{Passed: true}
		}
		return Standing{Grant: s.fallback}
	case 1:
		return Standing{Grant: found[0]}
	}
	var rivals []string
	for _, g := range found {
		rivals = append(rivals, g.Name)
	}
	return Standing{Rivals: rivals}
}

// Accesses are the accounts other than the operator's own, in the order of the grants' names, those with a role that AWS
// refuses at the end.
func (s *Set) Accesses() (out []Access) {
	for _, g := range s.grants {
		if g.Account.RoleARN != "" {
			out = append(out, Access{Account: g.Account, Grant: g.Name, Refused: g.RoleRefused})
		}
	}
	slices.SortStableFunc(out, func(a, b Access) int {
		switch {
		case a.Refused == b.Refused:
			return 0
		case a.Refused:
			return 1
		}
		return -1
	})
	return out
}

// Widens reports whether an object that is refused in one standing would be allowed in another. Wants are what it asks for,
// unproven those of its domains that it has not proven. Refused means that the one standing was seen to refuse it for
// something that wants do not show.
func (s Standing) Widens(to Standing, namespace string, wants []Want, unproven []string, refused bool, now time.Time) bool {
	if s.Grant == nil || to.Judge(namespace, wants, now) != nil {
		return false
	}
	return refused || s.Judge(namespace, wants, now) != nil || slices.ContainsFunc(unproven, func(domain string) bool {
		return s.Grant.DemandsProof(domain) && (to.Grant == nil || !to.Grant.DemandsProof(domain))
	})
}

// Divided reports whether it is not known in which account the objects of the namespace are: grants that name one select
// it equally.
func (s *Set) Divided(standing Standing) bool {
	return slices.ContainsFunc(s.grants, func(g *Grant) bool {
		return g.Account != Account{} && slices.Contains(standing.Rivals, g.Name)
	})
}

// Without is the set as if there were no grant of that name.
func (s *Set) Without(name string) *Set {
	return &Set{grants: slices.DeleteFunc(slices.Clone(s.grants), func(g *Grant) bool { return g.Name == name }), fallback: s.fallback}
}

// Against adds those that keep the grant of that name from being that of the namespace to a list.
func (s Standing) Against(name string, list []string) []string {
	if !slices.Contains(s.Rivals, name) {
		return list
	}
	for _, rival := range s.Rivals {
		if rival != name && !slices.Contains(list, rival) {
			list = append(list, rival)
		}
	}
	return list
}
