package tenantsource_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantsource"
)

// life is a source in played time, with what has to be remembered to judge it. It does what the controller does, in memory.
type life struct {
	t   *rapid.T
	in  tenantsource.Input
	now time.Time
	// rows and fleet are names; a fleet remembers UIDs.
	names []string
	rows  map[string]bool
	fleet map[string]string
	born  int
	// wants is what a row takes away, has what its object has lost.
	wants, has map[string]string
	// marked is since when an object is.
	marked map[string]time.Time
	// looks is how many reads that count have missed a row since any read has seen it.
	looks map[string]int
	// counted are the keys of the losses that status has counted, and that a read has found since wherever it looked.
	counted map[string]bool
	// countedAt is when status counted them last.
	countedAt map[string]time.Time
	// held is the plan in status, approved are the keys of those in a plan that a user has approved, and that no read
	// has missed since that status tells of. seen are those that status has yet to tell of.
	held           *tenantsource.PendingPlan
	approved, seen map[string]bool
	// gone are the losses that the guard allowed without approval, by time; removed are all deletions.
	gone, removed tenantsource.History
	// stuck is set while the API server is busy when something is to be deleted, refusing while it takes no changes.
	stuck, refusing bool
}

func newLife(t *rapid.T) *life {
	l := &life{t: t, now: noon, rows: map[string]bool{}, fleet: map[string]string{}, wants: map[string]string{}, has: map[string]string{}, marked: map[string]time.Time{}, looks: map[string]int{}, counted: map[string]bool{}, countedAt: map[string]time.Time{}, approved: map[string]bool{}, seen: map[string]bool{}}
	l.in.Generation, l.in.Policy, l.in.Guard = 1, tenantsource.PolicyDelete, tenantsource.Guard{
		ConfirmPolls: rapid.IntRange(2, 3).Draw(t, "confirmations"), Interval: 5 * time.Minute,
		MaxDeletes: rapid.SampledFrom([]int{0, 2, 3, 4}).Draw(t, "number"), MaxPercent: rapid.SampledFrom([]int{0, 10, 25, 90}).Draw(t, "share"), Window: time.Hour,
		Grace: rapid.SampledFrom([]time.Duration{0, 0, 20 * time.Minute, 2 * time.Hour}).Draw(t, "grace"),
	}
	for i := range rapid.SampledFrom([]int{1, 3, 5, 14}).Draw(t, "customers") {
		l.names = append(l.names, fmt.Sprintf("t%02d", i))
		l.rows[l.names[i]] = true
	}
	return l
}

// play decides and acts until the source rests or something fails, as the driver would.
func (l *life) play(w weather) {
	l.now = l.now.Add(time.Second) // a process starts, and a user reads and approves, no faster
	l.in.Now = l.now
	apply(&l.in, tenantsource.Resumed{})
	for {
		d := tenantsource.Decide(l.in)
		switch d.Step {
		case tenantsource.Read:
			l.read(w)
		case tenantsource.Write:
			l.apply()
		case tenantsource.Count:
			r := l.in.State.Round
			l.checkCounted(r)
			report := tenantsource.Conclude(l.in, d)
			l.in.Memory.History, l.in.Memory.Cleared = report.History, report.Cleared
			apply(&l.in, tenantsource.Counted{})
			for _, o := range slices.Concat(r.Verdict.Go, r.Verdict.Changes) {
				if !l.counts(o) {
					l.countedAt[o.Key()] = l.now
				}
				l.counted[o.Key()] = true
			}
			if l.dies("dies before it deletes") {
				return
			}
		case tenantsource.Remove:
			if l.stuck {
				return
			}
			l.remove()
		case tenantsource.Rest:
			l.rest(d)
			return
		case tenantsource.LetGo, tenantsource.ReadNamed:
			l.t.Fatalf("unexpected %+v", d)
		}
	}
}

// weather is what becomes of a poll.
type weather string

