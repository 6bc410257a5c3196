package claim

import (
	"slices"
	"strings"
)

// Judge says which domain of an object is another namespace's. Nil: it may have all. An object keeps the domains that
// it serves already, unless they are handed over.
func (x *Index) Judge(key Key) *Refusal {
	o := x.objects[key]
	if o == nil {
		return nil
	}
	j := judgement{Index: x, wins: map[*holding]bool{}}
	for _, h := range o.holdings {
		if !h.wanted {
			continue
		}
		if r := j.refusal(h); r != nil {
			r.field = key.field()
			return r
		}
	}
	return nil
}

// Admit notes whether an object was allowed to have what it wants. If it was, no other object comes before it until it
// has it.
func (x *Index) Admit(key Key, admitted bool) {
	o := x.objects[key]
	if o == nil {
		return
	}
	x.remove(o)
	for _, h := range o.holdings {
		switch {
		case admitted && h.wanted && h.stake == Wants:
			h.stake = Admitted
		case !admitted && h.stake == Admitted:
			h.stake = Wants
		}
	}
	x.insert(o)
}

// judgement judges one object. Those that come before it are judged too: an object that may not have a domain keeps no
// other from it.
type judgement struct {
	*Index

	// wins has the outcome of those that were judged.
	wins map[*holding]bool
}

func (j judgement) win(h *holding) bool {
	if won, known := j.wins[h]; known {
		return won
	}
	won := j.refusal(h) == nil
	j.wins[h] = won
	return won
}

// refusal asks the claims first, then those that are stronger.
func (j judgement) refusal(h *holding) *Refusal {
	if h.stake == Serves && !j.given(h) {
		return nil
	}
	if c, ok := j.claimOn(h.domain); ok {
		if c.For(h.of.Key, h.domain) {
			return nil
		}
		r := &Refusal{Domain: h.domain, claim: &c}
		if c.Namespace == h.of.Namespace {
			r.to = c.Receiver
		}
		return r
	}
	if isWildcard(h.domain) {
		if c := j.claimBelow(h); c != nil {
			return &Refusal{Domain: h.domain, claim: c}
		}
	}
	if by := j.stronger(h); by != nil {
		return &Refusal{Domain: h.domain, holder: by}
	}
	return nil
}

// given reports whether the domain is handed over by its object to another one that asks for it. From then on it does not matter
// which object has it.
func (j judgement) given(h *holding) bool {
	c, claimed := j.claims[h.domain]
	return claimed && c.HandOver && c.FromDistribution == "" && !c.For(h.of.Key, h.domain) && slices.ContainsFunc(j.domains[h.domain], func(other *holding) bool {
		return c.For(other.of.Key, h.domain) && other.wanted
	})
}

// claimBelow is a claim of another namespace for a name that a wildcard would serve.
func (j judgement) claimBelow(h *holding) *Claim {
	var found *Claim
	for domain, c := range j.claims {
		if covers(h.domain, domain) && c.Namespace != h.of.Namespace && (found == nil || domain < found.Domain) {
			found = &c
		}
	}
	return found
}

// stronger is the holding of another namespace that wins against this one.
func (j judgement) stronger(h *holding) *holding {
	for _, domain := range j.rivals(h.domain) {
		for _, other := range j.domains[domain] {
			if other.compare(h) >= 0 {
				break
			}
			if other.of.Namespace != h.of.Namespace && j.win(other) {
				return other
			}
		}
	}
	return nil
}

// rivals are the live domains that can't belong to another namespace than this one.
func (j judgement) rivals(domain string) []string {
	if !isWildcard(domain) {
		wildcard := wildcardLabel + parent(domain)
		if _, ok := j.claims[wildcard]; ok {
			// It does not reach the domain, or it would have decided: the names below it are left to the objects that
			// want them.
			return []string{domain}
		}
		return []string{domain, wildcard}
	}
	out := []string{domain}
	base := strings.TrimPrefix(domain, "*")
	for d := range j.domains {
		if strings.HasSuffix(d, base) && covers(domain, d) {
			out = append(out, d)
		}
	}
	return out
}
