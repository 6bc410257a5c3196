package claim

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"time"
)

// Index has the claims, and the domains of the objects. Its answers do not depend on the order in which it was told.
// It is not safe for concurrent use.
type Index struct {
	objects map[Key]*live
	// domains has who has a domain or wants it, the strongest first.
	domains map[string][]*holding
	claims  map[string]Claim
}

// live is an object with its domains, in the order of its spec.
type live struct {
	Object

	holdings []*holding
}

// holding is what an object has of a domain.
type holding struct {
	of     *live
	domain string
	stake  Stake
	wanted bool
}

// New makes an index that knows nothing.
func New() *Index {
	return &Index{objects: map[Key]*live{}, domains: map[string][]*holding{}, claims: map[string]Claim{}}
}

// compare orders by strength: the object with more of the domain comes first, then the older one.
func (h *holding) compare(o *holding) int {
	return cmp.Or(cmp.Compare(o.stake, h.stake), h.of.Created.Compare(o.of.Created), strings.Compare(h.of.UID, o.of.UID),
		strings.Compare(h.of.Namespace, o.of.Namespace), strings.Compare(h.of.Name, o.of.Name), strings.Compare(h.of.Kind, o.of.Kind))
}

// Observe takes over what an object has now. It reports whether that is less than before for any domain, so that
// others may have it.
func (x *Index) Observe(o Object, domains []Domain) (freed bool) {
	before := x.objects[o.Key]
	stakes := map[string]Stake{}
	if before != nil {
		for _, h := range before.holdings {
			stakes[h.domain] = h.stake
		}
		x.remove(before)
	}
	now := &live{Object: o}
	for _, d := range domains {
		name := Canonical(d.Name)
		if n := slices.IndexFunc(now.holdings, func(h *holding) bool { return h.domain == name }); n >= 0 {
			same := now.holdings[n]
			same.stake, same.wanted = max(same.stake, d.Stake), same.wanted || d.Wanted
			continue
		}
		now.holdings = append(now.holdings, &holding{of: now, domain: name, stake: d.Stake, wanted: d.Wanted})
	}
	for _, h := range now.holdings {
		old, had := stakes[h.domain]
		if delete(stakes, h.domain); !had {
			continue
		}
		if old == Admitted && before.UID == o.UID && h.wanted {
			h.stake = max(h.stake, Admitted)
		}
		freed = freed || h.stake < old
	}
	if len(now.holdings) > 0 {
		x.insert(now)
	}
	return freed || len(stakes) > 0
}

// Forget drops an object. It reports whether it had a domain.
func (x *Index) Forget(key Key) bool {
	o := x.objects[key]
	if o != nil {
		x.remove(o)
	}
	return o != nil
}

func (x *Index) insert(o *live) {
	x.objects[o.Key] = o
	for _, h := range o.holdings {
		list := x.domains[h.domain]
		n, _ := slices.BinarySearchFunc(list, h, (*holding).compare)
		x.domains[h.domain] = slices.Insert(list, n, h)
	}
}

func (x *Index) remove(o *live) {
	delete(x.objects, o.Key)
	for _, h := range o.holdings {
		rest := slices.DeleteFunc(x.domains[h.domain], func(other *holding) bool { return other == h })
		if len(rest) == 0 {
			delete(x.domains, h.domain)
			continue
		}
		x.domains[h.domain] = rest
	}
}

// Claim takes over a claim as it is stored now. It reports whether anything but its report has changed.
func (x *Index) Claim(c Claim) bool {
	c.Domain = Canonical(c.Domain)
	before, had := x.claims[c.Domain]
	x.claims[c.Domain] = c
	before.Version, before.Reported, c.Version, c.Reported = "", false, "", false
	return !had || before != c
}

// Unclaim drops the claim for a domain if it is the one with that UID.
func (x *Index) Unclaim(domain, uid string) bool {
	domain = Canonical(domain)
	c, had := x.claims[domain]
	if !had || c.UID != uid {
		return false
	}
	delete(x.claims, domain)
	return true
}

// Claims are all claims, in the order of their domains.
func (x *Index) Claims() []Claim {
	out := make([]Claim, 0, len(x.claims))
	for _, c := range x.claims {
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b Claim) int { return strings.Compare(a.Domain, b.Domain) })
	return out
}

// ClaimFor is the claim for exactly that domain.
func (x *Index) ClaimFor(domain string) (Claim, bool) {
	c, had := x.claims[Canonical(domain)]
	return c, had
}

// claimOn is the claim that decides on a domain: its own, or else the nearest above it.
func (x *Index) claimOn(domain string) (Claim, bool) {
	if c, ok := x.claims[domain]; ok {
		return c, true
	}
	for above := parent(domain); above != ""; above = parent(above) {
		for _, of := range []string{wildcardLabel + above, above} {
			if c, ok := x.claims[of]; ok && of != domain && c.reaches(domain) {
				return c, true
			}
		}
	}
	return Claim{}, false
}