const (
	good weather = "good"
	// failure reads nothing, cut some of the rows.
	failure weather = "failure"
	cut     weather = "cut"
	// mistake reads all rows, and a column is gone. nameless reads another row, which has no name.
	mistake  weather = "mistake"
	nameless weather = "nameless"
	// refused reads all rows, and can write nothing.
	refused weather = "refused"
)

// read makes what the table has, and asks the guard about what it has not.
func (l *life) read(w weather) {
	if l.in.Generation != l.in.Memory.Generation {
		clear(l.looks)
	}
	apply(&l.in, tenantsource.Began{})
	for name := range l.rows {
		if l.fleet[name] == "" && w == good {
			l.born++
			l.fleet[name], l.has[name] = fmt.Sprintf("u%d", l.born), l.wants[name]
		}
	}
	var owned []tenantsource.Owned
	for _, name := range slices.Sorted(maps.Keys(l.fleet)) {
		owned = append(owned, tenantsource.Owned{Name: name, UID: l.fleet[name], Marked: l.marked[name]})
	}
	seen := slices.Sorted(maps.Keys(l.rows))
	switch w {
	case failure:
		seen = nil
	case cut:
		seen = seen[:rapid.IntRange(0, len(seen)).Draw(l.t, "rows that were read")]
	default:
	}
	h := tenantsource.Present(seen...)
	for _, name := range seen {
		if l.fleet[name] != "" {
			l.look(name, h)
		}
	}
	l.refusing = w == refused
	h.Declared, h.Columns = true, []tenantsource.SeenColumn{{Column: mapping.Column{Name: "domain"}, Rows: h.Rows}}
	switch w {
	case failure, cut:
		apply(&l.in, tenantsource.Failed{Failure: &tenantsource.Failure{Reason: tenantsource.PollFailed, Message: "No answer"}, Seen: h, Owned: owned})
		return
	case mistake:
		h.Columns = nil
	case nameless:
		h.Nameless, h.Rows = 1, h.Rows+1
	case refused:
		h.Changes = append(h.Changes, make([]tenantsource.Change, 2)...)
	case good:
	}
	apply(&l.in, tenantsource.Completed{Harvest: h, Owned: owned})
	r := l.in.State.Round
	for name := range l.fleet {
		if !h.Present(name) && r.Regular && r.Failure == nil && h.Nameless == 0 {
			l.looks[name]++
		}
	}
	if h.Nameless > 0 && len(r.Verdict.Go) > 0 {
		l.t.Fatalf("%v go after a read with rows without names", r.Verdict.Go)
	}
	if r.Failure != nil && len(r.Verdict.Go) > 0 {
		l.t.Fatalf("%v go after a mistake", r.Verdict.Go)
	}
	if held := r.Verdict.Pending; held != nil && l.in.Approved == held.Hash && r.Failure == nil {
		l.t.Fatalf("%v is held, and approved", held.Names)
	}
}

// loss is what the object of that name would lose if it became what its row wants.
func (l *life) loss(name string) tenantsource.Loss {
	out := tenantsource.Loss{Owned: tenantsource.Owned{Name: name, UID: l.fleet[name]}}
	if l.wants[name] != l.has[name] {
		out.Harm = l.wants[name]
	}
	return out
}

// look is one row of a read, whose object exists: all losses but the one that it asks for are over.
func (l *life) look(name string, h *tenantsource.Harvest) {
	l.looks[name] = 0
	now := l.loss(name)
	for _, harm := range append([]string{""}, harms...) {
		other := tenantsource.Loss{Owned: now.Owned, Harm: harm}
		if harm == "" || harm != now.Harm {
			l.seen[other.Key()] = true
			delete(l.counted, other.Key())
		}
	}
	if l.wants[name] != l.has[name] {
		h.Changes = append(h.Changes, tenantsource.Change{Action: tenantsource.Update, Name: name, UID: now.UID, Harm: now.Harm})
	}
}

