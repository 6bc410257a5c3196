package dnssuite

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// toy is a provider in memory, and its own adapter. Its flaws are what adapters get wrong.
type toy struct {
	clock  *clocktesting.FakeClock
	traits dns.Traits
	// one says that it changes one set at a time, and may stop in between.
	one   bool
	page  int
	flaws map[flaw]bool

	zones   map[string]*toyZone
	owners  map[dns.Key]dns.Owner
	changes map[string]time.Time

	lose                string
	throttle            int
	denied, stalled     bool
	mutating, all, tick int
}

// toyZone is a zone as it is stored, and as servers answer.
type toyZone struct {
	dns.Zone
	sets map[dns.Key]dns.RecordSet
	// shown is what servers have, and late what they will have.
	shown map[dns.Key]dns.RecordSet
	late  []toyLate
}

type toyLate struct {
	at   time.Time
	sets map[dns.Key]dns.RecordSet
}

func (p *toy) has(f flaw) bool { return p.flaws[f] }

func newToy(traits dns.Traits, one bool, flaws ...flaw) *toy {
	p := &toy{
		clock: clocktesting.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)), traits: traits, one: one, page: 5,
		flaws: map[flaw]bool{}, zones: map[string]*toyZone{}, owners: map[dns.Key]dns.Owner{}, changes: map[string]time.Time{},
	}
	for _, f := range flaws {
		p.flaws[f] = true
	}
	p.addZone("zone-1", "toy.example")
	p.addZone("zone-2", "other.example")
	p.addZone("zone-3", "toy.example")
	return p
}

func (p *toy) addZone(id, name string) {
	z := &toyZone{Zone: dns.Zone{ID: id, Name: name}, sets: map[dns.Key]dns.RecordSet{}, shown: map[dns.Key]dns.RecordSet{}}
	for _, s := range []dns.RecordSet{
		{Key: dns.Key{Name: name, Type: "SOA"}, TTL: 900, Values: []string{"ns.example.net. root.example.net. 1 7200 900 1209600 300"}, Routed: true},
		{Key: dns.Key{Name: name, Type: "NS"}, TTL: 900, Values: []string{"ns.example.net."}},
	} {
		z.sets[s.Key] = s
	}
	p.zones[id] = z
}

func (p *toy) fail(kind fault.Kind, format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	if p.has(movingTexts) {
		text += fmt.Sprintf(" (request %d)", p.all)
	}
	if p.has(endlessTexts) {
		text += strings.Repeat(" and so on", 200)
	}
	return &fault.Error{Kind: kind, Operation: "toy", Code: kind.String(), Message: text}
}

// enter is what all calls have in common.
func (p *toy) enter(mutating bool) error {
	p.all++
	if mutating {
		p.mutating++
	}
	if p.throttle > 0 {
		p.throttle--
		return p.fail(fault.Throttled, "slow down")
	}
	if mutating && p.denied {
		if p.has(deniedAsTransient) {
			return p.fail(fault.Transient, "no permission")
		}
		return p.fail(fault.Denied, "no permission to change records")
	}
	return nil
}

func (p *toy) find(id string) (*toyZone, error) {
	if z := p.zones[id]; z != nil {
		return z, nil
	}
	return nil, p.fail(fault.NotFound, "there is no zone %s", id)
}

func (p *toy) As(dns.Access) port.Zones { return p }

func (p *toy) Traits() dns.Traits { return p.traits }

func (p *toy) GetZone(_ context.Context, id string) (dns.Zone, error) {
	if err := p.enter(false); err != nil {
		return dns.Zone{}, err
	}
	z, err := p.find(id)
	if err != nil {
		return dns.Zone{}, err
	}
	return z.Zone, nil
}

func (p *toy) ListZones(_ context.Context, marker string) ([]dns.Zone, string, error) {
	if err := p.enter(false); err != nil {
		return nil, "", err
	}
	ids := slices.Sorted(maps.Keys(p.zones))
	if p.has(hidesTwin) {
		ids = slices.DeleteFunc(ids, func(id string) bool { return id == "zone-3" })
	}
	at := slices.IndexFunc(ids, func(id string) bool { return id >= marker })
	z := p.zones[ids[at]].Zone
	if p.has(dotsInZones) {
		z.Name += "."
	}
	next := ""
	if at+1 < len(ids) {
		next = ids[at+1]
	}
	return []dns.Zone{z}, next, nil
}

// listed are the sets of a zone in the order of a listing.
func (p *toy) listed(z *toyZone) (sets []dns.RecordSet) {
	for _, s := range z.sets {
		_, ours := p.owners[s.Key]
		if p.has(hidesSOA) && s.Type == "SOA" || p.has(hidesNS) && s.Type == "NS" || p.has(hidesOthers) && !ours && s.Type != "SOA" {
			continue
		}
		sets = append(sets, p.shape(s))
	}
	slices.SortFunc(sets, func(a, b dns.RecordSet) int { return strings.Compare(a.Name+" "+a.Type, b.Name+" "+b.Type) })
	return sets
}

