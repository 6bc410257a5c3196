package loss

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Key stands for one item in memory: an object of a fleet of 10,000 takes a few bytes.
type Key [8]byte

// Key is the item's.
func (i Item) Key() Key { return keyOf(string(i.Class), i.UID, i.Harm, fmt.Sprint(i.Generation)) }

// AnyHarm is approved where an administrator has approved elsewhere what the generation of an object asks for, whatever
// it takes away.
const AnyHarm = "any"

// In reports whether the item is one of these, or a change of an object of which any is.
func (i Item) In(keys map[Key]struct{}) bool {
	_, known := keys[i.Key()]
	if !known && i.Harm != "" {
		i.Harm = AnyHarm
		_, known = keys[i.Key()]
	}
	return known
}

// NameKey stands for an object by its name, under which it may come back.
func NameKey(class Class, namespace, name string) Key { return keyOf(string(class), namespace, name) }

func keyOf(parts ...string) Key {
	h := sha256.New()
	for _, p := range parts {
		_ = binary.Write(h, binary.BigEndian, uint32(len(p)))
		h.Write([]byte(p))
	}
	return Key(h.Sum(nil))
}

// Keys are sorted.
type Keys []Key

func keysOf(items []Item) Keys {
	var out Keys
	for _, i := range items {
		out = append(out, i.Key())
	}
	return out.sorted()
}

func (k Keys) sorted() Keys {
	slices.SortFunc(k, compareKeys)
	return slices.Compact(k)
}

func compareKeys(a, b Key) int { return bytes.Compare(a[:], b[:]) }

func (k Keys) contains(key Key) bool {
	_, found := slices.BinarySearchFunc(k, key, compareKeys)
	return found
}

func (k Keys) containsAll(other Keys) bool {
	return !slices.ContainsFunc(other, func(key Key) bool { return !k.contains(key) })
}

// MarshalJSON writes them as one string.
func (k Keys) MarshalJSON() ([]byte, error) {
	var all []byte
	for _, key := range k {
		all = append(all, key[:]...)
	}
	return json.Marshal(base64.StdEncoding.EncodeToString(all))
}

// UnmarshalJSON reads that.
func (k *Keys) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("reading keys: %w", err)
	}
	all, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(all)%len(Key{}) != 0 {
		return fmt.Errorf("reading keys: %q is not a list of keys", text)
	}
	*k = nil
	for part := range slices.Chunk(all, len(Key{})) {
		*k = append(*k, Key(part))
	}
	*k = k.sorted()
	return nil
}

// Memory is what outlives the process. It is stored before what it allows is done.
type Memory struct {
	// Cleared are the items that were allowed to continue, as long as they count or have not ended.
	Cleared []Batch `json:"cleared,omitempty"`
	// Abandoned are the deletions whose resources stay in AWS, as long as their objects have not ended.
	Abandoned []Batch `json:"abandoned,omitempty"`
	// Rescued are the names of their objects, under which they may come back.
	Rescued []Batch `json:"rescued,omitempty"`
	Holds   []Hold  `json:"holds,omitempty"`
}

// Batch are items of one class and namespace that were decided on at the same time.
type Batch struct {
	At        time.Time `json:"at"`
	Class     Class     `json:"class"`
	Namespace string    `json:"namespace,omitempty"`
	Keys      Keys      `json:"keys"`
	// Weight is how many customers that took out of service.
	Weight int `json:"weight,omitempty"`
	// Approved means that an administrator has approved them.
	Approved bool `json:"approved,omitempty"`
}

// Hold is a plan that waits for an administrator.
type Hold struct {
	Class Class `json:"class"`
	// Namespace is the one that is held. Empty: the whole cluster is.
	Namespace string    `json:"namespace,omitempty"`
	Since     time.Time `json:"since"`
	// Plan is the name of exactly these members.
	Plan string `json:"plan"`
	Keys Keys   `json:"keys"`
	// Count is how many members the plan has, Changes how many of them are changes, and Customers how many customers they take
	// out of service. Of is how many customers there were, Allowed how many of these a window may lose, and Spent how many it
	// had lost.
	Count     int `json:"count"`
	Changes   int `json:"changes,omitempty"`
	Customers int `json:"customers,omitempty"`
	Of        int `json:"of"`
	Allowed   int `json:"allowed"`
	Spent     int `json:"spent,omitempty"`
	// Former are the names that the plan had before others joined it, the oldest first.
	Former []Former `json:"former,omitempty"`
}

// Former is a name that a plan had.
type Former struct {
	Plan string `json:"plan"`
	// Later are those that joined when the name ended.
	Later Keys `json:"later"`
}

// How many former names are good, and how many members may have joined since the oldest of them. A single deletion now
// and then must not void an approval that is on its way; a plan that grows by many is another one.
const (
	mostFormer = 20
	mostLater  = 200
)

// grownBy are the former names of a plan that grows to have these members.
func (h *Hold) grownBy(keys Keys) []Former {
	if h == nil {
		return nil
	}
	later := slices.DeleteFunc(slices.Clone(keys), h.Keys.contains)
	former := append(slices.Clone(h.Former), Former{Plan: h.Plan, Later: later})
	sum := 0
	for n, f := range slices.Backward(former) {
		if sum += len(f.Later); sum > mostLater || len(former)-n > mostFormer {
			return former[n+1:]
		}
	}
	return former
}

