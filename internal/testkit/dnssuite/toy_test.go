package dnssuite

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
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

// flaw is something that an adapter does wrong.
type flaw string

const (
	deletesAnything    flaw = "deletes a set without comparing it"
	deletesOtherTTL    flaw = "compares the values of what it deletes, and not the TTL"
	createsOver        flaw = "creates a set over the one that is there"
	createsBeside      flaw = "creates a CNAME next to other sets"
	losesLastPage      flaw = "leaves out the last page of a listing"
	repeatsAtPageEnd   flaw = "lists the set at the end of a page again"
	countsPages        flaw = "numbers the sets of a listing, so that a deletion hides one"
	cutsSets           flaw = "cuts sets at the end of a page"
	emptyWhenThrottled flaw = "shows an empty zone when it is throttled"
	emptyWhenGone      flaw = "shows an empty zone where there is none"
	invalidWhenGone    flaw = "says of a zone that is gone that the change is invalid"
	sureWhenLost       flaw = "says that a change is invalid when its answer is lost"
	retriesWhenLost    flaw = "sends a change again when its answer is lost"
	forgetsWhenLost    flaw = "takes a lost answer for success"
	partsAsNone        flaw = "carries out a part of the changes and says that it is none"
	syncAtOnce         flaw = "says that servers have what they don't have yet"
	neverInSync        flaw = "never says that servers have a change"
	readsNeighbours    flaw = "reads all names that end with one"
	readsServers       flaw = "reads a name as servers answer it"
	hidesSOA           flaw = "leaves out the SOA"
	hidesNS            flaw = "leaves out NS sets"
	hidesOthers        flaw = "lists only sets that it has created"
	escapesStars       flaw = "shows a wildcard as the API spells it"
	keepsQuotes        flaw = "shows texts with quotes"
	keepsDots          flaw = "shows targets with a dot at the end"
	roundsTTL          flaw = "shows another TTL than it has stored"
	deniedAsTransient  flaw = "takes a missing permission for a lost answer"
	existsAsInvalid    flaw = "says that a set that is there is invalid"
	existsAsDone       flaw = "takes a set that is there for its own"
	movingTexts        flaw = "has the id of the request in the text of a failure"
	endlessTexts       flaw = "shows the whole answer in the text of a failure"
	wrongZone          flaw = "changes the zone that it lists first"
	dropsInBatches     flaw = "leaves out a change of a batch"
	oneByOne           flaw = "sends each change of a batch in a call of its own"
	noOwner            flaw = "does not note the owner"
	nameOnly           flaw = "notes the name of the object without its namespace"
	writesWhileListing flaw = "writes what is there again when it lists"
	dotsInZones        flaw = "lists zones with a dot at the end"
	hidesTwin          flaw = "shows one of two zones of one name"
	throttlesAfter     flaw = "carries out what it says is throttled"
)

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
		same := some && (there.TTL == s.TTL || p.has(deletesOtherTTL)) && there.Alias == s.Alias && !there.Routed &&
			slices.Equal(slices.Sorted(slices.Values(there.Values)), slices.Sorted(slices.Values(s.Values)))
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
