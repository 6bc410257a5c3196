package tenantsource

import (
	"slices"
	"time"
)

// Deletions are the losses of some time.
type Deletions struct {
	Time time.Time
	// Count is how many there were, Changes how many of them left the object where it is.
	Count, Changes int
}

// History is when tenants were deleted, or lost something, oldest first.
type History []Deletions

// buckets is into how many pieces time is cut for each window: what was deleted in one piece is remembered together,
// under its latest time. The pieces do not move, or a steady trickle would be one piece that never ends.
const buckets = 48

// Within drops what is older than the window. An entry that a wrong clock put into the future counts as of now, or it
// would use up the budget until then.
func (h History) Within(now time.Time, window time.Duration) History {
	out := slices.DeleteFunc(slices.Clone(h), func(d Deletions) bool { return now.Sub(d.Time) >= window })
	for i := range out {
		if out[i].Time.After(now) {
			out[i].Time = now
		}
	}
	return out
}

// Merged keeps at most that many entries, and forgets no deletion: the oldest ones are taken together, under the latest
// of their times.
func (h History) Merged(most int) History {
	extra := len(h) - most
	if extra <= 0 {
		return h
	}
	out := slices.Clone(h[extra:])
	for _, d := range h[:extra] {
		out[0].Count += d.Count
		out[0].Changes += d.Changes
	}
	return out
}

// Total counts them.
func (h History) Total() int { return h.sum(func(d Deletions) int { return d.Count }) }

// Vanished counts those whose objects are gone.
func (h History) Vanished() int { return h.sum(func(d Deletions) int { return d.Count - d.Changes }) }

func (h History) sum(of func(Deletions) int) (total int) {
	for _, d := range h {
		total += of(d)
	}
	return total
}

// With counts losses that are about to happen.
func (h History) With(now time.Time, count, changes int, window time.Duration) History {
	out := h.Within(now, window)
	if count == 0 {
		return out
	}
	piece := window / buckets
	if last := len(out) - 1; last >= 0 && out[last].Time.Truncate(piece).Equal(now.Truncate(piece)) {
		out[last] = Deletions{Time: now, Count: out[last].Count + count, Changes: out[last].Changes + changes}
		return out
	}
	return append(out, Deletions{Time: now, Count: count, Changes: changes})
}
