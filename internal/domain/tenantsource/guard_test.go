package tenantsource_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantsource"
)

// noon is when these tests play.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// usual is the guard that a source has by default.
var usual = tenantsource.Guard{ConfirmPolls: 2, Interval: 5 * time.Minute, MaxDeletes: 10, MaxPercent: 5, Window: 24 * time.Hour}

func guard(change func(*tenantsource.Guard)) tenantsource.Guard {
	g := usual
	change(&g)
	return g
}

// ownedN are the first n objects.
func ownedN(n int) []tenantsource.Owned {
	var out []tenantsource.Owned
	for i := range n {
		out = append(out, tenantsource.Owned{Name: fmt.Sprintf("t%03d", i), UID: fmt.Sprintf("u%03d", i)})
	}
	return out
}

// absent are n objects that were absent in that many reads.
func absent(n, reads int) tenantsource.Losses {
	out := tenantsource.Losses{}
	for _, o := range ownedN(n) {
		out[o.Name] = tenantsource.Loss{Owned: o, Reads: reads, Last: noon}
	}
	return out
}

func TestTheBudget(t *testing.T) {
	for name, c := range map[string]struct {
		guard        tenantsource.Guard
		absent, used int
		fleet        int
		empty        bool
		confirmed    bool
		reads        int
		budget       int
		want         string // what becomes of all of them
	}{
		"a small fleet has the number":            {guard: usual, absent: 10, fleet: 25, reads: 2, budget: 10, want: "go"},
		"one more than the number holds them all": {guard: usual, absent: 11, fleet: 25, reads: 2, budget: 10, want: "held"},
		"a large fleet has the share":             {guard: usual, absent: 50, fleet: 1000, reads: 2, budget: 50, want: "go"},
		"one more than the share holds them all":  {guard: usual, absent: 51, fleet: 1000, reads: 2, budget: 50, want: "held"},
		"a share is rounded down":                 {guard: usual, absent: 50, fleet: 1019, reads: 2, budget: 50, want: "go"},
		"the larger one counts, not both":         {guard: usual, absent: 11, fleet: 200, reads: 2, budget: 10, want: "held"},
		"what went in the window is used up":      {guard: usual, absent: 4, used: 7, fleet: 25, reads: 2, budget: 10, want: "held"},
		"to the last one":                         {guard: usual, absent: 3, used: 7, fleet: 25, reads: 2, budget: 10, want: "go"},
		"the share is that of the fleet before":   {guard: usual, absent: 20, used: 30, fleet: 970, reads: 2, budget: 50, want: "go"},
		"what is not confirmed counts too, so that a wave is seen before its first tenant is gone": {
			guard: usual, absent: 11, fleet: 25, reads: 1, budget: 10, want: "held",
		},
		"within the budget it waits to be confirmed": {guard: usual, absent: 10, fleet: 25, reads: 1, budget: 10, want: "waiting"},
		"more confirmations, if the user wants":      {guard: guard(func(g *tenantsource.Guard) { g.ConfirmPolls = 5 }), absent: 1, fleet: 25, reads: 4, budget: 10, want: "waiting"},
		"a deleted source needs none":                {guard: usual, absent: 3, fleet: 3, confirmed: true, budget: 10, want: "go"},
		"but has the same budget":                    {guard: usual, absent: 11, fleet: 30, confirmed: true, budget: 10, want: "held"},
		"an empty table is held, however little it is": {
			guard: usual, absent: 1, fleet: 1, reads: 9, empty: true, budget: 10, want: "held",
		},
		"an empty table of an empty fleet is nothing": {guard: usual, empty: true, budget: 10},
		"a budget of nothing holds everything": {
			guard: guard(func(g *tenantsource.Guard) { g.MaxDeletes, g.MaxPercent = 0, 0 }), absent: 1, fleet: 1000, reads: 9, want: "held",
		},
		"a share alone is possible": {
			guard: guard(func(g *tenantsource.Guard) { g.MaxDeletes = 0 }), absent: 1, fleet: 20, reads: 2, budget: 1, want: "go",
		},
		"and is nothing for a few": {
			guard: guard(func(g *tenantsource.Guard) { g.MaxDeletes = 0 }), absent: 1, fleet: 19, reads: 2, budget: 0, want: "held",
		},
		"a number alone is possible": {
			guard: guard(func(g *tenantsource.Guard) { g.MaxPercent = 0 }), absent: 11, fleet: 1000, reads: 2, budget: 10, want: "held",
		},
		"no budget allows more than half": {
			guard: guard(func(g *tenantsource.Guard) { g.MaxPercent = 100 }), absent: 501, fleet: 1000, reads: 2, budget: 500, want: "held",
		},
		"but half": {
			guard: guard(func(g *tenantsource.Guard) { g.MaxPercent = 100 }), absent: 500, fleet: 1000, reads: 2, budget: 500, want: "go",
		},
		"nor does a number, of a few":           {guard: usual, absent: 3, fleet: 5, reads: 2, budget: 2, want: "held"},
		"the half is that of the fleet before":  {guard: usual, absent: 2, used: 2, fleet: 4, reads: 2, budget: 3, want: "held"},
		"three may all be deleted":              {guard: usual, absent: 3, fleet: 3, reads: 2, budget: 10, want: "go"},
		"a deleted source has the same ceiling": {guard: usual, absent: 4, fleet: 4, confirmed: true, budget: 2, want: "held"},
	} {
		t.Run(name, func(t *testing.T) {
			q := tenantsource.Question{Now: noon, Losses: absent(c.absent, c.reads), Fleet: c.fleet, Empty: c.empty, Confirmed: c.confirmed}
			if c.used > 0 {
				q.History = tenantsource.History{{Time: noon.Add(-time.Hour), Count: c.used}}
			}
			v := c.guard.Judge(q)
			got := map[string]int{"go": len(v.Go), "waiting": len(v.Waiting)}
			if v.Pending != nil {
				got["held"] = len(v.Pending.Names)
				if v.Pending.Empty != c.empty {
					t.Errorf("held because it is empty: %t", v.Pending.Empty)
				}
			}
			for _, fate := range []string{"go", "waiting", "held"} {
				want := 0
				if c.want == fate {
					want = c.absent
				}
				if got[fate] != want {
					t.Errorf("%d of %d: %s, want %d", got[fate], c.absent, fate, want)
				}
			}
			if v.Budget != c.budget || v.Used != c.used || v.New() != len(v.Go) {
				t.Errorf("budget %d, used %d, new %d of %d; want %d, %d and all", v.Budget, v.Used, v.New(), len(v.Go), c.budget, c.used)
			}
		})
	}
}

