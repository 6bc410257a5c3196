package source_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/source"
)

// life is a source in played time, with what has to be remembered to judge it. It does what the controller does, in memory.
type life struct {
	t   *rapid.T
	in  source.Input
	now time.Time
	// rows and fleet are names; a fleet remembers UIDs.
	rows  map[string]bool
	fleet map[string]string
	born  int
	// polls are the reads that count, newest last, of the present spec.
	polls []map[string]bool
	// approved are the UIDs of a plan that a person has seen.
	approved map[string]bool
	// gone is what the guard let go without a person's word, by time; all is all that went.
	gone, all source.History
}

const fleetNames = 14

func newLife(t *rapid.T) *life {
	l := &life{t: t, now: noon, rows: map[string]bool{}, fleet: map[string]string{}, approved: map[string]bool{}}
	l.in = source.Input{Generation: 1, Policy: source.PolicyDelete, Session: &source.Session{}, Guard: source.Guard{
		ConfirmPolls: rapid.IntRange(2, 3).Draw(t, "confirmations"), Interval: 5 * time.Minute,
		MaxDeletes: rapid.SampledFrom([]int{0, 2, 3, 4}).Draw(t, "number"), MaxPercent: rapid.SampledFrom([]int{0, 10, 25}).Draw(t, "share"), Window: time.Hour,
	}}
	for i := range fleetNames {
		l.rows[fmt.Sprintf("t%02d", i)] = true
	}
	return l
}

// play decides and acts until the source rests, as the driver would.
func (l *life) play(h func() *source.Harvest) {
	for {
		l.in.Now = l.now
		d := source.Decide(l.in)
		switch d.Step {
		case source.Read:
			l.read(h)
		case source.Reserve:
			r := l.in.Session.Round
			l.in.Memory.History = source.Conclude(l.in, d).History
			r.Reserved = true
			l.checkGoing(r)
			l.in.Session.Absences.Clear(r.Verdict.Go)
			if rapid.IntRange(0, 9).Draw(l.t, "dies before it deletes") == 0 {
				l.restart()
				return
			}
		case source.Remove:
			r := l.in.Session.Round
			o := r.Verdict.Go[r.Removed]
			if l.fleet[o.Name] == o.UID {
				delete(l.fleet, o.Name)
			}
			r.Removed++
		case source.Rest:
			l.rest(d)
			return
		case source.Apply, source.LetGo:
			l.t.Fatalf("unexpected %+v", d)
		}
	}
}

// read makes what the table has, and asks the guard about what it has not.
func (l *life) read(harvest func() *source.Harvest) {
	if l.in.Generation != l.in.Memory.Generation {
		l.polls = nil
	}
	r := l.in.Begin()
	l.in.Session.Round = r
	h := harvest()
	if h == nil {
		r.Failure = &source.Failure{Reason: source.PollFailed, Message: "No answer"}
		return
	}
	for name := range l.rows {
		if l.fleet[name] == "" {
			l.born++
			l.fleet[name] = fmt.Sprintf("u%d", l.born)
		}
	}
	if r.Regular && h.Nameless == 0 {
		l.polls = append(l.polls, maps.Clone(l.rows))
	}
	var owned []source.Owned
	for _, name := range slices.Sorted(maps.Keys(l.fleet)) {
		owned = append(owned, source.Owned{Name: name, UID: l.fleet[name]})
	}
	l.in.Settle(h, owned)
	if h.Nameless > 0 && len(r.Verdict.Go) > 0 {
		l.t.Fatalf("%v go after a read with rows of nobody knows whom", r.Verdict.Go)
	}
	if held := r.Verdict.Held; held != nil && l.in.Approved == held.Hash {
		l.t.Fatalf("%v is held, and approved", held.Names)
	}
}

