package aws

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// HostedZoneState is a hosted zone with its records as they were last changed,
// in the order lists show them.
type HostedZoneState struct {
	ID      string        `json:"id"`
	Name    string        `json:"name"` // without the dot at the end
	Private bool          `json:"private,omitempty"`
	Records []RecordState `json:"records"`
}

// RecordState is a resource record set.
type RecordState struct {
	Name          string   `json:"name"` // without the dot at the end, wildcards with an asterisk
	Type          string   `json:"type"`
	SetIdentifier string   `json:"setIdentifier,omitempty"`
	TTL           int      `json:"ttl,omitempty"`
	Values        []string `json:"values,omitempty"`
	AliasTarget   string   `json:"aliasTarget,omitempty"`
}

// HostedZone returns one zone by id.
func (s *Sim) HostedZone(id string) (HostedZoneState, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	z := s.world.zones[strings.TrimPrefix(id, "/hostedzone/")]
	if z == nil {
		return HostedZoneState{}, false
	}
	return z.state(), true
}

// PublicRecords returns what resolvers see of a zone: without changes that are
// not INSYNC and propagated, and with what was removed a moment ago. A private
// zone, and one that isn't there, shows nothing.
func (s *Sim) PublicRecords(id string) []RecordState {
	s.mu.Lock()
	defer s.mu.Unlock()
	records := []RecordState{}
	z := s.world.zones[strings.TrimPrefix(id, "/hostedzone/")]
	if z == nil || z.private {
		return records
	}
	m := s.moment(s.now())
	for _, n := range z.order {
		for _, set := range n.public(m) {
			records = append(records, set.state())
		}
	}
	return records
}

func (z *hostedZone) state() HostedZoneState {
	out := HostedZoneState{ID: z.id, Name: hostName(z.name), Private: z.private, Records: []RecordState{}}
	for _, n := range z.order {
		for _, set := range n.current() {
			out.Records = append(out.Records, set.state())
		}
	}
	return out
}

func (set *recordSet) state() RecordState {
	out := RecordState{Name: hostName(set.name), Type: set.kind, SetIdentifier: set.identifier, TTL: set.ttl, Values: slices.Clone(set.values)}
	if set.alias != nil {
		out.AliasTarget = set.alias.name
	}
	return out
}

// PublicRouting returns the names that public DNS makes arrive at CloudFront,
// and the endpoint of each. An alias counts without its challenge too: traffic
// follows it nevertheless. A published wildcard is one name.
func (s *Sim) PublicRouting() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.publicRouting(s.now())
}

// publicRouting needs the lock.
func (s *Sim) publicRouting(now time.Time) map[string]string {
	m, found := s.moment(now), map[string]string{}
	for _, z := range s.world.zones {
		for _, n := range z.order {
			if s.world.publicZone(n.name) != z || len(n.public(m)) == 0 {
				continue
			}
			t := s.follow(n.name, now)
			if strings.HasSuffix(t.last(), cloudFrontSuffix) {
				found[hostName(n.name)] = t.last()
			} else if endpoint := t.aliasTo(); endpoint != "" {
				found[hostName(n.name)] = endpoint
			}
		}
	}
	return found
}

// View is the world at a moment, for the duration of a call of [Options.Watch].
type View struct {
	// Operation is the call that is about to change the world or has changed
	// it; empty when time was advanced.
	Operation string
	// After tells a changed world from one that is about to be.
	After bool
	Now   time.Time

	sim *Sim
}

// Domains returns which tenant or distribution, of any account, holds each
// domain, by id.
func (v View) Domains() map[string]string {
	held := make(map[string]string, len(v.sim.world.domains))
	for name, holder := range v.sim.world.domains {
		held[name] = holder.id
	}
	return held
}

// Distributions returns the distributions of all accounts, by account and in
// order of creation.
func (v View) Distributions() []DistributionState {
	return eachAccount(v, (*account).distributionStates)
}

// ConnectionGroups returns the connection groups of all accounts likewise.
func (v View) ConnectionGroups() []ConnectionGroupState {
	return eachAccount(v, (*account).groupStates)
}

func eachAccount[T any](v View, list func(*account, *Sim) []T) []T {
	var all []T
	for _, id := range slices.Sorted(maps.Keys(v.sim.world.accounts)) {
		all = append(all, list(v.sim.world.accounts[id], v.sim)...)
	}
	return all
}

// PublicRouting returns what [Sim.PublicRouting] does.
func (v View) PublicRouting() map[string]string { return v.sim.publicRouting(v.Now) }

// watch shows the world to the watcher, if there is one. It needs the lock.
func (s *Sim) watch(operation string, after bool) {
	if s.options.Watch != nil {
		s.options.Watch(View{Operation: operation, After: after, Now: s.now(), sim: s})
	}
}