func TestAbsencesAreConfirmedByReadsThatAreAnIntervalApart(t *testing.T) {
	acme := []tenantsource.Owned{{Name: "acme", UID: "u1"}}
	type read struct {
		after   time.Duration
		absent  []tenantsource.Owned
		outside bool // of the turn
	}
	for name, c := range map[string]struct {
		reads []read
		want  int
	}{
		"the first read counts":                           {reads: []read{{absent: acme}}, want: 1},
		"a read out of turn does not":                     {reads: []read{{absent: acme, outside: true}}, want: 0},
		"the next counts an interval later":               {reads: []read{{absent: acme}, {after: 5 * time.Minute, absent: acme}}, want: 2},
		"but not a second earlier":                        {reads: []read{{absent: acme}, {after: 5*time.Minute - time.Second, absent: acme}}, want: 1},
		"which does not put the next one off":             {reads: []read{{absent: acme}, {after: 4 * time.Minute, absent: acme}, {after: time.Minute, absent: acme}}, want: 2},
		"reads out of turn take nothing away either":      {reads: []read{{absent: acme}, {after: time.Minute, absent: acme, outside: true}, {after: 4 * time.Minute, absent: acme}}, want: 2},
		"a row that was back starts over":                 {reads: []read{{absent: acme}, {after: 5 * time.Minute}, {after: 5 * time.Minute, absent: acme}}, want: 1},
		"also if only a read out of turn has seen it":     {reads: []read{{absent: acme}, {after: time.Minute, outside: true}, {after: 4 * time.Minute, absent: acme}}, want: 1},
		"another object of the same name starts over too": {reads: []read{{absent: acme}, {after: 5 * time.Minute, absent: []tenantsource.Owned{{Name: "acme", UID: "u2"}}}}, want: 1},
	} {
		t.Run(name, func(t *testing.T) {
			var a tenantsource.Losses
			at := noon
			for _, r := range c.reads {
				at = at.Add(r.after)
				a = a.Note(tenantsource.LossesOf(r.absent), at, !r.outside, usual)
			}
			if got := a["acme"].Reads; got != c.want {
				t.Errorf("confirmed by %d reads, want %d", got, c.want)
			}
		})
	}
}

// judgeAbsent asks the usual guard about a fleet of 25.
func judgeAbsent(a tenantsource.Losses) tenantsource.Verdict {
	return judgeIn(hold, a)
}

// hold names the hold that judgeAbsent asks in.
const hold = "hold"

func judgeIn(hold string, a tenantsource.Losses) tenantsource.Verdict {
	return usual.Judge(tenantsource.Question{Now: noon, Losses: a, Fleet: 25, Since: hold})
}

