package dnssuite

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
)

// subject is the toy with its world.
func (p *toy) subject(t testing.TB, can Can) *Subject {
	t.Helper()
	return &Subject{
		DNS: p, Access: dns.Access{Provider: dns.Provider{Service: "toy", Account: "main"}}, Clock: p.clock,
		Zone: dns.Zone{ID: "zone-1", Name: "toy.example"}, Other: dns.Zone{ID: "zone-2", Name: "other.example"}, Twin: dns.Zone{ID: "zone-3", Name: "toy.example"},
		Put: func(id string, s dns.RecordSet) {
			z := p.zones[id]
			z.sets[s.Key] = s
			delete(p.owners, s.Key)
			z.late = append(z.late, toyLate{p.clock.Now(), maps.Clone(z.sets)})
		},
		Remove: func(id string, k dns.Key) {
			z := p.zones[id]
			delete(z.sets, k)
			z.late = append(z.late, toyLate{p.clock.Now(), maps.Clone(z.sets)})
		},
		Sets: func(id string) (sets []dns.RecordSet) {
			if z := p.zones[id]; z != nil {
				sets = slices.Collect(maps.Values(z.sets))
			}
			return sets
		},
		Owner: func(_ string, k dns.Key) string {
			switch o := p.owners[k]; {
			case p.has(noOwner):
				return ""
			case p.has(nameOnly):
				return o.Name
			default:
				return o.Namespace + "/" + o.Name
			}
		},
		Lose: func(after bool) {
			p.lose = "before"
			if after {
				p.lose = "after"
			}
		},
		Throttle: func(n int) { p.throttle = n }, Deny: func(denied bool) { p.denied = denied },
		DropZone: func() { delete(p.zones, "zone-1") },
		Stall:    func(stalled bool) { p.stalled = stalled },
		Answers:  p.answers,
		Calls:    func() (int, int) { return p.mutating, p.all },
		Poison:   "poison.toy.example", Odd: []string{"odd!name"},
		Can: can,
	}
}

func (p *toy) answers(name, kind string) []string {
	z := p.zones["zone-1"]
	if z == nil {
		return nil
	}
	p.serve(z)
	_, parent, _ := strings.Cut(name, ".")
	for _, asked := range []string{name, "*." + parent} {
		if s, ok := z.shown[dns.Key{Name: asked, Type: kind}]; ok {
			return append(slices.Sorted(slices.Values(s.Values)), s.Alias)[:max(len(s.Values), 1)]
		}
		if _, ok := z.shown[dns.Key{Name: asked, Type: dns.CNAME}]; ok && p.traits.Apex == dns.FlattenedApex && asked == z.Name && kind == dns.A {
			return []string{"192.0.2.80"}
		}
	}
	return nil
}
