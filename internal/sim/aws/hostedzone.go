package aws

import (
	"slices"
	"strings"
	"time"
)

// hostedZone is a zone of Route 53 with its records.
type hostedZone struct {
	id        string // without /hostedzone/
	account   string
	name      string
	private   bool
	comment   string
	callerRef string
	servers   []string
	busyUntil time.Time // the last change is being processed until then
	changes   int       // how many there were

	names map[string]*zoneName
	order []*zoneName // by sort key
	sets  int         // record sets that exist
}

// zoneName is what a zone has, or had a moment ago, at one name.
type zoneName struct {
	name, key string
	sets      map[setKey]*setHistory
}

// setKey tells the record sets of a name apart.
type setKey struct {
	kind, identifier string
}

// recordSet is a resource record set. It is never changed once it is stored.
type recordSet struct {
	name       string
	kind       string // A, CNAME, TXT, ...
	identifier string
	ttl        int
	values     []string
	alias      *aliasTarget
	policy     []*node // how one of several sets with identifiers is chosen, as it was sent
}

func (set *recordSet) key() setKey { return setKey{set.kind, set.identifier} }

// aliasTarget is what an alias record leads to.
type aliasTarget struct {
	zoneID, name string
	evaluate     bool
}

// change is one accepted batch on its way to the name servers and from there
// to the resolvers.
type change struct {
	id        string
	comment   string
	submitted time.Time
	synced    time.Time // INSYNC from then on
	public    time.Time // and visible to resolvers
	stuck     bool      // made while nothing became INSYNC
}

// moment is a point in time with the switch that delays changes.
type moment struct {
	now   time.Time
	stuck bool
}

func (s *Sim) moment(now time.Time) moment {
	return moment{now: now, stuck: s.switches.Route53NeverInSync}
}

func (ch *change) isSynced(m moment) bool {
	return ch == nil || !ch.waits(m) && !m.now.Before(ch.synced)
}

func (ch *change) isPublic(m moment) bool {
	return ch == nil || !ch.waits(m) && !m.now.Before(ch.public)
}

func (ch *change) waits(m moment) bool { return ch.stuck && m.stuck }

// setHistory is a record set as it was made, changed and removed.
type setHistory struct {
	versions []setVersion
}

// setVersion is a record set from a change on; nil when the change removed it.
// Without a change it was always there.
type setVersion struct {
	change *change
	set    *recordSet
}

// current is the set as the API shows it.
func (h *setHistory) current() *recordSet {
	return h.versions[len(h.versions)-1].set
}

// public is the set as resolvers see it.
func (h *setHistory) public(m moment) *recordSet {
	for _, v := range slices.Backward(h.versions) {
		if v.change.isPublic(m) {
			return v.set
		}
	}
	return nil
}

// put stores a version and forgets those that can't be seen any more.
func (h *setHistory) put(v setVersion, m moment) {
	h.versions = append(h.versions, v)
	for i := len(h.versions) - 1; i > 0; i-- {
		if h.versions[i].change.isPublic(m) {
			h.versions = slices.Clone(h.versions[i:])
			return
		}
	}
}

// gone tells whether nothing is left of the set, for any reader.
func (h *setHistory) gone(m moment) bool {
	return h.current() == nil && h.versions[len(h.versions)-1].change.isPublic(m)
}

func newZone(id, account, name string) *hostedZone {
	return &hostedZone{id: id, account: account, name: name, names: map[string]*zoneName{}}
}

// at returns a record set that exists, nil if it doesn't.
func (z *hostedZone) at(name string, key setKey) *recordSet {
	if n := z.names[name]; n != nil && n.sets[key] != nil {
		return n.sets[key].current()
	}
	return nil
}

// put stores a record set, or with nil as the set its removal.
func (z *hostedZone) put(name string, key setKey, v setVersion, m moment) {
	n := z.names[name]
	if n == nil {
		n = &zoneName{name: name, key: sortKey(name), sets: map[setKey]*setHistory{}}
		z.names[name] = n
		z.order = slices.Insert(z.order, z.position(n.key), n)
	}
	h := n.sets[key]
	if h == nil {
		h = &setHistory{}
		n.sets[key] = h
	} else if h.current() != nil {
		z.sets--
	}
	if v.set != nil {
		z.sets++
	}
	h.put(v, m)
	if len(z.order) > 2*z.sets+64 {
		z.compact(m)
	}
}

// compact keeps a walk over the names proportional to what exists.
func (z *hostedZone) compact(m moment) {
	z.order = slices.DeleteFunc(z.order, func(n *zoneName) bool {
		for key, h := range n.sets {
			if h.gone(m) {
				delete(n.sets, key)
			}
		}
		if len(n.sets) == 0 {
			delete(z.names, n.name)
		}
		return len(n.sets) == 0
	})
}

// position is the index of the first name whose key is not before a key.
func (z *hostedZone) position(key string) int {
	i, _ := slices.BinarySearchFunc(z.order, key, func(n *zoneName, key string) int { return strings.Compare(n.key, key) })
	return i
}

// current lists the record sets of a name that exist, by type and identifier.
func (n *zoneName) current() []*recordSet {
	return n.list((*setHistory).current)
}

// public lists the record sets of a name that resolvers see.
func (n *zoneName) public(m moment) []*recordSet {
	return n.list(func(h *setHistory) *recordSet { return h.public(m) })
}

func (n *zoneName) list(pick func(*setHistory) *recordSet) []*recordSet {
	var found []*recordSet
	for _, h := range n.sets {
		if set := pick(h); set != nil {
			found = append(found, set)
		}
	}
	slices.SortFunc(found, compareSets)
	return found
}

// compareSets orders the sets of one name.
func compareSets(a, b *recordSet) int {
	if by := strings.Compare(a.kind, b.kind); by != 0 {
		return by
	}
	return strings.Compare(a.identifier, b.identifier)
}

// addZone puts a zone into the world.
func (w *world) addZone(a *account, z *hostedZone) {
	a.zones = append(a.zones, z)
	w.zones[z.id] = z
	w.zoneIDs[z.id] = struct{}{}
	w.zonesNamed[z.name] = append(w.zonesNamed[z.name], z)
}

// dropZone takes it out again.
func (w *world) dropZone(a *account, z *hostedZone) {
	same := func(other *hostedZone) bool { return other == z }
	a.zones = slices.DeleteFunc(a.zones, same)
	delete(w.zones, z.id)
	if w.zonesNamed[z.name] = slices.DeleteFunc(w.zonesNamed[z.name], same); len(w.zonesNamed[z.name]) == 0 {
		delete(w.zonesNamed, z.name)
	}
}
