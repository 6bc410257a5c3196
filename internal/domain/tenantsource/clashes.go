package tenantsource

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// refuseTwins refuses all rows of a name that several rows have: if one of them was used, the next read could return
// them in another order. If one of them has another mistake, that is reported first.
func (p *Poll) refuseTwins() {
	for i := range p.entries {
		if e := &p.entries[i]; e.twin && (e.refused == "" || e.foreign) {
			e.refused, e.foreign = fmt.Sprintf("another row also has the name %q: names must be unique, rename one of the rows", e.Name), false
		}
	}
}

// refuseClashes refuses the rows that share a domain, but the one whose object serves it already: a
// customer must not be able to stop another one by writing down their domain.
func (p *Poll) refuseClashes() {
	for _, domain := range slices.Sorted(maps.Keys(p.clashes)) {
		sharers := slices.DeleteFunc(slices.Clone(p.clashes[domain]), func(i int) bool { return p.entries[i].twin })
		// The order in which the rows came decides nothing.
		slices.SortFunc(sharers, func(i, j int) int { return strings.Compare(p.entries[i].Name, p.entries[j].Name) })
		holder := slices.IndexFunc(sharers, func(i int) bool { return p.fleet.serves(p.entries[i].Name, domain) })
		for n, i := range sharers {
			e := &p.entries[i]
			if n == holder || e.refused != "" || len(sharers) == 1 {
				continue
			}
			other := p.entries[sharers[(n+1)%len(sharers)]]
			if holder >= 0 {
				other = p.entries[sharers[holder]]
			}
			e.refused = fmt.Sprintf("the row %[2]q also has the domain %[1]q: a domain can belong to one tenant only, remove it from one of the rows", domain, other.Row)
		}
	}
}
