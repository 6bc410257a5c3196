package tenantsource

import (
	"hash/maphash"
	"math"
	"slices"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

// LargeTable is from how many rows on those that the database names are read without the others. Fewer are read as fast as
// one.
const LargeTable = 500

const (
	// pollAfterNamed is how long after such a read the next poll is due: only a poll tells its result in status.
	pollAfterNamed = 5 * time.Minute
	// No single rows are read for some time after that has failed: longer where the database can't do it, or does not
	// allow it.
	namedRetry, namedRefused = time.Minute, time.Hour
)

// Others is what a complete read leaves behind for reads of single rows: what they have to know of all other rows.
type Others struct {
	// generation is that of the spec.
	generation int64
	// known are hashes of domains and names: there may be a hundred thousand.
	known map[uint64]struct{}
}

// fact is a kind of what is known of the other rows.
type fact byte

const (
	hasDomain fact = 'd'
	hasName   fact = 'n'
	// notUsed is the name of a row that the last poll has rejected.
	notUsed fact = 'r'
)

// seed makes the hashes. Two facts of one hash cost a poll.
var seed = maphash.MakeSeed()

func (o *Others) add(f fact, text string) { o.known[hashOf(f, text)] = struct{}{} }

func (o *Others) includes(f fact, text string) bool {
	_, has := o.known[hashOf(f, text)]
	return has
}

func hashOf(f fact, text string) uint64 { return maphash.String(seed, string(rune(f))+text) }

// OtherRows are the rows of a poll that is over.
func (p *Poll) OtherRows(generation int64, h *Harvest) *Others {
	o := &Others{generation: generation, known: make(map[uint64]struct{}, len(p.domains)+len(p.names))}
	for domain := range p.domains {
		o.add(hasDomain, domain)
	}
	for name := range p.names {
		o.add(hasName, name)
	}
	for _, r := range h.Rejected {
		o.add(notUsed, r.Name)
	}
	return o
}

// Learn takes an object that was written since.
func (o *Others) Learn(written mapping.Object) {
	o.add(hasName, written.Name)
	for _, domain := range written.Domains() {
		o.add(hasDomain, domain)
	}
}

// Concern reports whether other rows have a say in what a row makes of its object: one of them may have its name, or one of
// its domains.
func (o *Others) Concern(f Fleet, want mapping.Object) bool {
	switch t := f.lookUp(want.Name); {
	case want.Key == "", o.includes(notUsed, want.Name), t.Relation == Earlier:
		return true
	case t.Relation == Absent && o.includes(hasName, want.Name), t.Relation != Absent && t.Key != want.Key:
		return true
	}
	return slices.ContainsFunc(want.Domains(), func(domain string) bool {
		return o.includes(hasDomain, domain) && !f.serves(want.Name, domain)
	})
}

// NamedBegan says that a read of named rows begins.
type NamedBegan struct{}

func (NamedBegan) happen(v View, s *State, _ *Effects) {
	s.LastNamed = v.Now
	if s.NamedSince.IsZero() {
		s.NamedSince = v.Now
	}
}

// NamedFailed says that a read of named rows has failed.
type NamedFailed struct{ Reason chain.Reason }

func (e NamedFailed) happen(v View, s *State, _ *Effects) {
	retry := namedRetry
	if e.Reason != PollFailed {
		retry = namedRefused
	}
	s.NoNamedUntil, s.NoNamedFor = v.Now.Add(retry), v.Generation
}

// Named is what a read of named rows came to: the changes that may be made at once. Changes that take something away,
// give something back, or have to be reported, are left to a poll. poll says that there is such a thing.
func (s State) Named(v View, h *Harvest) (changes []Change, poll bool) {
	// How many rows have a value in a column can't be told from some of them.
	if len(Upset(v.Memory.Columns, math.MaxInt, h)) > 0 {
		return nil, true
	}
	lost := func(name string) bool { _, is := s.Losses[name]; return is }
	changes = slices.DeleteFunc(slices.Clone(h.Changes), func(c Change) bool {
		return lost(c.Name) || c.Harm != "" || c.Action != Create && c.Action != Update
	})
	poll = len(changes) < len(h.Changes) || len(h.Rejected) > 0
	for name := range h.present {
		poll = poll || lost(name)
	}
	return changes, poll
}