// wasNamed reports whether any of the names is one that the plan has or had. To keep what is in AWS is good for those that
// have joined since, too: they would be few enough to be deleted without the others.
func (h Hold) wasNamed(names []string) bool {
	return slices.Contains(names, h.Plan) || slices.ContainsFunc(h.Former, func(f Former) bool { return slices.Contains(names, f.Plan) })
}

// named reports whether any of the names is one that the plan has or had while that was a member.
func (h Hold) named(member Key, names []string) bool {
	if slices.Contains(names, h.Plan) {
		return true
	}
	for _, f := range slices.Backward(h.Former) {
		if f.Later.contains(member) {
			return false
		}
		if slices.Contains(names, f.Plan) {
			return true
		}
	}
	return false
}

func (h Hold) name() string {
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\n%s\n%d\n", h.Class, h.Namespace, h.Since.UnixNano())
	for _, k := range h.Keys {
		sum.Write(k[:])
	}
	return hex.EncodeToString(sum.Sum(nil))[:12]
}

// Decided are the keys of all items that were decided on.
func (m *Memory) Decided() (cleared, abandoned map[Key]struct{}) {
	return setOf(m.Cleared), setOf(m.Abandoned)
}

// Names are the names of the objects that may come back.
func (m *Memory) Names() map[Key]struct{} { return setOf(m.Rescued) }

func setOf(list []Batch) map[Key]struct{} {
	out := map[Key]struct{}{}
	for _, b := range list {
		for _, k := range b.Keys {
			out[k] = struct{}{}
		}
	}
	return out
}

func (m *Memory) clone() Memory {
	return Memory{
		Cleared: slices.Clone(m.Cleared), Abandoned: slices.Clone(m.Abandoned), Rescued: slices.Clone(m.Rescued),
		Holds: slices.Clone(m.Holds),
	}
}

// hold is the plan that the item is a member of.
func (m *Memory) hold(k Key) *Hold {
	for i := range m.Holds {
		if m.Holds[i].Keys.contains(k) {
			return &m.Holds[i]
		}
	}
	return nil
}

func (m *Memory) holds(k Key) bool { return m.hold(k) != nil }

func (m *Memory) holdsIn(k Key, namespace string) bool {
	return slices.ContainsFunc(m.Holds, func(h Hold) bool { return h.Namespace == namespace && h.Keys.contains(k) })
}

func (m *Memory) holdOf(class Class, namespace string) *Hold {
	for i := range m.Holds {
		if m.Holds[i].Class == class && m.Holds[i].Namespace == namespace {
			return &m.Holds[i]
		}
	}
	return nil
}

// spent is how many customers were lost since then without an approval, and gone how many in all.
func (m *Memory) spent(since time.Time, class Class, namespace string) (spent, gone int) {
	for _, b := range m.Cleared {
		if b.Class != class || namespace != "" && b.Namespace != namespace || !b.At.After(since) {
			continue
		}
		gone += b.Weight
		if !b.Approved {
			spent += b.Weight
		}
	}
	return spent, gone
}

func (m *Memory) clear(now time.Time, items []Item, approved bool) {
	for _, b := range batches(now, items, Item.Key) {
		b.Approved = approved
		m.Cleared = append(m.Cleared, b)
	}
}

// WithApproved is the memory with items that an administrator has approved elsewhere, and whether that is new.
func (m *Memory) WithApproved(now time.Time, items []Item) (Memory, bool) {
	cleared, _ := m.Decided()
	items = slices.DeleteFunc(slices.Clone(items), func(i Item) bool { _, known := cleared[i.Key()]; return known })
	next := m.clone()
	next.clear(now, items, true)
	return next, len(items) > 0
}

func (m *Memory) abandon(now time.Time, items []Item) {
	m.Abandoned = append(m.Abandoned, batches(now, items, Item.Key)...)
	m.Rescued = append(m.Rescued, batches(now, items, func(i Item) Key { return NameKey(i.Class, i.Namespace, i.Name) })...)
}

func batches(now time.Time, items []Item, key func(Item) Key) []Batch {
	type scope struct {
		class     Class
		namespace string
	}
	var out []Batch
	at := map[scope]int{}
	for _, i := range items {
		s := scope{i.Class, i.Namespace}
		n, had := at[s]
		if !had {
			n = len(out)
			at[s], out = n, append(out, Batch{At: now, Class: s.class, Namespace: s.namespace})
		}
		out[n].Keys, out[n].Weight = append(out[n].Keys, key(i)), out[n].Weight+i.Weight
	}
	for n := range out {
		out[n].Keys = out[n].Keys.sorted()
	}
	return out
}

// forget drops items that have ended and no longer count. It is stored with the next change.
func (m *Memory) forget(now time.Time, window time.Duration, waiting []Item) {
	open := map[Key]struct{}{}
	for _, i := range waiting {
		open[i.Key()] = struct{}{}
		if i.Harm != "" {
			i.Harm = AnyHarm
			open[i.Key()] = struct{}{}
		}
	}
	ended := func(age time.Duration) func(Batch) bool {
		return func(b Batch) bool {
			return now.Sub(b.At) > age && !slices.ContainsFunc(b.Keys, func(k Key) bool { _, waits := open[k]; return waits })
		}
	}
	m.Cleared = slices.DeleteFunc(m.Cleared, ended(window))
	m.Abandoned = slices.DeleteFunc(m.Abandoned, ended(window))
	m.Rescued = slices.DeleteFunc(m.Rescued, func(b Batch) bool { return now.Sub(b.At) > RescueAge })
}
