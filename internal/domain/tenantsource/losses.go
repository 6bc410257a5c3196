package tenantsource

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"time"
)

// Loss is what is remembered of an object whose row is gone, or takes something away from it. It is in memory only: a
// process that forgets it looks again, and deletes later.
type Loss struct {
	Owned
	// Harm says what the row takes away. Empty: the row is gone.
	Harm string
	// Replaced is set where another row has one of its domains.
	Replaced bool
	// Reads is how many reads without the row count, Last when the last of them began.
	Reads int
	Last  time.Time
	// Approved is set once a user has approved a plan with it.
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
func (l Loss) open() bool { return !l.Approved && !l.allowed() }

// allowed reports whether it was allowed and counted.
func (l Loss) allowed() bool { return l.Cleared || !l.Marked.IsZero() }

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
func (ls Losses) Names() []string { return slices.Sorted(maps.Keys(ls)) }

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

// each returns the losses with a change to each of them.
func (ls Losses) each(change func(*Loss)) Losses {
	out := make(Losses, len(ls))
	for name, l := range ls {
		change(&l)
		out[name] = l
	}
	return out
}

// Approve approves exactly the plan that the user saw. The approval stays with each loss until the read that does not
// find it, so that objects are deleted one by one as they are confirmed.
func (ls Losses) Approve(plan, since string) Losses {
	if plan == "" || ls.planHash(since) != plan {
		return ls
	}
	return ls.each(func(l *Loss) { l.Approved = l.Approved || l.open() })
}

// clear remembers that those of these keys were allowed and counted. An object of the same name that was created since is
// another one.
func (ls Losses) clear(keys []string, at time.Time) Losses {
	cleared := setOf(keys)
	return ls.each(func(l *Loss) {
		if cleared[l.key()] && !l.Cleared {
			l.Cleared, l.ClearedAt = true, at
		}
	})
}

// expire lets those be judged again whose count has left the window, and returns their keys.
func (ls Losses) expire(now time.Time, window time.Duration) (left Losses, keys []string) {
	left = ls.each(func(l *Loss) {
		if l.Cleared && now.Sub(l.ClearedAt) >= window {
			l.Cleared = false
			keys = append(keys, l.key())
		}
	})
	return left, keys
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

// hash is short enough to be typed, and long enough that no two plans of a source's life meet.
func hash(parts []string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return hex.EncodeToString(sum[:8])
}

func setOf(texts []string) map[string]bool {
	out := make(map[string]bool, len(texts))
	for _, text := range texts {
		out[text] = true
	}
	return out
}

// fleetOf is how many objects these are. Losses may be of others: they were disabled, or those of the source before.
func fleetOf(owned []Owned, losses []Loss) int {
	uids := make(map[string]bool, len(owned))
	for _, o := range owned {
		uids[o.UID] = true
	}
	for _, l := range losses {
		uids[l.UID] = true
	}
	return len(uids)
}
