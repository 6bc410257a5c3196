package dns_test

import (
	"fmt"
	"maps"
	"slices"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
)

const (
	zoneID = "Z1"
	apex   = "example.com"
	target = "d1.cloudfront.net"
)

// memory is a zone with Route 53's rules.
type memory map[dns.Key]dns.RecordSet

func (m memory) sets() []dns.RecordSet {
	out := slices.Collect(maps.Values(m))
	slices.SortFunc(out, func(a, b dns.RecordSet) int {
		return slices.Compare([]string{a.Name, a.Type}, []string{b.Name, b.Type})
	})
	return out
}

// change carries out all changes or none.
func (m memory) change(changes []dns.Change) error {
	next := maps.Clone(m)
	for _, c := range changes {
		have, some := next[c.Set.Key]
		switch {
		case c.Action == dns.Delete && (!some || !same(have, c.Set)):
			return fmt.Errorf("deleting %s: have %s", c.Set, have)
		case c.Action == dns.Delete:
			delete(next, c.Set.Key)
			continue
		case some:
			return fmt.Errorf("creating %s: it already exists", c.Set)
		}
		next[c.Set.Key] = c.Set
	}
	for k := range next {
		if k.Type != dns.CNAME {
			continue
		}
		if k.Name == apex {
			return fmt.Errorf("a CNAME at the apex")
		}
		for o := range next {
			if o != k && o.Name == k.Name {
				return fmt.Errorf("a CNAME next to %s at %s", o.Type, o.Name)
			}
		}
	}
	clear(m)
	maps.Copy(m, next)
	return nil
}

func same(a, b dns.RecordSet) bool {
	return a.Key == b.Key && a.TTL == b.TTL && a.Alias == b.Alias && a.Routed == b.Routed && slices.Equal(a.Values, b.Values)
}

// place is one name of a zone that holds these sets.
func place(name string, sets []dns.RecordSet, claims []*dns.Claim) dns.Place {
	p := dns.Place{Name: name}
	for _, s := range sets {
		if s.Name == name {
			p.Sets = append(p.Sets, s)
		}
	}
	for _, c := range claims {
		if slices.Contains(c.Names(), name) {
			p.Claims = append(p.Claims, c)
		}
	}
	return p
}

// plan is what has to change in the whole zone, name by name.
func plan(sets []dns.RecordSet, claims []*dns.Claim) (units []dns.Unit) {
	names := map[string]bool{}
	for _, c := range claims {
		for _, name := range c.Names() {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		units = append(units, place(name, sets, claims).Plan()...)
	}
	return units
}

func cname(name, value string) dns.Record {
	return dns.Record{ZoneID: zoneID, Name: name, Type: dns.CNAME, Value: value, TTL: 300}
}

func alias(name, kind, value string) dns.Record {
	return dns.Record{ZoneID: zoneID, Name: name, Type: kind, Value: value}
}

func entry(r dns.Record, s dns.State) dns.Entry { return dns.Entry{Record: r, State: s} }

func owner(n int) dns.Owner {
	return dns.Owner{Namespace: "web", Name: fmt.Sprintf("tenant-%d", n), UID: fmt.Sprint(n)}
}