func TestApproval(t *testing.T) {
	held := judgeAbsent(absent(12, 2)).Pending
	if held == nil || len(held.Names) != 12 {
		t.Fatalf("held: %+v", held)
	}
	t.Run("the hash of the plan lets exactly it go", func(t *testing.T) {
		a := absent(12, 2)
		a = a.Approve(held.Hash, hold)
		if v := judgeAbsent(a); len(v.Go) != 12 || v.New() != 12 || v.Pending != nil {
			t.Errorf("%+v", v)
		}
	})
	for name, hash := range map[string]string{
		"no hash": "", "another hash": "0123456789abcdef", "the beginning of the hash": held.Hash[:8], "the hash in capitals": strings.ToUpper(held.Hash) + " ",
		"the hash of a part of it": judgeAbsent(absent(11, 2)).Pending.Hash, "the hash of more": judgeAbsent(absent(13, 2)).Pending.Hash,
		"the hash of the same objects in an earlier hold": judgeIn("earlier", absent(12, 2)).Pending.Hash,
	} {
		t.Run(name+" approves nothing", func(t *testing.T) {
			a := absent(12, 2)
			a = a.Approve(hash, hold)
			if v := judgeAbsent(a); len(v.Go) > 0 || v.Pending == nil || v.Pending.Hash != held.Hash {
				t.Errorf("%+v", v)
			}
		})
	}
	t.Run("an approved plan needs its confirmations all the same", func(t *testing.T) {
		a := absent(12, 1)
		a = a.Approve(held.Hash, hold)
		if v := judgeAbsent(a); len(v.Go) > 0 || len(v.Waiting) != 12 || v.Pending != nil {
			t.Errorf("%+v", v)
		}
	})
	t.Run("what vanishes later needs a budget of its own", func(t *testing.T) {
		a := absent(12, 2)
		a = a.Approve(held.Hash, hold)
		for _, o := range ownedN(23)[12:] {
			a[o.Name] = tenantsource.Loss{Owned: o, Reads: 2, Last: noon}
		}
		v := judgeAbsent(a)
		if len(v.Go) != 12 || v.Pending == nil || len(v.Pending.Names) != 11 || v.Pending.Names[0] != "t012" {
			t.Errorf("%+v", v)
		}
	})
	t.Run("a row that is back is no longer approved", func(t *testing.T) {
		a := absent(12, 2)
		a = a.Approve(held.Hash, hold)
		a = a.Note(tenantsource.LossesOf(ownedN(12)[1:]), noon, true, usual).Note(tenantsource.LossesOf(ownedN(12)), noon, true, usual)
		if a["t000"].Approved || !a["t001"].Approved {
			t.Errorf("t000: %+v, t001: %+v", a["t000"], a["t001"])
		}
	})
}

func TestWhatIsClearedIsCountedOnce(t *testing.T) {
	in := input()
	in.State.Losses = absent(10, 2)
	count := func(v tenantsource.Verdict) {
		in.State.Round = &tenantsource.Round{Plan: tenantsource.Plan{Verdict: v}}
		apply(&in, tenantsource.Counted{})
	}
	v := judgeAbsent(in.State.Losses)
	count(tenantsource.Verdict{Go: v.Go[:4]})
	history := tenantsource.History{}.With(noon, 4, 0, usual.Window)
	v = usual.Judge(tenantsource.Question{Now: noon, Losses: in.State.Losses, Fleet: 25, History: history})
	if len(v.Go) != 10 || v.New() != 6 || v.Used != 4 || v.Pending != nil {
		t.Errorf("%+v", v)
	}
	count(tenantsource.Verdict{Go: []tenantsource.Loss{{Owned: tenantsource.Owned{Name: "another"}}}})
	if _, known := in.State.Losses["another"]; known {
		t.Error("what is not absent was cleared")
	}
}

func TestPlansHaveStableAndDistinctHashes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		object := rapid.Custom(func(t *rapid.T) tenantsource.Owned {
			return tenantsource.Owned{Name: rapid.StringMatching(`[a-c]{1,3}`).Draw(t, "name"), UID: rapid.StringMatching(`[a-c]{1,3}`).Draw(t, "uid")}
		})
		byName := func(o tenantsource.Owned) string { return o.Name }
		plan := func(objects []tenantsource.Owned) string {
			g := usual
			g.MaxDeletes, g.MaxPercent = 0, 0
			return g.Judge(tenantsource.Question{Now: noon, Losses: tenantsource.Losses{}.Note(tenantsource.LossesOf(objects), noon, true, g)}).Pending.Hash
		}
		one := rapid.SliceOfNDistinct(object, 1, 4, byName).Draw(t, "one")
		other := rapid.SliceOfNDistinct(object, 1, 4, byName).Draw(t, "other")
		if shuffled := rapid.Permutation(one).Draw(t, "shuffled"); plan(one) != plan(shuffled) {
			t.Fatalf("%v and %v have different hashes", one, shuffled)
		}
		sorted := func(list []tenantsource.Owned) []tenantsource.Owned {
			return slices.SortedFunc(slices.Values(list), func(a, b tenantsource.Owned) int { return strings.Compare(a.Name, b.Name) })
		}
		if !cmp.Equal(sorted(one), sorted(other)) && plan(one) == plan(other) {
			t.Fatalf("%v and %v have one hash", one, other)
		}
	})
}

