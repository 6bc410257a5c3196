package dnssuite

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// apply makes all changes or none, or one after the other.
func (p *toy) apply(zoneID string, changes []dns.Change) error {
	z, err := p.find(zoneID)
	if err != nil {
		if p.has(invalidWhenGone) {
			return p.fail(fault.Invalid, "there is no such zone")
		}
		return err
	}
	if p.has(wrongZone) {
		z = p.zones[slices.Sorted(maps.Keys(p.zones))[0]]
		if z.ID == zoneID {
			z = p.zones["zone-2"]
		}
	}
	if p.has(dropsInBatches) && len(changes) > 2 {
		changes = changes[:len(changes)-1]
	}
	before, owners := maps.Clone(z.sets), maps.Clone(p.owners)
	done := 0
	for unit := range units(changes) {
		if done > 0 && (p.one || p.has(oneByOne)) {
			p.all, p.mutating = p.all+1, p.mutating+1
		}
		whole := maps.Clone(z.sets)
		for _, c := range unit {
			if err := p.make(z, c); err != nil {
				z.sets = whole
				switch {
				case p.has(partsAsNone):
					return err
				case p.one && done > 0:
					return p.fail(fault.Transient, "a part of the changes was made: %v", err)
				}
				z.sets, p.owners = before, owners
				return err
			}
		}
		done++
	}
	z.late = append(z.late, toyLate{p.clock.Now().Add(10 * time.Second), maps.Clone(z.sets)})
	return nil
}

// units splits changes by names.
func units(changes []dns.Change) func(yield func([]dns.Change) bool) {
	return func(yield func([]dns.Change) bool) {
		for len(changes) > 0 {
			n := 1
			for n < len(changes) && changes[n].Set.Name == changes[0].Set.Name {
				n++
			}
			if !yield(changes[:n]) {
				return
			}
			changes = changes[n:]
		}
	}
}

func (p *toy) make(z *toyZone, c dns.Change) error {
	s := c.Set
	if len(strings.Split(s.Name, ".")[0]) > 63 || strings.Contains(s.Name, "poison") {
		return p.fail(fault.Invalid, "%s is no name", s.Name)
	}
	there, some := z.sets[s.Key]
	if c.Action == dns.Delete {
		values := s.Values
		if s.Exact != nil {
			values = s.Exact
		}
		same := some && (there.TTL == s.TTL || p.has(deletesOtherTTL)) && there.Alias == s.Alias && !there.Routed &&
			slices.Equal(slices.Sorted(slices.Values(there.Values)), slices.Sorted(slices.Values(values)))
		if !same && !p.has(deletesAnything) {
			return p.fail(fault.Conflict, "%s %s is not as it was", s.Type, s.Name)
		}
		delete(z.sets, s.Key)
		delete(p.owners, s.Key)
		return nil
	}
	if some && p.has(existsAsDone) {
		return nil
	}
	if some && !p.has(createsOver) {
		return p.exists(s)
	}
	for k := range z.sets {
		if k != s.Key && k.Clashes(s.Key) && !p.has(createsBeside) && (p.traits.Apex != dns.FlattenedApex || s.Name != z.Name) {
			return p.exists(s)
		}
	}
	z.sets[s.Key] = s
	p.owners[s.Key] = c.Owner
	return nil
}

func (p *toy) exists(s dns.RecordSet) error {
	kind := fault.Exists
	if p.has(existsAsInvalid) {
		kind = fault.Invalid
	}
	return p.fail(kind, "something is at %s", s.Name)
}
