package tenantsource

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/budget"
)

// Policy says what becomes of a tenant whose row is gone.
type Policy string

// The policies.
const (
	PolicyDelete  Policy = "Delete"
	PolicyDisable Policy = "Disable"
	PolicyRetain  Policy = "Retain"
)

// Guard limits what may be deleted, disabled or otherwise taken away without approval.
type Guard struct {
	// ConfirmPolls is in how many complete reads a row has to be absent, each at least Interval after the
	// one before.
	ConfirmPolls int
	Interval     time.Duration
	// MaxDeletes and MaxPercent are the budget of a Window: the larger of the two.
	MaxDeletes, MaxPercent int
	Window                 time.Duration
	// Grace is how long a tenant is marked, and serves on, before it is deleted or disabled. Zero: not at all.
	Grace time.Duration
}

// budget is how many of so many objects may be lost in a window, and whether that is the ceiling.
func (g Guard) budget(size int) (most int, capped bool) {
	return budget.Limit{Max: g.MaxDeletes, Percent: g.MaxPercent}.Allows(size, budget.Ceiling)
}

// Owned is an object of the source.
type Owned struct {
	Name, UID string
	Domains   []string
	// Marked is since when it is marked, because its row is gone. Zero: it is not. What is marked was allowed and counted.
	Marked time.Time
}

// Loss is what is remembered of an object whose row is gone, or takes something away from it. It is in memory only: who
// forgets it looks again, and deletes later.
type Loss struct {
	Owned
	// Harm says what the row takes away. Empty: the row is gone.
	Harm string
	// Replaced is set where another row has one of its domains.
	Replaced bool
	// Reads is how many reads without the row count, Last when the last of them began.
	Reads int
	Last  time.Time
	// Approved is set once a person has approved a plan with it.
	Approved bool
	// Cleared is set once the guard has let it happen, and counted it; ClearedAt is when, or earlier.
	Cleared   bool
	ClearedAt time.Time
	// Mark is set in a verdict where it is to be marked, and not deleted yet.
	Mark bool
}

// Certain reports whether it is meant, so that there is no grace: it was approved, or the customer has another row, which waits
// for the domain.
func (l Loss) Certain() bool { return l.Approved || l.Replaced }

// open reports whether no decision was made about it.
func (l Loss) open() bool { return !l.Approved && !l.counted() }

// counted reports whether it was allowed and counted.
func (l Loss) counted() bool { return l.Cleared || !l.Marked.IsZero() }

// keySeparator is in no UID.
const keySeparator = "/"

// key identifies the loss: another harm to the same object is another one.
func (l Loss) key() string {
	if l.Harm == "" {
		return l.UID
	}
	return l.UID + keySeparator + hash([]string{l.Harm})
}

// lossesOf are the losses of objects whose rows are gone.
func lossesOf(absent []Owned) []Loss {
	out := make([]Loss, len(absent))
	for i, o := range absent {
		out[i].Owned = o
	}
	return out
}

// Losses are those of one source, by name.
type Losses map[string]Loss

// Note takes the result of a complete read. Rows that are back, or take nothing away any more, are forgotten, and start
// over when that changes. counts is false for a read out of turn, which confirms nothing.
func (ls Losses) Note(found []Loss, began time.Time, counts bool, g Guard) Losses {
	out := make(Losses, len(found))
	for _, l := range found {
		if known, ok := ls[l.Name]; ok && known.UID == l.UID && known.Harm == l.Harm {
			known.Owned, known.Replaced = l.Owned, l.Replaced
			l = known
		}
		if counts && l.Harm == "" && (l.Last.IsZero() || began.Sub(l.Last) >= g.Interval) {
			l.Reads, l.Last = l.Reads+1, began
		}
		out[l.Name] = l
	}
	return out
}