func TestHistoryForgetsWhatHasLeftTheWindow(t *testing.T) {
	h := tenantsource.History{}.With(noon, 3, 0, usual.Window).With(noon.Add(time.Hour), 0, 0, usual.Window).With(noon.Add(2*time.Hour), 4, 0, usual.Window)
	for name, c := range map[string]struct {
		at   time.Duration
		want int
	}{
		"all are in it":            {at: 2 * time.Hour, want: 7},
		"to the last moment":       {at: 24*time.Hour - time.Second, want: 7},
		"then the first go":        {at: 24 * time.Hour, want: 4},
		"and in the end all":       {at: 26 * time.Hour, want: 0},
		"a clock that went back":   {at: -time.Hour, want: 7},
		"nothing is forgotten now": {at: 0, want: 7},
	} {
		t.Run(name, func(t *testing.T) {
			if got := h.Within(noon.Add(c.at), usual.Window).Total(); got != c.want {
				t.Errorf("%d, want %d", got, c.want)
			}
		})
	}
	if len(h) != 2 {
		t.Errorf("nothing was remembered as something: %v", h)
	}
}

// History counts for each moment at least the losses that there were, and never those that are older than a window and
// one piece of it.
func TestHistoryIsSmallAndErrsOnTheSafeSide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		window := rapid.SampledFrom([]time.Duration{time.Hour, 24 * time.Hour, 720 * time.Hour}).Draw(t, "window")
		var h tenantsource.History
		type deletion struct {
			at    time.Time
			count int
		}
		var all []deletion
		at := noon
		for range rapid.IntRange(1, 200).Draw(t, "deletions") {
			at = at.Add(time.Duration(rapid.Int64Range(0, int64(window/30)).Draw(t, "pause")))
			count := rapid.IntRange(0, 5).Draw(t, "count")
			h = h.With(at, count, 0, window)
			all = append(all, deletion{at, count})
			least, most := 0, 0
			for _, d := range all {
				if at.Sub(d.at) < window {
					least += d.count
				}
				if at.Sub(d.at) < window+window/48 {
					most += d.count
				}
			}
			if got := h.Within(at, window).Total(); got < least || got > most {
				t.Fatalf("%d deletions in the window, want %d to %d", got, least, most)
			}
			if len(h) > 50 || !slices.IsSortedFunc(h, func(a, b tenantsource.Deletions) int { return a.Time.Compare(b.Time) }) {
				t.Fatalf("%d entries: %v", len(h), h)
			}
		}
	})
}

func TestASteadyTrickleStaysWithinItsBudget(t *testing.T) {
	var h tenantsource.History
	at := noon
	for range 500 {
		at = at.Add(20 * time.Minute)
		h = h.With(at, 1, 0, usual.Window)
	}
	if got := h.Within(at, usual.Window).Total(); got < 72 || got > 74 {
		t.Errorf("of one deletion every 20 minutes the last 24h had %d, want 72 and no more than two more", got)
	}
}

func TestNamesOfAbsencesAreSorted(t *testing.T) {
	if d := cmp.Diff([]string{"t000", "t001", "t002"}, absent(3, 1).Names()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestHistoryForgetsNothingWhenItIsMerged(t *testing.T) {
	h := tenantsource.History{{Time: noon, Count: 1}, {Time: noon.Add(time.Minute), Count: 2}, {Time: noon.Add(time.Hour), Count: 4}}
	want := tenantsource.History{{Time: noon.Add(time.Minute), Count: 3}, {Time: noon.Add(time.Hour), Count: 4}}
	if d := cmp.Diff(want, h.Merged(2)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if d := cmp.Diff(h, h.Merged(3)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// A clock that was a year ahead must not use the budget up for a year.
func TestHistoryIsNotOfTheFuture(t *testing.T) {
	h := tenantsource.History{{Time: noon.AddDate(1, 0, 0), Count: 10}}.Within(noon, usual.Window)
	if h.Total() != 10 {
		t.Errorf("%d deletions are counted, want 10", h.Total())
	}
	if n := h.Within(noon.Add(usual.Window), usual.Window).Total(); n != 0 {
		t.Errorf("a window later %d are still counted", n)
	}
}