// harms are what a row may take away.
var harms = []string{"disables it", "removes a domain"}

// apply makes some of the changes.
func (l *life) apply() {
	r := l.in.State.Round
	if l.refusing {
		apply(&l.in, tenantsource.Failed{Failure: &tenantsource.Failure{Reason: tenantsource.PollFailed, Message: "The API server refuses every change"}})
		return
	}
	for _, c := range r.Next(rapid.IntRange(1, 3).Draw(l.t, "batch")) {
		loss := tenantsource.Loss{Owned: tenantsource.Owned{Name: c.Name, UID: c.UID}, Harm: c.Harm}
		if c.Harm != "" && !l.counted[loss.Key()] {
			l.t.Fatalf("%s %s, and that was not counted since a read has missed it", c.Name, c.Harm)
		}
		if c.Unmark {
			delete(l.marked, c.Name)
		}
		if l.fleet[c.Name] == c.UID && c.Action == tenantsource.Update {
			// Nothing is read between the read and this.
			l.has[c.Name] = l.wants[c.Name]
		}
		apply(&l.in, tenantsource.Written{Done: true})
	}
}

// remove is the last step of an object.
func (l *life) remove() {
	r := l.in.State.Round
	o := r.Verdict.Go[r.Removed]
	apply(&l.in, tenantsource.Removed{Done: l.fleet[o.Name] == o.UID})
	if l.fleet[o.Name] != o.UID {
		return
	}
	if l.looks[o.Name] < l.in.Guard.ConfirmPolls {
		l.t.Fatalf("%v is deleted, and %d reads have missed its row since it was last seen, want %d", o, l.looks[o.Name], l.in.Guard.ConfirmPolls)
	}
	if !l.counted[o.UID] && l.marked[o.Name].IsZero() {
		l.t.Fatalf("%v is deleted, and was not counted since its row was last seen", o)
	}
	if o.Mark {
		l.marked[o.Name] = l.now
		return
	}
	if since := l.marked[o.Name]; !o.Approved && l.in.Guard.Grace > 0 && (since.IsZero() || l.now.Before(since.Add(l.in.Guard.Grace))) {
		l.t.Fatalf("%v is deleted, and is marked since %s; the grace is %s", o, since, l.in.Guard.Grace)
	}
	delete(l.fleet, o.Name)
	delete(l.has, o.Name)
	delete(l.marked, o.Name)
}

// dies reports whether the operator does, now.
func (l *life) dies(when string) bool {
	dies := rapid.IntRange(0, 9).Draw(l.t, when) == 0
	if dies {
		l.restart()
	}
	return dies
}

// checkCounted is shown the deletions that the guard allows, before they are counted.
func (l *life) checkCounted(r *tenantsource.Round) {
	unasked, counted := 0, 0
	for _, o := range r.Verdict.Go {
		a := l.in.State.Losses[o.Name]
		if a.UID != o.UID || l.rows[o.Name] && !l.stuck {
			l.t.Fatalf("%v is deleted, which has a row or is another one: %+v", o, a)
		}
		if l.counts(a) {
			continue
		}
		counted++
		if !l.approved[o.Key()] {
			unasked++
		}
	}
	if unasked > 0 && r.Harvest.Rows == 0 {
		l.t.Fatalf("%d are deleted because a table was empty, without approval", unasked)
	}
	// Losses are remembered at most a piece of the window too long, and some of them were counted and not deleted.
	most := 0
	for size := len(l.fleet); size <= len(l.fleet)+l.removed.Within(l.now, l.in.Guard.Window*49/48).Total(); size++ {
		allowed := max(l.in.Guard.MaxDeletes, size*l.in.Guard.MaxPercent/100)
		if size > 3 {
			allowed = min(allowed, size/2)
		}
		most = max(most, allowed)
	}
	unasked += l.checkChanges(r)
	l.removed = append(l.removed, tenantsource.Deletions{Time: l.now, Count: counted})
	l.gone = append(l.gone, tenantsource.Deletions{Time: l.now, Count: unasked})
	inWindow := l.gone.Within(l.now, l.in.Guard.Window).Total()
	if unasked > 0 && inWindow > most {
		l.t.Fatalf("%d were deleted or changed in %s without approval, and the guard allows %d", inWindow, l.in.Guard.Window, most)
	}
}

