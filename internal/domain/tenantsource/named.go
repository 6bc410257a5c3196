package tenantsource

import (
	"hash/maphash"
	"slices"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

const (
	// aloneFrom is from how many rows on those that hints name are read without the others. Fewer are read as fast as one.
	aloneFrom = 500
	// togetherFor is how long they are not read alone after the database could not do it.
	togetherFor = time.Hour
	// wholeAfter is how long after such a read the whole table is read: only that is a poll, and tells its result in status.
	wholeAfter = 5 * time.Minute
)

// Others is what a complete read leaves behind for reads of single rows: what they have to know of all other rows.
type Others struct {
	// generation is that of the spec.
	generation int64
	// refused are the names of rows that are not used.
	refused map[string]bool
	// domains are those of all rows, as hashes: there may be a hundred thousand.
	domains map[uint64]struct{}
}

// seed makes the hashes of domains. Two domains of one hash cost a read of the whole table.
var seed = maphash.MakeSeed()

// Others are the rows of a poll that is over.
func (p *Poll) Others(generation int64, h *Harvest) *Others {
	o := &Others{generation: generation, refused: map[string]bool{}, domains: make(map[uint64]struct{}, len(p.domains))}
	for domain := range p.domains {
		o.domains[maphash.String(seed, domain)] = struct{}{}
	}
	for _, r := range h.Rejected {
		if r.Name != "" {
			o.refused[r.Name] = true
		}
	}
	return o
}

// Add takes the domains of an object that was written since.
func (o *Others) Add(domains []string) {
	for _, domain := range domains {
		o.domains[maphash.String(seed, domain)] = struct{}{}
	}
}

// Concern reports whether other rows have a say in what a row makes of its object: one of them may have its name, or one of its
// domains.
func (o *Others) Concern(f Fleet, want mapping.Object) bool {
	s := f.Standing(want)
	if o.refused[want.Name] || want.Key == "" || s.Relation == Earlier || s.Relation != Absent && s.Key != want.Key {
		return true
	}
	return slices.ContainsFunc(want.Domains(), func(domain string) bool {
		_, known := o.domains[maphash.String(seed, domain)]
		return known && !f.Serves(want.Name, domain)
	})
}

// alone reports whether the rows that hints name are read without the others. A process that has not read the whole
// table yet knows nothing of these.
func (in Input) alone() bool {
	s, w := in.Session, in.Watch
	return w != nil && len(w.Keys) > 0 && in.RowKey && !in.DryRun && in.Memory.Rows >= aloneFrom && s.Failures == 0 && !s.Rolls() && !in.Now.Before(s.Together) &&
		s.Others != nil && s.Others.generation == in.Generation && in.Memory.Generation == in.Generation
}

// glance is when the rows that hints name are to be read.
func (in Input) glance() time.Time { return paced(in.Session.LastGlance, in.Watch.Hinted) }

func (in Input) named() (Decision, bool) {
	if in.Session.Round != nil || !in.alone() || in.glance().After(in.Now) {
		return pass()
	}
	return do(ReadNamed)
}

// Glance begins a read of named rows.
func (in Input) Glance() {
	s := in.Session
	s.LastGlance = in.Now
	if s.Glanced.IsZero() {
		s.Glanced = in.Now
	}
}

// Together takes the failure of a read of named rows. Some databases can't read single rows, or do not allow it.
func (in Input) Together(f *Failure) {
	if f.Reason != PollFailed {
		in.Session.Together = in.Now.Add(togetherFor)
	}
}

// Glimpse takes what a read of named rows came to: the changes that may be made at once. What takes something away, gives
// something back, or has to be told to people, is left to a poll. doubt says that there is such a thing.
func (in Input) Glimpse(h *Harvest) (changes []Change, doubt bool) {
	changes = slices.DeleteFunc(slices.Clone(h.Changes), func(c Change) bool {
		_, lost := in.Session.Losses[c.Name]
		return lost || c.Harm != "" || c.Action != Create && c.Action != Update
	})
	doubt = len(changes) < len(h.Changes) || len(h.Rejected)+len(h.Staged) > 0
	for name := range h.present {
		if _, lost := in.Session.Losses[name]; lost {
			doubt = true
		}
	}
	return changes, doubt
}
