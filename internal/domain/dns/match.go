package dns

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Selector names the zone of a domain. The id wins over the name; with neither, the zone is
// found by the domain.
type Selector struct{ ID, Name string }

// Mismatch says why a selector finds no zone.
type Mismatch string

// The reasons.
const (
	// NotFound means that there is no such zone.
	NotFound Mismatch = "NotFound"
	// Ambiguous means that several zones fit.
	Ambiguous Mismatch = "Ambiguous"
	// Outside means that the domain does not belong into the zone.
	Outside Mismatch = "Outside"
	// NotPublic means that the zone is private: it can't be seen from outside its networks.
	NotPublic Mismatch = "NotPublic"
)

// MatchError says why a domain has no zone, and what to do about it.
type MatchError struct {
	Mismatch Mismatch
	Domain   string
	// Selector is what was asked for, with its name in canonical form.
	Selector Selector
	// Provider is where the zones were looked for.
	Provider Provider
	// Zones are those that come into question, sorted by id.
	Zones []Zone
}

// remedy returns the fix for Route 53, or that for other providers, whose zones are named and reached with accounts.
func (e *MatchError) remedy(route53, others string) string {
	if e.Provider.Service == Route53 {
		return route53
	}
	return others
}

// Error renders the reason and the fix.
func (e *MatchError) Error() string {
	switch e.Mismatch {
	case Ambiguous:
		return fmt.Sprintf("several public hosted zones are named %s (%s): %s for %s", e.Zones[0].Name, ids(e.Zones),
			e.remedy("set the ID of the one", "let the account have only the one"), e.Domain)
	case Outside:
		return fmt.Sprintf("%s is not in the hosted zone %s (%s): use a zone whose name is a suffix of the domain", e.Domain, e.Zones[0].ID, e.Zones[0].Name)
	case NotPublic:
		return fmt.Sprintf("hosted zone %s (%s) is private, so public resolvers would not find %s: use a public zone", ids(e.Zones), e.Zones[0].Name, e.Domain)
	case NotFound:
	}
	switch {
	case e.Selector.ID != "":
		return fmt.Sprintf("there is no hosted zone with the ID %s for %s: correct the ID", e.Selector.ID, e.Domain)
	case e.Selector.Name != "":
		return fmt.Sprintf("there is no public hosted zone named %s for %s: create it, or correct the name", e.Selector.Name, e.Domain)
	}
	return fmt.Sprintf("there is no public hosted zone for %s: create one, or, if it is in another account, %s", e.Domain,
		e.remedy("set a role of that account", "set spec.dns.account"))
}

func ids(zones []Zone) string {
	var out []string
	for _, z := range zones {
		out = append(out, z.ID)
	}
	return strings.Join(out, ", ")
}

// Match finds the zone that the selector names for a domain; with no name, of the public ones that the domain ends with,
// the one with the longest name. The error is a *MatchError.
func (s Selector) Match(domain string, zones []Zone) (Zone, error) {
	fail := func(m Mismatch, found ...Zone) (Zone, error) {
		slices.SortFunc(found, func(a, b Zone) int { return cmp.Compare(a.ID, b.ID) })
		return Zone{}, &MatchError{Mismatch: m, Domain: domain, Selector: s, Zones: found}
	}
	if s.Name != "" {
		// An invalid name matches no zone, and the error shows it as it was written.
		if name, err := Canonical(s.Name); err == nil {
			s.Name = name
		}
	}
	found, hidden := s.candidates(domain, zones)
	switch {
	case len(found) > 1:
		return fail(Ambiguous, found...)
	case len(found) == 0 && len(hidden) > 0 && s != (Selector{}):
		return fail(NotPublic, hidden...)
	case len(found) == 0:
		return fail(NotFound)
	case !Within(domain, found[0].Name):
		return fail(Outside, found...)
	}
	return found[0], nil
}

// candidates returns the public zones that the selector may mean, and the private ones.
func (s Selector) candidates(domain string, zones []Zone) (public, private []Zone) {
	longest := 0
	for _, z := range zones {
		switch {
		case s.ID != "" && z.ID != s.ID, s.ID == "" && s.Name != "" && z.Name != s.Name:
			continue
		case s == Selector{} && !Within(domain, z.Name):
			continue
		case z.Private:
			private = append(private, z)
			continue
		case len(z.Name) > longest:
			// Zones that are selected by id or name are all equally long.
			public, longest = nil, len(z.Name)
		case len(z.Name) < longest:
			continue
		}
		public = append(public, z)
	}
	return public, private
}
