package tenantsource

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"
)

// Policy says what becomes of a tenant whose row is gone.
type Policy string

// The policies.
const (
	PolicyDelete  Policy = "Delete"
	PolicyDisable Policy = "Disable"
	PolicyRetain  Policy = "Retain"
)

// Guard limits what may be deleted, or disabled, without approval.
type Guard struct {
	// ConfirmPolls is in how many complete reads a row has to be absent, each at least Interval after the
	// one before.
	ConfirmPolls int
	Interval     time.Duration
	// MaxDeletes and MaxPercent are the budget of a Window: the larger of the two.
	MaxDeletes, MaxPercent int
	Window                 time.Duration
}

// Owned is an object of the source.
type Owned struct{ Name, UID string }

// Absence is what is remembered of an object whose row is gone. It is in memory only: who forgets it
// looks again, and deletes later.
type Absence struct {
	Owned
	// Reads is how many reads count, Last when the last of them began.
	Reads int
	Last  time.Time
	// Approved is set once a person has approved a plan with it.
	Approved bool
	// Cleared is set once the guard has let the object go, and counted it; ClearedAt is when, or earlier.
	Cleared   bool
	ClearedAt time.Time
}

// open reports whether no decision was made about it.
func (a Absence) open() bool { return !a.Approved && !a.Cleared }

// Absences are those of one source, by name.
type Absences map[string]Absence

// Note takes the result of a complete read. Rows that are back are forgotten, and start over when they vanish again.
// counts is false for a read out of turn, which confirms nothing.
func (a Absences) Note(absent []Owned, began time.Time, counts bool, g Guard) Absences {
	out := make(Absences, len(absent))
	for _, o := range absent {
		known, ok := a[o.Name]
		if !ok || known.UID != o.UID {
			known = Absence{Owned: o}
		}
		if counts && (known.Last.IsZero() || began.Sub(known.Last) >= g.Interval) {
			known.Reads, known.Last = known.Reads+1, began
		}
		out[o.Name] = known
	}
	return out
}

// Names are the names, sorted.
func (a Absences) Names() []string {
	out := make([]string, 0, len(a))
	for name := range a {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// planHash identifies exactly these objects: one of the same name that was created later is another one.
func (a Absences) planHash(since string) string {
	var parts []string
	for _, name := range a.Names() {
		if a[name].open() {
			parts = append(parts, name+"/"+a[name].UID)
		}
	}
	return since + "-" + hash(parts)
}

// Approve approves exactly the plan that the person saw. The approval stays with each object until its row is back, so
// that the objects are deleted one by one as they are confirmed.
func (a Absences) Approve(plan, since string) {
	if plan == "" || a.planHash(since) != plan {
		return
	}
	for name, known := range a {
		if known.open() {
			known.Approved = true
			a[name] = known
		}
	}
}

// hash is short enough to be typed, and long enough that no two plans of a source's life meet.
func hash(parts []string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return hex.EncodeToString(sum[:8])
}

// Deletions are those of some time.
type Deletions struct {
	Time  time.Time
	Count int
}

// History is when tenants were deleted, oldest first.
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
	out[0].Count += h[:extra].Total()
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

// Add counts deletions that are about to be made.
func (h History) Add(now time.Time, count int, window time.Duration) History {
	out := h.Within(now, window)
	if count == 0 {
		return out
	}
	piece := window / buckets
	if last := len(out) - 1; last >= 0 && out[last].Time.Truncate(piece).Equal(now.Truncate(piece)) {
		out[last] = Deletions{Time: now, Count: out[last].Count + count}
		return out
	}
	return append(out, Deletions{Time: now, Count: count})
}

// Question is what the guard is asked.
type Question struct {
	Now      time.Time
	Absences Absences
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
	// Go are those that may be deleted now, by name.
	Go []Owned
	// Approved are the UIDs of those of them that a person has approved.
	Approved map[string]bool
	// New is how many of them are not counted in the history yet.
	New int
	// Waiting are those that more reads have to confirm.
	Waiting []Absence
	// Pending is the plan that needs approval; nil when none does.
	Pending *PendingPlan
	// Budget is how many tenants may be deleted in the window, Used how many were.
	Budget, Used int
}

// PendingPlan is a plan that is not approved.
type PendingPlan struct {
	Hash  string
	Names []string
	// Empty is set when it needs approval because there were no rows at all.
	Empty bool
}

// Judge says what may be deleted. Every absent object counts against the budget, confirmed or not, so that a wave is
// seen before its first tenant is deleted; over the budget, nothing is deleted at all.
func (g Guard) Judge(q Question) Verdict {
	v := Verdict{Used: q.History.Within(q.Now, g.Window).Total()}
	// What is gone already belonged to the fleet of this window.
	v.Budget = max(g.MaxDeletes, (q.Fleet+v.Used)*g.MaxPercent/100)
	open := 0
	for _, a := range q.Absences {
		if a.open() {
			open++
		}
	}
	held := open > 0 && (q.Empty || v.Used+open > v.Budget)
	if held {
		v.Pending = &PendingPlan{Hash: q.Absences.planHash(q.Since), Empty: q.Empty}
	}
	for _, name := range q.Absences.Names() {
		a := q.Absences[name]
		switch {
		case held && a.open():
			v.Pending.Names = append(v.Pending.Names, name)
		case a.Reads < g.ConfirmPolls && !q.Confirmed:
			v.Waiting = append(v.Waiting, a)
		default:
			v.Go = append(v.Go, a.Owned)
			if a.Approved {
				v.approve(a.UID)
			}
			if !a.Cleared {
				v.New++
			}
		}
	}
	return v
}

func (v *Verdict) approve(uid string) {
	if v.Approved == nil {
		v.Approved = map[string]bool{}
	}
	v.Approved[uid] = true
}

// freeze lets nothing go for now but the first ones, which are gone already.
func (v *Verdict) freeze(known Absences, gone int) {
	for _, o := range v.Go[gone:] {
		v.Waiting = append(v.Waiting, known[o.Name])
	}
	v.Go, v.New = v.Go[:gone], 0
}

// markCleared remembers that the deletion of those of these UIDs was allowed and counted. An object of the same name
// that was created since is another one.
func (a Absences) markCleared(uids []string, at time.Time) {
	cleared := set(uids)
	for name, known := range a {
		if cleared[known.UID] && !known.Cleared {
			known.Cleared, known.ClearedAt = true, at
			a[name] = known
		}
	}
}

// expire lets those be judged again whose count has left the window, and names them.
func (a Absences) expire(now time.Time, window time.Duration) (uids []string) {
	for name, known := range a {
		if known.Cleared && now.Sub(known.ClearedAt) >= window {
			known.Cleared = false
			a[name] = known
			uids = append(uids, known.UID)
		}
	}
	return uids
}

// clearedUIDs are those whose deletion was allowed and counted, by name, without these that are gone.
func (a Absences) clearedUIDs(gone map[string]bool) []string {
	var out []string
	for _, name := range a.Names() {
		if known := a[name]; known.Cleared && !gone[known.UID] {
			out = append(out, known.UID)
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