// Assigned reports whether an administrator has made a claim for the domain in favor of the namespace.
func (x *Index) Assigned(namespace, domain string, now time.Time) bool {
	c, claimed := x.claimOn(Canonical(domain))
	return claimed && c.Namespace == namespace && !c.Held() && !c.Ended(now)
}

// Known reports whether the object was observed.
func (x *Index) Known(key Key) bool { return x.objects[key] != nil }

// HoldersOf are the objects that have or want a domain for which the claim is.
func (x *Index) HoldersOf(c Claim) (keys []Key) {
	for d := range x.under(c) {
		for _, h := range x.domains[d] {
			keys = append(keys, h.of.Key)
		}
	}
	return keys
}

// under are the domains that the claim is for.
func (x *Index) under(c Claim) iter.Seq[string] {
	return func(yield func(string) bool) {
		for d := range x.domains {
			if c.Covers(d) && !yield(d) {
				return
			}
		}
	}
}

// Reclaims reports whether the object serves a domain again that is held.
func (x *Index) Reclaims(key Key) bool {
	o := x.objects[key]
	return o != nil && slices.ContainsFunc(o.holdings, func(h *holding) bool {
		c, ok := x.claims[h.domain]
		return ok && x.Reclaimed(c)
	})
}

// Reclaimed reports whether the claim is held, and an object of its namespace serves the domain again.
func (x *Index) Reclaimed(c Claim) bool {
	return c.Held() && slices.ContainsFunc(x.domains[c.Domain], func(h *holding) bool {
		return h.of.Namespace == c.Namespace && h.wanted && h.stake == Serves
	})
}

// Moves are the domains of an object that are handed over to it, and that AWS shows for another object, or that come from
// a standard distribution.
func (x *Index) Moves(key Key) (domains []string) { return x.handedOver(key, InAWS) }

// Giver is the standard distribution that a domain is moved from.
type Giver struct {
	Distribution string
	// Declared is the Distribution object that has the domain as an alias. It would put it back. Zero: none has.
	Declared Key
}

// Givers are the standard distributions that the claims for domains name.
func (x *Index) Givers(domains []string) map[string]Giver {
	out := map[string]Giver{}
	for _, d := range domains {
		c := x.claims[Canonical(d)]
		if c.FromDistribution == "" {
			continue
		}
		g := Giver{Distribution: c.FromDistribution}
		for _, h := range x.domains[Canonical(d)] {
			if h.of.Kind == KindDistribution {
				g.Declared = h.of.Key
			}
		}
		out[d] = g
	}
	return out
}

// Inherits are the domains that are handed over to an object, whether another still has them or not.
func (x *Index) Inherits(key Key) (domains []string) { return x.handedOver(key, Wants) }

// handedOver are the domains of an object that are handed over to it. With a stake, only those are among them of which
// another object has as much: one of another namespace or, where the claim names its receiver, any other.
func (x *Index) handedOver(key Key, least Stake) (domains []string) {
	o := x.objects[key]
	if o == nil {
		return nil
	}
	for _, h := range o.holdings {
		c, claimed := x.claims[h.domain]
		if !claimed || !h.wanted || !c.HandOver || !c.For(key, h.domain) {
			continue
		}
		// An alias of an object does not move: the distribution has to give it up first.
		theirs := func(other *holding) bool {
			return other.of.Kind == "" && !c.For(other.of.Key, h.domain) && other.stake >= least
		}
		if least == Wants || c.FromDistribution != "" || slices.ContainsFunc(x.domains[h.domain], theirs) {
			domains = append(domains, h.domain)
		}
	}
	return domains
}

// Unheld are those of the domains for which a claim has to be stored before the object releases them: no other object
// of its namespace takes them over, and no claim keeps them for it until enough.
func (x *Index) Unheld(key Key, domains []string, enough time.Time) (out []string) {
	for _, d := range domains {
		d = Canonical(d)
		if Name(d) != "" && !x.moves(key, d) && !x.held(key, d, enough) {
			out = append(out, d)
		}
	}
	return out
}

// moves reports whether another object of the namespace has the domain already, or is about to.
func (x *Index) moves(key Key, domain string) bool {
	return slices.ContainsFunc(x.domains[domain], func(h *holding) bool {
		return h.of.Namespace == key.Namespace && h.of.Key != key && h.wanted && h.stake >= Admitted
	})
}

func (x *Index) held(key Key, domain string, enough time.Time) bool {
	c, ok := x.claimOn(domain)
	switch {
	case !ok:
		return false
	case c.Namespace != key.Namespace:
		// An administrator has decided whose it is next.
		return c.Domain == domain
	}
	return c.Until.IsZero() || !c.Until.Before(enough)
}