// Names are the names, sorted.
func (ls Losses) Names() []string {
	out := make([]string, 0, len(ls))
	for name := range ls {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// planHash identifies exactly these losses: an object of the same name that was created later is another one.
func (ls Losses) planHash(since string) string {
	var parts []string
	for _, name := range ls.Names() {
		if ls[name].open() {
			parts = append(parts, name+keySeparator+ls[name].key())
		}
	}
	return since + "-" + hash(parts)
}

// Approve approves exactly the plan that the person saw. The approval stays with each loss until the read that does not
// find it, so that objects are deleted one by one as they are confirmed.
func (ls Losses) Approve(plan, since string) {
	if plan == "" || ls.planHash(since) != plan {
		return
	}
	for name, known := range ls {
		if known.open() {
			known.Approved = true
			ls[name] = known
		}
	}
}

// hash is short enough to be typed, and long enough that no two plans of a source's life meet.
func hash(parts []string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return hex.EncodeToString(sum[:8])
}

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

// Within drops what is older than the window. What a wrong clock put into the future was just now, or it would
// use the budget up until then.
func (h History) Within(now time.Time, window time.Duration) History {
	out := slices.DeleteFunc(slices.Clone(h), func(d Deletions) bool { return now.Sub(d.Time) >= window })
	for i := range out {
		if out[i].Time.After(now) {
			out[i].Time = now
		}
	}
	return out
}

// Merged keeps no more than so many entries, and forgets no deletion: the oldest ones are taken together, under the latest of
// their times.
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
func (h History) Total() int {
	total := 0
	for _, d := range h {
		total += d.Count
	}
	return total
}

// Removed counts those whose objects are gone.
func (h History) Removed() int {
	total := 0
	for _, d := range h {
		total += d.Count - d.Changes
	}
	return total
}

// Add counts losses that are about to happen.
func (h History) Add(now time.Time, count, changes int, window time.Duration) History {
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

// Question is what the guard is asked.
type Question struct {
	Now    time.Time
	Losses Losses
	// Fleet is how many objects the source has, the absent ones included.
	Fleet   int
	History History
	// Empty is set when the read had no rows at all.
	Empty bool
	// Confirmed skips the confirmations: the source itself is deleted, and no row can come back.
	Confirmed bool
	// Since says since when approval is waited for, or would be: an approval of an earlier plan does not count for this
	// one.
	Since string
}

// Verdict is what the guard answers.
type Verdict struct {
	// Go are those that may be deleted now, or marked, by name, Changes those that may lose what their rows take away.
	Go, Changes []Loss
	// Grace are those that are marked and whose grace is not over.
	Grace []Loss
	// Waiting are those that more reads have to confirm.
	Waiting []Loss
	// Pending is the plan that needs approval; nil when none does.
	Pending *PendingPlan
	// Budget is how many tenants may be lost in the window, Used how many were. Capped is set where that is the ceiling.
	Budget, Used int
	Capped       bool
}

// New is how many of those that may happen are not counted in the history yet.
func (v Verdict) New() int {
	n := 0
	for _, l := range slices.Concat(v.Go, v.Changes) {
		if !l.counted() {
			n++
		}
	}
	return n
}

// keys are those of all that may happen.
func (v Verdict) keys() []string {
	var out []string
	for _, l := range slices.Concat(v.Go, v.Changes) {
		out = append(out, l.key())
	}
	return out
}

// PendingPlan is a plan that is not approved.
type PendingPlan struct {
	Hash string
	// Names are those of all of its objects. Harm says what the rows take away from those that still have one.
	Names []string
	Harm  map[string]string
	// Empty is set when it needs approval because there were no rows at all.
	Empty bool
}

// Judge says what may happen. Every loss counts against the budget, confirmed or not, so that a wave is seen before its
// first tenant is deleted; over the budget, nothing happens at all.
func (g Guard) Judge(q Question) Verdict {
	recent := q.History.Within(q.Now, g.Window)
	open, left := 0, 0
	for _, l := range q.Losses {
		if l.open() {
			open++
		}
		if l.counted() && l.Harm == "" {
			left++
		}
	}
	// What is gone already belonged to the fleet of this window. What is counted and not gone still does.
	v := Verdict{Used: recent.Total()}
	v.Budget, v.Capped = g.budget(q.Fleet + max(recent.Removed()-left, 0))
	held := open > 0 && (q.Empty || v.Used+open > v.Budget)
	if held {
		v.Pending = &PendingPlan{Hash: q.Losses.planHash(q.Since), Empty: q.Empty}
	}
	for _, name := range q.Losses.Names() {
		l := q.Losses[name]
		switch {
		case held && l.open():
			v.Pending.add(l)
		case l.Harm != "":
			// A row that is there says what it means: there is nothing to confirm.
			v.Changes = append(v.Changes, l)
		case l.Reads < g.ConfirmPolls && !q.Confirmed:
			v.Waiting = append(v.Waiting, l)
		case q.Confirmed || l.Certain():
			v.Go = append(v.Go, l)
		case !l.Marked.IsZero() && q.Now.Before(l.Marked.Add(g.Grace)):
			v.Grace = append(v.Grace, l)
		default:
			l.Mark = g.Grace > 0 && l.Marked.IsZero()
			v.Go = append(v.Go, l)
		}
	}
	return v
}

func (p *PendingPlan) add(l Loss) {
	p.Names = append(p.Names, l.Name)
	if l.Harm == "" {
		return
	}
	if p.Harm == nil {
		p.Harm = map[string]string{}
	}
	p.Harm[l.Name] = l.Harm
}

// freeze lets no more be deleted for now but the first ones, which are gone already.
func (v *Verdict) freeze(gone int) {
	v.Waiting = append(v.Waiting, v.Go[gone:]...)
	v.Go = v.Go[:gone]
}

// markCleared remembers that those of these keys were allowed and counted. An object of the same name that was created
// since is another one.
func (ls Losses) markCleared(keys []string, at time.Time) {
	cleared := set(keys)
	for name, known := range ls {
		if cleared[known.key()] && !known.Cleared {
			known.Cleared, known.ClearedAt = true, at
			ls[name] = known
		}
	}
}

// expire lets those be judged again whose count has left the window, and returns their keys.
func (ls Losses) expire(now time.Time, window time.Duration) (keys []string) {
	for name, known := range ls {
		if known.Cleared && now.Sub(known.ClearedAt) >= window {
			known.Cleared = false
			ls[name] = known
			keys = append(keys, known.key())
		}
	}
	return keys
}

// clearedKeys are those that were allowed and counted, by name, without these that have happened.
func (ls Losses) clearedKeys(done map[string]bool) []string {
	var out []string
	for _, name := range ls.Names() {
		if known := ls[name]; known.Cleared && !done[known.key()] {
			out = append(out, known.key())
		}
	}
	return out
}

func set(texts []string) map[string]bool {
	out := make(map[string]bool, len(texts))
	for _, text := range texts {
		out[text] = true
	}
	return out
}