// counts reports whether status has counted the loss already.
func (l *life) counts(loss tenantsource.Loss) bool {
	key := loss.Key()
	return loss.Cleared || !loss.Marked.IsZero() || l.counted[key] && l.now.Sub(l.countedAt[key]) < l.in.Guard.Window
}

// checkChanges is shown the changes that take something away, before they are counted.
func (l *life) checkChanges(r *tenantsource.Round) (unasked int) {
	for _, o := range r.Verdict.Changes {
		known := l.in.State.Losses[o.Name]
		if known.UID != o.UID || known.Harm != o.Harm || o.Harm != l.loss(o.Name).Harm {
			l.t.Fatalf("%v is let happen, and known is %+v, and the row wants %q", o, known, l.loss(o.Name).Harm)
		}
		if l.counts(known) {
			continue
		}
		if !l.approved[o.Key()] {
			unasked++
		}
	}
	return unasked
}

// checkHarmless is shown the end of a round: what took nothing away in a read of now was not kept waiting.
func (l *life) checkHarmless(r *tenantsource.Round) {
	for name := range l.rows {
		if r.Failure == nil && r.Settled.Equal(l.now) && !l.marked[name].IsZero() {
			l.t.Fatalf("%s is marked, and its row is there", name)
		}
		if r.Failure == nil && r.Settled.Equal(l.now) && l.wants[name] == "" && l.has[name] != "" {
			l.t.Fatalf("the object of %s still %s, and its row wants that no more", name, l.has[name])
		}
	}
}

func (l *life) rest(d tenantsource.Decision) {
	if r := l.in.State.Round; r != nil {
		l.checkHarmless(r)
	}
	report := tenantsource.Conclude(l.in, d)
	if report.Polled == nil || l.dies("dies before it tells") {
		return
	}
	l.in.Memory.History, l.in.Memory.Cleared = report.History, report.Cleared
	l.in.Memory.LastPoll, l.in.Memory.Generation = report.Polled.Truncate(time.Second), report.Generation
	if report.Token != "" {
		l.in.Memory.Token = report.Token
	}
	if report.Result != nil {
		l.in.Memory.Columns, l.in.Memory.Rows, l.in.Memory.Complete = report.Result.Columns, report.Result.Rows, *report.Polled
	}
	for uid := range l.seen {
		delete(l.approved, uid)
	}
	clear(l.seen)
	if report.PendingKnown {
		l.held, l.in.Memory.PendingHash = report.Pending, ""
		if l.held != nil {
			l.in.Memory.PendingHash = l.held.Hash
		}
	}
	apply(&l.in, tenantsource.Ended{})
}

// restart loses what was in memory: of what has been counted, status alone tells.
func (l *life) restart() {
	l.in.State = tenantsource.State{PendingHash: l.in.Memory.PendingHash, Polled: l.in.Memory.LastPoll}
	clear(l.seen)
	clear(l.counted)
	for _, uid := range l.in.Memory.Cleared {
		l.counted[uid] = true
	}
}

// approve writes an annotation, right or wrong.
func (l *life) approve(t *rapid.T) {
	if rapid.Bool().Draw(t, "wrong") {
		l.in.Approved = rapid.StringMatching(`[0-9a-f]{16}`).Draw(t, "hash")
		return
	}
	if l.held == nil {
		t.Skip("nothing is held")
	}
	l.in.Approved = l.held.Hash
	for _, name := range l.held.Names {
		loss := tenantsource.Loss{Owned: tenantsource.Owned{Name: name, UID: l.fleet[name]}, Harm: l.held.Harm[name]}
		l.approved[loss.Key()] = true
	}
}

