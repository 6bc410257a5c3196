package dns

import (
	"cmp"
	"encoding/json"
	"slices"
	"unicode/utf8"
)

// Replaced are the record sets of one name that ours have replaced, as one text: entries and standings can be
// compared, as records can. It is empty for none.
type Replaced string

// How much of what is replaced a ledger has room for: the values and characters of one set, and the characters of all.
const (
	maxReplacedValues     = 20
	maxReplacedCharacters = 1024
	MaxReplaced           = 64 << 10
)

// replacedSet is a set without the name, which is that of the entry.
type replacedSet struct {
	Type   string
	TTL    int64    `json:",omitempty"`
	Values []string `json:",omitempty"`
	Exact  []string `json:",omitempty"`
	Alias  string   `json:",omitempty"`
}

// Replacing returns what is kept of sets of one name. None of them is Routed: such a set is never replaced.
func Replacing(sets []RecordSet) Replaced {
	if len(sets) == 0 {
		return ""
	}
	kept := make([]replacedSet, 0, len(sets))
	for _, s := range sets {
		kept = append(kept, replacedSet{Type: s.Type, TTL: s.TTL, Values: s.Values, Exact: s.Exact, Alias: s.Alias})
	}
	slices.SortFunc(kept, func(a, b replacedSet) int { return cmp.Compare(a.Type, b.Type) })
	text, err := json.Marshal(kept)
	if err != nil {
		return "" // strings and numbers can always be rendered
	}
	return Replaced(text)
}

// Sets returns the sets, at the name that they belong to.
func (r Replaced) Sets(name string) (sets []RecordSet) {
	if r == "" {
		return nil
	}
	var kept []replacedSet
	if json.Unmarshal([]byte(r), &kept) != nil {
		return nil
	}
	for _, k := range kept {
		sets = append(sets, RecordSet{Key: Key{Name: name, Type: k.Type}, TTL: k.TTL, Values: k.Values, Exact: k.Exact, Alias: k.Alias})
	}
	return sets
}

// WithoutCloudFront forgets the sets that lead to CloudFront. Once a tenant has the domain nothing else in CloudFront
// has it, and a name that leads there without anything that has it can be claimed by others.
func (r Replaced) WithoutCloudFront(name string) Replaced {
	return Replacing(slices.DeleteFunc(r.Sets(name), RecordSet.leadsToCloudFront))
}

func (s RecordSet) leadsToCloudFront() bool {
	return s.Alias != "" || slices.ContainsFunc(s.Values, func(v string) bool { return isEndpoint(Lower(v)) })
}

// endsAtCloudFront reports whether the set leads to CloudFront and nowhere else.
func (s RecordSet) endsAtCloudFront() bool {
	if s.Alias != "" {
		return isEndpoint(Lower(s.Alias))
	}
	return s.Type == CNAME && len(s.Values) == 1 && isEndpoint(Lower(s.Values[0]))
}

// fits reports whether a ledger can keep the set, with what it keeps of other names. Status has text only, not any bytes.
func (s RecordSet) fits(elsewhere int) bool {
	odd := func(v string) bool { return !utf8.ValidString(v) }
	return !slices.ContainsFunc(slices.Concat(s.Values, s.Exact), odd) && len(s.Values) <= maxReplacedValues && s.characters() <= maxReplacedCharacters && elsewhere+s.characters() <= MaxReplaced
}

func (s RecordSet) characters() (n int) {
	for _, v := range slices.Concat(s.Values, s.Exact) {
		n += len(v)
	}
	return n + len(s.Alias)
}

// Plausible reports whether a record of ours can have replaced the set. Anything else in a ledger comes from someone else,
// and must not be published because the ledger names it.
func (s RecordSet) Plausible(ours Record) bool {
	return s.fits(0) && (s.Alias == "" || isEndpoint(s.Alias)) && (s.Type == ours.Type || s.Type == CNAME || s.Type == A || s.Type == AAAA)
}

// equals reports whether two sets are the same, to the letter.
func (s RecordSet) equals(o RecordSet) bool {
	return s.Key == o.Key && s.TTL == o.TTL && s.Alias == o.Alias && s.Routed == o.Routed &&
		slices.Equal(s.Values, o.Values) && slices.Equal(s.Exact, o.Exact)
}

// remembered are the sets that the claim's records of a name have replaced, or are about to.
func (c *Claim) remembered(name string) (sets []RecordSet) {
	for _, e := range c.Ledger {
		if e.Name == name {
			sets = append(sets, e.Replaced.Sets(name)...)
		}
	}
	return sets
}

// rememberedElsewhere is how many characters the ledger keeps of other names.
func (c *Claim) rememberedElsewhere(name string) (n int) {
	for _, e := range c.Ledger {
		if e.Name != name {
			n += len(e.Replaced)
		}
	}
	return n
}

// remember stores with the entries of each name what they have replaced or will replace. Of several entries of a name
// the first one that stays has it, because it has to outlive a CNAME that becomes an alias. The ledger is sorted.
func remember(next, before []Entry, view View, policy Policy) {
	memory := map[place][]RecordSet{}
	for _, e := range before {
		at := e.place()
		memory[at] = append(memory[at], e.Replaced.Sets(e.Name)...)
	}
	for len(next) > 0 {
		at, n := next[0].place(), 1
		for n < len(next) && at == next[n].place() {
			n++
		}
		keep(next[:n], memory[at], view, policy)
		next = next[n:]
	}
}