// shape is how the adapter shows a set.
func (p *toy) shape(s dns.RecordSet) dns.RecordSet {
	s.Values = slices.Sorted(slices.Values(s.Values))
	for i, v := range s.Values {
		if lower := strings.ToLower(v); s.Type == dns.CNAME && lower != v {
			s.Values, s.Exact = []string{lower}, []string{v}
			if p.has(losesSpelling) {
				s.Exact = nil
			}
		}
		if p.has(keepsQuotes) && s.Type == dns.TXT {
			s.Values[i] = `"` + v + `"`
		}
		if p.has(keepsDots) && s.Type == dns.CNAME {
			s.Values[i] = v + "."
		}
	}
	if p.has(escapesStars) {
		s.Name = strings.ReplaceAll(s.Name, "*", `\052`)
	}
	if p.has(roundsTTL) && s.Type == dns.CNAME {
		s.TTL += s.TTL % 7
	}
	return s
}

func (p *toy) ListRecords(_ context.Context, zoneID, marker string) ([]dns.RecordSet, string, error) {
	if err := p.enter(false); err != nil {
		if p.has(emptyWhenThrottled) && fault.Is(err, fault.Throttled) {
			return nil, "", nil
		}
		return nil, "", err
	}
	z, err := p.find(zoneID)
	if err != nil {
		if p.has(emptyWhenGone) {
			return nil, "", nil
		}
		return nil, "", err
	}
	if p.has(writesWhileListing) {
		p.mutating++
	}
	sets := p.listed(z)
	if p.has(countsPages) {
		at := 0
		_, _ = fmt.Sscan(marker, &at)
		at = min(at, len(sets))
		end := min(at+p.page, len(sets))
		if end == len(sets) {
			return sets[at:], "", nil
		}
		return sets[at:end], fmt.Sprint(end), nil
	}
	at := slices.IndexFunc(sets, func(s dns.RecordSet) bool { return s.Name+" "+s.Type >= marker })
	if at < 0 {
		return nil, "", nil
	}
	sets = sets[at:]
	if len(sets) <= p.page {
		return sets, "", nil
	}
	page, next := slices.Clone(sets[:p.page]), sets[p.page].Name+" "+sets[p.page].Type
	switch {
	case p.has(losesLastPage) && len(sets) <= 2*p.page:
		next = ""
	case p.has(repeatsAtPageEnd):
		page = append(page, sets[p.page])
	case p.has(cutsSets):
		last := &page[len(page)-1]
		last.Values = last.Values[:1]
	}
	return page, next, nil
}

func (p *toy) ReadName(_ context.Context, zoneID, name string) ([]dns.RecordSet, error) {
	if err := p.enter(false); err != nil {
		return nil, err
	}
	z, err := p.find(zoneID)
	if err != nil {
		return nil, err
	}
	from := z.sets
	if p.has(readsServers) {
		p.serve(z)
		from = z.shown
	}
	var found []dns.RecordSet
	for _, s := range p.listed(&toyZone{sets: from}) {
		if s.Name == name || p.has(readsNeighbours) && strings.HasSuffix(s.Name, "."+name) {
			found = append(found, s)
		}
	}
	return found, nil
}

func (p *toy) Change(_ context.Context, zoneID string, changes []dns.Change) (string, error) {
	if err := p.enter(true); err != nil {
		if p.has(throttlesAfter) && fault.Is(err, fault.Throttled) {
			_ = p.apply(zoneID, changes)
		}
		return "", err
	}
	lose := p.lose
	p.lose = ""
	if lose == "before" {
		return p.lost()
	}
	err := p.apply(zoneID, changes)
	if err == nil && lose == "after" {
		if p.has(retriesWhenLost) {
			return "change", p.apply(zoneID, changes)
		}
		return p.lost()
	}
	if err != nil {
		return "", err
	}
	p.tick++
	id := fmt.Sprintf("change-%d", p.tick)
	p.changes[id] = p.clock.Now()
	return id, nil
}

func (p *toy) lost() (string, error) {
	switch {
	case p.has(sureWhenLost):
		return "", p.fail(fault.Invalid, "the connection broke")
	case p.has(forgetsWhenLost):
		p.changes["lost"] = p.clock.Now()
		return "lost", nil
	}
	return "", p.fail(fault.Transient, "the connection broke")
}

func (p *toy) InSync(_ context.Context, zoneID string, sent dns.Sent) (bool, error) {
	if err := p.enter(false); err != nil {
		return false, err
	}
	z, err := p.find(zoneID)
	if err != nil {
		return false, err
	}
	p.serve(z)
	at, known := p.changes[sent.ID]
	if !known {
		return false, p.fail(fault.NotFound, "there is no change %s", sent.ID)
	}
	if p.has(neverInSync) {
		return false, nil
	}
	return p.has(syncAtOnce) || !slices.ContainsFunc(z.late, func(l toyLate) bool { return !l.at.After(at.Add(10 * time.Second)) }), nil
}

// serve hands to the servers what they have by now.
func (p *toy) serve(z *toyZone) {
	for len(z.late) > 0 && !p.stalled && !p.clock.Now().Before(z.late[0].at) {
		z.shown, z.late = z.late[0].sets, z.late[1:]
	}
}
