package azuredns

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Zone is a zone as a seed has it.
type Zone struct {
	// Subscription is DefaultSubscription if empty.
	Subscription  string
	ResourceGroup string
	Name          string
	Private       bool
	// NameServers are made up if there are none.
	NameServers []string
	Records     []Record
}

// Record is a record set. The name is relative to the zone, "@" at its apex.
type Record struct {
	Name, Type string
	TTL        int64
	// Values are in the form of zone files, but for TXT.
	Values []string
	// Texts are the values of TXT: each is one record, and each record a list of strings.
	Texts    [][]string
	Metadata map[string]string
	// Target is the id of the Azure resource that an alias record leads to.
	Target string
	ETag   string
}

type key struct{ name, kind string }

func (r Record) key() key { return key{strings.ToLower(r.Name), strings.ToUpper(r.Type)} }

type zone struct {
	subscription, group, name string
	private                   bool
	servers                   []string
	etag                      string
	sets                      map[key]Record
	// public is what the name servers answer from, pending what they do not know yet.
	public  map[key]Record
	pending []pendingChange
}

type pendingChange struct {
	at  time.Time
	key key
	// set is nil for a deletion.
	set *Record
}

func zoneID(subscription, group, name string) string {
	return fmt.Sprintf("/subscriptions/%s/resourceGroups/%s/providers/Microsoft.Network/dnszones/%s", subscription, group, name)
}

// ID is the scope of the zone, for grants.
func (z Zone) ID() string {
	return zoneID(cmp.Or(z.Subscription, DefaultSubscription), z.ResourceGroup, z.Name)
}

// AddZone creates a zone with its SOA and NS sets.
func (s *Sim) AddZone(seed Zone) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.zones) + 1
	servers := seed.NameServers
	if servers == nil && !seed.Private {
		for i, top := range []string{"com", "net", "org", "info"} {
			servers = append(servers, fmt.Sprintf("ns%d-%02d.azure-dns.%s.", i+1, n, top))
		}
	}
	z := &zone{
		subscription: cmp.Or(seed.Subscription, DefaultSubscription), group: seed.ResourceGroup, name: seed.Name,
		private: seed.Private, servers: servers, etag: s.etag(), sets: map[key]Record{}, public: map[key]Record{},
	}
	soa := "azureprivatedns.net. azureprivatedns-host.microsoft.com. 1 3600 300 2419200 10"
	if !seed.Private {
		soa = servers[0] + " azuredns-hostmaster.microsoft.com. 1 3600 300 2419200 300"
		z.store(Record{Name: "@", Type: "NS", TTL: 172800, Values: servers, ETag: s.etag()}, s.now())
	}
	z.store(Record{Name: "@", Type: "SOA", TTL: 3600, Values: []string{soa}, ETag: s.etag()}, s.now())
	for _, r := range seed.Records {
		r.ETag = s.etag()
		z.store(r, s.now())
	}
	s.zones = append(s.zones, z)
}

// RemoveZone deletes a zone of the default subscription.
func (s *Sim) RemoveZone(group, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.zones = slices.DeleteFunc(s.zones, func(z *zone) bool { return z == s.byName(DefaultSubscription, group, name) })
}

// SetRecord writes a record set of a zone in the default subscription as another client would, without any check.
func (s *Sim) SetRecord(group, zone string, r Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.ETag = s.etag()
	s.byName(DefaultSubscription, group, zone).store(r, s.now().Add(s.options.VisibleAfter))
}

// RemoveRecord deletes a record set of a zone in the default subscription as another client would.
func (s *Sim) RemoveRecord(group, zone, name, kind string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.byName(DefaultSubscription, group, zone).remove(key{strings.ToLower(name), kind}, s.now().Add(s.options.VisibleAfter))
}

// Records lists the record sets of a zone in the default subscription, sorted, those at the apex first.
func (s *Sim) Records(group, zone string) []Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	z := s.byName(DefaultSubscription, group, zone)
	if z == nil {
		return nil
	}
	return z.sorted()
}

func (s *Sim) byName(subscription, group, name string) *zone {
	for _, z := range s.zones {
		if strings.EqualFold(z.subscription, subscription) && strings.EqualFold(z.group, group) && strings.EqualFold(z.name, name) {
			return z
		}
	}
	return nil
}

func (s *Sim) find(r *request) *zone { return s.byName(r.subscription, r.group, r.zone) }

func (s *Sim) hasGroup(subscription, group string) bool {
	return slices.ContainsFunc(s.zones, func(z *zone) bool {
		return strings.EqualFold(z.subscription, subscription) && strings.EqualFold(z.group, group)
	})
}

// store writes a set, which the name servers know from a moment on.
func (z *zone) store(r Record, visible time.Time) {
	r.Metadata = maps.Clone(r.Metadata)
	z.sets[r.key()] = r
	z.pending = append(z.pending, pendingChange{at: visible, key: r.key(), set: &r})
}

func (z *zone) remove(k key, visible time.Time) {
	delete(z.sets, k)
	z.pending = append(z.pending, pendingChange{at: visible, key: k})
}

// Stall keeps changes from the name servers until it ends.
func (s *Sim) Stall(stalled bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stalled = stalled
}

// settle takes over what the name servers know by now.
func (z *zone) settle(now time.Time) {
	for len(z.pending) > 0 && !z.pending[0].at.After(now) {
		if p := z.pending[0]; p.set == nil {
			delete(z.public, p.key)
		} else {
			z.public[p.key] = *p.set
		}
		z.pending = z.pending[1:]
	}
}

func (z *zone) sorted() []Record {
	out := slices.Collect(maps.Values(z.sets))
	slices.SortFunc(out, func(a, b Record) int { return cmp.Compare(a.key().position(), b.key().position()) })
	return out
}

// position is where a set is in a listing, those at the apex first.
func (k key) position() string {
	if k.name == "@" {
		return " " + k.kind
	}
	return k.name + " " + k.kind
}

// atName are the sets of one name.
func (z *zone) atName(name string) (out []Record) {
	for _, r := range z.sorted() {
		if strings.EqualFold(r.Name, name) {
			out = append(out, r)
		}
	}
	return out
}

// count is how many record sets the zone has.
func (z *zone) count() int { return len(z.sets) }