// keep stores with the entries of one name what they have replaced or will replace.
func keep(entries []Entry, memory []RecordSet, view View, policy Policy) {
	keeper := max(0, slices.IndexFunc(entries, func(e Entry) bool { return e.State != Retracting }))
	// A set that equals one of ours is ours.
	memory = slices.DeleteFunc(refreshed(entries, memory, view, policy), func(m RecordSet) bool {
		return slices.ContainsFunc(entries, func(e Entry) bool { return m.Is(e.Record) })
	})
	for i := range entries {
		entries[i].Replaced = ""
	}
	entries[keeper].Replaced = Replacing(memory)
}

// refreshed returns what the entries of a name have replaced, or will: until ours are there, the owner of the records that
// are about to be replaced may change or delete them.
func refreshed(entries []Entry, memory []RecordSet, view View, policy Policy) []RecordSet {
	intended := func(e Entry) bool { return e.State == Intended }
	if !slices.ContainsFunc(entries, intended) ||
		slices.ContainsFunc(entries, func(e Entry) bool { return intended(e) && !view.Of(e.Record).Missing }) {
		return memory
	}
	var found []RecordSet
	for _, e := range entries {
		if intended(e) && policy.takes(e.Name) {
			for _, s := range view.Of(e.Record).Replaces.Sets(e.Name) {
				if !slices.ContainsFunc(found, s.equals) {
					found = append(found, s)
				}
			}
		}
	}
	for _, m := range memory {
		if stays(m, entries, view) && !slices.ContainsFunc(found, func(s RecordSet) bool { return s.Clashes(m.Key) }) {
			found = append(found, m)
		}
	}
	return found
}

// stays reports whether a set that the zone does not show may have been replaced: where the name has, or had, a record of
// ours, or one was begun to be created, and where none is about to replace it.
func stays(m RecordSet, entries []Entry, view View) bool {
	intended := false
	for _, e := range entries {
		if s := view.Of(e.Record); e.State == Published || !s.Missing || s.Begun {
			return true
		}
		intended = intended || e.State == Intended && e.Key().Clashes(m.Key)
	}
	return !intended
}

// mayReplace reports whether an intended record may replace the sets. The stored ledger has to name exactly those:
// otherwise sets would be lost that could not be restored, and sets would be restored that others have removed.
func (p Place) mayReplace(c *Claim, e Entry, replaced []RecordSet, gone map[Key]RecordSet) bool {
	memory := c.remembered(p.Name)
	for _, s := range replaced {
		if !s.leadsToCloudFront() && !slices.ContainsFunc(memory, s.equals) {
			return false
		}
	}
	begun := slices.ContainsFunc(c.Ledger, func(e Entry) bool { return p.begun[e.Record] })
	return begun || p.held(c) || !slices.ContainsFunc(memory, func(m RecordSet) bool {
		_, going := gone[m.Key]
		return m.Clashes(e.Key()) && !going && !slices.ContainsFunc(replaced, m.equals)
	})
}

// held reports whether the name has, or had, a record of the claim.
func (p Place) held(c *Claim) bool {
	return slices.ContainsFunc(c.Ledger, func(e Entry) bool {
		return e.Name == p.Name && (e.State == Published || p.has(e.Record))
	})
}

// returning are the sets that are put back where the last of the claim's own are deleted: those that ours have replaced
// and that have room afterwards. One of ours that is not there may have left before, and what it replaced belongs to the
// name. This is also done if another object wants the place: it finds what was there before, and has to be allowed to
// replace it, too.
func (p Place) returning(c *Claim, gone map[Key]RecordSet) (back []RecordSet) {
	if slices.ContainsFunc(c.Ledger, func(e Entry) bool { return e.Name == p.Name && e.State != Retracting }) {
		return nil
	}
	for _, m := range c.remembered(p.Name) {
		if p.hasRoom(m.Key, gone) {
			back = append(back, m)
		}
	}
	return back
}

// owes reports whether sets are gone because a record of the claim that has to leave has lost them their place, and is not
// there itself. Once others lead the name elsewhere, it is theirs.
func (p Place) owes(c *Claim, r Record) bool {
	memory := c.remembered(p.Name)
	others := func(s RecordSet) bool { return s.leads() && !slices.ContainsFunc(memory, s.equals) }
	gone := func(m RecordSet) bool { return (m.Clashes(r.Key()) || !c.enters(m.Key)) && p.hasRoom(m.Key, nil) }
	return p.begun[r] && !p.held(c) && !slices.ContainsFunc(p.Sets, others) && slices.ContainsFunc(memory, gone)
}

// hasRoom reports whether there is room for a set at the key once those sets are gone.
func (p Place) hasRoom(k Key, gone map[Key]RecordSet) bool {
	return !slices.ContainsFunc(p.Sets, func(s RecordSet) bool {
		_, going := gone[s.Key]
		return p.clashes(s.Key, k) && !going
	})
}

// enters reports whether the ledger of a claim has a record that clashes with the key.
func (c *Claim) enters(k Key) bool {
	return slices.ContainsFunc(c.Ledger, func(e Entry) bool { return e.Key().Clashes(k) })
}