func (l *life) some(t *rapid.T, label string) []string {
	return rapid.SliceOfN(rapid.SampledFrom(l.names), 1, 2).Draw(t, label)
}

// In every history of reads: the deletions and the changes that take something away that are allowed without an approval
// are within the budget of every window, and deletions never follow from an empty table; changes that take nothing away
// do not wait; and nothing is deleted that has not been missing in as many reads as required
// since a read last had it, no matter what became of that read, or of the operator after it.
func TestTheGuardHoldsInEveryHistory(t *testing.T) {
	checks(t, 6000, func(t *rapid.T) {
		l := newLife(t)
		l.play(good)
		t.Repeat(map[string]func(*rapid.T){
			"rows go": func(t *rapid.T) {
				for _, name := range l.some(t, "go") {
					delete(l.rows, name)
				}
			},
			"rows come": func(t *rapid.T) {
				for _, name := range l.some(t, "come") {
					l.rows[name] = true
				}
			},
			"all rows go": func(t *rapid.T) {
				if rapid.IntRange(0, 4).Draw(t, "all") > 0 {
					t.Skip("not this time")
				}
				clear(l.rows)
			},
			"rows take something away": func(t *rapid.T) {
				for _, name := range l.some(t, "take") {
					l.wants[name] = rapid.SampledFrom(harms).Draw(t, "harm")
				}
			},
			"rows take nothing away": func(t *rapid.T) {
				for _, name := range l.some(t, "give") {
					delete(l.wants, name)
				}
			},
			"all rows take something away": func(t *rapid.T) {
				if rapid.IntRange(0, 2).Draw(t, "all") > 0 {
					t.Skip("not this time")
				}
				for name := range l.rows {
					l.wants[name] = harms[0]
				}
			},
			"a person changes an object": func(t *rapid.T) {
				for _, name := range l.some(t, "by hand") {
					if l.fleet[name] != "" {
						delete(l.has, name)
					}
				}
			},
			"time passes":         func(t *rapid.T) { l.pass(t, time.Duration(rapid.IntRange(1, 600).Draw(t, "seconds"))*time.Second) },
			"an interval at last": func(t *rapid.T) { l.pass(t, l.in.Guard.Interval) },
			"an interval":         func(t *rapid.T) { l.pass(t, l.in.Guard.Interval) },
			"another interval":    func(t *rapid.T) { l.pass(t, l.in.Guard.Interval) },
			"more time passes":    func(t *rapid.T) { l.pass(t, time.Duration(rapid.IntRange(10, 90).Draw(t, "minutes"))*time.Minute) },
			"operator restarts":   func(*rapid.T) { l.restart() },
			"sync now":            func(t *rapid.T) { l.in.Token = fmt.Sprint(l.now.Unix(), l.born); l.play(good) },
			"spec changes":        func(*rapid.T) { l.in.Generation++; l.play(good) },
			"API server is busy":  func(*rapid.T) { l.stuck = true },
			"and is not any more": func(*rapid.T) { l.stuck = false; l.play(good) },
			"approve":             func(t *rapid.T) { l.approve(t); l.play(good) },
		})
	})
}

// pass lets time pass, and polls at its end as the weather is then.
func (l *life) pass(t *rapid.T, d time.Duration) {
	l.now = l.now.Add(d)
	l.play(rapid.SampledFrom([]weather{good, good, good, good, failure, cut, mistake, nameless, refused}).Draw(t, "weather"))
}

// checks plays at least n cases: the failures need several coincidences.
func checks(t *testing.T, n int, property func(*rapid.T)) {
	t.Helper()
	for range (n + 99) / 100 {
		rapid.Check(t, property)
	}
}
