package tenantsource

import (
	"maps"
	"slices"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

// Round is one poll from its read to its report, or the deletion of what a deleted source has. Each event makes another
// one.
type Round struct {
	Began time.Time
	// Settled is when its read was over, Previous the poll before it as status told it.
	Settled, Previous time.Time
	Generation        int64
	Reading, Token    string
	// Regular is set when the poll was due by the interval: only such a poll confirms that a row is gone.
	Regular bool
	// Harvest is what a complete read came to; nil before it.
	Harvest *Harvest
	// Fleet is how many objects the source had.
	Fleet int
	Plan
	// Written is how many of the changes were looked at, made are the keys of those that took something away.
	Written int
	made    []string
	// Removed is how many of the objects to remove were looked at, Deleted how many of them went, Marked how many were
	// marked. Reserved is set once they, and the changes that take something away, are counted in status.
	Removed, Deleted, Marked int
	Reserved                 bool
	// Judged is set where the verdict replaces what status says is held.
	Judged bool
	// Undeleted are those whose deletion the API server refused.
	Undeleted []Undeleted
	// Refused are changes that the API server refused, or that conflicted with a foreign object.
	Refused                     []mapping.Rejection
	Created, Updated, Conflicts int
	// Missed is how many changes were not made because their objects have changed since they were looked at.
	Missed int
	// Others is what it leaves behind for reads of single rows.
	Others *Others
	// Failure ends the round.
	Failure *Failure
}

// Undeleted is an object that was to be deleted, and that the API server did not delete.
type Undeleted struct {
	Owned
	Reason string
}

// gone are the UIDs of those that the round has removed.
func (r *Round) gone() map[string]bool {
	gone := make(map[string]bool, r.Removed)
	for _, o := range r.Verdict.Go[:r.Removed] {
		if !o.Mark {
			gone[o.UID] = true
		}
	}
	for _, o := range r.Undeleted {
		delete(gone, o.UID)
	}
	return gone
}

// done are the keys of the losses that the round has brought about.
func (r *Round) done() map[string]bool {
	done := setOf(r.made)
	maps.Copy(done, r.gone())
	return done
}

// Next are the changes that may be made now, at most that many. Those that take something away are counted first.
func (r *Round) Next(most int) []Change {
	end := len(r.Changes)
	if !r.Reserved {
		end -= r.Harmful
	}
	next := r.Changes[min(r.Written, end):end]
	return next[:min(len(next), most)]
}

// Going are the next objects to remove, at most that many.
func (r *Round) Going(most int) []Loss {
	next := r.Verdict.Go[r.Removed:]
	return next[:min(len(next), most)]
}

// stop lets nothing more be taken away.
func (r *Round) stop() {
	r.Verdict = r.Verdict.freeze(r.Removed)
	r.Changes, r.Harmful = r.Changes[:max(r.Written, len(r.Changes)-r.Harmful)], 0
}

// Plan is what a read makes the source do.
type Plan struct {
	// Changes have to be written. Harmful is how many of them take something away: the last ones.
	Changes []Change
	Harmful int
	Verdict Verdict
}

// planOf keeps those changes that take nothing away, and after them those that the guard lets happen.
func planOf(changes []Change, v Verdict) Plan {
	let := make(map[string]Loss, len(v.Changes))
	for _, l := range v.Changes {
		let[l.Name] = l
	}
	kept := slices.DeleteFunc(slices.Clone(changes), func(c Change) bool { return c.Harm != "" })
	harmless := len(kept)
	for _, c := range changes {
		if l, goes := let[c.Name]; c.Harm != "" && goes {
			c.Approved = l.Approved
			kept = append(kept, c)
		}
	}
	return Plan{Changes: kept, Harmful: len(kept) - harmless, Verdict: v}
}

// Written takes over what became of the next change: Done, Refused for a reason, perhaps in conflict with an object of
// someone else, or not made because its object has changed.
type Written struct {
	Done     bool
	Refused  string
	Conflict bool
}

func (e Written) happen(_ View, s *State, _ *Effects) {
	r := s.Round
	c := r.Changes[r.Written]
	r.Written++
	switch {
	case e.Refused != "":
		r.Refused = append(r.Refused, mapping.Rejection{Row: c.Row, Name: c.Name, Reason: e.Refused, Conflict: e.Conflict})
		if e.Conflict {
			r.Conflicts++
		}
	case !e.Done:
		r.Missed++
	case c.Action == Create:
		r.Created++
	default:
		r.Updated++
		if c.Harm != "" {
			r.made = append(r.made, c.loss().key())
		}
	}
}

// Removed takes over what became of the next object to remove: Done, Refused for a reason, or not the source's any
// more.
type Removed struct {
	Done    bool
	Refused string
}

func (e Removed) happen(_ View, s *State, _ *Effects) {
	r := s.Round
	l := r.Verdict.Go[r.Removed]
	r.Removed++
	switch {
	case e.Refused != "":
		r.Undeleted = append(r.Undeleted, Undeleted{Owned: l.Owned, Reason: e.Refused})
	case e.Done && l.Mark:
		r.Marked++
	case e.Done:
		r.Deleted++
	}
}

// Failure is why a poll came to nothing.
type Failure struct {
	Reason  chain.Reason
	Message string
	// Connection is set where the connection string can't be used.
	Connection bool
}

// refused reports whether the API server has refused changes, other than because their objects belong to someone else.
func (r *Round) refused() bool { return len(r.Refused) > r.Conflicts }