// checkGoing is shown what the guard lets go, before it is counted.
func (l *life) checkGoing(r *source.Round) {
	unasked, counted := 0, 0
	for _, o := range r.Verdict.Go {
		a := l.in.Session.Absences[o.Name]
		if a.UID != o.UID || l.rows[o.Name] {
			l.t.Fatalf("%v goes, which has a row or is another one: %+v", o, a)
		}
		if a.Cleared {
			continue
		}
		counted++
		if !l.approved[o.UID] {
			unasked++
		}
		if len(l.polls) < l.in.Guard.ConfirmPolls {
			l.t.Fatalf("%v goes after %d reads that count, want %d", o, len(l.polls), l.in.Guard.ConfirmPolls)
		}
		for _, poll := range l.polls[len(l.polls)-l.in.Guard.ConfirmPolls:] {
			if poll[o.Name] {
				l.t.Fatalf("%v goes, and was present in one of the last %d reads that count", o, l.in.Guard.ConfirmPolls)
			}
		}
	}
	if unasked > 0 && r.Harvest.Rows == 0 {
		l.t.Fatalf("%d go because a table was empty, and nobody was asked", unasked)
	}
	// What is remembered is remembered a piece of the window too long at most.
	before := l.all.Within(l.now, l.in.Guard.Window*49/48).Total()
	most := max(l.in.Guard.MaxDeletes, (len(l.fleet)+before)*l.in.Guard.MaxPercent/100)
	l.gone = append(l.gone, source.Deletions{Time: l.now, Count: unasked})
	l.all = append(l.all, source.Deletions{Time: l.now, Count: counted})
	inWindow := l.gone.Within(l.now, l.in.Guard.Window).Total()
	if unasked > 0 && inWindow > most {
		l.t.Fatalf("%d went in %s without a person's word, and the guard lets %d", inWindow, l.in.Guard.Window, most)
	}
}

func (l *life) rest(d source.Decision) {
	report := source.Conclude(l.in, d)
	if report.Polled == nil {
		return
	}
	l.in.Memory.History, l.in.Memory.LastPoll, l.in.Memory.Generation = report.History, *report.Polled, report.Generation
	if report.Token != "" {
		l.in.Memory.Token = report.Token
	}
	l.in.End()
}

func (l *life) restart() { l.in.Session = &source.Session{} }

// approve writes an annotation, right or wrong.
func (l *life) approve(t *rapid.T) {
	if rapid.Bool().Draw(t, "wrong") {
		l.in.Approved = rapid.StringMatching(`[0-9a-f]{16}`).Draw(t, "hash")
		return
	}
	if l.in.Session.HeldHash == "" {
		t.Skip("nothing is held")
	}
	l.in.Approved = l.in.Session.HeldHash
	for name, a := range l.in.Session.Absences {
		if !a.Approved && !a.Cleared {
			l.approved[l.fleet[name]] = true
		}
	}
}

func (l *life) some(t *rapid.T, label string) []string {
	return rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) string { return fmt.Sprintf("t%02d", rapid.IntRange(0, fleetNames-1).Draw(t, "name")) }), 1, 2, rapid.ID[string]).Draw(t, label)
}

func (l *life) whole() *source.Harvest { return source.Present(slices.Collect(maps.Keys(l.rows))...) }

// Whatever the history of reads: what is let go without a person's word is within the budget of every window, was absent
// from each of the last reads that count, and never follows from an empty table.
func TestTheGuardHoldsInEveryHistory(t *testing.T) {
	checks(t, 300, func(t *rapid.T) {
		l := newLife(t)
		l.play(l.whole)
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
			"time passes":         func(t *rapid.T) { l.pass(t, time.Duration(rapid.IntRange(1, 600).Draw(t, "seconds"))*time.Second) },
			"an interval at last": func(t *rapid.T) { l.pass(t, l.in.Guard.Interval) },
			"an interval":         func(t *rapid.T) { l.pass(t, l.in.Guard.Interval) },
			"another interval":    func(t *rapid.T) { l.pass(t, l.in.Guard.Interval) },
			"more time passes":    func(t *rapid.T) { l.pass(t, time.Duration(rapid.IntRange(10, 90).Draw(t, "minutes"))*time.Minute) },
			"operator restarts":   func(*rapid.T) { l.restart() },
			"sync now":            func(t *rapid.T) { l.in.Token = fmt.Sprint(l.now.Unix(), l.born); l.play(l.whole) },
			"spec changes":        func(*rapid.T) { l.in.Generation++; l.play(l.whole) },
			"approve":             func(t *rapid.T) { l.approve(t); l.play(l.whole) },
		})
	})
}

// pass lets time pass, and polls at its end as the weather is then.
func (l *life) pass(t *rapid.T, d time.Duration) {
	l.now = l.now.Add(d)
	weather := rapid.SampledFrom([]string{"good", "good", "good", "good", "failure", "nameless"}).Draw(t, "weather")
	l.play(func() *source.Harvest {
		if weather == "failure" {
			return nil
		}
		h := l.whole()
		if weather == "nameless" {
			h.Nameless, h.Rows = 1, h.Rows+1
		}
		return h
	})
}

// checks plays at least so many cases: what is looked for needs several things to meet.
func checks(t *testing.T, n int, property func(*rapid.T)) {
	t.Helper()
	for range (n + 99) / 100 {
		rapid.Check(t, property)
	}
}
